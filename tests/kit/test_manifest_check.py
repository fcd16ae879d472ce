"""caliper_check_manifest of CMake against manifests as people write them, with verdicts by hand from
docs/reference/manifest.md; and, given the host's own reader, both must agree: what CMake refuses the
host refuses, and what it lets pass the host refuses only where CMake says that it does not look.

Usage: test_manifest_check.py CHECKER.cmake [READER]    READER FILE: exit status 0 or 1
"""
import pathlib
import subprocess
import sys
import tempfile

HEAD = "[applet]\nid = 'a.b'\nname = 'N'\nversion = '1.0.0'\n"
COMPAT = "[compat]\nabi_epoch = 2\n"
SERVICES = "[services]\n"

GOOD = [
    HEAD + COMPAT,
    "# a comment\n[applet]\nid = \"org.example.viewer\" # why\nname = \"Gr\u00f6\u00dfe \\u03c0; [x] {y}\"\n"
    "version = '1.2.3-rc.1+b.5'\nsummary = '''What it does'''\ntag = \"tools\"\nicon = \"x\"\n"
    "[compat]\r\nabi_epoch = 0x2\r\nmin_host = \"0.12.3456\"\n[services]\n"
    "required = [\n  \"caliper.log.v1\", # one, two]\n  \"caliper.jobs.v1\",\n]\n"
    "optional = ['caliper.plot.v1']\n[unknown.section]\nx = 1\n[[more]]\ny = 1979-05-27T07:32:00Z\n"
    "z = 1979-05-27 07:32:00\nw = [1, [2, 'a'], {b = 3}]\n",
    "\ufeffapplet.id='a.b'\napplet.name='N'\napplet.version='1.0.0'\ncompat.abi_epoch=2\n",
    "[ applet ]\n'id' = 'a.b'\n\"name\"='N'\nversion='1.0.0'\n" + COMPAT,
    HEAD + COMPAT + SERVICES + "required=[]\noptional=[ ]",
    HEAD + COMPAT + "min_host='999.0.0'",
    HEAD + COMPAT + "[x]\nid=5\nabi_epoch='no'\nn = nan\nf = 1.5e3\nb = true\n",
    "applet = {id = 'a.b', name = 'N', version = '1.0.0'}\n" + COMPAT,
    HEAD + "compat.abi_epoch = 7\n" + COMPAT,  # applet.compat: unknown
    HEAD + COMPAT + "long = \"\"\"two\nlines with \\\"\"\" in it\"\"\"\n",
    HEAD + COMPAT + "[q]\nback = 'C:\\dir\\'\nslash = \"a\\\\\"\n",
]

