"""The Runs dashboard's views on every renderer, against the cpu renderer's pictures and those that
docs/explanation/runs.md shows (left out where the fonts are others: tests/support/kept_fonts.h); on
gl and vulkan one picture a view. At most half a percent of the pixels between the bars, which name
the machine and count its warnings, may differ, by more than 2 of 255: renderers round blends and
edges differently. With CALIPER_TEST_WRITE_REFERENCES=1 the pictures are made anew.

Usage: test_runs_pictures.py CALIPER PNG_DIFFERS KEPT_FONTS REFERENCES
"""
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
import runs_training  # noqa: E402
from runs_play import bring, command, keys  # noqa: E402

CALIPER, PNG_DIFFERS, KEPT_FONTS = sys.argv[1:4]
REFERENCES = pathlib.Path(sys.argv[4])
TOP_BAR, STATUS_BAR = 46, 28
T0 = 1796194499.0


SMOOTH = keys(*["]"] * 6)
NOTE = keys("6", "e") + "at 8\ntext The slow schedule wins. Try 0.02 next.\n"
QUERY = keys("8", "q") + (
    "at 8\ntext SELECT step, value, value - lag(value) OVER (ORDER BY step) AS change\nat 9\nkey "
    "enter\nat 10\ntext FROM scalars WHERE tag = 'train/loss' AND run = 1 ORDER BY step\nat 12\n"
    "key ctrl+enter\n")
LARGE, SMALL = "1400x880", "1200x760"
# name, data, script, size and options
SHOTS = (
    ("scalars", "spirals", SMOOTH, (LARGE,)),
    ("scalars-light", "spirals", SMOOTH, (LARGE, "--light")),
    ("scalars-hovered", "spirals", SMOOTH + "at 16\nmove 500 254\n", (SMALL,)),
    ("scalars-relative", "spirals", keys("x", "x"), (SMALL,)),
    ("scalars-log", "spirals", keys("l", "k"), (SMALL,)),
    ("bands", "long", SMOOTH, (SMALL,)),
    ("bands-zoomed", "long", SMOOTH + "at 17\nmove 700 335\nat 18\nwheel 0 2\n", (SMALL,)),
    ("search", "spirals", "at 4\nkey /\nat 6\ntext adam 0.01\nat 8\nkey enter\n", (SMALL,)),
    ("parameters", "spirals", keys("2"), (SMALL,)),
    ("histograms", "spirals", keys("3"), (SMALL,)),
    ("images", "spirals", keys("4", ","), (SMALL,)),
    ("texts", "spirals", keys("5", ","), (SMALL,)),
    ("about", "spirals", NOTE, (SMALL,)),
    ("artifacts", "spirals", keys("7", ".", "shift+v"), (SMALL,)),
    ("data", "spirals", QUERY, (SMALL,)),
    ("data-plot", "spirals", QUERY + keys("v", start=16), (SMALL,)),
    ("deleted", "spirals", keys("s", "delete", "a"), (SMALL,)),
    ("empty", "empty", "", (SMALL,)),
)
ON_CPU_ALONE = ("scalars-light", "scalars-relative", "scalars-log", "bands", "deleted")


def put_artifacts(root):
    """Three versions of a model and a picture of the run that is shown first."""
    lines = []
    for at, (name, size) in enumerate((("model", 262144), ("model", 262144), ("model", 262400),
                                       ("confusion.png", 18733))):
        data = (b"%d %s " % (at, name.encode())) * (size // len(name) + 1)
        digest = hashlib.sha256(data[:size]).hexdigest()
        path = root / "artifacts" / digest[:2] / digest
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[:size])
        lines.append(f"{digest}\t{name}\t6\t{size}\t2026-12-02T10:{12 + at:02}:30.000000Z\n")
    (root / "artifacts" / "index.log").write_text("".join(lines))


