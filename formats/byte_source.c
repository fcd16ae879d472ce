/* formats/byte_source.c: exact reads from a descriptor or from memory.
 *
 * Thread rule: see the header. */
#include "formats/byte_source.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ByteSourcePread read_at = pread;

void byte_source_set_pread(ByteSourcePread replacement)
{
    read_at = replacement != NULL ? replacement : pread;
}

bool byte_source_is_cancelled(const ByteSource *source, ArrayError *error)
{
    if (source->cancel == NULL || !source->cancel(source->cancel_user))
        return false;
    array_error_fill(error, ARRAY_FAULT_CANCELLED, source->name, "reading stopped");
    return true;
}

/* Whether all of a range lies in a hole of a file that still reaches to its end: zeros, without
 * filling the page cache with them. */
static bool is_hole(const ByteSource *source, uint64_t offset, size_t size_bytes)
{
    enum { WORTH_BYTES = 64 * 1024 };
    struct stat status;
    if (!source->seeks || size_bytes < WORTH_BYTES)
        return false;
    off_t data = lseek(source->fd, (off_t)offset, SEEK_DATA);
    if (data >= 0 ? (uint64_t)data < offset + size_bytes : errno != ENXIO)
        return false;
    return fstat(source->fd, &status) == 0 && (uint64_t)status.st_size >= offset + size_bytes;
}

static bool read_descriptor(const ByteSource *source, uint64_t offset, uint8_t *out,
                            size_t size_bytes, ArrayError *error)
{
    size_t done = 0;
    if (is_hole(source, offset, size_bytes)) {
        memset(out, 0, size_bytes);
        return true;
    }
    while (done < size_bytes) {
        size_t want = size_bytes - done;
        if (byte_source_is_cancelled(source, error))
            return false;
        ssize_t got = read_at(source->fd, out + done, want, (off_t)(offset + done));
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return array_error_set(error, ARRAY_FAULT_READ, source->name,
                                   "reading %zu bytes at byte %" PRIu64 " failed: %s", want,
                                   offset + done, strerror(errno));
        }
        if (got == 0) {
            return array_error_set(error, ARRAY_FAULT_TRUNCATED, source->name,
                                   "ends at byte %" PRIu64 " (it had %" PRIu64
                                   " when opened), wanted %zu more",
                                   offset + done, source->size_bytes, size_bytes - done);
        }
        done += (size_t)got;
    }
    return true;
}

bool byte_source_read(const ByteSource *source, uint64_t offset, void *out, size_t size_bytes,
                      ArrayError *error)
{
    if (offset > source->size_bytes || size_bytes > source->size_bytes - offset) {
        return array_error_set(error, ARRAY_FAULT_TRUNCATED, source->name,
                               "has %" PRIu64 " bytes, wanted %zu at byte %" PRIu64,
                               source->size_bytes, size_bytes, offset);
    }
    uint8_t *to = out;
    while (size_bytes > 0) {
        size_t piece =
            size_bytes < BYTE_SOURCE_PIECE_BYTES ? size_bytes : (size_t)BYTE_SOURCE_PIECE_BYTES;
        if (byte_source_is_cancelled(source, error))
            return false;
        if (source->fd < 0)
            memcpy(to, source->memory + offset, piece);
        else if (!read_descriptor(source, offset, to, piece, error))
            return false;
        to += piece;
        offset += piece;
        size_bytes -= piece;
    }
    return true;
}

uint16_t byte_load_u16le(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

uint32_t byte_load_u32le(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t byte_load_u64le(const uint8_t *bytes)
{
    return (uint64_t)byte_load_u32le(bytes) | (uint64_t)byte_load_u32le(bytes + 4) << 32;
}

uint32_t byte_load_u32be(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[0] << 24;
}
