/* formats/tfevents_records.c: frames, their checks, and the search behind damage. */
#include "formats/tfevents_records.h"

#include "formats/crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 12, FOOTER_BYTES = 4, WINDOW_BYTES = 256 << 10 };
static const uint64_t default_max_record_bytes = UINT64_C(256) << 20;

void tfevents_records_begin(TfeventsRecords *records, int fd, uint64_t max_record_bytes)
{
    *records = (TfeventsRecords){
        .fd = fd,
        .max_record_bytes = max_record_bytes != 0 ? max_record_bytes : default_max_record_bytes};
}

void tfevents_records_finish(TfeventsRecords *records)
{
    free(records->window);
    records->window = NULL;
    records->window_used = records->window_capacity = 0;
}

static uint64_t file_size(const TfeventsRecords *records)
{
    struct stat status;
    return fstat(records->fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

uint64_t tfevents_records_pending_bytes(const TfeventsRecords *records)
{
    uint64_t size = file_size(records);
    uint64_t from = records->is_searching ? records->search_began : records->offset;
    return size > from ? size - from : 0;
}

/* ---- The window ---- */

/* Fills the window from `offset` on with at least `wanted` bytes where the file has them: 1 done, 0
 * the file is shorter, -1 with errno. */
static int fill_window(TfeventsRecords *records, uint64_t offset, size_t wanted)
{
    size_t capacity = wanted > WINDOW_BYTES ? wanted : WINDOW_BYTES;
    if (capacity > records->window_capacity) {
        uint8_t *grown = realloc(records->window, capacity);
        if (grown == NULL) {
            errno = ENOMEM;
            return -1;
        }
        records->window = grown;
        records->window_capacity = capacity;
    }
    uint64_t end = records->window_offset + records->window_used;
    size_t kept = offset >= records->window_offset && offset < end ? (size_t)(end - offset) : 0;
    if (kept > 0)
        memmove(records->window, records->window + (offset - records->window_offset), kept);
    records->window_offset = offset;
    records->window_used = kept;
    while (records->window_used < wanted) {
        ssize_t got = pread(records->fd, records->window + records->window_used,
                            records->window_capacity - records->window_used,
                            (off_t)(offset + records->window_used));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            return 0;
        records->window_used += (size_t)got;
    }
    return 1;
}

/* Bytes at `offset`: 1 with `out`, 0 the file ends before, -1 with errno. */
static int view(TfeventsRecords *records, uint64_t offset, size_t wanted, const uint8_t **out)
{
    uint64_t end = records->window_offset + records->window_used;
    bool inside = offset >= records->window_offset && offset <= end && end - offset >= wanted;
    int filled = inside ? 1 : fill_window(records, offset, wanted);
    if (filled == 1)
        *out = records->window + (offset - records->window_offset);
    return filled;
}

/* ---- One frame ---- */

static uint64_t read_fixed(const uint8_t *at, size_t size_bytes)
{
    uint64_t value = 0;
    for (size_t i = size_bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

typedef enum Frame {
    FRAME_WHOLE,
    FRAME_NO_HEADER,  /* the length's CRC is wrong */
    FRAME_BAD_DATA,   /* only the data's is */
    FRAME_TOO_LARGE,  /* longer than is read; all there */
    FRAME_INCOMPLETE, /* the file ends in it */
    FRAME_FAILED      /* with errno */
} Frame;

/* `budget`: bytes that may be checked, less those that were; NULL: any number. A frame that the
 * budget does not cover counts as FRAME_BAD_DATA. */
static Frame look_at_frame(TfeventsRecords *records, uint64_t offset, uint64_t *length,
                           uint64_t *budget, const uint8_t **data)
{
    const uint8_t *at = NULL;
    int there = view(records, offset, HEADER_BYTES, &at);
    if (there <= 0)
        return there < 0 ? FRAME_FAILED : FRAME_INCOMPLETE;
    if (crc32c_masked(at, 8) != (uint32_t)read_fixed(at + 8, 4))
        return FRAME_NO_HEADER;
    *length = read_fixed(at, 8);
    uint64_t after = offset + HEADER_BYTES + FOOTER_BYTES;
    uint64_t size = file_size(records);
    if (after > size || *length > size - after)
        return FRAME_INCOMPLETE;
    if (*length > records->max_record_bytes)
        return FRAME_TOO_LARGE;
    if (budget != NULL && *length > *budget)
        return FRAME_BAD_DATA;
    if (budget != NULL)
        *budget -= *length;
    size_t bytes = (size_t)*length;
    there = view(records, offset, HEADER_BYTES + bytes + FOOTER_BYTES, &at);
    if (there <= 0) /* 0: it became shorter meanwhile */
        return there < 0 ? FRAME_FAILED : FRAME_INCOMPLETE;
    *data = at + HEADER_BYTES;
    return crc32c_masked(*data, bytes) == (uint32_t)read_fixed(*data + bytes, 4) ? FRAME_WHOLE
                                                                                 : FRAME_BAD_DATA;
}

/* ---- The search ---- */

static void begin_search(TfeventsRecords *records, uint64_t from)
{
    records->is_searching = true;
    records->search_began = records->offset;
    records->offset = from;
    records->damaged++;
}

/* Finds the next whole frame and stays at it. Without one stays where one could still begin, once
 * the file has grown. */
static TfeventsStep search(TfeventsRecords *records)
{
    uint64_t budget = default_max_record_bytes;
    uint64_t first_incomplete = UINT64_MAX;
    uint64_t size = file_size(records);
    uint64_t offset = records->offset;
    for (; offset < size && size - offset >= HEADER_BYTES; offset++) {
        uint64_t length = 0;
        const uint8_t *data = NULL;
        budget += 8;
        Frame frame = look_at_frame(records, offset, &length, &budget, &data);
        if (frame == FRAME_FAILED)
            return TFEVENTS_STEP_FAILED;
        if (frame == FRAME_INCOMPLETE && first_incomplete == UINT64_MAX)
            first_incomplete = offset;
        if (frame != FRAME_WHOLE)
            continue;
        records->damaged_bytes += offset - records->search_began;
        records->offset = offset;
        records->is_searching = false;
        return TFEVENTS_STEP_RECORD;
    }
    records->offset = first_incomplete < offset ? first_incomplete : offset;
    return TFEVENTS_STEP_END;
}

/* What was at the end is read again when there is more. */
static TfeventsStep at_end(TfeventsRecords *records)
{
    records->window_used = 0;
    return TFEVENTS_STEP_END;
}

/* The file ends in this frame for good: bytes of it may be missing, and whole frames lie in it.
 * Where there are none it stays as it is, a frame that was never ended. */
static TfeventsStep search_in_last(TfeventsRecords *records)
{
    uint64_t offset = records->offset, damaged = records->damaged;
    begin_search(records, offset + 1);
    TfeventsStep found = search(records);
    if (found == TFEVENTS_STEP_END) {
        records->offset = offset;
        records->damaged = damaged;
        records->is_searching = false;
        return at_end(records);
    }
    return found;
}

TfeventsStep tfevents_records_next(TfeventsRecords *records, const uint8_t **data,
                                   size_t *size_bytes)
{
    for (;;) {
        uint64_t length = 0;
        TfeventsStep found;
        if (records->is_searching) {
            found = search(records);
            if (found != TFEVENTS_STEP_RECORD)
                return found == TFEVENTS_STEP_END ? at_end(records) : found;
        }
        Frame frame = look_at_frame(records, records->offset, &length, NULL, data);
        uint64_t after = records->offset + HEADER_BYTES + length + FOOTER_BYTES;
        switch (frame) {
        case FRAME_WHOLE:
            *size_bytes = (size_t)length;
            records->offset = after;
            records->records++;
            return TFEVENTS_STEP_RECORD;
        case FRAME_INCOMPLETE:
            if (!records->is_final)
                return at_end(records);
            found = search_in_last(records);
            if (found != TFEVENTS_STEP_RECORD)
                return found;
            break;
        case FRAME_FAILED:
            return TFEVENTS_STEP_FAILED;
        case FRAME_TOO_LARGE:
            records->too_large++;
            records->offset = after;
            break;
        case FRAME_BAD_DATA:
            begin_search(records, records->offset + HEADER_BYTES);
            break;
        case FRAME_NO_HEADER:
            begin_search(records, records->offset + 1);
            break;
        }
    }
}
