"""A job that logs rows and faults takes the command down, with the signal, a report that names it,
and every row in the database.

Usage: test_crash_job.py CALIPER APPLET METRICS_NUMBER
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROWS = 5000


def main():
    caliper, applet, number = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as data:
        result = subprocess.run(
            [caliper, "run", applet, "--headless", "--renderer", "cpu", "--frames", "100000",
             "--data-dir", data], capture_output=True, text=True, check=False, timeout=240)
        sanitized = "Sanitizer" in result.stderr  # whose handler ends the process in its own way
        if result.returncode != -signal.SIGSEGV and not (sanitized and result.returncode != 0):
            print(f"exit status {result.returncode}:\n{result.stderr}")
            return 1
        reports = list(pathlib.Path(data).glob("crash-*.txt"))
        text = reports[0].read_text(encoding="utf-8") if len(reports) == 1 else ""
        if 'applet org.caliper.test.crash_job, in job 1, "Log and fault"' not in text:
            print(f"{len(reports)} reports:\n{text}")
            return 1
        library = pathlib.Path(caliper).parent / "lib/caliper/libduckdb.so"
        if not library.exists():
            print("skipped: no DuckDB to count the rows with")
            return 77
        counted = subprocess.run(
            [number, data, "SELECT count(DISTINCT step) FROM scalars WHERE value = step"],
            capture_output=True, text=True, check=False,
            env={**os.environ, "CALIPER_DUCKDB_LIBRARY": str(library)})
        if counted.stdout.split() != [str(ROWS)]:
            print(f"rows: {counted.stdout}{counted.stderr}\n{text}")
            return 1
    print(f"{ROWS} rows outlived the crash")
    return 0


sys.exit(main())
