/* formats/gzip.c: a gzip file with an .npy or IDX array inside.
 *
 * Opening unpacks the array's header and no more. Thread rule: as ArrayFile. */
#include "formats/inflate_stream.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <string.h>

typedef struct Sniffed {
    InflateStream stream;
    uint8_t start[READER_SNIFF_BYTES]; /* unpacked to decide the format, then handed out first */
    size_t size_bytes;
} Sniffed;

static bool fetch_after_sniff(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error)
{
    Sniffed *sniffed = reader->user;
    size_t from_start = 0;
    if (reader->consumed_bytes < sniffed->size_bytes) {
        from_start = sniffed->size_bytes - (size_t)reader->consumed_bytes;
        if (from_start > size_bytes)
            from_start = size_bytes;
        memcpy(out, sniffed->start + reader->consumed_bytes, from_start);
    }
    HeaderReader inner = {.user = &sniffed->stream,
                          .what = reader->what,
                          .consumed_bytes = reader->consumed_bytes + from_start};
    return from_start == size_bytes || header_fetch_inflate(&inner, (uint8_t *)out + from_start,
                                                            size_bytes - from_start, error);
}

static bool read_inner_header(ArrayFile *file, ArrayEntry *entry, Sniffed *sniffed,
                              ArrayError *error)
{
    HeaderReader reader = {.fetch = fetch_after_sniff,
                           .user = sniffed,
                           .what = "",
                           .limit_bytes = READER_NPY_HEADER_MAX};
    if (npy_has_signature(sniffed->start, sniffed->size_bytes)) {
        file->format = ARRAY_FORMAT_NPY;
        return npy_read_header(file, entry, &reader, error);
    }
    if (idx_has_signature(sniffed->start, sniffed->size_bytes)) {
        file->format = ARRAY_FORMAT_IDX;
        return idx_read_header(file, entry, &reader, error);
    }
    char excerpt[ARRAY_EXCERPT_BYTES];
    return array_error_set(error, ARRAY_FAULT_FORMAT, file->name,
                           "gzip data that unpacks to '%s', wanted an IDX or .npy array inside",
                           array_error_excerpt(sniffed->start, sniffed->size_bytes, excerpt));
}

bool parse_gzip(ArrayFile *file, ArrayError *error)
{
    Sniffed sniffed;
    uint64_t packed = file->source.size_bytes;
    ArrayEntry *entry = reader_new_entry(file, "", 0, error);
    file->gzip = true;
    if (entry == NULL ||
        !inflate_stream_open(&sniffed.stream, &file->source, 0, packed, true, error))
        return false;
    bool good = inflate_stream_read(&sniffed.stream, sniffed.start, sizeof sniffed.start,
                                    &sniffed.size_bytes, error) &&
                read_inner_header(file, entry, &sniffed, error);
    inflate_stream_close(&sniffed.stream);
    if (!good)
        return false;
    entry->storage = ENTRY_STORAGE_INFLATE;
    entry->gzip = true;
    entry->packed_bytes = packed;
    entry->info.compressed = true;
    uint64_t unpacked = entry->data_offset + entry->info.size_bytes;
    if (!reader_check_unpacked(file, entry, unpacked, packed, error))
        return false;
    reader_commit_entry(file);
    return true;
}
