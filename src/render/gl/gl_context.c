/* The gl renderer's life, its table, and what every file here asks for: the current context,
 * errors, loss, labels, fences. Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/gl/gl.h"

enum { TEXTURE_MAX_PX = 16384, ERRORS_MAX = 16 };
static const GLuint64 wait_step_ns = 1000000000u;
enum { WAIT_STEPS_MAX = 10 };

static void gl_destroy(Renderer *renderer);

static const char *gl_path(const Renderer *renderer)
{
    (void)renderer;
    return "CPU-staged (GL fallback)";
}

static const RendererImpl gl_impl = {
    .name = "gl",
    .destroy = gl_destroy,
    .texture_create = gl_texture_create,
    .texture_update = gl_texture_update,
    .texture_write = gl_texture_write,
    .texture_read = gl_texture_read,
    .texture_destroy = gl_texture_destroy,
    .frame_begin = gl_frame_begin,
    .draw_ui = gl_draw_ui,
    .frame_end = gl_frame_end,
    .frame_read = gl_frame_read,
    .path = gl_path,
};

GlRenderer *gl_renderer(Renderer *renderer)
{
    return renderer->impl == &gl_impl ? (GlRenderer *)renderer : NULL;
}

bool gl_lose(GlRenderer *self, const char *where, const char *why)
{
    if (!self->base.lost)
        log_item(RENDERER_LOST, "gl", where, why);
    self->base.lost = true;
    return false;
}

bool gl_fails_here(GlRenderer *self, const char *site)
{
    if (!fault_here(site))
        return false;
    gl_lose(self, site, "out of memory (injected)");
    return true;
}

/* With a window the shell is asked each time: it knows whether that window still is ours. */
bool gl_enter(GlRenderer *self)
{
    bool entered = self->window.open != NULL ? self->window.gl_make_current(self->window.user)
                                             : gl_egl_enter(&self->egl);
    return entered || gl_lose(self, "make current", "the context is gone");
}

bool gl_is_well(GlRenderer *self, const char *where)
{
    GLenum first = GL_NO_ERROR;
    for (int i = 0; i < ERRORS_MAX; i++) { /* a lost context may answer errors for ever */
        GLenum error = glGetError();
        if (error == GL_NO_ERROR)
            break;
        if (first == GL_NO_ERROR || error == GL_OUT_OF_MEMORY || error == GL_CONTEXT_LOST)
            first = error;
    }
    if (first == GL_NO_ERROR)
        return true;
    if (first == GL_OUT_OF_MEMORY)
        return gl_lose(self, where, "out of memory");
    if (first == GL_CONTEXT_LOST)
        return gl_lose(self, where, "the context was reset");
    if (!self->base.lost) {
        char why[32];
        snprintf(why, sizeof why, "error 0x%04x", (unsigned)first);
        log_item(RENDERER_FAILED, "gl", where, why);
    }
    return false;
}

bool gl_wait(GlRenderer *self, GLsync *fence, const char *where)
{
    if (*fence == NULL)
        return true;
    GLenum state = glClientWaitSync(*fence, 0, 0);
    if (state == GL_TIMEOUT_EXPIRED) {
        self->base.counters.waits++;
        for (int i = 0; i < WAIT_STEPS_MAX && state == GL_TIMEOUT_EXPIRED; i++)
            state = glClientWaitSync(*fence, GL_SYNC_FLUSH_COMMANDS_BIT, wait_step_ns);
    }
    glDeleteSync(*fence);
    *fence = NULL;
    if (state == GL_ALREADY_SIGNALED || state == GL_CONDITION_SATISFIED)
        return true;
    return gl_lose(self, where, "the device does not answer");
}

void gl_label(const GlRenderer *self, GLenum kind, GLuint name, const char *label)
{
    if (self->has_debug && label != NULL)
        glObjectLabel(kind, name, -1, label);
}

static void GLAPIENTRY on_message(GLenum source, GLenum type, GLuint id, GLenum severity,
                                  GLsizei length, const GLchar *text, const void *user)
{
    (void)source;
    (void)id;
    (void)user;
    int level = LOG_LEVEL_DEBUG;
    if (type == GL_DEBUG_TYPE_ERROR)
        level = LOG_LEVEL_ERROR;
    else if (severity == GL_DEBUG_SEVERITY_HIGH || severity == GL_DEBUG_SEVERITY_MEDIUM)
        level = LOG_LEVEL_WARN;
    log_write_text(level, "gl", text, length);
}

