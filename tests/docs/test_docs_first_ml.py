"""The tutorial's ML applet, docs/examples/first_ml: builds against an installed Caliper and libtorch,
learns, and its picture is the rings that it was to paint. The page shows all of its parts.

Usage: test_docs_first_ml.py SOURCE_TREE BUILD_TREE CALIPER CMAKE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    print("skipped: no NumPy or no PIL here")
    sys.exit(77)

FRAMES = (1000, 10000)  # a machine that is busy gets more


def call(*command, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **more)
    if result.returncode != 0:
        print(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
        sys.exit(1)
    return result.stdout + result.stderr


def main():
    source, build_tree, caliper, cmake = sys.argv[1:]
    example = pathlib.Path(source) / "docs/examples/first_ml"
    page = (pathlib.Path(source) / "docs/tutorial/first-ml-applet.md").read_text(encoding="utf-8")
    for part in re.findall(r"/\* ---- (\w+) ---- \*/", (example / "painter.cpp").read_text()):
        assert f"/* ---- {part} ---- */" in page and f"/* ---- {part} end ---- */" in page, part
    for name in ("painter.caliper.toml", "CMakeLists.txt"):
        assert f"examples/first_ml/{name}" in page, name
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call(cmake, "--install", build_tree, "--prefix", folder / "prefix")
        call(cmake, "-S", example, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Debug",
             "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror", f"-DCMAKE_PREFIX_PATH={folder}/prefix")
        call(cmake, "--build", folder / "build")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CALIPER_LEAKS": "1"}
        for frames in FRAMES:
            words = call(caliper, "run", folder / "build/painter.so", "--headless", "--renderer", "cpu",
                         "--size", "1000x600", "--scale", "1", "--frames", frames, "--data-dir",
                         folder / "data", "--screenshot", folder / "p.png", env=environment)
            found = re.search(r"painted for (\d+) steps, loss (\S+)", words)
            if found is not None and found[1] == "300":
                break
        assert found is not None and found[1] == "300", words
        assert float(found[2]) < 0.03, words  # flat grey has 0.125
        assert not re.search(r"not released| error ", words), words
        # Through magma the rings' brightness is in the sum of the channels, brighter is more.
        picture = np.asarray(Image.open(folder / "p.png").convert("RGB")).astype(float).sum(axis=2)
        line = np.linspace(-1, 1, 64)
        rings = np.cos(6 * np.hypot(*np.meshgrid(line, line))) / 2 + 0.5
        cells = np.arange(64) * 6 + 3
        best = max(np.corrcoef(rings.ravel(),
                               picture[np.ix_(cells + y, cells + x)].ravel())[0, 1]
                   for y in range(60, 130) for x in range(4, 40))
        assert best > 0.85, f"the picture is not what it was to paint: correlation {best}"
        print(f"loss {found[2]}, correlation with the rings {best:.3f}")


main()
