/* store/metrics/row.h: one logged thing as it lies in the queue and in spool files.
 *
 * For src/store/metrics/ alone. A row is a header of ROW_HEADER_BYTES, then its text, then its
 * payload, padded to ROW_ALIGN_BYTES. Machine byte order: a spool file is read on the machine that
 * wrote it. Pure; any thread. */
#ifndef CALIPER_STORE_METRICS_ROW_H
#define CALIPER_STORE_METRICS_ROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum RowKind {
    ROW_KIND_GAP = 0,       /* the unused end of the ring */
    ROW_KIND_BEGIN = 1,     /* text: experiment; payload: name, `count` bytes */
    ROW_KIND_END = 2,       /* no text */
    ROW_KIND_SCALAR = 3,    /* text: tag */
    ROW_KIND_HISTOGRAM = 4, /* text: tag; payload: `count` floats */
    ROW_KIND_IMAGE = 5,     /* text: tag; payload: height * width * channels bytes */
    ROW_KIND_HPARAMS = 6,   /* text: the JSON */
    ROW_KIND_DROPPED = 7,   /* `count` rows were lost */
    ROW_KIND_TEXT = 8,      /* text: tag; payload: what was said, `count` bytes */
    ROW_KIND_COUNT
} RowKind;

typedef enum RowState { ROW_STATE_EMPTY = 0, ROW_STATE_WRITING = 1, ROW_STATE_READY = 2 } RowState;

enum { ROW_HEADER_BYTES = 48, ROW_ALIGN_BYTES = 16, ROW_STATE_BITS = 8 };

typedef struct Row {
    _Atomic uint64_t size_and_state; /* bytes of the whole row << ROW_STATE_BITS | RowState */
    uint8_t kind;                    /* RowKind */
    uint8_t channels;
    uint16_t reserved;
    uint32_t text_bytes;
    uint64_t run;
    int64_t step;
    int64_t wall_us; /* microseconds since 1970, UTC, when it was logged */
    union {
        double number;
        int64_t count;
        struct {
            uint32_t width, height;
        } image;
    } value;
} Row;

_Static_assert(sizeof(Row) == ROW_HEADER_BYTES, "the spool format depends on it");

static inline char *row_text(const Row *row)
{
    return (char *)row + ROW_HEADER_BYTES;
}

static inline uint8_t *row_payload(const Row *row)
{
    return (uint8_t *)row + ROW_HEADER_BYTES + row->text_bytes;
}

/* What the header says; 0 for kinds without a payload. No overflow for a row that row_check took.
 */
uint64_t row_payload_bytes(const Row *row);

/* The size of a row with that much text and payload; 0 when it overflows. */
uint64_t row_size_bytes(uint64_t text_bytes, uint64_t payload_bytes);

/* Whether `row`, at the start of `available_bytes` of foreign bytes, is a whole and ready row whose
 * sizes agree; *size_bytes is then its length. */
bool row_check(const Row *row, uint64_t available_bytes, uint64_t *size_bytes);

#endif
