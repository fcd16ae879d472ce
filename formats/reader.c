/* formats/reader.c: what the parsers share: entries, extents, limits, and reading an array's data.
 *
 * Thread rule: one ArrayFile by one thread at a time. */
#include "formats/reader.h"

#include "formats/inflate_stream.h"
#include "formats/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A copy as valid UTF-8: what is not becomes U+FFFD; a NUL, which would end the name, is spelled
 * \u0000. */
static char *copy_name(const char *name, size_t name_bytes)
{
    static const char nul[] = "\\u0000", bad[] = "\xef\xbf\xbd";
    size_t most = 1;
    for (size_t i = 0; i < name_bytes; i++)
        most += name[i] == '\0' ? sizeof nul - 1 : sizeof bad - 1;
    char *copy = malloc(most);
    size_t used = 0;
    for (size_t i = 0; copy != NULL && i < name_bytes;) {
        size_t length = utf8_length((const unsigned char *)name + i, name_bytes - i);
        if (length == 0 || name[i] == '\0') {
            const char *stands = name[i] == '\0' ? nul : bad;
            memcpy(copy + used, stands, strlen(stands));
            used += strlen(stands);
            i++;
            continue;
        }
        memcpy(copy + used, name + i, length);
        used += length;
        i += length;
    }
    if (copy != NULL)
        copy[used] = '\0';
    return copy;
}

ArrayEntry *reader_new_entry(ArrayFile *file, const char *name, size_t name_bytes,
                             ArrayError *error)
{
    if (file->count == file->capacity) {
        uint32_t capacity = file->capacity == 0 ? 1 : file->capacity + file->capacity / 2 + 1;
        ArrayEntry *entries = realloc(file->entries, capacity * sizeof *entries);
        if (entries == NULL) {
            array_error_fill(error, ARRAY_FAULT_MEMORY, file->name,
                             "no memory for the list of its arrays");
            return NULL;
        }
        file->entries = entries;
        memset(entries + file->capacity, 0, (capacity - file->capacity) * sizeof *entries);
        file->capacity = capacity;
    }
    ArrayEntry *entry = &file->entries[file->count];
    memset(entry, 0, sizeof *entry);
    entry->info.name = copy_name(name, name_bytes);
    if (entry->info.name == NULL) {
        array_error_fill(error, ARRAY_FAULT_MEMORY, file->name, "no memory for a name");
        return NULL;
    }
    return entry;
}

void reader_commit_entry(ArrayFile *file)
{
    file->count++;
}

bool reader_set_extents(const ArrayFile *file, ArrayEntry *entry, const char *what,
                        ArrayError *error)
{
    ArrayInfo *info = &entry->info;
    uint64_t element_bytes = array_dtype_size_bytes(info->dtype);
    uint64_t product = element_bytes;
    bool empty = false;
    for (uint32_t axis = 0; axis < info->rank; axis++)
        empty = empty || info->shape[axis] == 0;
    for (uint32_t step = 0; step < info->rank; step++) {
        uint32_t axis = info->fortran_order ? step : info->rank - 1 - step;
        entry->stride_bytes[axis] = empty ? 0 : product;
        if (info->shape[axis] > INT64_MAX || (!empty && product > INT64_MAX / info->shape[axis])) {
            return array_error_set(error, ARRAY_FAULT_OVERFLOW, file->name,
                                   "%s%sshape has %" PRIu64 " on axis %u and more than 2^63 bytes "
                                   "in all, wanted a size that can be",
                                   what, what[0] != '\0' ? ": " : "", info->shape[axis], axis);
        }
        if (!empty)
            product *= info->shape[axis];
    }
    info->size_bytes = empty ? 0 : product;
    info->element_count = info->size_bytes / element_bytes;
    return true;
}

bool reader_set_problem(ArrayFile *file, ArrayEntry *entry, const ArrayError *reason,
                        ArrayError *error)
{
    entry->info.fault = reason->fault;
    entry->info.dtype = ARRAY_DTYPE_NONE;
    entry->info.problem = strdup(reason->message);
    if (entry->info.problem == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory for the list of its arrays");
    }
    return true;
}

bool reader_check_limit(const ArrayFile *file, const ArrayEntry *entry, ArrayError *error)
{
    const char *name = entry->info.name;
    if (entry->info.size_bytes <= file->max_unpacked_bytes)
        return true;
    return array_error_set(error, ARRAY_FAULT_LIMIT, file->name,
                           "%s%sunpacks to %" PRIu64 " bytes, wanted at most %" PRIu64
                           " (store it uncompressed to read it by slices)",
                           name, name[0] != '\0' ? ": " : "", entry->info.size_bytes,
                           file->max_unpacked_bytes);
}

bool reader_check_unpacked(const ArrayFile *file, const ArrayEntry *entry, uint64_t unpacked_bytes,
                           uint64_t packed_bytes, ArrayError *error)
{
    const char *name = entry->info.name;
    if (unpacked_bytes / INFLATE_RATIO_MAX <= packed_bytes)
        return reader_check_limit(file, entry, error);
    return array_error_set(error, ARRAY_FAULT_RATIO, file->name,
                           "%s%sstates %" PRIu64 " bytes in %" PRIu64
                           " compressed ones, wanted at most %d times as many",
                           name, name[0] != '\0' ? ": " : "", unpacked_bytes, packed_bytes,
                           INFLATE_RATIO_MAX);
}

