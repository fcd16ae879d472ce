/* The front door: every bad argument is refused with one line and changes nothing. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "gfx.h"
#include "gfx_expected.h"

static const RendererPass grey = {.kind = RENDERER_PASS_EXPAND, .channels = 1};

static void refuse_texture(Renderer *renderer, int32_t width, int32_t height, RendererPass pass)
{
    gfx_lines_reset();
    assert_null(renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = width, .height_px = height, .pass = pass)));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
}

static void test_create(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    int32_t limit = renderer_info(renderer)->max_texture_px;
    gfx_lines_reset();
    assert_null(renderer_texture_create(NULL, RENDERER_TEXTURE_PARAMS(.width_px = 1)));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_texture_create(renderer, NULL));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_texture_create(
        renderer, &(RendererTextureParams){.width_px = 1, .height_px = 1, .pass = grey}));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    refuse_texture(renderer, 0, 1, grey);
    refuse_texture(renderer, 1, 0, grey);
    refuse_texture(renderer, -1, 1, grey);
    refuse_texture(renderer, 1, INT32_MIN, grey);
    refuse_texture(renderer, limit + 1, 1, grey);
    refuse_texture(renderer, 1, INT32_MAX, grey);
    refuse_texture(renderer, 1, 1, (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = 0});
    refuse_texture(renderer, 1, 1, (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = 5});
    refuse_texture(renderer, 1, 1, (RendererPass){.colormap = -1, .inv = 1.0f});
    refuse_texture(renderer, 1, 1, (RendererPass){.colormap = 3, .inv = 1.0f});
    refuse_texture(renderer, 1, 1, (RendererPass){.vmin = NAN, .inv = 1.0f});
    refuse_texture(renderer, 1, 1, (RendererPass){.inv = INFINITY});
    refuse_texture(renderer, 1, 1, (RendererPass){.kind = (RendererPassKind)7, .channels = 1});
    gfx_stop(&renderer);
}

static void refuse_update(Renderer *renderer, RendererTexture *texture, RendererSource source)
{
    gfx_lines_reset();
    assert_false(renderer_texture_update(renderer, texture, &source));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
}

static void test_update(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint8_t bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    uint32_t before[6];
    uint32_t after[6];
    RendererTexture *texture = gfx_texture(renderer, 3, 2, grey);
    gfx_lines_reset();
    assert_false(renderer_texture_read(renderer, texture, (uint8_t *)before, sizeof before));
    gfx_assert_one_line(LOG_RENDERER_REFUSED); /* it has no pixels yet */
    assert_true(gfx_update(renderer, texture, bytes, 6));
    assert_true(renderer_texture_read(renderer, texture, (uint8_t *)before, sizeof before));

    RendererSource host = {.kind = RENDERER_SOURCE_HOST, .host = bytes, .extent_bytes = 6};
    RendererSource bad = host;
    refuse_update(NULL, texture, host);
    refuse_update(renderer, NULL, host);
    gfx_lines_reset();
    assert_false(renderer_texture_update(renderer, texture, NULL));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    bad.host = NULL;
    refuse_update(renderer, texture, bad);
    bad = host;
    bad.extent_bytes = 5;
    refuse_update(renderer, texture, bad);
    bad.extent_bytes = UINT64_MAX;
    refuse_update(renderer, texture, bad);
    bad = host;
    bad.kind = (RendererSourceKind)9;
    refuse_update(renderer, texture, bad);
    bad.kind = RENDERER_SOURCE_SHARED;
    refuse_update(renderer, texture, bad);
    bad.kind = RENDERER_SOURCE_ALLOC;
    refuse_update(renderer, texture, bad);
    bad.kind = RENDERER_SOURCE_DEVICE;
    refuse_update(renderer, texture, bad); /* no address, or no such cap */
    if ((renderer_info(renderer)->caps & RENDERER_CAP_DEVICE_SOURCE) == 0) {
        bad.device_ptr = 4096;
        refuse_update(renderer, texture, bad);
    }
    assert_true(renderer_texture_read(renderer, texture, (uint8_t *)after, sizeof after));
    assert_memory_equal(before, after, sizeof before);

    gfx_lines_reset();
    assert_false(renderer_texture_read(renderer, texture, (uint8_t *)after, sizeof after - 1));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_texture_read(renderer, texture, NULL, sizeof after));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_texture_write(renderer, texture, NULL));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    renderer_texture_destroy(renderer, &texture);
    renderer_texture_destroy(renderer, &texture); /* NULL now: nothing happens */
    renderer_texture_destroy(renderer, NULL);
    assert_int_equal(gfx_lines(), 0);
    gfx_stop(&renderer);
}

