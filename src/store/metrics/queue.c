/* The ring between callers and writer: see queue.h.
 *
 * A reservation is one compare-and-swap on head. A free byte is zero, so that a row's state reads
 * EMPTY until its owner has said how long it is: the writer zeroes what it gives back. */
#include "store/metrics/queue.h"

#include <string.h>
#include <sys/mman.h>

#include "core/fault.h"

static uint64_t word_of(uint64_t size_bytes, RowState state)
{
    return size_bytes << ROW_STATE_BITS | (uint64_t)state;
}

static RowState state_of(uint64_t word)
{
    return (RowState)(word & ((1u << ROW_STATE_BITS) - 1));
}

static Row *row_in_ring(const Queue *queue, uint64_t position)
{
    return (Row *)(void *)(queue->bytes + position % queue->capacity_bytes);
}

bool queue_init(Queue *queue, uint64_t capacity_bytes)
{
    memset(queue, 0, sizeof *queue);
    if (capacity_bytes < QUEUE_MIN_BYTES)
        capacity_bytes = QUEUE_MIN_BYTES;
    /* Rows start at multiples of 16 and a gap needs a header's first words only. */
    capacity_bytes -= capacity_bytes % 4096;
    if (fault_here("metrics.queue.alloc"))
        return false;
    void *bytes = mmap(NULL, (size_t)capacity_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    queue->bytes = bytes;
    queue->capacity_bytes = capacity_bytes;
    uint64_t kept_bytes = capacity_bytes / 16 < (1u << 20) ? capacity_bytes / 16 : 1u << 20;
    queue->rows_limit_bytes = capacity_bytes - kept_bytes;
    return true;
}

void queue_finish(Queue *queue)
{
    if (queue->bytes != NULL)
        munmap(queue->bytes, (size_t)queue->capacity_bytes);
    queue->bytes = NULL;
}

uint64_t queue_row_max_bytes(const Queue *queue)
{
    /* A gap in front of it can be as long as the row itself, less a little. */
    return queue->rows_limit_bytes / 2;
}

Row *queue_reserve(Queue *queue, uint64_t size_bytes, QueueClass class, uint64_t *used_bytes)
{
    uint64_t limit = class == QUEUE_CLASS_CONTROL ? queue->capacity_bytes : queue->rows_limit_bytes;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t gap;
    for (;;) {
        uint64_t to_end = queue->capacity_bytes - head % queue->capacity_bytes;
        gap = size_bytes > to_end ? to_end : 0;
        /* Acquire: the zeroes of the bytes that were given back are seen. */
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
        uint64_t used = head - tail + gap + size_bytes;
        if (head < tail) { /* an old head: the writer is past it already */
            head = atomic_load_explicit(&queue->head, memory_order_relaxed);
            continue;
        }
        if (used > limit) {
            if (used_bytes != NULL)
                *used_bytes = head - tail;
            return NULL;
        }
        /* In one order with the writer's `sleeping`: it sees this row, or the caller sees that it
         * sleeps. */
        if (atomic_compare_exchange_weak_explicit(&queue->head, &head, head + gap + size_bytes,
                                                  memory_order_seq_cst, memory_order_relaxed)) {
            if (used_bytes != NULL)
                *used_bytes = used;
            break;
        }
    }
    if (gap != 0)
        atomic_store_explicit(&row_in_ring(queue, head)->size_and_state,
                              word_of(gap, ROW_STATE_READY), memory_order_release);
    Row *row = row_in_ring(queue, head + gap);
    atomic_store_explicit(&row->size_and_state, word_of(size_bytes, ROW_STATE_WRITING),
                          memory_order_relaxed);
    return row;
}

void queue_publish(Queue *queue, Row *row)
{
    uint64_t word = atomic_load_explicit(&row->size_and_state, memory_order_relaxed);
    atomic_fetch_add_explicit(&queue->accepted, 1, memory_order_relaxed);
    atomic_store_explicit(&row->size_and_state, word_of(word >> ROW_STATE_BITS, ROW_STATE_READY),
                          memory_order_release);
}

uint64_t queue_used_bytes(const Queue *queue)
{
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    return head > tail ? head - tail : 0;
}

const Row *queue_row_at(const Queue *queue, uint64_t *position, uint64_t limit,
                        bool skip_unfinished, uint64_t *size_bytes)
{
    while (*position < limit) {
        const Row *row = row_in_ring(queue, *position);
        uint64_t word = atomic_load_explicit(&row->size_and_state, memory_order_acquire);
        uint64_t size = word >> ROW_STATE_BITS;
        RowState state = state_of(word);
        if (state == ROW_STATE_EMPTY || (state == ROW_STATE_WRITING && !skip_unfinished))
            return NULL;
        if (state == ROW_STATE_READY && row->kind != ROW_KIND_GAP) {
            *size_bytes = size;
            return row;
        }
        *position += size;
    }
    return NULL;
}

void queue_release(Queue *queue, uint64_t position)
{
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    while (tail < position) {
        uint64_t offset = tail % queue->capacity_bytes;
        uint64_t length = position - tail;
        if (length > queue->capacity_bytes - offset)
            length = queue->capacity_bytes - offset;
        memset(queue->bytes + offset, 0, (size_t)length);
        tail += length;
    }
    atomic_store_explicit(&queue->tail, position, memory_order_release);
}