# Text, and a part of the line that says why.
BAD = [
    ("", "applet.id is missing"),
    (COMPAT, "applet.id is missing"),
    ("[applet]\nid='a.b'\n" + COMPAT, "applet.name is missing"),
    ("[applet]\nid='a.b'\nname='N'\n" + COMPAT, "applet.version is missing"),
    (HEAD, "compat.abi_epoch is missing"),
    ("applet = 1\n", ":1: applet is an integer, wanted a table"),
    ("\n\n[[applet]]\nid='a.b'", ":3: applet is a list, wanted a table"),
    ("[applet]\nid = 7", ":2: applet.id is an integer, wanted text"),
    ("[applet]\nid='a.b'\nname = true", ":3: applet.name is a boolean"),
    ("[applet]\nid='a.b'\nname='N'\nversion = 1.0", ":4: applet.version is a number with a fraction"),
    (HEAD + "summary = ['x']", ":5: applet.summary is a list, wanted text"),
    (HEAD + "tag = {}", ":5: applet.tag is a table, wanted text"),
    (HEAD + "without_library = 1", ":5: applet.without_library is an integer, wanted text"),
    (HEAD + "[compat]\nabi_epoch = '2'", ":6: compat.abi_epoch is text, wanted an integer"),
    (HEAD + "[compat]\nabi_epoch = 2.0", ":6: compat.abi_epoch is a number with a fraction"),
    (HEAD + COMPAT + "min_host = 0.1", ":7: compat.min_host is a number with a fraction"),
    (HEAD + COMPAT + "min_host = 1979-05-27", ":7: compat.min_host is a date or time"),
    (HEAD + COMPAT + SERVICES + "required = 'x'", ":8: services.required is text, wanted a list"),
    (HEAD + COMPAT + SERVICES + "required = ['a',\n 2]", "services.required holds an integer"),
    (HEAD + COMPAT + SERVICES + "optional = [['a']]", "services.optional holds another list"),
    (HEAD + COMPAT + SERVICES + "required = ['a', '']", "services.required holds empty text"),
    ("services = []\n" + HEAD + COMPAT, ":1: services is a list, wanted a table"),
    ("[applet]\nid = 'viewer'\n", "applet.id is \"viewer\", wanted a reverse DNS name"),
    ("[applet]\nid = '../../etc'\n", "wanted a reverse DNS name"),
    ("[applet]\nid='a.b'\nname = ''\n", ":3: applet.name is empty"),
    ("[applet]\nid='a.b'\nname='N'\nversion = '1.0'", "applet.version is \"1.0\""),
    ("[applet]\nid='a.b'\nname='N'\nversion = 'v1.0.0'", "wanted a version like 1.2.3"),
    ("[applet]\nid='a.b'\nname='N'\nversion = '01.0.0'", "wanted a version like 1.2.3"),
    (HEAD + COMPAT + "min_host = '0.1'", "wanted three numbers"),
    (HEAD + COMPAT + "min_host = ''", "wanted three numbers"),
    ("[applet\nid='a.b'", ":1: a section's name without"),
    ("[applet]\nid='a.b'\nid='a.c'", ":3: applet.id is given twice"),
    ("[applet]\nid = \"a.b", ":2: text that does not end"),
    ("[applet]\nid='a.b'\n[applet]\n", ":3: [applet] is given twice"),
    ("{\"applet\": {}}", ":1: neither a [section] nor key = value"),
    (HEAD + COMPAT + "x = y", ":7: y is no value"),
    (HEAD + COMPAT + "x =", ":7: a value is missing"),
    (HEAD + COMPAT + "x = 1 y = 2", ":7: more than one thing"),
    (HEAD + COMPAT + "x = [1 2]", ":7: a comma is missing"),
    (HEAD + COMPAT + "x = [1,, 2]", ":7: a comma without an entry"),
    (HEAD + COMPAT + "x = [1,\n2", "a list or a table that does not end"),
    (HEAD + COMPAT + "x = '''a", "text that does not end"),
    ("\x7fELF", ":1: neither a [section]"),
]

# The SDK's epoch is 2; the host reads another one, and then says that it is another.
EPOCHS = [("0", "compat.abi_epoch is 0"), ("3", "is 3, this SDK's is 2"), ("-2", "is -2")]


def check(folder, cmake, text):
    path = pathlib.Path(folder) / "x.caliper.toml"
    path.write_bytes(text.encode("utf-8"))
    script = pathlib.Path(folder) / "check.cmake"
    script.write_text("cmake_minimum_required(VERSION 3.22)\nset(CALIPER_ABI_EPOCH 2)\n"
                      f"include({cmake})\ncaliper_check_manifest({path})\n"
                      "message(STATUS \"${CALIPER_MANIFEST_ID} ${CALIPER_MANIFEST_VERSION}\")\n",
                      encoding="utf-8")
    result = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True,
                            check=False)
    # CMake wraps the lines of an error; a warning of CMake's own is a fault of the checker.
    return result.returncode == 0, " ".join((result.stdout + result.stderr).split())


def main():
    cmake = pathlib.Path(sys.argv[1]).resolve()
    reader = sys.argv[2:3]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = [(text, None) for text in GOOD] + BAD
        cases += [(HEAD + f"[compat]\nabi_epoch = {epoch}\n", words) for epoch, words in EPOCHS]
        for text, words in cases:
            good, said = check(folder, cmake, text)
            wrong = good != (words is None) or (words is not None and words not in said) or \
                "Warning" in said
            if reader and not wrong and words not in [w for _, w in EPOCHS[1:2]]:
                host = subprocess.run([*reader, f"{folder}/x.caliper.toml"], capture_output=True,
                                      text=True, check=False)
                wrong = (host.returncode == 0) != good
                said += " | the host: " + host.stdout.strip()
            if wrong:
                failures += 1
                print(f"--- {text!r}\n    wanted {words or 'good'}\n    {said}")
    print(f"{len(cases)} manifests, {failures} wrong" + ("" if reader else ", no reader given"))
    return 1 if failures else 0


sys.exit(main())
