"""MLScope from outside, trained on Fashion-MNIST for a bounded number of steps. The pictures of its
kernels, of the digit and of the feature maps are compared with NumPy: the weights that the run leaves, a
convolution over the data set's first test image, the published tables; and each renderer's picture with
the others'. Then runs and tags in the metrics, Cancel and Train at random moments, closing while it
trains, refused textures, a bad seed, what the frame thread waits for, and what the command links.
CALIPER_TEST_LONG=1: three epochs of each data set, and what they reach.

Usage: test_mlscope.py CALIPER LUT_FOLDER
"""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    print("skipped: no NumPy or no PIL here")
    sys.exit(77)

CALIPER, LUTS = sys.argv[1], pathlib.Path(sys.argv[2])
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
# Where scripts/setup puts it.
MNIST = pathlib.Path(os.environ.get("CALIPER_DATA_DIR") or pathlib.Path(
    os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share") / "caliper"
                     ) / "datasets/mnist"
BUTTON = "move 40 435\n"  # Train, and Cancel in its place
# A frame is a step, be the machine as slow as it may.
PATIENT = {"CALIPER_MLSCOPE_WAIT_MS": "300000"}
folder = None
checks = 0


def check(good, *words):
    global checks
    checks += 1
    if not good:
        print("FAILED:", *words)
        sys.exit(1)


def run(name, frames, steps, script="", renderer="cpu", environment=None, lines="", options=()):
    """One headless run with a data root of its own, `name`; answers (log, picture). `lines`: a pattern of
    the warnings and errors that are wanted; every other one fails the test."""
    (folder / "script").write_text(script, encoding="utf-8")
    shot = folder / f"{name}.png"
    result = subprocess.run(
        [CALIPER, "run", "mlscope", "--headless", "--renderer", renderer, "--frames", str(frames),
         "--size", "1280x800", "--scale", "1", "--data-dir", str(folder / name), "--input",
         str(folder / "script"), "--screenshot", str(shot), *options],
        capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "CALIPER_LEAKS": "1",
             "CALIPER_FIXED_CLOCK": "0.016", "CALIPER_MLSCOPE_STEPS": str(steps),
             "CALIPER_MLSCOPE_WEIGHTS": str(folder / f"{name}.f32"), **(environment or {})})
    log = result.stdout + result.stderr
    check(result.returncode == 0, name, "exit status", result.returncode, log)
    check(f"[renderer] {renderer}" in log, name, "wanted", renderer, log)
    # One line with the numbers, or one for each thing, would be here after a leak.
    # That a frame was slow on a busy machine decides nothing.
    told = [line for line in log.splitlines()
            if "frame() " not in line and not (lines and re.search(lines, line))]
    check(not re.search(r" (error|warn) |not released|still there|nobody released",
                        "\n".join(told)), name, log)
    return log, np.asarray(Image.open(shot).convert("RGB")).astype(int)


def run_whole(name, steps, renderer="cpu", environment=None, **more):
    """A run that comes to its end; the picture. A frame waits for its step, and the one after the last
    for the end; the rest is for the job to be over."""
    log, picture = run(name, steps + 30, steps, renderer=renderer,
                       environment={**PATIENT, **(environment or {})}, **more)
    # Train is there again, in the colour of a primary button: the last frame saw the end.
    check(picture[425, 30, 2] > 200 and (folder / f"{name}.f32").exists(), name, "did not end", log)
    return picture


def quick():
    """Where the same images are, without compression, and of the test images the first thousand: read
    at once, and evaluated in a tenth of the time. In MNIST's place, so that the panel is as wide."""
    small = folder / "quick"
    if not small.exists():
        small.mkdir()
        for part, item_bytes, head_bytes in (("images-idx3", 784, 16), ("labels-idx1", 1, 8)):
            train, test = (gzip.decompress((FASHION / f"{which}-{part}-ubyte.gz").read_bytes())
                           for which in ("train", "t10k"))
            (small / f"train-{part}-ubyte").write_bytes(train)
            (small / f"t10k-{part}-ubyte").write_bytes(
                test[:4] + (1000).to_bytes(4, "big") + test[8:head_bytes + 1000 * item_bytes])
    return {"CALIPER_MNIST_DIR": str(small), "CALIPER_DATASET": "mnist"}


