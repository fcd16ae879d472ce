"""`caliper info` and `caliper convert` against NumPy: what NumPy wrote is described as NumPy reads it,
and what convert wrote NumPy reads as it was. The safetensors samples were written by that format's
own library, with its answers beside them.

Usage: test_array_command.py CALIPER FORMATS_DATA_DIR FUZZ_CORPUS
"""
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy here")
    sys.exit(77)
try:
    from PIL import Image
except ImportError:
    Image = None

CALIPER, DATA, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
NAMES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
         "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1", "bool": "b1"}
checks = 0


def check(good, *words):
    global checks
    checks += 1
    if not good:
        print(*words)
        sys.exit(1)


def run(*arguments):
    return subprocess.run([CALIPER, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def info(*arguments):
    result = run("info", *arguments, "--json")
    check(result.returncode == 0, arguments, result.stderr)
    return json.loads(result.stdout)


def refused(wanted, *arguments):
    result = run(*arguments)
    check(result.returncode == 1 and result.stdout == "" and result.stderr.count("\n") == 1 and
          wanted in result.stderr, arguments, result.returncode, repr(result.stderr), wanted)


def answers(array):
    """What `info` has to say, by NumPy alone."""
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array.reshape(-1)
    low, high = (finite.min(), finite.max()) if finite.size else (None, None)
    kind = int if array.dtype.kind in "iu" else bool if array.dtype.kind == "b" else float
    name = next(n for n, code in NAMES.items() if code == array.dtype.str[1:])
    return {"shape": list(array.shape), "dtype": name,
            "min": None if low is None else kind(low), "max": None if high is None else kind(high),
            "nan": int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0,
            "inf": int(np.isinf(array).sum()) if array.dtype.kind == "f" else 0}


def same(tensor, array, name=""):
    wanted = answers(array) | {"name": name}
    check(tensor == wanted and type(tensor["min"]) is type(wanted["min"]), tensor, wanted)
    for end in ("min", "max"):
        if array.dtype.kind == "f" and wanted[end] == 0:  # NumPy's sign where all zeros have one
            zeros = array[array == 0]
            check(np.signbit(tensor[end]) == np.signbit(zeros).all(), name, end, tensor)


def samples():
    """(file name, array): each type with its extremes, both byte orders and layouts, odd ranks."""
    rng = np.random.default_rng(5)
    for name, code in NAMES.items():
        for order in "<>":
            dtype = np.dtype((order if code[1] != "1" else "|") + code)
            if dtype.kind == "f":
                array = rng.standard_normal((5, 7)).astype(dtype)
                tiny = np.finfo(dtype).smallest_subnormal
                array.flat[:6] = [np.nan, np.inf, -np.inf, np.finfo(dtype).max, -tiny, tiny]
            elif dtype.kind == "b":
                array = rng.integers(0, 2, (5, 7)).astype(dtype)
            else:
                limits = np.iinfo(dtype)
                array = rng.integers(limits.min, limits.max, (5, 7), dtype=dtype.newbyteorder("="),
                                     endpoint=True).astype(dtype)
                array.flat[:2] = [limits.min, limits.max]
            for layout in "CF":
                yield f"{name}{'be' if order == '>' else 'le'}{layout}.npy", \
                    np.array(array, order=layout)
    half = np.arange(65536, dtype=np.uint16).view(np.float16)
    yield "every_half.npy", half.reshape(256, 256)
    yield "subnormals.npy", half[1:1024]
    yield "above_2_53.npy", np.array([2**53 + 1, 2**63 - 1, -2**63 + 1])
    yield "scalar.npy", np.array(2.5, np.float32)
    for i, zeros in enumerate(([0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0], [0.0, 0.0], [-1, -0.0, 0.0],
                               [-1, 0.0, -0.0], [-1, -0.0], [1, -0.0], [1, -0.0, 0.0])):
        for code in ("<f8", "<f4", ">f2"):
            yield f"zeros{i}{code[1:]}.npy", np.array(zeros, code)
    yield "empty.npy", np.zeros((3, 0, 2), np.int16)
    yield "only_nan.npy", np.full(4, np.nan)
    yield "rank8.npy", rng.integers(0, 99, (2, 1, 3, 2, 1, 2, 3, 2)).astype(np.int32)
    yield "fortran4.npy", np.asfortranarray(rng.integers(0, 99, (2, 3, 4, 2)).astype(">i4"))


def test_npy(folder):
    for name, array in samples():
        np.save(folder / name, array)
        answer = info(folder / name)
        check(answer["file"] == str(folder / name) and answer["format"] == "npy", answer)
        same(answer["tensors"][0], array)


def test_library_samples():
    model = json.loads((DATA / "model.json").read_text())
    names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64",
             "int64": "i64", "int32": "i32", "uint8": "u8", "bool": "bool"}
    answer = info(DATA / "model.safetensors")
    check(answer["format"] == "safetensors" and len(answer["tensors"]) == len(model), answer)
    for tensor in answer["tensors"]:
        wanted = model[tensor["name"]]
        check(tensor["shape"] == wanted["shape"] and tensor["dtype"] == names[wanted["dtype"]] and
              tensor["nan"] == wanted["nan"] and tensor["inf"] == wanted["inf"] and
              str(tensor["min"]) == wanted["min"] and str(tensor["max"]) == wanted["max"],
              tensor, wanted)
    for pack in ("pack.npz", "pack_deflate.npz"):
        arrays = np.load(DATA / pack)
        answer = info(DATA / pack)
        check([t["name"] for t in answer["tensors"]] == list(arrays.files), answer)
        for tensor in answer["tensors"]:
            same(tensor, arrays[tensor["name"]], tensor["name"])
        only = info(DATA / pack, "--tensor", arrays.files[-1])
        check(only["tensors"] == answer["tensors"][-1:], only)


def write_safetensors(path, tensors):
    """By the format's description: names as they come, data unaligned where sizes are odd."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header, ensure_ascii=False).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    codes = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
             "I16": "<i2", "I8": "i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
             "BOOL": "?"}
    found, end = {}, 8 + size
    for name, one in json.loads(data[8:8 + size]).items():
        first, last = one["data_offsets"]
        check(8 + size + first == end, name, "a hole")
        end = 8 + size + last
        found[name] = np.frombuffer(data[8 + size + first:end], codes[one["dtype"]]) \
            .reshape(one["shape"])
    check(end == len(data), path, "bytes left over")
    return found


def test_unaligned_and_names(folder):
    rng = np.random.default_rng(7)
    odd = {"b": ("BOOL", rng.integers(0, 2, 3).astype(bool)),
           "\u6df1\u5c64.\U0001f9e0 \u0661\u200f": ("F64", rng.standard_normal((2, 3))),
           "quote\" back\\ tab\t": ("I64", np.array([2**62 + 1, -2**62 - 1])),
           "": ("U16", rng.integers(0, 9, (2, 2)).astype(np.uint16))}
    write_safetensors(folder / "odd.safetensors", odd)
    answer = info(folder / "odd.safetensors")
    check([t["name"] for t in answer["tensors"]] == list(odd), answer)
    for tensor in answer["tensors"]:
        same(tensor, odd[tensor["name"]][1], tensor["name"])
    text = run("info", folder / "odd.safetensors").stdout
    check(text.count("\n") == 5 and "quote\" back\\ tab\\t" in text and "\t" not in text and
          "\\u200f" in text and "\u200f" not in text, text)
    bf16 = np.arange(65536, dtype=np.uint16)
    write_safetensors(folder / "bf16.safetensors", {"all": ("BF16", bf16.reshape(256, 256))})
    wide = (bf16.astype(np.uint32) << 16).view(np.float32).reshape(256, 256)
    wanted = answers(wide) | {"dtype": "bf16", "name": "all"}
    check(info(folder / "bf16.safetensors")["tensors"] == [wanted], wanted)
    return wide


def bits(array):
    return array.astype(array.dtype.newbyteorder("<")).tobytes("C")


def equal(found, array, *words):
    check(found.shape == array.shape and found.dtype.newbyteorder("=") ==
          array.dtype.newbyteorder("=") and bits(found) == bits(array), "differs:", *words)


def convert(source, result, *options):
    answer = run("convert", source, result, "--force", *options)
    check(answer.returncode == 0, source, result, answer.stderr)
    return answer.stdout


def convert_each_way(folder, name, array):
    for end in ("npy", "npz", "safetensors", "raw"):
        result = folder / f"out.{end}"
        said = convert(folder / name, result)
        if end == "raw":
            check(result.read_bytes() == bits(array), name, "raw")
            layout = said.split("--raw ")[1].strip()
            convert(result, folder / "back.npy", "--raw", layout)
            equal(np.load(folder / "back.npy").reshape(array.shape), array, name, layout)
            continue
        found = np.load(result) if end == "npy" else np.load(result)["arr_0"] if end == "npz" \
            else read_safetensors(result)["array"]
        equal(found, array, name, end)
        convert(result, folder / "back.npy")  # and back through Caliper's own reader
        equal(np.load(folder / "back.npy"), array, name, end, "back")
    codes = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    code = codes.get(array.dtype.str[1:])
    if code is None:
        refused("IDX holds", "convert", folder / name, folder / "no.idx")
        return
    convert(folder / name, folder / "out.idx")
    head = bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    check((folder / "out.idx").read_bytes() ==
          head + array.astype(array.dtype.newbyteorder(">")).tobytes("C"), name, "idx")


def test_convert(folder, wide):
    for name, array in samples():
        convert_each_way(folder, name, array)
    convert(folder / "bf16.safetensors", folder / "wide.npy")
    equal(np.load(folder / "wide.npy"), wide, "bf16 widened")
    check("bf16 is written as f32" in convert(folder / "bf16.safetensors", folder / "wide.npz"))
    equal(np.load(folder / "wide.npz")["all"], wide, "bf16 widened in npz")
    convert(folder / "odd.safetensors", folder / "odd.npz")
    first, second = read_safetensors(folder / "odd.safetensors"), np.load(folder / "odd.npz")
    for name, array in first.items():
        equal(second[name or "arr_0"], array, name)
    many = {f"array {i}": np.full((3, i % 5), i) for i in range(300)}
    np.savez(folder / "many.npz", **many)
    convert(folder / "many.npz", folder / "many.safetensors")
    convert(folder / "many.safetensors", folder / "again.npz")
    again = np.load(folder / "again.npz")
    check(sorted(again.files) == sorted(many), again.files)
    for name, array in many.items():
        equal(again[name], array, name)
    convert(folder / "many.npz", folder / "one.npy", "--tensor", "array 7")
    equal(np.load(folder / "one.npy"), many["array 7"], "--tensor")
    answer = json.loads(convert(folder / "many.npz", folder / "one.raw", "--tensor", "array 7",
                                "--json"))
    check(answer["format"] == "raw" and answer["raw"] == "i64:3x2" and
          answer["tensors"] == [{"name": "array 7", "shape": [3, 2], "dtype": "i64"}], answer)


def test_png(folder):
    if Image is None:
        print("no PIL: PNG was not looked at")
        return
    rng = np.random.default_rng(9)
    for channels, mode in ((0, "L"), (1, "L"), (2, "LA"), (3, "RGB"), (4, "RGBA")):
        shape = (11, 17) + ((channels,) if channels else ())
        array = rng.integers(0, 256, shape).astype(np.uint8)
        np.save(folder / "p.npy", array)
        convert(folder / "p.npy", folder / "p.png")
        image = Image.open(folder / "p.png")
        check(image.mode == mode, image.mode)
        check(np.array_equal(np.asarray(image).reshape(array.shape), array), mode)
        convert(folder / "p.png", folder / "q.npy")
        check(np.array_equal(np.load(folder / "q.npy").reshape(array.shape), array), mode, "back")
    array = rng.integers(0, 65536, (9, 5)).astype(np.uint16)
    np.save(folder / "p.npy", array)
    convert(folder / "p.npy", folder / "p.png")
    check(np.array_equal(np.asarray(Image.open(folder / "p.png")), array), "16 bits")
    np.save(folder / "f.npy", np.zeros((2, 2), np.float32))
    refused("PNG holds u8 and u16", "convert", folder / "f.npy", folder / "no.png")
    np.save(folder / "f.npy", np.zeros((2, 2, 5), np.uint8))
    refused("rows x columns", "convert", folder / "f.npy", folder / "no.png")
    check(not (folder / "no.png").exists(), "a refused file is there")


def test_refusals(folder):
    np.save(folder / "a.npy", np.arange(4))
    np.save(folder / "b.npy", np.arange(5))
    refused("is there already", "convert", folder / "a.npy", folder / "b.npy")
    check(np.load(folder / "b.npy").size == 5, "a file was replaced")
    convert(folder / "a.npy", folder / "b.npy")
    check(np.load(folder / "b.npy").size == 4, "--force did not replace")
    convert(folder / "a.npy", folder / "a.npy")
    check(np.array_equal(np.load(folder / "a.npy"), np.arange(4)), "onto itself")
    os.symlink(folder / "nowhere", folder / "link.npy")
    refused("is there already", "convert", folder / "a.npy", folder / "link.npy")
    np.savez(folder / "two.npz", x=np.arange(2), y=np.arange(3))
    refused("holds one array", "convert", folder / "two.npz", folder / "c.npy")
    refused("no array is named", "convert", folder / "two.npz", folder / "c.npy", "--tensor", "z")
    refused("no array is named", "info", folder / "two.npz", "--tensor", "z")
    np.save(folder / "complex.npy", np.zeros(3, complex))
    for wanted, path in (("cannot be opened", folder / "none"), ("directory", folder),
                         ("c16", folder / "complex.npy"), ("a device", "/dev/null")):
        refused(wanted, "info", path)
        refused(wanted, "convert", path, folder / "c.npy")
    (folder / "cut.npy").write_bytes((folder / "a.npy").read_bytes()[:-3])
    refused("its header states", "info", folder / "cut.npy")
    np.savez_compressed(folder / "packed.npz", x=np.arange(1000))
    data = bytearray((folder / "packed.npz").read_bytes())
    data[200] ^= 0xff
    (folder / "packed.npz").write_bytes(data)
    refused("packed.npz", "info", folder / "packed.npz", "--json")
    for words in (("info",), ("info", "a", "b"), ("convert", "a"), ("convert", "a", "b.xyz"),
                  ("info", "a", "--raw", "f32"), ("info", "a", "--raw", "f99:3"),
                  ("info", "a", "--raw", "f32:3xx4"), ("info", "a", "--raw", "f32:3:big:little"),
                  ("info", "a", "--raw", "f32:3:1:2"), ("info", "a", "--raw", "f32:-1"),
                  ("info", "a", "--raw", "f32:3x?"), ("completion",), ("completion", "csh")):
        result = run(*words)
        check(result.returncode == 2 and result.stderr.count("\n") == 1, words, result)
    check(not [p for p in folder.iterdir() if p.suffix == ".part"], "a temporary file is left")


HOSTILE = (b"two\nlines", b"tab\tand\rreturn", b"\x1b[2J\x1b]0;title\x07", b"\xff\xfe\xc3",
           b"c1 \xc2\x9b1m", "to the left \u202eabc".encode(), b"\x7f")


def one_line(status, *arguments):
    """Whatever is in its words, what the command says is one line of visible characters."""
    result = subprocess.run([CALIPER.encode(), *arguments], capture_output=True, check=False)
    text = result.stderr.decode()  # strict: valid UTF-8
    check(result.returncode == status and text.endswith("\n") and text[:-1].isprintable(),
          arguments, result)
    return text


def test_hostile_words(folder):
    root = str(folder).encode()
    for word in HOSTILE:
        path = root + b"/" + word + b".npy"
        for command in (b"view", b"info", b"check"):
            one_line(1, command, path)
        one_line(1, b"convert", path, root + b"/x.npy")
        one_line(2, b"convert", root + b"/a.npy", root + b"/x." + word)
        one_line(2, word)
        one_line(2, b"--" + word)
        one_line(2, b"--size", word)
        one_line(2, b"--size=" + word)
        one_line(2, b"info", b"a", b"--raw", word)
        one_line(2, b"list", word)
        one_line(2, b"doctor", word)
        one_line(2, b"runs", word)
        one_line(2, b"completion", word)
        one_line(2, b"new", word)
        one_line(2, b"export", b"out.csv", word)
        one_line(2, b"export", word)
        one_line(1, b"import", b"tfevents", path, b"--data-dir", root)
        np.save(os.fsdecode(path), np.arange(3))
        one_line(1, b"info", path, b"--tensor", word)
        shown = subprocess.run([CALIPER.encode(), b"info", path], capture_output=True, check=True)
        lines = shown.stdout.decode().split("\n")
        check(len(lines) == 3 and all(line.isprintable() for line in lines), shown)
        with open(path, "r+b") as file:
            file.truncate(130)
        one_line(1, b"info", path)
        one_line(1, b"view", path + b"/x.npy")
        one_line(1, b"view", root)
        os.rename(path, root + b"/hostile.npy")
    deep = root + b"/" + b"\x01\xff" * 120  # its spelling is longer than a message may be
    check("No such file" in one_line(1, b"info", deep), deep)


def test_many_small_arrays(folder):
    """As in a model: each has its own answer."""
    many = {f"layers.{i}.weight": ("F32", np.full(3, i, np.float32)) for i in range(20000)}
    write_safetensors(folder / "many.safetensors", many)
    tensors = info(folder / "many.safetensors")["tensors"]
    check([t["max"] for t in tensors] == list(range(20000)), "many")


def test_broken_files():
    """The named seeds of the fuzzers: each breaks one rule of its format."""
    seeds = sorted(CORPUS.glob("formats_*/refused_*"))
    check(len(seeds) > 60, len(seeds), "seeds")
    for seed in seeds:
        refused(seed.name, "info", seed, "--json")


def test_raw(folder):
    array = np.arange(24, dtype=">i2").reshape(2, 3, 4)
    (folder / "bytes").write_bytes(b"headr" + array.tobytes() + b"!")
    wanted = answers(array) | {"name": ""}
    for layout in ("i16:2x3x4:5:big", "i16:2x3x4:big:5", "i16:?x3x4:5:big"):
        answer = info(folder / "bytes", "--raw", layout)
        check(answer["format"] == "raw" and answer["tensors"] == [wanted], layout, answer)
    swapped = info(folder / "bytes", "--raw", "i16:2x3x4:5:little")["tensors"][0]
    check(swapped["max"] == int(array.view("<i2").max()), swapped)
    refused("its header states", "info", folder / "bytes", "--raw", "i16:2x3x5:5")
    refused("more than 2^63", "info", folder / "bytes", "--raw", "i16:4294967296x4294967296")


def test_huge(folder):
    """20 GB, most of it a hole: the answer passes through a small block."""
    path = folder / "huge.npy"
    shape = (2500, 1000, 1000)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<i8", "fortran_order": False, "shape": shape})
        begin = file.tell()
        file.truncate(begin + 20_000_000_000)
        file.seek(begin + 19_999_999_992)
        file.write(b"\x07")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    tensor = info(path)["tensors"][0]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(tensor["shape"] == list(shape) and tensor["min"] == 0 and tensor["max"] == 7, tensor)
    check(peak < before + 200_000, "peak", peak, "KiB")
    print("20 GB: peak resident", peak, "KiB")


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # each result is flushed
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = pathlib.Path(name)
        test_npy(folder)
        test_library_samples()
        wide = test_unaligned_and_names(folder)
        test_convert(folder, wide)
        test_png(folder)
        test_refusals(folder)
        test_raw(folder)
        test_hostile_words(folder)
        test_many_small_arrays(folder)
        test_broken_files()
        test_huge(folder)
    print(f"{checks} checks")


main()
