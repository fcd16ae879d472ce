"""Event files written by hand, so that tests know every number in them: TensorBoard's records
(length, masked CRC-32C, bytes, masked CRC-32C) around protocol buffers."""
import struct

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


def write(path, rows=(), settings=None):
    """rows: (tag, step, value, wall). settings: {name: number or text}."""
    out = _record(b"\x09" + struct.pack("<d", 0.0) + _bytes(3, b"brain.Event:2"))
    for tag, step, value, wall in rows:
        out += _event(wall, step, _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    if settings is not None:
        pairs = b""
        for name, value in settings.items():
            kept = _bytes(3, value.encode()) if isinstance(value, str) else (
                b"\x11" + struct.pack("<d", value))
            pairs += _bytes(1, _bytes(1, name.encode()) + _bytes(2, kept))
        plugin = _bytes(1, b"hparams") + _bytes(2, _bytes(3, pairs))
        out += _event(rows[0][3] if rows else 1.0, 0,
                      _bytes(1, b"_hparams_/session_start_info") + _bytes(9, _bytes(1, plugin)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out)
