"""The Runs dashboard over what nobody would log: names and tags of any bytes, the ends of numbers,
steps and times, pictures that are none, windows of any size. It goes on, says which is which, and
shows the rows that were written.

Usage: test_runs_odd.py CALIPER
"""
import math
import os
import pathlib
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import bring, check, check_picture, checks, keys, play  # noqa: E402

T0, EVENTS = 1.7e9, "events.out.tfevents.1.host"
TAGS = ("a%s%n%d", "x/y/z", "\"q'`", "new\nline", "tab\tctl\x01", "##hash", "a###b", "x##1", "", "/",
        "a/", "/b", "\u00e9\u6e2c", "L" * 10000, "M" * 200 + "/" + "N" * 20000, "'; DROP TABLE runs;--",
        "a\\b", "..", "\u202ertl")
VALUES = {"nan": [math.nan] * 5, "inf": [math.inf, -math.inf, 1.0, 2.0], "one": [3.0],
          "big": [1.7e308, -1.7e308, 1e308, 1.0], "small": [5e-324, 1e-310, 0.0, -0.0],
          "below": [-1.0, -2.0, -3.0], "zero": [0.0] * 3, "close": [1e16, 1e16 + 2, 1e16]}
STEPS = [0, 2**63 - 1, -2**63, 5, -5, 2**62, 1]
WALLS = [0.0, -1.0, 1e12, math.nan, math.inf, T0, 253402300799.0, 5.0]
FOLDERS = (b"new\nline", b"ctl\x01\x1b[31m", b"bad\xff\xfe", b"z" * 250, b"%s%n", b"##x", b"a###b",
           b'q"q')


def double(tag, step, wall, value):
    """A tensor of one double: a float has no such ends."""
    tensor = b"\x08\x02" + runs_data._bytes(2, b"") + runs_data._bytes(6, struct.pack("<d", value))
    metadata = runs_data._bytes(1, runs_data._bytes(1, b"scalars"))
    return runs_data._event(wall, step, runs_data._bytes(1, tag.encode()) +
                            runs_data._bytes(8, tensor) + runs_data._bytes(9, metadata))


def picture(step, data):
    made = b"\x08\x04\x10\x04\x18\x03" + runs_data._bytes(4, data)
    return runs_data._event(T0, step, runs_data._bytes(1, b"i") + runs_data._bytes(4, made))


def png(width, height, packed):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def make(folder):
    events = [double(tag, k, T0 + k, math.sin(k)) for tag in TAGS for k in range(20)]
    events += [double("v/" + name, k, T0 + k, value)
               for name, values in VALUES.items() for k, value in enumerate(values)]
    events += [double("ends/steps", step, T0 + k, k) for k, step in enumerate(STEPS)]
    events += [double("ends/walls", k, wall, k) for k, wall in enumerate(WALLS)]
    good = runs_data.png([bytes(range(12))] * 4)
    evil = [b"", good[:8], good[:40], png(2**31 - 1, 2**31 - 1, zlib.compress(b"")),
            png(60000, 60000, zlib.compress(b"\0" * 10**6)), png(4, 4, zlib.compress(b"\0" * 10**7)),
            png(0, 0, zlib.compress(b"")), b"GIF89a" + b"\0" * 100]
    evil += [good[:at] + bytes([good[at] ^ 32]) + good[at + 1:] for at in range(0, len(good), 5)]
    events += [picture(k, data) for k, data in enumerate([good, *evil])]
    events += [runs_data.histogram("h", 0, T0, [math.nan, math.inf, 1.0], [1, 2, 3]),
               runs_data.histogram("h", 1, T0, [-1e308, 0.0, 1e308], [1e300, 1e300, 1]),
               runs_data.histogram("h", 2, T0, [0.0, 1.0, 1.0], [-5, 0, 5])]
    runs_data.write_events(folder / "events" / "one" / EVENTS, events)
    for name in FOLDERS:
        path = os.path.join(os.fsencode(folder / "events"), name)
        os.makedirs(path)
        with open(os.path.join(path, EVENTS.encode()), "wb") as file:
            file.write(runs_data.version() + double("loss", 0, T0, 1.0) + double("loss", 1, T0 + 1, 2.0))
    bring(folder / "root", folder / "events")
    return folder / "root"


def series(state, tag):
    found = [c for c in state["charts"] if c["tag"] == tag]
    check(len(found) == 1, tag, [c["tag"][:20] for c in state["charts"]])
    return found[0]["series"][0]


def test_rows_are_those_that_were_written(root):
    state = play(root, "at 4\nkey t\nat 6\ntext v/\n", 12, "1400x2400", picture=True)
    check_picture(root.parent / "shot.png", "1400x2400")
    check(state["chart_total"] == len(VALUES), state["chart_total"])
    for name, values in VALUES.items():
        wanted = [v if math.isfinite(v) else None for v in values]
        check(series(state, "v/" + name)["mean"] == wanted, name, series(state, "v/" + name)["mean"])
    state = play(root, "at 4\nkey t\nat 6\ntext ends\n", 12)
    order = sorted(range(len(STEPS)), key=lambda k: STEPS[k])
    check(series(state, "ends/steps")["mean"] == order)
    check(series(state, "ends/steps")["x"] == [float(STEPS[k]) for k in order])
    labels = [row["label"] for row in state["rows"]]
    check(len(labels) == len(FOLDERS) + 1 == len(set(labels)), labels)
    check(all(ord(c) >= 32 and c != "\x7f" for label in labels for c in label), labels)


def test_every_page_in_every_window(root):
    for size in ("1x1", "16x900", "320x240", "4000x2200"):
        for page in "12345678" if size != "4000x2200" else "18":
            state = play(root, keys(page), 8, size)
            check(len(state["rows"]) == len(FOLDERS) + 1, size, page)
            check(state["chart_total"] == len(TAGS) + len(VALUES) + 3, state["chart_total"])
    for script in (keys("l", "k"), keys("x"), keys("x", "x"), keys("x", "x", "x"), keys("o", "]", "]")):
        play(root, script, 14)


def test_pictures_that_are_none_are_left_out(root):
    order = [row["label"] for row in play(root)["rows"]]
    find = ["up"] * len(order) + ["down"] * order.index("one")
    media = play(root, keys(*find, "4"), 60)["media"]
    check(media["tag"] == "i" and 1 <= media["images"] < 30, media["images"])
    media = play(root, keys(*find, "3"), 60)["media"]
    check(media["tag"] == "h" and media["steps"] == [0, 1, 2], media)


def main():
    with tempfile.TemporaryDirectory() as name:
        root = make(pathlib.Path(name))
        for test in (test_rows_are_those_that_were_written, test_every_page_in_every_window,
                     test_pictures_that_are_none_are_left_out):
            test(root)
            print("ok", test.__name__, flush=True)
    print(checks(), "checks")


if __name__ == "__main__":
    main()
