/* store/metrics/queue.h: the bounded queue from the callers to the writer.
 *
 * For src/store/metrics/ alone. A ring of bytes; a row is reserved, filled and published, in place
 * and without a lock, by any number of threads; one thread, the writer, reads rows in the order in
 * which they were reserved and gives the room back when they are safe. The memory is reserved at
 * once and touched as it is used. */
#ifndef CALIPER_STORE_METRICS_QUEUE_H
#define CALIPER_STORE_METRICS_QUEUE_H

#include "store/metrics/row.h"

enum { QUEUE_LINE_BYTES = 64 };

typedef struct Queue {
    uint8_t *bytes;
    uint64_t capacity_bytes;
    uint64_t rows_limit_bytes; /* room for rows; the rest is kept for beginnings and ends of runs */
    _Alignas(QUEUE_LINE_BYTES) _Atomic uint64_t head; /* position after the last reserved row */
    _Atomic uint64_t accepted;                        /* rows published; beside head on purpose */
    _Alignas(QUEUE_LINE_BYTES) _Atomic uint64_t tail; /* everything before it is free */
    _Alignas(QUEUE_LINE_BYTES) uint64_t cursor;       /* the writer's: the next row to read */
} Queue;

/* A capacity of at least QUEUE_MIN_BYTES. False without memory. */
enum { QUEUE_MIN_BYTES = 1 << 16 };
bool queue_init(Queue *queue, uint64_t capacity_bytes);
void queue_finish(Queue *queue);

/* The largest row that is sure to find room in an empty queue. */
uint64_t queue_row_max_bytes(const Queue *queue);

typedef enum QueueClass {
    QUEUE_CLASS_ROW = 0,
    QUEUE_CLASS_CONTROL = 1 /* may use the room that is kept free */
} QueueClass;

/* Room for a row of `size_bytes` (from row_size_bytes), zeroed but for its size; NULL when there is
 * none now. *used_bytes (may be NULL): how full the queue is then. Every row that was reserved must
 * be published, soon: the writer stops at one that is not. [any] */
Row *queue_reserve(Queue *queue, uint64_t size_bytes, QueueClass class, uint64_t *used_bytes);
void queue_publish(Queue *queue, Row *row);

/* Bytes that are taken. [any] */
uint64_t queue_used_bytes(const Queue *queue);

/* ---- The writer's ---- */

/* The row at *position, in front of `limit`, and its size; NULL when there is none yet. Gaps are
 * passed over, and with `skip_unfinished` so are rows that were never published (a thread that
 * faulted). *position moves to the row itself; the next one is at *position + *size_bytes. */
const Row *queue_row_at(const Queue *queue, uint64_t *position, uint64_t limit,
                        bool skip_unfinished, uint64_t *size_bytes);
/* Everything in front of `position` is done with. */
void queue_release(Queue *queue, uint64_t position);

#endif