bool header_fetch(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error)
{
    if (!reader->fetch(reader, out, size_bytes, error))
        return false;
    reader->consumed_bytes += size_bytes;
    return true;
}

bool header_fetch_plain(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error)
{
    const ByteSource *source = reader->user;
    return byte_source_read(source, reader->begin + reader->consumed_bytes, out, size_bytes, error);
}

bool header_fetch_inflate(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error)
{
    InflateStream *stream = reader->user;
    size_t got;
    if (!inflate_stream_read(stream, out, size_bytes, &got, error))
        return false;
    if (got == size_bytes)
        return true;
    return array_error_set(error, ARRAY_FAULT_TRUNCATED, stream->source->name,
                           "%s%sunpacks to %" PRIu64 " bytes, wanted a header of at least %" PRIu64,
                           reader->what, reader->what[0] != '\0' ? ": " : "",
                           reader->consumed_bytes + got, reader->consumed_bytes + size_bytes);
}

bool reader_check_in_file(const ArrayFile *file, const ArrayEntry *entry, ArrayError *error)
{
    uint64_t left = file->source.size_bytes > entry->data_offset
                        ? file->source.size_bytes - entry->data_offset
                        : 0;
    if (entry->info.size_bytes <= left)
        return true;
    return array_error_set(error, ARRAY_FAULT_TRUNCATED, file->name,
                           "has %" PRIu64 " bytes of data, its header states %" PRIu64, left,
                           entry->info.size_bytes);
}

const ArrayEntry *reader_entry(const ArrayFile *file, uint32_t array, ArrayError *error)
{
    if (array >= file->count) {
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, file->name, "asked for array %u, it has %u",
                         array, file->count);
        return NULL;
    }
    const ArrayEntry *entry = &file->entries[array];
    if (entry->info.problem == NULL)
        return entry;
    if (error != NULL) {
        error->fault = entry->info.fault;
        memcpy(error->message, entry->info.problem, strlen(entry->info.problem) + 1);
    }
    return NULL;
}

bool array_file_prepare(ArrayFile *file, uint32_t array, const ArrayControl *control,
                        ArrayError *error)
{
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL)
        return false;
    if (entry->storage == ENTRY_STORAGE_PLAIN || entry->info.size_bytes == 0)
        return true;
    if (file->unpacked != NULL && file->unpacked_entry == array)
        return true;
    free(file->unpacked);
    file->unpacked = NULL;
    size_t size = (size_t)entry->info.size_bytes;
    uint8_t *unpacked = size == entry->info.size_bytes ? malloc(size) : NULL;
    if (unpacked == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory for the %" PRIu64 " bytes it unpacks to",
                               entry->info.size_bytes);
    }
    bool done = entry->storage == ENTRY_STORAGE_PNG
                    ? unpack_png(file, entry, unpacked, control, error)
                    : unpack_inflate(file, entry, unpacked, control, error);
    if (!done) {
        free(unpacked);
        return false;
    }
    file->unpacked = unpacked;
    file->unpacked_entry = array;
    return true;
}

bool reader_read_data(ArrayFile *file, uint32_t array, uint64_t offset, void *out,
                      size_t size_bytes, ArrayError *error)
{
    if (!array_file_prepare(file, array, NULL, error))
        return false;
    const ArrayEntry *entry = &file->entries[array];
    if (entry->storage == ENTRY_STORAGE_PLAIN)
        return byte_source_read(&file->source, entry->data_offset + offset, out, size_bytes, error);
    uint8_t *to = out;
    while (size_bytes > 0) {
        size_t piece = size_bytes < READER_BLOCK_BYTES ? size_bytes : (size_t)READER_BLOCK_BYTES;
        if (byte_source_is_cancelled(&file->source, error))
            return false;
        memcpy(to, file->unpacked + offset, piece);
        to += piece;
        offset += piece;
        size_bytes -= piece;
    }
    return true;
}

typedef int (*ComparePointers)(const void *a, const void *b);

/* Two sorted runs of `from`, from `left` and from `middle` on, into one of `to`. */
static bool merge_runs(const ArrayFile *file, const void **from, size_t left, size_t middle,
                       size_t right, const void **to, ComparePointers compare, ArrayError *error)
{
    enum { ASK_ITEMS = 4096 };
    size_t a = left, b = middle;
    for (size_t i = left; i < right; i++) {
        bool first = a < middle && (b == right || compare(from[a], from[b]) <= 0);
        to[i] = first ? from[a++] : from[b++];
        if (i % ASK_ITEMS == 0 && byte_source_is_cancelled(&file->source, error))
            return false;
    }
    return true;
}

