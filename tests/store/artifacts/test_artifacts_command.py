"""`caliper artifacts` as a person or a script uses it: answers in words and JSON, statuses, damage, a
closed pipe, a full disk, Ctrl-C.

Usage: test_artifacts_command.py CALIPER ARTIFACTS_MANY
ARTIFACTS_MANY is the test program, which puts blobs when it is told to.
"""
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

CALIPER, PUTTER = sys.argv[1], sys.argv[2]


def run(data, *words, **more):
    return subprocess.run([CALIPER, "artifacts", *words, "--data-dir", str(data)],
                          capture_output=True, timeout=120, check=False, **more)


def answer(data, *words, status=0):
    result = run(data, *words, "--json")
    assert result.returncode == status, (words, result)
    return json.loads(result.stdout)


def put(data, who, count):
    said = subprocess.run([PUTTER, "put", str(data), str(who), str(count)], check=True, text=True,
                          capture_output=True, timeout=120).stdout
    return dict(line.split() for line in said.splitlines())


def blob(data, digest):
    return data / "artifacts" / digest[:2] / digest


def replace(path, content):
    path.unlink()  # read-only
    path.write_bytes(content)


def add_row(data, content, name, digest=None):
    """A blob and its line by other hands than the store's."""
    digest = digest or hashlib.sha256(content).hexdigest()
    path = blob(data, digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with open(data / "artifacts/index.log", "a", encoding="utf-8") as log:
        log.write(f"{digest}\t{name}\t3\t{len(content)}\t2026-12-02T10:23:34.123456Z\n")
    return digest


def test_no_folder(data):
    """Something else where the folder belongs: one line and status 1, never "0 of 0"."""
    for make in (lambda path: path.write_bytes(b"x"), os.mkfifo):
        make(data / "artifacts")
        for word in ("list", "verify", "gc", "rebuild"):
            result = run(data, word)
            lines = result.stderr.decode().splitlines()
            assert result.returncode == 1 and len(lines) == 1, (word, result)
            assert str(data / "artifacts") in lines[0], (word, result)
            assert b"0 " not in result.stdout, (word, result)
        (data / "artifacts").unlink()


def test_answers(data):
    assert answer(data, "list") == []
    assert answer(data, "verify")["bad"] == 0
    assert run(data, "rebuild").returncode == 0
    assert not (data / "artifacts").exists(), "looking makes nothing"
    puts = put(data, 5, 4) | put(data, 6, 3)
    rows = answer(data, "list")
    assert [row["name"] for row in rows] == list(puts)
    for row in rows:
        content = blob(data, row["digest"]).read_bytes()
        assert row["digest"] == puts[row["name"]] == hashlib.sha256(content).hexdigest()
        assert row["size_bytes"] == len(content) and row["there"]
    assert [row["run"] for row in answer(data, "list", "--run", "6")] == [6, 6, 6]
    assert answer(data, "list", "--run=0") == []
    text = run(data, "list").stdout.decode()
    assert len(text.splitlines()) == 1 + len(rows) and "process-5-put-0" in text
    verified = answer(data, "verify")
    assert verified["done"] and verified["rows"] == 7 and verified["findings"] == []
    # Names that would play tricks on a terminal or a parser.
    add_row(data, b"sly", "a\\x1b[31m\\n\\\"\\xff\\xc2\\x9bZürich")
    listed = run(data, "list").stdout
    assert not any(byte in listed for byte in (b"\x1b", b"\xc2\x9b", b"\xff")), listed
    assert answer(data, "list")[-1]["name"] == "a\x1b[31m\n\"\ufffd\x9bZürich"


def test_statuses(data):
    for words in ([], ["frob"], ["list", "x"], ["export", "a"], ["export", "a", "b", "c"],
                  ["verify", "--dry-run"], ["gc", "--run", "1"], ["list", "--run", "x"],
                  ["list", "--run", "-1"], ["list", "--run", "18446744073709551616"]):
        result = run(data, *words)
        assert result.returncode == 2 and len(result.stderr.splitlines()) == 1, (words, result)
    result = run(data, "export", "no such", str(data / "x"))
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, result
    assert not (data / "x").exists()


def test_damage(data):
    puts = list(put(data, 1, 4).items())
    replace(blob(data, puts[0][1]), b"x" * blob(data, puts[0][1]).stat().st_size)
    blob(data, puts[1][1]).unlink()
    replace(blob(data, puts[2][1]), b"short")
    found = answer(data, "verify", status=1)
    assert found["bad"] == 3
    assert {(f["kind"], f["name"], f["digest"]) for f in found["findings"]} == {
        (kind, *puts[i]) for i, kind in enumerate(("damaged", "missing", "length"))}
    text = run(data, "verify")
    assert text.returncode == 1
    assert all(puts[i][1] in text.stdout.decode() for i in range(3))
    assert [row["there"] for row in answer(data, "list")] == [True, False, False, True]
    # An export of a damaged blob leaves no file, and one that is there alone.
    out = data / "out"
    out.write_bytes(b"mine")
    for name in puts[0]:
        result = run(data, "export", name, str(out))
        assert result.returncode == 1 and b"another digest" in result.stderr, result
        assert out.read_bytes() == b"mine"
    assert os.listdir(data / "artifacts/tmp") == []
    assert [p.name for p in data.glob("out*")] == ["out"]
    # A damaged line, gc that keeps what it may have named, rebuild.
    log = data / "artifacts/index.log"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3]) + b"?" + lines[3][1:])
    assert answer(data, "verify", status=1)["damaged_lines"] == 1
    assert answer(data, "gc", status=1)["removed"] == 0
    assert answer(data, "rebuild")["added"] == 1
    assert answer(data, "verify", status=1)["damaged_lines"] == 0
    assert answer(data, "list")[-1]["name"] == f"recovered/{puts[3][1]}"


