/* Failures at every call that can fail: the Nth site of the backend fails, for each N until a whole
 * life passes without one. Nothing crashes or leaks, each failure is told once, and where the
 * renderer is lost the next one in the list starts and takes over. */
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "gfx.h"
#include "gfx_expected.h"

enum { LIVES_MAX = 400, SIDE = 24 };

typedef struct Life {
    Renderer *renderer;
    RendererTexture *textures[3];
    bool failed; /* some call returned false or NULL */
} Life;

static GfxScene scene;

/* What the backend's fault sites begin with. */
static const char *site_prefix(void)
{
    return strcmp(gfx_backend()->name, "vulkan") == 0 ? "vk" : gfx_backend()->name;
}

static void note(Life *life, bool ok)
{
    life->failed |= !ok;
}

static void life_textures(Life *life)
{
    float values[SIDE * SIDE] = {0};
    RendererPass pass = expected_colormap_pass(0, 0.0f, 1.0f);
    for (int i = 0; i < 3; i++) {
        life->textures[i] = renderer_texture_create(
            life->renderer,
            RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass));
        note(life, life->textures[i] != NULL);
        if (life->textures[i] == NULL)
            continue;
        RendererSource source = {
            .kind = RENDERER_SOURCE_HOST, .host = values, .extent_bytes = sizeof values};
        note(life, renderer_texture_update(life->renderer, life->textures[i], &source));
    }
}

static void life_frames(Life *life)
{
    uint8_t pixels[64 * 64 * 4];
    for (int frame = 0; frame < 3; frame++) {
        int32_t side = 32 + frame / 2 * 32; /* the last one resizes */
        if (!renderer_frame_begin(life->renderer, side, side, 0)) {
            life->failed = true;
            continue;
        }
        if (life->textures[0] != NULL && !life->failed) {
            gfx_scene_init(&scene, side, side, 0);
            gfx_command(&scene, life->textures[0], UI_FILTER_LINEAR);
            gfx_rect(&scene, (GfxRect){0, 0, 20, 20}, (GfxRect){0, 0, 1, 1}, 0xffffffffu);
            UiDraw draw = {&scene.list, 1, 0.0f, 0.0f, 1.0f};
            note(life, renderer_draw_ui(life->renderer, &draw));
        }
        bool ended = renderer_frame_end(life->renderer);
        note(life, ended);
        if (ended)
            note(life, renderer_frame_read(life->renderer, pixels, sizeof pixels));
    }
}

static void life_end(Life *life)
{
    uint8_t pixels[SIDE * SIDE * 4];
    for (int i = 0; i < 3; i++) {
        if (life->textures[i] != NULL && !life->failed)
            note(life,
                 renderer_texture_read(life->renderer, life->textures[i], pixels, sizeof pixels));
        renderer_texture_destroy(life->renderer, &life->textures[i]);
    }
    RendererCounters counters;
    renderer_counters(life->renderer, &counters);
    assert_int_equal(counters.textures, 0);
    renderer_destroy(&life->renderer);
}

/* The next renderer of the list starts and works. */
static void take_over(const char *after)
{
    fault_set_plan(NULL);
    Renderer *next = renderer_choose(RENDERER_PARAMS(0), NULL, after);
    assert_non_null(next);
    const uint32_t red = 0xff0000ffu;
    uint32_t got = 0;
    RendererTexture *texture = gfx_pixels(next, 1, 1, &red);
    assert_true(renderer_texture_read(next, texture, (uint8_t *)&got, 4));
    assert_int_equal(got, red);
    renderer_texture_destroy(next, &texture);
    renderer_destroy(&next);
}

/* One life under a plan; returns whether a failure was injected. In GL every failure stands for
 * GL_OUT_OF_MEMORY, after which the context is undefined, so it is lost; cpu never is; in Vulkan it
 * depends on the call. */
