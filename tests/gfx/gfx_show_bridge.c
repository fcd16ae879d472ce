/* What is on screen is what the bridge's textures hold: each way in which an applet changes the
 * pixels of a texture that is shown, or takes it away, has the next frame drawn, and the pixel is
 * looked at. After each change nothing changes any more, and no frame is drawn. */
#include <stdlib.h>
#include <string.h>

#include "bridge/bridge.h"
#include "gfx.h"

enum { SIDE = 16, TEXTURE_SIDE = 4, TEXELS = TEXTURE_SIDE * TEXTURE_SIDE, BLOCK_BYTES = 1 << 16 };

static const uint32_t background = 0xff302010u;

typedef struct Stage {
    Renderer *renderer;
    Bridge *bridge;
    GfxScene scene;
} Stage;

static Stage *stage_start(void)
{
    Stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    stage->renderer = gfx_start();
    stage->bridge = bridge_create(stage->renderer);
    assert_non_null(stage->bridge);
    return stage;
}

static void stage_stop(Stage *stage)
{
    bridge_destroy(&stage->bridge);
    gfx_stop(&stage->renderer);
    free(stage);
}

static CaliperTensor grey_tensor(void *data)
{
    return (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                           .data = data,
                           .dtype = CALIPER_DT_U8,
                           .ndim = 3,
                           .shape = {TEXTURE_SIDE, TEXTURE_SIDE, 1},
                           .strides = {TEXTURE_SIDE, 1, 1},
                           .device = CALIPER_DEV_CPU};
}

static CaliperTensor grey_fill(uint8_t *texels, uint8_t grey)
{
    memset(texels, grey, TEXELS);
    return grey_tensor(texels);
}

/* Of a texel that is grey. */
static uint32_t pixel_of(uint8_t grey)
{
    return 0xff000000u | grey * 0x010101u;
}

/* One frame as the shell makes it, with the texture all over the window. */
static void expect_frame(Stage *stage, CaliperTextureId id, RendererShown wanted, uint32_t pixel,
                         const char *what)
{
    uint32_t read[SIDE * SIDE];
    RendererTexture *texture = bridge_texture_for_draw(stage->bridge, id);
    gfx_scene_init(&stage->scene, SIDE, SIDE, background);
    if (texture != NULL) {
        gfx_command(&stage->scene, texture, UI_FILTER_NEAREST);
        gfx_rect(&stage->scene, (GfxRect){0, 0, SIDE, SIDE}, (GfxRect){0, 0, 1, 1}, 0xffffffffu);
    }
    UiDraw draw = {.lists = &stage->scene.list, .list_count = 1, .scale = 1.0f};
    RendererFrame frame = {.width_px = SIDE,
                           .height_px = SIDE,
                           .clear_rgba = background,
                           .draws = &draw,
                           .draw_count = 1};
    RendererShown shown = renderer_frame_show(stage->renderer, &frame);
    assert_true(renderer_frame_read(stage->renderer, (uint8_t *)read, sizeof read));
    bridge_frame_end(stage->bridge);
    if (shown != wanted || read[SIDE * SIDE / 2] != pixel)
        fail_msg("%s: answered %d, wanted %d; the pixel is %08x, wanted %08x", what, (int)shown,
                 (int)wanted, (unsigned)read[SIDE * SIDE / 2], (unsigned)pixel);
}

static void expect_news(Stage *stage, CaliperTextureId id, uint32_t pixel, const char *what)
{
    expect_frame(stage, id, RENDERER_SHOWN_DRAWN, pixel, what);
    expect_frame(stage, id, RENDERER_SHOWN_ALREADY, pixel, what);
}

static void test_ordinary(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    uint8_t texels[TEXELS], other_texels[TEXELS];
    CaliperTensor tensor = grey_fill(texels, 10);
    CaliperTextureId id = bridge_texture_from_tensor(stage->bridge, &tensor, 0);
    assert_true(id != 0);
    expect_news(stage, id, pixel_of(10), "made");
    memset(texels, 15, sizeof texels); /* the caller's own, once the call has returned */
    expect_frame(stage, id, RENDERER_SHOWN_ALREADY, pixel_of(10), "its tensor is another's");
    tensor = grey_fill(texels, 20);
    assert_true(bridge_update_texture(stage->bridge, id, &tensor));
    expect_news(stage, id, pixel_of(20), "updated");
    for (uint8_t grey = 30; grey < 35; grey++) { /* the last one of a frame is what it shows */
        tensor = grey_fill(texels, grey);
        assert_true(bridge_update_texture(stage->bridge, id, &tensor));
    }
    expect_news(stage, id, pixel_of(34), "updated five times");

    /* A texture takes the place of one that is gone, perhaps at its very address. */
    bridge_release_texture(stage->bridge, id);
    expect_frame(stage, id, RENDERER_SHOWN_ALREADY, pixel_of(34), "released, in its last frame");
    CaliperTensor other = grey_fill(other_texels, 40);
    CaliperTextureId next = bridge_texture_from_tensor(stage->bridge, &other, 0);
    assert_true(next != 0 && next != id);
    expect_news(stage, next, pixel_of(40), "another in its place");
    bridge_release_texture(stage->bridge, next);
    bridge_frame_end(stage->bridge);
    gfx_lines_reset();
    expect_news(stage, next, background, "none in its place");
    gfx_assert_one_line(LOG_BRIDGE_DRAWN_BAD_ID);
    stage_stop(stage);
}

