"""Sums up one ctest run from its JUnit file.

Usage: ctest_summary.py FILE NAME
Prints "passed failed skipped" on the first line, then one line per failed or skipped test, a skipped
one with the reason that its program printed. A file that cannot be read counts as one failure.
"""
import re
import sys
import xml.etree.ElementTree as tree


def reason(output):
    """The line in which a test says why it was skipped: the last one that speaks of skipping."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    speaking = [line for line in lines if re.search(r"skip", line, re.IGNORECASE)]
    useful = [line for line in speaking if not re.match(r"\[  SKIPPED \]", line)]
    for group in (useful, lines[-1:], speaking):
        if group:
            return group[-1]
    return "the program gave no reason"


def main():
    path, name = sys.argv[1:3]
    try:
        suite = tree.parse(path).getroot()
    except (OSError, tree.ParseError) as error:
        print("0 1 0")
        print(f"failed: {name}: no result file ({error})")
        return
    passed = failed = skipped = 0
    notes = []
    for case in suite.iter("testcase"):
        status = case.get("status")
        title = case.get("name")
        output = case.findtext("system-out") or ""
        if status == "run":
            passed += 1
        elif status == "fail":
            failed += 1
            notes.append(f"failed: {name}: {title}")
        else:  # notrun, disabled
            skip = case.find("skipped")
            why = skip.get("message", "") if skip is not None else status
            if why.startswith("SKIP_RETURN_CODE"):
                skipped += 1
                notes.append(f"skipped: {name}: {title}: {reason(output)}")
            elif status == "disabled":
                skipped += 1
                notes.append(f"skipped: {name}: {title}: disabled")
            else:
                failed += 1
                notes.append(f"failed: {name}: {title}: did not run ({why})")
    if passed + failed == 0:
        failed += 1
        notes.append(f"failed: {name}: no test was executed")
    print(passed, failed, skipped)
    print("\n".join(notes))


main()
