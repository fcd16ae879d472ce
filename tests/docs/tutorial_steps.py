"""Does what the tutorial "your first applet" says, step by step, for its test and its pictures.

Usage: tutorial_steps.py PAGE PREFIX FOLDER

PREFIX is an installed Caliper. FOLDER/first has the scaffold as `caliper new` writes it, FOLDER/last what it
is after the last step; both are built and their tests run. Markers in the page, invisible to its readers,
say what a block of code is:
    <!-- shows FILE -->     the block stands in that file, once, as it is at this point
    <!-- replace FILE -->   the block takes the place of the last one that was shown of that file
Exit status 1, with what is wrong, when a block is not in its file, or something does not build or pass.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"<!-- (shows|replace) (\S+) -->\n+```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = "ripples"
FLAGS = "-Wall -Wextra -Wpedantic -Wshadow -Werror"


class Failed(Exception):
    pass


def call(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **options)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def build(folder):
    call("cmake", "-B", folder / "build", "-S", folder, f"-DCMAKE_C_FLAGS={FLAGS}")
    call("cmake", "--build", folder / "build")
    said = call("ctest", "--test-dir", folder / "build", "--output-on-failure")
    if "100% tests passed, 0 tests failed out of 2" not in said:
        raise Failed(said)


def apply(page, folder):
    """Follows the blocks; returns how many there were of each kind."""
    shown, counts = {}, {"shows": 0, "replace": 0}
    for kind, name, text in BLOCK.findall(page):
        counts[kind] += 1
        path = folder / name
        content = path.read_text(encoding="utf-8")
        if kind == "shows":
            if content.count(text) != 1:
                raise Failed(f"{name} does not hold, once:\n{text}")
            shown[name] = text
        else:
            if name not in shown:
                raise Failed(f"nothing of {name} was shown before:\n{text}")
            path.write_text(content.replace(shown.pop(name), text), encoding="utf-8")
    return counts


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    prefix, folder = pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    os.environ["PATH"] = f"{prefix}/bin:{os.environ['PATH']}"
    try:
        folder.mkdir(parents=True)
        if f"caliper new {NAME}\n" not in page:
            raise Failed(f"the page does not say: caliper new {NAME}")
        call("caliper", "new", NAME, "--dir", folder)
        (folder / NAME).rename(folder / "first")
        shutil.copytree(folder / "first", folder / "last")
        build(folder / "first")
        counts = apply(page, folder / "last")
        if min(counts.values()) == 0:
            raise Failed(f"blocks with markers: {counts}; wanted some of each kind")
        build(folder / "last")
    except Failed as failed:
        print(failed)
        return 1
    print(f"the tutorial's steps: {counts}")
    return 0


sys.exit(main())
