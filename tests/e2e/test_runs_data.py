"""The Data page of the Runs dashboard from outside: tables made by SQL and event files in, scripted
input, the view as JSON and a picture out. Expected numbers come from Python's own lists and loops.

Usage: test_runs_data.py CALIPER [FOLDER-FOR-PICTURES]
"""
import csv
import json
import math
import pathlib
import random
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import CALIPER, check, check_picture, checks, command, keys, play  # noqa: E402

SIZE = "1200x760"
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None


def sql(root, statement):
    result = command("sql", statement, "--data-dir", root)
    check(result.returncode == 0, statement, result.stderr)


def typed(statement, *more, start=6):
    """On the Data page: writes a statement over what is there, and runs it."""
    return (f"at {start - 2}\nkey 8\nat {start}\nkey q\nat {start + 2}\nkey ctrl+a\n"
            f"at {start + 4}\ntext {statement}\nat {start + 6}\nkey ctrl+enter\n"
            + keys(*more, start=start + 10))


def look(root, script="", frames=24, picture=None):
    kept = PICTURES is not None and picture is not None
    state = play(root, script, frames, SIZE, picture=PICTURES / picture if kept else True)
    if picture is not None:
        check_picture(root.parent / "shot.png", SIZE)
    return state


def view(*args, **named):
    return look(*args, **named)["data"]


# ---- Tables that are known ----

rng = random.Random(11)
# id, a real with NaN, infinities and NULL, a text with NULL and equal ones, a decimal
ROWS = [(i, [rng.gauss(0, 3), math.nan, None, math.inf, -math.inf][0 if i > 5 else i % 5],
         [rng.choice(["pear", "apple", "\u00e4pfel", "Zebra", ""]), None][i % 7 == 3],
         rng.randrange(-10**6, 10**6)) for i in range(30)]
LOSSES = {("train/loss", i): 1.0 / (i + 1) for i in range(50)} | {
    ("test/loss", i): 2.0 / (i + 1) for i in range(50)}


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"'{value}'::DOUBLE" if not math.isfinite(value) else f"{value!r}::DOUBLE"
    return str(value) if isinstance(value, int) else f"'{value}'"


def make(folder):
    runs_data.write(folder / "events" / "a" / "events.out.tfevents.1.host",
                    [(tag, step, value, 1700000000.0 + step)
                     for (tag, step), value in LOSSES.items()])
    root = folder / "root"
    result = command("import", "tfevents", folder / "events", "--data-dir", root)
    check(result.returncode == 0, result.stderr)
    with (folder / "points.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y"]] + [[i, i * i] for i in range(40)])
    sql(root, "CREATE TABLE known AS SELECT * FROM (VALUES " + ", ".join(
        f"({i}, {literal(v)}, {literal(t)}, ({d} / 100.0)::DECIMAL(18, 2))"
        for i, v, t, d in ROWS) + ") t(id, value, word, price)")
    sql(root, "CREATE VIEW few AS SELECT id FROM known WHERE id < 3")
    sql(root, f"INSERT INTO caliper.datasets VALUES ('points', '{folder / 'points.csv'}', '', now())")
    return root


def ids(data):
    return [int(row[0]) for row in data["cells"]]


def number(text):
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(text) or float(text)


def test_the_list(root):
    data = view(root, keys("8"), 12, picture="data-first.png")
    check([(i["section"], i["name"]) for i in data["list"]] ==
          [("dataset", "points"), ("table", "few"), ("table", "known"), ("logged", "runs"),
           ("logged", "scalars"), ("logged", "histograms"), ("logged", "images"), ("logged", "texts")],
          data["list"])
    detail = {i["name"]: i["detail"] for i in data["list"]}
    check(detail["known"] == "30 rows" and detail["few"] == "view" and detail["runs"] == "1 row")
    check(detail["scalars"] == f"{len(LOSSES)} rows", detail["scalars"])
    check(detail["points"].endswith("/points.csv"))
    data = view(root, keys("8", "."), picture="data-dataset.png")
    check(data["columns"] == ["x", "y"] and data["rows"] == 40, data["words"])
    check(data["cells"] == [[str(i), str(i * i)] for i in range(len(data["cells"]))])


