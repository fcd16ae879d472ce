"""Ctrl-C and a supervisor's signals close a run in good order: jobs are asked to end, applets are closed, the
trace has its end, and the process ends by that signal. What ignores hangups (nohup) goes on, and the same signal
once more ends a run that is still closing.

Usage: test_interrupt.py CALIPER TRAY_APPLET
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

CALIPER, TRAY = sys.argv[1:3]


def check(good, *words):
    if not good:
        print(*words)
        sys.exit(1)


class Running:
    """A headless run without an end, its log in a file."""

    def __init__(self, folder, environment=None, **more):
        self.log_path = folder / "log"
        self.trace = folder / "trace.json"
        with self.log_path.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [CALIPER, "run", TRAY, "--headless", "--renderer", "cpu", "--frames", "1000000000",
                 "--size", "320x240", "--data-dir", folder / "data"],
                stderr=log, env={**os.environ, "CALIPER_TRACE": str(self.trace),
                                 **(environment or {})}, **more)

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def wait_for(self, words):
        until = time.monotonic() + 60
        while words not in self.log():
            check(self.process.poll() is None and time.monotonic() < until, "no", words, self.log())
            time.sleep(0.01)


def test_closes(folder, which):
    run = Running(folder)
    run.wait_for(" started")
    time.sleep(0.1)
    run.process.send_signal(which)
    check(run.process.wait(60) == -which, which, run.process.returncode, run.log())
    log = run.log()
    check(log.count(f"{which.name} came: closing") == 1, log)
    check(all(log.count(f"cancelled {name}") == 1 for name in ("one", "two", "three")), log)
    check(log.count(" closed after ") == 1 and " error " not in log, log)
    check(json.loads(run.trace.read_text(encoding="utf-8")), "no trace")


def test_hangup_that_is_ignored(folder):
    run = Running(folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.wait_for(" started")
    run.process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    check(run.process.poll() is None and "came" not in run.log(), run.log())
    run.process.send_signal(signal.SIGTERM)
    check(run.process.wait(60) == -signal.SIGTERM, run.process.returncode, run.log())


def test_twice(folder):
    """A job that does not hear: the host would wait for it for two seconds."""
    run = Running(folder, {"TRAY_APPLET_DEAF": "1"})
    run.wait_for(" started")
    run.process.send_signal(signal.SIGINT)
    run.wait_for("SIGINT came: closing")
    run.process.send_signal(signal.SIGINT)
    check(run.process.wait(60) == -signal.SIGINT, run.process.returncode, run.log())
    check(" closed after " not in run.log(), "it closed before the second one came", run.log())


def main():
    with tempfile.TemporaryDirectory() as room:
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = pathlib.Path(room) / which.name
            folder.mkdir()
            test_closes(folder, which)
        for test in (test_hangup_that_is_ignored, test_twice):
            folder = pathlib.Path(room) / test.__name__
            folder.mkdir()
            test(folder)
    print("closed by three signals, one ignored, one sent twice")


main()
