"""The artifacts page of the Runs dashboard from outside: a store written by hand (blobs, index.log)
and event files in, scripted input, the view as JSON and a picture out. Expected numbers come from
the bytes that were written, by hashlib and loops here.

Usage: test_runs_lineage.py CALIPER [FOLDER-FOR-PICTURES]
"""
import hashlib
import pathlib
import stat
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402
from runs_play import CALIPER, check, check_picture, checks, command, keys, play  # noqa: E402

SIZE = "1400x900"
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
PAGE = "artifacts"


def view(root, script="", frames=10, path=None, picture=None):
    kept = PICTURES is not None and picture is not None
    environment = {} if path is None else {"PATH": path}
    state = play(root, script, frames, SIZE, picture=PICTURES / picture if kept else True,
                 **environment)
    check_picture(root.parent / "shot.png", SIZE)
    return state


# ---- A store that is known ----

BLOBS = {"weights 1": bytes(range(256)) * 1000, "weights 2": b"\x01" * 70000,
         "weights 3": b"best" * 500, "note": b"short"}
DIGESTS = {name: hashlib.sha256(data).hexdigest() for name, data in BLOBS.items()}
# name, which bytes, run, seconds; in the order of their puts.
PUTS = [("model", "weights 1", 1, 10), ("model", "weights 2", 1, 20), ("readme", "note", 2, 30),
        ("model", "weights 3", 2, 40), ("best", "weights 3", 1, 50), ("loose", "note", 0, 60)]


def make(folder):
    for name, start in (("a", 0.0), ("b", 100.0)):
        runs_data.write(folder / "events" / name / "events.out.tfevents.1.host",
                        [("loss", i, 1.0 / (i + 1), 1700000000.0 + start + i) for i in range(20)])
    root = folder / "root"
    result = command("import", "tfevents", folder / "events", "--experiment", "known",
                     "--data-dir", root)
    check(result.returncode == 0, result.stderr)
    for name, data in BLOBS.items():
        path = root / "artifacts" / DIGESTS[name][:2] / DIGESTS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (root / "artifacts" / "index.log").write_text("".join(
        f"{DIGESTS[blob]}\t{name}\t{run}\t{len(BLOBS[blob])}\t2026-11-05T08:00:{at:02}.000000Z\n"
        for name, blob, run, at in PUTS))
    return root


def expected(wanted):
    """The rows of a page, the newest first: versions counted over the puts of one name."""
    rows = []
    for place, (name, blob, run, _) in enumerate(PUTS):
        same = [p for p, put in enumerate(PUTS) if put[0] == name]
        if wanted(run):
            rows.append((name, DIGESTS[blob], len(BLOBS[blob]), run, same.index(place) + 1,
                         len(same)))
    return rows[::-1]


def rows_of(part):
    return [(r["name"], r["digest"], r["size"], r["run"], r["version"], r["versions"])
            for r in part]


def cursor_on(run):
    """To the top of the list, which is by name, then down."""
    return ["up", "up"] + ["down"] * (run - 1)


def test_a_run_has_its_artifacts(root):
    state = view(root, keys(*cursor_on(1), "7"), 20, picture="artifacts.png")
    page = state[PAGE]
    check(state["page"] == PAGE and page["run"] == 1 and not page["all"])
    check(rows_of(page["rows"]) == expected(lambda run: run == 1), page["rows"])
    check(page["bytes"] == sum(len(BLOBS[b]) for b in ("weights 1", "weights 2", "weights 3")))
    check(all(r["state"] == "there" for r in page["rows"]) and page["missing"] == 0)
    # Without a choice it is the newest; its bytes came from two puts.
    check(page["chosen"] == DIGESTS["weights 3"])
    check([(r["name"], r["run"]) for r in page["origins"]] == [("best", 1), ("model", 2)])
    check(state["frame_queries"] == 0)
    page = view(root, keys(*cursor_on(2), "7"), 20)[PAGE]
    check(rows_of(page["rows"]) == expected(lambda run: run == 2), page["rows"])


def test_all_runs_and_the_way_back(root):
    state = view(root, keys(*cursor_on(2), "7", "w"), 20, picture="artifacts-all.png")
    page = state[PAGE]
    check(page["all"] and rows_of(page["rows"]) == expected(lambda run: True), page["rows"])
    check(page["bytes"] == sum(map(len, BLOBS.values())), "each blob counts once")
    # Newest first: loose, best (run 1), model (run 2, chosen), readme, model, model.
    state = view(root, keys(*cursor_on(2), "7", "w", ",", "g"), 24)
    check(state["cursor"] == 1 and state["page"] == "about", state["cursor"], state["page"])
    state = view(root, keys(*cursor_on(2), "7", "w", ",", ",", "g"), 26)
    check(state["cursor"] == 2 and state["page"] == PAGE, state["cursor"], state["page"])
    check("no run" in state["told"], state["told"])


