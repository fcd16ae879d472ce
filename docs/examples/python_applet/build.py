"""Builds an applet whose functions are written in Python: a shared library that exports the applet's one
symbol, starts the system's Python when that is called, and runs the applet's source, which it carries.

Usage: build.py APPLET.py INCLUDE OUTPUT.so

It needs cffi, a C compiler and Python's headers (Debian: python3-cffi, libpython3-dev). The declarations are
the SDK's own headers, read by the compiler's preprocessor, so there is nothing to keep in step by hand.
"""
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

import cffi

HEADERS = ["caliper/abi.h", "caliper/tensor.h", "caliper/services/tensor_bridge_v1.h",
           "caliper/services/widgets_v1.h"]

# The applet's five functions, which Python defines, and the one symbol that C asks for.
FUNCTIONS = """
extern "Python" void *applet_create(void);
extern "Python" void applet_destroy(void *self);
extern "Python" bool applet_initialize(void *self, const CaliperHost *host);
extern "Python" void applet_frame(void *self, const CaliperFrameInfo *info);
extern "Python" void applet_cleanup(void *self);
"""
SYMBOL = "const CaliperAppletDescriptor *caliper_applet_descriptor(void);"

# A host opens an applet so that its symbols, and those of the libraries it needs, are its own. Python's
# extension modules look for Python among the symbols of everybody, so it is put there.
PRELUDE = """
#include <dlfcn.h>
{includes}
__attribute__((constructor)) static void share_python(void)
{{
    dlopen("{libpython}", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}}
"""


def declarations(include):
    """What the headers declare, without what they include of the system's and without their checks."""
    lines = ["#include <stdbool.h>"] + [f"#include <{header}>" for header in HEADERS]
    output = subprocess.run(["cc", "-E", "-I", include, "-xc", "-"], input="\n".join(lines),
                            capture_output=True, text=True, check=True).stdout
    kept, ours = [], False
    for line in output.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/caliper/" in marker.group(1)
        elif ours:
            kept.append(line)
    text = re.sub(r"_Static_assert\s*\(.*?\"\s*\)\s*;", "", "\n".join(kept), flags=re.DOTALL)
    return re.sub(r"^\s*;\s*$", "", text, flags=re.MULTILINE)


def main():
    applet, include, output = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    libpython = sysconfig.get_config_var("INSTSONAME")
    builder = cffi.FFI()
    builder.cdef(declarations(include))
    builder.cdef(FUNCTIONS)
    builder.embedding_api(SYMBOL)
    builder.set_source(output.stem + "_c", PRELUDE.format(
        libpython=libpython, includes="\n".join(f"#include <{header}>" for header in HEADERS)))
    builder.embedding_init_code(f"import {output.stem}_c as caliper_c\n" +
                                applet.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "applet.c"
        symbols = pathlib.Path(folder) / "applet.map"
        builder.emit_c_code(str(source))
        symbols.write_text("{ global: caliper_applet_descriptor; local: *; };\n", encoding="utf-8")
        # nodelete: Python cannot be started twice in a process, so what started it stays.
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-I", include, "-I",
                        sysconfig.get_path("include"), source, "-o", output,
                        f"-Wl,--version-script={symbols}", "-Wl,-z,nodelete",
                        "-L" + sysconfig.get_config_var("LIBDIR"),
                        "-lpython" + sysconfig.get_config_var("LDVERSION"), "-ldl"], check=True)


main()