static void test_shared(void **state)
{
    (void)state;
    static const int64_t shape[] = {TEXTURE_SIDE, TEXTURE_SIDE, 1};
    Stage *stage = stage_start();
    CaliperTensor block = {.struct_size = sizeof block};
    CaliperTextureId id = 0;
    uint8_t texels[TEXELS];
    assert_true(bridge_alloc_shared(stage->bridge, CALIPER_DT_U8, 3, shape, &block, &id));
    for (uint8_t grey = 50; grey < 55; grey++) { /* by nothing but writing there */
        memset(block.data, grey, TEXELS);
        expect_frame(stage, id, RENDERER_SHOWN_DRAWN, pixel_of(grey), "written");
    }
    CaliperTensor tensor = grey_fill(texels, 60);
    assert_true(bridge_update_texture(stage->bridge, id, &tensor));
    expect_frame(stage, id, RENDERER_SHOWN_DRAWN, pixel_of(60), "updated from another tensor");
    memset(block.data, 70, TEXELS);
    assert_true(bridge_update_texture(stage->bridge, id, &block));
    expect_frame(stage, id, RENDERER_SHOWN_DRAWN, pixel_of(70), "updated from its block");
    bridge_free_shared(stage->bridge, id);
    bridge_frame_end(stage->bridge);
    expect_news(stage, id, background, "freed");
    stage_stop(stage);
}

static void test_imported(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    uint8_t texels[TEXELS], *memory = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
    assert_non_null(memory);
    CaliperAllocId alloc = 0;
    if ((renderer_info(stage->renderer)->caps & RENDERER_CAP_IMPORT_HOST_POINTER) != 0)
        alloc = bridge_import_allocation(stage->bridge, memory, BLOCK_BYTES,
                                         CALIPER_ALLOC_HANDLE_HOST_POINTER);
    if (alloc != 0) {
        CaliperTensor tensor = grey_fill(texels, 80), described = grey_tensor(memory);
        CaliperTextureId id = bridge_texture_from_tensor(stage->bridge, &tensor, 0);
        expect_news(stage, id, pixel_of(80), "made");
        for (uint8_t grey = 90; grey < 95; grey++) { /* the same place again and again */
            memset(memory, grey, TEXELS);
            assert_true(bridge_update_texture_from_alloc(stage->bridge, id, alloc, 0, &described));
            expect_news(stage, id, pixel_of(grey), "updated from an import");
        }
        bridge_release_allocation(stage->bridge, alloc);
        expect_news(stage, id, pixel_of(94), "the import is gone");
        bridge_release_texture(stage->bridge, id);
    }
    stage_stop(stage);
    free(memory);
    if (alloc == 0)
        skip(); /* a renderer that imports no host memory */
}

/* The renderer that comes after has shown nothing yet, whatever it was handed over. */
static void test_next_renderer(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    uint8_t texels[TEXELS];
    CaliperTensor tensor = grey_fill(texels, 100);
    CaliperTextureId id = bridge_texture_from_tensor(stage->bridge, &tensor, 0);
    expect_news(stage, id, pixel_of(100), "made");
    Renderer *next = gfx_start();
    assert_int_equal(bridge_set_renderer(stage->bridge, next), 1);
    renderer_destroy(&stage->renderer);
    stage->renderer = next;
    expect_news(stage, id, pixel_of(100), "on the next renderer");
    tensor = grey_fill(texels, 110);
    assert_true(bridge_update_texture(stage->bridge, id, &tensor));
    expect_news(stage, id, pixel_of(110), "updated there");
    bridge_release_texture(stage->bridge, id);
    stage_stop(stage);
}

int gfx_run_show_bridge(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_imported),
        cmocka_unit_test(test_next_renderer),
    };
    return cmocka_run_group_tests_name("show of the bridge", tests, NULL, NULL);
}