def ask(name, statement):
    result = subprocess.run([CALIPER, "sql", "--metrics", "--json", "--data-dir",
                             str(folder / name), statement], capture_output=True, text=True,
                            check=False)
    check(result.returncode == 0, statement, result.stderr)
    answer = json.loads(result.stdout)
    return answer["rows"] if isinstance(answer, dict) else answer


# ---- The colours of a value: the rule as docs/reference/tensor-bridge.md has it ----

def colours(values, table, low, high):
    lut = np.loadtxt(LUTS / f"{table}.txt", dtype=int)[:, :3]
    low, high, values = np.float32(low), np.float32(high), np.asarray(values, np.float32)
    share = np.clip((values - low) * (np.float32(1) / (high - low)), np.float32(0), np.float32(1))
    return lut[(share * np.float32(255) + np.float32(0.5)).astype(int)]


def codes(pixels):
    return pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]


def places(picture, tile, cell):
    """Pixels from which `tile`'s colours are met at steps of `cell` pixels, one for each of its
    elements, as a mask. Both are codes."""
    rows, cols = tile.shape
    height = picture.shape[0] - cell * (rows - 1)
    width = picture.shape[1] - cell * (cols - 1)
    hit = np.ones((height, width), bool)
    for r in range(rows):
        for c in range(cols):
            part = picture[cell * r:cell * r + height, cell * c:cell * c + width]
            hit &= part == tile[r, c]
    return hit


def check_kernels(picture, weights):
    """Eight tiles of 3 x 3, each cell of one colour to its edges, in a grid of 4 x 2."""
    first, last = weights[:, :72].reshape(2, 8, 3, 3)
    limit = np.abs(first).max()
    corners = []
    part = codes(picture[100:330, 270:640])  # left of the digit, above the curves
    for kernel in last:
        tile = codes(colours(kernel, "rdbu", -limit, limit))
        found = []
        for cell in range(8, 29):
            hit = places(part, tile, cell)
            if hit.sum() >= (cell - 3) ** 2:  # the cells, less a border and a pixel of rounding
                y, x = np.nonzero(hit)
                found.append((hit.sum(), y.min(), x.min(), cell))
        check(found, "a kernel is not in the picture as its weights say:", kernel)
        corners.append(max(found)[1:3])
    check(len(set(corners)) == 8, "kernels share a place:", corners)
    ys, xs = [y for y, _ in corners], [x for _, x in corners]
    check(max(ys[:4]) - min(ys[:4]) <= 2 and max(ys[4:]) - min(ys[4:]) <= 2 and ys[4] > ys[0] + 20,
          "two rows:", corners)
    check(all(xs[i] < xs[i + 1] for i in (0, 1, 2, 4, 5, 6)), "in order:", corners)
    check(not np.array_equal(first, last), "the weights did not change")


def first_test_image():
    with gzip.open(FASHION / "t10k-images-idx3-ubyte.gz") as file:
        file.read(16)
        return np.frombuffer(file.read(784), np.uint8).reshape(28, 28).astype(np.float32) / 255


def convolve(image, weights):
    """conv1 in double precision: eight maps of 26 x 26."""
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(float), (3, 3))
    kernels, biases = weights[:72].reshape(8, 3, 3).astype(float), weights[72:].astype(float)
    return np.einsum("yxij,kij->kyx", windows, kernels) + biases[:, None, None]


def at_centres(picture, x, y, side, count):
    """What is in the middle of each cell of a square that is `count` cells wide and high."""
    middle = (np.arange(count) + 0.5) * side / count
    return picture[(y + middle).astype(int)[:, None], (x + middle).astype(int)[None, :]]


def match(seen, lows, highs):
    """The share of cells that are one of the colours: of a value, or just below and above it. The
    cells at the edge are left out: a border of a pixel lies on them."""
    hit = np.zeros(seen.shape[:2], bool)
    for values in (lows, highs):
        hit |= (seen == values).all(axis=2)
    return hit[1:-1, 1:-1].mean()


