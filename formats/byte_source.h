/* formats/byte_source.h: where the bytes of a file come from: a descriptor or borrowed memory.
 *
 * Only files of formats/ and tests include it. Thread rule: reads of one source may run at the same
 * time; the replaceable pread is set while no reader runs. */
#ifndef FORMATS_BYTE_SOURCE_H
#define FORMATS_BYTE_SOURCE_H

#include "formats/array_error.h"

#include <sys/types.h>

typedef struct ByteSource {
    int fd;                /* owned; -1 when the bytes are in memory */
    const uint8_t *memory; /* borrowed */
    uint64_t size_bytes;   /* when it was opened */
    bool seeks;            /* the descriptor's position is ours: holes are looked for, not read */
    const char *name;      /* for messages; borrowed from the ArrayFile */
    bool (*cancel)(void *user); /* NULL: never; else asked before every system call that reads */
    void *cancel_user;
} ByteSource;

enum { BYTE_SOURCE_PIECE_BYTES = 1 << 20 }; /* at most so many between two questions to `cancel` */

/* Asks `cancel`; true, with the error, where it answers so. For loops that compute beside reading.
 */
bool byte_source_is_cancelled(const ByteSource *source, ArrayError *error);

/* Reads exactly `size_bytes`. Interrupted and short reads go on; an end before that is an error
 * that says at which byte, also when the file has shrunk since it was opened. */
bool byte_source_read(const ByteSource *source, uint64_t offset, void *out, size_t size_bytes,
                      ArrayError *error);

/* Tests put a failing pread here; NULL restores the system's. */
typedef ssize_t (*ByteSourcePread)(int fd, void *out, size_t size_bytes, off_t offset);
void byte_source_set_pread(ByteSourcePread replacement);

/* Numbers stored byte by byte. */
uint16_t byte_load_u16le(const uint8_t *bytes);
uint32_t byte_load_u32le(const uint8_t *bytes);
uint64_t byte_load_u64le(const uint8_t *bytes);
uint32_t byte_load_u32be(const uint8_t *bytes);

#endif
