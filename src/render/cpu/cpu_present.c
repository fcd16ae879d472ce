/* Frames of the cpu renderer: the target, its hand-over to a window, read-back. Frame thread. */
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/cpu/cpu.h"
#include "render/cpu/cpu_raster.h"

/* Grows the target and the row scratch; both keep their largest size. */
static bool reserve(CpuRenderer *self, int32_t width_px, int32_t height_px)
{
    uint64_t pixels = (uint64_t)width_px * (uint64_t)height_px;
    if (pixels > self->frame_capacity_px) {
        uint32_t *frame = fault_here("cpu.frame") ? NULL : malloc(pixels * sizeof *frame);
        if (frame == NULL) {
            log_item(OUT_OF_MEMORY, "renderer_frame_begin", (unsigned long long)(pixels * 4u));
            return false;
        }
        free(self->frame);
        self->frame = frame;
        self->frame_capacity_px = pixels;
    }
    if ((uint32_t)width_px > self->scratch_capacity_px) {
        size_t bytes = RASTER_SCRATCH_WORDS(width_px) * sizeof(uint32_t);
        uint32_t *scratch = fault_here("cpu.frame") ? NULL : malloc(bytes);
        if (scratch == NULL) {
            log_item(OUT_OF_MEMORY, "renderer_frame_begin", (unsigned long long)bytes);
            return false;
        }
        free(self->scratch);
        self->scratch = scratch;
        self->scratch_capacity_px = (uint32_t)width_px;
    }
    return true;
}

bool cpu_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px, uint32_t clear_rgba)
{
    CpuRenderer *self = cpu_renderer(renderer);
    if (!reserve(self, width_px, height_px))
        return false;
    self->width_px = width_px;
    self->height_px = height_px;
    uint64_t pixels = (uint64_t)width_px * (uint64_t)height_px;
    for (uint64_t i = 0; i < pixels; i++)
        self->frame[i] = clear_rgba;
    return true;
}

bool cpu_frame_end(Renderer *renderer)
{
    CpuRenderer *self = cpu_renderer(renderer);
    if (self->window.open == NULL)
        return true;
    if (!fault_here("cpu.present") &&
        self->window.present_pixels(self->window.user, (const uint8_t *)self->frame, self->width_px,
                                    self->height_px)) {
        self->present_failed = false;
        return true;
    }
    if (!self->present_failed) /* once, not at every frame */
        log_item(RENDERER_FAILED, "renderer_frame_end", "present_pixels",
                 "the window took no pixels");
    self->present_failed = true;
    return false;
}

bool cpu_frame_read(Renderer *renderer, uint8_t *dst)
{
    CpuRenderer *self = cpu_renderer(renderer);
    memcpy(dst, self->frame, (size_t)self->width_px * (size_t)self->height_px * 4u);
    return true;
}
