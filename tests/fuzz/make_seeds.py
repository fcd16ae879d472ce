#!/usr/bin/python3
"""Makes the named seeds of the corpora of formats/: files that break one rule each. `refused_*` has to
be refused by every reader of it (tests/e2e/test_array_command.py asks `caliper info`). The outputs are
checked in; only a change of this script needs a run."""
import gzip
import io
import json
import pathlib
import struct
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(parser, name, data):
    (CORPUS / f"formats_{parser}" / name).write_bytes(data)


def safetensors(name, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    write("safetensors", name, struct.pack("<Q", len(text) if length is None else length) + text
          + data)


def tensor(begin, end, shape=(2,), dtype="U8"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def npy(header, data=b"", length=None):
    text = header.encode() + b" " * (-(11 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text) if length is None else length) + text \
        + data


def good_npy(shape="(2,)", data=b"ab"):
    return npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}", data)


def make_safetensors():
    good = tensor(0, 2)
    safetensors("refused_header_past_the_file", {"a": good}, b"ab", length=1000)
    safetensors("refused_header_of_2_to_63", {"a": good}, b"ab", length=2**63)
    safetensors("refused_offsets_reversed", {"a": tensor(2, 0)}, b"ab")
    safetensors("refused_offsets_negative", {"a": tensor(-2, 0)}, b"ab")
    safetensors("refused_offsets_overlap", {"a": tensor(0, 2), "b": tensor(1, 3)}, b"abc")
    safetensors("refused_offsets_same", {"a": tensor(0, 2), "b": tensor(0, 2)}, b"ab")
    safetensors("refused_offsets_hole", {"a": tensor(0, 2), "b": tensor(3, 5)}, b"abcde")
    safetensors("refused_bytes_left_over", {"a": good}, b"abc")
    safetensors("refused_offsets_past_the_end", {"a": tensor(0, 9, (9,))}, b"ab")
    safetensors("refused_offsets_wrap", {"a": tensor(2**63 - 1, 2**63 - 1, (0,))}, b"")
    one = json.dumps(good)
    safetensors("refused_name_twice", f'{{"a":{one},"a":{one}}}'.encode(), b"ab")
    safetensors("refused_key_twice", b'{"a":{"dtype":"U8","dtype":"U8","shape":[2],'
                b'"data_offsets":[0,2]}}', b"ab")
    safetensors("refused_metadata_twice", b'{"__metadata__":{},"__metadata__":{}}')
    safetensors("refused_nested_arrays", b'{"a":' + b"[" * 10000 + b"]" * 10000 + b"}")
    safetensors("refused_nested_objects", b'{"a":' * 10000 + b"1" + b"}" * 10000)
    safetensors("refused_nested_shape",
                b'{"a":{"dtype":"U8","shape":' + b"[" * 10000 + b"]" * 10000 + b"}}")
    safetensors("refused_product_wraps_to_2", {"a": tensor(0, 2, (2**63, 2, 2))}, b"ab")
    safetensors("refused_product_wraps", {"a": tensor(0, 0, (2**32, 2**32))}, b"")
    safetensors("refused_shape_of_2_to_64", {"a": tensor(0, 2, (2**64 + 2,))}, b"ab")
    safetensors("refused_sizes_disagree", {"a": tensor(0, 2, (3,))}, b"ab")
    safetensors("refused_fraction", b'{"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}}',
                b"ab")
    safetensors("unaligned", {"a": tensor(0, 1, (1,)), "b": tensor(1, 9, (1,), "F64"),
                              "c": tensor(9, 13, (1,), "F32")}, bytes(13))
    safetensors("names", {"\u6df1\u5c64\U0001f9e0": tensor(0, 1, (1,)),
                          "": tensor(1, 2, (1,))}, b"ab")


def make_npy():
    write("npy", "refused_header_past_the_file", npy("{'descr': '|u1'", length=60000))
    write("npy", "refused_product_wraps", good_npy("(4294967296, 4294967296)"))
    write("npy", "refused_product_wraps_to_2", good_npy("(9223372036854775808, 2, 2)"))
    write("npy", "refused_extent_negative", good_npy("(-2,)"))
    write("npy", "refused_nested", good_npy("(" * 10000 + ")" * 10000))
    write("npy", "refused_nested_type",
          npy("{'descr': " + "[" * 10000 + "]" * 10000 + ", 'fortran_order': False, 'shape': (2,)}"))
    write("npy", "refused_key_twice",
          npy("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", b"ab"))
    write("npy", "refused_33_axes", good_npy("(" + "1, " * 33 + ")"))
    write("npy", "refused_truncated", good_npy("(3,)"))


def zip_of(data=None, method=zipfile.ZIP_STORED, names=("a.npy",)):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), data or good_npy(), method)
    return bytearray(file.getvalue())


