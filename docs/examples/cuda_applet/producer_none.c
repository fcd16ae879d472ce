/* producer_none.c: the producer of a build without CUDA: there is none. */
#include "producer.h"

#include <stddef.h>

Producer *producer_open(int32_t ordinal, int32_t height, int32_t width)
{
    (void)ordinal;
    (void)height;
    (void)width;
    return NULL;
}

void producer_close(Producer **producer)
{
    (void)producer;
}

int producer_fd(const Producer *producer)
{
    (void)producer;
    return -1;
}

uint64_t producer_bytes(const Producer *producer)
{
    (void)producer;
    return 0;
}

void *producer_stream(const Producer *producer)
{
    (void)producer;
    return NULL;
}

uint64_t producer_slot_offset(const Producer *producer, uint32_t slot)
{
    (void)producer;
    (void)slot;
    return 0;
}

void *producer_slot(const Producer *producer, uint32_t slot)
{
    (void)producer;
    (void)slot;
    return NULL;
}

bool producer_enqueue(Producer *producer, uint32_t slot, float time_sec)
{
    (void)producer;
    (void)slot;
    (void)time_sec;
    return false;
}

bool producer_drain(Producer *producer)
{
    (void)producer;
    return false;
}

bool producer_download(Producer *producer, uint32_t slot, float *out)
{
    (void)producer;
    (void)slot;
    (void)out;
    return false;
}
