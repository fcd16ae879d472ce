"""docs/reference/command.md and `caliper --help` name the same subcommands and options.

Usage: test_docs_command.py SOURCE_TREE CALIPER
"""
import pathlib
import re
import subprocess
import sys


def main():
    page = (pathlib.Path(sys.argv[1]) / "docs/reference/command.md").read_text(encoding="utf-8")
    result = subprocess.run([sys.argv[2], "--help"], capture_output=True, text=True, check=True)
    helped = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", result.stdout))
    paged = set(re.findall(r"`[^`]*?(?<![\w-])(--[a-z][a-z-]*)", page))
    usage, _, rest = result.stdout.partition("\nOptions")
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE))
    table = page.partition("\n## ")[0]
    rows = set(re.findall(r"^\| `([a-z]+)[ `]", table, re.MULTILINE))
    problems = [f"only --help has {name}" for name in sorted(helped - paged | commands - rows)]
    problems += [f"only the page has {name}" for name in sorted(paged - helped | rows - commands)]
    if not helped or not commands or not rest:
        problems.append("--help could not be read")
    for line in problems:
        print(line)
    print(f"{len(commands)} subcommands, {len(helped)} options, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
