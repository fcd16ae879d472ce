/* render/renderer_impl.h: what a backend provides. Included by render/ only.
 *
 * A backend embeds the base structs first and fills one static table. Slots marked (optional) may
 * be NULL: the front door then answers as said. Arguments were checked by the front door. A backend
 * sets `lost` in the base when its device or context is gone, after logging why, once.
 *
 * The front door fills the base fields marked [front] after the backend's create, attach or import
 * returned, and counts updates, textures, texture_bytes and allocations; the backend counts the
 * rest. A slot that returns false or NULL has logged its one line, unless said otherwise. */
#ifndef CALIPER_RENDER_RENDERER_IMPL_H
#define CALIPER_RENDER_RENDERER_IMPL_H

#include "render/renderer.h"

typedef struct RendererImpl {
    const char *name;
    void (*destroy)(Renderer *renderer);
    RendererTexture *(*texture_create)(Renderer *renderer, const RendererTextureParams *params);
    bool (*texture_update)(Renderer *renderer, RendererTexture *texture,
                           const RendererSource *source);
    bool (*texture_write)(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba);
    bool (*texture_read)(Renderer *renderer, RendererTexture *texture, uint8_t *dst);
    void (*texture_destroy)(Renderer *renderer, RendererTexture *texture);
    RendererShared *(*shared_attach)(Renderer *renderer, void *memory,
                                     uint64_t size_bytes);             /* (optional) NULL */
    void (*shared_detach)(Renderer *renderer, RendererShared *shared); /* (optional) */
    RendererAlloc *(*alloc_import)(Renderer *renderer, void *os_handle, uint64_t size_bytes,
                                   uint32_t handle_type);            /* (optional) refused */
    void (*alloc_release)(Renderer *renderer, RendererAlloc *alloc); /* (optional) */
    bool (*frame_begin)(Renderer *renderer, int32_t width_px, int32_t height_px,
                        uint32_t clear_rgba);
    bool (*draw_ui)(Renderer *renderer, const UiDraw *draw);
    bool (*frame_end)(Renderer *renderer);
    /* In the place of a frame that need not be drawn: frees what was released and is done, as each
     * frame_begin does. Never waits. */
    void (*rest)(Renderer *renderer); /* (optional) nothing waits for frames */
    bool (*frame_read)(Renderer *renderer, uint8_t *dst);
    const char *(*path)(const Renderer *renderer);
} RendererImpl;

typedef struct RendererKept RendererKept;

struct Renderer { /* embedded first in each backend's own struct */
    const RendererImpl *impl;
    RendererInfo info;
    RendererCounters counters;
    RendererTexture *live_first;     /* [front] newest first */
    RendererCounters frame_ended[2]; /* [front] `counters` at the end of the last two frames */
    RendererKept *kept;              /* [front] renderer_show.c: the frame that is shown, or NULL */
    uint64_t changes; /* [front] what may make the same draws look otherwise, counted */
    /* [front] Of the frame that began last; 0 before the first. During frame_begin still the size
     * of the frame before. */
    int32_t frame_width_px, frame_height_px;
    bool in_frame;  /* [front] */
    bool has_frame; /* [front] the frame that began last has ended */
    bool lost;
};

struct RendererTexture {         /* embedded first in each backend's own struct */
    const Renderer *owner;       /* [front] */
    int32_t width_px, height_px; /* [front] */
    RendererPass pass;           /* [front] */
    RendererCounters counters;
    bool has_pixels;                       /* [front] an update or a write succeeded */
    char label[48];                        /* [front] cut short */
    RendererTexture *live_next, **live_at; /* [front] the list of live textures */
};

struct RendererShared {    /* embedded first in each backend's own struct */
    const Renderer *owner; /* [front] */
    void *memory;          /* [front] the caller's */
    uint64_t size_bytes;   /* [front] */
};

struct RendererAlloc {     /* embedded first in each backend's own struct */
    const Renderer *owner; /* [front] */
    uint64_t size_bytes;   /* [front] */
};

/* Each backend's create, listed in choose.c. A backend left out of the build is a stub file. */
Renderer *cpu_renderer_create(const RendererParams *params, char *error, size_t error_bytes);
Renderer *gl_renderer_create(const RendererParams *params, char *error, size_t error_bytes);
Renderer *vk_renderer_create(const RendererParams *params, char *error, size_t error_bytes);

#endif