def patched(data, signature, offset, value, size=4):
    at = data.index(signature) + offset
    data[at:at + size] = value.to_bytes(size, "little")
    return data


def make_npz():
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        # The directory lies, then the local header, then both; too much, too little, all ones.
        for what, value in (("more", 5000), ("less", 3), ("most", 0xfffffffe)):
            for field, central, local in (("packed", 20, 18), ("unpacked", 24, 22)):
                data = patched(zip_of(method=method), b"PK\1\2", central, value)
                write("npz", f"refused_{name}_{field}_{what}", bytes(data))
                data = patched(data, b"PK\3\4", local, value)
                write("npz", f"refused_{name}_{field}_{what}_twice", bytes(data))
    write("npz", "refused_offset_past_the_file", bytes(patched(zip_of(), b"PK\1\2", 42, 10**6)))
    write("npz", "refused_checksum",
          bytes(patched(zip_of(method=zipfile.ZIP_DEFLATED), b"PK\1\2", 16, 0x12345678)))
    write("npz", "refused_directory_before_the_file", bytes(patched(zip_of(), b"PK\5\6", 16, 10**6)))
    write("npz", "refused_more_members_than_there_are", bytes(patched(zip_of(), b"PK\5\6", 10, 9, 2)))
    same = zip_of(names=("a.npy", "b.npy"))
    at = same.rindex(b"PK\1\2") + 42
    same[at:at + 4] = bytes(4)
    write("npz", "refused_members_in_one_place", bytes(same))
    bomb = good_npy("(1099511627776,)", b"\0" * 1000)
    write("npz", "refused_bomb", bytes(zip_of(bomb, zipfile.ZIP_DEFLATED)))


def make_others():
    idx = bytes([0, 0, 8, 4]) + struct.pack(">4I", 2**31, 2**31, 2**31, 2**31)
    write("idx", "refused_product_wraps", idx + b"ab")
    write("idx", "refused_255_axes", bytes([0, 0, 8, 255]) + struct.pack(">I", 1) * 255 + b"a")
    write("idx", "refused_longer_than_stated", bytes([0, 0, 8, 1]) + struct.pack(">I", 2) + b"abc")
    write("idx", "refused_shorter_than_stated", bytes([0, 0, 8, 1]) + struct.pack(">I", 4) + b"abc")
    data = bytearray(gzip.compress(good_npy("(200,)", bytes(200)), mtime=0))
    write("gz", "refused_length_lies", bytes(data[:-4] + struct.pack("<I", 7)))
    write("gz", "refused_checksum", bytes(data[:-8] + struct.pack("<I", 7) + data[-4:]))
    write("gz", "refused_cut", bytes(data[:-12]))
    write("gz", "refused_shorter_than_stated", gzip.compress(good_npy("(200,)", b"ab"), mtime=0))
    write("gz", "refused_longer_than_stated", gzip.compress(good_npy("(2,)", b"abc"), mtime=0))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0))
    rows = zlib.compress(bytes(20))
    start = b"\x89PNG\r\n\x1a\n"
    write("png", "refused_rows_missing", start + head + chunk(b"IDAT", zlib.compress(bytes(5)))
          + chunk(b"IEND", b""))
    write("png", "refused_side_of_2_to_31", start + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", 2**31, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    write("png", "refused_chunk_past_the_file", start + head + struct.pack(">I", 10**6) + b"IDAT"
          + rows)


make_safetensors()
make_npy()
make_npz()
make_others()
