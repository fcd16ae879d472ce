/* formats/tfevents_records.h: the frames of a TensorBoard event file (the TFRecord format):
 *
 *     u64 length, u32 masked CRC-32C of those 8 bytes, the data, u32 masked CRC-32C of the data
 *
 * Where a CRC is wrong, that of a length or that of the data, the file is searched byte by byte for
 * the next place where both CRCs of a frame are right: behind a wrong length, and in wrong data
 * too, since bytes may be missing and other records lie there. So every whole record but the
 * damaged one comes in. A frame that the file ends in is not damage: its writer may be at it, and
 * reading goes on there when the file has grown; in a final file it is searched too. A search is
 * bounded: it computes CRCs over at most 256 MiB plus eight times the bytes that it passes.
 *
 * Only formats/tfevents*.c and tests include it. One object by one thread. */
#ifndef FORMATS_TFEVENTS_RECORDS_H
#define FORMATS_TFEVENTS_RECORDS_H

#include "formats/array_error.h"

#include <sys/types.h>

typedef struct TfeventsRecords {
    int fd;
    uint64_t max_record_bytes; /* of data; longer ones are passed over and counted */
    bool is_final;             /* nobody writes the file any more */
    uint64_t offset;           /* where the next frame begins, or the search */
    bool is_searching;
    uint64_t search_began;
    uint8_t *window; /* bytes of the file from window_offset on */
    uint64_t window_offset;
    size_t window_used, window_capacity;

    uint64_t records;       /* whole ones handed out */
    uint64_t damaged;       /* places where records were lost */
    uint64_t damaged_bytes; /* bytes passed over there */
    uint64_t too_large;
} TfeventsRecords;

typedef enum TfeventsStep {
    TFEVENTS_STEP_RECORD = 0,
    TFEVENTS_STEP_END = 1,   /* nothing more for now */
    TFEVENTS_STEP_FAILED = 2 /* the system would not read, or has no memory; `errno` says which */
} TfeventsStep;

/* Takes the descriptor of a regular file, which must support pread. max_record_bytes 0: 256 MiB. */
void tfevents_records_begin(TfeventsRecords *records, int fd, uint64_t max_record_bytes);
void tfevents_records_finish(TfeventsRecords *records);
/* The data live until the next call. */
TfeventsStep tfevents_records_next(TfeventsRecords *records, const uint8_t **data,
                                   size_t *size_bytes);
/* Bytes at the end of the file that are no whole frame (yet). */
uint64_t tfevents_records_pending_bytes(const TfeventsRecords *records);

#endif