def find_square(picture, values, low, high, places_x, places_y, sides):
    """Where a picture of the values is; its left edge and the share of its cells that are right. The
    values differ from those that were drawn in the last bits at most, so that a colour is the table's at
    one of two entries."""
    slack = (high - low) * 1e-5
    lows = colours(values - slack, "viridis", low, high)
    highs = colours(values + slack, "viridis", low, high)
    return max((match(at_centres(picture, x, y, side, len(values)), lows, highs), x, y)
               for side in sides for y in places_y for x in places_x)


def check_maps(picture, weights):
    """The digit, and the maps: each in its place, all in one grid of 4 x 2."""
    image = first_test_image()
    first, last = convolve(image, weights[0]), convolve(image, weights[1])
    low, high = first.min(), first.max()  # pinned at the first snapshot
    share, x, y = find_square(picture, image, 0, 1, np.arange(632, 642, 0.5),
                              np.arange(150, 160, 0.5), np.arange(126, 132, 0.5))
    check(share == 1, "the digit is not in the picture: at best", share, x, y)
    corners, begin = [], 0
    for number in range(8):
        # How long the digit's caption is decides where the first one begins.
        left = begin - 4 + number % 4 * 67 if number > 0 else 770
        top = 150 + number // 4 * 67
        share, x, y = find_square(picture, last[number], low, high,
                                  np.arange(left, left + (9 if number > 0 else 60), 0.5),
                                  np.arange(top, top + 9, 0.5),
                                  (60, 60.5, 61, 61.5, 62))
        check(share == 1, f"map {number} is not in the picture: at best", share, x, y)
        corners.append((x, y))
        begin = int(corners[0][0])
    check(not np.allclose(first, last), "the maps did not change")
    # It can fail: another map is no match in that place, nor are the maps of the first weights.
    for other in (last[3], first[7]):
        share, _, _ = find_square(picture, other, low, high, [corners[7][0]], [corners[7][1]],
                                  (61, 61.5))
        check(share < 0.5, "any map would do", share)


def test_pictures(name, picture):
    weights = np.fromfile(folder / f"{name}.f32", np.float32).reshape(2, 80)
    check_kernels(picture, weights)
    check_maps(picture, weights)


def test_learns(name, steps):
    rows = ask(name, "SELECT experiment, name, done, hparams FROM runs")
    check(len(rows) == 1, rows)
    row = list(rows[0].values()) if isinstance(rows[0], dict) else rows[0]
    check(row[0] == "mlscope" and row[2] in (True, "true"), row)
    check(json.loads(row[3]) == {"data": "Fashion-MNIST", "seed": 1, "lr": 0.001, "batch": 256,
                                 "epochs": 3, "device": "cpu"}, row)

    def series(tag):
        rows = ask(name, f"SELECT step, value FROM scalars WHERE tag = '{tag}' ORDER BY seq")
        return [tuple(r.values()) if isinstance(r, dict) else tuple(r) for r in rows]

    losses, scores = series("train/loss"), series("test/accuracy")
    check([int(s) for s, _ in losses] == list(range(1, steps + 1)), "one loss a step", losses)
    values = [float(v) for _, v in losses]
    check(abs(values[0] - np.log(10)) < 0.2, "untrained it knows nothing: ln 10", values[0])
    check(np.mean(values[-10:]) < 0.6 * values[0], "losses fall", values)
    check([int(s) for s, _ in scores] == sorted({*range(50, steps + 1, 50), steps}), scores)
    check(0.5 < float(scores[-1][1]) <= 1, "five times better than chance", scores)


def press(frame):
    return f"at {frame}\n{BUTTON}press left\nat {frame + 1}\nrelease left\n"


def check_runs(name, most):
    rows = ask(name, "SELECT count(*) AS n, sum(done::INT) AS d FROM runs")
    row = list(rows[0].values()) if isinstance(rows[0], dict) else rows[0]
    # One that was cancelled while it read its images is not begun in the metrics.
    check(1 < int(row[0]) <= most and row[0] == row[1], "runs", row, "started at most", most)


