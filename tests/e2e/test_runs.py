"""The Runs dashboard from outside: event files in, scripted input, the view as JSON and a picture
out. Expected numbers come from the rows that were written, by loops here.

Usage: test_runs.py CALIPER DATA
"""
import csv
import math
import pathlib
import random
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import bring, check, checks, command, keys, play as view  # noqa: E402

DATA = pathlib.Path(sys.argv[2])
T0 = 1700000000.0


def close(got, wanted, what):
    check(len(got) == len(wanted), what, len(got), len(wanted))
    for i, (a, b) in enumerate(zip(got, wanted)):
        good = a is None and b is None or (
            a is not None and b is not None and abs(a - b) <= 1e-11 * max(1.0, abs(b)))
        check(good, what, i, a, b)


def chart(state, tag):
    return next(c for c in state["charts"] if c["tag"] == tag)


def series(state, tag, run):
    return next(s for s in chart(state, tag)["series"] if s["run"] == run)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def smoothed(rows, weight):
    """TensorBoard's slider, row by row; rows are values, None for a gap."""
    out, last, count = [], 0.0, 0
    for value in rows:
        if value is None:
            out.append(None)
            continue
        last = last * weight + (1 - weight) * value
        count += 1
        out.append(last / (1 - weight ** count))
    return out


def finite(values):
    return [v if math.isfinite(v) else None for v in values]


# ---- Rows that are known ----

rng = random.Random(5)
SHORT = [f32(2.0 * math.exp(-i / 60) + rng.gauss(0, 0.05)) for i in range(300)]
SHORT[17], SHORT[40], SHORT[41] = math.nan, math.inf, -math.inf
# Step 3000 is followed by 2500 again.
LONG_STEPS = list(range(3000)) + list(range(2500, 5000))
LONG = [f32(rng.gauss(1.0 + s / 5000, 0.3)) for s in LONG_STEPS]
LONG[1234] = f32(9.0)
LONG[2000] = math.nan


def make(folder):
    events = folder / "events"
    runs_data.write(events / "a" / "events.out.tfevents.1.host",
                    [("loss", i, v, T0 + 0.5 * i) for i, v in enumerate(SHORT)],
                    {"lr": 0.1, "layers": 3.0, "opt": "sgd"})
    runs_data.write(events / "b" / "events.out.tfevents.1.host",
                    [("loss", s, v, T0 + 100 + 0.25 * i)
                     for i, (s, v) in enumerate(zip(LONG_STEPS, LONG))],
                    {"lr": 0.01, "layers": 3.0, "opt": "sgd", "seed": 4.0})
    runs_data.write(folder / "again" / "a" / "events.out.tfevents.1.host",
                    [("accuracy", 7, 0.5, T0 + 9000)])
    root = folder / "root"
    bring(root, events, "known")
    bring(root, folder / "again", "known")
    return root


def test_curves_are_the_rows_that_were_written(root):
    state = view(root)
    check([r["label"] for r in sorted(state["rows"], key=lambda r: r["id"])] ==
          ["a #1", "b", "a #3"], state["rows"])
    check(all(r["state"] == "done" for r in state["rows"]))
    seconds = {r["id"]: r["seconds"] for r in state["rows"]}
    check(seconds[1] == 149.5 and seconds[2] == 0.25 * (len(LONG) - 1), seconds)
    a = series(state, "loss", 1)
    close(a["x"], list(range(300)), "x")
    close(a["mean"], finite(SHORT), "mean")
    close(a["smooth"], finite(SHORT), "no smoothing")
    check(a["rows"] == 300 and a["gaps"] == 3 and a["gap_x"] == [17, 40, 41], a["gap_x"])
    check(state["frame_queries"] == 0 and state["queries"] > 0)
    check(state["chart_total"] == 2, state["chart_total"])


def test_smoothing_is_tensorboards(root):
    state = view(root, keys(*["]"] * 6), 20)
    check(abs(state["smoothing"] - 0.6) < 1e-12, state["smoothing"])
    a = series(state, "loss", 1)
    close(a["smooth"], smoothed(finite(SHORT), state["smoothing"]), "smooth")
    close(a["mean"], finite(SHORT), "raw stays")


