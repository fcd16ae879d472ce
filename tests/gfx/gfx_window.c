/* The window's side, with a window made of callbacks: what each backend asks of it, in order, and
 * what happens when it says no. Backends with a native window are shown in one by the shell's
 * tests; here the pixel window is whole and the others must refuse well. */
#include <stdio.h>
#include <string.h>

#include "gfx.h"

typedef struct FakeWindow {
    bool opens, takes_pixels;
    int opened, presented;
    int32_t width_px, height_px;
    uint8_t first_pixel[4];
    RendererWindowApi api;
} FakeWindow;

static bool fake_open(void *user, RendererWindowApi api, char *error, size_t error_bytes)
{
    FakeWindow *fake = user;
    fake->opened++;
    fake->api = api;
    if (!fake->opens)
        snprintf(error, error_bytes, "the fake window stays shut");
    return fake->opens;
}

static void fake_size(void *user, int32_t *out_width_px, int32_t *out_height_px)
{
    (void)user;
    *out_width_px = 8;
    *out_height_px = 8;
}

static bool fake_no(void *user)
{
    (void)user;
    return false;
}

static bool fake_present(void *user, const uint8_t *rgba, int32_t width_px, int32_t height_px)
{
    FakeWindow *fake = user;
    fake->presented++;
    fake->width_px = width_px;
    fake->height_px = height_px;
    memcpy(fake->first_pixel, rgba, 4);
    return fake->takes_pixels;
}

static RendererWindow fake_window(FakeWindow *fake)
{
    return (RendererWindow){.user = fake,
                            .open = fake_open,
                            .framebuffer_size = fake_size,
                            .gl_make_current = fake_no,
                            .gl_swap = fake_no,
                            .present_pixels = fake_present};
}

static void test_shut_window(void **state)
{
    (void)state;
    char error[256] = "";
    FakeWindow fake = {0};
    RendererWindow window = fake_window(&fake);
    gfx_lines_reset();
    assert_null(gfx_backend()->create(RENDERER_PARAMS(.window = &window), error, sizeof error));
    assert_true(strlen(error) > 0);
    assert_int_equal(gfx_lines(), 0);
}

static void test_pixel_window(void **state)
{
    (void)state;
    char error[256] = "";
    FakeWindow fake = {.opens = true, .takes_pixels = true};
    RendererWindow window = fake_window(&fake);
    if (strcmp(gfx_backend()->name, "cpu") != 0)
        skip(); /* only the cpu renderer hands over pixels */
    Renderer *renderer =
        gfx_backend()->create(RENDERER_PARAMS(.window = &window), error, sizeof error);
    assert_non_null(renderer);
    assert_int_equal(fake.opened, 1);
    assert_int_equal(fake.api, RENDERER_WINDOW_PIXELS);
    assert_true(renderer_frame_begin(renderer, 8, 6, 0xff030201u));
    assert_int_equal(fake.presented, 0);
    assert_true(renderer_frame_end(renderer));
    assert_int_equal(fake.presented, 1);
    assert_int_equal(fake.width_px, 8);
    assert_int_equal(fake.height_px, 6);
    assert_memory_equal(fake.first_pixel, ((const uint8_t[4]){1, 2, 3, 255}), 4);
    fake.takes_pixels = false;
    gfx_lines_reset();
    for (int i = 0; i < 3; i++) { /* told when it begins, not sixty times a second */
        assert_true(renderer_frame_begin(renderer, 8, 6, 0));
        assert_false(renderer_frame_end(renderer));
    }
    gfx_assert_one_line(LOG_RENDERER_FAILED);
    assert_false(renderer_lost(renderer));
    gfx_stop(&renderer);
}

int gfx_run_window(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shut_window),
        cmocka_unit_test(test_pixel_window),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
