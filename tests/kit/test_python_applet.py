"""An applet in Python (docs/examples/python_applet, through cffi) draws the same picture as its twin in C,
byte for byte, whatever the person did; and what is particular to Python is as the page says.

Usage: test_python_applet.py SOURCE_TREE CALIPER
Runs under the system's Python, which has cffi.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

# What the person does -> how the window is.
STATES = {
    "untouched": ("", []),
    "hover": ("at 10\nmove 700 420\n", []),
    "sliders": ("at 5\nmove 160 135\npress left\nat 8\nmove 200 135\nat 10\nrelease left\n"
                "at 12\nmove 380 135\npress left\nat 15\nmove 430 135\nat 17\nrelease left\n", []),
    "paused, typed": ("at 5\nmove 32 134\nclick left\nat 9\nmove 650 135\nclick left\nat 12\n"
                      "key end\ntext  \u00fcber \u20ac\nat 16\nkey backspace\n", []),
    "zoomed, light, 1.25": ("at 6\nmove 500 300\nwheel 0 3\nat 12\nmove 510 310\n",
                            ["--light", "--scale", "1.25"]),
}
RENDERERS = ("cpu", "vulkan", "gl")


class Failed(Exception):
    pass


def call(*command, status=0, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **options)
    if result.returncode != status:
        raise Failed(f"{' '.join(map(str, command))}\nexit status {result.returncode}\n"
                     f"{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


class Bench:
    def __init__(self, root, caliper, folder):
        self.root, self.caliper, self.folder = root, caliper, folder
        self.example = root / "docs/examples/python_applet"

    def build(self, name, *changes):
        """The Python applet as NAME.so, its source changed by (old, new) pairs."""
        source = (self.example / "applet.py").read_text(encoding="utf-8")
        for old, new in changes:
            if old not in source:
                raise Failed(f"applet.py has no {old!r} any more")
            source = source.replace(old, new)
        path = self.folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        library = self.folder / f"{name}.so"
        call(sys.executable, self.example / "build.py", path, self.root / "include", library)
        return library

    def run(self, *libraries, picture=None, options=(), status=0):
        words = ["--headless", "--frames", "30", "--size", "1000x640", *options]
        if picture is not None:
            words += ["--screenshot", picture]
        return call(self.caliper, "run", *libraries, *words, status=status,
                    env={**os.environ, "CALIPER_DATA_DIR": str(self.folder / "data")})

    def picture(self, library, script, options):
        (self.folder / "input.txt").write_text(script, encoding="utf-8")
        path = self.folder / "picture.png"
        self.run(library, picture=path,
                 options=[*options, "--input", self.folder / "input.txt"])
        return path.read_bytes()


def compare(bench):
    twin = bench.folder / "twin.so"
    call("cc", "-std=c17", "-D_GNU_SOURCE", "-O2", "-ffp-contract=off", "-Wall", "-Wextra",
         "-Wpedantic", "-Wmissing-prototypes", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
         "-I", bench.root / "include", bench.example / "twin.c", "-lm", "-o", twin)
    python = bench.build("waves")
    symbols = call("nm", "-D", "--defined-only", "--format=just-symbols", python).split()
    if symbols != ["caliper_applet_descriptor"]:
        raise Failed(f"the Python applet exports {symbols}")
    pictures = {}
    for state, (script, options) in STATES.items():
        for renderer in RENDERERS if state == "hover" else RENDERERS[:1]:
            given = [*options, "--renderer", renderer]
            pictures[state] = bench.picture(twin, script, given)
            if bench.picture(python, script, given) != pictures[state]:
                raise Failed(f"{state} on {renderer}: the pictures differ")
    if len(set(pictures.values())) != len(STATES):
        raise Failed("two states look the same: the script does nothing")
    # The comparison can fail: a last digit is enough.
    other = bench.build("other", (".4f", ".3f"))
    if bench.picture(other, *STATES["hover"][:1], []) == \
            bench.picture(twin, *STATES["hover"][:1], []):
        raise Failed("another tooltip gives the same picture")
    return python


def particular(bench, python):
    call(bench.caliper, "check", python)
    # Two of them in one process share one Python.
    second = bench.build("second", ("org.example.waves", "org.example.second"),
                         ('b"Waves", b"The', 'b"Second", b"The'))
    words = bench.run(python, second)
    if words.count("closed after 30 frames") != 2:
        raise Failed(f"two Python applets:\n{words}")
    # An exception ends that frame, is printed, and the host goes on.
    broken = bench.build("broken", ("self.compute()\n        self.bridge.update",
                                    "1 / 0\n        self.bridge.update"))
    words = bench.run(broken)
    if "ZeroDivisionError" not in words or "closed after 30 frames" not in words:
        raise Failed(f"an exception in frame:\n{words}")
    # One in initialize means that it cannot run.
    unable = bench.build("unable", ("self.compute()\n        self.texture", "1 / 0\n        self.texture"))
    words = bench.run(unable, status=1)
    if "initialize() answered false" not in words:
        raise Failed(f"an exception in initialize:\n{words}")


def reload(bench):
    """Under `caliper dev` a library built anew runs its new source."""
    marks = [("import math\n", f"import math\nimport sys\nprint('source {number}', file=sys.stderr, "
              "flush=True)\n") for number in (1, 2)]
    library = bench.build("again", marks[0])
    running = subprocess.Popen(
        [bench.caliper, "dev", library, "--headless", "--frames", "100000000", "--renderer", "cpu"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "CALIPER_DATA_DIR": str(bench.folder / "data")})
    watchdog = threading.Timer(120, running.kill)
    watchdog.start()
    said, started = [], 0
    try:
        for line in running.stderr:
            said.append(line)
            if "1.0.0 started" not in line:
                continue
            started += 1
            if started == 2:
                break
            bench.build("anew", marks[1]).rename(library)
    finally:
        watchdog.cancel()
        running.kill()
        running.wait()
        running.stderr.close()
    if [line for line in said if line.startswith("source")] != ["source 1\n", "source 2\n"]:
        raise Failed("caliper dev:\n" + "".join(said))


def main():
    try:
        import cffi  # noqa: F401
    except ImportError:
        print("skipped: this Python has no cffi (packages python3-cffi, libpython3-dev)")
        return 77
    import sysconfig
    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
        print("skipped: Python.h is not there (package libpython3-dev)")
        return 77
    root, caliper = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(root, caliper, pathlib.Path(name))
        try:
            python = compare(bench)
            particular(bench, python)
            reload(bench)
        except Failed as failed:
            print(failed)
            return 1
    print(f"{len(STATES)} states the same in Python and C, on {', '.join(RENDERERS)}")
    return 0


sys.exit(main())
