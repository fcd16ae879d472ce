"""What the Runs dashboard shows of histograms, images and notes, in a second process, and under the
wheel and a drag: event files written here in, the view as JSON and a picture out. Expected numbers
come from the rows and pixels that were written.

Usage: test_runs_views.py CALIPER
"""
import json
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import CALIPER, bring, check, checks, command, keys, play as view  # noqa: E402

T0 = 1796194499.0
EVENTS = "events.out.tfevents.1.host"


def item(root, script, frame, kind):
    """Where the largest item of that kind is drawn."""
    listed = root.parent / "list"
    view(root, script + f"at {frame}\nlist {listed}\n", frame + 2)
    found = [json.loads(line) for line in listed.read_text().splitlines()]
    return max(((i["x"], i["y"], i["w"], i["h"]) for i in found if i["kind"] == kind),
               key=lambda rect: rect[2] * rect[3])


# ---- Histograms ----

BINS = 48


def test_histograms_are_the_values_that_were_written(folder):
    """Each value lies in the middle of a bin, one at each end: counts of bins are known."""
    rng = random.Random(3)
    steps, events = [2, 5, 5, 40], []
    wanted = []
    for i, step in enumerate(steps):
        counts = [rng.randrange(0, 20) for _ in range(BINS)]
        limits, held = [1e-6], [1]
        for k, count in enumerate(counts):
            limits += [k + 0.49, k + 0.51]
            held += [0, count]
        limits += [BINS - 1e-6, BINS]
        held += [0, 1]
        events.append(runs_data.histogram("weights", step, T0 + i, limits, held, 0.0, BINS))
        counts[0] += 1
        counts[-1] += 1
        wanted += counts
    runs_data.write_events(folder / "h" / "one" / EVENTS, events)
    root = folder / "histograms"
    bring(root, folder / "h")
    media = view(root, keys("3"), 12)["media"]
    check(media["tag"] == "weights" and media["steps"] == steps, media["steps"])
    check(0.0 <= media["low"] < 1e-5 and BINS - 1e-5 < media["high"] <= BINS, media["low"])
    check(media["not_finite"] == 0 and media["counts"] == wanted)


# ---- Images ----

