/* Going on with the next renderer: live textures under the bridge while the Nth call of the
 * renderer fails, for each N. The owner does what the shell does (next renderer,
 * bridge_set_renderer, destroy) and afterwards every texture shows its tensor, byte for byte. */
#include <stdio.h>
#include <string.h>

#include "bridge/bridge.h"
#include "core/fault.h"
#include "gfx.h"
#include "gfx_expected.h"

enum { TEXTURES = 3, SIDE = 19, FRAMES = 4, SWITCHES_MAX = 400 };

typedef struct Owner {
    Renderer *renderer;
    Bridge *bridge;
    CaliperTextureId ids[TEXTURES];
    float values[TEXTURES][SIDE * SIDE];
} Owner;

static GfxScene scene;

static CaliperTensor tensor_of(float *values)
{
    return (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                           .data = values,
                           .dtype = CALIPER_DT_F32,
                           .ndim = 2,
                           .shape = {SIDE, SIDE},
                           .strides = {SIDE, 1},
                           .device = CALIPER_DEV_CPU};
}

static void replace_if_lost(Owner *owner)
{
    if (owner->renderer != NULL && !renderer_lost(owner->renderer))
        return;
    const char *after =
        owner->renderer != NULL ? renderer_info(owner->renderer)->name : gfx_backend()->name;
    Renderer *next = renderer_choose(RENDERER_PARAMS(0), NULL, after);
    assert_non_null(next);
    if (owner->bridge != NULL)
        bridge_set_renderer(owner->bridge, next);
    renderer_destroy(&owner->renderer);
    owner->renderer = next;
}

/* An applet's frame: makes what is not there yet, updates the rest. */
static void applet_frame(Owner *owner, int frame)
{
    for (int i = 0; i < TEXTURES; i++) {
        for (int k = 0; k < SIDE * SIDE; k++)
            owner->values[i][k] = (float)((k * 7 + frame * 31 + i * 13) % 256);
        CaliperTensor tensor = tensor_of(owner->values[i]);
        if (owner->ids[i] == 0)
            owner->ids[i] =
                bridge_texture_from_tensor_mapped(owner->bridge, &tensor, i, 0.0f, 255.0f, 0);
        else
            (void)bridge_update_texture(owner->bridge, owner->ids[i], &tensor);
    }
}

static void draw_frame(Owner *owner)
{
    gfx_scene_init(&scene, 64, 32, 0xff000000u);
    for (int i = 0; i < TEXTURES; i++) {
        RendererTexture *texture =
            owner->ids[i] != 0 ? bridge_texture_for_draw(owner->bridge, owner->ids[i]) : NULL;
        if (texture == NULL)
            continue;
        gfx_command(&scene, texture, UI_FILTER_NEAREST);
        gfx_rect(&scene, (GfxRect){(float)(i * 20), 0, (float)(i * 20 + SIDE), SIDE},
                 (GfxRect){0, 0, 1, 1}, 0xffffffffu);
    }
    UiDraw draw = {&scene.list, 1, 0.0f, 0.0f, 1.0f};
    if (renderer_frame_begin(owner->renderer, 64, 32, 0xff000000u)) {
        (void)renderer_draw_ui(owner->renderer, &draw);
        (void)renderer_frame_end(owner->renderer);
    }
    bridge_frame_end(owner->bridge);
}

static void check(Owner *owner)
{
    for (int i = 0; i < TEXTURES; i++) {
        uint32_t got[SIDE * SIDE];
        uint32_t wanted[SIDE * SIDE];
        RendererPass pass = expected_colormap_pass(i, 0.0f, 255.0f);
        expected_pixels(&pass, owner->values[i], SIDE * SIDE, wanted);
        assert_true(owner->ids[i] != 0);
        assert_true(
            bridge_texture_read_rgba8(owner->bridge, owner->ids[i], (uint8_t *)got, sizeof got));
        gfx_assert_pixels(got, wanted, SIDE, SIDE, 0, "after the switch");
    }
}

/* Whether a failure was injected. */
static bool live_and_switch(const char *plan)
{
    char error[256] = "";
    Owner owner = {0};
    assert_true(fault_set_plan(plan));
    owner.renderer = gfx_backend()->create(RENDERER_PARAMS(0), error, sizeof error);
    replace_if_lost(&owner);
    owner.bridge = bridge_create(owner.renderer);
    assert_non_null(owner.bridge);
    for (int frame = 0; frame < FRAMES; frame++) {
        applet_frame(&owner, frame);
        replace_if_lost(&owner);
        draw_frame(&owner);
        replace_if_lost(&owner);
    }
    bool injected = fault_injected() > 0;
    fault_set_plan(NULL);
    applet_frame(&owner, FRAMES); /* whatever was lost is filled by the next frame at the latest */
    draw_frame(&owner);
    assert_false(renderer_lost(owner.renderer));
    check(&owner);
    for (int i = 0; i < TEXTURES; i++)
        bridge_release_texture(owner.bridge, owner.ids[i]);
    bridge_frame_end(owner.bridge);
    bridge_destroy(&owner.bridge);
    renderer_destroy(&owner.renderer);
    return injected;
}

static void test_switch_at_each_call(void **state)
{
    (void)state;
    int n = 1;
    const char *name = gfx_backend()->name;
    if (strcmp(name, "cpu") == 0)
        skip(); /* the last of the list has no next one */
    for (; n <= SWITCHES_MAX; n++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%d", strcmp(name, "vulkan") == 0 ? "vk" : name, n);
        if (!live_and_switch(plan))
            break;
    }
    assert_true(n > 1 && n <= SWITCHES_MAX);
    print_message("           %d switches\n", n - 1);
}

/* A switch in good health takes all pixels along at once. */
static void test_switch_keeps_pixels(void **state)
{
    (void)state;
    Owner owner = {.renderer = gfx_start()};
    owner.bridge = bridge_create(owner.renderer);
    assert_non_null(owner.bridge);
    applet_frame(&owner, 0);
    Renderer *next = renderer_choose(RENDERER_PARAMS(0), "cpu", NULL);
    assert_non_null(next);
    assert_int_equal(bridge_set_renderer(owner.bridge, next), TEXTURES);
    renderer_destroy(&owner.renderer);
    owner.renderer = next;
    check(&owner);
    bridge_destroy(&owner.bridge);
    renderer_destroy(&owner.renderer);
}

int gfx_run_switch(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_keeps_pixels),
        cmocka_unit_test(test_switch_at_each_call),
    };
    return cmocka_run_group_tests_name("switch", tests, NULL, NULL);
}
