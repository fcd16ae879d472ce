"""docs/environment.md names every variable that Caliper reads, and no other.

Usage: test_docs_environment.py SOURCE_TREE
A variable of the C and C++ source is any string literal that is exactly "CALIPER_...": read through
getenv directly or through a table of names. In tests and benchmarks, whose tables have the SDK's
constants too, it is what getenv is called with; in scripts an expansion or an export.
"""
import pathlib
import re
import sys
import tempfile

SOURCE_FOLDERS = ("src", "applets", "formats", "datasets")
TEST_FOLDERS = ("tests", "bench")
SOURCE_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".def"}
LITERAL = re.compile(r'"(CALIPER_[A-Z0-9_]+)"')
CALL = re.compile(r'getenv\(\s*"(CALIPER_[A-Z0-9_]+)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
EXPANSION = re.compile(r"\$\{?(CALIPER_[A-Z0-9_]+)|\bexport (CALIPER_[A-Z0-9_]+)")
DOCUMENTED = re.compile(r"^## `(CALIPER_[A-Z0-9_]+)", re.MULTILINE)


def read_variables(root):
    """Name -> the first file that reads it."""
    found = {}
    for folder in (*SOURCE_FOLDERS, *TEST_FOLDERS):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                text = COMMENT.sub("", path.read_text(encoding="utf-8"))
                for name in (CALL if folder in TEST_FOLDERS else LITERAL).findall(text):
                    found.setdefault(name, path.relative_to(root))
    for path in sorted((root / "scripts").rglob("*")):
        if path.is_file() and path.suffix in {"", ".sh"}:
            for pair in EXPANSION.findall(path.read_text(encoding="utf-8")):
                found.setdefault(pair[0] or pair[1], path.relative_to(root))
    return found


def problems(root):
    read = read_variables(root)
    documented = DOCUMENTED.findall((root / "docs/environment.md").read_text(encoding="utf-8"))
    out = [f"{path} reads {name}, which docs/environment.md does not name"
           for name, path in sorted(read.items()) if name not in documented]
    out += [f"docs/environment.md names {name}, which nothing reads"
            for name in sorted(set(documented)) if name not in read]
    out += [f"docs/environment.md names {name} twice"
            for name in sorted(set(documented)) if documented.count(name) > 1]
    return out


def check_the_check():
    """A planted violation of each kind is found, and a sound tree is not accused."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in (*SOURCE_FOLDERS, *TEST_FOLDERS, "scripts", "docs"):
            (root / name).mkdir()
        page = root / "docs/environment.md"
        source = root / "src/a.c"
        source.write_text('/* "CALIPER_COMMENT" */ x = getenv("CALIPER_ONE");\n')
        (root / "scripts/s").write_text("export CALIPER_TWO=1\n")
        page.write_text("## `CALIPER_ONE`\n\n## `CALIPER_TWO=1`\n")
        assert problems(root) == [], problems(root)
        page.write_text("## `CALIPER_ONE`\n\nCALIPER_TWO in passing\n")
        assert len(problems(root)) == 1 and "CALIPER_TWO" in problems(root)[0]
        page.write_text("## `CALIPER_ONE`\n## `CALIPER_TWO`\n")
        source.write_text('static const char *names[] = {"CALIPER_ONE", "CALIPER_TABLE"};\n')
        assert len(problems(root)) == 1 and "CALIPER_TABLE" in problems(root)[0]
        source.write_text('x = getenv("CALIPER_ONE");\n')
        page.write_text("## `CALIPER_ONE`\n## `CALIPER_TWO`\n## `CALIPER_THREE`\n")
        assert len(problems(root)) == 1 and "CALIPER_THREE" in problems(root)[0]
        page.write_text("## `CALIPER_ONE`\n## `CALIPER_TWO`\n")
        test = root / "tests/b.c"
        test.write_text('setenv("CALIPER_SET", "1", 1); y = "CALIPER_CONSTANT";\n')
        assert problems(root) == [], problems(root)
        test.write_text('x = getenv(\n    "CALIPER_TESTED");\n')
        assert len(problems(root)) == 1 and "CALIPER_TESTED" in problems(root)[0]


def main():
    check_the_check()
    root = pathlib.Path(sys.argv[1])
    out = problems(root)
    for line in out:
        print(line)
    print(f"{len(read_variables(root))} variables, {len(out)} problems")
    return 1 if out else 0


sys.exit(main())
