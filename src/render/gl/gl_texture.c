/* Textures of the gl renderer: RGBA8, one level; filtering is the sampler's. Frame thread. */
#include <stdlib.h>

#include "core/log.h"
#include "render/gl/gl.h"

/* Whether the driver would take this size; asks without allocating. */
static bool size_is_possible(int32_t width_px, int32_t height_px)
{
    GLint width = 0;
    glTexImage2D(GL_PROXY_TEXTURE_2D, 0, GL_RGBA8, width_px, height_px, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    return width == width_px;
}

RendererTexture *gl_texture_create(Renderer *renderer, const RendererTextureParams *params)
{
    GlRenderer *self = gl_renderer(renderer);
    if (!gl_enter(self) || gl_fails_here(self, "gl.texture"))
        return NULL;
    unsigned long long bytes =
        (unsigned long long)params->width_px * (unsigned long long)params->height_px * 4u;
    if (!size_is_possible(params->width_px, params->height_px)) {
        log_item(OUT_OF_MEMORY, "renderer_texture_create", bytes);
        return NULL;
    }
    GlTexture *texture = calloc(1, sizeof *texture);
    if (texture == NULL) {
        log_item(OUT_OF_MEMORY, "renderer_texture_create", bytes);
        return NULL;
    }
    glGenTextures(1, &texture->name);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture->name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, params->width_px, params->height_px, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, NULL);
    gl_label(self, GL_TEXTURE, texture->name, params->label);
    if (!gl_is_well(self, "renderer_texture_create")) {
        glDeleteTextures(1, &texture->name);
        free(texture);
        return NULL;
    }
    return &texture->base;
}

bool gl_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst)
{
    GlRenderer *self = gl_renderer(renderer);
    if (!gl_enter(self) || gl_fails_here(self, "gl.read"))
        return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, self->read_framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           ((GlTexture *)texture)->name, 0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glReadPixels(0, 0, texture->width_px, texture->height_px, GL_RGBA, GL_UNSIGNED_BYTE, dst);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
    self->base.counters.waits++;
    return gl_is_well(self, "renderer_texture_read");
}

/* The driver keeps the storage until the frames that sample it are done. */
void gl_texture_destroy(Renderer *renderer, RendererTexture *texture)
{
    GlRenderer *self = gl_renderer(renderer);
    GlTexture *own = (GlTexture *)texture;
    if (gl_enter(self))
        glDeleteTextures(1, &own->name);
    free(own);
}