def test_cancel_and_relaunch():
    """The same button, at moments that are random in frames and, as a frame waits a step's time at most,
    in what the training is at: reading, a step, an evaluation."""
    moments = random.Random(7)
    script, frame = "", 6
    for _ in range(40):
        script += press(frame)
        frame += moments.randint(3, 8)
    run("cancel", frame + 20, 4000, script,
        environment={"CALIPER_MLSCOPE_WAIT_MS": "20", **quick()})
    check_runs("cancel", 41)


def test_last_snapshot_is_kept():
    """Cancelled at its 20th step or so, started again, and cancelled: its kernels stay."""
    script = "".join(press(frame) for frame in (20, 60, 80))
    _, picture = run("kept", 110, 4000, script, environment={**PATIENT, **quick()})
    check_runs("kept", 2)
    check(picture[425, 30, 2] > 200, "it still trains")  # the button is Train
    tiles = picture[152:285, 278:545]  # where the eight kernels are
    check((np.abs(tiles - picture[400, 290]).sum(axis=2) > 90).sum() > 8 * 2000,
          "the last snapshot is not kept")


def test_close_while_training():
    moments = random.Random(11)
    for i in range(3):
        run(f"close{i}", moments.randint(1, 50), 400, environment=quick())


def test_refused_textures():
    """The sixth picture cannot be made: none is half shown, the run goes to its end, nothing is left."""
    log, picture = run("refused", 40, 10,
                       environment={**PATIENT, **quick(), "CALIPER_FAIL_AT": "cpu.texture:8+"},
                       lines=r"(warn|error).*(texture|refus)")
    check(re.search(r" (warn|error) ", log), "nothing was refused", log)
    check((folder / "refused.f32").exists(), "the run did not end", log)
    words = picture[128:145, 278:560]  # in place of the pictures
    check(((words[..., 0] > 180) & (words[..., 1] < 140)).sum() > 100, "no red words", log)
    row = list(ask("refused", "SELECT count(*) AS n, sum(done::INT) AS d FROM runs")[0].values())
    check([int(v) for v in row] == [1, 1], row)


def test_bad_seed():
    """Below 0 with the button beside the field: red words, and no run."""
    script = "at 2\nmove 112 295\n"
    for frame in (3, 6):
        script += f"at {frame}\npress left\nat {frame + 1}\nrelease left\n"
    script += f"at 10\n{BUTTON}press left\nat 11\nrelease left\nat 14\nmove 700 600\n"
    log, picture = run("seed", 20, 0, script, lines="error .*seed must be")
    check(len(re.findall("error .*the seed must be 0 or more", log)) == 1, log)
    words = picture[455:475, 18:230]
    check(((words[..., 0] > 180) & (words[..., 1] < 140)).sum() > 100, "no red words", log)
    check("DuckDB" not in log, "a run was begun", log)


def test_frame_thread(renderer):
    """Updating textures waits for no device: a frame that updates seventeen waits once at most, as every
    frame may where the device, as slow as these are, is behind by as many frames as are kept."""
    trace = folder / f"{renderer}.json"
    run(f"trace_{renderer}", 70, 40, renderer=renderer,
        environment={**PATIENT, **quick(), "CALIPER_TRACE": str(trace)})
    events = json.loads(trace.read_text(encoding="utf-8"))
    frames = [event["args"] for event in events if event["name"] == "frame_end"]
    drawn = [event["args"]["drawn"] for event in events
             if (event["cat"], event["name"]) == ("shell", "frame")]
    updates = sum(frame["updates"] for frame in frames) // 17
    check(len(drawn) >= 70 and sum(drawn) == len(frames) and updates >= 4, renderer, len(drawn),
          len(frames), updates)
    most = max(frame["waits"] for frame in frames[:-1])  # the last one is read for the picture
    check(most <= 1, renderer, most, "waits in a frame")


