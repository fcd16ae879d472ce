/* Textures of the cpu renderer: plain memory that the kernels write. Frame thread. */
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "kernels/kernels.h"
#include "render/cpu/cpu.h"

const CpuTexture *cpu_texture(const RendererTexture *texture)
{
    return (const CpuTexture *)texture;
}

RendererTexture *cpu_texture_create(Renderer *renderer, const RendererTextureParams *params)
{
    (void)renderer;
    size_t bytes = (size_t)params->width_px * (size_t)params->height_px * sizeof(uint32_t);
    CpuTexture *texture = calloc(1, sizeof *texture);
    if (texture != NULL && !fault_here("cpu.texture"))
        texture->pixels = malloc(bytes);
    if (texture == NULL || texture->pixels == NULL) {
        log_item(OUT_OF_MEMORY, "renderer_texture_create", (unsigned long long)bytes);
        free(texture);
        return NULL;
    }
    return &texture->base;
}

void cpu_texture_destroy(Renderer *renderer, RendererTexture *texture)
{
    (void)renderer;
    CpuTexture *self = (CpuTexture *)texture;
    free(self->pixels);
    free(self);
}

static size_t pixel_count(const RendererTexture *texture)
{
    return (size_t)texture->width_px * (size_t)texture->height_px;
}

static void count_staged(Renderer *renderer, RendererTexture *texture)
{
    uint64_t bytes = pixel_count(texture) * 4u;
    renderer->counters.staged_bytes += bytes;
    texture->counters.staged_bytes += bytes;
}

bool cpu_texture_update(Renderer *renderer, RendererTexture *texture, const RendererSource *source)
{
    const CpuTexture *self = cpu_texture(texture);
    const KernelVariant *kernel = kernel_best();
    const void *bytes = source->host;
    if (source->kind == RENDERER_SOURCE_SHARED)
        bytes = (const uint8_t *)source->shared->memory + source->offset_bytes;
    uint8_t *dst = (uint8_t *)self->pixels;
    if (texture->pass.kind == RENDERER_PASS_COLORMAP)
        kernel->colormap(bytes, dst, pixel_count(texture), colormap_table(texture->pass.colormap),
                         texture->pass.vmin, texture->pass.inv);
    else
        kernel->expand(bytes, dst, pixel_count(texture), texture->pass.channels);
    count_staged(renderer, texture);
    return true;
}

bool cpu_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba)
{
    memcpy(cpu_texture(texture)->pixels, rgba, pixel_count(texture) * 4u);
    count_staged(renderer, texture);
    return true;
}

bool cpu_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst)
{
    (void)renderer;
    memcpy(dst, cpu_texture(texture)->pixels, pixel_count(texture) * 4u);
    return true;
}

/* Any memory of this process can be read in place; the base struct holds all there is to know. */
RendererShared *cpu_shared_attach(Renderer *renderer, void *memory, uint64_t size_bytes)
{
    (void)renderer;
    (void)memory;
    (void)size_bytes;
    if (fault_here("cpu.shared"))
        return NULL;
    return calloc(1, sizeof(RendererShared));
}

void cpu_shared_detach(Renderer *renderer, RendererShared *shared)
{
    (void)renderer;
    free(shared);
}
