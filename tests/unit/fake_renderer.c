/* The renderer of fake_renderer.h. Frame thread. */
#include "fake_renderer.h"

#include <stdlib.h>
#include <string.h>

#include "caliper/services/tensor_bridge_v1_2.h"
#include "core/log.h"
#include "kernels/kernels.h"

typedef struct FakeTexture {
    RendererTexture base;
    uint8_t *pixels;
} FakeTexture;

typedef struct FakeAlloc {
    RendererAlloc base;
    const uint8_t *memory; /* of a host pointer; NULL: zeroes */
} FakeAlloc;

static const RendererImpl fake_impl;

FakeRenderer *fake_renderer(Renderer *renderer)
{
    return renderer->impl == &fake_impl ? (FakeRenderer *)(void *)renderer : NULL;
}

static bool fails(uint32_t *countdown, const char *call)
{
    if (*countdown == 0 || --*countdown > 0)
        return false;
    log_item(RENDERER_FAILED, "fake", call, "on demand");
    return true;
}

static uint64_t pixel_count(const RendererTexture *texture)
{
    return (uint64_t)texture->width_px * (uint64_t)texture->height_px;
}

static void destroy(Renderer *renderer)
{
    free(renderer);
}

static RendererTexture *texture_create(Renderer *renderer, const RendererTextureParams *params)
{
    FakeRenderer *fake = fake_renderer(renderer);
    if (fails(&fake->fail_create, "texture_create"))
        return NULL;
    FakeTexture *texture = calloc(1, sizeof *texture);
    texture->pixels = calloc((size_t)params->width_px * (size_t)params->height_px, 4);
    fake->textures++;
    return &texture->base;
}

/* Where the elements are; NULL where the fake cannot look. */
static const uint8_t *elements(const FakeRenderer *fake, const RendererSource *source)
{
    switch (source->kind) {
    case RENDERER_SOURCE_HOST:
        return source->host;
    case RENDERER_SOURCE_SHARED:
        return (const uint8_t *)source->shared->memory + source->offset_bytes;
    case RENDERER_SOURCE_DEVICE:
        return fake->reads_device ? (const uint8_t *)(uintptr_t)source->device_ptr : NULL;
    case RENDERER_SOURCE_ALLOC: {
        const FakeAlloc *alloc = (const FakeAlloc *)(const void *)source->alloc;
        return alloc->memory != NULL ? alloc->memory + source->offset_bytes : NULL;
    }
    }
    return NULL;
}

static bool texture_update(Renderer *renderer, RendererTexture *texture,
                           const RendererSource *source)
{
    FakeRenderer *fake = fake_renderer(renderer);
    fake->last_source = *source;
    fake->updates++;
    if (fails(&fake->fail_update, "texture_update"))
        return false;
    uint8_t *pixels = ((FakeTexture *)(void *)texture)->pixels;
    const uint8_t *src = elements(fake, source);
    const KernelVariant *scalar = kernel_variants();
    if (src == NULL)
        memset(pixels, 0x77, 4 * pixel_count(texture));
    else if (texture->pass.kind == RENDERER_PASS_COLORMAP)
        scalar->colormap((const float *)(const void *)src, pixels, pixel_count(texture),
                         colormap_table(texture->pass.colormap), texture->pass.vmin,
                         texture->pass.inv);
    else
        scalar->expand(src, pixels, pixel_count(texture), texture->pass.channels);
    return true;
}

static bool texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba)
{
    if (fails(&fake_renderer(renderer)->fail_write, "texture_write"))
        return false;
    memcpy(((FakeTexture *)(void *)texture)->pixels, rgba, 4 * pixel_count(texture));
    return true;
}

static bool texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst)
{
    if (fails(&fake_renderer(renderer)->fail_read, "texture_read"))
        return false;
    memcpy(dst, ((FakeTexture *)(void *)texture)->pixels, 4 * pixel_count(texture));
    return true;
}

static void texture_destroy(Renderer *renderer, RendererTexture *texture)
{
    fake_renderer(renderer)->textures--;
    free(((FakeTexture *)(void *)texture)->pixels);
    free(texture);
}

static RendererShared *shared_attach(Renderer *renderer, void *memory, uint64_t size_bytes)
{
    (void)memory;
    (void)size_bytes;
    FakeRenderer *fake = fake_renderer(renderer);
    if (!fake->attaches)
        return NULL;
    fake->attached++;
    return calloc(1, sizeof(RendererShared));
}

static void shared_detach(Renderer *renderer, RendererShared *shared)
{
    fake_renderer(renderer)->attached--;
    free(shared);
}

static RendererAlloc *alloc_import(Renderer *renderer, void *os_handle, uint64_t size_bytes,
                                   uint32_t handle_type)
{
    (void)size_bytes;
    FakeRenderer *fake = fake_renderer(renderer);
    if (fails(&fake->fail_import, "alloc_import"))
        return NULL;
    FakeAlloc *alloc = calloc(1, sizeof *alloc);
    alloc->memory = handle_type == CALIPER_ALLOC_HANDLE_HOST_POINTER ? os_handle : NULL;
    fake->allocs++;
    return &alloc->base;
}

static void alloc_release(Renderer *renderer, RendererAlloc *alloc)
{
    fake_renderer(renderer)->allocs--;
    free(alloc);
}

static bool frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px,
                        uint32_t clear_rgba)
{
    (void)renderer;
    (void)width_px;
    (void)height_px;
    (void)clear_rgba;
    return true;
}

static bool draw_ui(Renderer *renderer, const UiDraw *draw)
{
    (void)renderer;
    (void)draw;
    return true;
}

static bool frame_end(Renderer *renderer)
{
    (void)renderer;
    return true;
}

static bool frame_read(Renderer *renderer, uint8_t *dst)
{
    memset(dst, 0, 4 * (size_t)renderer->frame_width_px * (size_t)renderer->frame_height_px);
    return true;
}

static const char *path(const Renderer *renderer)
{
    (void)renderer;
    return "fake";
}

static const RendererImpl fake_impl = {
    .name = "fake",
    .destroy = destroy,
    .texture_create = texture_create,
    .texture_update = texture_update,
    .texture_write = texture_write,
    .texture_read = texture_read,
    .texture_destroy = texture_destroy,
    .shared_attach = shared_attach,
    .shared_detach = shared_detach,
    .alloc_import = alloc_import,
    .alloc_release = alloc_release,
    .frame_begin = frame_begin,
    .draw_ui = draw_ui,
    .frame_end = frame_end,
    .frame_read = frame_read,
    .path = path,
};

Renderer *fake_renderer_create(uint32_t caps, int32_t interop_index)
{
    FakeRenderer *fake = calloc(1, sizeof *fake);
    fake->base.impl = &fake_impl;
    fake->base.info = (RendererInfo){.name = "fake",
                                     .caps = caps,
                                     .max_texture_px = 4096,
                                     .max_source_bytes = 64u << 20,
                                     .interop_index = interop_index};
    fake->attaches = (caps & RENDERER_CAP_SHARED_IN_PLACE) != 0;
    return &fake->base;
}
