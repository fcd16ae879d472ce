#!/usr/bin/env python3
"""Tries check_depends on a small ninja build: what only the compiler can see must be noticed.

Each object is compiled with a flag that hides an include from the text of the source. Exit status 1
if any verdict is wrong, 77 without ninja or gcc.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_depends")

FILES = {
    "house/src/shell/panel.h": "",
    "house/src/core/log.h": "",
    "house/src/bridge/clean.c": '#include "core/log.h"\n#include <stdint.h>\n',
    "house/src/bridge/by_path.c": "#include <panel.h>\n",
    "house/src/bridge/by_flag.c": "int x;\n",
    "house/src/bridge/by_macro.c": "#include WHAT\n",
    "house/src/render/gl/gl_api.c": "#include <friendly.h>\n",
    "house/src/render/by_system.c": "#include <friendly.h>\n",
    "house/src/services/ui.c": "#include <toolkit.h>\n",
    "house/src/services/log.c": "#include <toolkit.h>\n",
    "house/applets/view/app.c": "#include <log.h>\n",
    "house/tests/free.c": "#include <panel.h>\n",
    # Outside the tree: headers whose own includes are what matters.
    "system/friendly.h": "#include <GL/gl.h>\n",
    "system/GL/gl.h": "",
    "system/toolkit.h": "#include <imgui.h>\n",
    "system/imgui.h": "",
}

# source -> (flags, what must be printed about it, or None)
OBJECTS = {
    "src/bridge/clean.c": ("-I../src", None),
    "src/bridge/by_path.c": ("-I../src/shell", "arrow: reaches src/shell/panel.h"),
    "src/bridge/by_flag.c": ("-include ../src/shell/panel.h", "arrow: reaches src/shell/panel.h"),
    "src/bridge/by_macro.c": ("-I../src -DWHAT='\"shell/panel.h\"'",
                              "arrow: reaches src/shell/panel.h"),
    "src/render/gl/gl_api.c": ("-I../../system", None),
    "src/render/by_system.c": ("-I../../system", "opengl: reaches "),
    "src/services/ui.c": ("-I../../system", None),
    "src/services/log.c": ("-I../../system", "imgui: reaches "),
    "applets/view/app.c": ("-I../src/core", "arrow: reaches src/core/log.h"),
    "tests/free.c": ("-I../src/shell", None),
}


def lay_out(root):
    for name, text in FILES.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    build = os.path.join(root, "house", "build")
    os.makedirs(build)
    ninja = ["rule cc", "  command = gcc $flags -MMD -MF $out.d -c $in -o $out", "  deps = gcc",
             "  depfile = $out.d"]
    commands = []
    for source, (flags, _) in OBJECTS.items():
        output = source.replace("/", "_") + ".o"
        ninja += ["build %s: cc ../%s" % (output, source), "  flags = " + flags]
        commands.append({"directory": build, "file": "../" + source, "output": output,
                         "command": "gcc"})
    with open(os.path.join(build, "build.ninja"), "w", encoding="utf-8") as file:
        file.write("\n".join(ninja) + "\n")
    with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(commands, file)
    return build


def check(root, build):
    return subprocess.run([sys.executable, CHECK, os.path.join(root, "house"), build],
                          capture_output=True, text=True, check=False)


def main():
    if shutil.which("ninja") is None or shutil.which("gcc") is None:
        print("skipped: ninja or gcc is not installed")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as root:
        root = os.path.realpath(root)
        build = lay_out(root)
        if check(root, build).returncode != 77:
            wrong.append("a build of which nothing is there must be skipped")
        subprocess.run(["ninja", "-C", build], capture_output=True, check=True)
        result = check(root, build)
    lines = result.stdout.splitlines()
    for source, (_, wanted) in OBJECTS.items():
        said = [line for line in lines if line.startswith(source + ": ")]
        if wanted is None and said:
            wrong.append("must pass: " + said[0])
        if wanted is not None and not any(line.startswith(source + ": " + wanted) for line in said):
            wrong.append("wanted '%s: %s', got %s" % (source, wanted, said))
    if result.returncode != 1:
        wrong.append("exit status %d, wanted 1" % result.returncode)
    for line in wrong:
        print("WRONG " + line)
    print("%d objects, %d judged wrongly" % (len(OBJECTS), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