def test_bands_hold_every_extreme_where_rows_share_a_pixel(root):
    points = 2000
    state = view(root)
    b = series(state, "loss", 2)
    # The window's ends are those of all runs: steps 0 to 4999.
    buckets = {}
    for step, value in zip(LONG_STEPS, LONG):
        place = min(points - 1, math.floor(step * points / 4999))
        buckets.setdefault(place, []).append((step, value))
    good = [[v for _, v in rows if math.isfinite(v)] for _, rows in sorted(buckets.items())]
    ends = [[s for s, _ in rows] for _, rows in sorted(buckets.items())]
    close(b["x"], [(min(s) + max(s)) / 2 for s in ends], "x")
    close(b["mean"], [sum(v) / len(v) if v else None for v in good], "mean")
    close(b["least"], [min(v) if v else None for v in good], "least")
    close(b["greatest"], [max(v) if v else None for v in good], "greatest")
    check(b["rows"] == len(LONG) and b["gaps"] == 1)
    check(chart(state, "loss")["high"] == 9.0)


def test_steps_that_go_back_by_step_and_by_arrival(root):
    state = view(root, keys("n", "x", "x", "x") + "at 14\ntext /\n", 14)
    check(state["axis"] == "arrival" and state["charts"] == [])
    state = view(root, keys("x", "x", "x"), 14)
    b = series(state, "loss", 2)
    check(b["x"][0] >= 1 and b["x"][-1] <= len(LONG) and b["x"] == sorted(b["x"]))
    # By arrival the curve never goes back: its last value is the last row.
    check(abs(b["last"] - LONG[-1]) < 1e-12 and b["last_step"] == 4999)
    a = series(state, "loss", 1)
    close(a["x"], list(range(1, 301)), "arrival")
    close(a["mean"], finite(SHORT), "arrival values")


def test_relative_and_wall_time(root):
    state = view(root, keys("x", "x"), 12)
    check(state["axis"] == "relative")
    close(series(state, "loss", 1)["x"], [0.5 * i for i in range(300)], "relative")
    state = view(root, keys("x"), 12)
    close(series(state, "loss", 1)["x"], [T0 + 0.5 * i for i in range(300)], "wall")


def test_outliers_are_left_out_of_the_range(root):
    state = view(root, keys("o", "l"), 12)
    shown = chart(state, "loss")
    check(state["no_outliers"] == 1 and state["log_y"] == 1)
    values = sorted(v for s in shown["series"] for v in s["mean"] if v is not None)
    cut = int(len(values) * 0.05)
    check(shown["inner_low"] == values[cut] and shown["inner_high"] == values[-1 - cut])


def test_settings_side_by_side(root):
    state = view(root, keys("2"), 10)
    check([r["name"] for r in state["parameters"]] == ["layers", "lr", "opt", "seed"])
    check(all(r["differs"] for r in state["parameters"]), "the third run has none: all differ")
    state = view(root, keys("2") + pointer_at(root, "a #3", 8), 20)
    rows = {r["name"]: r for r in state["parameters"]}
    check([r["differs"] for r in state["parameters"]] == [True, True, False, False], rows)
    check(float(rows["lr"]["values"][0]) == 0.1 and float(rows["lr"]["values"][1]) == 0.01)
    check(rows["seed"]["values"][0] is None and float(rows["seed"]["values"][1]) == 4.0)
    check(rows["opt"]["values"] == ['"sgd"', '"sgd"'], rows["opt"])


def test_settings_that_are_no_numbers_differ(folder):
    given = {"a": math.nan, "b": math.inf, "c": -math.inf}, {"a": math.nan, "b": math.nan, "c": 1.0}
    for name, values in zip("xy", given):
        runs_data.write(folder / "odd_events" / name / "events.out.tfevents.1.host",
                        [("loss", 0, 1.0, T0)], values)
    root = folder / "odd" / "root"
    bring(root, folder / "odd_events")
    rows = {r["name"]: (r["differs"], r["values"])
            for r in view(root, keys("2"), 10)["parameters"]}
    check(rows["a"] == (False, ['"NaN"', '"NaN"']), rows)
    check(rows["b"] == (True, ['"Infinity"', '"NaN"']) and rows["c"][1][0] == '"-Infinity"', rows)


