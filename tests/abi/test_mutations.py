#!/usr/bin/env python3
"""Tries the ABI tests on headers that are wrong on purpose.

usage: test_mutations.py INCLUDE_DIR

Each mutation alters a copy of the headers. The layout test must notice it without help of the
headers' own pins (they are blanked for it), and where the layout moved, the pins must refuse to
compile in C99, C17 and C++11 without help of the layout test. A few mutations of form (a missing
include, a C11 construct, a missing guard) must be noticed by check_headers.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
S = "services/"
BLANK_PIN = "#define CALIPER_LAYOUT_PIN(name, condition) struct caliper_layout_blank\n"

# (what, file, text, replacement, whether the layout moves)
LAYOUT = [
    ("two slots swapped", S + "tensor_bridge_v1.h",
     r"(    bool \(\*update_texture\)\([^;]*;)(.*?)(    void \(\*release_texture\)\([^;]*;)",
     r"\3\2\1", True),
    ("two members of the tensor swapped", "tensor.h",
     r"(    CaliperDType dtype;)(.*?)(    int32_t ndim;)", r"\3\2\1", True),
    ("two f32 of a draw record swapped", S + "geometry_v1_1.h", r"float vmin, vmax;",
     r"float vmax, vmin;", True),
    ("a member dropped", "abi.h", r"    uint32_t host_version;", r"", False),
    ("a member widened", "abi.h", r"    float dpi_scale;", r"    double dpi_scale;", True),
    ("a slot appended to a frozen table", S + "log_v1.h", r"\} CaliperLogV1;",
     r"void (*flush)(void);\n} CaliperLogV1;", True),
    ("a slot in front of struct_size", S + "data_v1.h", r"    uint32_t struct_size;\n",
     r"    const char *(*first)(void);\n    uint32_t struct_size;\n", True),
    ("a reserved slot removed", S + "geometry_v1_3.h", r"    void \(\*reserved0\)\(void\);[^\n]*\n",
     r"", True),
    ("fewer dimensions", "tensor.h", r"int64_t shape\[8\]", r"int64_t shape[7]", True),
    ("a parameter narrowed", S + "jobs_v1.h", r"\(\*is_running\)\(uint64_t job\)",
     r"(*is_running)(uint32_t job)", False),
    ("a parameter's constness", S + "metrics_v1.h", r"const float \*values", r"float *values",
     False),
    ("a result narrowed", S + "device_v1.h", r"uint64_t \(\*free_memory_hint\)",
     r"uint32_t (*free_memory_hint)", False),
    ("bool turned into int", S + "artifacts_v1.h", r"bool \(\*exists\)", r"int (*exists)", False),
    ("an enum value moved", S + "device_v1.h", r"CALIPER_DEV_CUDA = 1", r"CALIPER_DEV_CUDA = 3",
     False),
    ("two dtypes swapped", "tensor.h", r"_F16 = 1(.*?)_BF16 = 2", r"_F16 = 2\1_BF16 = 1", False),
    ("a capability bit moved", S + "tensor_bridge_v1_2.h", r"\(1u << 1\)", r"(1u << 2)", False),
    ("an id misspelt", S + "tensor_bridge_v1_1.h", r'"caliper.tensor_bridge.v1_1"',
     r'"caliper.tensor_bridge.v1.1"', False),
    ("another epoch", "abi.h", r"CALIPER_ABI_EPOCH 2", r"CALIPER_ABI_EPOCH 3", False),
    ("a revision that differs from v1", S + "metrics_v1_1.h",
     r"void \(\*scalar\)\(uint64_t run, const char \*tag, int64_t step, double value\)",
     r"void (*scalar)(uint64_t run, const char *tag, int64_t step, float value)", False),
    ("two slots of the widgets swapped", S + "widgets_v1.h",
     r"(    bool \(\*checkbox\)\([^;]*;)(.*?)(    bool \(\*radio\)\([^;]*;)", r"\3\2\1", True),
    ("a flag of the widgets moved", S + "widgets_v1.h", r"CALIPER_TREE_HEADER = 8",
     r"CALIPER_TREE_HEADER = 16", False),
    ("two strides of a plot swapped", S + "plot_v1.h", r"int64_t x_stride, y_stride;",
     r"int64_t y_stride, x_stride;", True),
    ("an Arrow member moved", "arrow_c.h",
     r"(    int64_t length;[^\n]*\n)(    int64_t null_count;[^\n]*\n)",
     r"\2\1", True),
]

FORM = [
    ("an include forgotten", S + "metrics_v1.h", r"#include <caliper/tensor.h>\n", r""),
    ("bool without stdbool", S + "jobs_v1.h", r"#include <stdbool.h>\n", r""),
    ("a C11 assertion in C99", S + "log_v1.h", r"#endif\n\Z",
     r'_Static_assert(1, "text");' + "\n#endif\n"),
    ("a variadic macro without its arguments", S + "log_v1.h", r"#endif\n\Z",
     r"#define EMPTY(a, ...) a\nenum { CALIPER_X = EMPTY(1) };\n#endif\n"),
    ("no guard", S + "device_v1.h",
     r"#ifndef CALIPER_SERVICES_DEVICE_V1_H\n#define CALIPER_SERVICES_DEVICE_V1_H\n(.*)#endif\n\Z",
     r"\1"),
    ("an anonymous union in C99", S + "data_v1.h", r"typedef struct CaliperDataV1 \{",
     r"struct CaliperOther { union { int a; float b; }; };\ntypedef struct CaliperDataV1 {"),
    ("a C++ keyword as a parameter", S + "jobs_v1.h", r"is_running\)\(uint64_t job\)",
     r"is_running)(uint64_t class)"),
]


def alter(tree, file, pattern, replacement):
    path = os.path.join(tree, "caliper", file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    altered, count = re.subn(pattern, replacement, text, count=1, flags=re.DOTALL)
    if count != 1 or altered == text:
        raise SystemExit("mutation does not apply to %s: %s" % (file, pattern))
    with open(path, "w", encoding="utf-8") as target:
        target.write(altered)


def blank_pins(tree):
    path = os.path.join(tree, "caliper", "layout.h")
    with open(path, encoding="utf-8") as source:
        text = source.read()
    end = text.rindex("#endif")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text[:end] + "#undef CALIPER_LAYOUT_PIN\n" + BLANK_PIN + text[end:])


def compiles(tree, command, standard, language):
    return subprocess.run(
        [command, "-std=" + standard, "-fsyntax-only", "-I", tree, "-x", language, "-"],
        input="#include <caliper/caliper.h>\n", capture_output=True, text=True,
        check=False).returncode == 0


def layout_test_passes(tree):
    """True when the layout test compiles and finds nothing."""
    program = os.path.join(tree, "layout")
    built = subprocess.run(
        ["gcc", "-std=c17", "-I", tree, os.path.join(HERE, "test_layout.c"), "-o", program],
        capture_output=True, text=True, check=False)
    if built.returncode != 0:
        return False
    return subprocess.run([program], capture_output=True, check=False).returncode == 0


def check_headers_passes(tree):
    return subprocess.run(
        [sys.executable, os.path.join(HERE, "check_headers"), tree, "--compilers", "gcc"],
        capture_output=True, check=False).returncode == 0


def main():
    include_dir = sys.argv[1]
    if shutil.which("gcc") is None or shutil.which("g++") is None:
        print("skipped: gcc is not installed")
        return 77
    missed = []
    with tempfile.TemporaryDirectory() as scratch:
        def fresh(name):
            tree = os.path.join(scratch, name)
            shutil.copytree(include_dir, tree)
            return tree

        clean = fresh("clean")
        if not check_headers_passes(clean):
            missed.append("the headers as they are do not compile alone")
        blank_pins(clean)
        if not layout_test_passes(clean):
            missed.append("the headers as they are fail the layout test")

        for number, (what, file, pattern, replacement, moves) in enumerate(LAYOUT):
            tree = fresh("layout%d" % number)
            alter(tree, file, pattern, replacement)
            for command, standard, language in (("gcc", "c99", "c"), ("gcc", "c17", "c"),
                                                ("g++", "c++11", "c++")):
                if moves and compiles(tree, command, standard, language):
                    missed.append("pins, %s: %s" % (standard, what))
            blank_pins(tree)
            if layout_test_passes(tree):
                missed.append("layout test: " + what)
            shutil.rmtree(tree)

        for number, (what, file, pattern, replacement) in enumerate(FORM):
            tree = fresh("form%d" % number)
            alter(tree, file, pattern, replacement)
            if check_headers_passes(tree):
                missed.append("check_headers: " + what)
            shutil.rmtree(tree)
    for line in missed:
        print("NOT NOTICED " + line)
    print("%d mutations, %d not noticed" % (len(LAYOUT) + len(FORM), len(missed)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
