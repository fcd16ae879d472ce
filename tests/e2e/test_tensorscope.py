"""TensorScope from outside, against NumPy: the value under the pointer at every cell, at several
scales and zooms; slices saved as .npy and PNG; grids of slices; files without a header; files of
20 GB. The pointer is put where the screenshot shows a cell; what the applet says it copied is in the
log.

Usage: test_tensorscope.py CALIPER
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    print("skipped: no NumPy or no PIL here")
    sys.exit(77)

CALIPER = sys.argv[1]
SANITIZED = os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS")
folder = None
checks = 0


def check(good, *words):
    global checks
    checks += 1
    if not good:
        print(*words)
        sys.exit(1)


def view(path, script="", frames=6, options=()):
    """Runs `caliper view`; answers its log and the picture of the last frame."""
    (folder / "script").write_text(script)
    shot = folder / "shot.png"
    result = subprocess.run(
        [CALIPER, "view", str(path), "--headless", "--renderer", "cpu", "--frames", str(frames),
         "--data-dir", str(folder / "data"), "--input", str(folder / "script"), "--screenshot",
         str(shot), *options], capture_output=True, text=True, check=False)
    check(result.returncode == 0, path, result.returncode, result.stderr)
    return result.stdout + result.stderr, np.asarray(Image.open(shot).convert("RGB"))


def copied(log):
    """[(index, text)] of what was copied."""
    return [(tuple(int(n) for n in place.split(",")) if place else (), text)
            for place, text in re.findall(r"copied \[([\d, ]*)\] = (.*)", log)]


def ask_at(points):
    """A script that copies at each point, and its frames."""
    lines, frame = [], 4
    for x, y in points:
        lines += [f"at {frame}", f"move {x:.3f} {y:.3f}", f"at {frame + 1}", "key c"]
        frame += 2
    return "\n".join(lines) + "\n", frame + 2


def cells_in(picture, colours, bar_width):
    """{cell: its pixels' box} for each colour that is there, left of the colour bar."""
    part = picture[:, :picture.shape[1] - bar_width]
    codes = part[:, :, 0].astype(int) << 16 | part[:, :, 1].astype(int) << 8 | part[:, :, 2]
    found = {}
    for cell, colour in colours.items():
        rows, cols = np.nonzero(codes == colour)
        if rows.size > 40:  # more than a widget in that colour
            box = cols.min(), rows.min(), cols.max() + 1, rows.max() + 1
            if rows.size > 0.5 * (box[2] - box[0]) * (box[3] - box[1]):
                found[cell] = box
    return found


def test_hover_at_scales_and_zooms():
    """Red says the row and green the column of a picture of its own colours."""
    rows, cols = 7, 9
    array = np.zeros((rows, cols, 3), np.uint8)
    colours = {}
    for r in range(rows):
        for c in range(cols):
            array[r, c] = 100 + 20 * r, 90 + 16 * c, 255
            colours[r, c] = (100 + 20 * r) << 16 | (90 + 16 * c) << 8 | 255
    np.save(folder / "cells.npy", array)
    drag = "wheel 0 2\nat 3\npress left\nmove 630 500\nrelease left\n"
    zooms = ("", "wheel 0 5\n", "wheel 0 -2\n")
    for scale, size, zooms in ((1, "1280x800", zooms + (drag,)), (1.25, "1100x800", zooms),
                               (1.5, "1250x850", zooms + (drag,)), (2, "1700x1100", zooms),
                               (1, "600x900", ("", "wheel 0 3\n"))):
        for zoom in zooms:
            options = ("--scale", str(scale), "--size", size)
            width, height = (int(n) / scale for n in size.split("x"))
            narrow = width < 700
            place = (width * 0.5, height * 0.3) if narrow else (width * 0.62, height * 0.55)
            start = f"at 2\nmove {place[0]:.2f} {place[1]:.2f}\n{zoom}" \
                    "at 4\nmove 5 5\n"
            _, picture = view(folder / "cells.npy", start, 8, options)
            found = cells_in(picture, colours, 0)
            check(len(found) >= 4, scale, size, repr(zoom), "cells seen:", len(found))
            points, wanted = [], []
            some = list(found.items())
            for cell, (x0, y0, x1, y1) in some[::max(1, len(some) // 16)]:
                points.append(((x0 + x1) / 2 / scale, (y0 + y1) / 2 / scale))
                wanted.append((cell + (0,), ", ".join(str(v) for v in array[cell])))
            script, frames = ask_at(points)
            script = start + re.sub(r"at (\d+)", lambda m: f"at {int(m[1]) + 4}", script)
            log, _ = view(folder / "cells.npy", script, frames + 4, options)
            check(copied(log) == wanted, scale, size, repr(zoom), copied(log), wanted)


def same_value(text, value):
    if value.dtype.kind == "b":
        return text == ("true" if value else "false")
    if value.dtype.kind in "iu":
        return int(text) == int(value)
    number = float(text)
    return (np.isnan(number) and np.isnan(value)) or value.dtype.type(number) == value


def samples():
    rng = np.random.default_rng(11)
    for code in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"):
        dtype = np.dtype(code)
        if dtype.kind == "f":
            array = rng.standard_normal((2, 3, 5)).astype(dtype)
            tiny = np.finfo(dtype).smallest_subnormal
            array.flat[:5] = [np.nan, np.inf, -np.inf, np.finfo(dtype).max, tiny]
        elif dtype.kind == "b":
            array = rng.integers(0, 2, (2, 3, 5)).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            array = rng.integers(limits.min, limits.max, (2, 3, 5), dtype=dtype, endpoint=True)
            array.flat[:2] = [limits.min, limits.max]
        yield code, array
    yield "big_fortran", np.asfortranarray(rng.standard_normal((2, 3, 5)).astype(">f4"))


def picture_box(path):
    """Where the picture of 3 x 5 cells is: between the ground's left and right of it."""
    _, picture = view(path, "at 2\nmove 5 5\n")
    ground = picture[112, 345].astype(int)
    part = np.abs(picture[118:725, 342:1186].astype(int) - ground).sum(axis=2) > 0
    rows, cols = np.nonzero(part)
    return cols.min() + 342, rows.min() + 118, cols.max() + 343, rows.max() + 119


def test_values_and_saved_slices():
    box = None
    for name, array in samples():
        path = folder / f"{name}.npy"
        np.save(path, array)
        box = box or picture_box(path)  # the shape is the same for all
        points = [(box[0] + (c + 0.5) * (box[2] - box[0]) / 5,
                   box[1] + (r + 0.5) * (box[3] - box[1]) / 3) for r in range(3) for c in range(5)]
        script, frames = ask_at(points)
        script += f"at {frames}\nkey ctrl+s\nat {frames + 3}\nkey enter\n"
        log, _ = view(path, script, frames + 10)
        found = copied(log)
        check(len(found) == 15, name, log)
        for i, (index, text) in enumerate(found):
            check(index == (0, i // 5, i % 5) and same_value(text, array[index]), name, index, text,
                  array[index])
        saved = np.load(folder / f"{name}_0.npy")
        check(saved.dtype == array.dtype.newbyteorder("=") and saved.shape == (3, 5) and
              saved.tobytes() == array[0].astype(saved.dtype).tobytes(), name, saved)
        if name == "f4":  # again: refused, then replaced by its key
            log, _ = view(path, "at 4\nkey right\nat 8\nkey ctrl+s\nat 10\nkey enter\n", 16)
            check((folder / "f4_1.npy").exists(), log)
            before = (folder / "f4_1.npy").stat().st_ino
            log, _ = view(path, "at 4\nkey right\nat 8\nkey ctrl+s\nat 10\nkey enter\n", 16)
            check("is there already" in log and before == (folder / "f4_1.npy").stat().st_ino, log)
            log, _ = view(path, "at 4\nkey right\nat 8\nkey ctrl+s\nat 10\nkey enter\n"
                          "at 14\nkey ctrl+enter\n", 22)
            check(before != (folder / "f4_1.npy").stat().st_ino, log)
            check(np.array_equal(np.load(folder / "f4_1.npy"), array[1]), "replaced")


def test_raw_and_bf16():
    bits = np.random.default_rng(3).integers(0, 65536, (2, 3, 5)).astype(">u2")
    bits.flat[:3] = [0x7f80, 0x0001, 0x8000]
    (folder / "bytes.bin").write_bytes(b"12345" + bits.tobytes())
    wide = (bits.astype(np.uint32) << 16).view(np.float32)
    box = picture_box(folder / "f4.npy")
    points = [(box[0] + (c + 0.5) * (box[2] - box[0]) / 5,
               box[1] + (r + 0.5) * (box[3] - box[1]) / 3) for r in range(3) for c in range(5)]
    script, frames = ask_at(points)
    script += f"at {frames}\nkey ctrl+s\nat {frames + 3}\nkey enter\n"
    log, _ = view(folder / "bytes.bin", script, frames + 10, ("--raw", "bf16:2x3x5:5:big"))
    found = copied(log)
    check(len(found) == 15, log)
    for index, text in found:
        check(same_value(text, wide[index]), index, text, wide[index])
    saved = np.load(folder / "bytes_0.npy")  # bf16 is widened, exactly
    check(saved.dtype == np.float32 and saved.tobytes() == wide[0].tobytes(), saved)


def sparse(path, shape, place, value):
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        begin = file.tell()
        file.truncate(begin + 4 * int(np.prod(shape, dtype=np.int64)))
        file.seek(begin + 4 * int(np.ravel_multi_index(place, shape)))
        file.write(np.float32(value).tobytes())


def test_twenty_gigabytes():
    """The picture of a slice, and of all of it by samples: memory is for what is shown."""
    sparse(folder / "deep.npy", (5000, 1000, 1000), (0, 500, 500), 7.25)
    sparse(folder / "flat.npy", (50000, 100000), (0, 0), -3.5)
    for name, limit_kib in (("deep", 260_000), ("flat", 450_000)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        log, _ = view(folder / f"{name}.npy", "at 5\nmove 760 420\nat 7\nkey c\n", 14)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        check("error" not in log, log)
        print(f"{name}: peak resident {peak} KiB")
        if not SANITIZED:
            check(peak <= max(limit_kib, before), name, peak, "KiB")
        found = copied(log)
        check(len(found) == 1 and found[0][1] == "0", log)
        index = found[0][0]  # between the samples, most likely; that element gets a value
        shape = np.load(folder / f"{name}.npy", mmap_mode="r").shape
        with open(folder / f"{name}.npy", "r+b") as file:
            file.seek(-4 * (int(np.prod(shape, dtype=np.int64)) -
                            int(np.ravel_multi_index(index, shape))), os.SEEK_END)
            file.write(np.float32(123.5).tobytes())
        log, _ = view(folder / f"{name}.npy", "at 5\nmove 760 420\nat 7\nkey c\n", 14)
        check(copied(log) == [(index, "123.5")], log)


def main():
    global folder
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = pathlib.Path(name)
        test_hover_at_scales_and_zooms()
        test_values_and_saved_slices()
        test_raw_and_bf16()
        test_twenty_gigabytes()
    print(f"{checks} checks")


main()