def pointer_at(root, label, frame):
    """Takes a run out of the choice: goes to it by key, then chooses."""
    order = [r["label"] for r in view(root)["rows"]]
    moves = [f"at {frame + 2 * i}\nkey up\n" for i in range(len(order))]
    moves += [f"at {frame + 2 * (len(order) + i)}\nkey down\n" for i in range(order.index(label))]
    end = frame + 2 * (len(order) + order.index(label))
    return "".join(moves) + f"at {end}\nkey c\n"


def test_search_note_delete_and_undo(root):
    state = view(root, "at 4\nkey /\nat 6\ntext B do\n", 12)
    check([r["label"] for r in state["rows"]] == ["b"], state["rows"])
    state = view(root, keys("a", "delete"), 14)
    check(state["deleted"] == 3 and state["rows"] == [], state["rows"])
    check(len(view(root)["rows"]) == 0, "deleted runs stay away")
    result = command("sql", "--metrics", "SELECT count(*) AS n FROM runs", "--csv", "--data-dir", root)
    check(result.stdout.split()[-1] == "3", "nothing is lost", result.stdout)


def test_delete_then_undo(root):
    state = view(root, keys("a", "delete", "ctrl+z"), 18)
    check(state["deleted"] == 0 and len(state["rows"]) == 3)
    check(all(r["chosen"] for r in state["rows"]))


def test_every_page_can_be_pointed_at_in_a_narrow_window(root):
    for size, options in (("900x700", ()), ("1400x900", ("--scale", "2"))):
        state = view(root, size=size, options=options)
        w, h = map(int, size.split("x"))
        scale = 2 if options else 1
        rects = {a["name"]: a.get("rect") for a in state["actions"]}
        pages = {a["page"] for a in state["actions"] if a["page"]} | {"parameters", "export"}
        for name in pages:
            check(rects[name] is not None, name, "is not in sight at", size)
            x, y, width, height = rects[name]
            check(x + width <= w / scale and y + height <= h / scale, name, rects[name])


def copied(root, name):
    shutil.copytree(root, root.parent / name / "root")
    return root.parent / name / "root"


def test_runs_out_of_sight_are_left_alone(root):
    root = copied(root, "out_of_sight")
    found = "at 4\nkey /\nat 6\ntext b do\nat 8\nkey enter\n"
    state = view(root, found + "at 12\nkey delete\n", 18)
    check(state["deleted"] == 1 and state["rows"] == [], state["rows"])
    check(sorted(r["label"] for r in view(root)["rows"]) == ["a #1", "a #3"])


def test_undo_brings_back_group_by_group(root):
    groups = ["n", "up", "up", "up", "c", "delete", "n", "down", "down", "c", "delete"]
    state = view(copied(root, "groups"), keys(*groups), 30)
    check(state["deleted"] == 2 and len(state["rows"]) == 1, state["rows"])
    check(not state["rows"][0]["chosen"])
    for undone in (1, 2, 3):
        state = view(copied(root, f"groups_{undone}"), keys(*groups, *["ctrl+z"] * undone), 40)
        check(len(state["rows"]) == min(1 + undone, 3), undone, state["rows"])
        check(sum(r["chosen"] for r in state["rows"]) == min(undone, 2), state["rows"])


def test_export(root):
    folder = root.parent
    files = folder / "all.csv", folder / "one.csv"
    check(command("export", files[0], "--data-dir", root).returncode == 0)
    check(command("export", files[1], 1, "--data-dir", root).returncode == 0)
    with files[0].open() as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == len(SHORT) + len(LONG) + 1, len(rows))
    for run, steps, values in (("1", range(300), SHORT), ("2", LONG_STEPS, LONG)):
        mine = [r for r in rows if r["run"] == run]
        check([int(r["step"]) for r in mine] == list(steps))
        check(all(a == b or (a != a and b != b)
                  for a, b in zip((float(r["value"]) for r in mine), values)))
    check(len(files[1].read_text().splitlines()) == 301)
    check(command("export", files[1], "--data-dir", root).returncode == 1, "it is there")
    check(command("export", folder / "x.txt", "--data-dir", root).returncode == 2)
    check(command("export", folder / "y.csv", "one", "--data-dir", root).returncode == 2)
    check(not list(folder.glob("*.part-*")))
    parquet = folder / "rows.parquet"
    check(command("export", parquet, "--data-dir", root, "--force").returncode == 0)
    check(parquet.read_bytes()[:4] == b"PAR1" == parquet.read_bytes()[-4:])
    result = command("sql", f"SELECT count(*), max(step) FROM read_parquet('{parquet}')", "--csv",
                     "--data-dir", folder / "other")
    check(result.stdout.split()[-1] == f"{len(rows)},4999", result.stdout, result.stderr)