def test_cells_and_order(root):
    known = ["8", ".", ".", "."]
    data = view(root, keys(*known), picture="data-table.png")
    check(data["columns"] == ["id", "value", "word", "price"] and data["rows"] == 30)
    shown = len(data["cells"])
    check(shown > 15 and ids(data) == [r[0] for r in ROWS][:shown])
    for row, (_, value, word, price) in zip(data["cells"], ROWS):
        check((row[1] is None) == (value is None), row)
        if value is not None:
            got = number(row[1])
            check(got == value or (got != got and value != value), row, value)
        check(row[2] == word and abs(float(row[3]) - price / 100) < 1e-9, row)

    def order(column, down):
        """NULL last, NaN the greatest, texts by their bytes, equal ones as they were."""
        def key(row):
            value = row[column]
            if isinstance(value, str):
                return value.encode()
            return (1, 0.0) if value != value else (0, value)
        there = [r for r in ROWS if r[column] is not None]
        return [r[0] for r in sorted(there, key=key, reverse=down)] if not down else [
            r[0] for r in sorted(there[::-1], key=key)][::-1]

    for column, down in ((1, False), (1, True), (2, False), (2, True), (3, False), (-1, True)):
        nulls = [r[0] for r in ROWS if column >= 0 and r[column] is None]
        data = view(root, keys(*known, *["o"] * (column + 1), *["i"] * down), 26)
        check(data["sort"] == column and data["descending"] == down)
        wanted = order(column, down) + nulls if column >= 0 else [r[0] for r in ROWS][::-1]
        check(ids(data) == wanted[:len(data["cells"])], column, down, ids(data))


def test_a_click_on_a_header_sorts(root):
    state = look(root, keys("8", ".", ".", ".") + "at 14\nlist " + str(root.parent / "items") + "\n")
    items = [json.loads(line) for line in (root.parent / "items").read_text().splitlines()]
    sort = next(i for i in items if i["label"].startswith("Sort"))
    check(state["data"]["sort"] == -1)
    # The header stands below the bar; "price" is the last of the four columns.
    script = keys("8", ".", ".", ".") + (
        f"at 14\nmove {sort['x'] - 20} {sort['y'] + sort['h'] + 16}\nat 16\nclick left\n"
        "at 20\nclick left\n")
    data = view(root, script, 30)
    check(data["sort"] in (-1, 0) and (data["descending"] or data["sort"] == 0), data["sort"])


def test_what_runs_logged_is_read_and_no_more(root):
    data = view(root, typed("SELECT tag, count(*) AS n, sum(value) AS s, max(step) AS last FROM "
                            "scalars GROUP BY tag ORDER BY tag"), 30, picture="data-sql.png")
    check(data["logged"] and data["columns"] == ["tag", "n", "s", "last"], data["words"])
    for row, tag in zip(data["cells"], ("test/loss", "train/loss")):
        rows = [v for (t, _), v in LOSSES.items() if t == tag]
        wanted = sum(struct.unpack("<f", struct.pack("<f", v))[0] for v in rows)
        check(row[0] == tag and int(row[1]) == len(rows) and int(row[3]) == 49)
        check(abs(float(row[2]) - wanted) < 1e-9, row, wanted)
    for statement in ("DELETE FROM scalars", "SELECT 1; SELECT 2"):
        data = view(root, typed(statement), 30, picture="data-refused.png")
        check(data["failed"] and "cells" not in data and "\n" not in data["words"], data["words"])
    data = view(root, keys("8", ".", ".", ".", ".", "."))
    check(data["rows"] == len(LOSSES), data["words"])


def test_any_statement_on_data(root):
    # The choice of a table of caliper.data.v1 makes the statement one for it.
    data = view(root, "at 4\nkey 8\nat 6\nkey d\n" + typed(
        "CREATE TABLE made AS SELECT 42 AS answer", start=10), 30)
    check(not data["logged"] and not data["failed"], data["words"])
    check(("table", "made") in [(i["section"], i["name"]) for i in data["list"]], data["list"])
    data = view(root, "at 4\nkey 8\nat 6\nkey d\n" + typed("SELECT answer FROM made", start=10), 30)
    check(data["cells"] == [["42"]])
    data = view(root, "at 4\nkey 8\nat 6\nkey d\n" + typed("SELECT nothing FROM made", start=10), 30)
    check(data["failed"] and "nothing" in data["words"] and "LINE" not in data["words"])
    sql(root, "DROP TABLE made")


def test_a_plot_of_chosen_columns(root):
    data = view(root, keys("8", ".", "v"), picture="data-plot.png")
    # "x" goes across by itself, the last number upwards.
    check(data["plot"]["x"] == list(range(40)) and not data["plot"]["points"])
    check(data["plot"]["y"] == {"y": [i * i for i in range(40)]})
    data = view(root, keys("8", ".", "v", "x", "x", "y"), 26)
    # y across (0, 1, 4, ...) then the row's number; upwards the next: x.
    check(data["plot"]["x"] == [i + 1 for i in range(40)], data["plot"]["x"][:4])
    check(data["plot"]["y"] == {"x": list(range(40))})
    data = view(root, typed("SELECT sin(i / 9.0) AS s, cos(i / 9.0) AS c, CASE WHEN i % 10 = 0 THEN "
                            "NULL ELSE i END AS n FROM range(100) t(i)", "v", "x", "y", "p"), 40,
                picture="data-points.png")
    check(data["plot"]["points"] is not None)
    xs = data["plot"]["x"]
    check(all(abs(x - math.sin(i / 9)) < 1e-15 for i, x in enumerate(xs)) and len(xs) == 100)
    name, ys = next(iter(data["plot"]["y"].items()))
    check(name == "s" and ys == xs, name)


