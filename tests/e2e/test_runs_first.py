"""What the Runs dashboard shows before the first run, the import that it offers, the sections of
charts and the export, from outside: event files in, scripted input, the view as JSON and a picture out.

Usage: test_runs_first.py CALIPER [FOLDER-FOR-PICTURES]
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import CALIPER, check, checks, keys, play  # noqa: E402

PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
SIZE = "1200x760"


def look(root, script="", frames=14, picture="shot.png"):
    return play(root, script, frames, SIZE,
                picture=PICTURES / picture if PICTURES is not None else True)


def items(root, script, frame):
    look(root, script + f"at {frame}\nlist {root.parent / 'items'}\n", frame + 2)
    return [json.loads(line) for line in (root.parent / "items").read_text().splitlines()]


def click(item, frame):
    return (f"at {frame}\nmove {item['x'] + item['w'] / 2:.1f} {item['y'] + item['h'] / 2:.1f}\n"
            f"at {frame + 2}\nclick left\n")


TAGS = ("train/loss", "train/accuracy", "test/loss", "time", "train.lr", "test/accuracy", "memory",
        "deep/er/still")


def make(folder):
    for name in ("a", "b"):
        runs_data.write(folder / "events" / name / "events.out.tfevents.1.host",
                        [(tag, step, float(step), 1700000000.0 + step) for tag in TAGS
                         for step in range(5)])


def test_it_teaches_and_imports(folder):
    root = folder / "fresh"
    root.mkdir()
    events = folder / "events"
    state = look(root, picture="first.png")
    check(state.get("rows", []) == [] and state["charts"] == [])
    labels = [i["label"] for i in items(root, "", 8)]
    check("Import" in labels and "Copy the two lines" in labels, labels)
    # A folder that is not there is said to be so, and nothing else happens.
    look(root, keys("m") + f"at 6\ntext {folder / 'nowhere'}\nat 8\nkey enter\n", 20,
         picture="first-failed.png")
    check(look(root).get("rows", []) == [])
    # By key alone.
    look(root, keys("m") + f"at 6\ntext {events}\nat 8\nkey enter\n", 60, picture="first-import.png")
    state = look(root, picture="first-after.png")
    check(sorted(r["label"] for r in state["rows"]) == ["a", "b"], state["rows"])
    check(all(r["state"] == "done" for r in state["rows"]))
    check([s["mean"] for s in state["charts"][0]["series"]] == [[0, 1, 2, 3, 4]] * 2)


def test_it_imports_by_pointer_and_beside_runs(folder):
    root = folder / "pointed"
    root.mkdir()
    events = folder / "events"
    shown = items(root, "", 8)
    field = next(i for i in shown if i["kind"].startswith("input"))
    button = next(i for i in shown if i["label"] == "Import")
    look(root, click(field, 4) + f"at 8\ntext {events}\n" + click(button, 10), 60)
    check(len(look(root)["rows"]) == 2)
    # The same folder again is skipped; the button beside the search has it too.
    shown = items(root, "", 8)
    button = next(i for i in shown if i["label"] == "Import")
    script = click(button, 4)
    inside = items(root, script, 12)
    field = [i for i in inside if i["kind"].startswith("input") and i not in shown][-1]
    look(root, script + click(field, 12) + f"at 16\ntext {events}\nat 18\nkey enter\n", 60,
         picture="import-again.png")
    state = look(root)
    check(len(state["rows"]) == 2, state["rows"])


def test_sections(folder):
    root = folder / "fresh"
    wanted = {}
    for tag in TAGS:
        wanted.setdefault(tag.split("/")[0] if "/" in tag else "", []).append(tag)

    def sections(state):
        return {s["name"]: s["charts"] for s in state["sections"]}

    state = look(root, picture="sections.png")
    check(sections(state) == {name: len(tags) for name, tags in wanted.items()}, state["sections"])
    check([s["name"] for s in state["sections"]] == sorted(wanted), "without a slash first")
    check(all(s["open"] for s in state["sections"]) and state["chart_total"] == len(TAGS))
    # The one at the top is folded: its charts are no longer read.
    state = look(root, keys("g"), picture="sections-folded.png")
    check([s["name"] for s in state["sections"] if not s["open"]] == [""])
    check(not {c["tag"] for c in state["charts"]} & set(wanted[""]), "they are not asked for")
    check({c["tag"] for c in state["charts"]} >= set(wanted["deep"]))
    state = look(root, keys("g", "g"))
    check(all(s["open"] for s in state["sections"]))
    state = look(root, keys("h"), picture="sections-all-folded.png")
    check(not any(s["open"] for s in state["sections"]) and state["charts"] == [])
    state = look(root, keys("h", "h"))
    check(all(s["open"] for s in state["sections"]))
    # A filter leaves what it leaves, in its sections.
    state = look(root, keys("t") + "at 6\ntext loss\n")
    check(sections(state) == {"test": 1, "train": 1}, state["sections"])
    state = look(root, keys("t") + "at 6\ntext train.lr\n", picture="sections-one.png")
    check(sections(state) == {"": 1} and [c["tag"] for c in state["charts"]] == ["train.lr"])
    # By pointer: the head of a section, then the button for all.
    state = look(root)
    rects = {a["name"]: a["rect"] for a in state["actions"] if a["name"].startswith("section")}
    heads = dict(zip(("x", "y", "w", "h"), rects["section"]))
    state = look(root, click(heads | {"w": 40}, 4))
    check([s["name"] for s in state["sections"] if not s["open"]] == [""])
    state = look(root, click(dict(zip(("x", "y", "w", "h"), rects["sections"])), 4))
    check(not any(s["open"] for s in state["sections"]))


def test_export_writes_the_chosen_runs(folder):
    root = folder / "fresh"
    table, again = folder / "rows.csv", folder / "rows.parquet"

    def export(path, frames=20, picture="export.png"):
        return look(root, keys("p") + f"at 6\nkey ctrl+a\nat 8\ntext {path}\nat 10\nkey enter\n",
                    frames, picture=picture)

    export(table)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == 2 * len(TAGS) * 5, len(rows))
    got = sorted((r["name"], r["tag"], int(r["step"]), float(r["value"])) for r in rows)
    check(got == sorted((n, t, i, float(i)) for n in ("a", "b") for t in TAGS for i in range(5)))
    table.write_text("kept")
    export(table, picture="export-refused.png")
    check(table.read_text() == "kept", "what is there stays")
    export(folder / "rows.txt")
    check(not (folder / "rows.txt").exists() and not list(folder.glob("rows*.part-*")))
    # One run alone, as Parquet: the first of the list.
    look(root, keys("up", "up", "s", "p") + f"at 12\nkey ctrl+a\nat 14\ntext {again}\nat 16\nkey "
         "enter\n", 24)
    check(again.read_bytes()[:4] == b"PAR1" == again.read_bytes()[-4:])
    result = subprocess.run(
        [CALIPER, "sql", f"SELECT name, count(*), sum(value) FROM read_parquet('{again}') GROUP BY "
         "name", "--csv", "--data-dir", folder / "other"], capture_output=True, text=True,
        check=True)
    check(result.stdout.split()[-1] == f"a,{len(TAGS) * 5},{len(TAGS) * 10.0}", result.stdout)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        for test in (test_it_teaches_and_imports, test_sections, test_export_writes_the_chosen_runs,
                     test_it_imports_by_pointer_and_beside_runs):
            test(folder)
            print("ok", test.__name__, flush=True)
    print(checks(), "checks")


if __name__ == "__main__":
    main()