def make(folder):
    for events in runs_training.write(folder / "events"):
        bring(folder / "spirals", events, "spirals")
    put_artifacts(folder / "spirals")
    rng = random.Random(9)
    for run, height in (("calm", 0.15), ("wild", 0.6)):
        level, rows = 10.0 * height, []
        for step in range(40000):
            level += rng.gauss(0.0, 0.02) - 0.0004 * level
            spike = 2.5 if rng.random() < 0.0001 else 0.0
            rows.append(("reward", step, level + rng.gauss(0.0, height) + spike, T0 + 0.1 * step))
        runs_data.write(folder / "long_events" / run / "events.out.tfevents.1.host", rows)
    bring(folder / "long", folder / "long_events", "walks")
    (folder / "empty").mkdir()


def take(folder, shot, renderer, picture):
    _, data, script, (size, *options) = shot
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(folder / data, root)
    (folder / "script").write_text(script)
    result = command("runs", "--headless", "--renderer", renderer, "--frames", 22, "--size",
                     size, "--data-dir", root, "--input", folder / "script", "--screenshot",
                     picture, *options, DISPLAY=":no-display")
    assert result.returncode == 0, (shot[0], renderer, result.returncode, result.stderr)
    assert f"[renderer] {renderer}" in result.stdout + result.stderr, result.stdout


def has(folder, renderer):
    result = command("home", "--headless", "--frames", 1, "--renderer", renderer, "--data-dir",
                     folder / "probe", DISPLAY=":no-display")
    return f"[renderer] {renderer}" in result.stdout + result.stderr


def different(picture, other):
    """How many pixels between the bars differ, and of how many."""
    said = subprocess.run([PNG_DIFFERS, picture, other, str(TOP_BAR), str(STATUS_BAR)],
                          capture_output=True, text=True, check=True).stdout.split()
    return int(said[0]), int(said[2])


def agree(picture, other, wrong):
    pixels, whole = different(picture, other)
    print(f"{picture.name} and {other}: {pixels} of {whole} pixels differ", flush=True)
    if pixels * 200 > whole:
        wrong.append((picture.name, str(other), pixels))


def same_fonts():
    """Whether letters can be compared; if not, the reason is printed."""
    said = subprocess.run([KEPT_FONTS, CALIPER, REFERENCES], capture_output=True, text=True,
                          check=False)
    assert said.returncode in (0, 77), (said.returncode, said.stdout, said.stderr)
    print(said.stdout, end="", flush=True)
    return said.returncode == 0


def write(folder):
    REFERENCES.mkdir(exist_ok=True)
    for shot in SHOTS:
        take(folder, shot, "cpu", REFERENCES / f"{shot[0]}.png")
    subprocess.run([KEPT_FONTS, "--write", CALIPER, REFERENCES], check=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        if os.environ.get("CALIPER_TEST_WRITE_REFERENCES") == "1":
            write(folder)
            return
        wrong, same = [], same_fonts()
        for renderer in ("cpu", "gl", "vulkan"):
            if not has(folder, renderer):
                print(f"skipped: no {renderer} here")
                continue
            for shot in SHOTS:
                if renderer != "cpu" and shot[0] in ON_CPU_ALONE:
                    continue
                picture = folder / f"{shot[0]}-{renderer}.png"
                take(folder, shot, renderer, picture)
                if renderer != "cpu":
                    agree(picture, folder / f"{shot[0]}-cpu.png", wrong)
                if same:
                    agree(picture, REFERENCES / f"{shot[0]}.png", wrong)
        # With any font: a view is not the view before it.
        for before, shot in zip(SHOTS, SHOTS[1:]):
            pixels, whole = different(folder / f"{shot[0]}-cpu.png", folder / f"{before[0]}-cpu.png")
            print(f"{shot[0]} after {before[0]}: {pixels} of {whole} pixels differ", flush=True)
            if pixels * 1000 < whole:
                wrong.append((shot[0], f"shows what {before[0]} shows", pixels))
        assert not wrong, (wrong, "new pictures: CALIPER_TEST_WRITE_REFERENCES=1 and this again")


if __name__ == "__main__":
    main()