bool reader_sort(const ArrayFile *file, const void **items, size_t count, ComparePointers compare,
                 ArrayError *error)
{
    const void **spare = malloc((count + 1) * sizeof(const void *));
    const void **from = items, **to = spare;
    bool good = true;
    if (spare == NULL)
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name, "no memory to sort its list");
    for (size_t run = 1; good && run < count; run *= 2) {
        for (size_t left = 0; good && left < count; left += 2 * run) {
            size_t middle = left + run < count ? left + run : count;
            size_t right = middle + run < count ? middle + run : count;
            good = merge_runs(file, from, left, middle, right, to, compare, error);
        }
        const void **next = from;
        from = to;
        to = next;
    }
    if (good && from != items)
        memcpy(items, from, count * sizeof(const void *));
    free(spare);
    return good;
}

bool reader_is_cancelled(const ArrayFile *file, const ArrayControl *control, ArrayError *error)
{
    if (control != NULL && control->cancel != NULL && control->cancel(control->user)) {
        array_error_fill(error, ARRAY_FAULT_CANCELLED, file->name, "reading stopped");
        return true;
    }
    return byte_source_is_cancelled(&file->source, error);
}

static bool skip_header(InflateStream *stream, const ArrayEntry *entry, uLong *crc,
                        ArrayError *error)
{
    uint8_t scratch[4096];
    uint64_t left = entry->data_offset;
    while (left > 0) {
        size_t step = left < sizeof scratch ? (size_t)left : sizeof scratch, got;
        if (!inflate_stream_read(stream, scratch, step, &got, error))
            return false;
        *crc = crc32(*crc, scratch, (uInt)got);
        if (got < step) {
            return array_error_set(error, ARRAY_FAULT_TRUNCATED, stream->source->name,
                                   "compressed data ends inside its header");
        }
        left -= step;
    }
    return true;
}

/* The data is all there: now it must also end, with the right checksum. */
static bool check_end(ArrayFile *file, const ArrayEntry *entry, InflateStream *stream, uLong crc,
                      ArrayError *error)
{
    uint8_t extra;
    size_t got;
    if (!inflate_stream_read(stream, &extra, 1, &got, error))
        return false;
    if (got != 0) {
        return array_error_set(error, ARRAY_FAULT_TRAILING, file->name,
                               "%s: unpacks to more than the %" PRIu64 " bytes its header states",
                               entry->info.name, entry->data_offset + entry->info.size_bytes);
    }
    if (!entry->gzip && crc != entry->crc32) {
        return array_error_set(error, ARRAY_FAULT_COMPRESSED, file->name,
                               "%s: checksum is %08lx, wanted %08" PRIx32, entry->info.name, crc,
                               entry->crc32);
    }
    return true;
}

bool unpack_inflate(ArrayFile *file, const ArrayEntry *entry, uint8_t *out,
                    const ArrayControl *control, ArrayError *error)
{
    InflateStream stream;
    if (!inflate_stream_open(&stream, &file->source, entry->packed_offset, entry->packed_bytes,
                             entry->gzip, error))
        return false;
    uLong crc = crc32(0, NULL, 0);
    bool good = skip_header(&stream, entry, &crc, error);
    uint64_t done = 0, total = entry->info.size_bytes;
    while (good && done < total) {
        if (reader_is_cancelled(file, control, error)) {
            good = false;
            break;
        }
        size_t step =
            total - done < READER_BLOCK_BYTES ? (size_t)(total - done) : (size_t)READER_BLOCK_BYTES;
        size_t got;
        good = inflate_stream_read(&stream, out + done, step, &got, error);
        if (good && got < step) {
            good = array_error_set(error, ARRAY_FAULT_TRUNCATED, file->name,
                                   "%s: unpacks to %" PRIu64 " bytes of data, wanted %" PRIu64,
                                   entry->info.name, done + got, total);
        }
        if (good && !entry->gzip)
            crc = crc32(crc, out + done, (uInt)got);
        done += step;
        if (good && control != NULL && control->progress != NULL)
            control->progress(control->user, (double)done / (double)total);
    }
    good = good && check_end(file, entry, &stream, crc, error);
    inflate_stream_close(&stream);
    return good;
}

static void swap_bytes(uint8_t *bytes, size_t count, size_t element_bytes)
{
    for (size_t i = 0; i < count; i++, bytes += element_bytes) {
        if (element_bytes == 2) {
            uint16_t value;
            memcpy(&value, bytes, 2);
            value = __builtin_bswap16(value);
            memcpy(bytes, &value, 2);
        } else if (element_bytes == 4) {
            uint32_t value;
            memcpy(&value, bytes, 4);
            value = __builtin_bswap32(value);
            memcpy(bytes, &value, 4);
        } else if (element_bytes == 8) {
            uint64_t value;
            memcpy(&value, bytes, 8);
            value = __builtin_bswap64(value);
            memcpy(bytes, &value, 8);
        }
    }
}

void reader_normalise(const ArrayInfo *info, void *elements, size_t count)
{
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint8_t *bytes = elements;
    if (info->dtype == ARRAY_DTYPE_BOOL) {
        for (size_t i = 0; i < count; i++)
            bytes[i] = bytes[i] != 0;
    }
    size_t element_bytes = array_dtype_size_bytes(info->dtype);
    if (info->big_endian != host_is_big && element_bytes > 1)
        swap_bytes(bytes, count, element_bytes);
}
