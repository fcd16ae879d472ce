/* render/gl/gl.h: the OpenGL 3.3 core renderer. Included by render/gl/ only; frame thread.
 *
 * Everything is staged by the CPU: kernels write into a ring of pixel buffers and the driver copies
 * from there. Frames are drawn into a target of our own, row 0 on top (the vertex shader turns the
 * picture over), and copied to the window if there is one.
 *
 * A GL_OUT_OF_MEMORY leaves the context undefined and a reset takes it away: both make the renderer
 * lost, and so does every injected failure, which stands for them. */
#ifndef CALIPER_RENDER_GL_GL_H
#define CALIPER_RENDER_GL_GL_H

#include <epoxy/gl.h>

#include "render/renderer_impl.h"

enum { GL_RING_SEGMENTS = 8, GL_FRAMES_AHEAD = 2 };

typedef struct GlEgl { /* the offscreen context; gl_egl.c alone knows the types */
    void *display, *context, *surface;
} GlEgl;

/* A ring of segments; each is fenced when it is full and waited for before it is written again. */
typedef struct GlRing {
    GLuint buffer;
    uint8_t *mapped; /* NULL: mapped piece by piece (no buffer storage) */
    uint32_t segment_bytes;
    uint32_t segment;    /* being filled */
    uint32_t used_bytes; /* of it */
    GLsync fences[GL_RING_SEGMENTS];
} GlRing;

typedef struct GlView {
    GLuint program, vertex_array, vertex_buffer, index_buffer;
    GLuint samplers[2]; /* by UiFilter */
    GLint place;        /* uniform: scale and offset from logical units to clip space */
} GlView;

typedef struct GlTarget {
    GLuint framebuffer, colour;
    int32_t width_px, height_px;
    GLsync fences[GL_FRAMES_AHEAD]; /* of the last frames, so that the queue stays short */
    uint32_t frame;
} GlTarget;

typedef struct GlRenderer {
    Renderer base;
    RendererWindow window; /* open == NULL: offscreen */
    GlEgl egl;
    bool has_debug, has_storage, has_reset_status;
    GlRing ring;
    GlView view;
    GlTarget target;
    GLuint read_framebuffer;
} GlRenderer;

typedef struct GlTexture {
    RendererTexture base;
    GLuint name;
} GlTexture;

/* gl_context.c */
GlRenderer *gl_renderer(Renderer *renderer);
/* Makes the context current on this thread. False: it is gone (then lost). */
bool gl_enter(GlRenderer *self);
/* Marks the renderer lost, with one line the first time. Always false. */
bool gl_lose(GlRenderer *self, const char *where, const char *why);
/* True when no GL error is pending; otherwise one line, and lost where the error says so. */
bool gl_is_well(GlRenderer *self, const char *where);
/* Asks for an injected failure at `site`; if there is one the renderer is lost. */
bool gl_fails_here(GlRenderer *self, const char *site);
void gl_label(const GlRenderer *self, GLenum kind, GLuint name, const char *label);
/* Waits for a fence and deletes it; counts the wait unless it was over. False: lost. */
bool gl_wait(GlRenderer *self, GLsync *fence, const char *where);

/* gl_egl.c */
bool gl_egl_create(GlEgl *egl, bool debug, char *error, size_t error_bytes);
bool gl_egl_enter(GlEgl *egl);
void gl_egl_destroy(GlEgl *egl);

/* gl_upload.c */
bool gl_ring_create(GlRenderer *self);
void gl_ring_destroy(GlRenderer *self);
bool gl_texture_update(Renderer *renderer, RendererTexture *texture, const RendererSource *source);
bool gl_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba);

/* gl_texture.c */
RendererTexture *gl_texture_create(Renderer *renderer, const RendererTextureParams *params);
bool gl_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst);
void gl_texture_destroy(Renderer *renderer, RendererTexture *texture);

/* gl_view.c */
bool gl_view_create(GlRenderer *self, char *error, size_t error_bytes);
void gl_view_destroy(GlRenderer *self);
bool gl_draw_ui(Renderer *renderer, const UiDraw *draw);

/* gl_present.c */
bool gl_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px, uint32_t clear_rgba);
bool gl_frame_end(Renderer *renderer);
bool gl_frame_read(Renderer *renderer, uint8_t *dst);
void gl_target_destroy(GlRenderer *self);

#endif