def test_verify_finds_what_is_not_whole(root):
    page = view(root, keys(*cursor_on(1), "7", "shift+v"), 24, picture="artifacts-whole.png")[PAGE]
    check([r["state"] for r in page["rows"]] == ["whole"] * 3, page["rows"])
    path = {name: root / "artifacts" / d[:2] / d for name, d in DIGESTS.items()}
    kept = path["weights 1"].read_bytes()
    path["weights 1"].write_bytes(kept[:5000] + b"\xff" + kept[5001:])  # one byte, same length
    path["weights 2"].rename(root / "away")
    page = view(root, keys(*cursor_on(1), "7"), 20)[PAGE]
    check([r["state"] for r in page["rows"]] == ["there", "missing", "there"], page["rows"])
    check(page["missing"] == 1)
    page = view(root, keys(*cursor_on(1), "7", ".", ".", "v"), 24)[PAGE]
    check([r["state"] for r in page["rows"]] == ["there", "missing", "damaged"], page["rows"])
    page = view(root, keys(*cursor_on(1), "7", "shift+v"), 24, picture="artifacts-bad.png")[PAGE]
    check([r["state"] for r in page["rows"]] == ["whole", "missing", "damaged"], page["rows"])
    path["weights 1"].write_bytes(kept)
    (root / "away").rename(path["weights 2"])


def test_show_in_folder(root):
    folder = root.parent
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    told = folder / "told"
    opener = tools / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf "%s|" "$#" "$@" > "{told}"\n')
    opener.chmod(opener.stat().st_mode | stat.S_IXUSR)
    script = keys(*cursor_on(1), "7", "f")
    page = view(root, script, 24, path=f"{tools}:/usr/bin:/bin")[PAGE]
    wanted = str(root / "artifacts" / DIGESTS["weights 3"][:2])
    check(told.read_text() == f"1|{wanted}|", told.read_text())
    check(page["shown"] == f"Opened {wanted}", page["shown"])
    page = view(root, script, 24, path=str(folder / "nowhere"))[PAGE]
    check("no xdg-open" in page["shown"] and wanted in page["shown"], page["shown"])
    opener.write_text("#!/bin/sh\nexit 3\n")
    page = view(root, script, 24, path=f"{tools}:/usr/bin:/bin")[PAGE]
    check("status 3" in page["shown"] and wanted in page["shown"], page["shown"])


def test_nothing_was_put(root):
    empty = root.parent / "empty"
    result = command("import", "tfevents", root.parent / "events", "--data-dir", empty)
    check(result.returncode == 0, result.stderr)
    page = view(empty, keys("7", "v", "shift+v", "f", "g", ".", ","), 24,
                picture="artifacts-none.png")[PAGE]
    check(page["rows"] == [] and page["bytes"] == 0 and page["origins"] == [])
    check(not (empty / "artifacts").exists(), "looking makes nothing")


def test_every_action_by_key_and_by_pointer(root):
    # The middle one of three is chosen, so that there is one above and one below.
    before = cursor_on(1) + ["7", "."]
    start = 8 + 2 * len(before)
    state = view(root, keys(*before), start)
    mine = {a["name"]: a for a in state["actions"] if a["page"] == PAGE or a["name"] == PAGE}
    check(len(mine) == 8, list(mine))
    # Going back and on again, there and back, and the way to the run at last.
    order = ["artifact-back", "artifact-on", "verify", "verify-all", "show-in-folder",
             "artifacts-all", "artifacts-all", PAGE, "artifact-run"]
    check(set(order) == set(mine))
    by_key = view(root, keys(*before, *(mine[name]["key"] for name in order)), start + 30)
    script = keys(*before)
    at = start
    for name in order:
        x, y, w, h = mine[name]["rect"]
        if name == "artifact-on":  # now it is where the chosen one was, between the two
            y = (y + mine["artifact-back"]["rect"][1]) / 2
        script += f"at {at}\nmove {x + w / 2:.2f} {y + h / 2:.2f}\nat {at + 2}\nclick left\n"
        at += 6
    by_pointer = view(root, script, at + 4)
    for name in mine:
        for state, how in ((by_key, "by_key"), (by_pointer, "by_pointer")):
            got = next(a for a in state["actions"] if a["name"] == name)
            check(got[how] >= 1, name, how, mine[name].get("rect"))
    for part in ("page", "cursor", "told", PAGE):
        check(by_key[part] == by_pointer[part], part, by_key[part], by_pointer[part])


def main():
    with tempfile.TemporaryDirectory() as name:
        root = make(pathlib.Path(name))
        for test in (test_a_run_has_its_artifacts, test_all_runs_and_the_way_back,
                     test_verify_finds_what_is_not_whole, test_show_in_folder, test_nothing_was_put,
                     test_every_action_by_key_and_by_pointer):
            test(root)
            print("ok", test.__name__, flush=True)
    print(checks(), "checks")


if __name__ == "__main__":
    main()
