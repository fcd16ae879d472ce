"""A frame that looks as the one on screen is not drawn, and every other one is. CALIPER_REDRAW=check draws
the ones that were left out all the same and compares the pixels: the answer comes from the renderer, not from
what decided. Played on each renderer that is here: home, the gallery with pointer and keys, TensorScope.

Usage: test_redraw.py CALIPER GALLERY DATA_FOLDER
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CALIPER, GALLERY, DATA = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
FRAMES = 48
# In the gallery: hover, other pages, a drag in a field, the wheel over a picture; then nothing for many frames.
SCRIPT = """at 2
move 60 176
at 3
click left
at 6
move 300 200
at 7
press left
at 8
move 340 200
at 9
release left
at 12
move 60 320
at 13
click left
at 16
move 400 300
at 17
wheel 0 -2
at 20
move 60 272
at 21
click left
at 24
move 640 500
"""
SEEN = {"home": ("home",), "gallery": ("run", str(GALLERY)),
        "tensorscope": ("view", str(DATA / "le_f32.npy"))}


def check(good, *words):
    if not good:
        print(*words)
        sys.exit(1)


def renderers():
    """Those that start here."""
    for name in ("cpu", "gl", "vulkan"):
        started = subprocess.run([CALIPER, "home", "--headless", "--frames", "1", "--renderer", name],
                                 capture_output=True, text=True, check=False).stderr
        if f"[renderer] {name}\n" in started:
            yield name
        else:
            print(f"{name} does not start here: not played")


class Run:
    """One run: which frames were drawn, the log, the last frame's picture."""

    def __init__(self, folder, words, renderer, redraw="", window=()):
        trace, shot = folder / "trace.json", folder / "shot.png"
        (folder / "script").write_text(SCRIPT, encoding="utf-8")
        where = () if window else ("--headless",)
        result = subprocess.run(
            [*window, CALIPER, *words, *where, "--renderer", renderer, "--frames", str(FRAMES),
             "--size", "1000x640", "--scale", "1", "--input", folder / "script", "--screenshot", shot,
             "--data-dir", folder / "data"],
            capture_output=True, text=True, check=False,
            env={**os.environ, "CALIPER_TRACE": str(trace), "CALIPER_REDRAW": redraw,
                 "CALIPER_FIXED_CLOCK": "0.016", "CALIPER_VALIDATE": "1"})
        self.log = result.stdout + result.stderr
        check(result.returncode == 0 and f"[renderer] {renderer}\n" in self.log, words, self.log)
        check(" error " not in self.log, words, renderer, redraw, self.log)
        events = json.loads(trace.read_text(encoding="utf-8"))
        spans = [event for event in events if event["ph"] == "X"]
        self.drawn = [event["args"]["drawn"] for event in spans
                      if (event["cat"], event["name"]) == ("shell", "frame")]
        check(len(self.drawn) >= FRAMES, words, len(self.drawn), "frames")
        ended = sum(event["name"] == "frame_end" for event in spans)
        check(redraw == "check" or ended == sum(self.drawn), words, ended, "ended", self.drawn)
        self.picture = shot.read_bytes()


def play(folder, name, renderer):
    always = Run(folder, SEEN[name], renderer, "always")
    check(all(always.drawn), name, always.drawn)
    checked = Run(folder, SEEN[name], renderer, "check")
    check(not re.search("was taken for the one before", checked.log), name, checked.log)
    usual = Run(folder, SEEN[name], renderer)
    if name != "tensorscope":  # where a thread counts: what a frame shows is not the same in each run
        check(usual.picture == always.picture, name, renderer, "not the picture with every frame drawn")
    if name == "gallery":  # home's backdrop moves
        check(sum(usual.drawn[30:FRAMES]) == 0, name, "drawn though nothing changed", usual.drawn)
    least = {"home": 20, "gallery": 8, "tensorscope": 3}[name]
    check(usual.drawn[0] and sum(usual.drawn) >= least, name, "not drawn", usual.drawn)
    return sum(usual.drawn)


def main():
    played = []
    with tempfile.TemporaryDirectory() as room:
        folder = pathlib.Path(room)
        for renderer in renderers():
            for name in SEEN:
                played.append(f"{renderer} {name}: {play(folder, name, renderer)}")
        check(len(played) >= len(SEEN), "nothing was played")
        odd = Run(folder, SEEN["gallery"], "cpu", "sometimes")
        check(odd.log.count("CALIPER_REDRAW: given sometimes") == 1, odd.log)
        if shutil.which("xvfb-run") is None:
            print("no xvfb-run here: no window was opened")
        else:
            # A window's frame is drawn once a second even so, and its numbers change twice a second.
            window = Run(folder, SEEN["gallery"], "cpu",
                         window=("xvfb-run", "-a", "-s", "-screen 0 1000x640x24"))
            check(sum(window.drawn[30:FRAMES]) <= 6, "a still window is drawn", window.drawn)
            played.append(f"window: {sum(window.drawn)}")
    print(f"of {FRAMES} frames were drawn:", ", ".join(played))


main()