def read_npy(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    words = data[10:10 + length].decode()
    shape = eval(words.split("'shape':")[1].split(")")[0] + ")")  # noqa: S307, of our own file
    return shape, data[10 + length:]


def test_images_are_the_pixels_that_were_written(folder):
    """Every cell of the picture on the screen has its pixel's colour to the byte."""
    rng = random.Random(4)
    pictures = {1: (6, 5, 3), 2: (6, 5, 3), 3: (9, 4, 1), 4: (3, 7, 3)}
    events, pixels = [], {}
    for step, (w, h, channels) in pictures.items():
        rows = [bytes(rng.randrange(256) for _ in range(w * channels)) for _ in range(h)]
        pixels[step] = rows
        events.append(runs_data.image("drawn", step, T0 + step, rows, channels))
    runs_data.write_events(folder / "i" / "one" / EVENTS, events)
    root = folder / "images"
    bring(root, folder / "i")
    for back, step in enumerate((4, 3, 2, 1)):
        script = keys("4", *[","] * back)
        shot = folder / "shot.png"
        area = item(root, script, 14, "area")
        state = view(root, script, 16, options=("--screenshot", shot))
        check(state["media"]["image_step"] == step and state["media"]["images"] == 4, state["media"])
        check(command("convert", shot, folder / "shot.npy", "--force").returncode == 0)
        (high, wide, depth), data = read_npy(folder / "shot.npy")
        check((high, wide) == (900, 1400), high, wide)
        w, h, channels = pictures[step]
        scale = min(area[2] / w, area[3] / h)
        left = area[0] + (area[2] - w * scale) / 2
        top = area[1] + (area[3] - h * scale) / 2
        for y in range(h):
            for x in range(w):
                at = (int(top + (y + 0.4) * scale) * wide + int(left + (x + 0.4) * scale)) * depth
                pixel = pixels[step][y][x * channels:(x + 1) * channels]
                check(data[at:at + 3] == (pixel if channels == 3 else pixel * 3), step, x, y,
                      data[at:at + 3], pixel)


# ---- Texts ----

def test_texts_are_what_was_said(folder):
    """Tags of any length are told apart, and the next one is a key away; zeros and what is no UTF-8
    do no harm; of a long text the first characters are shown."""
    long_tag = "a/" + "very long " * 40
    said = {"b": ["first", "line\none \u00e9\u6e2c \x00 \x1b[31m\ttab", "%s %n \\"],
            long_tag + "1": ["one"], long_tag + "2": ["two"], "huge": ["\u00e9" * 30000],
            "broken": [b"a\xffb"], "none": [""]}
    events = [runs_data.text(tag, 7 * i - 7, T0 + i, words)
              for tag, all_words in said.items() for i, words in enumerate(all_words)]
    events.append(runs_data.text("several", 3, T0, "x", "y", "z"))
    runs_data.write_events(folder / "said" / "one" / EVENTS, events)
    root = folder / "texts"
    bring(root, folder / "said")
    found = {}
    for i in range(len(said) + 1):
        media = view(root, keys("5", *["t"] * i), 10 + 2 * i)["media"]
        found[media["tag"]] = media
    check(set(found) == {*said, "several"}, list(found))
    check(found[long_tag + "1"]["text"] == "one" and found[long_tag + "2"]["text"] == "two")
    check(found["huge"]["text"] == "\u00e9" * 20000 and found["broken"]["text"] == "a\ufffdb")
    check(found["none"]["text"] == "" and found["none"]["texts"] == 1)
    check(found["several"]["texts"] == 3 and found["several"]["text"] == "z")
    for back, (step, words) in enumerate(((7, "%s %n \\"), (0, "line\none \u00e9\u6e2c   "
                                                               " [31m\ttab"), (-7, "first"))):
        order = sorted([*said, "several"])
        media = view(root, keys("5", *["t"] * order.index("b"), *[","] * back), 40)["media"]
        check(media["tag"] == "b" and media["text_step"] == step and media["text"] == words, media)


def test_any_of_many_tags_is_reached(folder):
    """More tags than the list has room for, 512: the next one is the next one wherever one is, beginning
    with the first; a run with fewer is not told of more."""
    names = [f"k{i:04}" for i in range(1200)]
    runs_data.write_events(folder / "many" / "one" / EVENTS,
                           [runs_data.text(name, 1, T0, name) for name in names])
    root = folder / "tags"
    bring(root, folder / "many")
    for presses in (0, 1, 256, 257, 700, 1199):
        media = view(root, keys("5", *["t"] * presses), 20 + 2 * presses)["media"]
        check(media["tag"] == media["text"] == names[presses], presses, media["tag"])


# ---- Notes ----

def test_notes_stay(folder):
    words = 'Lower "lr", \\ twice: \u00e9\u00fc\u2192 next'
    runs_data.write(folder / "n" / "one" / EVENTS, [("loss", i, 1.0 / (i + 1), T0 + i)
                                                    for i in range(20)])
    runs_data.write(folder / "n" / "two" / EVENTS, [("loss", 0, 1.0, T0)])
    root = folder / "notes"
    bring(root, folder / "n")
    state = view(root, keys("6", "e") + f"at 10\ntext {words}\nat 12\nkey ctrl+enter\n", 16)
    marked = state["cursor"]
    for _ in range(2):  # another process each
        for row in view(root)["rows"]:
            check(row["note"] == (words if row["id"] == marked else ""), row)
    result = command("sql", "--metrics", "SELECT run, note FROM run_notes", "--json",
                     "--data-dir", root)
    check(words in json.dumps(json.loads(result.stdout), ensure_ascii=False).replace('\\"', '"')
          .replace("\\\\", "\\"), result.stdout)
    state = view(root, keys("6", "e") + "at 10\nkey ctrl+a\nat 12\nkey delete\nat 14\n"
                 "key ctrl+enter\n", 18)
    check(all(row["note"] == "" for row in view(root)["rows"]), "a note can be taken away")
    # The page of one run, then that of the other: each keeps its own.
    view(root, keys("up", "up", "6", "e") + "at 14\ntext first\nat 16\nkey ctrl+enter\n"
         "at 18\nkey tab\nat 20\nmove 60 182\nat 21\nclick left\nat 23\nkey e\n"
         "at 25\ntext second\nat 27\nkey ctrl+enter\n", 32)
    notes = sorted(row["note"] for row in view(root)["rows"])
    check(notes == ["first", "second"], notes)


# ---- Another process ----

def test_a_second_process_shows_and_leaves_alone(folder):
    """The first owns the data; the second shows its newest copy and changes nothing."""
    runs_data.write(folder / "s" / "one" / EVENTS,
                    [("loss", i, 0.5 ** (i / 9), T0 + i) for i in range(50)])
    runs_data.write(folder / "t" / "late" / EVENTS, [("loss", 3, 8.0, T0 + 99)])
    root = folder / "second"
    bring(root, folder / "s")
    alone = view(root)
    check(alone["owner"] is True)
    owner = subprocess.Popen([CALIPER, "runs", "--headless", "--renderer", "cpu", "--frames",
                              "1000000", "--size", "320x240", "--data-dir", str(root)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            beside = view(root)
            if not beside["owner"]:
                break
            time.sleep(0.1)
        check(beside["owner"] is False, "the first process did not take the data")
        check(beside["rows"] == alone["rows"] and beside["charts"] == alone["charts"])
        state = view(root, keys("6", "e") + "at 10\ntext mine\nat 12\nkey ctrl+enter\n"
                     "at 14\nkey 1\nat 16\nkey a\nat 18\nkey delete\n", 24)
        check(state["rows"] == alone["rows"] and state["deleted"] == 0, state["rows"])
        # What a third process brings in passes through the owner's hands.
        bring(root, folder / "t")
        for _ in range(200):
            rows = view(root)["rows"]
            if len(rows) == 2:
                break
            time.sleep(0.1)
        check(sorted(row["label"] for row in rows) == ["late", "one"], rows)
    finally:
        owner.kill()
        owner.wait()
    after = view(root)
    check(after["owner"] is True and len(after["rows"]) == 2 and
          all(row["note"] == "" for row in after["rows"]), after["rows"])


# ---- Wheel and drag ----

def test_the_wheel_reads_the_window_again_and_a_drag_moves_it(folder):
    rng = random.Random(6)
    steps = list(range(6000)) + list(range(3000, 5500))
    values = [struct.unpack("<f", struct.pack("<f", rng.gauss(0.0, 1.0)))[0] for _ in steps]
    runs_data.write(folder / "w" / "one" / EVENTS,
                    [("noise", s, v, T0 + i) for i, (s, v) in enumerate(zip(steps, values))])
    root = folder / "wheel"
    bring(root, folder / "w")
    rows = sorted(range(len(steps)), key=lambda i: (steps[i], i))
    x, y, w, h = item(root, "", 8, "plot")
    middle = f"move {x + w / 2:.0f} {y + h / 2:.0f}\n"
    whole = view(root)["charts"][0]
    check(whole["from"] is None and len(whole["series"][0]["x"]) <= 2000)
    # The last value is that of the row that came last, not of the greatest step.
    check(whole["series"][0]["last_step"] == 5499 and whole["series"][0]["last"] == values[-1])

    def inside(chart):
        """The rows between the window's ends, each by itself, in order; all others still count."""
        low, high = chart["from"], chart["to"]
        wanted = [(steps[i], values[i]) for i in rows if low <= steps[i] <= high]
        check(0 < len(wanted) <= 2000, "not near enough", low, high, len(wanted))
        series = chart["series"][0]
        got = [(a, b) for a, b in zip(series["x"], series["mean"]) if low <= a <= high]
        edge = got[0] != wanted[0], got[-1] != wanted[-1]  # a wide point may reach in
        check(got[edge[0]:len(got) - edge[1]] == wanted, low, high, len(got), len(wanted))
        check(series["rows"] == len(steps) and series["x"] == sorted(series["x"]))

    zoom = f"at 6\n{middle}" + "".join(f"at {8 + 2 * i}\nwheel 0 2\n" for i in range(8))
    near = view(root, zoom, 30)["charts"][0]
    check(near["from"] < 3000 < near["to"] and near["to"] - near["from"] < 1500, near["from"])
    inside(near)
    drag = (zoom + f"at 26\nmove {x + 0.96 * w:.0f} {y + h / 2:.0f}\nat 28\npress left\n"
            f"at 30\nmove {x + w / 2:.0f} {y + h / 2:.0f}\n"
            f"at 32\nmove {x + 0.1 * w:.0f} {y + h / 2:.0f}\nat 34\nrelease left\n")
    moved = view(root, drag, 40)["charts"][0]
    check(moved["from"] > near["from"] and moved["to"] > near["to"], moved["from"], near["from"])
    inside(moved)
    again = view(root, zoom + "at 28\nkey r\n", 34)["charts"][0]
    check(again["from"] is None and again["series"] == whole["series"], "all of it again")
    check(math.isclose(again["low"], min(values)) and math.isclose(again["high"], max(values)))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for test in (test_histograms_are_the_values_that_were_written,
                     test_texts_are_what_was_said, test_any_of_many_tags_is_reached,
                     test_images_are_the_pixels_that_were_written, test_notes_stay,
                     test_a_second_process_shows_and_leaves_alone,
                     test_the_wheel_reads_the_window_again_and_a_drag_moves_it):
            test(folder)
            print("ok", test.__name__, flush=True)
    print(checks(), "checks")


if __name__ == "__main__":
    main()
