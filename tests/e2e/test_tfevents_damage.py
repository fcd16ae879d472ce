"""`caliper import tfevents` over files of 1000 records with one byte changed, or cut: every whole
record but the damaged one comes in with its value, counted, and what is appended later is read.
Both generations of scalars. What is expected is counted here, from the frames as they were written.

Usage: test_tfevents_damage.py CALIPER
"""
import csv
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs_data  # noqa: E402

CALIPER = sys.argv[1]
RECORDS, LATER, FLIPS, CUTS = 1000, 20, 40, 24
NAME = "events.out.tfevents.1.host"


def command(*words):
    result = subprocess.run([CALIPER, *map(str, words)], capture_output=True, text=True,
                            check=False, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


def value_of(step):
    return struct.unpack("<f", struct.pack("<f", 1.0 / (step + 3)))[0]


def record(step):
    """Every third one as the second generation writes it: a tensor, and the plugin's name."""
    make = runs_data.scalar_tensor if step % 3 == 0 else runs_data.scalar
    return make("loss", step, 1796194499.0 + step, value_of(step))


class File:
    def __init__(self, name, data, lost, damaged):
        self.name, self.data = name, data
        self.steps = [s for s in range(RECORDS) if s not in lost]
        self.damaged = damaged


def make_files(rng):
    records = [runs_data.version()] + [record(step) for step in range(RECORDS)]
    ends, at = [], 0
    for piece in records:
        at += len(piece)
        ends.append(at)
    whole = b"".join(records)
    files = [File("whole", whole, (), 0)]
    for i in range(FLIPS):
        # Length, its checksum, bytes, their checksum, by turns; the first, the last, any record.
        k = (0, 1, RECORDS)[i] if i < 3 else rng.randrange(1, RECORDS)
        first, size = ends[k] - len(records[k]), len(records[k])
        part = ((0, 8), (8, 12), (12, size - 4), (size - 4, size))[i % 4]
        place = first + rng.randrange(*part)
        data = bytearray(whole)
        data[place] ^= 1 << rng.randrange(8)
        files.append(File(f"flip_{i:02d}", bytes(data), (k - 1,), 1))
    for i in range(CUTS):
        cut = rng.randrange(ends[0], len(whole))
        lost = [k - 1 for k in range(1, RECORDS + 1) if ends[k] > cut]
        files.append(File(f"cut_{i:02d}", whole[:cut], lost, 0))
    return files, whole


def check(folder, root, files, more):
    answer = json.loads(command("import", "tfevents", folder, "--experiment", "damage", "--json",
                                "--data-dir", root))
    named = {run["name"]: run for run in answer["runs"]}
    assert len(named) == len(files), answer["runs"]
    table = root.parent / "rows.csv"
    command("export", table, "--force", "--data-dir", root,
            *[named[f.name]["run"] for f in files[:60]])
    rows = {}
    with table.open() as lines:
        for line in csv.DictReader(lines):
            rows.setdefault(int(line["run"]), []).append((int(line["step"]), float(line["value"])))
    for f in files:
        run, wanted = named[f.name], f.steps + list(range(RECORDS, RECORDS + more))
        assert run["scalars"] == len(wanted), (f.name, run)
        assert run["damaged_records"] == f.damaged, (f.name, run)
        # Where the last record's length is damaged it might still be written: it is pending.
        assert f.damaged == 0 or run["damaged_bytes"] + run["pending_bytes"] > 0, (f.name, run)
        assert f.damaged > 0 or run["damaged_bytes"] == 0, (f.name, run)
        if f in files[:60]:
            assert rows[run["run"]] == [(s, value_of(s)) for s in wanted], f.name
    print(len(files), "files,", answer["total"]["scalars"], "scalars")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root, logs = folder / "root", folder / "logs"
        files, whole = make_files(random.Random(12))
        for f in files:
            (logs / f.name).mkdir(parents=True)
            (logs / f.name / NAME).write_bytes(f.data)
        check(logs, root, files, 0)
        # The writer goes on: behind the damage, and where it was cut from there.
        later = b"".join(record(step) for step in range(RECORDS, RECORDS + LATER))
        for f in files:
            with (logs / f.name / NAME).open("ab") as file:
                if f.name.startswith("cut"):
                    file.write(whole[len(f.data):])
                    f.steps = list(range(RECORDS))
                file.write(later)
        check(logs, root, files, LATER)


if __name__ == "__main__":
    main()
