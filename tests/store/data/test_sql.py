"""caliper sql: what it prints, read back by Python's csv and json; errors are one line and status 1.

Usage: test_sql.py CALIPER
"""
import csv
import io
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

TEXTS = ["plain", "", " blanks ", "comma, quote \" and '", "two\nlines", "tab\tand\x1b[31m red",
         "é 漢 🙂", "\x7f\u0085\u202e", "null", "NULL", "x" * 100000, "\r\n"]


def literal(text):
    return "'" + text.replace("'", "''") + "'"


class Command:
    def __init__(self, caliper, folder):
        self.caliper = caliper
        self.environment = {**os.environ, "CALIPER_DATA_DIR": folder}
        for name in ("CALIPER_LOG", "CALIPER_FAIL_AT"):
            self.environment.pop(name, None)

    def run(self, *words, stdin=b"", **environment):
        return subprocess.run([self.caliper, "sql", *words], input=stdin, capture_output=True,
                              env={**self.environment, **environment}, check=False, timeout=240)

    def good(self, *words, **more):
        result = self.run(*words, **more)
        assert result.returncode == 0, (words, result.stderr)
        assert result.stderr == b"", result.stderr
        return result.stdout.decode()

    def bad(self, *words, status=1, says="", **more):
        result = self.run(*words, **more)
        assert result.returncode == status, (words, result)
        lines = result.stderr.decode().splitlines()
        assert len(lines) == 1 and lines[0].startswith("caliper: "), result.stderr
        assert says in lines[0], (says, lines)
        assert all(ord(c) >= 32 for c in lines[0]), lines
        return result


def check_csv(sql):
    rows = ", ".join(f"({i}, {literal(t)})" for i, t in enumerate(TEXTS))
    text = sql.good("--csv", f"SELECT i, t, NULL AS n FROM (VALUES {rows}) v(i, t) ORDER BY i")
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[0] == ["i", "t", "n"], read[0]
    assert [row[1] for row in read[1:]] == TEXTS
    assert all(row[2] == "" for row in read[1:])
    for words, plan in (("EXPLAIN", "physical_plan"), ("EXPLAIN ANALYZE", "analyzed_plan")):
        text = sql.good("--csv", f"{words} SELECT i FROM range(7) r(i)")
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert rows[0] == ["explain_key", "explain_value"], rows
        assert len(rows) == 2 and rows[1][0] == plan and "RANGE" in rows[1][1], rows
    raw = sql.good("--csv", "SELECT NULL AS a, '' AS b")
    assert raw == 'a,b\n,""\n', raw
    assert sql.good("--csv", "SELECT 1 AS a WHERE false") == "a\n"
    # DuckDB itself reads it back, nested values and all
    kept = pathlib.Path(sql.environment["CALIPER_DATA_DIR"]) / "kept.csv"
    values = "[{'a': 'x, y', 'b': NULL}] AS l, map {'k': 1.5::DOUBLE} AS m, [''] AS e"
    kept.write_text(sql.good("--csv", f"SELECT {values}"), encoding="utf-8")
    same = sql.good("--csv", "SELECT l::STRUCT(a VARCHAR, b INT)[] = [{'a': 'x, y', 'b': NULL}] "
                    "AS l, m::MAP(VARCHAR, DOUBLE) = map {'k': 1.5::DOUBLE} AS m, "
                    f"e::VARCHAR[] = [''] AS e FROM read_csv({literal(str(kept))}, "
                    "all_varchar = true)")
    assert same == "l,m,e\ntrue,true,true\n", same


def check_json(sql):
    rows = ", ".join(f"({i}, {literal(t)})" for i, t in enumerate(TEXTS))
    text = sql.good("--json", f"SELECT i, t, NULL AS n FROM (VALUES {rows}) v(i, t) ORDER BY i")
    assert [row["t"] for row in json.loads(text)] == TEXTS
    assert all(row["n"] is None for row in json.loads(text))
    one = json.loads(sql.good("--json", "SELECT 9007199254740993 AS big, 0.1::DOUBLE AS d, "
                              "'nan'::DOUBLE AS nan, true AS y, [1, NULL] AS l, {'a b': 'c'} AS s, "
                              "map {'k': [1]} AS m, DATE '2026-01-02' AS day, "
                              "TIMESTAMP '2026-01-02 03:04:05.678' AS at, 1.50::DECIMAL(5,2) AS c, "
                              "'\\x00'::BLOB AS b, 1 AS \"odd \"\"name\"\"\n\""))
    assert one == [{"big": 9007199254740993, "d": 0.1, "nan": "nan", "y": True, "l": [1, None],
                    "s": {"a b": "c"}, "m": {"k": [1]}, "day": "2026-01-02",
                    "at": "2026-01-02 03:04:05.678", "c": 1.5, "b": "\\x00",
                    'odd "name"\n': 1}], one
    assert json.loads(sql.good("--json", "SELECT 1 WHERE false")) == []
    many = json.loads(sql.good("--json", "SELECT range AS i FROM range(5000)"))
    assert [row["i"] for row in many] == list(range(5000))


