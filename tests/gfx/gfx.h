/* tests/gfx/gfx.h: the suite that every renderer must pass, and what its files share.
 *
 * gfx_main.c chooses a backend and runs each group (gfx_textures.c, gfx_front.c, ...) on it; a test
 * starts its own offscreen renderer with gfx_start. Expected pixels come from gfx_expected.h or are
 * worked by hand; nothing here asks the code under test what is right. */
#ifndef CALIPER_TESTS_GFX_GFX_H
#define CALIPER_TESTS_GFX_GFX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/log.h"
#include "render/renderer.h"

/* The backend under test. */
const RendererBackend *gfx_backend(void);
void gfx_set_backend(const RendererBackend *backend);

/* A renderer of the backend under test; fails the test when it does not start. */
Renderer *gfx_start(void);
void gfx_stop(Renderer **renderer);

/* Warnings and errors since gfx_lines_reset, and the last one's item. */
void gfx_log_capture(void);
void gfx_lines_reset(void);
unsigned gfx_lines(void);
LogItem gfx_last_item(void);
/* The last call was refused with exactly one line of that item. */
void gfx_assert_one_line(LogItem item);

uint32_t gfx_random(uint32_t *state); /* xorshift32; *state is not 0 */

RendererTexture *gfx_texture(Renderer *renderer, int32_t width_px, int32_t height_px,
                             RendererPass pass);
/* A texture of given pixels, 0xAABBGGRR. */
RendererTexture *gfx_pixels(Renderer *renderer, int32_t width_px, int32_t height_px,
                            const uint32_t *rgba);
bool gfx_update(Renderer *renderer, RendererTexture *texture, const void *host, uint64_t bytes);
/* Fails with the first differing pixel; pixels differ when a channel does by more than that. */
void gfx_assert_pixels(const uint32_t *got, const uint32_t *wanted, int32_t width_px,
                       int32_t height_px, int tolerance, const char *what);
int gfx_pixel_distance(uint32_t a, uint32_t b);

/* ---- Draw lists ---- */

enum { GFX_VERTICES = 4096, GFX_INDICES = 8192, GFX_COMMANDS = 64 };

typedef struct GfxScene {
    UiVertex vertices[GFX_VERTICES];
    uint16_t indices[GFX_INDICES];
    UiCommand commands[GFX_COMMANDS];
    UiList list;
    int32_t width_px, height_px;
    float scale, origin_x, origin_y;
    uint32_t clear_rgba;
} GfxScene;

typedef struct GfxRect {
    float x0, y0, x1, y1;
} GfxRect;

void gfx_scene_init(GfxScene *scene, int32_t width_px, int32_t height_px, uint32_t clear_rgba);
/* Begins a command over the whole frame; later shapes belong to it. */
UiCommand *gfx_command(GfxScene *scene, RendererTexture *texture, UiFilter filter);
void gfx_rect(GfxScene *scene, GfxRect place, GfxRect texture_place, uint32_t rgba);
void gfx_triangle(GfxScene *scene, const UiVertex vertices[3]);
/* Begins, draws, ends and reads a frame. */
void gfx_draw(Renderer *renderer, const GfxScene *scene, uint32_t *out_rgba);

/* ---- Groups ---- */

int gfx_run_textures(void);
int gfx_run_front(void);
int gfx_run_ui(void);
int gfx_run_show(void);
int gfx_run_show_bridge(void);
int gfx_run_edges(void);
int gfx_run_faults(void);
int gfx_run_switch(void);
int gfx_run_window(void);
int gfx_run_window_gl(void);

#endif