static void test_two_renderers(void **state)
{
    (void)state;
    Renderer *one = gfx_start();
    Renderer *two = gfx_start();
    const uint32_t red = 0xff0000ffu;
    const uint32_t blue = 0xffff0000u;
    RendererTexture *of_one = gfx_pixels(one, 1, 1, &red);
    RendererTexture *of_two = gfx_pixels(two, 1, 1, &blue);
    uint32_t got = 0;
    gfx_lines_reset();
    assert_false(renderer_texture_write(one, of_two, (const uint8_t *)&red));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    RendererTexture *kept = of_two;
    renderer_texture_destroy(one, &kept);
    assert_non_null(kept);
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    for (int i = 0; i < 3; i++) { /* each works while the other lives */
        assert_true(renderer_texture_read(one, of_one, (uint8_t *)&got, 4));
        assert_int_equal(got, red);
        assert_true(renderer_texture_read(two, of_two, (uint8_t *)&got, 4));
        assert_int_equal(got, blue);
    }
    renderer_texture_destroy(one, &of_one);
    gfx_stop(&one);
    assert_true(renderer_texture_read(two, of_two, (uint8_t *)&got, 4));
    assert_int_equal(got, blue);
    renderer_texture_destroy(two, &of_two);
    gfx_stop(&two);
}

static void refuse_draw(Renderer *renderer, const UiDraw *draw)
{
    gfx_lines_reset();
    assert_false(renderer_draw_ui(renderer, draw));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
}

static void refuse_command(Renderer *renderer, GfxScene *scene, UiCommand command)
{
    UiCommand good = scene->commands[0];
    UiDraw draw = {&scene->list, 1, 0.0f, 0.0f, 1.0f};
    scene->commands[0] = command;
    refuse_draw(renderer, &draw);
    scene->commands[0] = good;
}

#define REFUSE_WITH(field, value)                  \
    do {                                           \
        UiCommand changed = scene.commands[0];     \
        changed.field = value;                     \
        refuse_command(renderer, &scene, changed); \
    } while (0)

