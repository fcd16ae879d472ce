/* formats/inflate_stream.c: zlib over a byte source.
 *
 * Thread rule: one stream by one thread. */
#include "formats/inflate_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_BYTES = 64 * 1024, FIRST_READ_BYTES = 1024 };

bool inflate_stream_open(InflateStream *stream, const ByteSource *source, uint64_t offset,
                         uint64_t size_bytes, bool gzip, ArrayError *error)
{
    memset(stream, 0, sizeof *stream);
    stream->source = source;
    stream->next = offset;
    stream->end = offset + size_bytes;
    stream->read_bytes = FIRST_READ_BYTES;
    stream->gzip = gzip;
    stream->input = malloc(INPUT_BYTES);
    int window_bits = gzip ? 15 + 16 : -15;
    if (stream->input == NULL || inflateInit2(&stream->zlib, window_bits) != Z_OK) {
        inflate_stream_close(stream);
        return array_error_set(error, ARRAY_FAULT_MEMORY, source->name,
                               "no memory to unpack compressed data");
    }
    stream->started = true;
    return true;
}

void inflate_stream_close(InflateStream *stream)
{
    if (stream->started)
        inflateEnd(&stream->zlib);
    stream->started = false;
    free(stream->input);
    stream->input = NULL;
}

static bool refill(InflateStream *stream, ArrayError *error)
{
    uint64_t left = stream->end - stream->next;
    size_t size = left < stream->read_bytes ? (size_t)left : stream->read_bytes;
    if (!byte_source_read(stream->source, stream->next, stream->input, size, error))
        return false;
    stream->next += size;
    stream->zlib.next_in = stream->input;
    stream->zlib.avail_in = (uInt)size;
    if (stream->read_bytes < INPUT_BYTES)
        stream->read_bytes *= 2;
    return true;
}

/* After one gzip member: another may follow at once. As gzip does, zero bytes after the last one
 * are padding; anything else there is refused. */
static bool begin_next_member(InflateStream *stream, ArrayError *error)
{
    for (;;) {
        if (stream->zlib.avail_in == 0) {
            if (stream->next == stream->end) {
                stream->ended = true;
                return true;
            }
            if (!refill(stream, error))
                return false;
            continue;
        }
        if (*stream->zlib.next_in == 0x1f)
            break;
        if (*stream->zlib.next_in != 0) {
            return array_error_set(error, ARRAY_FAULT_TRAILING, stream->source->name,
                                   "has byte 0x%02x after the end of its gzip data, wanted the "
                                   "end or another gzip member",
                                   *stream->zlib.next_in);
        }
        stream->zlib.next_in++;
        stream->zlib.avail_in--;
    }
    inflateReset(&stream->zlib);
    return true;
}

static bool stream_failed(const InflateStream *stream, int status, ArrayError *error)
{
    if (status == Z_MEM_ERROR) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, stream->source->name,
                               "no memory to unpack compressed data");
    }
    const char *reason = stream->zlib.msg != NULL ? stream->zlib.msg : "unusable stream";
    return array_error_set(error, ARRAY_FAULT_COMPRESSED, stream->source->name,
                           "damaged compressed data near byte %" PRIu64 ": %s",
                           stream->next - stream->zlib.avail_in, reason);
}

bool inflate_stream_read(InflateStream *stream, void *out, size_t size_bytes, size_t *got,
                         ArrayError *error)
{
    enum { ONE_CALL_BYTES = 1 << 30 }; /* zlib counts in 32 bits */
    *got = 0;
    while (*got < size_bytes && !stream->ended) {
        if (stream->zlib.avail_in == 0) {
            if (stream->next == stream->end) {
                return array_error_set(error, ARRAY_FAULT_TRUNCATED, stream->source->name,
                                       "compressed data ends at byte %" PRIu64
                                       " in the middle of the stream",
                                       stream->end);
            }
            if (!refill(stream, error))
                return false;
        }
        size_t room = size_bytes - *got;
        uInt step = room > ONE_CALL_BYTES ? (uInt)ONE_CALL_BYTES : (uInt)room;
        stream->zlib.next_out = (Bytef *)out + *got;
        stream->zlib.avail_out = step;
        int status = inflate(&stream->zlib, Z_NO_FLUSH);
        *got += step - stream->zlib.avail_out;
        if (status == Z_STREAM_END) {
            if (!stream->gzip)
                stream->ended = true;
            else if (!begin_next_member(stream, error))
                return false;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return stream_failed(stream, status, error);
        }
    }
    return true;
}
