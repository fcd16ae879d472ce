"""Something that is no file where a store keeps one: a pipe, a socket, a folder, a link to a pipe, a
device. Every subcommand that opens it ends, and what it cannot do it says in few lines.

Usage: test_odd_files.py CALIPER
"""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

ENDS_WITHIN_S = 100  # however slow the machine: a hang is what does not end
DATA = ["sql", "SELECT a FROM t"]
METRICS = ["sql", "--metrics", "SELECT 1"]
VERIFY = ["artifacts", "verify"]
# Which subcommands open it, and whether they must refuse it.
NAMES = [("data.duckdb", [DATA], True), ("data.duckdb.wal", [DATA], True),
         ("metrics.duckdb", [METRICS], True), ("metrics.duckdb.wal", [METRICS], True),
         ("owner.lock", [DATA, METRICS], True), ("metrics.ids", [METRICS], False),
         ("spool", [METRICS], False), ("SPOOLED", [METRICS], False),
         ("SESSION", [METRICS], False),
         ("artifacts/index.log", [["artifacts", "list"], VERIFY], False),
         ("artifacts/index.lock", [VERIFY], False), ("BLOB", [VERIFY], False)]
EMPTY = hashlib.sha256(b"").hexdigest()
SESSION = "0123456789abcdef" * 2


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    listener = socket.socket(socket.AF_UNIX)
    folder = os.getcwd()
    os.chdir(os.path.dirname(path))  # a socket's name has 107 bytes at most
    listener.bind(os.path.basename(path))
    os.chdir(folder)
    listener.close()


def make_device(path):
    os.mknod(path, 0o20600, os.makedev(1, 5))  # /dev/zero


def make_link_to_pipe(path):
    os.mkfifo(path + ".target")
    os.symlink(path + ".target", path)


ODD = {"a pipe": make_pipe, "a socket": make_socket, "a folder": os.mkdir,
       "a link to a pipe": make_link_to_pipe, "a link to nothing": lambda p: os.symlink(p + "-", p)}


class Room:
    def __init__(self, caliper, folder):
        self.caliper = caliper
        self.clean = folder / "clean"
        self.root = folder / "root"
        self.blob = ""

    def run(self, *words):
        environment = {**os.environ, "CALIPER_DATA_DIR": str(self.root)}
        for name in ("CALIPER_LOG", "CALIPER_FAIL_AT"):
            environment.pop(name, None)
        return subprocess.run([self.caliper, *words], env=environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=ENDS_WITHIN_S)

    def make_clean(self):
        assert self.run("sql", "CREATE TABLE t AS SELECT 42 AS a").returncode == 0
        assert self.run("sql", "--metrics", "SELECT 1").returncode == 0
        self.blob = f"artifacts/{EMPTY[:2]}/{EMPTY}"
        (self.root / self.blob).parent.mkdir(parents=True)
        (self.root / self.blob).write_bytes(b"")
        (self.root / "artifacts/tmp").mkdir()
        assert self.run("artifacts", "rebuild").returncode == 0
        shutil.move(self.root, self.clean)

    def make_odd(self, name, make):
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.clean, self.root)
        path = self.root / {"BLOB": self.blob, "SPOOLED": f"spool/{SESSION}-000001.spool",
                            "SESSION": f"spool/{SESSION}.session"}.get(name, name)
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        make(str(path))
        return path


def check(room, name, commands, refused, kind, make):
    path = room.make_odd(name, make)
    for words in commands:
        result = room.run(*words)
        case = (name, kind, words, result)
        assert result.returncode in (0, 1), case
        if refused:
            lines = result.stderr.decode().splitlines()
            assert result.returncode == 1, case
            assert len(lines) <= 3 and lines[-1].startswith("caliper: "), case
            assert any(str(path) in line for line in lines), case
    assert os.path.lexists(path), (name, kind)  # never deleted, never moved


def main():
    if not (pathlib.Path(sys.argv[1]).parent / "lib/caliper/libduckdb.so").exists():
        print("skipped: DuckDB is not here; scripts/setup fetches it")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="caliper-odd-"))
    odd = dict(ODD)
    if os.geteuid() == 0:
        try:
            make_device(str(folder / "zero"))
            odd["a device"] = make_device
        except OSError as error:
            print("no device can be made here:", error)
    try:
        room = Room(sys.argv[1], folder)
        room.make_clean()
        for name, commands, refused in NAMES:
            for kind, make in odd.items():
                check(room, name, commands, refused, kind, make)
        # The log's thread, which the end waits for.
        room.make_odd("caliper.log", make_pipe)
        result = room.run("home", "--headless", "--renderer", "cpu", "--frames", "2")
        assert result.returncode == 0, result
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
