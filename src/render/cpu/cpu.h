/* render/cpu/cpu.h: the reference renderer. Included by render/cpu/ only; frame thread.
 *
 * This folder keeps textures and the frame in plain memory and rasterises the draw list in C, so it
 * runs everywhere and touches no display unless it has a window. It has the file set of every
 * backend: context, texture, view (cpu_rect.c and cpu_triangle.c are its two rasterisers), present.
 * It is never lost: a failed allocation refuses the call and the renderer goes on. */
#ifndef CALIPER_RENDER_CPU_CPU_H
#define CALIPER_RENDER_CPU_CPU_H

#include "render/renderer_impl.h"

typedef struct CpuRenderer {
    Renderer base;
    RendererWindow window; /* open == NULL: offscreen */
    uint32_t *frame;       /* 0xAABBGGRR, row 0 on top */
    uint64_t frame_capacity_px;
    uint32_t *scratch; /* RASTER_SCRATCH_WORDS (cpu_raster.h) */
    uint32_t scratch_capacity_px;
    int32_t width_px, height_px; /* of the frame being drawn */
    bool present_failed;         /* the last time, and that was told */
} CpuRenderer;

typedef struct CpuTexture {
    RendererTexture base;
    uint32_t *pixels; /* 0xAABBGGRR, tight */
} CpuTexture;

CpuRenderer *cpu_renderer(Renderer *renderer);
/* For the queries, which may not write. */
const CpuTexture *cpu_texture(const RendererTexture *texture);

/* cpu_texture.c */
RendererTexture *cpu_texture_create(Renderer *renderer, const RendererTextureParams *params);
bool cpu_texture_update(Renderer *renderer, RendererTexture *texture, const RendererSource *source);
bool cpu_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba);
bool cpu_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst);
void cpu_texture_destroy(Renderer *renderer, RendererTexture *texture);
RendererShared *cpu_shared_attach(Renderer *renderer, void *memory, uint64_t size_bytes);
void cpu_shared_detach(Renderer *renderer, RendererShared *shared);

/* cpu_present.c */
bool cpu_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px, uint32_t clear_rgba);
bool cpu_frame_end(Renderer *renderer);
bool cpu_frame_read(Renderer *renderer, uint8_t *dst);

/* cpu_view.c */
bool cpu_draw_ui(Renderer *renderer, const UiDraw *draw);

#endif