def check_table(sql):
    for text in TEXTS:
        shown = sql.good(f"SELECT {literal(text)} AS t, 1 AS n")
        lines = shown.split("\n")
        assert len(lines) == 5 and lines[3] == "(1 row)", shown
        assert all(ord(c) >= 32 and ord(c) not in (0x7f, 0x85, 0x202e) for line in lines
                   for c in line), repr(shown)
        assert len(lines[2]) < 80, lines[2]
    wide = sql.good("SELECT repeat('ab', 1000) AS " + '"' + "n" * 500 + '"')
    assert all(len(line) <= 60 for line in wide.split("\n")), wide
    assert "ab…" in wide or "a…" in wide, wide
    rows = sql.good("SELECT range AS i, 'r' || range AS t FROM range(1000)").split("\n")
    assert rows[2 + 999].split() == ["999", "r999"] and rows[-2] == "(1000 rows)", rows[-3:]
    assert sql.good("SELECT 1 AS a WHERE false") == "a\n-\n(0 rows)\n"
    assert sql.good("CREATE TABLE silent(a INT)") == ""
    assert sql.good("DROP TABLE silent") == ""


def check_errors(sql, caliper):
    sql.bad("SELEC 1", says="syntax error")
    sql.bad("SELECT * FROM nowhere", says="nowhere")
    sql.bad("BEGIN", says="outlive")
    sql.bad("SELECT 1; SELECT 2", says="given 2 statements")
    sql.bad("SELECT '\x1b]0;title\x07' FROM nowhere")
    sql.bad("SELECT error('a\x1b[2Jb' || chr(10) || 'c')", says="a\\x1b[2Jb c")
    half = sql.bad("--json", "SELECT CASE WHEN range = 300000 THEN error('late') ELSE range END AS "
                   "i FROM range(400000)", says="late")
    assert half.stdout.startswith(b'[{"i": 0}'), half.stdout[:40]
    try:
        json.loads(half.stdout)
        raise AssertionError("half an answer reads as a whole one")
    except json.JSONDecodeError:
        pass
    sql.bad("-", stdin=b"SELECT 1\0", says="zero byte")
    sql.bad("-", stdin=b"SELECT '\xff'")
    sql.bad("SELECT 1", says="is no file", CALIPER_DUCKDB_LIBRARY="/nonexistent/libduckdb.so")
    sql.bad("SELECT 1", says="/etc/passwd", CALIPER_DUCKDB_LIBRARY="/etc/passwd")
    sql.bad(status=2)
    sql.bad("SELECT", "1", status=2)
    sql.bad("--csv", "--json", "SELECT 1", status=2)
    for form in ((), ("--csv",), ("--json",)):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([caliper, "sql", *form, "FROM range(100000)"], stdout=full,
                                    stderr=subprocess.PIPE, env=sql.environment, check=False)
        assert result.returncode == 1 and result.stderr.count(b"\n") == 1, result
    # a reader that has had enough
    with subprocess.Popen([caliper, "sql", "--csv", "FROM range(100000000)"], env=sql.environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"range\n"
        child.stdout.close()
        child.wait(timeout=240)
    assert sql.good("--csv", "SELECT 1 AS a") == "a\n1\n"


def check_owner(sql, caliper):
    """While one process has the data root, another one is told which."""
    owner = subprocess.Popen([caliper, "sql", "--csv", "FROM range(100000000)"],
                             env=sql.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert owner.stdout.readline() == b"range\n"
        sql.bad("SELECT 1", says=f"process {owner.pid}")
    finally:
        owner.kill()
        owner.stdout.close()
        owner.wait()
    assert sql.good("--csv", "SELECT 1 AS a") == "a\n1\n"


def check_metrics(sql, caliper):
    """What runs logged can be read and not changed, beside an owner from its snapshot."""
    assert sql.good("--metrics", "--csv", "SELECT count(*) AS n FROM runs") == "n\n0\n"
    for statement in ("DELETE FROM runs", "CREATE TABLE t(a INT)", "SELECT 1; SELECT 2",
                      "SELECT * FROM read_text('/etc/passwd')", "SELEC"):
        sql.bad("--metrics", statement)
    owner = subprocess.Popen([caliper, "sql", "--csv", "FROM range(100000000)"],
                             env=sql.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert owner.stdout.readline() == b"range\n"
        sql.bad("--metrics", "SELECT 1", says="no snapshot yet")
        root = pathlib.Path(sql.environment["CALIPER_DATA_DIR"])
        shutil.copy(root / "metrics.duckdb", root / "metrics.snapshot.duckdb")
        result = sql.run("--metrics", "--csv", "SELECT count(*) AS n FROM runs")
        assert result.returncode == 0 and result.stdout == b"n\n0\n", result
        assert f"process {owner.pid}".encode() in result.stderr, result.stderr
        assert result.stderr.count(b"\n") == 1, result.stderr
    finally:
        owner.kill()
        owner.stdout.close()
        owner.wait()


def check_memory(sql):
    """600 000 rows of 1500 bytes go through without being held."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(os.devnull, "wb") as nowhere:
        subprocess.run([sql.caliper, "sql", "--csv", "SELECT repeat('x', 1500) AS t FROM "
                        "range(600000)"], stdout=nowhere, env=sql.environment, check=True)
    most = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    assert most < 700 * 1024, f"{most} KiB"
    return most


def main():
    caliper = sys.argv[1]
    if not (pathlib.Path(caliper).parent / "lib/caliper/libduckdb.so").exists():
        print("skipped: DuckDB is not here; scripts/setup fetches it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        sql = Command(caliper, folder)
        check_csv(sql)
        check_json(sql)
        check_table(sql)
        check_errors(sql, caliper)
        check_owner(sql, caliper)
        check_metrics(sql, caliper)
        most = check_memory(sql)
        assert sql.good("-", stdin=b"SELECT 41 + 1 AS a -- asked from a file\n;") == \
            "a \n--\n42\n(1 row)\n".replace("a \n", " a\n")
    print(f"CSV, JSON, tables, errors; at most {most // 1024} MiB")
    return 0


sys.exit(main())
