"""What tests of the Runs dashboard share: checks that are counted, the command, input that is played,
the view as JSON and a picture out. The command is the program's first argument."""
import json
import os
import struct
import subprocess
import sys
import zlib

CALIPER = sys.argv[1]
_checks = 0


def check(good, *words):
    global _checks
    _checks += 1
    if not good:
        raise AssertionError(" ".join(str(word) for word in words))


def checks():
    return _checks


def command(*words, **environment):
    return subprocess.run([CALIPER, *map(str, words)], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def bring(root, folder, experiment="known"):
    result = command("import", "tfevents", folder, "--experiment", experiment, "--data-dir", root)
    check(result.returncode == 0, result.stderr)


def keys(*names, start=4):
    """One key every second frame."""
    return "".join(f"at {start + 2 * i}\nkey {name}\n" for i, name in enumerate(names))


def check_picture(path, size):
    """A whole PNG of the size, with more than a few colours in it."""
    data = path.read_bytes()
    check(data[:8] == b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    check(f"{width}x{height}" == size, width, height)
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    check(len(set(zlib.decompress(packed))) > 16)


def play(root, script="", frames=10, size="1400x900", options=(), picture=False, **environment):
    """Plays `script` and answers the view after the last frame; what was drawn lies, if asked for,
    beside the root as shot.png. `picture` may be a file that gets it, too."""
    folder = root.parent
    (folder / "script").write_text(script)
    state, png = folder / "state.json", folder / "shot.png"
    state.unlink(missing_ok=True)
    if picture:
        options = ("--screenshot", png, *options)
    result = command("runs", "--headless", "--renderer", "cpu", "--frames", frames, "--data-dir",
                     root, "--input", folder / "script", "--state", state, "--size", size,
                     *options, **environment)
    check(result.returncode == 0, result.returncode, result.stderr)
    if picture not in (False, True):
        picture.write_bytes(png.read_bytes())
    seen = json.loads(state.read_text())
    check(seen["frame_queries"] == 0, "the frame thread asked the store")
    return seen
