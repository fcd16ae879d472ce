"""The example in docs/examples/line_fit compiles without a warning, trains in its job, and what it
logged and kept is there afterwards; the page embeds it.

Usage: test_docs_line_fit.py SOURCE_TREE CALIPER
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wmissing-prototypes", "-Werror",
         "-fPIC", "-fvisibility=hidden", "-shared"]
FRAMES = (400, 6000)  # the job ends within few; a machine that is busy gets more


def call(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        print(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
        sys.exit(1)
    return result.stdout + result.stderr


def main():
    root, caliper = pathlib.Path(sys.argv[1]), sys.argv[2]
    source = root / "docs/examples/line_fit/line_fit.c"
    page = (root / "docs/reference/jobs.md").read_text(encoding="utf-8")
    if "examples/line_fit/line_fit.c" not in page:
        print("docs/reference/jobs.md does not embed line_fit.c")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library = folder / "line_fit.so"
        data = folder / "data"
        call("cc", *FLAGS, "-I", root / "include", source, "-lm", "-o", library)
        for frames in FRAMES:
            words = call(caliper, "run", library, "--headless", "--renderer", "cpu", "--frames",
                         frames, "--data-dir", data)
            if "kept as" in words:
                break
        # The points have the slope 2 and the offset -1 and even noise: least squares by hand.
        seed, xs, ys = 1, [], []
        for i in range(256):
            seed = (seed * 1664525 + 1013904223) % 2 ** 32
            xs.append(i / 255 * 2 - 1)
            ys.append(2 * xs[-1] - 1 + ((seed >> 8) / 16777216 - 0.5) * 0.2)
        mean_x, mean_y = sum(xs) / 256, sum(ys) / 256
        slope = (sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) /
                 sum((x - mean_x) ** 2 for x in xs))
        found = re.search(r"y = (\S+) x \+ (\S+), kept as ([0-9a-f]{64})", words)
        if found is None:
            print(f"nothing was kept:\n{words}")
            return 1
        if (abs(float(found[1]) - slope) > 0.002 or
                abs(float(found[2]) - (mean_y - slope * mean_x)) > 0.002):
            print(f"y = {found[1]} x + {found[2]}, least squares says {slope}")
            return 1
        listed = call(caliper, "artifacts", "list", "--data-dir", data)
        if found[3][:12] not in listed or "line_fit/weights.f64" not in listed:
            print(f"the artifact is not listed:\n{listed}")
            return 1
        if "dropped" in words:
            print(words)
            return 1
    print("trained, logged, kept")
    return 0


sys.exit(main())
