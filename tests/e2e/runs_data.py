"""Event files written by hand, so that tests know every number in them: TensorBoard's records
(length, masked CRC-32C, bytes, masked CRC-32C) around protocol buffers. Both generations: values
in their own fields, and tensors with a plugin's name beside them."""
import struct
import zlib

_TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    _TABLE.append(n)


def _masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(value):
    out = b""
    value &= (1 << 64) - 1
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if value == 0:
            return out


def _bytes(field, data):
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _record(data):
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _event(wall, step, value):
    return _record(b"\x09" + struct.pack("<d", wall) + b"\x10" + _varint(step) +
                   _bytes(5, _bytes(1, value)))


def _packed(field, numbers):
    return _bytes(field, struct.pack(f"<{len(numbers)}d", *numbers))


def _double(field, value):
    return _varint(field << 3 | 1) + struct.pack("<d", value)


# ---- One value each, as an event ----

def scalar(tag, step, wall, value):
    return _event(wall, step, _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def scalar_tensor(tag, step, wall, value):
    """As the second generation writes it: TensorProto {dtype 1, shape 2, float_val 5}."""
    tensor = b"\x08\x01" + _bytes(2, b"") + _bytes(5, struct.pack("<f", value))
    metadata = _bytes(1, _bytes(1, b"scalars"))
    return _event(wall, step, _bytes(1, tag.encode()) + _bytes(8, tensor) + _bytes(9, metadata))


def histogram(tag, step, wall, limits, counts, least=None, greatest=None):
    """limits: the right end of each bucket."""
    width = limits[1] - limits[0] if len(limits) > 1 else 1.0
    least = limits[0] - width if least is None else least
    greatest = limits[-1] if greatest is None else greatest
    middles = [limit - width / 2 for limit in limits]
    total = sum(counts)
    made = (_double(1, least) + _double(2, greatest) + _double(3, total) +
            _double(4, sum(m * c for m, c in zip(middles, counts))) +
            _double(5, sum(m * m * c for m, c in zip(middles, counts))) +
            _packed(6, limits) + _packed(7, counts))
    return _event(wall, step, _bytes(1, tag.encode()) + _bytes(5, made))


def png(rows, channels=3):
    """rows: bytes, packed pixels of 8 bits."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    header = struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), 8,
                         {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) +
            chunk(b"IEND", b""))


def image(tag, step, wall, rows, channels=3):
    made = (b"\x08" + _varint(len(rows)) + b"\x10" + _varint(len(rows[0]) // channels) +
            b"\x18" + _varint(channels) + _bytes(4, png(rows, channels)))
    return _event(wall, step, _bytes(1, tag.encode()) + _bytes(4, made))


def text(tag, step, wall, *said):
    """TensorProto {dtype 7, shape 2, string_val 8}; each of `said` is text or bytes."""
    tensor = b"\x08\x07" + _bytes(2, b"")
    for one in said:
        tensor += _bytes(8, one.encode() if isinstance(one, str) else one)
    metadata = _bytes(1, _bytes(1, b"text"))
    return _event(wall, step, _bytes(1, tag.encode()) + _bytes(8, tensor) + _bytes(9, metadata))


def settings(wall, values):
    """values: {name: number or text}."""
    pairs = b""
    for name, value in values.items():
        kept = _bytes(3, value.encode()) if isinstance(value, str) else _double(2, value)
        pairs += _bytes(1, _bytes(1, name.encode()) + _bytes(2, kept))
    plugin = _bytes(1, b"hparams") + _bytes(2, _bytes(3, pairs))
    return _event(wall, 0,
                  _bytes(1, b"_hparams_/session_start_info") + _bytes(9, _bytes(1, plugin)))


# ---- Files ----

def version():
    return _record(_double(1, 0.0) + _bytes(3, b"brain.Event:2"))


def write_events(path, events, given=None, wall=1.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(version() + b"".join(events) +
                     (settings(wall, given) if given is not None else b""))


def write(path, rows=(), given=None):
    """rows: (tag, step, value, wall). given: {name: number or text}."""
    write_events(path, [scalar(tag, step, wall, value) for tag, step, value, wall in rows], given,
                 rows[0][3] if rows else 1.0)
