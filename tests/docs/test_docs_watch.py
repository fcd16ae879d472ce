"""The script of docs/how-to/watch-a-tensor.md, run as it is printed while `caliper view` shows its
file: new contents come, in order, up to the last one, and nothing is refused on the way. The pages'
tables of keys and states name what is there.

Usage: test_docs_watch.py SOURCE_TREE CALIPER
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

try:
    import numpy  # noqa: F401 (the printed script needs it)
except ImportError:
    print("skipped: no NumPy here")
    sys.exit(77)


def main():
    root, caliper = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
    page = (root / "docs/how-to/watch-a-tensor.md").read_text(encoding="utf-8")
    printed = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    if len(printed) != 1:
        print(len(printed), "scripts on the page, wanted one")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "train.py").write_text(printed[0], encoding="utf-8")
        # The pointer on the first element, which the script counts up; copied every few frames.
        frames = 700
        script = ["at 2", "move 197 121"] + [
            line for frame in range(10, frames - 10, 20) for line in (f"at {frame}", "key c")]
        (folder / "script").write_text("\n".join(script) + "\n")
        with subprocess.Popen([sys.executable, "train.py"], cwd=folder) as training:
            while not (folder / "weights.npy").exists() and training.poll() is None:
                time.sleep(0.01)
            found = []
            until = time.monotonic() + 120
            while time.monotonic() < until:  # until a look begins after the script has ended
                ended = training.poll() is not None
                result = subprocess.run(
                    [caliper, "view", "weights.npy", "--headless", "--renderer", "cpu", "--frames",
                     str(frames), "--size", "640x480", "--input", "script", "--data-dir", "data"],
                    cwd=folder, capture_output=True, text=True, check=False)
                log = result.stdout + result.stderr
                if result.returncode != 0 or " error " in log or "not whole" in log:
                    print("caliper view failed:", log[-2000:])
                    return 1
                found += [float(v) for v in re.findall(r"copied \[0, 0\] = (\S+)", log)]
                if ended:
                    break
            if training.wait() != 0:
                print("the printed script failed")
                return 1
        if not found or found != sorted(found) or found[-1] != 39.0 or len(set(found)) < 4:
            print("seen:", sorted(set(found)), "in order:", found == sorted(found))
            return 1
    print(f"{len(set(found))} contents of 40 were looked at, the last one too")
    return 0


sys.exit(main())
