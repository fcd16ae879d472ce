"""datasets/ against an HTTP server on this machine that behaves well, and badly: resumes, does not,
ends early, sends something else, too much, nothing. What must lie on the disk is known here: the
bytes that the server has.

Usage: test_fetch.py PROBE CALIPER FAKE_CURL
"""
import hashlib
import http.server
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PROBE, CALIPER, FAKE_CURL = sys.argv[1:]
NAMES = ["a-images.gz", "b-labels.gz"]
BODIES = {NAMES[0]: bytes((i * 131 + i // 977) & 255 for i in range(3_000_000)),
          NAMES[1]: bytes((i * 7) & 255 for i in range(501))}
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
ENVIRONMENT.pop("CALIPER_DATASETS_MIRROR", None)
STALLED_AT = 100_000
checks = 0


def check(good, *words):
    global checks
    checks += 1
    if not good:
        print("FAILED:", *words)
        sys.exit(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, manner):
        self.manner, self.asked = manner, []
        self.stalled, self.ended = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *unused):
        pass  # the other side is gone: that is what some of this is about

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def do_GET(self):
        name, manner = self.path.rsplit("/", 1)[1], self.server.manner
        ranged = self.headers.get("Range")
        first = int(ranged[len("bytes="):].split("-")[0]) if ranged else 0
        self.server.asked.append((self.path, first))
        body = bytes(9912422) if manner == "stalls" else BODIES.get(name)
        if manner == "missing" or body is None:
            self.send_error(404)
            return
        if manner == "moved":
            self.send_response(302)
            self.send_header("Location", self.server.other + name)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if manner == "to_file":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if manner == "wrong":
            body = bytes(b ^ 1 for b in body)
        if manner == "long":
            body += b"more"
        if manner == "short":
            body = body[:-1]
        if manner == "login":
            body = b"<html>please log in</html>"
        resumed = first > 0 and manner not in ("no_range", "login")
        if first > 0 and manner == "refuses_range":
            self.send_error(416)
            return
        self.send_response(206 if resumed else 200)
        part = body[first:] if resumed else body
        if resumed:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if manner == "stalls":
            self.wfile.write(bytes(STALLED_AT))
            self.server.stalled.set()
            self.server.ended.wait(60)
            self.close_connection = True
            return
        if manner == "breaks":
            part = part[:len(part) // 2]
            self.close_connection = True
        try:
            self.wfile.write(part)
        except OSError:
            pass  # the other side stopped


def run_probe(folder, *mirrors, stop_after=-1, environment=None):
    words = [word for name in NAMES
             for word in (name, str(len(BODIES[name])), hashlib.md5(BODIES[name]).hexdigest())]
    result = subprocess.run([PROBE, str(folder), str(stop_after), ",".join(mirrors), *words],
                            capture_output=True, text=True, check=False, timeout=60,
                            env={**ENVIRONMENT, **(environment or {})})
    check(result.returncode == 0, result.returncode, result.stdout, result.stderr)
    return result


def probe(folder, *mirrors, **more):
    return run_probe(folder, *mirrors, **more).stdout.splitlines()


def check_whole(folder, said):
    check(said[0] == "done" and said[1].endswith("found 1"), said)
    for name, body in BODIES.items():
        check((folder / name).read_bytes() == body, name, "has other bytes")
    check(sorted(p.name for p in folder.iterdir()) == [".fetch", *NAMES], list(folder.iterdir()))


def check_none(folder, said, *wanted):
    check(said[0].startswith("failed: ") and said[1].endswith("found 0"), said)
    for words in wanted:
        check(words in said[0], "wanted", words, "in", said[0])
    check(not (folder / NAMES[0]).exists(), "a file that is not whole has its name")


def test_whole(root):
    server = Server("good")
    folder = root / "whole" / "deep" / "down"
    said = probe(folder, server.url)
    check_whole(folder, said)
    check(said[1].startswith(f"{sum(map(len, BODIES.values()))} bytes seen"), said)
    check(len(server.asked) == 2, server.asked)
    check_whole(folder, probe(folder, server.url))
    check(len(server.asked) == 2, "what is there is not asked for again", server.asked)
    # A file without .gz counts too.
    (folder / NAMES[0]).rename(folder / NAMES[0][:-3])
    check(probe(folder, server.url)[0] == "done" and len(server.asked) == 2, server.asked)


def test_stop_and_resume(root):
    folder = root / "resume"
    server = Server("good")
    said = probe(folder, server.url, stop_after=1_000_000)
    check(said[0] == "stopped", said)
    part = folder / f"{NAMES[0]}.part"
    there = part.stat().st_size
    check(1_000_000 <= there < len(BODIES[NAMES[0]]), "what came is kept", there)
    check(BODIES[NAMES[0]].startswith(part.read_bytes()), "and right")
    check_whole(folder, probe(folder, server.url))
    check(server.asked[1][1] == there, "goes on from there", there, server.asked)
    # Stopped at once, before a byte came.
    check(probe(root / "at_once", server.url, stop_after=0)[0] == "stopped", "at once")


def test_servers_that_do_not_resume(root):
    for manner in ("no_range", "refuses_range"):
        folder = root / manner
        folder.mkdir()
        (folder / f"{NAMES[0]}.part").write_bytes(BODIES[NAMES[0]][:12345])
        server = Server(manner)
        check_whole(folder, probe(folder, server.url))
        check([first for _, first in server.asked] == [12345, 0, 0], manner, server.asked)


def test_foreign_part(root):
    """What an earlier fetch left is of something else: it is found out and fetched anew."""
    for size in (1000, len(BODIES[NAMES[0]]), len(BODIES[NAMES[0]]) + 7):
        folder = root / f"foreign{size}"
        folder.mkdir()
        (folder / f"{NAMES[0]}.part").write_bytes(b"x" * size)
        check_whole(folder, probe(folder, Server("good").url))
    folder = root / "whole_part"  # nothing but the name was missing
    folder.mkdir()
    (folder / f"{NAMES[0]}.part").write_bytes(BODIES[NAMES[0]])
    server = Server("good")
    check_whole(folder, probe(folder, server.url))
    check(len(server.asked) == 1, server.asked)


def test_breaks(root):
    """A connection that ends early: what came is kept, the next server goes on."""
    folder = root / "breaks"
    breaking, good = Server("breaks"), Server("good")
    said = probe(folder, breaking.url)
    check_none(folder, said, NAMES[0], "127.0.0.1", "kept", str(folder))
    check((folder / f"{NAMES[0]}.part").stat().st_size == len(BODIES[NAMES[0]]) // 2, "kept")
    check_whole(folder, probe(folder, breaking.url, good.url))
    check(all(first > 0 for path, first in good.asked if path.endswith(NAMES[0])), good.asked)


def test_wrong_bytes(root):
    wrong = hashlib.md5(bytes(b ^ 1 for b in BODIES[NAMES[0]])).hexdigest()
    right = hashlib.md5(BODIES[NAMES[0]]).hexdigest()
    folder = root / "wrong"
    check_none(folder, probe(folder, Server("wrong").url), "wrong checksum", wrong, right)
    check((folder / f"{NAMES[0]}.part").stat().st_size == 0, "wrong bytes are kept")
    check_whole(folder, probe(folder, Server("wrong").url, Server("good").url))
    # Resumed with what the other file ends with: wrong, then anew from the same server.
    folder = root / "wrong_resumed"
    folder.mkdir()
    (folder / f"{NAMES[0]}.part").write_bytes(BODIES[NAMES[0]][:1000])
    check_none(folder, probe(folder, Server("wrong").url), "wrong checksum", wrong, right)
    for manner, words in (("long", "more than 3000000 bytes"), ("short", "2999999 of 3000000"),
                          ("login", "26 of 3000000"), ("missing", "404"),
                          ("to_file", "127.0.0.1")):
        folder = root / f"is_{manner}"
        check_none(folder, probe(folder, Server(manner).url), words)
        check_whole(folder, probe(folder, Server(manner).url, Server("good").url))


def test_moved(root):
    moved = Server("moved")
    moved.other = Server("good").url
    check_whole(root / "moved", probe(root / "moved", moved.url))


def test_offline(root):
    with socket.socket() as taken:  # bound and not listening: refuses
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        said = probe(root / "offline", url, "http://no-such-host.invalid/")
        check_none(root / "offline", said, "127.0.0.1", "no-such-host.invalid", "put the files")


def test_local_troubles(root):
    folder = root / "locked"
    folder.mkdir()
    with open(folder / ".fetch", "w", encoding="ascii") as lock:
        import fcntl
        fcntl.flock(lock, fcntl.LOCK_EX)
        check_none(folder, probe(folder, Server("good").url), "somebody else")
    check_whole(folder, probe(folder, Server("good").url))
    (root / "a_file").write_text("x", encoding="ascii")
    check_none(root / "a_file" / "x", probe(root / "a_file" / "x", Server("good").url), "a_file")
    said = probe(root / "none", Server("good").url,
                 environment={"CALIPER_CURL_LIBRARY": "/nowhere/libcurl.so"})
    check_none(root / "none", said, "libcurl is not here", "install", str(root / "none"))
    said = probe(root / "none", Server("good").url, environment={"CALIPER_CURL_LIBRARY": "libm.so.6"})
    check_none(root / "none", said, "no libcurl")
    # A file system that is full after 64 KiB: no other server is bothered.
    full = root / "full"
    full.mkdir()
    second = Server("good")
    words = [w for n in NAMES for w in (n, str(len(BODIES[n])), hashlib.md5(BODIES[n]).hexdigest())]
    result = subprocess.run(
        ["sh", "-c", 'trap "" XFSZ; ulimit -f 128; exec "$@"', "sh", PROBE, str(full), "-1",
         f"{Server('good').url},{second.url}", *words],
        capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT)
    check_none(full, result.stdout.splitlines(), "File too large")
    check(second.asked == [], second.asked)


def test_what_is_asked_of_libcurl(root):
    """Which numbers these are says <curl/curl.h>. Whoever was asked over TLS cannot send us on to somebody
    without; neither a signal nor a trickle keeps the host."""
    follow, redirects, protocols, on_to, no_signal, slowest, slow_for = 52, 68, 181, 182, 99, 19, 20
    http, https = 1, 2
    for url, allowed in (("http://a.invalid/", http | https), ("https://a.invalid/", https),
                         ("HTTPS://a.invalid/", https)):
        result = run_probe(root / "asked", url, environment={"CALIPER_CURL_LIBRARY": FAKE_CURL})
        asked = dict(line.split(" ", 2)[1:] for line in result.stderr.splitlines()
                     if line.startswith("option "))
        check(asked["10002"] == url + NAMES[0], asked)
        numbers = {int(k): int(v) for k, v in asked.items() if k != "10002"}
        check(numbers[on_to] == allowed and numbers[protocols] == allowed, url, numbers)
        check(numbers[follow] == 1 and 0 < numbers[redirects] <= 10, numbers)
        check(numbers[no_signal] == 1, numbers)
        check(numbers[slowest] >= 1000 and 0 < numbers[slow_for] <= 60, numbers)
        check("nobody is there" in result.stdout, result.stdout)


def test_names_that_are_no_files(root):
    """A folder, a pipe, an empty file of a file's name is not the file."""
    for kind in ("folder", "pipe", "empty"):
        folder = root / f"no_{kind}"
        folder.mkdir()
        for name in (NAMES[1], NAMES[0][:-3]):
            if kind == "folder":
                (folder / name).mkdir()
            elif kind == "pipe":
                os.mkfifo(folder / name)
            else:
                (folder / name).touch()
        said = probe(folder, Server("missing").url)
        check_none(folder, said, "404")
    check(probe(root / "no_empty", Server("good").url)[0] == "done", "an empty file is in the way")
    check((root / "no_empty" / NAMES[1]).read_bytes() == BODIES[NAMES[1]], "still empty")


def fetch(root, *words, environment=None):
    return subprocess.run([CALIPER, "fetch", *words, "--data-dir", str(root)], text=True,
                          capture_output=True, check=False, timeout=60,
                          env={**ENVIRONMENT, **(environment or {})})


def test_command(root):
    server = Server("good")
    there = root / "root" / "datasets" / "mnist"
    # The server has none of MNIST's files.
    result = fetch(root / "root", "mnist", environment={"CALIPER_DATASETS_MIRROR": server.url})
    check(result.returncode == 1 and "404" in result.stderr and str(there) in result.stderr, result)
    check(server.asked == [("/mnist/train-images-idx3-ubyte.gz", 0)], server.asked)
    # All of it there, under its names, whoever put it there: nothing is asked.
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz",
                 "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte"):
        (there / name).write_bytes(b"x")
    result = fetch(root / "root", "mnist", environment={"CALIPER_DATASETS_MIRROR": server.url})
    check(result.returncode == 0 and str(there) in result.stdout, result)
    check(len(server.asked) == 1, server.asked)
    for words in ([], ["mnist", "fashion"], ["cifar"]):
        result = fetch(root / "root", *words)
        check(result.returncode == 2 and "mnist or fashion" in result.stderr, words, result)
    fashion = pathlib.Path("/usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz").exists()
    result = fetch(root / "root", "fashion")
    check(result.returncode == (0 if fashion else 1) and "fashion-mnist" in
          result.stdout + result.stderr, result)


def test_interrupt(root):
    """Ctrl-C while a server is silent: the command ends at once, what came is kept, and the next fetch
    goes on from there. Until then nobody else fetches into that folder."""
    stalling, later = Server("stalls"), Server("missing")
    environment = {**ENVIRONMENT, "CALIPER_DATASETS_MIRROR": stalling.url}
    with subprocess.Popen([CALIPER, "fetch", "mnist", "--data-dir", str(root / "int")],
                          stderr=subprocess.PIPE, text=True, env=environment) as first:
        check(stalling.stalled.wait(30), "was not asked")
        second = fetch(root / "int", "mnist", environment=environment)
        check(second.returncode == 1 and "somebody else" in second.stderr, second)
        part = root / "int" / "datasets" / "mnist" / "train-images-idx3-ubyte.gz.part"
        for _ in range(300):  # what was sent is on its way
            if part.stat().st_size == STALLED_AT:
                break
            time.sleep(0.1)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=20)
        check(first.returncode == -signal.SIGINT, first.returncode)
    stalling.ended.set()
    check(part.stat().st_size == STALLED_AT, part.stat().st_size)
    fetch(root / "int", "mnist", environment={"CALIPER_DATASETS_MIRROR": later.url})
    check(later.asked == [("/mnist/train-images-idx3-ubyte.gz", STALLED_AT)], later.asked)


def main():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        said = probe(root / "x", "http://127.0.0.1:9/")[0]
        if "libcurl is not here" in said:
            print("skipped: no libcurl here")
            sys.exit(77)
        for test in (test_whole, test_stop_and_resume, test_servers_that_do_not_resume,
                     test_foreign_part, test_breaks, test_wrong_bytes, test_moved, test_offline,
                     test_local_troubles, test_names_that_are_no_files, test_what_is_asked_of_libcurl,
                     test_command, test_interrupt):
            test(root)
    print(f"{checks} checks")


main()
