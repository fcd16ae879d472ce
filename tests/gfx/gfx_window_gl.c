/* The gl renderer in a window: a window made of a small EGL surface of our own, so that the copy to
 * the window, the swap and the loss of either can be seen without a display server. */
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <stdio.h>
#include <string.h>

#include "gfx.h"

enum { WINDOW_WIDTH = 24, WINDOW_HEIGHT = 16 };

typedef struct EglWindow {
    EGLDisplay display;
    EGLContext context;
    EGLSurface surface;
    bool keeps_context, swaps;
    int swapped;
    int32_t interval;                             /* -1: never told */
    uint32_t shown[WINDOW_WIDTH * WINDOW_HEIGHT]; /* row 0 at the bottom, as the window has it */
} EglWindow;

static bool egl_window_open(void *user, RendererWindowApi api, char *error, size_t error_bytes)
{
    EglWindow *self = user;
    const EGLint config_wanted[] = {EGL_SURFACE_TYPE,
                                    EGL_PBUFFER_BIT,
                                    EGL_RENDERABLE_TYPE,
                                    EGL_OPENGL_BIT,
                                    EGL_RED_SIZE,
                                    8,
                                    EGL_ALPHA_SIZE,
                                    8,
                                    EGL_NONE};
    const EGLint context_wanted[] = {EGL_CONTEXT_MAJOR_VERSION,
                                     3,
                                     EGL_CONTEXT_MINOR_VERSION,
                                     3,
                                     EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                     EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                     EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, WINDOW_WIDTH, EGL_HEIGHT, WINDOW_HEIGHT, EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    assert_int_equal(api, RENDERER_WINDOW_GL);
    self->display =
        eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(self->display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(self->display, config_wanted, &config, 1, &count) || count < 1) {
        snprintf(error, error_bytes, "no EGL configuration with a pbuffer");
        return false;
    }
    self->context = eglCreateContext(self->display, config, EGL_NO_CONTEXT, context_wanted);
    self->surface = eglCreatePbufferSurface(self->display, config, size);
    return self->context != EGL_NO_CONTEXT && self->surface != EGL_NO_SURFACE;
}

static void egl_window_close(EglWindow *self)
{
    eglMakeCurrent(self->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (self->surface != EGL_NO_SURFACE)
        eglDestroySurface(self->display, self->surface);
    if (self->context != EGL_NO_CONTEXT)
        eglDestroyContext(self->display, self->context);
}

static bool egl_window_enter(void *user)
{
    EglWindow *self = user;
    return self->keeps_context &&
           eglMakeCurrent(self->display, self->surface, self->surface, self->context);
}

static void egl_window_size(void *user, int32_t *out_width_px, int32_t *out_height_px)
{
    (void)user;
    *out_width_px = WINDOW_WIDTH;
    *out_height_px = WINDOW_HEIGHT;
}

static bool egl_window_swap(void *user)
{
    EglWindow *self = user;
    self->swapped++;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, WINDOW_WIDTH, WINDOW_HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, self->shown);
    return self->swaps;
}

static void egl_window_interval(void *user, int32_t refreshes)
{
    EglWindow *self = user;
    assert_true(eglGetCurrentContext() == self->context);
    self->interval = refreshes;
}

static Renderer *start_paced(EglWindow *self, const RendererWindow *window, bool vsync_off)
{
    char error[256] = "";
    *self = (EglWindow){.keeps_context = true, .swaps = true, .interval = -1};
    Renderer *renderer = gfx_backend()->create(
        RENDERER_PARAMS(.window = window, .validate = true, .vsync_off = vsync_off), error,
        sizeof error);
    if (renderer == NULL)
        print_message("           skipped: %s\n", error);
    return renderer;
}

static Renderer *start(EglWindow *self, const RendererWindow *window)
{
    return start_paced(self, window, false);
}

#define EGL_WINDOW(self)                                                              \
    {                                                                                 \
        .user = (self), .open = egl_window_open, .framebuffer_size = egl_window_size, \
        .gl_make_current = egl_window_enter, .gl_swap = egl_window_swap,              \
        .gl_swap_interval = egl_window_interval                                       \
    }

/* Four corners of four colours arrive upright, and frame_read gives the same picture. */
static void test_upright(void **state)
{
    (void)state;
    static GfxScene scene;
    EglWindow self;
    const RendererWindow window = EGL_WINDOW(&self);
    const uint32_t white = 0xffffffffu;
    const GfxRect whole = {0, 0, 1, 1};
    uint32_t got[WINDOW_WIDTH * WINDOW_HEIGHT];
    Renderer *renderer = start(&self, &window);
    if (renderer == NULL)
        skip(); /* this driver has no pbuffers without a display */
    RendererTexture *texture = gfx_pixels(renderer, 1, 1, &white);
    gfx_scene_init(&scene, WINDOW_WIDTH, WINDOW_HEIGHT, 0xff000000u);
    gfx_command(&scene, texture, UI_FILTER_NEAREST);
    gfx_rect(&scene, (GfxRect){0, 0, 12, 8}, whole, 0xff0000ffu);
    gfx_rect(&scene, (GfxRect){12, 0, 24, 8}, whole, 0xff00ff00u);
    gfx_rect(&scene, (GfxRect){0, 8, 12, 16}, whole, 0xffff0000u);
    for (int frame = 0; frame < 5; frame++) {
        gfx_draw(renderer, &scene, got);
        assert_int_equal(self.swapped, frame + 1);
        for (int y = 0; y < WINDOW_HEIGHT; y++)
            assert_memory_equal(&self.shown[(WINDOW_HEIGHT - 1 - y) * WINDOW_WIDTH],
                                &got[y * WINDOW_WIDTH], WINDOW_WIDTH * 4);
        assert_int_equal(got[0], 0xff0000ffu);
        assert_int_equal(got[WINDOW_WIDTH - 1], 0xff00ff00u);
        assert_int_equal(got[(WINDOW_HEIGHT - 1) * WINDOW_WIDTH], 0xffff0000u);
    }
    /* A frame of another size, in the middle of a resize: its top left corner is the window's. */
    gfx_scene_init(&scene, 10, 6, 0xff00ffffu);
    gfx_draw(renderer, &scene, got);
    assert_int_equal(self.shown[(WINDOW_HEIGHT - 1) * WINDOW_WIDTH], 0xff00ffffu);
    assert_int_equal(self.shown[(WINDOW_HEIGHT - 6) * WINDOW_WIDTH + 9], 0xff00ffffu);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
    egl_window_close(&self);
}

static void test_swap_fails(void **state)
{
    (void)state;
    EglWindow self;
    const RendererWindow window = EGL_WINDOW(&self);
    Renderer *renderer = start(&self, &window);
    if (renderer == NULL)
        skip(); /* this driver has no pbuffers without a display */
    const uint32_t red = 0xff0000ffu;
    uint32_t got = 0;
    RendererTexture *texture = gfx_pixels(renderer, 1, 1, &red);
    self.swaps = false;
    gfx_lines_reset();
    assert_true(renderer_frame_begin(renderer, WINDOW_WIDTH, WINDOW_HEIGHT, 0));
    assert_false(renderer_frame_end(renderer));
    gfx_assert_one_line(LOG_RENDERER_LOST);
    assert_true(renderer_lost(renderer));
    assert_true(renderer_texture_read(renderer, texture, (uint8_t *)&got, 4)); /* still there */
    assert_int_equal(got, red);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
    egl_window_close(&self);
}

/* The display's pace is asked for, or not, as the owner wishes. */
static void test_swap_interval(void **state)
{
    (void)state;
    for (int vsync_off = 0; vsync_off < 2; vsync_off++) {
        EglWindow self;
        const RendererWindow window = EGL_WINDOW(&self);
        Renderer *renderer = start_paced(&self, &window, vsync_off == 1);
        if (renderer == NULL)
            skip(); /* this driver has no pbuffers without a display */
        assert_int_equal(self.interval, vsync_off == 1 ? 0 : 1);
        gfx_stop(&renderer);
        egl_window_close(&self);
    }
}

/* The window is gone, and its context with it: lost, quiet, and nothing left behind. */
static void test_context_goes(void **state)
{
    (void)state;
    EglWindow self;
    const RendererWindow window = EGL_WINDOW(&self);
    Renderer *renderer = start(&self, &window);
    if (renderer == NULL)
        skip(); /* this driver has no pbuffers without a display */
    const uint32_t red = 0xff0000ffu;
    uint32_t got = 0;
    RendererTexture *texture = gfx_pixels(renderer, 1, 1, &red);
    egl_window_close(&self);
    self.keeps_context = false;
    gfx_lines_reset();
    assert_false(renderer_texture_write(renderer, texture, (const uint8_t *)&red));
    gfx_assert_one_line(LOG_RENDERER_LOST);
    assert_true(renderer_lost(renderer));
    assert_false(renderer_texture_read(renderer, texture, (uint8_t *)&got, 4));
    assert_false(renderer_frame_begin(renderer, 4, 4, 0));
    assert_int_equal(gfx_lines(), 0);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

int gfx_run_window_gl(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upright),
        cmocka_unit_test(test_swap_fails),
        cmocka_unit_test(test_swap_interval),
        cmocka_unit_test(test_context_goes),
    };
    if (strcmp(gfx_backend()->name, "gl") != 0)
        return 0;
    return cmocka_run_group_tests_name("window (gl)", tests, NULL, NULL);
}
