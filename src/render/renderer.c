/* The front door: checks every argument of renderer.h once, then calls the backend. Textures and
 * memory here; frames and draw lists in renderer_draw.c. Frame thread. */
#include "render/renderer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/trace.h"
#include "render/renderer_front.h"

bool renderer_refuse(const char *call, const char *wanted, const char *given_format, ...)
{
    char given[160];
    va_list arguments;
    va_start(arguments, given_format);
    vsnprintf(given, sizeof given, given_format, arguments);
    va_end(arguments);
    log_item(RENDERER_REFUSED, call, given, wanted);
    return false;
}

void renderer_destroy(Renderer **renderer)
{
    if (renderer == NULL || *renderer == NULL)
        return;
    renderer_live_report(*renderer);
    renderer_kept_free(*renderer);
    (*renderer)->impl->destroy(*renderer);
    *renderer = NULL;
}

const RendererInfo *renderer_info(const Renderer *renderer)
{
    static const RendererInfo none = {.name = "none", .interop_index = -1};
    return renderer != NULL ? &renderer->info : &none;
}

bool renderer_lost(const Renderer *renderer)
{
    return renderer == NULL || renderer->lost;
}

void renderer_counters(const Renderer *renderer, RendererCounters *out)
{
    if (out == NULL)
        return;
    if (renderer != NULL)
        *out = renderer->counters;
    else
        memset(out, 0, sizeof *out);
}

void renderer_frame_counters(const Renderer *renderer, RendererCounters *out)
{
    if (out == NULL)
        return;
    renderer_counters(renderer, out);
    if (renderer == NULL)
        return;
    const RendererCounters *before = &renderer->frame_ended[0], *last = &renderer->frame_ended[1];
    out->updates = last->updates - before->updates;
    out->staged_bytes = last->staged_bytes - before->staged_bytes;
    out->device_copied_bytes = last->device_copied_bytes - before->device_copied_bytes;
    out->passes = last->passes - before->passes;
    out->waits = last->waits - before->waits;
    out->coalesced = last->coalesced - before->coalesced;
    out->hand_overs = last->hand_overs - before->hand_overs;
}

void renderer_texture_counters(const RendererTexture *texture, RendererCounters *out)
{
    if (out == NULL)
        return;
    if (texture != NULL)
        *out = texture->counters;
    else
        memset(out, 0, sizeof *out);
}

const char *renderer_path(const Renderer *renderer)
{
    return renderer != NULL ? renderer->impl->path(renderer) : "no renderer";
}

/* ---- Textures -------------------------------------------------------------------------------- */

static uint64_t texture_pixels(const RendererTexture *texture)
{
    return (uint64_t)texture->width_px * (uint64_t)texture->height_px;
}

static bool pass_is_legal(const RendererPass *pass)
{
    static const char call[] = "renderer_texture_create";
    if (pass->kind == RENDERER_PASS_EXPAND) {
        if (pass->channels < 1 || pass->channels > 4)
            return renderer_refuse(call, "1 to 4", "%u channels", (unsigned)pass->channels);
        return true;
    }
    if (pass->kind != RENDERER_PASS_COLORMAP)
        return renderer_refuse(call, "a RendererPassKind", "pass %d", (int)pass->kind);
    if (pass->colormap < 0 || pass->colormap > 2)
        return renderer_refuse(call, "0 to 2", "colormap %d", (int)pass->colormap);
    if (!isfinite(pass->vmin) || !isfinite(pass->inv))
        return renderer_refuse(call, "finite values", "vmin %g, inv %g", (double)pass->vmin,
                               (double)pass->inv);
    return true;
}

RendererTexture *renderer_texture_create(Renderer *renderer, const RendererTextureParams *params)
{
    static const char call[] = "renderer_texture_create";
    if (renderer == NULL || params == NULL) {
        renderer_refuse(call, "both", "no %s", renderer == NULL ? "renderer" : "params");
        return NULL;
    }
    if (renderer->lost)
        return NULL;
    if (params->struct_size < sizeof(RendererTextureParams)) {
        renderer_refuse(call, "RENDERER_TEXTURE_PARAMS()", "struct_size %u",
                        (unsigned)params->struct_size);
        return NULL;
    }
    int32_t limit = renderer->info.max_texture_px;
    if (params->width_px < 1 || params->height_px < 1 || params->width_px > limit ||
        params->height_px > limit) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "1 to %d pixels a side", (int)limit);
        renderer_refuse(call, wanted, "%d x %d", (int)params->width_px, (int)params->height_px);
        return NULL;
    }
    if (!pass_is_legal(&params->pass))
        return NULL;
    RendererTexture *texture = renderer->impl->texture_create(renderer, params);
    if (texture == NULL)
        return NULL;
    texture->owner = renderer;
    texture->width_px = params->width_px;
    texture->height_px = params->height_px;
    texture->pass = params->pass;
    renderer_live_add(renderer, texture, params->label);
    renderer->changes++;
    renderer->counters.textures++;
    renderer->counters.texture_bytes += texture_pixels(texture) * 4u;
    return texture;
}

