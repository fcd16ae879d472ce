#!/usr/bin/python3
"""How fast others map f32 to pixels, on the inputs of bench_colormap and one core.

    bench/peers.py [BUILD-FOLDER]        build/ unless given

Prints GB/s at 8 bytes a pixel, the median of the rounds, and how many times faster the fastest
kernel of bench_colormap, run here too, is. Needs NumPy, matplotlib and OpenCV of the distribution.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = "python3-numpy python3-matplotlib python3-opencv"
SIDES = (256, 1024, 4096)
ROUNDS = 7

try:
    import cv2
    import matplotlib
    import matplotlib.colors
    import numpy
except ImportError as missing:
    sys.exit(f"peers.py: {missing}; on Debian and Ubuntu: apt install {PACKAGES}")


def matplotlib_peer(pixels):
    """What imshow and imsave do: normalise, map to RGBA bytes."""
    norm = matplotlib.colors.Normalize(0.0, 1.0)
    colours = matplotlib.colormaps["viridis"]
    return lambda: colours(norm(pixels), bytes=True)


def opencv_peer(pixels):
    """To 8 bits over the same fixed range, then the table; the result is BGR, 3 bytes a pixel."""
    grey = numpy.empty(pixels.shape, numpy.uint8)
    return lambda: cv2.applyColorMap(
        cv2.normalize(pixels, grey, 0, 255, cv2.NORM_MINMAX, cv2.CV_8U), cv2.COLORMAP_VIRIDIS)


def numpy_peer(pixels):
    """Our own rule in array operations."""
    table = (matplotlib.colormaps["viridis"](range(256), bytes=True)).view(numpy.uint32)[:, 0]

    def run():
        t = numpy.clip((pixels - numpy.float32(0)) * numpy.float32(1), 0, 1)
        index = (t * numpy.float32(255) + numpy.float32(0.5)).astype(numpy.uint8)
        return table.take(index)

    return run


PEERS = (
    (f"matplotlib {matplotlib.__version__}", matplotlib_peer),
    (f"OpenCV {cv2.__version__}", opencv_peer),
    (f"NumPy {numpy.__version__} take", numpy_peer),
)


def rate(run, side):
    """Median GB/s; small pictures are repeated within a round."""
    repeat = max(1, (1 << 20) // (side * side))
    run()
    rates = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeat):
            run()
        rates.append(8 * side * side * repeat / (time.perf_counter() - start) / 1e9)
    return statistics.median(rates)


def kernels(program):
    """{name: [GB/s per side]} of bench_colormap."""
    rows = {}
    for line in subprocess.run([program], check=True, capture_output=True,
                               text=True).stdout.splitlines()[2:]:
        name, *values = line.replace("(", " ").replace(")", " ").split()
        if len(values) == 2 * len(SIDES):
            rows[name] = [float(value) for value in values[::2]]
    return rows


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    program = os.path.join(build, "bench", "bench_colormap")
    if not os.access(program, os.X_OK):
        sys.exit(f"peers.py: {program} is not there; build the target bench_colormap first")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    cv2.setNumThreads(1)
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([program, "--input", file.name], check=True)
        noise = numpy.fromfile(file.name, numpy.float32)
    ours = kernels(program)
    fastest = [max(rates[i] for name, rates in ours.items() if name != "memcpy")
               for i in range(len(SIDES))]
    print(f"{'f32 -> pixels, GB/s (ours is faster)':<40}" + "".join(f"{f'{s}^2':>18}" for s in SIDES))
    for name, rates in ours.items():
        print(f"{name:<40}" + "".join(f"{value:>18.2f}" for value in rates))
    for name, make in PEERS:
        cells = []
        for i, side in enumerate(SIDES):
            got = rate(make(noise[:side * side].reshape(side, side)), side)
            cells.append(f"{got:>8.2f} ({fastest[i] / got:>5.1f} x)")
        print(f"{name:<40}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