static void test_draw(void **state)
{
    (void)state;
    static GfxScene scene;
    Renderer *renderer = gfx_start();
    const uint32_t white = 0xffffffffu;
    RendererTexture *texture = gfx_pixels(renderer, 1, 1, &white);
    RendererTexture *empty = gfx_texture(renderer, 1, 1, grey);
    gfx_scene_init(&scene, 16, 16, 0);
    gfx_command(&scene, texture, UI_FILTER_NEAREST);
    gfx_rect(&scene, (GfxRect){0, 0, 4, 4}, (GfxRect){0, 0, 1, 1}, white);
    UiDraw draw = {&scene.list, 1, 0.0f, 0.0f, 1.0f};
    refuse_draw(renderer, &draw); /* no frame */
    assert_true(renderer_frame_begin(renderer, 16, 16, 0));
    refuse_draw(renderer, NULL);
    refuse_draw(NULL, &draw);
    refuse_draw(renderer, &(UiDraw){&scene.list, 1, 0.0f, 0.0f, 0.0f});
    refuse_draw(renderer, &(UiDraw){&scene.list, 1, 0.0f, 0.0f, NAN});
    refuse_draw(renderer, &(UiDraw){&scene.list, 1, INFINITY, 0.0f, 1.0f});
    refuse_draw(renderer, &(UiDraw){NULL, 1, 0.0f, 0.0f, 1.0f});
    refuse_draw(renderer, &(UiDraw){&(UiList){.vertex_count = 1}, 1, 0.0f, 0.0f, 1.0f});
    refuse_draw(renderer, &(UiDraw){&(UiList){.index_count = 1}, 1, 0.0f, 0.0f, 1.0f});
    refuse_draw(renderer, &(UiDraw){&(UiList){.command_count = 1}, 1, 0.0f, 0.0f, 1.0f});
    REFUSE_WITH(texture, NULL);
    REFUSE_WITH(texture, empty);
    REFUSE_WITH(filter, (UiFilter)2);
    REFUSE_WITH(clip_x0, -1);
    REFUSE_WITH(clip_y0, -1);
    REFUSE_WITH(clip_x1, 17);
    REFUSE_WITH(clip_y1, 17);
    REFUSE_WITH(clip_x1, -5);
    REFUSE_WITH(index_first, 3);
    REFUSE_WITH(index_first, UINT32_MAX);
    REFUSE_WITH(index_count, 9);
    REFUSE_WITH(index_count, 5);
    REFUSE_WITH(index_count, UINT32_MAX);
    REFUSE_WITH(vertex_first, 1);
    REFUSE_WITH(vertex_first, UINT32_MAX);
    scene.indices[4] = 4;
    refuse_draw(renderer, &draw);
    scene.indices[4] = 2;
    assert_true(renderer_draw_ui(renderer, &draw));
    assert_true(renderer_frame_end(renderer));
    renderer_texture_destroy(renderer, &empty);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

static void test_frames(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint32_t pixels[4 * 4];
    int32_t limit = renderer_info(renderer)->max_texture_px;
    gfx_lines_reset();
    assert_false(renderer_frame_read(renderer, (uint8_t *)pixels, sizeof pixels));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_frame_end(renderer));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_frame_begin(NULL, 4, 4, 0));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_frame_begin(renderer, 0, 4, 0));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_frame_begin(renderer, 4, limit + 1, 0));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_true(renderer_frame_begin(renderer, 4, 4, 0x80402010u));
    assert_false(renderer_frame_begin(renderer, 4, 4, 0));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_false(renderer_frame_read(renderer, (uint8_t *)pixels, sizeof pixels));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_true(renderer_frame_end(renderer));
    assert_false(renderer_frame_read(renderer, (uint8_t *)pixels, sizeof pixels - 1));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_true(renderer_frame_read(renderer, (uint8_t *)pixels, sizeof pixels));
    for (int i = 0; i < 16; i++)
        assert_int_equal(pixels[i], 0x80402010u);
    gfx_stop(&renderer);
}

static void test_memory(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    gfx_lines_reset();
    assert_null(renderer_shared_attach(renderer, NULL, page));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_shared_attach(renderer, (void *)(uintptr_t)(page + 1), page));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_shared_attach(renderer, (void *)(uintptr_t)page, page - 1));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_shared_attach(renderer, (void *)(uintptr_t)page, 0));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    if ((renderer_info(renderer)->caps &
         (RENDERER_CAP_IMPORT_FD | RENDERER_CAP_IMPORT_HOST_POINTER)) == 0) {
        assert_null(renderer_alloc_import(renderer, NULL, 64, 1));
        gfx_assert_one_line(LOG_RENDERER_REFUSED);
    }
    renderer_alloc_release(renderer, NULL);
    renderer_shared_detach(renderer, NULL);
    gfx_stop(&renderer);
}

static void test_choose(void **state)
{
    (void)state;
    gfx_lines_reset();
    assert_null(renderer_choose(NULL, NULL, NULL));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_null(renderer_choose(RENDERER_PARAMS(0), "no such", NULL));
    gfx_assert_one_line(LOG_RENDERER_UNKNOWN);
    assert_null(renderer_choose(RENDERER_PARAMS(0), NULL, "cpu"));
    gfx_assert_one_line(LOG_RENDERER_NONE);
    const char *name = gfx_backend()->name;
    Renderer *renderer = renderer_choose(RENDERER_PARAMS(0), name, NULL);
    assert_non_null(renderer);
    assert_string_equal(renderer_info(renderer)->name, name);
    assert_true(strlen(renderer_path(renderer)) > 0);
    assert_false(renderer_lost(renderer));
    gfx_stop(&renderer);
    assert_true(renderer_lost(NULL));
    assert_non_null(renderer_info(NULL));
    renderer_destroy(NULL);
    assert_int_equal(gfx_lines(), 0);
}

int gfx_run_front(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),        cmocka_unit_test(test_update),
        cmocka_unit_test(test_two_renderers), cmocka_unit_test(test_draw),
        cmocka_unit_test(test_frames),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_choose),
    };
    return cmocka_run_group_tests_name("front door", tests, NULL, NULL);
}