/* True when the call may go on; logs unless the renderer is lost. Reads go on when it is lost. */
static bool texture_is_usable(const char *call, const Renderer *renderer,
                              const RendererTexture *texture)
{
    if (renderer == NULL || texture == NULL)
        return renderer_refuse(call, "both", "no %s", renderer == NULL ? "renderer" : "texture");
    if (texture->owner != renderer)
        return renderer_refuse(call, "one of its own", "a texture of another renderer");
    return true;
}

static bool range_is_inside(uint64_t offset, uint64_t extent, uint64_t size, const char *what)
{
    if (offset > size || extent > size - offset)
        return renderer_refuse(
            "renderer_texture_update", what, "offset %llu and extent %llu in %llu bytes",
            (unsigned long long)offset, (unsigned long long)extent, (unsigned long long)size);
    return true;
}

static bool source_place_is_legal(const Renderer *renderer, const RendererSource *source)
{
    static const char call[] = "renderer_texture_update";
    switch (source->kind) {
    case RENDERER_SOURCE_HOST:
        if (source->host == NULL)
            return renderer_refuse(call, "an address", "a host source without memory");
        return true;
    case RENDERER_SOURCE_SHARED:
        if (source->shared == NULL || source->shared->owner != renderer)
            return renderer_refuse(call, "memory attached to this renderer", "%s",
                                   source->shared == NULL ? "nothing" : "another renderer's");
        return range_is_inside(source->offset_bytes, source->extent_bytes,
                               source->shared->size_bytes, "a range inside the shared memory");
    case RENDERER_SOURCE_DEVICE:
        if ((renderer->info.caps & RENDERER_CAP_DEVICE_SOURCE) == 0)
            return renderer_refuse(call, "host memory", "a device source, which %s cannot read",
                                   renderer->info.name);
        if (source->device_ptr == 0)
            return renderer_refuse(call, "an address", "a device source without memory");
        return true;
    case RENDERER_SOURCE_ALLOC:
        if (source->alloc == NULL || source->alloc->owner != renderer)
            return renderer_refuse(call, "an allocation imported by this renderer", "%s",
                                   source->alloc == NULL ? "nothing" : "another renderer's");
        return range_is_inside(source->offset_bytes, source->extent_bytes,
                               source->alloc->size_bytes, "a range inside the allocation");
    }
    return renderer_refuse(call, "a RendererSourceKind", "source %d", (int)source->kind);
}

static bool source_is_legal(const Renderer *renderer, const RendererTexture *texture,
                            const RendererSource *source)
{
    static const char call[] = "renderer_texture_update";
    if (source == NULL)
        return renderer_refuse(call, "a source", "nothing");
    uint64_t element_bytes =
        texture->pass.kind == RENDERER_PASS_COLORMAP ? sizeof(float) : texture->pass.channels;
    uint64_t wanted_bytes = texture_pixels(texture) * element_bytes;
    if (source->extent_bytes != wanted_bytes) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)wanted_bytes);
        return renderer_refuse(call, wanted, "%llu bytes for %d x %d",
                               (unsigned long long)source->extent_bytes, (int)texture->width_px,
                               (int)texture->height_px);
    }
    if (source->extent_bytes > renderer->info.max_source_bytes) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "at most %llu",
                 (unsigned long long)renderer->info.max_source_bytes);
        return renderer_refuse(call, wanted, "%llu bytes",
                               (unsigned long long)source->extent_bytes);
    }
    return source_place_is_legal(renderer, source);
}

static void trace_update(uint64_t started_ns, const RendererTexture *texture,
                         const RendererSource *source, const RendererCounters *before, bool updated)
{
    static const char *const kinds[] = {[RENDERER_SOURCE_HOST] = "host",
                                        [RENDERER_SOURCE_DEVICE] = "device",
                                        [RENDERER_SOURCE_ALLOC] = "alloc",
                                        [RENDERER_SOURCE_SHARED] = "shared"};
    const RendererCounters *now = &texture->counters;
    trace_span(started_ns,
               &(TraceEvent){.category = "render",
                             .name = updated ? "texture_update" : "texture_update refused",
                             .kind = kinds[source->kind],
                             .values = {{"bytes", source->extent_bytes},
                                        {"staged_bytes", now->staged_bytes - before->staged_bytes},
                                        {"device_copied_bytes",
                                         now->device_copied_bytes - before->device_copied_bytes},
                                        {"width_px", (uint64_t)texture->width_px},
                                        {"height_px", (uint64_t)texture->height_px}},
                             .value_count = 5});
}

bool renderer_texture_update(Renderer *renderer, RendererTexture *texture,
                             const RendererSource *source)
{
    if (!texture_is_usable("renderer_texture_update", renderer, texture))
        return false;
    if (renderer->lost || !source_is_legal(renderer, texture, source))
        return false;
    uint64_t started_ns = trace_begin();
    RendererCounters before = texture->counters;
    bool updated = renderer->impl->texture_update(renderer, texture, source);
    if (started_ns != 0)
        trace_update(started_ns, texture, source, &before, updated);
    if (!updated)
        return false;
    renderer->changes++;
    texture->has_pixels = true;
    texture->counters.updates++;
    renderer->counters.updates++;
    return true;
}