static void read_info(GlRenderer *self)
{
    RendererInfo *info = &self->base.info;
    const char *device = (const char *)glGetString(GL_RENDERER);
    const char *version = (const char *)glGetString(GL_VERSION);
    GLint side = 0;
    GLint viewport[2] = {0, 0};
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    side = side < viewport[0] ? side : viewport[0];
    side = side < viewport[1] ? side : viewport[1];
    side = side < TEXTURE_MAX_PX ? side : TEXTURE_MAX_PX;
    info->name = gl_impl.name;
    snprintf(info->device_name, sizeof info->device_name, "%s", device != NULL ? device : "?");
    snprintf(info->api_version, sizeof info->api_version, "OpenGL %s",
             version != NULL ? version : "?");
    info->software =
        strstr(info->device_name, "llvmpipe") != NULL || strstr(info->device_name, "softpipe");
    info->max_texture_px = side;
    info->max_source_bytes = (uint64_t)side * (uint64_t)side * 4u;
    info->interop_index = -1;
}

/* CALIPER_GL_UPLOAD=mapped takes the way of drivers without buffer storage. */
static bool storage_is_wanted(void)
{
    const char *way = getenv("CALIPER_GL_UPLOAD");
    return way == NULL || strcmp(way, "mapped") != 0;
}

static bool objects_create(GlRenderer *self, bool validate, char *error, size_t error_bytes)
{
    int version = epoxy_gl_version();
    if (version < 33) {
        snprintf(error, error_bytes, "the context is OpenGL %d.%d, wanted 3.3", version / 10,
                 version % 10);
        return false;
    }
    self->has_debug = version >= 43 || epoxy_has_gl_extension("GL_KHR_debug");
    self->has_storage =
        (version >= 44 || epoxy_has_gl_extension("GL_ARB_buffer_storage")) && storage_is_wanted();
    self->has_reset_status = version >= 45;
    read_info(self);
    if (validate && self->has_debug) {
        glEnable(GL_DEBUG_OUTPUT);
        glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
        glDebugMessageCallback(on_message, NULL);
    }
    if (fault_here("gl.context")) {
        snprintf(error, error_bytes, "out of memory (injected)");
        return false;
    }
    if (!gl_view_create(self, error, error_bytes))
        return false;
    glGenFramebuffers(1, &self->read_framebuffer);
    if (fault_here("gl.context") || !gl_ring_create(self) || glGetError() != GL_NO_ERROR) {
        snprintf(error, error_bytes, "no memory for the ring of pixel buffers");
        return false;
    }
    return true;
}

static bool window_open(GlRenderer *self, bool vsync_off, char *error, size_t error_bytes)
{
    const RendererWindow *window = &self->window;
    if (fault_here("gl.context")) {
        snprintf(error, error_bytes, "no context (injected)");
        return false;
    }
    if (!window->open(window->user, RENDERER_WINDOW_GL, error, error_bytes))
        return false;
    if (fault_here("gl.context") || !window->gl_make_current(window->user)) {
        snprintf(error, error_bytes, "the window's context cannot be made current");
        return false;
    }
    if (window->gl_swap_interval != NULL)
        window->gl_swap_interval(window->user, vsync_off ? 0 : 1);
    return true;
}

static void gl_destroy(Renderer *renderer)
{
    GlRenderer *self = gl_renderer(renderer);
    bool had_window = self->window.open != NULL;
    /* A context that is gone took its objects with it. */
    bool entered = had_window ? self->window.gl_make_current(self->window.user)
                              : self->egl.context != NULL && gl_egl_enter(&self->egl);
    if (entered) {
        gl_target_destroy(self);
        gl_ring_destroy(self);
        gl_view_destroy(self);
        glDeleteFramebuffers(1, &self->read_framebuffer);
        if (self->has_debug)
            glDebugMessageCallback(NULL, NULL);
    }
    if (!had_window)
        gl_egl_destroy(&self->egl);
    free(self);
}

Renderer *gl_renderer_create(const RendererParams *params, char *error, size_t error_bytes)
{
    GlRenderer *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    self->base.impl = &gl_impl;
    if (params->window != NULL)
        self->window = *params->window;
    bool opened = params->window != NULL
                      ? window_open(self, params->vsync_off, error, error_bytes)
                      : gl_egl_create(&self->egl, params->validate, error, error_bytes);
    if (!opened) {
        free(self);
        return NULL;
    }
    if (!objects_create(self, params->validate, error, error_bytes)) {
        gl_destroy(&self->base);
        return NULL;
    }
    return &self->base;
}