def test_data_is_chosen():
    """--data: a folder, whose name the run has; MNIST that is not there, and says so."""
    run("folder", 32, 2, environment=PATIENT, options=("--data", str(FASHION)))
    row = list(ask("folder", "SELECT hparams FROM runs")[0].values())
    check(json.loads(row[0])["data"] == "fashion-mnist", row)
    log, picture = run("no_mnist", 30, 2, environment=PATIENT, options=("--data", "mnist"),
                       lines="error .*there is no train-images")
    check(len(re.findall("error .*there is no train-images", log)) == 1, log)
    check(not (folder / "no_mnist.f32").exists(), "it learnt something", log)
    check(not (folder / "no_mnist" / "datasets").exists(), "something was fetched unasked")
    advice = picture[224:238, 18:200]
    check(((advice[..., 0] > 180) & (advice[..., 2] < 140)).sum() > 50, "no advice", log)


def test_no_torch_in_the_command():
    linked = subprocess.run(["ldd", CALIPER], capture_output=True, text=True, check=True).stdout
    check("libc.so" in linked and not re.search("libtorch|libc10", linked), linked)
    needed = subprocess.run(["readelf", "-d", CALIPER], capture_output=True, text=True,
                            check=True).stdout
    check("NEEDED" in needed and not re.search("libtorch|libc10", needed), needed)


def has_mnist():
    names = [f"{part}-ubyte" for part in ("train-images-idx3", "train-labels-idx1",
                                          "t10k-images-idx3", "t10k-labels-idx1")]
    if all((MNIST / name).exists() or (MNIST / f"{name}.gz").exists() for name in names):
        return True
    print(f"no MNIST in {MNIST} (scripts/setup run fetches it): its digits were not learnt")
    return False


def accuracy(name):
    rows = ask(name, "SELECT value FROM scalars WHERE tag = 'test/accuracy' ORDER BY seq")
    last = list(rows[-1].values()) if isinstance(rows[-1], dict) else rows[-1]
    return float(last[0])


def test_digits():
    """By name, from where it is said to be."""
    run_whole("digits", 60, environment={"CALIPER_MNIST_DIR": str(MNIST)},
              options=("--data", "mnist"))
    row = list(ask("digits", "SELECT hparams FROM runs")[0].values())
    check(json.loads(row[0])["data"] == "MNIST", row)
    check(0.7 < accuracy("digits") <= 1, accuracy("digits"))


def test_three_epochs(name, data, least):
    steps = 3 * 235  # 60000 / 256, the last batch smaller
    run_whole(name, steps, environment={"CALIPER_MNIST_DIR": str(MNIST)},
              options=("--data", data))
    check(accuracy(name) >= least, name, "after three epochs:", accuracy(name))
    print(name, "after three epochs:", accuracy(name))


def main():
    global folder
    if not (FASHION / "t10k-images-idx3-ubyte.gz").exists():
        print("skipped: no Fashion-MNIST (dataset-fashion-mnist)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_no_torch_in_the_command()
        steps = 60
        picture = run_whole("cpu", steps)
        test_pictures("cpu", picture)
        test_learns("cpu", steps)
        steps, pictures = 20, {}
        for renderer in ("cpu", "gl", "vulkan"):
            name = f"on_{renderer}"
            pictures[renderer] = run_whole(name, steps, renderer, quick())
            check((folder / f"{name}.f32").read_bytes() == (folder / "on_cpu.f32").read_bytes(),
                  "one seed, one thread, other weights")
            test_pictures(name, pictures[renderer])
            # The digit and the maps; text and borders are blended, to within rounding.
            apart = np.abs(pictures[renderer] - pictures["cpu"])[150:286, 630:1075]
            check(apart.max() <= 2, renderer, "shows another digit or other maps", apart.max())
        test_frame_thread("gl")
        test_frame_thread("vulkan")
        test_refused_textures()
        test_bad_seed()
        test_data_is_chosen()
        test_cancel_and_relaunch()
        test_last_snapshot_is_kept()
        test_close_while_training()
        digits = has_mnist()
        if digits:
            test_digits()
        if os.environ.get("CALIPER_TEST_LONG"):
            test_three_epochs("clothes", "fashion", 0.81)
            if digits:
                test_three_epochs("digits_long", "mnist", 0.97)
    print(f"{checks} checks")


main()
