#!/usr/bin/python3
"""Makes the files of this folder and formats.json, which holds what NumPy, Pillow and the source
pixels say is in them. Needs python3-numpy, python3-pil and ImageMagick of the distribution; the
outputs are checked in, so only a change of this script needs them.

model.*, pack.*: made by the safetensors library and a newer NumPy, with answers of their own."""
import gzip
import hashlib
import io
import json
import os
import struct
import subprocess
import zipfile

import numpy as np
from PIL import Image

os.chdir(os.path.dirname(os.path.abspath(__file__)))
random = np.random.default_rng(20261202)
answers = {}

NAMES = {"float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32",
         "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16",
         "uint8": "u8", "bool": "bool"}


def text(value):
    """The exact value: integers as integers, floats by the fewest digits that read back."""
    if value.dtype.kind == "f":
        v = float(value)
        if np.isnan(v):
            return "nan"
        if np.isinf(v):
            return "inf" if v > 0 else "-inf"
        kind = np.float32 if value.dtype.itemsize == 4 else np.float64
        digits = next(n for n in range(1, 18) if kind("%.*g" % (n, v)) == kind(v))
        whole = len(str(int(abs(v)))) if abs(v) < 1e16 else 1
        return "%.*g" % (max(digits, whole), v)
    if value.dtype.kind == "b":
        return "true" if value else "false"
    return str(int(value))


def number(value):
    return str(int(value)) if value.dtype.kind == "b" else text(value)


def answer(array, name=""):
    """What is in one array; `data` is row-major, little-endian, as hexadecimal digits."""
    native = np.ascontiguousarray(array).reshape(array.shape)
    native = native.astype(native.dtype.newbyteorder("<"))
    flat = native.reshape(-1)
    finite = flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat
    return {
        "name": name,
        "dtype": NAMES[native.dtype.newbyteorder("=").name],
        "shape": list(array.shape),
        "min": number(finite.min()) if finite.size else "none",
        "max": number(finite.max()) if finite.size else "none",
        "nan": int(np.isnan(flat).sum()) if flat.dtype.kind == "f" else 0,
        "inf": int(np.isinf(flat).sum()) if flat.dtype.kind == "f" else 0,
        "texts": [text(v) for v in flat[:12]],
        "data": native.tobytes().hex(),
    }


def put(file, format_name, arrays):
    answers[file] = {"format": format_name, "arrays": arrays}


