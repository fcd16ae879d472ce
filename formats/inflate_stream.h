/* formats/inflate_stream.h: unpacks a range of a file, piece by piece, from its beginning.
 *
 * Only files of formats/ include it. Thread rule: one stream by one thread. */
#ifndef FORMATS_INFLATE_STREAM_H
#define FORMATS_INFLATE_STREAM_H

#include "formats/byte_source.h"

#include <zlib.h>

/* No deflate stream holds more than 1032 bytes in one (258 bytes in two bits). */
enum { INFLATE_RATIO_MAX = 1032 };

typedef struct InflateStream {
    const ByteSource *source;
    uint64_t next, end; /* what is still to be read of the packed range */
    size_t read_bytes;  /* size of the next read: small first, headers need little */
    bool gzip;          /* gzip members one after another; otherwise one bare deflate stream */
    bool ended;
    bool started; /* zlib's state is there */
    z_stream zlib;
    uint8_t *input; /* owned */
} InflateStream;

/* On failure there is nothing to close; closing is harmless all the same. */
bool inflate_stream_open(InflateStream *stream, const ByteSource *source, uint64_t offset,
                         uint64_t size_bytes, bool gzip, ArrayError *error);

/* Unpacks up to `size_bytes`; fewer only at the end of the data, whose checksum (gzip) is then
 * proven. False when the data is damaged or ends early. */
bool inflate_stream_read(InflateStream *stream, void *out, size_t size_bytes, size_t *got,
                         ArrayError *error);

void inflate_stream_close(InflateStream *stream);

#endif