static bool live(const char *name, const char *plan)
{
    char error[256] = "";
    Life life = {0};
    bool is_cpu = strcmp(name, "cpu") == 0;
    bool is_gl = strcmp(name, "gl") == 0;
    assert_true(fault_set_plan(plan));
    gfx_lines_reset();
    life.renderer = gfx_backend()->create(RENDERER_PARAMS(0), error, sizeof error);
    if (life.renderer == NULL) {
        assert_true(fault_injected() > 0);
        assert_int_equal(gfx_lines(), 0); /* create tells its caller instead */
        assert_true(strlen(error) > 0);
    } else {
        life_textures(&life);
        life_frames(&life);
        bool lost = renderer_lost(life.renderer);
        if (life.failed && strchr(plan, '+') == NULL) {
            assert_true(fault_injected() > 0);
            assert_int_equal(gfx_lines(), 1); /* told once, then silence or none at all */
        }
        if (is_cpu)
            assert_false(lost);
        else if (is_gl && life.failed)
            assert_true(lost);
        else if (!life.failed)
            assert_false(lost);
        life_end(&life);
    }
    bool injected = fault_injected() > 0;
    fault_set_plan(NULL);
    if (injected && !is_cpu)
        take_over(name);
    return injected;
}

static void test_each_call(void **state)
{
    (void)state;
    const char *name = gfx_backend()->name;
    int lives = 0;
    for (int n = 1; n <= LIVES_MAX; n++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%d", site_prefix(), n);
        if (!live(name, plan))
            break;
        lives++;
    }
    assert_true(lives > 0);
    assert_true(lives < LIVES_MAX);
    print_message("           %d calls failed in turn\n", lives);
}

static void test_each_call_and_later(void **state)
{
    (void)state;
    const char *name = gfx_backend()->name;
    int n = 1;
    for (; n <= LIVES_MAX; n++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%d+", site_prefix(), n);
        if (!live(name, plan))
            break;
    }
    assert_true(n > 1 && n < LIVES_MAX);
}

/* Asked for by name and refused: one warning, and the next one runs. */
static void test_choose_falls_through(void **state)
{
    (void)state;
    char plan[64];
    const char *name = gfx_backend()->name;
    if (strcmp(name, "cpu") == 0)
        skip(); /* the last of the list has no next one */
    snprintf(plan, sizeof plan, "%s:1+", site_prefix());
    assert_true(fault_set_plan(plan));
    gfx_lines_reset();
    Renderer *renderer = renderer_choose(RENDERER_PARAMS(0), name, NULL);
    fault_set_plan(NULL);
    assert_non_null(renderer);
    assert_string_not_equal(renderer_info(renderer)->name, name);
    gfx_assert_one_line(LOG_RENDERER_WANTED_FAILED);
    renderer_destroy(&renderer);
}

/* Lost in mid-life: textures can still be read and released, and everything else is silent. */
static void test_lost_is_quiet(void **state)
{
    (void)state;
    const char *name = gfx_backend()->name;
    if (strcmp(name, "cpu") == 0)
        skip(); /* it is never lost */
    Renderer *renderer = gfx_start();
    const uint32_t red = 0xff0000ffu;
    uint32_t got = 0;
    RendererTexture *texture = gfx_pixels(renderer, 1, 1, &red);
    gfx_lines_reset();
    bool is_gl = strcmp(name, "gl") == 0;
    assert_true(fault_set_plan(is_gl ? "gl.present:1" : "vk.submit:1"));
    assert_true(renderer_frame_begin(renderer, 4, 4, 0));
    assert_false(renderer_frame_end(renderer));
    fault_set_plan(NULL);
    assert_true(renderer_lost(renderer));
    gfx_assert_one_line(LOG_RENDERER_LOST);
    assert_false(renderer_texture_write(renderer, texture, (const uint8_t *)&red));
    assert_false(renderer_frame_begin(renderer, 4, 4, 0));
    assert_false(renderer_draw_ui(renderer, &(UiDraw){.scale = 1.0f}));
    assert_false(renderer_frame_end(renderer));
    assert_null(renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = 1, .height_px = 1,
                                          .pass = {.kind = RENDERER_PASS_EXPAND, .channels = 1})));
    if (renderer_texture_read(renderer, texture, (uint8_t *)&got, 4))
        assert_int_equal(got, red);
    assert_int_equal(gfx_lines(), 0);
    renderer_texture_destroy(renderer, &texture);
    assert_null(texture);
    gfx_stop(&renderer);
}

int gfx_run_faults(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_call),
        cmocka_unit_test(test_each_call_and_later),
        cmocka_unit_test(test_choose_falls_through),
        cmocka_unit_test(test_lost_is_quiet),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
