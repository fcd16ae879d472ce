/* formats/protobuf.c: see the header. Every length is checked against what is left. */
#include "formats/protobuf.h"

#include <string.h>

enum { WIRE_GROUP_BEGIN = 3, WIRE_GROUP_END = 4, GROUP_DEPTH_MAX = 64 };

ProtoReader proto_reader(const void *bytes, size_t size_bytes)
{
    const uint8_t *at = bytes;
    return (ProtoReader){.at = at, .end = size_bytes > 0 ? at + size_bytes : at};
}

/* Seven bits a byte, the lowest first, at most ten bytes. False when it does not end. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    return false;
}

static uint64_t read_fixed(const uint8_t *at, size_t size_bytes)
{
    uint64_t value = 0;
    for (size_t i = size_bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool read_value(ProtoReader *reader, ProtoField *field)
{
    size_t left = (size_t)(reader->end - reader->at);
    size_t fixed = field->wire == PROTO_WIRE_FIXED64 ? 8 : 4;
    uint64_t length;
    switch (field->wire) {
    case PROTO_WIRE_VARINT:
        return read_varint(&reader->at, reader->end, &field->value);
    case PROTO_WIRE_FIXED64:
    case PROTO_WIRE_FIXED32:
        if (left < fixed)
            return false;
        field->value = read_fixed(reader->at, fixed);
        reader->at += fixed;
        return true;
    case PROTO_WIRE_BYTES:
        if (!read_varint(&reader->at, reader->end, &length) ||
            length > (uint64_t)(reader->end - reader->at))
            return false;
        field->bytes = reader->at;
        field->size_bytes = (size_t)length;
        reader->at += length;
        return true;
    }
    return false;
}

static bool damaged(ProtoReader *reader)
{
    reader->damaged = true;
    return false;
}

bool proto_next(ProtoReader *reader, ProtoField *field)
{
    int depth = 0; /* in groups */
    while (reader->at < reader->end && !reader->damaged) {
        uint64_t key = 0;
        *field = (ProtoField){.number = 0};
        if (!read_varint(&reader->at, reader->end, &key) || key >> 3 == 0 || key > UINT32_MAX)
            return damaged(reader);
        field->number = (uint32_t)(key >> 3);
        unsigned wire = (unsigned)(key & 7);
        if (wire == WIRE_GROUP_BEGIN || wire == WIRE_GROUP_END) {
            depth += wire == WIRE_GROUP_BEGIN ? 1 : -1;
            if (depth < 0 || depth > GROUP_DEPTH_MAX)
                return damaged(reader);
            continue;
        }
        field->wire = (ProtoWire)wire;
        if (wire > PROTO_WIRE_FIXED32 || !read_value(reader, field))
            return damaged(reader);
        if (depth == 0)
            return true;
    }
    return depth > 0 ? damaged(reader) : false;
}

bool proto_is(const ProtoField *field, uint32_t number, ProtoWire wire)
{
    return field->number == number && field->wire == wire;
}

double proto_double(const ProtoField *field)
{
    double value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}

float proto_float(const ProtoField *field)
{
    uint32_t bits = (uint32_t)field->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t size_of(ProtoWire wire)
{
    return wire == PROTO_WIRE_FIXED64 ? 8 : wire == PROTO_WIRE_FIXED32 ? 4 : 0;
}

bool proto_count(const ProtoField *field, ProtoWire wire, size_t *count)
{
    size_t position = 0, size = size_of(wire);
    uint64_t ignored;
    *count = 0;
    if (field->wire == wire) {
        *count = 1;
        return true;
    }
    if (field->wire != PROTO_WIRE_BYTES || wire == PROTO_WIRE_BYTES)
        return false;
    if (size > 0) {
        *count = field->size_bytes / size;
        return field->size_bytes % size == 0;
    }
    while (proto_number(field, wire, &position, &ignored))
        ++*count;
    return position == field->size_bytes;
}

bool proto_number(const ProtoField *field, ProtoWire wire, size_t *position, uint64_t *out)
{
    size_t size = size_of(wire);
    if (field->wire == wire) {
        *out = field->value;
        return (*position)++ == 0;
    }
    if (field->wire != PROTO_WIRE_BYTES || *position >= field->size_bytes)
        return false;
    const uint8_t *at = field->bytes + *position;
    if (size > 0) {
        if (field->size_bytes - *position < size)
            return false;
        *out = read_fixed(at, size);
        *position += size;
        return true;
    }
    if (!read_varint(&at, field->bytes + field->size_bytes, out))
        return false;
    *position = (size_t)(at - field->bytes);
    return true;
}
