"""The example in docs/examples/cuda_applet builds and runs: its C part everywhere, its CUDA part where
nvcc is, and the page embeds both.

Usage: test_docs_cuda_applet.py SOURCE_TREE CALIPER
Without a GPU it runs on its last rung, from host memory; what the device does is in tests/gpu.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

C_FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wmissing-prototypes", "-Werror",
           "-fPIC", "-fvisibility=hidden"]


class Failed(Exception):
    pass


def call(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **options)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def check_applet(caliper, library, folder):
    symbols = call("nm", "-D", "--defined-only", "--format=just-symbols", library).split()
    if symbols != ["caliper_applet_descriptor"]:
        raise Failed(f"{library.name} exports {symbols}")
    for renderer in ("cpu", "vulkan"):
        words = call(caliper, "run", library, "--headless", "--frames", "8", "--renderer", renderer,
                     "--device", "cpu", env={**os.environ, "CALIPER_DATA_DIR": str(folder / "data")})
        if "begins with copy" not in words or "falls back" in words or "refused" in words:
            raise Failed(f"{library.name} on {renderer}:\n{words}")


def find_nvcc():
    for name in (os.environ.get("CUDACXX"), "nvcc", "/usr/local/cuda/bin/nvcc"):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None


def main():
    root, caliper = pathlib.Path(sys.argv[1]), sys.argv[2]
    example = root / "docs/examples/cuda_applet"
    include = ["-I", root / "include", "-I", example]
    page = (root / "docs/reference/tensor-bridge.md").read_text(encoding="utf-8")
    missing = [name for name in ("cuda_applet.c", "producer.h", "producer.cu")
               if f"examples/cuda_applet/{name}" not in page]
    if missing:
        print(f"docs/reference/tensor-bridge.md does not embed {', '.join(missing)}")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        applet = folder / "cuda_applet.o"
        call("cc", *C_FLAGS, *include, "-c", example / "cuda_applet.c", "-o", applet)
        plain = folder / "plain.so"
        call("cc", *C_FLAGS, *include, "-shared", applet, example / "producer_none.c", "-lm", "-o",
             plain)
        check_applet(caliper, plain, folder)
        nvcc = find_nvcc()
        if nvcc is None:
            print("the C part builds and runs; the CUDA part: skipped: no nvcc")
            return 0
        producer = folder / "producer.o"
        call(nvcc, "-std=c++17", "-O2", "-Werror", "all-warnings", "-Xcompiler",
             "-fPIC,-fvisibility=hidden,-Wall,-Wextra", *include, "-c", example / "producer.cu", "-o",
             producer)
        cuda = folder / "cuda.so"
        call(nvcc, "-shared", "-Xlinker", f"--version-script={root / 'cmake/applet.map'}", applet,
             producer, "-lm", "-o", cuda)
        check_applet(caliper, cuda, folder)
    print("the C part and the CUDA part build and run")
    return 0


try:
    sys.exit(main())
except Failed as failure:
    print(failure)
    sys.exit(1)