# ---- Every action, from the list that the dashboard gives ----

def test_every_action_by_key_and_by_pointer(folder):
    kept = folder / "given"
    bring(kept, DATA, "given")
    root = folder / "actions"
    pages = {"": "1", "scalars": "1", "histograms": "3", "images": "4", "texts": "5", "about": "6"}

    def fresh():
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(kept, root)

    fresh()
    # The run with images is under the cursor.
    order = [r["label"] for r in view(root)["rows"]]
    ups = ["up"] * len(order) + ["down"] * order.index("run_given")
    seen = {}
    for name in ("scalars", "histograms", "images", "texts", "about"):
        state = view(root, keys(*ups, pages[name]), 40)
        for action in state["actions"]:
            if action["page"] in ("", name) and "rect" in action:
                seen.setdefault(action["name"], action)
    state = view(root, keys(*ups, "a", "delete"), 40)
    seen["undo"] = next(a for a in state["actions"] if a["name"] == "undo")
    names = [a["name"] for a in state["actions"]]
    check(len(names) == len(set(names)) and len(names) > 20, names)
    for action in state["actions"]:
        name = action["name"]
        if action["page"] not in pages:  # test_runs_lineage.py goes there
            continue
        fresh()
        before = ups + [pages[action["page"]]] + (["a", "delete"] if name == "undo" else [])
        start = 8 + 2 * len(before)
        by_key = view(root, keys(*before, action["key"]), start + 12)
        got = next(a for a in by_key["actions"] if a["name"] == name)
        check(got["by_key"] >= 1, name, "has no effect by its key", action["key"])
        if name == "cursor-up":  # a row above is clicked as any other
            continue
        check(name in seen, name, "cannot be pointed at")
        x, y, w, h = seen[name]["rect"]
        across = {"smoothing": 0.4, "smoothing-less": 0.02}.get(name, 0.5)
        if name == "smoothing-less":
            before += ["]", "]"]
            start += 4
        if name in ("delete", "undo"):
            fresh()
        script = keys(*before) + (f"at {start}\nmove {x + w * across:.2f} {y + h / 2:.2f}\n"
                                  f"at {start + 2}\nclick left\n")
        if name in ("search", "tags"):
            script += f"at {start + 6}\ntext run\n"
        by_pointer = view(root, script, start + 12)
        got = next(a for a in by_pointer["actions"] if a["name"] == name)
        check(got["by_pointer"] >= 1, name, "has no effect by pointer", seen[name]["rect"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = make(folder)
        for test in (test_curves_are_the_rows_that_were_written, test_smoothing_is_tensorboards,
                     test_bands_hold_every_extreme_where_rows_share_a_pixel,
                     test_steps_that_go_back_by_step_and_by_arrival, test_relative_and_wall_time,
                     test_outliers_are_left_out_of_the_range, test_settings_side_by_side,
                     test_export, test_every_page_can_be_pointed_at_in_a_narrow_window,
                     test_runs_out_of_sight_are_left_alone,
                     test_undo_brings_back_group_by_group, test_delete_then_undo, test_search_note_delete_and_undo):
            test(root)
            print("ok", test.__name__, flush=True)
        test_settings_that_are_no_numbers_differ(folder)
        print("ok test_settings_that_are_no_numbers_differ")
        test_every_action_by_key_and_by_pointer(folder)
        print("ok test_every_action_by_key_and_by_pointer")
    print(checks(), "checks")


if __name__ == "__main__":
    main()
