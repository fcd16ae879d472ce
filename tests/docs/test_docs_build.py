"""The documentation builds from the tree, and stops building when a header that it embeds moves.

Usage: test_docs_build.py SOURCE_TREE
Works on a copy; skipped (status 77) where Sphinx or its Markdown reader is missing.
"""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INCLUDED = re.compile(r"^```\{literalinclude\} *(\S+)", re.MULTILINE)


def build(tree):
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "-d", str(tree / "doctrees"),
         str(tree / "docs"), str(tree / "html")],
        capture_output=True, text=True, check=False)


def embedded_files(root):
    """Every file outside docs/ that a page embeds, relative to the tree."""
    files = set()
    for page in (root / "docs").rglob("*.md"):
        for target in INCLUDED.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            if (root / "docs").resolve() not in path.parents:
                files.add(path.relative_to(root.resolve()))
    return sorted(files)


def main():
    for module in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: the Python module {module} is missing (scripts/setup docs)")
            return 77
    root = pathlib.Path(sys.argv[1])
    embedded = embedded_files(root)
    services = {"abi.h", "log_v1.h", "device_v1.h", "tensor_bridge_v1.h", "texture_read_v1.h",
                "artifacts_v1.h"}
    missing = services - {path.name for path in embedded}
    if missing:
        print(f"no page embeds {', '.join(sorted(missing))}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        shutil.copytree(root / "docs", tree / "docs", ignore=shutil.ignore_patterns("_build"))
        for path in embedded:
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, tree / path)
        first = build(tree)
        if first.returncode != 0:
            print("the unchanged documentation does not build:\n" + first.stderr)
            return 1
        # Sphinx reads a page again when what it embeds has changed, so each build stays short.
        for path in embedded:
            moved = tree / path.with_name("moved_" + path.name)
            (tree / path).rename(moved)
            broken = build(tree)
            moved.rename(tree / path)
            if broken.returncode == 0 or path.name not in broken.stderr:
                print(f"{path} moved and the documentation still built:\n{broken.stderr}")
                return 1
        again = build(tree)
        if again.returncode != 0:
            print("with everything back in place it does not build:\n" + again.stderr)
            return 1
    print(f"{len(embedded)} embedded files, each missed when moved")
    return 0


sys.exit(main())