bool renderer_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba)
{
    if (!texture_is_usable("renderer_texture_write", renderer, texture))
        return false;
    if (renderer->lost)
        return false;
    if (rgba == NULL)
        return renderer_refuse("renderer_texture_write", "pixels", "nothing");
    if (!renderer->impl->texture_write(renderer, texture, rgba))
        return false;
    renderer->changes++;
    texture->has_pixels = true;
    return true;
}

bool renderer_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst,
                           uint64_t dst_bytes)
{
    static const char call[] = "renderer_texture_read";
    if (!texture_is_usable(call, renderer, texture))
        return false;
    if (!texture->has_pixels)
        return renderer_refuse(call, "an update before", "a texture without pixels");
    if (dst == NULL || dst_bytes < texture_pixels(texture) * 4u) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "at least %llu",
                 (unsigned long long)(texture_pixels(texture) * 4u));
        return renderer_refuse(call, wanted, "%llu bytes%s", (unsigned long long)dst_bytes,
                               dst == NULL ? " at NULL" : "");
    }
    return renderer->impl->texture_read(renderer, texture, dst);
}

void renderer_texture_destroy(Renderer *renderer, RendererTexture **texture)
{
    if (texture == NULL || *texture == NULL)
        return;
    if (!texture_is_usable("renderer_texture_destroy", renderer, *texture))
        return;
    renderer_live_remove(*texture);
    renderer->changes++;
    renderer->counters.textures--;
    renderer->counters.texture_bytes -= texture_pixels(*texture) * 4u;
    renderer->impl->texture_destroy(renderer, *texture);
    *texture = NULL;
}

/* ---- Memory read in place ---------------------------------------------------------------------
 */

RendererShared *renderer_shared_attach(Renderer *renderer, void *memory, uint64_t size_bytes)
{
    static const char call[] = "renderer_shared_attach";
    if (renderer == NULL || memory == NULL || size_bytes == 0) {
        renderer_refuse(call, "a renderer and memory", "%llu bytes%s%s",
                        (unsigned long long)size_bytes, memory == NULL ? " at NULL" : "",
                        renderer == NULL ? ", no renderer" : "");
        return NULL;
    }
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    if ((uint64_t)(uintptr_t)memory % page_bytes != 0 || size_bytes % page_bytes != 0) {
        renderer_refuse(call, "whole pages", "%llu bytes at %p", (unsigned long long)size_bytes,
                        memory);
        return NULL;
    }
    if (renderer->lost || renderer->impl->shared_attach == NULL)
        return NULL;
    RendererShared *shared = renderer->impl->shared_attach(renderer, memory, size_bytes);
    if (shared == NULL)
        return NULL;
    shared->owner = renderer;
    shared->memory = memory;
    shared->size_bytes = size_bytes;
    return shared;
}

void renderer_shared_detach(Renderer *renderer, RendererShared **shared)
{
    if (shared == NULL || *shared == NULL)
        return;
    if (renderer == NULL || (*shared)->owner != renderer) {
        renderer_refuse("renderer_shared_detach", "its owner",
                        renderer == NULL ? "no renderer" : "another renderer");
        return;
    }
    renderer->changes++;
    renderer->impl->shared_detach(renderer, *shared);
    *shared = NULL;
}

RendererAlloc *renderer_alloc_import(Renderer *renderer, void *os_handle, uint64_t size_bytes,
                                     uint32_t handle_type)
{
    static const char call[] = "renderer_alloc_import";
    if (renderer == NULL || size_bytes == 0) {
        renderer_refuse(call, "a renderer and a size", "%llu bytes%s",
                        (unsigned long long)size_bytes, renderer == NULL ? ", no renderer" : "");
        return NULL;
    }
    if (renderer->lost)
        return NULL;
    if (renderer->impl->alloc_import == NULL) {
        renderer_refuse(call, "a renderer that can", "%s, which imports nothing",
                        renderer->info.name);
        return NULL;
    }
    RendererAlloc *alloc =
        renderer->impl->alloc_import(renderer, os_handle, size_bytes, handle_type);
    if (alloc == NULL)
        return NULL;
    alloc->owner = renderer;
    alloc->size_bytes = size_bytes;
    renderer->counters.allocations++;
    return alloc;
}

void renderer_alloc_release(Renderer *renderer, RendererAlloc **alloc)
{
    if (alloc == NULL || *alloc == NULL)
        return;
    if (renderer == NULL || (*alloc)->owner != renderer) {
        renderer_refuse("renderer_alloc_release", "its owner",
                        renderer == NULL ? "no renderer" : "another renderer");
        return;
    }
    renderer->counters.allocations--;
    renderer->changes++;
    renderer->impl->alloc_release(renderer, *alloc);
    *alloc = NULL;
}
