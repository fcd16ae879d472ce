/* Draw lists at the edges: shared edges, long lists, nothing at all, numbers that are none, and a
 * whole scene against the cpu renderer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

static GfxScene scene;
static const uint32_t white_pixel = 0xffffffffu;
static const GfxRect whole = {0.0f, 0.0f, 1.0f, 1.0f};

/* Fans of half transparent triangles: where two share an edge each pixel is drawn once, never twice
 * and never not at all, whatever the edge's direction. */
static void test_shared_edges(void **state)
{
    (void)state;
    enum { SIDE = 96, SPOKES = 17 };
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    static uint32_t got[SIDE * SIDE];
    for (int round = 0; round < 8; round++) {
        float centre_x = 48.0f + 0.25f * (float)round;
        float centre_y = 48.0f - 0.5f * (float)(round % 3);
        gfx_scene_init(&scene, SIDE, SIDE, 0xff000000u);
        gfx_command(&scene, white, UI_FILTER_NEAREST);
        for (int i = 0; i < SPOKES; i++) {
            double from = 6.283185307179586 * i / SPOKES;
            double to = 6.283185307179586 * ((i + 1) % SPOKES) / SPOKES;
            UiVertex fan[3] = {{centre_x, centre_y, 0, 0, 0x80ffffffu},
                               {48.0f + (float)(200.0 * cos(from)),
                                48.0f + (float)(200.0 * sin(from)), 0, 0, 0x80ffffffu},
                               {48.0f + (float)(200.0 * cos(to)), 48.0f + (float)(200.0 * sin(to)),
                                0, 0, 0x80ffffffu}};
            if ((i + round) % 2 == 0) { /* both windings */
                UiVertex swap = fan[1];
                fan[1] = fan[2];
                fan[2] = swap;
            }
            gfx_triangle(&scene, fan);
        }
        gfx_draw(renderer, &scene, got);
        for (int i = 0; i < SIDE * SIDE; i++) {
            if (gfx_pixel_distance(got[i], 0xff808080u) > 1)
                fail_msg("pixel %d,%d is %08x: drawn %s", i % SIDE, i / SIDE, got[i],
                         (got[i] & 0xffu) < 0x40u ? "by no triangle" : "twice");
        }
    }
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* An edge exactly through pixel centres: left and top belong to the shape, right and bottom not. */
static void test_top_left(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    uint32_t got[16 * 16];
    for (int as_triangles = 0; as_triangles < 2; as_triangles++) {
        gfx_scene_init(&scene, 16, 16, 0xff000000u);
        gfx_command(&scene, white, UI_FILTER_NEAREST);
        if (as_triangles == 0) {
            gfx_rect(&scene, (GfxRect){2.5f, 3.5f, 9.5f, 7.5f}, whole, 0xff0000ffu);
        } else { /* the other diagonal, which is no rectangle to a fast path */
            const UiVertex a = {2.5f, 3.5f, 0, 0, 0xff0000ffu};
            const UiVertex b = {9.5f, 3.5f, 0, 0, 0xff0000ffu};
            const UiVertex c = {9.5f, 7.5f, 0, 0, 0xff0000ffu};
            const UiVertex d = {2.5f, 7.5f, 0, 0, 0xff0000ffu};
            gfx_triangle(&scene, (UiVertex[3]){a, b, d});
            gfx_triangle(&scene, (UiVertex[3]){b, c, d});
        }
        gfx_draw(renderer, &scene, got);
        for (int y = 0; y < 16; y++) {
            for (int x = 0; x < 16; x++) {
                bool inside = x >= 2 && x < 9 && y >= 3 && y < 7;
                if (got[y * 16 + x] != (inside ? 0xff0000ffu : 0xff000000u))
                    fail_msg("%s: pixel %d,%d is %08x", as_triangles ? "triangles" : "rectangle", x,
                             y, got[y * 16 + x]);
            }
        }
    }
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* More than 65536 vertices, reached by vertex_first; two lists in one draw. */
static void test_long_list(void **state)
{
    (void)state;
    enum { FIRST = 70000 };
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    UiVertex *vertices = calloc(FIRST + 4, sizeof *vertices);
    assert_non_null(vertices);
    const float corners[4][2] = {{4, 4}, {8, 4}, {8, 8}, {4, 8}};
    for (int i = 0; i < 4; i++)
        vertices[FIRST + i] = (UiVertex){corners[i][0], corners[i][1], 0.5f, 0.5f, 0xff00ff00u};
    const uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand command = {
        .clip_x1 = 16, .clip_y1 = 16, .texture = white, .index_count = 6, .vertex_first = FIRST};
    UiList lists[2] = {{vertices, FIRST + 4, indices, 6, &command, 1}, {0}};
    gfx_scene_init(&scene, 16, 16, 0);
    gfx_command(&scene, white, UI_FILTER_NEAREST);
    gfx_rect(&scene, (GfxRect){10, 10, 12, 12}, whole, 0xff0000ffu);
    lists[1] = scene.list;
    uint32_t got[16 * 16];
    UiDraw draw = {lists, 2, 0.0f, 0.0f, 1.0f};
    assert_true(renderer_frame_begin(renderer, 16, 16, 0xff000000u));
    assert_true(renderer_draw_ui(renderer, &draw));
    assert_true(renderer_frame_end(renderer));
    assert_true(renderer_frame_read(renderer, (uint8_t *)got, sizeof got));
    for (int i = 0; i < 256; i++) {
        int x = i % 16;
        int y = i / 16;
        uint32_t wanted = 0xff000000u;
        if (x >= 4 && x < 8 && y >= 4 && y < 8)
            wanted = 0xff00ff00u;
        if (x >= 10 && x < 12 && y >= 10 && y < 12)
            wanted = 0xff0000ffu;
        assert_int_equal(got[i], wanted);
    }
    free(vertices);
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

static void test_nothing(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    RendererTexture *white = gfx_pixels(renderer, 1, 1, &white_pixel);
    uint32_t got[4 * 4];
    UiCommand command = {.clip_x1 = 4, .clip_y1 = 4, .texture = white};
    UiList lists[3] = {{0}, {.commands = &command, .command_count = 1}, {0}};
    assert_true(renderer_frame_begin(renderer, 4, 4, 0xff112233u));
    assert_true(renderer_draw_ui(renderer, &(UiDraw){NULL, 0, 0.0f, 0.0f, 1.0f}));
    assert_true(renderer_draw_ui(renderer, &(UiDraw){lists, 3, 0.0f, 0.0f, 1.0f}));
    assert_true(renderer_frame_end(renderer));
    assert_true(renderer_frame_read(renderer, (uint8_t *)got, sizeof got));
    for (int i = 0; i < 16; i++)
        assert_int_equal(got[i], 0xff112233u);
    renderer_texture_destroy(renderer, &white);
    gfx_stop(&renderer);
}

/* Positions and texture positions that are no numbers, or far away: nothing breaks, and a good
 * shape in the same list is drawn. */
static void test_odd_numbers(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1.0e30f, -1.0e30f, 3.0e6f, -3.0e6f};
    Renderer *renderer = gfx_start();
    uint32_t texels[4] = {0xff0000ffu, 0xff00ff00u, 0xffff0000u, 0xffffffffu};
    RendererTexture *texture = gfx_pixels(renderer, 2, 2, texels);
    uint32_t got[16 * 16];
    for (int i = 0; i < 7; i++) {
        for (int filter = 0; filter < 2; filter++) {
            gfx_scene_init(&scene, 16, 16, 0xff000000u);
            gfx_command(&scene, texture, (UiFilter)filter);
            gfx_rect(&scene, (GfxRect){0, 0, 8, 8}, (GfxRect){0, 0, odd[i], 1}, 0xffffffffu);
            gfx_rect(&scene, (GfxRect){0, 0, 8, 8}, (GfxRect){odd[i], odd[i], odd[i], odd[i]},
                     0x80ffffffu);
            UiVertex triangle[3] = {{0, 0, 0, 0, 0xffffffffu},
                                    {8, 0, odd[i], 0, 0xff00ffffu},
                                    {0, 8, 0, odd[i], 0xffffff00u}};
            gfx_triangle(&scene, triangle);
            if (!(fabsf(odd[i]) < 1.0e7f)) {
                triangle[1].x = odd[i]; /* left out or drawn in part: only not below row 8 */
                gfx_triangle(&scene, triangle);
            }
            gfx_rect(&scene, (GfxRect){12, 12, 14, 14}, (GfxRect){0.25f, 0.25f, 0.25f, 0.25f},
                     0xffffffffu);
            gfx_draw(renderer, &scene, got);
            assert_int_equal(got[12 * 16 + 12], 0xff0000ffu);
            assert_int_equal(got[15 * 16 + 15], 0xff000000u);
        }
    }
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

static void build_scene(GfxScene *out, RendererTexture *glyphs, RendererTexture *image)
{
    uint32_t random = 4242;
    gfx_scene_init(out, 320, 240, 0xff201810u);
    for (int c = 0; c < 12; c++) {
        bool smooth = c % 3 != 0;
        UiCommand *command = gfx_command(out, smooth ? glyphs : image,
                                         c % 2 == 0 ? UI_FILTER_LINEAR : UI_FILTER_NEAREST);
        command->clip_x0 = (int32_t)(gfx_random(&random) % 40u);
        command->clip_y1 = 240 - (int32_t)(gfx_random(&random) % 40u);
        for (int i = 0; i < 12; i++) {
            float x = (float)(gfx_random(&random) % 3000u) / 10.0f;
            float y = (float)(gfx_random(&random) % 2200u) / 10.0f;
            float size = 4.0f + (float)(gfx_random(&random) % 500u) / 10.0f;
            uint32_t rgba = gfx_random(&random) | 0x40000000u;
            if (i % 3 != 2) {
                gfx_rect(out, (GfxRect){x, y, x + size, y + size * 0.5f}, whole, rgba);
            } else {
                UiVertex t[3] = {{x, y, 0.0f, 0.0f, rgba},
                                 {x + size, y + 3.0f, 1.0f, 0.0f, gfx_random(&random)},
                                 {x + 2.0f, y + size, 0.5f, 1.0f, rgba}};
                gfx_triangle(out, t);
            }
        }
    }
}

static void render_scene(Renderer *renderer, uint32_t *out)
{
    uint32_t random = 8;
    uint32_t glyph_texels[32 * 32];
    uint32_t image_texels[9 * 7];
    for (int i = 0; i < 32 * 32; i++)
        glyph_texels[i] = 0xffffffu | (uint32_t)((i * 8) & 0xff) << 24; /* smooth alpha */
    for (int i = 0; i < 9 * 7; i++)
        image_texels[i] = gfx_random(&random) | 0xff000000u;
    RendererTexture *glyphs = gfx_pixels(renderer, 32, 32, glyph_texels);
    RendererTexture *image = gfx_pixels(renderer, 9, 7, image_texels);
    build_scene(&scene, glyphs, image);
    gfx_draw(renderer, &scene, out);
    renderer_texture_destroy(renderer, &glyphs);
    renderer_texture_destroy(renderer, &image);
}

/* A scene of 144 overlapping shapes, against the cpu renderer: at most 1 pixel in 100 more than 8
 * levels away (edges through a centre, nearest texels at a border), all others within 8 (layers of
 * blending, each rounded). */
static void test_whole_scene(void **state)
{
    (void)state;
    static uint32_t got[320 * 240];
    static uint32_t reference[320 * 240];
    char error[256];
    Renderer *renderer = gfx_start();
    Renderer *cpu = NULL;
    for (const RendererBackend *b = renderer_backends; b->name != NULL; b++) {
        if (strcmp(b->name, "cpu") == 0)
            cpu = b->create(RENDERER_PARAMS(0), error, sizeof error);
    }
    assert_non_null(cpu);
    render_scene(renderer, got);
    render_scene(cpu, reference);
    unsigned far = 0;
    unsigned drawn = 0;
    for (int i = 0; i < 320 * 240; i++) {
        far += gfx_pixel_distance(got[i], reference[i]) > 8 ? 1u : 0u;
        drawn += reference[i] != scene.clear_rgba ? 1u : 0u;
    }
    assert_true(drawn > 320u * 240u / 4u);
    if (far > 320u * 240u / 100u)
        fail_msg("%u of %u pixels are more than 8 levels from the cpu renderer's", far,
                 320u * 240u);
    print_message("           %u of %u pixels beyond 8 levels\n", far, 320u * 240u);
    gfx_stop(&cpu);
    gfx_stop(&renderer);
}

int gfx_run_edges(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_edges), cmocka_unit_test(test_top_left),
        cmocka_unit_test(test_long_list),    cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_odd_numbers),  cmocka_unit_test(test_whole_scene),
    };
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
