/* renderer_frame_show: a frame that is on screen is not drawn again, and one that differs in
 * anything at all is. What "drawn" means is seen from inside: whether the front door has ended a
 * frame of the backend. */
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "render/renderer_impl.h"

enum { SIDE = 16 };

static const uint32_t white = 0xffffffffu;

/* Two textures, two commands, and everything that a frame is made of, to be changed by turns. */
typedef struct Stage {
    Renderer *renderer;
    RendererTexture *textures[2];
    GfxScene scene;
    UiDraw draws[2];
    RendererFrame frame;
} Stage;

static Stage *stage_start(void)
{
    Stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    stage->renderer = gfx_start();
    for (int i = 0; i < 2; i++) {
        const uint32_t pixels[4] = {0xff0000ffu, 0xff00ff00u, 0xffff0000u, i == 0 ? white : 0};
        stage->textures[i] = gfx_pixels(stage->renderer, 2, 2, pixels);
    }
    gfx_scene_init(&stage->scene, SIDE, SIDE, 0);
    for (int i = 0; i < 2; i++) {
        gfx_command(&stage->scene, stage->textures[0], UI_FILTER_NEAREST);
        gfx_rect(&stage->scene, (GfxRect){(float)i * 8, 0, (float)i * 8 + 6, 6},
                 (GfxRect){0, 0, 1, 1}, white);
    }
    for (int i = 0; i < 2; i++)
        stage->draws[i] = (UiDraw){.lists = &stage->scene.list, .list_count = 1, .scale = 1.0f};
    stage->frame = (RendererFrame){.width_px = SIDE,
                                   .height_px = SIDE,
                                   .clear_rgba = 0xff302010u,
                                   .draws = stage->draws,
                                   .draw_count = 1};
    return stage;
}

static void stage_stop(Stage *stage)
{
    for (int i = 0; i < 2; i++)
        renderer_texture_destroy(stage->renderer, &stage->textures[i]);
    gfx_stop(&stage->renderer);
    free(stage);
}

/* What is answered, and that the backend did what was answered. */
static void expect(Stage *stage, RendererShown wanted, const char *what)
{
    const uint64_t mark = UINT64_MAX;
    stage->renderer->frame_ended[0].waits = mark; /* the end of a frame writes it over */
    RendererShown shown = renderer_frame_show(stage->renderer, &stage->frame);
    bool drawn = stage->renderer->frame_ended[0].waits != mark;
    if (shown != wanted || drawn != (wanted == RENDERER_SHOWN_DRAWN))
        fail_msg("%s: answered %d, wanted %d; a frame was %s", what, (int)shown, (int)wanted,
                 drawn ? "drawn" : "not drawn");
}

/* After a change: drawn once, and then it is what is shown. */
static void expect_news(Stage *stage, const char *what)
{
    expect(stage, RENDERER_SHOWN_DRAWN, what);
    expect(stage, RENDERER_SHOWN_ALREADY, what);
}

static void test_same(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    uint32_t drawn[SIDE * SIDE], later[SIDE * SIDE];
    expect(stage, RENDERER_SHOWN_DRAWN, "the first");
    assert_true(renderer_frame_read(stage->renderer, (uint8_t *)drawn, sizeof drawn));
    expect(stage, RENDERER_SHOWN_ALREADY, "the second");
    assert_true(renderer_frame_read(stage->renderer, (uint8_t *)later, sizeof later));
    assert_memory_equal(drawn, later, sizeof drawn);
    /* Worked by hand: the first corner of a texture, and the background beside it. */
    assert_int_equal(drawn[1 * SIDE + 1], 0xff0000ffu);
    assert_int_equal(drawn[12 * SIDE + 12], 0xff302010u);

    /* The same bytes at other addresses. */
    GfxScene *copy = malloc(sizeof *copy);
    assert_non_null(copy);
    *copy = stage->scene;
    copy->list.vertices = copy->vertices;
    copy->list.indices = copy->indices;
    copy->list.commands = copy->commands;
    stage->draws[0].lists = &copy->list;
    expect(stage, RENDERER_SHOWN_ALREADY, "a copy of it");
    memset(&stage->scene, 0x55, sizeof stage->scene); /* what was compared with is its own */
    expect(stage, RENDERER_SHOWN_ALREADY, "with the first one gone");
    stage->frame.always = true;
    expect(stage, RENDERER_SHOWN_DRAWN, "always");
    stage->frame.always = false;
    expect(stage, RENDERER_SHOWN_ALREADY, "after always");
    free(copy);
    stage_stop(stage);
}

