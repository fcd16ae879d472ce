/* producer.h: where the example's tensors come from: a CUDA kernel (producer.cu), or nowhere
 * (producer_none.c, for a build without CUDA). Frame thread. */
#ifndef PRODUCER_H
#define PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The host may be that many frames behind (3) while it reads memory in place: a slot is written
 * again only in the fourth frame after it was shown. */
enum { PRODUCER_SLOTS = 4 };

typedef struct Producer Producer;

/* One exportable allocation with PRODUCER_SLOTS tensors of height x width f32. NULL: no CUDA. */
Producer *producer_open(int32_t ordinal, int32_t height, int32_t width);
void producer_close(Producer **producer);

/* What import_allocation wants: the handle that CUDA exported, and the allocation's real size. The
 * producer keeps the fd and closes it; -1 when the memory cannot be exported. */
int producer_fd(const Producer *producer);
uint64_t producer_bytes(const Producer *producer);

void *producer_stream(const Producer *producer);
uint64_t producer_slot_offset(const Producer *producer, uint32_t slot);
void *producer_slot(const Producer *producer, uint32_t slot); /* the same as a device address */

/* Enqueues the kernel that fills the slot, and returns at once. */
bool producer_enqueue(Producer *producer, uint32_t slot, float time_sec);
/* Waits until everything enqueued is done. */
bool producer_drain(Producer *producer);
/* Waits, and copies the slot to host memory. */
bool producer_download(Producer *producer, uint32_t slot, float *out);

#ifdef __cplusplus
}
#endif

#endif