def sample(dtype, shape):
    """Random values with the extremes of the type among the first twelve."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        flat = random.integers(0, 2, count).astype(bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        flat = random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        special = np.array([info.min, info.max, 0, 1, info.max - 1], dtype=dtype)
        flat[:min(5, count)] = special[:count]
        if dtype.itemsize == 8 and count > 6:
            flat[5] = 2 ** 53 + 1
    else:
        info = np.finfo(dtype)
        flat = random.standard_normal(count).astype(dtype)
        special = np.array([info.max, info.min, info.tiny, np.nextafter(dtype.type(0), dtype.type(1)),
                            -0.0, np.inf, -np.inf, np.nan, 100, 0.1, 1 / 3, 65504], dtype=dtype)
        flat[:min(12, count)] = special[:count]
    return flat.reshape(shape)


def save_npy(file, array, version=(1, 0)):
    with open(file, "wb") as out:
        np.lib.format.write_array(out, array, version=version)
    put(file, "npy", [answer(array)])


def make_npy():
    for name, short in NAMES.items():
        dtype = np.dtype(name)
        save_npy(f"le_{short}.npy", sample(dtype, (3, 4, 5)).astype(dtype.newbyteorder("<")))
        big = sample(dtype, (4, 3, 5)).astype(dtype.newbyteorder(">"))
        save_npy(f"be_fortran_{short}.npy", np.asfortranarray(big))
    save_npy("scalar.npy", np.array(-2.5, dtype="<f8"))
    save_npy("empty_03.npy", np.zeros((0, 3), dtype="<f4"))
    save_npy("empty_30.npy", np.zeros((3, 0), dtype="<i8"))
    save_npy("vector.npy", sample("<i2", (17,)))
    save_npy("rank8.npy", sample("<u2", (2, 1, 3, 1, 2, 2, 1, 3)))
    save_npy("rank32.npy", sample("<i1", (1,) * 15 + (2,) + (1,) * 15 + (3,)))
    save_npy("version2.npy", sample("<f4", (2, 3)), (2, 0))
    save_npy("version3.npy", sample("<f4", (3, 2)), (3, 0))


def make_refused():
    np.save("refused_complex.npy", np.zeros(3, dtype="c8"))
    np.save("refused_structured.npy", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4", (2,))]))
    np.save("refused_string.npy", np.array(["abc"]))


def make_npz():
    arrays = {"weights": sample("<f4", (3, 4)), "größe_\u6587": sample("<i4", (2, 2)),
              "deep/er": np.asfortranarray(sample("u2", (3, 3)).astype(">u2")), "none": np.zeros((0,), "<f8")}
    for file, save in (("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)):
        save(file, **arrays)
        put(file, "npz", [answer(array, name) for name, array in arrays.items()])
    for limit in ("ZIP64_LIMIT", "ZIP_FILECOUNT_LIMIT"):  # so that every field is a 64-bit one
        setattr(zipfile, limit, 0)
    np.savez_compressed("zip64.npz", **arrays)
    put("zip64.npz", "npz", [answer(array, name) for name, array in arrays.items()])
    zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = (1 << 31) - 1, (1 << 16) - 1
    np.savez("mixed.npz", good=arrays["weights"], bad=np.zeros(2, dtype="c16"))
    np.savez("no_arrays.npz")


def idx_bytes(code, array):
    head = struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def make_idx():
    for code, name in ((8, "u1"), (9, "i1"), (0xb, "i2"), (0xc, "i4"), (0xd, "f4"), (0xe, "f8")):
        array = sample(name, (2, 3, 4))
        file = f"idx_{NAMES[np.dtype(name).name]}"
        data = idx_bytes(code, array)
        with open(file, "wb") as out:
            out.write(data)
        put(file, "idx", [answer(array)])
        if name == "i2":
            with open(file + ".gz", "wb") as out:  # two members, as `cat a.gz b.gz` makes
                out.write(gzip.compress(data[:21], mtime=0) + gzip.compress(data[21:], mtime=0))
            put(file + ".gz", "idx", [answer(array)])
    array = sample("<f8", (5, 7))
    buffer = io.BytesIO()
    np.save(buffer, array)
    with open("array.npy.gz", "wb") as out:
        out.write(gzip.compress(buffer.getvalue(), mtime=0))
    put("array.npy.gz", "npy", [answer(array)])


def magick(pixels, raw, file, options=()):
    """ImageMagick encodes raw pixels, which are the answer."""
    height, width = pixels.shape[:2]
    depth = pixels.dtype.itemsize * 8
    subprocess.run(["convert", "-size", f"{width}x{height}", "-depth", str(depth), "-endian", "LSB",
                    f"{raw}:-", *options, "-strip", file], input=pixels.tobytes(), check=True)
    put(file.split(":", 1)[1], "png", [answer(pixels)])


def save_pillow(file, image, pixels):
    image.save(file)
    put(file, "png", [answer(pixels.reshape(pixels.shape[0], pixels.shape[1], -1))])


def pixels(shape, dtype="u1"):
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def make_png():
    grey, rgb = pixels((5, 7)), pixels((6, 9, 3))
    save_pillow("png_grey.png", Image.fromarray(grey), grey)
    save_pillow("png_rgb.png", Image.fromarray(rgb), rgb)
    alpha = pixels((4, 5, 2))
    save_pillow("png_grey_alpha.png", Image.fromarray(alpha, "LA"), alpha)
    rgba = pixels((3, 5, 4))
    save_pillow("png_rgba.png", Image.fromarray(rgba, "RGBA"), rgba)
    bits = Image.fromarray(pixels((6, 11)) > 127)
    save_pillow("png_1bit.png", bits, np.asarray(bits.convert("L")))
    palette = Image.fromarray(pixels((5, 13)) % 5).convert("L")
    palette.putpalette([int(v) for v in pixels((15,))])
    save_pillow("png_palette.png", palette, np.asarray(palette.convert("RGB")))
    palette.info["transparency"] = bytes([0, 255, 128, 7])
    palette.save("png_palette_alpha.png", transparency=bytes([0, 255, 128, 7]))
    again = Image.open("png_palette_alpha.png").convert("RGBA")
    put("png_palette_alpha.png", "png", [answer(np.asarray(again))])
    deep = pixels((4, 6), "u2")
    save_pillow("png_grey16.png", Image.fromarray(deep.astype("<u2"), "I;16"), deep)
    magick(pixels((5, 7, 3), "u2"), "rgb", "PNG48:png_rgb16.png")
    magick(pixels((5, 7, 4), "u2"), "rgba", "PNG64:png_rgba16.png")
    magick(pixels((11, 13, 3)), "rgb", "PNG24:png_interlaced.png", ("-interlace", "PNG"))
    magick(pixels((9, 10, 4), "u2"), "rgba", "PNG64:png_interlaced16.png", ("-interlace", "PNG"))


def make_half_table():
    """Every half, widened by NumPy; NaNs are compared as NaNs."""
    wide = np.arange(65536, dtype="<u2").view("<f2").astype("<f4")
    bits = wide.view("<u4").copy()
    bits[np.isnan(wide)] = 0x7fc00000
    return hashlib.sha256(bits.astype("<u4").tobytes()).hexdigest()


def fashion_mnist():
    """SHA-256 of the pixels and labels behind the header, unpacked by Python's gzip."""
    folder = "/usr/share/datasets/fashion-mnist/"
    found = {}
    for file in ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz",
                 "train-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
        data = gzip.decompress(open(folder + file, "rb").read())
        rank = data[3]
        found[file] = {"shape": list(struct.unpack(f">{rank}I", data[4:4 + 4 * rank])),
                       "sha256": hashlib.sha256(data[4 + 4 * rank:]).hexdigest()}
    return found


make_npy()
make_refused()
make_npz()
make_idx()
make_png()
with open("formats.json", "w", encoding="utf-8") as out:
    json.dump({"files": answers, "half_table_sha256": make_half_table(),
               "fashion_mnist": fashion_mnist()}, out, indent=1, ensure_ascii=False)
    out.write("\n")
