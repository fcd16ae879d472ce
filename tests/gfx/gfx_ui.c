/* Draw lists against pixels worked by hand: fills, scissor, textures, blending, scale, sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

static GfxScene scene;
static const uint32_t white_pixel = 0xffffffffu;
static const GfxRect whole = {0.0f, 0.0f, 1.0f, 1.0f};

/* Fills wanted[x0..x1) x [y0..y1). */
static void paint(uint32_t *wanted, int32_t stride, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
                  uint32_t rgba)
{
    for (int32_t y = y0; y < y1; y++) {
        for (int32_t x = x0; x < x1; x++)
            wanted[y * stride + x] = rgba;
    }
}

static void test_solid(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    uint32_t wanted[32 * 20];
    uint32_t got[32 * 20];
    gfx_scene_init(&scene, 32, 20, 0xff302010u);
    gfx_command(&scene, white, UI_FILTER_LINEAR);
    gfx_rect(&scene, (GfxRect){3, 2, 7, 5}, whole, 0xff0000ffu);
    /* Centres inside: ceil(9.6 - 0.5) = 10 up to ceil(14.4 - 0.5) = 14. */
    gfx_rect(&scene, (GfxRect){9.6f, 7.3f, 14.4f, 9.7f}, whole, 0xff00ff00u);
    gfx_rect(&scene, (GfxRect){-50, 15, 500, 500}, whole, 0xffff0000u);
    gfx_rect(&scene, (GfxRect){20, 3, 20, 9}, whole, 0xffffffffu);       /* empty */
    gfx_rect(&scene, (GfxRect){20.6f, 3, 21.4f, 9}, whole, 0xffffffffu); /* between centres */
    gfx_rect(&scene, (GfxRect){28, 12, 24, 10}, whole, 0xff808080u);     /* corners swapped */
    gfx_draw(renderer, &scene, got);
    paint(wanted, 32, 0, 0, 32, 20, 0xff302010u);
    paint(wanted, 32, 3, 2, 7, 5, 0xff0000ffu);
    paint(wanted, 32, 10, 7, 14, 10, 0xff00ff00u);
    paint(wanted, 32, 0, 15, 32, 20, 0xffff0000u);
    paint(wanted, 32, 24, 10, 28, 12, 0xff808080u);
    gfx_assert_pixels(got, wanted, 32, 20, 0, "solid");
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

static void test_scissor(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    uint32_t wanted[24 * 24];
    uint32_t got[24 * 24];
    gfx_scene_init(&scene, 24, 24, 0xff000000u);
    UiCommand *command = gfx_command(&scene, white, UI_FILTER_NEAREST);
    command->clip_x0 = 5;
    command->clip_y0 = 3;
    command->clip_x1 = 11;
    command->clip_y1 = 4;
    gfx_rect(&scene, (GfxRect){0, 0, 24, 24}, whole, 0xff0000ffu);
    const UiVertex corner[3] = {
        {0, 0, 0, 0, 0xff00ff00u}, {24, 0, 0, 0, 0xff00ff00u}, {0, 24, 0, 0, 0xff00ff00u}};
    command = gfx_command(&scene, white, UI_FILTER_NEAREST);
    command->clip_x0 = 2;
    command->clip_y0 = 6;
    command->clip_x1 = 4;
    command->clip_y1 = 9;
    gfx_triangle(&scene, corner);
    command = gfx_command(&scene, white, UI_FILTER_NEAREST); /* an empty clip draws nothing */
    command->clip_x0 = command->clip_x1 = 24;
    gfx_rect(&scene, (GfxRect){0, 0, 24, 24}, whole, 0xffffffffu);
    gfx_draw(renderer, &scene, got);
    paint(wanted, 24, 0, 0, 24, 24, 0xff000000u);
    paint(wanted, 24, 5, 3, 11, 4, 0xff0000ffu);
    paint(wanted, 24, 2, 6, 4, 9, 0xff00ff00u);
    gfx_assert_pixels(got, wanted, 24, 24, 0, "scissor");
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* At whole scales a nearest texture is its own bytes. */
static void test_nearest(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint32_t texels[7 * 5];
    static uint32_t wanted[128 * 64];
    static uint32_t got[128 * 64];
    uint32_t random = 5;
    for (int i = 0; i < 7 * 5; i++)
        texels[i] = gfx_random(&random) | 0xff000000u;
    RendererTexture *texture = gfx_pixels(renderer, 7, 5, texels);
    for (int32_t scale = 1; scale <= 11; scale += 2) {
        gfx_scene_init(&scene, 128, 64, 0xff123456u);
        gfx_command(&scene, texture, UI_FILTER_NEAREST);
        float width = (float)(7 * scale);
        float height = (float)(5 * scale);
        gfx_rect(&scene, (GfxRect){3, 2, 3 + width, 2 + height}, whole, 0xffffffffu);
        gfx_draw(renderer, &scene, got);
        paint(wanted, 128, 0, 0, 128, 64, 0xff123456u);
        for (int32_t y = 0; y < 5 * scale; y++) {
            for (int32_t x = 0; x < 7 * scale; x++)
                wanted[(y + 2) * 128 + x + 3] = texels[y / scale * 7 + x / scale];
        }
        gfx_assert_pixels(got, wanted, 128, 64, 0, "nearest");
    }
    /* Turned over in both directions. */
    gfx_scene_init(&scene, 128, 64, 0xff123456u);
    gfx_command(&scene, texture, UI_FILTER_NEAREST);
    gfx_rect(&scene, (GfxRect){0, 0, 14, 10}, (GfxRect){1, 1, 0, 0}, 0xffffffffu);
    gfx_draw(renderer, &scene, got);
    for (int32_t y = 0; y < 10; y++) {
        for (int32_t x = 0; x < 14; x++)
            assert_int_equal(got[y * 128 + x], texels[(4 - y / 2) * 7 + 6 - x / 2]);
    }
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

/* Linear at scale 1 is exact; between two texels it is their weighted mean; beyond the edge it is
 * the edge. Filters of 8 bits of weight: within 2. */
static void test_linear(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    const uint32_t texels[2] = {0xff000000u, 0xffffc864u};
    uint32_t got[16 * 4];
    uint32_t wanted[16 * 4];
    RendererTexture *texture = gfx_pixels(renderer, 2, 1, texels);
    gfx_scene_init(&scene, 16, 4, 0xff000000u);
    gfx_command(&scene, texture, UI_FILTER_LINEAR);
    gfx_rect(&scene, (GfxRect){0, 0, 16, 4}, whole, 0xffffffffu);
    gfx_draw(renderer, &scene, got);
    for (int x = 0; x < 16; x++) {
        double weight = fmin(fmax((x + 0.5) / 8.0 - 0.5, 0.0), 1.0);
        uint32_t rgba = 0xff000000u;
        for (int c = 0; c < 24; c += 8)
            rgba |= (uint32_t)(weight * ((texels[1] >> c) & 0xffu) + 0.5) << c;
        for (int y = 0; y < 4; y++)
            wanted[y * 16 + x] = rgba;
    }
    gfx_assert_pixels(got, wanted, 16, 4, 2, "linear");

    uint32_t random = 11;
    uint32_t many[13 * 4];
    for (int i = 0; i < 13 * 4; i++)
        many[i] = gfx_random(&random) | 0xff000000u;
    RendererTexture *glyphs = gfx_pixels(renderer, 13, 4, many);
    gfx_scene_init(&scene, 16, 4, 0xff000000u);
    gfx_command(&scene, glyphs, UI_FILTER_LINEAR);
    gfx_rect(&scene, (GfxRect){2, 0, 15, 4}, whole, 0xffffffffu);
    gfx_draw(renderer, &scene, got);
    paint(wanted, 16, 0, 0, 16, 4, 0xff000000u);
    for (int y = 0; y < 4; y++)
        memcpy(&wanted[y * 16 + 2], &many[y * 13], 13 * 4);
    gfx_assert_pixels(got, wanted, 16, 4, 0, "linear at scale 1");
    renderer_texture_destroy(renderer, &glyphs);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

static uint32_t blend_by_hand(uint32_t dst, uint32_t src)
{
    double alpha = (src >> 24) / 255.0;
    uint32_t out = 0;
    for (int c = 0; c < 32; c += 8) {
        double s = (src >> c) & 0xffu;
        double d = (dst >> c) & 0xffu;
        double value = c == 24 ? s + d * (1.0 - alpha) : s * alpha + d * (1.0 - alpha);
        out |= (uint32_t)(value + 0.5) << c;
    }
    return out;
}

static uint32_t modulate_by_hand(uint32_t a, uint32_t b)
{
    uint32_t out = 0;
    for (int c = 0; c < 32; c += 8) {
        double product = ((a >> c) & 0xffu) * (double)((b >> c) & 0xffu) / 255.0;
        out |= (uint32_t)(product + 0.5) << c;
    }
    return out;
}

/* src_alpha, 1 - src_alpha; alpha one, 1 - src_alpha. Rounding differs by device: within 1. */
static void test_blend(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    enum { CELLS = 256 };
    uint32_t random = 29;
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    uint32_t wanted[CELLS];
    uint32_t got[CELLS];
    uint32_t clears[] = {0xff000000u, 0xffffffffu, 0x80402010u, 0x00000000u};
    for (int round = 0; round < 4; round++) {
        gfx_scene_init(&scene, CELLS, 1, clears[round]);
        gfx_command(&scene, white, UI_FILTER_NEAREST);
        for (int x = 0; x < CELLS; x++) {
            uint32_t rgba = (gfx_random(&random) & 0xffffffu) | (uint32_t)x << 24;
            GfxRect cell = {(float)x, 0, (float)(x + 1), 1};
            gfx_rect(&scene, cell, whole, rgba);
            wanted[x] = blend_by_hand(clears[round], rgba);
        }
        gfx_draw(renderer, &scene, got);
        gfx_assert_pixels(got, wanted, CELLS, 1, 1, "blend");
    }
    /* Vertex colour times texel, then blended. */
    uint32_t texels[CELLS];
    for (int x = 0; x < CELLS; x++)
        texels[x] = gfx_random(&random);
    RendererTexture *texture = gfx_pixels(renderer, CELLS, 1, texels);
    gfx_scene_init(&scene, CELLS, 1, 0xff406080u);
    gfx_command(&scene, texture, UI_FILTER_NEAREST);
    gfx_rect(&scene, (GfxRect){0, 0, CELLS, 1}, whole, 0xc08040ffu);
    gfx_draw(renderer, &scene, got);
    for (int x = 0; x < CELLS; x++)
        wanted[x] = blend_by_hand(0xff406080u, modulate_by_hand(texels[x], 0xc08040ffu));
    gfx_assert_pixels(got, wanted, CELLS, 1, 1, "modulate and blend");
    renderer_texture_destroy(renderer, &texture);
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* Colours are linear over a triangle. */
static void test_gradient(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    static uint32_t got[64 * 64];
    gfx_scene_init(&scene, 64, 64, 0xff000000u);
    gfx_command(&scene, white, UI_FILTER_NEAREST);
    const UiVertex vertices[3] = {
        {0, 0, 0, 0, 0xff0000ffu}, {64, 0, 0, 0, 0xff00ff00u}, {0, 64, 0, 0, 0xffff0000u}};
    gfx_triangle(&scene, vertices);
    gfx_draw(renderer, &scene, got);
    for (int y = 0; y < 64; y++) {
        for (int x = 0; x < 63 - y; x++) {
            double green = (x + 0.5) / 64.0 * 255.0;
            double blue = (y + 0.5) / 64.0 * 255.0;
            uint32_t wanted = (uint32_t)(255.0 - green - blue + 0.5) |
                              (uint32_t)(green + 0.5) << 8 | (uint32_t)(blue + 0.5) << 16 |
                              0xff000000u;
            if (gfx_pixel_distance(got[y * 64 + x], wanted) > 1)
                fail_msg("gradient at %d,%d: %08x, wanted %08x", x, y, got[y * 64 + x], wanted);
        }
    }
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* Logical (10,10)-(20,20), origin (2,4), scale 1.5: pixels (12,9)-(27,24). */
static void test_scale(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    static uint32_t got[48 * 36];
    static uint32_t wanted[48 * 36];
    gfx_scene_init(&scene, 48, 36, 0xff000000u);
    scene.scale = 1.5f;
    scene.origin_x = 2.0f;
    scene.origin_y = 4.0f;
    gfx_command(&scene, white, UI_FILTER_LINEAR);
    gfx_rect(&scene, (GfxRect){10, 10, 20, 20}, whole, 0xff0000ffu);
    gfx_draw(renderer, &scene, got);
    paint(wanted, 48, 0, 0, 48, 36, 0xff000000u);
    paint(wanted, 48, 12, 9, 27, 24, 0xff0000ffu);
    gfx_assert_pixels(got, wanted, 48, 36, 0, "scale 1.5");
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

static void test_resize(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    static uint32_t got[400 * 300];
    static uint32_t wanted[400 * 300];
    static const int32_t frame_sizes[][2] = {{64, 64}, {400, 300}, {1, 1},   {3, 300},
                                             {400, 3}, {64, 64},   {399, 17}};
    for (int i = 0; i < 7; i++) {
        int32_t width = frame_sizes[i][0];
        int32_t height = frame_sizes[i][1];
        gfx_scene_init(&scene, width, height, 0xff001122u + (uint32_t)i);
        gfx_command(&scene, white, UI_FILTER_LINEAR);
        gfx_rect(&scene, (GfxRect){(float)(width - 1), (float)(height - 1), (float)width, 900},
                 whole, 0xff00ffffu);
        gfx_draw(renderer, &scene, got);
        paint(wanted, width, 0, 0, width, height, scene.clear_rgba);
        wanted[width * height - 1] = 0xff00ffffu;
        gfx_assert_pixels(got, wanted, width, height, 0, "resize");
    }
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* What was updated in a frame is drawn in that frame, and a texture that was drawn and then
 * destroyed keeps its pixels for it. */
static void test_update_and_destroy_in_frame(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint32_t got[8 * 8];
    uint32_t wanted[8 * 8];
    RendererTexture *keep = gfx_pixels(renderer, 1, 1, &white_pixel);
    for (int frame = 0; frame < 20; frame++) {
        const uint32_t colour = 0xff000000u | (uint32_t)(frame * 12);
        RendererTexture *gone = gfx_pixels(renderer, 1, 1, &white_pixel);
        gfx_scene_init(&scene, 8, 8, 0xff000000u);
        gfx_command(&scene, keep, UI_FILTER_NEAREST);
        gfx_rect(&scene, (GfxRect){0, 0, 4, 8}, whole, 0xffffffffu);
        gfx_command(&scene, gone, UI_FILTER_NEAREST);
        gfx_rect(&scene, (GfxRect){4, 0, 8, 8}, whole, 0xff00ff00u);
        UiDraw draw = {&scene.list, 1, 0.0f, 0.0f, 1.0f};
        assert_true(renderer_frame_begin(renderer, 8, 8, 0xff000000u));
        assert_true(renderer_texture_write(renderer, keep, (const uint8_t *)&colour));
        assert_true(renderer_draw_ui(renderer, &draw));
        renderer_texture_destroy(renderer, &gone);
        assert_true(renderer_frame_end(renderer));
        assert_true(renderer_frame_read(renderer, (uint8_t *)got, sizeof got));
        paint(wanted, 8, 0, 0, 4, 8, colour);
        paint(wanted, 8, 4, 0, 8, 8, 0xff00ff00u);
        gfx_assert_pixels(got, wanted, 8, 8, 0, "destroyed in the frame");
    }
    renderer_texture_destroy(renderer, &keep);
    gfx_stop(&renderer);
}

int gfx_run_ui(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solid),
        cmocka_unit_test(test_scissor),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_blend),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_update_and_destroy_in_frame),
    };
    return cmocka_run_group_tests_name("ui", tests, NULL, NULL);
}
