"""The applets that the README and the pages print in full compile as printed, without a warning, and
export their one symbol.

Usage: test_docs_examples.py SOURCE_TREE
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC",
         "-fvisibility=hidden"]


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
            for text in BLOCK.findall(page.read_text(encoding="utf-8")):
                if "caliper_applet_descriptor(void)" not in text or "#include" not in text:
                    continue
                if "#include <caliper_fixture.h>" in text:
                    continue  # a unit test, not an applet: tests/kit compiles it
                count += 1
                source = pathlib.Path(folder) / f"example_{count}.c"
                library = source.with_suffix(".so")
                source.write_text(text, encoding="utf-8")
                result = subprocess.run(
                    ["cc", *FLAGS, "-I", str(root / "include"), str(source), "-o", str(library)],
                    capture_output=True, text=True, check=False)
                if result.returncode != 0:
                    print(f"{page.relative_to(root)}: the applet does not compile:\n{result.stderr}")
                    return 1
                symbols = subprocess.run(
                    ["nm", "-D", "--defined-only", "--format=just-symbols", str(library)],
                    capture_output=True, text=True, check=True).stdout.split()
                if symbols != ["caliper_applet_descriptor"]:
                    print(f"{page.relative_to(root)}: the applet exports {symbols}")
                    return 1
    if count == 0:
        print("no applet is printed anywhere: the README should have one")
        return 1
    print(f"{count} printed applets compile and export one symbol")
    return 0


sys.exit(main())
