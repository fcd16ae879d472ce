"""The applet of docs/how-to/query-your-results.md compiles as printed, runs, and logs what the page
says; the page's commands then print what the page prints.

Usage: test_docs_query.py SOURCE_TREE CALIPER
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_of(block):
    """(command, what it prints) for each line that begins with a dollar sign."""
    out = []
    for line in block.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return [(command, "".join(line + "\n" for line in lines)) for command, lines in out]


def main():
    root = pathlib.Path(sys.argv[1])
    caliper = pathlib.Path(sys.argv[2])
    if not (caliper.parent / "lib/caliper/libduckdb.so").exists():
        print("skipped: DuckDB is not here; scripts/setup fetches it")
        return 77
    page = (root / "docs/how-to/query-your-results.md").read_text(encoding="utf-8")
    build, shell, metrics = CONSOLE.findall(page)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CALIPER_DATA_DIR": folder + "/data",
                       "CALIPER_RENDERER": "cpu", "TZ": "UTC",
                       "PATH": f"{caliper.parent}:{os.environ['PATH']}"}

        def run(command):
            return subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                                  check=False, env=environment, cwd=folder, timeout=240)

        (pathlib.Path(folder) / "measure.c").write_text(BLOCK.findall(page)[0], encoding="utf-8")
        compiling, running = commands_of(build)
        command = compiling[0].replace("$(pkg-config --cflags caliper)",
                                       f"-std=c17 -Wall -Wextra -Werror -I '{root}/include'")
        assert command != compiling[0], "the page compiles in another way"
        result = run(command)
        assert result.returncode == 0, result.stderr
        result = run(running[0])
        assert result.returncode == 0, result.stderr
        # Where DuckDB is not there the host starts, and says why the applet does not.
        without = run("CALIPER_DUCKDB_LIBRARY=/nonexistent " + running[0])
        assert "DuckDB's library is missing" in without.stderr, without.stderr
        assert "caliper.data.v1" in without.stderr, without.stderr
        listed = run("CALIPER_DUCKDB_LIBRARY=/nonexistent caliper list")
        assert listed.returncode == 0, listed.stderr
        for line in running[1].splitlines():
            assert line.removeprefix("... ") in result.stderr, f"{line} is not in\n{result.stderr}"
        steps = commands_of(shell) + commands_of(metrics)
        for command, wanted in steps:
            result = run(command)
            assert result.returncode == 0, f"{command}: {result.stderr}"
            assert result.stdout == wanted, f"{command} prints\n{result.stdout}not\n{wanted}"
            assert result.stderr == "", f"{command}: {result.stderr}"
    print(f"an applet and {len(steps)} commands")
    return 0


sys.exit(main())
