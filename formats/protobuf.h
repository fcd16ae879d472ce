/* formats/protobuf.h: the wire format of protocol buffers, read field by field without a schema.
 *
 * Nothing is copied and nothing is allocated: a field of bytes points into the message. Only files
 * of formats/ and tests include it. One reader by one thread. */
#ifndef FORMATS_PROTOBUF_H
#define FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ProtoWire { /* the numbers of the format */
                         PROTO_WIRE_VARINT = 0,
                         PROTO_WIRE_FIXED64 = 1,
                         PROTO_WIRE_BYTES = 2, /* strings, messages, packed numbers */
                         PROTO_WIRE_FIXED32 = 5
} ProtoWire;

typedef struct ProtoReader {
    const uint8_t *at, *end;
    bool damaged; /* the message broke the format's rules at `at` */
} ProtoReader;

typedef struct ProtoField {
    uint32_t number;
    ProtoWire wire;
    uint64_t value;       /* of the number kinds, as its bits */
    const uint8_t *bytes; /* of PROTO_WIRE_BYTES */
    size_t size_bytes;
} ProtoField;

ProtoReader proto_reader(const void *bytes, size_t size_bytes);
/* The next field; groups, which nobody writes any more, are passed over. False at the end, and
 * where the message is damaged. */
bool proto_next(ProtoReader *reader, ProtoField *field);

/* Whether it is this field in this form. */
bool proto_is(const ProtoField *field, uint32_t number, ProtoWire wire);
double proto_double(const ProtoField *field); /* of FIXED64 */
float proto_float(const ProtoField *field);   /* of FIXED32 */

/* Numbers of a repeated field, which is written packed or one by one. `count` of them are in this
 * field; false when its form does not fit `wire`, the form of one number. */
bool proto_count(const ProtoField *field, ProtoWire wire, size_t *count);
/* The bits of the numbers of one field, in order: starts with *position 0; false at the end. */
bool proto_number(const ProtoField *field, ProtoWire wire, size_t *position, uint64_t *out);

#endif
