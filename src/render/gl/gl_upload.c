/* Uploads: the kernel writes into the ring, the driver copies from there. Frame thread.
 *
 * Pieces are whole rows of 4-byte pixels, so the unpack alignment of 4 holds for every width. A
 * texture larger than a segment goes in bands. */
#include <string.h>

#include "kernels/kernels.h"
#include "render/gl/gl.h"

/* A software driver copies within the call, so there the whole ring stays in the cache between the
 * kernel and that copy (measured: a third of the time at 1024^2). */
enum {
    SEGMENT_BYTES = 4 << 20,
    SOFTWARE_SEGMENT_BYTES = 512 << 10,
    BANDS_PER_SEGMENT = 2, /* a row of the widest texture still fits a band */
    PIECE_ALIGNMENT = 256
};

bool gl_ring_create(GlRenderer *self)
{
    GlRing *ring = &self->ring;
    ring->segment_bytes = self->base.info.software ? SOFTWARE_SEGMENT_BYTES : SEGMENT_BYTES;
    const GLsizeiptr bytes = (GLsizeiptr)ring->segment_bytes * GL_RING_SEGMENTS;
    glGenBuffers(1, &ring->buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, ring->buffer);
    if (self->has_storage) {
        const GLbitfield access = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        glBufferStorage(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, access);
        ring->mapped = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, bytes, access);
        if (ring->mapped == NULL)
            return false;
    } else {
        glBufferData(GL_PIXEL_UNPACK_BUFFER, bytes, NULL, GL_STREAM_DRAW);
    }
    gl_label(self, GL_BUFFER, ring->buffer, "upload ring");
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return true;
}

void gl_ring_destroy(GlRenderer *self)
{
    GlRing *ring = &self->ring;
    for (int i = 0; i < GL_RING_SEGMENTS; i++) {
        if (ring->fences[i] != NULL)
            glDeleteSync(ring->fences[i]);
        ring->fences[i] = NULL;
    }
    if (ring->buffer != 0)
        glDeleteBuffers(1, &ring->buffer);
    ring->buffer = 0;
    ring->mapped = NULL;
}

/* Room for `bytes` (at most a segment) that the device no longer reads; NULL when lost. The buffer
 * is bound, and until ring_commit mapped. */
static uint8_t *ring_reserve(GlRenderer *self, uint32_t bytes, uintptr_t *out_offset)
{
    GlRing *ring = &self->ring;
    if (bytes > ring->segment_bytes - ring->used_bytes) {
        ring->fences[ring->segment] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        ring->segment = (ring->segment + 1) % GL_RING_SEGMENTS;
        ring->used_bytes = 0;
        if (!gl_wait(self, &ring->fences[ring->segment], "the upload ring"))
            return NULL;
    }
    uintptr_t offset = (uintptr_t)ring->segment * ring->segment_bytes + ring->used_bytes;
    uint32_t padded = (bytes + PIECE_ALIGNMENT - 1) & ~(uint32_t)(PIECE_ALIGNMENT - 1);
    ring->used_bytes += padded; /* segments are multiples of the alignment */
    *out_offset = offset;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, ring->buffer);
    if (ring->mapped != NULL)
        return ring->mapped + offset;
    uint8_t *mapped = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, (GLintptr)offset, (GLsizeiptr)bytes,
                                       GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT |
                                           GL_MAP_UNSYNCHRONIZED_BIT);
    if (mapped == NULL)
        gl_lose(self, "the upload ring", "it cannot be mapped");
    return mapped;
}

static bool ring_commit(GlRenderer *self)
{
    if (self->ring.mapped != NULL || glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER))
        return true;
    return gl_lose(self, "the upload ring", "its memory was taken away");
}

static void pass_run(const RendererPass *pass, const uint8_t *src, uint8_t *dst, size_t count)
{
    const KernelVariant *kernel = kernel_best();
    if (pass->kind == RENDERER_PASS_COLORMAP)
        kernel->colormap((const float *)(const void *)src, dst, count,
                         colormap_table(pass->colormap), pass->vmin, pass->inv);
    else
        kernel->expand(src, dst, count, pass->channels);
}

/* Runs `pass` over the bytes, or copies pixels when it is NULL. */
static bool upload(GlRenderer *self, RendererTexture *texture, const RendererPass *pass,
                   const uint8_t *src, const char *where)
{
    if (!gl_enter(self) || gl_fails_here(self, "gl.upload"))
        return false;
    uint32_t width = (uint32_t)texture->width_px;
    uint32_t height = (uint32_t)texture->height_px;
    uint32_t row_bytes = width * 4u;
    size_t element_bytes = 4;
    if (pass != NULL && pass->kind == RENDERER_PASS_EXPAND)
        element_bytes = pass->channels;
    uint32_t band_rows = self->ring.segment_bytes / BANDS_PER_SEGMENT / row_bytes;
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, ((GlTexture *)texture)->name);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    for (uint32_t y = 0; y < height; y += band_rows) {
        uint32_t rows = band_rows < height - y ? band_rows : height - y;
        size_t count = (size_t)rows * width;
        uintptr_t offset = 0;
        uint8_t *dst = ring_reserve(self, rows * row_bytes, &offset);
        if (dst == NULL)
            return false;
        const uint8_t *band = src + (size_t)y * width * element_bytes;
        if (pass != NULL)
            pass_run(pass, band, dst, count);
        else
            memcpy(dst, band, count * 4u);
        if (!ring_commit(self))
            return false;
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, (GLint)y, (GLsizei)width, (GLsizei)rows, GL_RGBA,
                        GL_UNSIGNED_BYTE, (const void *)offset);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    uint64_t staged = (uint64_t)row_bytes * height;
    self->base.counters.staged_bytes += staged;
    texture->counters.staged_bytes += staged;
    return gl_is_well(self, where);
}

bool gl_texture_update(Renderer *renderer, RendererTexture *texture, const RendererSource *source)
{
    return upload(gl_renderer(renderer), texture, &texture->pass, source->host,
                  "renderer_texture_update");
}

bool gl_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba)
{
    return upload(gl_renderer(renderer), texture, NULL, rgba, "renderer_texture_write");
}