def test_many_rows_are_virtual(root):
    many = "SELECT i, i * 2 AS twice FROM range({}) t(i)"
    data = view(root, typed(many.format(1000000), "i"), 40)
    check(data["rows"] == 1000000 and not data["more"] and ids(data)[0] == 999999, ids(data)[:3])
    check(len(data["cells"]) < 60, "only what is in sight is drawn")
    data = view(root, typed(many.format(1000000)) + "at 18\nmove 700 600\n" + "".join(
        f"at {20 + i}\nwheel 0 -50\n" for i in range(6)), 40)
    check(data["first"] > 100 and ids(data) == [data["first"] + i for i in range(len(ids(data)))])
    data = view(root, typed(many.format(3000000)), 40)
    check(data["more"] and 2**20 - 4096 <= data["rows"] <= 2**20, data["rows"])
    check(data["words"].startswith("the first "), data["words"])
    data = view(root, typed("SELECT repeat('x\u00e4', 500) AS long, [i, i + 1] AS list, "
                            "'\\x00\\xFF'::BLOB AS b, {'k': i} AS s FROM range(3) t(i)", "o", "o", "i"), 40)
    check(data["cells"][0][1:] == ["[2, 3]", "\\x00\\xFF", "{'k': 2}"], data["cells"][0][1:])
    check(data["cells"][0][0].startswith("x\u00e4x") and len(data["cells"][0][0].encode()) < 170)


def test_cancel(root):
    # It would take hours. Scripted input waits for three seconds, once.
    forever = "SELECT sum(hash(a.i, b.i)) FROM range(10000000) a(i), range(10000000) b(i)"
    data = view(root, typed(forever), 24)
    check(data["running"] and "rows" not in data, data["words"])
    data = view(root, typed(forever, "ctrl+."), 30)
    check(not data["running"] and data["cancelled"] and data["words"] == "Cancelled", data["words"])
    # Another statement ends the one that runs.
    data = view(root, typed(forever) + typed("SELECT 7 AS seven", start=22), 44)
    check(not data["running"] and data["cells"] == [["7"]], data["words"])


def test_no_run_no_table(folder):
    root = folder / "none"
    root.mkdir()
    state = look(root, keys("8"), 12, picture="data-none.png")
    check(state["page"] == "data" and all(i["section"] == "logged" for i in state["data"]["list"]))
    check(not (root / "data.duckdb").exists(), "looking makes nothing")


def test_every_action_by_key_and_by_pointer(root):
    before = keys("8", ".", ".", ".")
    state = look(root, before, 16)
    mine = {a["name"]: a for a in state["actions"] if a["page"] == "data" or a["name"] == "data"}
    plot = look(root, before + "at 12\nkey v\n", 24)
    mine.update({a["name"]: a for a in plot["actions"] if a["name"].startswith("plot-")})
    check(len(mine) == 14, list(mine))
    order = ["table-back", "table-on", "refresh", "sort", "sort-down", "sql-run", "sql-cancel",
             "sql-source", "result-plot", "plot-y", "plot-points", "plot-x", "sql", "data"]
    check(set(order) == set(mine), set(order) ^ set(mine))
    by_key = look(root, before + keys(*(mine[n]["key"] for n in order if n != "data"), start=14), 60)
    script, at = before, 14
    for name in order:
        x, y, w, h = mine[name]["rect"]
        if name == "table-on":  # now it is where the chosen one was, a line below
            y = mine["table-back"]["rect"][1] + h
        script += f"at {at}\nmove {x + w / 2:.2f} {y + h / 2:.2f}\nat {at + 2}\nclick left\n"
        at += 6
        if name == "plot-x":  # a list opens below; its second line
            script += f"at {at}\nmove {x + 40:.2f} {y + h * 2.6:.2f}\nat {at + 2}\nclick left\n"
            at += 6
    by_pointer = look(root, script, at + 6)
    for name in mine:
        for state, how in ((by_key, "by_key"), (by_pointer, "by_pointer")):
            got = next(a for a in state["actions"] if a["name"] == name)
            check(got[how] >= 1, name, how, mine[name]["rect"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = make(folder)
        for test in (test_the_list, test_cells_and_order, test_a_click_on_a_header_sorts,
                     test_what_runs_logged_is_read_and_no_more, test_any_statement_on_data,
                     test_a_plot_of_chosen_columns, test_many_rows_are_virtual, test_cancel,
                     test_every_action_by_key_and_by_pointer):
            test(root)
            print("ok", test.__name__, flush=True)
        test_no_run_no_table(folder)
        print("ok test_no_run_no_table")
    print(checks(), "checks")


if __name__ == "__main__":
    main()
