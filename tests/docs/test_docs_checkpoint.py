"""The applet of docs/how-to/save-a-checkpoint.md compiles as printed, runs twice, and goes on in the
second run from what the first one saved; the commands of the page then work.

Usage: test_docs_checkpoint.py SOURCE_TREE CALIPER
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
WEIGHTS = 100000


def run(caliper, data, *words):
    environment = {**os.environ, "CALIPER_DATA_DIR": str(data), "CALIPER_RENDERER": "cpu"}
    return subprocess.run([caliper, *words], capture_output=True, text=True, check=False,
                          env=environment, timeout=240)


def weights_of(path):
    values = struct.unpack(f"={WEIGHTS}f", pathlib.Path(path).read_bytes())
    assert len(set(values)) == 1, "the weights are of more than one moment"
    return values[0]


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/how-to/save-a-checkpoint.md").read_text(encoding="utf-8")
    text = BLOCK.findall(page)[0]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "counter.c").write_text(text, encoding="utf-8")
        library = place / "counter.so"
        subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        "-fvisibility=hidden", "-I", str(root / "include"),
                        str(place / "counter.c"), "-o", str(library)], check=True)
        for turn in (1, 2):
            result = run(sys.argv[2], place / "data", "run", "--headless", "--frames", "30",
                         str(library))
            assert result.returncode == 0, result.stderr
            goes_on = "goes on from 30" in result.stderr
            assert goes_on == (turn == 2), f"turn {turn}:\n{result.stderr}"
            out = place / "weights.bin"
            result = run(sys.argv[2], place / "data", "artifacts", "export", "counter/last",
                         str(out))
            assert result.returncode == 0, result.stderr
            assert weights_of(out) == 30 * turn, f"turn {turn}: {weights_of(out)}"
        result = run(sys.argv[2], place / "data", "artifacts", "list", "--json")
        rows = json.loads(result.stdout)
        assert rows and all(row["name"] == "counter/last" and row["there"] for row in rows), rows
        result = run(sys.argv[2], place / "data", "artifacts", "verify")
        assert result.returncode == 0, result.stdout
    print(f"two runs, {len(rows)} checkpoints")
    return 0


sys.exit(main())
