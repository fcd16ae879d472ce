"""The applet of docs/how-to/log-your-training.md compiles, runs in the command, and what it logs is
what its arithmetic says.

Usage: test_docs_metrics.py SOURCE_TREE CALIPER LIBDUCKDB READER
READER ROOT SQL prints one number of the database (tests/store/metrics/metrics_number.c).
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def expected_losses():
    """The same descent in double precision."""
    x, y, weights, losses = [0, 1, 2, 3], [1, 3, 5, 7], [0.0, 0.0], []
    for _ in range(200):
        errors = [weights[0] * a + weights[1] - b for a, b in zip(x, y)]
        losses.append(sum(e * e for e in errors) / 4)
        weights[0] -= 0.05 * sum(e * a for e, a in zip(errors, x)) / 2
        weights[1] -= 0.05 * sum(errors) / 2
    return losses


def main():
    tree, caliper, library, reader = sys.argv[1:5]
    if not library:
        print("skipped: DuckDB is not here; scripts/setup fetches it")
        return 77
    page = pathlib.Path(tree, "docs/how-to/log-your-training.md").read_text(encoding="utf-8")
    source = next(text for text in re.findall(r"^```c\n(.*?)^```", page, re.M | re.S)
                  if "caliper_applet_descriptor" in text)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "data")
        applet = pathlib.Path(folder, "line.so")
        pathlib.Path(folder, "line.c").write_text(source, encoding="utf-8")
        subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                        "-fvisibility=hidden", "-I", tree + "/include", folder + "/line.c",
                        "-o", str(applet)], check=True)
        environment = {"CALIPER_DUCKDB_LIBRARY": library, "PATH": "/usr/bin:/bin",
                       "HOME": folder, "CALIPER_RENDERER": "cpu"}
        subprocess.run([caliper, "run", "--headless", "--frames", "200", "--data-dir", str(root),
                        str(applet)], check=True, env=environment, timeout=240,
                       capture_output=True)

        def number(sql):
            result = subprocess.run([reader, str(root), sql], check=True, env=environment,
                                    capture_output=True, text=True)
            return float(result.stdout)

        losses = expected_losses()
        checks = [
            ("SELECT count(*) FROM runs WHERE done AND experiment = 'line'", 1),
            ("SELECT count(*) FROM scalars WHERE tag = 'train/loss'", 200),
            ("SELECT count(*) FROM histograms", 4),
            ("SELECT json_extract(hparams, '$.steps')::BIGINT FROM runs", 200),
            ("SELECT value FROM scalars WHERE step = 0", losses[0]),
            ("SELECT value FROM scalars WHERE step = 20", losses[20]),
        ]
        for sql, wanted in checks:
            got = number(sql)
            if abs(got - wanted) > 1e-4 * max(1.0, abs(wanted)):
                print(f"{sql}: {got}, wanted {wanted}")
                return 1
    print("the printed applet runs and logs what it says")
    return 0


sys.exit(main())
