"""Where there is no libtorch the host builds without it, and MLScope's card says what is missing and
which command installs it.

Usage: test_mlscope_card.py CALIPER SOURCE_TREE CMAKE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

CALIPER, SOURCE, CMAKE = sys.argv[1:]


def check(good, *words):
    if not good:
        print("FAILED:", *words)
        sys.exit(1)


def main():
    with tempfile.TemporaryDirectory() as name:
        build, root = pathlib.Path(name) / "build", pathlib.Path(name) / "root"
        applets = build / "lib/caliper/applets"
        applets.mkdir(parents=True)
        (applets / "mlscope.so").write_bytes(b"of a build when libtorch was there")
        result = subprocess.run(
            [CMAKE, "-S", SOURCE, "-B", str(build), "-G", "Ninja", "-DCALIPER_TESTS=OFF",
             "-DCALIPER_BENCH=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_Torch=ON"],
            capture_output=True, text=True, check=False)
        check(result.returncode == 0, result.stdout, result.stderr)
        rules = (build / "build.ninja").read_text(encoding="utf-8")
        check("libtorch" not in rules and "applet_mlscope" not in rules, "MLScope is built")
        check("applet_tensorscope" in rules, "the other applets are not built")
        check([p.name for p in applets.glob("mlscope*")] == ["mlscope.caliper.toml"],
              sorted(applets.iterdir()))
        listed = subprocess.run(
            [CALIPER, "list", "--json", "--data-dir", str(root), "--applet-dir", str(applets)],
            capture_output=True, text=True, check=True).stdout
        cards = [card for card in json.loads(listed) if card["id"] == "org.caliper.mlscope" and
                 card["manifest"].startswith(str(applets))]
        check(len(cards) == 1, listed)
        check(cards[0]["state"] == "unavailable" and cards[0]["name"] == "MLScope", cards)
        for words in ("libtorch", "apt-get install libtorch-dev", "-DTorch_DIR"):
            check(words in cards[0]["reason"], words, cards)
        ran = subprocess.run(
            [CALIPER, "run", "org.caliper.mlscope", "--headless", "--frames", "2", "--data-dir",
             str(root), "--applet-dir", str(applets), "--renderer", "cpu"],
            capture_output=True, text=True, check=False)
        check(ran.returncode == 1 and "libtorch-dev" in ran.stdout + ran.stderr, ran)
    print("7 checks")


main()
