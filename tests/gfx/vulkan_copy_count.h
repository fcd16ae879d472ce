/* tests/gfx/vulkan_copy_count.h: every copy command that the renderer records, counted in bytes at
 * the device's function table, so that its own counters have a witness. */
#ifndef CALIPER_TESTS_GFX_VULKAN_COPY_COUNT_H
#define CALIPER_TESTS_GFX_VULKAN_COPY_COUNT_H

#include <stdint.h>

#include "render/renderer.h"

typedef struct CopyCount {
    uint64_t buffer_to_image, buffer_to_buffer, image_to_image, inline_bytes;
    uint64_t image_to_buffer; /* read-backs */
} CopyCount;

/* Counts what this renderer records from now on, from zero; one renderer at a time. Commands of
 * later versions that copy are taken away: recording one would crash. */
void copy_count_start(Renderer *renderer);
CopyCount copy_count(void);

#endif
