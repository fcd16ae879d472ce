/* tests/unit/bridge_fixture.h: a bridge over the renderer in plain memory, for the tests of it.
 *
 * Included by tests. One thread, but where a test says so. */
#ifndef CALIPER_TESTS_BRIDGE_FIXTURE_H
#define CALIPER_TESTS_BRIDGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "bridge/bridge.h"
#include "core/fault.h"
#include "fake_renderer.h"
#include "kernels/kernels.h"
#include "log_capture.h"

enum {
    ALL_CAPS = RENDERER_CAP_DEVICE_SOURCE | RENDERER_CAP_STREAM_ORDERED | RENDERER_CAP_IMPORT_FD |
               RENDERER_CAP_IMPORT_HOST_POINTER | RENDERER_CAP_SHARED_IN_PLACE
};

typedef struct Fixture {
    Renderer *renderer;
    FakeRenderer *fake;
    Bridge *bridge;
} Fixture;

static inline int set_up(void **state)
{
    static Fixture f;
    f.renderer = fake_renderer_create(ALL_CAPS, 1);
    f.fake = fake_renderer(f.renderer);
    f.bridge = bridge_create(f.renderer);
    log_capture_reset();
    *state = &f;
    return 0;
}

/* Whatever a test did, nothing is left in the renderer. */
static inline int tear_down(void **state)
{
    Fixture *f = *state;
    fault_set_plan(NULL);
    bridge_destroy(&f->bridge);
    int left = (int)(f->fake->textures + f->fake->attached + f->fake->allocs);
    renderer_destroy(&f->renderer);
    return left;
}

/* ---- Helpers ---- */

static inline CaliperTensor tensor_of(void *data, CaliperDType dtype, int64_t h, int64_t w,
                                      int64_t c)
{
    CaliperTensor t = {.struct_size = sizeof t, .data = data, .dtype = dtype};
    t.ndim = c > 0 ? 3 : 2;
    t.shape[0] = h;
    t.shape[1] = w;
    t.shape[2] = c;
    t.strides[0] = c > 0 ? w * c : w;
    t.strides[1] = c > 0 ? c : 1;
    t.strides[2] = c > 0 ? 1 : 0;
    return t;
}

/* Exactly one line since the last call, a refusal for this reason. */
static inline void assert_refused(const char *reason)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "(%s)", reason);
    if (log_capture.lines != 1 || log_capture.last != LOG_BRIDGE_REFUSED ||
        strstr(log_capture.text, wanted) == NULL)
        fail_msg("%u lines, the last: %s; wanted one with %s", (unsigned)log_capture.lines,
                 log_capture.text, wanted);
    log_capture_reset();
}

static inline void assert_one_line(LogItem item)
{
    assert_int_equal(log_capture.lines, 1);
    assert_int_equal(log_capture.last, item);
    log_capture_reset();
}

static inline void assert_silent(void)
{
    if (log_capture.lines != 0)
        fail_msg("logged: %s", log_capture.text);
}

static inline BridgeStats stats_of(const Bridge *bridge)
{
    BridgeStats stats;
    bridge_stats(bridge, &stats);
    return stats;
}

static const float ramp[6] = {0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f}; /* indices 0, 51, ... 255 */

static inline void assert_shows_ramp(Bridge *bridge, CaliperTextureId id, int32_t colormap,
                                     bool mirrored)
{
    uint8_t pixels[24];
    assert_true(bridge_texture_read_rgba8(bridge, id, pixels, sizeof pixels));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(pixels + 4 * i, colormap_table(colormap)[51 * (mirrored ? 5 - i : i)],
                            4);
}

static inline CaliperTextureId ramp_texture(Bridge *bridge)
{
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    return bridge_texture_from_tensor_mapped(bridge, &t, 0, 0.0f, 1.0f, 0xffffffffu);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