def test_gc(data):
    put(data, 1, 2)
    stray = hashlib.sha256(b"stray").hexdigest()
    blob(data, stray).parent.mkdir(exist_ok=True)
    blob(data, stray).write_bytes(b"stray")
    (data / "artifacts/tmp/dead").write_bytes(b"123")
    dry = answer(data, "gc", "--dry-run")
    assert dry["removed"] == 2 and dry["removed_bytes"] == 8 and blob(data, stray).exists()
    assert {f["kind"] for f in dry["findings"]} == {"unnamed", "temporary"}
    assert answer(data, "verify")["unnamed"] == 1, "a blob without a name is no damage"
    assert answer(data, "gc")["removed"] == 2 and not blob(data, stray).exists()
    assert answer(data, "gc")["removed"] == 0 and answer(data, "verify")["blobs"] == 2


def test_export(data):
    name, digest = list(put(data, 2, 10).items())[9]  # the large one
    out = data / "out"
    for word in (name, digest):
        told = answer(data, "export", word, str(out))
        assert told["digest"] == digest and told["size_bytes"] == out.stat().st_size
        assert hashlib.sha256(out.read_bytes()).hexdigest() == digest
        out.write_bytes(b"to be replaced")
    for place in (data / "no/such/folder", data, "/dev/full"):
        result = run(data, "export", name, str(place))
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, result
    # A disk that fills up, as a limit on the size of files.
    limited = f"ulimit -f 100; exec '{CALIPER}' artifacts export {name} '{out}'"
    result = subprocess.run(["bash", "-c", f"{limited} --data-dir '{data}'"], capture_output=True,
                            timeout=120, check=False)
    assert result.returncode == 1 and out.read_bytes() == b"to be replaced", result
    assert [p.name for p in data.glob("out*")] == ["out"], list(data.glob("out*"))


def test_closed_pipe_and_full_output(data):
    for i in range(3000):
        add_row(data, b"%d" % (i % 7), f"name {i} " + "n" * 100)
    for _ in range(3):
        reader = subprocess.Popen([CALIPER, "artifacts", "list", "--data-dir", str(data)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reader.stdout.readline()
        reader.stdout.close()
        assert reader.wait(timeout=120) in (1, -signal.SIGPIPE, 128 + signal.SIGPIPE)
        reader.stderr.close()
    with open("/dev/full", "wb") as full:
        result = subprocess.run([CALIPER, "artifacts", "verify", "--json", "--data-dir", str(data)],
                                stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert result.returncode == 1 and b"could not be printed" in result.stderr, result


def wait_until_open(child, path):
    """Until the child reads the file; it must live that long."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        assert child.poll() is None, child.communicate()
        for link in pathlib.Path(f"/proc/{child.pid}/fd").iterdir():
            try:
                if os.readlink(link) == str(path):
                    return
            except FileNotFoundError:
                pass
        time.sleep(0.01)
    assert False, f"{path} is not opened"


def test_interrupt(data):
    """A blob of 6 GB of nothing takes seconds to read; interrupted, nothing is left behind."""
    digest = add_row(data, b"", "large", "ab" * 32)
    os.truncate(blob(data, digest), 6 << 30)
    log = data / "artifacts/index.log"
    log.write_text(log.read_text().replace("\t3\t0\t", f"\t3\t{6 << 30}\t"))
    out = data / "out"
    for words, sent in ((["verify"], signal.SIGINT), (["export", "large", str(out)], signal.SIGINT),
                        (["verify", "--json"], signal.SIGTERM)):
        begun = time.monotonic()
        child = subprocess.Popen([CALIPER, "artifacts", *words, "--data-dir", str(data)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until_open(child, blob(data, digest))
        time.sleep(0.1)
        child.send_signal(sent)
        told, errors = child.communicate(timeout=120)
        assert child.returncode == -sent, (words, child.returncode, told, errors)
        assert b"interrupted" in errors, errors
        if "--json" in words:
            assert json.loads(told)["done"] is False, told
        assert not list(data.glob("out*")), list(data.glob("out*"))
        print(f"{' '.join(words[:1])}: ended {time.monotonic() - begun:.1f} s after its start")


def main():
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for test in (test_no_folder, test_answers, test_statuses, test_damage, test_gc, test_export,
                 test_closed_pipe_and_full_output, test_interrupt):
        with tempfile.TemporaryDirectory(dir=place) as folder:
            test(pathlib.Path(folder))
        print(f"{test.__name__}: done")
    return 0


sys.exit(main())
