"""The man page and the completions say what `caliper --help` says: each subcommand and each option is
in all of them, the shells accept them, and what a shell offers is what help lists.

Usage: test_pages.py CALIPER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

caliper = pathlib.Path(sys.argv[1])


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def fail(*words):
    print(*words)
    sys.exit(1)


def offered_by_bash(script, *words):
    """What bash would offer for the last word."""
    line = f'COMP_WORDS=({" ".join(repr(w) for w in ("caliper", *words))}); ' \
           f"COMP_CWORD={len(words)}; _caliper; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    compopt = "compopt() { :; }\n"  # only while a completion runs
    result = run("bash", "-c", f"{compopt}. {script}\n{line}")
    if result.returncode != 0 or result.stderr:
        fail("bash:", result.stderr)
    return set(result.stdout.split())


def main():
    environment = os.environ | {"PATH": f"{caliper.parent}:{os.environ['PATH']}"}
    help_text = run(caliper, "--help").stdout
    usage, _, rest = help_text.partition("\nOptions")
    commands = set(re.findall(r"^  ([a-z]+) ", usage, re.MULTILINE))
    options = set(re.findall(r"^  (--[a-z-]+)", rest, re.MULTILINE))
    panel = set(re.findall(r"^  (--[a-z-]+)", rest[:rest.index("\nOptions")], re.MULTILINE))
    of_all = set(re.findall(r"^  (--[a-z-]+)", rest[rest.index("Options of all"):], re.MULTILINE))
    if len(commands) < 7 or len(options) < 15 or "--headless" not in panel:
        fail("--help could not be read:", commands, options)

    page = run(caliper, "manual").stdout
    named = set(re.findall(r"^\.TP\n\\fB([a-z]+)\\fR", page, re.MULTILINE))
    paged = {name.replace("\\", "") for name in
             re.findall(r"^\.TP\n\\fB((?:\\-){2}[a-z\\-]+)\\fR", page, re.MULTILINE)}
    if named != commands or paged != options:
        fail("man page:", named ^ commands, paged ^ options)
    if shutil.which("mandoc"):
        lint = run("mandoc", "-T", "lint", "-W", "error", input=page)
        if lint.stdout or lint.returncode != 0:
            fail("mandoc:", lint.stdout)

    with tempfile.TemporaryDirectory() as folder:
        for shell in ("bash", "zsh", "fish"):
            script = pathlib.Path(folder) / shell
            script.write_text(run(caliper, "completion", shell).stdout)
            if not shutil.which(shell):
                print(f"no {shell} here: its completions were not run")
                continue
            parsed = run(shell, "-n", script)
            if parsed.returncode != 0 or parsed.stderr:
                fail(shell, parsed.stderr)
        bash = pathlib.Path(folder) / "bash"
        for words, wanted in (
                (("",), commands), (("in",), {"info"}), (("view", "--"), None),
                (("--renderer", "c"), {"cpu"}), (("completion", ""), {"bash", "zsh", "fish"}),
                (("home", "--"), panel | of_all), (("--log-level", "d"), {"debug"})):
            offered = offered_by_bash(bash, *words)
            if wanted is not None and offered != wanted:
                fail("bash:", words, offered, wanted)
        if not {"--raw", "--headless"} <= offered_by_bash(bash, "view", "--"):
            fail("bash: options of view")
        if shutil.which("fish"):
            fish = pathlib.Path(folder) / "fish"
            for line, wanted in (("caliper in", {"info"}), ("caliper ", commands),
                                 ("caliper completion ", {"bash", "zsh", "fish"})):
                result = run("fish", "--no-config", "-c",
                             f"source {fish}; complete -C '{line}'",
                             env=environment | {"HOME": folder})
                offered = {one.split("\t")[0] for one in result.stdout.splitlines()}
                if offered != wanted:
                    fail("fish:", repr(line), offered, wanted, result.stderr)
    print(f"{len(commands)} subcommands, {len(options)} options, in four pages")


main()