#define CHANGE(place, value)                   \
    do {                                       \
        (place) = (value);                     \
        expect_news(stage, #place " changed"); \
    } while (0)

static void test_changes(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    GfxScene *scene = &stage->scene;
    expect_news(stage, "the first");
    CHANGE(stage->frame.width_px, SIDE + 1);
    CHANGE(stage->frame.height_px, SIDE + 1);
    CHANGE(stage->frame.clear_rgba, 0xff000000u);
    CHANGE(stage->draws[0].origin_x, -1.0f);
    CHANGE(stage->draws[0].origin_y, 1.0f);
    CHANGE(stage->draws[0].scale, 1.25f);
    CHANGE(scene->vertices[0].x, 0.5f);
    CHANGE(scene->vertices[7].y, 5.0f);
    CHANGE(scene->vertices[1].u, 0.25f);
    CHANGE(scene->vertices[2].v, 0.75f);
    CHANGE(scene->vertices[5].rgba, 0xfffffffeu);
    CHANGE(scene->indices[11], 5);
    CHANGE(scene->commands[0].clip_x0, 1);
    CHANGE(scene->commands[0].clip_y0, 1);
    CHANGE(scene->commands[1].clip_x1, 15);
    CHANGE(scene->commands[1].clip_y1, 15);
    CHANGE(scene->commands[1].texture, stage->textures[1]);
    CHANGE(scene->commands[0].filter, UI_FILTER_LINEAR);
    CHANGE(scene->commands[1].index_count, 3);
    CHANGE(scene->commands[1].index_first, 3);
    CHANGE(scene->commands[0].vertex_first, 4);
    CHANGE(scene->list.command_count, 1);
    CHANGE(scene->list.index_count, 9);
    CHANGE(scene->list.vertex_count, 9);
    CHANGE(stage->frame.draw_count, 2);
    CHANGE(stage->draws[1].list_count, 0);
    CHANGE(stage->frame.draw_count, 0);
    stage_stop(stage);
}

static void test_textures(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    const RendererPass grey = {.kind = RENDERER_PASS_EXPAND, .channels = 1};
    const uint8_t bytes[4] = {1, 2, 3, 4};
    expect_news(stage, "the first");
    RendererTexture *made = gfx_texture(stage->renderer, 2, 2, grey);
    expect_news(stage, "a texture was made");
    assert_true(gfx_update(stage->renderer, made, bytes, sizeof bytes));
    expect_news(stage, "a texture was updated");
    const uint32_t pixels[4] = {white, white, white, white};
    assert_true(
        renderer_texture_write(stage->renderer, stage->textures[0], (const uint8_t *)pixels));
    expect_news(stage, "a texture was written");
    uint32_t read[SIDE * SIDE];
    assert_true(renderer_frame_read(stage->renderer, (uint8_t *)read, sizeof read));
    assert_int_equal(read[1 * SIDE + 1], white);
    gfx_lines_reset();
    assert_false(gfx_update(stage->renderer, made, bytes, 3));
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    expect(stage, RENDERER_SHOWN_ALREADY, "an update was refused");
    assert_true(renderer_texture_read(stage->renderer, made, (uint8_t *)read, sizeof read));
    expect(stage, RENDERER_SHOWN_ALREADY, "a texture was read");
    /* Another one may lie at the address of one that is gone. */
    renderer_texture_destroy(stage->renderer, &made);
    expect_news(stage, "a texture was destroyed");
    stage_stop(stage);
}

static void test_frames_between(void **state)
{
    (void)state;
    Stage *stage = stage_start();
    expect_news(stage, "the first");
    assert_true(renderer_frame_begin(stage->renderer, SIDE, SIDE, 0));
    gfx_lines_reset();
    expect(stage, RENDERER_SHOWN_NOT, "in a frame");
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_true(renderer_frame_end(stage->renderer));
    expect_news(stage, "a frame by hand was between");

    /* A frame whose draw was refused is no frame that is shown. */
    stage->scene.commands[0].clip_x1 = SIDE + 1;
    for (int i = 0; i < 2; i++) {
        gfx_lines_reset();
        assert_int_equal(renderer_frame_show(stage->renderer, &stage->frame), RENDERER_SHOWN_NOT);
        gfx_assert_one_line(LOG_RENDERER_REFUSED);
    }
    stage->scene.commands[0].clip_x1 = SIDE;
    expect_news(stage, "mended");

    /* Arrays that are not there, with the counts of the ones that were. */
    const UiList good = stage->scene.list;
    stage->scene.list.vertices = NULL;
    assert_int_equal(renderer_frame_show(stage->renderer, &stage->frame), RENDERER_SHOWN_NOT);
    stage->scene.list = good;
    expect_news(stage, "the vertices are back");
    stage->draws[0].lists = NULL;
    assert_int_equal(renderer_frame_show(stage->renderer, &stage->frame), RENDERER_SHOWN_NOT);
    stage->draws[0].lists = &stage->scene.list;
    expect_news(stage, "the lists are back");
    stage->frame.draws = NULL;
    gfx_lines_reset();
    expect(stage, RENDERER_SHOWN_NOT, "no draws");
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_int_equal(renderer_frame_show(NULL, &stage->frame), RENDERER_SHOWN_NOT);
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    assert_int_equal(renderer_frame_show(stage->renderer, NULL), RENDERER_SHOWN_NOT);
    gfx_assert_one_line(LOG_RENDERER_REFUSED);
    stage->frame.draws = stage->draws;
    expect(stage, RENDERER_SHOWN_ALREADY, "the draws are back, and nothing was drawn between");
    stage_stop(stage);
}

int gfx_run_show(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_textures),
        cmocka_unit_test(test_frames_between),
    };
    return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
