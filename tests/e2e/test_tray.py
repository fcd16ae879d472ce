"""The tray, by keys and by pointer: what is chosen there is cancelled and nothing else, and the keys
go back to the applet. A frame with the tray open allocates nothing. Under the home page an applet
gets its frames, and nothing of it is seen or reached.

Usage: test_tray.py CALIPER APPLET [COUNT_ALLOCATIONS]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FAILURES = []


def check(good, words):
    if not good:
        FAILURES.append(words)
        print("FAILED:", words)


def run(caliper, applet, script, frames, environment=None):
    """stderr of a run that plays the script."""
    with tempfile.TemporaryDirectory() as folder:
        played = pathlib.Path(folder) / "input.txt"
        played.write_text(script, encoding="utf-8")
        result = subprocess.run(
            [caliper, "run", applet, "--headless", "--renderer", "cpu", "--size", "1280x800",
             "--scale", "1", "--frames", str(frames), "--data-dir", folder + "/data", "--input",
             str(played)],
            capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})
        check(result.returncode == 0, f"exit status {result.returncode}: {result.stderr}")
        return result.stderr


def cancelled_before_key(output):
    before, _, after = output.partition("the applet got a key")
    check(after != "" and "the applet got a key" not in after, "one key reaches the applet")
    return re.findall(r"cancelled (\w+)", before)


def main():
    caliper, applet = sys.argv[1:3]
    keys = ("at 3\nkey f10\nat 6\nkey down\nat 8\nkey down\nat 10\nkey delete\n"
            "at 14\nkey escape\nat 20\nkey down\n")
    check(cancelled_before_key(run(caliper, applet, keys, 30)) == ["two"], "keys cancel the second")

    # The button in the bar, the cross of the third row, then back into the panel.
    pointer = ("at 3\nmove 1119 24\nat 5\nclick left\nat 9\nmove 1256 311\nat 11\nclick left\n"
               "at 15\nmove 400 400\nat 17\nclick left\nat 20\nkey down\n")
    check(cancelled_before_key(run(caliper, applet, pointer, 30)) == ["three"],
          "the pointer cancels the third")

    # Closed by the button as well, and F10 twice is as if never.
    twice = ("at 3\nkey f10\nat 6\nkey f10\nat 9\nkey delete\nat 12\nkey f10\nat 15\nkey up\n"
             "at 17\nkey delete\nat 20\nkey f10\nat 24\nkey down\n")
    check(cancelled_before_key(run(caliper, applet, twice, 34)) == ["three"],
          "Up chooses the last, a closed tray takes no keys")

    home = "at 5\nmove 152 23\nat 7\nclick left\nat 12\nkey down\nat 14\nmove 300 100\n"
    output = run(caliper, applet, home, 60)
    check("closed after 60 frames" in output, "frames under the home page")
    check("the applet got a key" not in output, "no key reaches an applet that is out of sight")
    back = home + "at 20\nkey f10\nat 22\nkey delete\nat 24\nkey down\nat 25\nkey delete\n" \
        "at 28\nkey escape\nat 30\nkey down\nat 32\nmove 228 23\nat 34\nclick left\nat 38\nkey down\n"
    check(cancelled_before_key(run(caliper, applet, back, 60)) == ["one"],
          "the tray over the home page, and back to the applet")

    if len(sys.argv) > 3:
        counts = []
        for frames in (60, 260):
            output = run(caliper, applet, "at 3\nkey f10\n", frames,
                         {"LD_PRELOAD": sys.argv[3]})
            counts.append(int(re.search(r"allocations: (\d+)", output).group(1)))
        check(counts[0] == counts[1], f"200 frames allocate: {counts}")
    return 1 if FAILURES else 0


sys.exit(main())
