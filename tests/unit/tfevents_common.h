/* tests/unit/tfevents_common.h: event files from memory, and a writer of messages and frames that
 * is not the reader's.
 *
 * Included by tests/unit/tfevents_*.c. One thread. */
#ifndef TESTS_TFEVENTS_COMMON_H
#define TESTS_TFEVENTS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/tfevents.h"

typedef struct Bytes {
    uint8_t *at;
    size_t used, capacity;
} Bytes;

void bytes_add(Bytes *bytes, const void *more, size_t size);
void bytes_free(Bytes *bytes);
/* The whole file. */
Bytes bytes_read(const char *path);

/* Protocol buffers: a key and a number, a double, a float, bytes, another message. */
void proto_add_varint(Bytes *message, uint32_t number, uint64_t value);
void proto_add_double(Bytes *message, uint32_t number, double value);
void proto_add_float(Bytes *message, uint32_t number, float value);
void proto_add_bytes(Bytes *message, uint32_t number, const void *bytes, size_t size);
void proto_add_string(Bytes *message, uint32_t number, const char *text);
void proto_add_message(Bytes *message, uint32_t number, Bytes *inner); /* frees it */

/* One frame of a file. */
void frame_add(Bytes *file, const void *data, size_t size);
/* An event at `step` with one value in its summary, as a frame; frees the value. */
void event_add(Bytes *file, int64_t step, double wall_time_sec, Bytes *value);
/* A first-generation scalar. */
void scalar_add(Bytes *file, const char *tag, int64_t step, float value);
/* CRC-32C bit by bit, masked. */
uint32_t slow_masked_crc(const void *bytes, size_t size);

/* A reader over a memfd with these bytes; grows by memfd_append. */
typedef struct MemoryFile {
    int fd;
    TfeventsReader *reader;
} MemoryFile;

MemoryFile memory_open(const void *bytes, size_t size);
/* One that nobody writes any more. */
MemoryFile memory_open_final(const void *bytes, size_t size);
void memory_append(MemoryFile *file, const void *bytes, size_t size);
void memory_close(MemoryFile *file);
/* Reads all there is for now; how many items. */
uint64_t memory_drain(MemoryFile *file);

#endif
