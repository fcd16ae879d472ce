"""docs/reference/refusals.md lists every reason of src/bridge/gate.h, in its words and its order.

Usage: test_docs_refusals.py SOURCE_TREE
"""
import pathlib
import re
import sys

REASON = re.compile(r'^\s*GATE_REASON\((\w+),[\s\\]*((?:"[^"]*"[\s\\]*)+)\)', re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", re.MULTILINE)


def reasons(header):
    """(name, wanted) of each reason but OK, in the header's order."""
    found = [(name, "".join(re.findall(r'"([^"]*)"', text))) for name, text in REASON.findall(header)]
    return [pair for pair in found if pair[0] != "OK"]


def rows(page):
    """(name, wanted) of each row; a bar inside a cell is written with a backslash."""
    return [(name, wanted.replace("\\|", "|")) for name, wanted, _ in ROW.findall(page)]


def problems(header, page):
    known, listed = reasons(header), rows(page)
    out = [f"gate.h has {name}, the page does not" for name, _ in known
           if name not in dict(listed)]
    out += [f"the page has {name}, gate.h does not" for name, _ in listed
            if name not in dict(known)]
    out += [f"{name}: gate.h wants '{wanted}', the page '{dict(listed)[name]}'"
            for name, wanted in known if dict(listed).get(name, wanted) != wanted]
    if not out and known != listed:
        out.append("the page lists the reasons in another order than gate.h")
    return out


def check_the_check():
    header = ('    GATE_REASON(OK, "nothing") \\\n    GATE_REASON(ONE, "|x| small") \\\n'
              '    GATE_REASON(TWO, \\\n                "a " \\\n                "b")\n')
    page = "| `ONE` | \\|x\\| small | do |\n| `TWO` | a b | do |\n"
    assert problems(header, page) == [], problems(header, page)
    for wrong in (page.replace("TWO", "THREE"), page.replace("a b", "a c"),
                  page.splitlines()[0] + "\n", "\n".join(reversed(page.splitlines()))):
        assert problems(header, wrong), wrong


def main():
    check_the_check()
    root = pathlib.Path(sys.argv[1])
    header = (root / "src/bridge/gate.h").read_text(encoding="utf-8")
    page = (root / "docs/reference/refusals.md").read_text(encoding="utf-8")
    out = problems(header, page)
    if not reasons(header):
        out.append("no GATE_REASON found in gate.h")
    for line in out:
        print(line)
    print(f"{len(reasons(header))} reasons, {len(out)} problems")
    return 1 if out else 0


sys.exit(main())
