/* Frames of the gl renderer: the target, its way to the window, read-back. Frame thread. */
#include "render/gl/gl.h"

void gl_target_destroy(GlRenderer *self)
{
    GlTarget *target = &self->target;
    for (int i = 0; i < GL_FRAMES_AHEAD; i++) {
        if (target->fences[i] != NULL)
            glDeleteSync(target->fences[i]);
    }
    glDeleteFramebuffers(1, &target->framebuffer);
    glDeleteTextures(1, &target->colour);
    *target = (GlTarget){0};
}

static bool target_create(GlRenderer *self, int32_t width_px, int32_t height_px)
{
    GlTarget *target = &self->target;
    gl_target_destroy(self);
    glGenTextures(1, &target->colour);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, target->colour);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width_px, height_px, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 NULL);
    glGenFramebuffers(1, &target->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target->colour, 0);
    gl_label(self, GL_TEXTURE, target->colour, "frame");
    GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    if (!gl_is_well(self, "renderer_frame_begin"))
        return false;
    if (status != GL_FRAMEBUFFER_COMPLETE)
        return gl_lose(self, "renderer_frame_begin", "the frame's target is not complete");
    target->width_px = width_px;
    target->height_px = height_px;
    return true;
}

bool gl_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px, uint32_t clear_rgba)
{
    GlRenderer *self = gl_renderer(renderer);
    GlTarget *target = &self->target;
    if (!gl_enter(self) || gl_fails_here(self, "gl.frame"))
        return false;
    if ((target->width_px != width_px || target->height_px != height_px) &&
        !target_create(self, width_px, height_px))
        return false;
    if (!gl_wait(self, &target->fences[target->frame % GL_FRAMES_AHEAD], "renderer_frame_begin"))
        return false;
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glDisable(GL_DITHER);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glClearColor((float)(clear_rgba & 0xffu) / 255.0f, (float)((clear_rgba >> 8) & 0xffu) / 255.0f,
                 (float)((clear_rgba >> 16) & 0xffu) / 255.0f, (float)(clear_rgba >> 24) / 255.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    return gl_is_well(self, "renderer_frame_begin");
}

/* Copies the target, whose row 0 is the top, to the window, whose row 0 is the bottom. */
static bool present(GlRenderer *self)
{
    const GlTarget *target = &self->target;
    int32_t window_width = 0;
    int32_t window_height = 0;
    self->window.framebuffer_size(self->window.user, &window_width, &window_height);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_FRAMEBUFFER_SRGB);
    if (window_width != target->width_px || window_height != target->height_px)
        glClear(GL_COLOR_BUFFER_BIT); /* in the middle of a resize */
    glBlitFramebuffer(0, 0, target->width_px, target->height_px, 0, window_height, target->width_px,
                      window_height - target->height_px, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    if (!gl_is_well(self, "renderer_frame_end"))
        return false;
    if (gl_fails_here(self, "gl.present"))
        return false;
    return self->window.gl_swap(self->window.user) ||
           gl_lose(self, "renderer_frame_end", "the window does not swap");
}

bool gl_frame_end(Renderer *renderer)
{
    GlRenderer *self = gl_renderer(renderer);
    GlTarget *target = &self->target;
    if (!gl_enter(self))
        return false;
    if (self->window.open != NULL) {
        if (!present(self))
            return false;
    } else {
        if (gl_fails_here(self, "gl.present"))
            return false;
    }
    target->fences[target->frame % GL_FRAMES_AHEAD] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    target->frame++;
    glFlush();
    if (self->has_reset_status && glGetGraphicsResetStatus() != GL_NO_ERROR)
        return gl_lose(self, "renderer_frame_end", "the context was reset");
    return gl_is_well(self, "renderer_frame_end");
}

bool gl_frame_read(Renderer *renderer, uint8_t *dst)
{
    GlRenderer *self = gl_renderer(renderer);
    if (!gl_enter(self) || gl_fails_here(self, "gl.read"))
        return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, self->target.framebuffer);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glReadPixels(0, 0, self->target.width_px, self->target.height_px, GL_RGBA, GL_UNSIGNED_BYTE,
                 dst);
    self->base.counters.waits++;
    return gl_is_well(self, "renderer_frame_read");
}
