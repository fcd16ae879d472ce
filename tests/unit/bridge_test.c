/* The bridge over a renderer in plain memory: what applets may call, what is refused with exactly
 * one line, and what the shell gets to draw. The frame thread is the test's; a second one for the
 * calls that are refused there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bridge/bridge.h"
#include "core/caller.h"
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

static int set_up(void **state)
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
static int tear_down(void **state)
{
    Fixture *f = *state;
    fault_set_plan(NULL);
    bridge_destroy(&f->bridge);
    int left = (int)(f->fake->textures + f->fake->attached + f->fake->allocs);
    renderer_destroy(&f->renderer);
    return left;
}

/* ---- Helpers ---- */

static CaliperTensor tensor_of(void *data, CaliperDType dtype, int64_t h, int64_t w, int64_t c)
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
static void assert_refused(const char *reason)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "(%s)", reason);
    if (log_capture.lines != 1 || log_capture.last != LOG_BRIDGE_REFUSED ||
        strstr(log_capture.text, wanted) == NULL)
        fail_msg("%u lines, the last: %s; wanted one with %s", (unsigned)log_capture.lines,
                 log_capture.text, wanted);
    log_capture_reset();
}

static void assert_one_line(LogItem item)
{
    assert_int_equal(log_capture.lines, 1);
    assert_int_equal(log_capture.last, item);
    log_capture_reset();
}

static void assert_silent(void)
{
    if (log_capture.lines != 0)
        fail_msg("logged: %s", log_capture.text);
}

static BridgeStats stats_of(const Bridge *bridge)
{
    BridgeStats stats;
    bridge_stats(bridge, &stats);
    return stats;
}

static const float ramp[6] = {0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f}; /* indices 0, 51, ... 255 */

static void assert_shows_ramp(Bridge *bridge, CaliperTextureId id, int32_t colormap, bool mirrored)
{
    uint8_t pixels[24];
    assert_true(bridge_texture_read_rgba8(bridge, id, pixels, sizeof pixels));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(pixels + 4 * i, colormap_table(colormap)[51 * (mirrored ? 5 - i : i)],
                            4);
}

static CaliperTextureId ramp_texture(Bridge *bridge)
{
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    return bridge_texture_from_tensor_mapped(bridge, &t, 0, 0.0f, 1.0f, 0xffffffffu);
}

/* ---- Ordinary textures ---- */

static void a_tensor_becomes_a_texture(void **state)
{
    Fixture *f = *state;
    uint8_t rgb[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    CaliperTensor t = tensor_of(rgb, CALIPER_DT_U8, 2, 3, 3);
    CaliperTextureId id = bridge_texture_from_tensor(f->bridge, &t, 0xdeadbeefu); /* ignored */
    assert_true(id != 0 && id >> 63 == 0);
    int32_t w = 0;
    int32_t h = 0;
    assert_true(bridge_texture_size(f->bridge, id, &w, &h));
    assert_true(w == 3 && h == 2);
    uint8_t pixels[24];
    assert_true(bridge_texture_read_rgba8(f->bridge, id, pixels, sizeof pixels));
    for (int i = 0; i < 24; i++)
        assert_int_equal(pixels[i], i % 4 == 3 ? 255 : rgb[i / 4 * 3 + i % 4]);
    rgb[0] = 99;
    assert_true(bridge_update_texture(f->bridge, id, &t));
    assert_true(bridge_texture_read_rgba8(f->bridge, id, pixels, 1000000));
    assert_int_equal(pixels[0], 99);
    assert_non_null(bridge_texture_for_draw(f->bridge, id));
    bridge_release_texture(f->bridge, id);
    assert_silent();
}

static void a_mapped_tensor_keeps_map_and_range(void **state)
{
    Fixture *f = *state;
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    for (int32_t map = 0; map < 3; map++) {
        CaliperTextureId up = bridge_texture_from_tensor_mapped(f->bridge, &t, map, 0, 1, 0);
        CaliperTextureId down = bridge_texture_from_tensor_mapped(f->bridge, &t, map, 1, 0, 0);
        assert_shows_ramp(f->bridge, up, map, false);
        assert_shows_ramp(f->bridge, down, map, true);
        assert_true(bridge_update_texture(f->bridge, down, &t));
        assert_shows_ramp(f->bridge, down, map, true);
        bridge_release_texture(f->bridge, up);
        bridge_release_texture(f->bridge, down);
    }
    assert_silent();
}

static void refusals_are_one_line_and_change_nothing(void **state)
{
    Fixture *f = *state;
    CaliperTextureId id = ramp_texture(f->bridge);
    uint8_t bytes[24] = {0};
    CaliperTensor other = tensor_of(bytes, CALIPER_DT_U8, 2, 3, 4);
    CaliperTensor turned = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 3, 2, 0);
    assert_false(bridge_update_texture(f->bridge, id, &other));
    assert_refused("UPDATE_DTYPE");
    assert_false(bridge_update_texture(f->bridge, id, &turned));
    assert_refused("UPDATE_SHAPE");
    assert_false(bridge_update_texture(f->bridge, id, NULL));
    assert_refused("NULL_TENSOR");
    assert_int_equal(bridge_texture_from_tensor(f->bridge, &turned, 0), 0);
    assert_refused("DIRECT_DTYPE");
    assert_int_equal(bridge_texture_from_tensor_mapped(f->bridge, &turned, 9, 0, 1, 0), 0);
    assert_refused("COLORMAP");
    assert_false(bridge_texture_size(f->bridge, id, NULL, NULL));
    assert_refused("NULL_BUFFER");
    memset(bytes, 0xee, sizeof bytes);
    assert_false(bridge_texture_read_rgba8(f->bridge, id, bytes, 23));
    assert_refused("SHORT_BUFFER");
    assert_int_equal(bytes[0], 0xee);
    assert_false(bridge_texture_read_rgba8(f->bridge, id, NULL, 24));
    assert_refused("NULL_BUFFER");
    assert_int_equal(stats_of(f->bridge).refusals, 8);
    assert_shows_ramp(f->bridge, id, 0, false);
    bridge_release_texture(f->bridge, id);
}

/* Zero, never given out, released, released twice; of either table. */
static void bad_ids_are_refused_by_every_call(void **state)
{
    Fixture *f = *state;
    CaliperTextureId stale = ramp_texture(f->bridge);
    bridge_release_texture(f->bridge, stale);
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    CaliperAllocId alloc = bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096,
                                                    CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    assert_true(alloc != 0 && alloc >> 63 == 0);
    const struct {
        CaliperTextureId id;
        const char *reason;
    } cases[] = {{0, "ID_ZERO"},
                 {stale, "ID_STALE"},
                 {stale + 1, "ID_UNKNOWN"},
                 {stale | 1ull << 63, "ID_UNKNOWN"},
                 {stale + (1ull << 32), "ID_UNKNOWN"},
                 {UINT64_MAX, "ID_UNKNOWN"},
                 {1, "ID_UNKNOWN"},
                 {alloc, "ID_UNKNOWN"}};
    for (int frame = 0; frame < 2; frame++) { /* before and after the frame's end */
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            uint8_t pixels[24];
            int32_t w, h;
            if (frame == 1 && cases[i].id == stale + (1ull << 32))
                continue; /* is the next to go out; still unknown, as below */
            assert_false(bridge_update_texture(f->bridge, cases[i].id, &t));
            assert_refused(cases[i].reason);
            bridge_release_texture(f->bridge, cases[i].id);
            assert_refused(cases[i].reason);
            bridge_free_shared(f->bridge, cases[i].id);
            assert_refused(cases[i].reason);
            assert_false(bridge_texture_size(f->bridge, cases[i].id, &w, &h));
            assert_refused(cases[i].reason);
            assert_false(bridge_texture_read_rgba8(f->bridge, cases[i].id, pixels, 24));
            assert_refused(cases[i].reason);
            assert_false(bridge_update_texture_from_alloc(f->bridge, cases[i].id, alloc, 0, &t));
            assert_refused(cases[i].reason);
        }
        bridge_frame_end(f->bridge);
    }
    CaliperTextureId live = ramp_texture(f->bridge);
    assert_int_equal(live, stale + (1ull << 32)); /* the slot again, the next generation */
    bridge_release_allocation(f->bridge, 0);
    assert_refused("ID_ZERO");
    bridge_release_allocation(f->bridge, live);
    assert_refused("ID_UNKNOWN");
    assert_false(bridge_update_texture_from_alloc(f->bridge, live, live, 0, &t));
    assert_refused("ID_UNKNOWN");
    bridge_release_allocation(f->bridge, alloc);
    assert_silent();
    bridge_release_allocation(f->bridge, alloc);
    assert_refused("ID_STALE");
    assert_false(bridge_update_texture_from_alloc(f->bridge, live, alloc, 0, &t));
    assert_refused("ID_STALE");
    bridge_release_texture(f->bridge, live);
}

static void a_released_texture_is_drawn_until_the_frame_ends(void **state)
{
    Fixture *f = *state;
    CaliperTextureId id = ramp_texture(f->bridge);
    RendererTexture *drawn = bridge_texture_for_draw(f->bridge, id);
    assert_non_null(drawn);
    bridge_release_texture(f->bridge, id);
    assert_ptr_equal(bridge_texture_for_draw(f->bridge, id), drawn);
    assert_int_equal(f->fake->textures, 1);
    assert_int_equal(stats_of(f->bridge).textures, 0);
    bridge_frame_end(f->bridge);
    assert_int_equal(f->fake->textures, 0);
    assert_silent();
    assert_null(bridge_texture_for_draw(f->bridge, id));
    assert_one_line(LOG_BRIDGE_DRAWN_BAD_ID);
    for (int i = 0; i < 5; i++) /* once an id */
        assert_null(bridge_texture_for_draw(f->bridge, id));
    assert_silent();
    for (uint64_t other = 1; other < 2000; other++)
        assert_null(bridge_texture_for_draw(f->bridge, other << 40));
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_DRAWN_BAD_ID], 255);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_DRAWN_BAD_IDS_MUTED], 1);
}

/* ---- Shared memory ---- */

static void shared_memory_is_shown_when_drawn_or_read(void **state)
{
    Fixture *f = *state;
    for (int attaches = 0; attaches < 2; attaches++) {
        f->fake->attaches = attaches == 1;
        CaliperTensor t;
        CaliperTextureId id;
        const int64_t shape[2] = {2, 3};
        assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
        assert_int_equal((uintptr_t)t.data % 4096, 0);
        assert_int_equal(t.struct_size, sizeof t);
        assert_int_equal(t.device, CALIPER_DEV_CPU);
        assert_true(t.ndim == 2 && t.shape[0] == 2 && t.strides[0] == 3 && t.strides[1] == 1);
        assert_null(t.stream);
        assert_true(((const float *)t.data)[5] == 0.0f);
        memcpy(t.data, ramp, sizeof ramp);
        assert_shows_ramp(f->bridge, id, 0, false); /* viridis over 0..1 */
        assert_int_equal(f->fake->last_source.kind,
                         attaches == 1 ? RENDERER_SOURCE_SHARED : RENDERER_SOURCE_HOST);
        uint32_t before = f->fake->updates;
        for (int frame = 0; frame < 3; frame++) {
            for (int draw = 0; draw < 4; draw++)
                assert_non_null(bridge_texture_for_draw(f->bridge, id));
            bridge_frame_end(f->bridge);
        }
        assert_int_equal(f->fake->updates, before + 3); /* once a frame */
        assert_int_equal(f->fake->attached, attaches);
        assert_int_equal(stats_of(f->bridge).shared_textures, 1);
        bridge_free_shared(f->bridge, id);
        assert_non_null(bridge_texture_for_draw(f->bridge, id));
        bridge_frame_end(f->bridge);
        assert_int_equal(f->fake->attached, 0);
        assert_int_equal(msync(t.data, 4096, MS_ASYNC), -1); /* no longer mapped */
    }
    assert_silent();
}

/* Every read sees what is there now, also a second one in the same frame. */
static void each_read_of_shared_memory_is_fresh(void **state)
{
    Fixture *f = *state;
    CaliperTensor t;
    CaliperTextureId id;
    const int64_t shape[3] = {1, 1, 4};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_U8, 3, shape, &t, &id));
    for (uint8_t i = 1; i < 4; i++) {
        uint8_t pixel[4];
        memset(t.data, i, 4);
        assert_true(bridge_texture_read_rgba8(f->bridge, id, pixel, 4));
        assert_int_equal(pixel[0], i);
    }
    bridge_free_shared(f->bridge, id);
}

static void update_of_a_shared_texture(void **state)
{
    Fixture *f = *state;
    CaliperTensor t;
    CaliperTextureId id;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    /* the block itself: shown at once */
    memcpy(t.data, ramp, sizeof ramp);
    uint32_t before = f->fake->updates;
    assert_true(bridge_update_texture(f->bridge, id, &t));
    assert_int_equal(f->fake->updates, before + 1);
    /* another host tensor: becomes the block's contents */
    float mirrored[6];
    for (int i = 0; i < 6; i++)
        mirrored[i] = ramp[5 - i];
    CaliperTensor other = tensor_of(mirrored, CALIPER_DT_F32, 2, 3, 0);
    assert_true(bridge_update_texture(f->bridge, id, &other));
    assert_memory_equal(t.data, mirrored, sizeof mirrored);
    bridge_frame_end(f->bridge);
    assert_non_null(bridge_texture_for_draw(f->bridge, id));
    assert_shows_ramp(f->bridge, id, 0, true);
    /* a device tensor: shown, and not overwritten by the block until told */
    f->fake->reads_device = true;
    CaliperTensor device = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    device.device = CALIPER_DEV_CUDA;
    device.device_index = 1;
    assert_true(bridge_update_texture(f->bridge, id, &device));
    assert_non_null(bridge_texture_for_draw(f->bridge, id));
    bridge_frame_end(f->bridge);
    assert_non_null(bridge_texture_for_draw(f->bridge, id));
    assert_shows_ramp(f->bridge, id, 0, false);
    assert_true(bridge_update_texture(f->bridge, id, &t));
    assert_shows_ramp(f->bridge, id, 0, true);
    assert_silent();
    CaliperTensor wrong = tensor_of(mirrored, CALIPER_DT_F32, 3, 2, 0);
    assert_false(bridge_update_texture(f->bridge, id, &wrong));
    assert_refused("UPDATE_SHAPE");
    bridge_free_shared(f->bridge, id);
}

static void shared_and_ordinary_ids_are_not_interchangeable(void **state)
{
    Fixture *f = *state;
    CaliperTextureId ordinary = ramp_texture(f->bridge);
    CaliperTensor t;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &shared));
    bridge_release_texture(f->bridge, shared);
    assert_refused("ID_SHARED");
    bridge_free_shared(f->bridge, ordinary);
    assert_refused("ID_ORDINARY");
    CaliperAllocId alloc = bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096,
                                                    CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    assert_false(bridge_update_texture_from_alloc(f->bridge, shared, alloc, 0, &t));
    assert_refused("ID_SHARED");
    ((float *)t.data)[0] = 1.0f; /* still mapped */
    assert_shows_ramp(f->bridge, ordinary, 0, false);
    bridge_release_allocation(f->bridge, alloc);
    bridge_release_texture(f->bridge, ordinary);
    bridge_free_shared(f->bridge, shared);
    bridge_free_shared(f->bridge, shared);
    assert_refused("ID_STALE");
}

static void alloc_shared_refuses_with_outputs_untouched(void **state)
{
    Fixture *f = *state;
    CaliperTensor t;
    CaliperTensor untouched;
    memset(&t, 0x5c, sizeof t);
    memset(&untouched, 0x5c, sizeof untouched);
    CaliperTextureId id = 77;
    const int64_t shape[3] = {2, 3, 5};
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_U8, 3, shape, &t, &id));
    assert_refused("CHANNELS");
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F16, 2, shape, &t, &id));
    assert_refused("SHARED_DTYPE");
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 3, shape, &t, &id));
    assert_refused("SHARED_RANK");
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, NULL, &t, &id));
    assert_refused("NULL_SHAPE");
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, NULL, &id));
    assert_refused("NULL_OUTPUT");
    f->fake->fail_create = 1;
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    assert_one_line(LOG_RENDERER_FAILED);
    fault_set_plan("bridge.shared_memory:1");
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    assert_one_line(LOG_OUT_OF_MEMORY);
    assert_memory_equal(&t, &untouched, sizeof t);
    assert_int_equal(id, 77);
    assert_int_equal(stats_of(f->bridge).textures, 0);
    assert_int_equal(stats_of(f->bridge).refusals, 7);
}

/* ---- Devices and imports ---- */

static void device_tensors_keep_pointer_and_stream(void **state)
{
    Fixture *f = *state;
    CaliperTensor t = tensor_of((void *)(uintptr_t)0x7000, CALIPER_DT_F32, 2, 3, 0);
    t.device = CALIPER_DEV_CUDA;
    t.device_index = 1;
    t.stream = (void *)(uintptr_t)0x99;
    CaliperTextureId id = bridge_texture_from_tensor_mapped(f->bridge, &t, 0, 0, 1, 0);
    assert_int_not_equal(id, 0);
    assert_int_equal(f->fake->last_source.kind, RENDERER_SOURCE_DEVICE);
    assert_int_equal(f->fake->last_source.device_ptr, 0x7000);
    assert_int_equal(f->fake->last_source.extent_bytes, 24);
    assert_ptr_equal(f->fake->last_source.stream, (void *)(uintptr_t)0x99);
    t.stream = NULL; /* the default stream: passed through */
    assert_true(bridge_update_texture(f->bridge, id, &t));
    assert_null(f->fake->last_source.stream);
    CaliperTensor host = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    host.stream = (void *)(uintptr_t)0x99; /* of a CPU tensor: ignored */
    assert_true(bridge_update_texture(f->bridge, id, &host));
    assert_int_equal(f->fake->last_source.kind, RENDERER_SOURCE_HOST);
    assert_null(f->fake->last_source.stream);
    assert_silent();
    t.device_index = 0;
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_refused("DEVICE_INDEX");
    t.device = CALIPER_DEV_METAL;
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_refused("FOREIGN_DEVICE");
    bridge_release_texture(f->bridge, id);
}

static void imported_memory_is_read_in_place(void **state)
{
    Fixture *f = *state;
    float *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory + 10, ramp, sizeof ramp);
    CaliperAllocId alloc =
        bridge_import_allocation(f->bridge, memory, 8192, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    assert_int_not_equal(alloc, 0);
    CaliperTextureId id = ramp_texture(f->bridge);
    CaliperTensor desc = tensor_of(NULL, CALIPER_DT_F32, 2, 3, 0);
    desc.stream = (void *)(uintptr_t)0x99;
    assert_true(bridge_update_texture_from_alloc(f->bridge, id, alloc, 40, &desc));
    assert_shows_ramp(f->bridge, id, 0, false);
    assert_null(f->fake->last_source.stream); /* device CPU */
    desc.device = CALIPER_DEV_CUDA;
    desc.device_index = 1;
    assert_true(bridge_update_texture_from_alloc(f->bridge, id, alloc, 8192 - 24, &desc));
    assert_ptr_equal(f->fake->last_source.stream, (void *)(uintptr_t)0x99);
    assert_silent();
    assert_false(bridge_update_texture_from_alloc(f->bridge, id, alloc, 8192 - 20, &desc));
    assert_refused("BYTES_OUTSIDE");
    assert_false(bridge_update_texture_from_alloc(f->bridge, id, alloc, UINT64_MAX - 3, &desc));
    assert_refused("OFFSET_OUTSIDE");
    assert_false(bridge_update_texture_from_alloc(f->bridge, id, alloc, 41, &desc));
    assert_refused("OFFSET_ALIGNMENT");
    f->fake->fail_import = 1;
    assert_int_equal(bridge_import_allocation(f->bridge, memory, 8192, 2), 0); /* no such fd */
    assert_refused("HANDLE_INVALID");
    assert_int_equal(bridge_import_allocation(f->bridge, memory, 8192, 0x100), 0);
    assert_one_line(LOG_RENDERER_FAILED);
    bridge_release_allocation(f->bridge, alloc);
    bridge_release_texture(f->bridge, id);
    munmap(memory, 8192);
}

static void caps_are_those_of_the_renderer(void **state)
{
    Fixture *f = *state;
    assert_int_equal(bridge_caps(f->bridge),
                     CALIPER_BRIDGE_CAP_STREAM_ORDERED | CALIPER_BRIDGE_CAP_IMPORT_ALLOC);
    Renderer *plain = fake_renderer_create(0, -1);
    bridge_set_renderer(f->bridge, plain);
    assert_int_equal(bridge_caps(f->bridge), 0);
    log_capture_reset();
    assert_int_equal(bridge_import_allocation(f->bridge, NULL, 4096, 2), 0);
    assert_refused("HANDLE_TYPE_UNSUPPORTED");
    bridge_set_renderer(f->bridge, f->renderer);
    renderer_destroy(&plain);
}

/* ---- Failures and losses ---- */

static void a_failing_renderer_is_one_line_of_its_own(void **state)
{
    Fixture *f = *state;
    f->fake->fail_create = 1;
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_one_line(LOG_RENDERER_FAILED);
    f->fake->fail_update = 1;
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_one_line(LOG_RENDERER_FAILED);
    assert_int_equal(f->fake->textures, 0);
    CaliperTextureId id = ramp_texture(f->bridge);
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    f->fake->fail_update = 1;
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_one_line(LOG_RENDERER_FAILED);
    uint8_t pixels[24];
    f->fake->fail_read = 1;
    assert_false(bridge_texture_read_rgba8(f->bridge, id, pixels, 24));
    assert_one_line(LOG_RENDERER_FAILED);
    assert_int_equal(stats_of(f->bridge).refusals, 4);
    f->fake->base.lost = true; /* silent from now on: the line is the bridge's */
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_refused("RENDERER_LOST");
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_refused("RENDERER_LOST");
    const int64_t shape[2] = {2, 3};
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    assert_refused("RENDERER_LOST");
    assert_int_equal(bridge_import_allocation(f->bridge, NULL, 4096, 2), 0);
    assert_refused("RENDERER_LOST");
}

static void textures_move_to_the_next_renderer(void **state)
{
    Fixture *f = *state;
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &shared));
    memcpy(block.data, ramp, sizeof ramp);
    CaliperTextureId kept = ramp_texture(f->bridge);
    CaliperTextureId unread = ramp_texture(f->bridge);
    CaliperTextureId released = ramp_texture(f->bridge);
    bridge_release_texture(f->bridge, released);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CaliperAllocId pointer = bridge_import_allocation(f->bridge, memory, 4096, 0x100);
    CaliperAllocId fd = bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2);
    Renderer *next = fake_renderer_create(RENDERER_CAP_IMPORT_HOST_POINTER, -1);
    f->fake->base.lost = true;
    f->fake->fail_read = 2; /* slots go in order: kept, then unread */
    assert_int_equal(bridge_set_renderer(f->bridge, next), 3); /* not `unread` */
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_MOVED], 1);
    log_capture_reset();
    assert_int_equal(f->fake->textures + f->fake->attached + f->fake->allocs, 0);
    assert_int_equal(fake_renderer(next)->textures, 4);
    assert_int_equal(fake_renderer(next)->allocs, 1);
    assert_shows_ramp(f->bridge, kept, 0, false);
    assert_shows_ramp(f->bridge, shared, 0, false);
    assert_non_null(bridge_texture_for_draw(f->bridge, released));
    assert_null(bridge_texture_for_draw(f->bridge, unread));
    assert_silent();
    uint8_t pixels[24];
    assert_false(bridge_texture_read_rgba8(f->bridge, unread, pixels, 24));
    assert_refused("NO_PIXELS");
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_true(bridge_update_texture_from_alloc(f->bridge, unread, pointer, 0, &t));
    assert_silent();
    assert_false(bridge_update_texture_from_alloc(f->bridge, unread, fd, 0, &t));
    assert_refused("ALLOC_GONE");
    bridge_release_allocation(f->bridge, fd);
    assert_silent();
    /* A renderer that cannot make one yet: made with the next update. */
    f->fake->base.lost = false;
    f->fake->fail_create = 2;
    bridge_set_renderer(f->bridge, f->renderer);
    assert_null(bridge_texture_for_draw(f->bridge, kept));
    assert_true(bridge_update_texture(f->bridge, kept, &t));
    assert_shows_ramp(f->bridge, kept, 0, false);
    renderer_destroy(&next);
    munmap(memory, 4096);
}

/* ---- Owners ---- */

static void reclaiming_takes_one_owner_only(void **state)
{
    Fixture *f = *state;
    CallerId before = caller_enter(5);
    CaliperTextureId his = ramp_texture(f->bridge);
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &shared));
    assert_int_not_equal(bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2), 0);
    caller_enter(6);
    CaliperTextureId hers = ramp_texture(f->bridge);
    caller_leave(before);
    assert_int_equal(bridge_reclaim(f->bridge, 7, true), 0);
    assert_silent();
    assert_int_equal(bridge_reclaim(f->bridge, 5, true), 2);
    assert_one_line(LOG_BRIDGE_LEAK);
    assert_int_equal(stats_of(f->bridge).textures, 1);
    assert_int_equal(stats_of(f->bridge).allocations, 0);
    assert_non_null(bridge_texture_for_draw(f->bridge, his)); /* this frame */
    bridge_frame_end(f->bridge);
    ((float *)block.data)[0] = 1.0f; /* a thread of his may still write */
    assert_shows_ramp(f->bridge, hers, 0, false);
    assert_int_equal(bridge_reclaim(f->bridge, 6, false), 1);
    assert_silent();
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_false(bridge_update_texture(f->bridge, hers, &t));
    assert_refused("ID_STALE");
}

static void destroying_logs_a_leak_per_owner(void **state)
{
    Fixture *f = *state;
    for (CallerId owner = 0; owner < 3; owner++) {
        CallerId before = caller_enter(owner);
        ramp_texture(f->bridge);
        ramp_texture(f->bridge);
        if (owner == 2)
            bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2);
        caller_leave(before);
    }
    bridge_destroy(&f->bridge);
    assert_null(f->bridge);
    assert_int_equal(log_capture.lines, 3);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_LEAK], 3);
    bridge_destroy(&f->bridge);
    bridge_destroy(NULL);
}

/* ---- Threads ---- */

typedef struct Foreign {
    Bridge *bridge;
    CaliperTextureId id;
} Foreign;

static void *call_everything(void *argument)
{
    Foreign *g = argument;
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    CaliperTextureId id;
    const int64_t shape[2] = {2, 3};
    int32_t w, h;
    uint8_t pixels[24];
    assert_int_equal(bridge_texture_from_tensor(g->bridge, &t, 0), 0);
    assert_int_equal(bridge_texture_from_tensor_mapped(g->bridge, &t, 0, 0, 1, 0), 0);
    assert_false(bridge_update_texture(g->bridge, g->id, &t));
    bridge_release_texture(g->bridge, g->id);
    assert_false(bridge_alloc_shared(g->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    bridge_free_shared(g->bridge, g->id);
    assert_int_equal(bridge_caps(g->bridge), 0);
    assert_int_equal(bridge_import_allocation(g->bridge, NULL, 4096, 2), 0);
    bridge_release_allocation(g->bridge, 1);
    assert_false(bridge_update_texture_from_alloc(g->bridge, g->id, 1, 0, &t));
    assert_false(bridge_texture_size(g->bridge, g->id, &w, &h));
    assert_false(bridge_texture_read_rgba8(g->bridge, g->id, pixels, 24));
    assert_null(bridge_texture_for_draw(g->bridge, g->id));
    bridge_frame_end(g->bridge);
    assert_int_equal(bridge_reclaim(g->bridge, 0, true), 0);
    assert_int_equal(bridge_set_renderer(g->bridge, NULL), 0);
    bridge_destroy(&g->bridge);
    return NULL;
}
enum { FOREIGN_CALLS = 17 };

/* While the frame thread goes on: nothing is executed, each is one line. */
static void other_threads_are_refused(void **state)
{
    Fixture *f = *state;
    Foreign foreign = {f->bridge, ramp_texture(f->bridge)};
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_everything, &foreign), 0);
    for (int i = 0; i < 200; i++) {
        assert_true(bridge_update_texture(f->bridge, foreign.id, &t));
        assert_non_null(bridge_texture_for_draw(f->bridge, foreign.id));
        bridge_frame_end(f->bridge);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(log_capture.lines, 3 * FOREIGN_CALLS);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_REFUSED], 3 * FOREIGN_CALLS);
    assert_non_null(strstr(log_capture.text, "(WRONG_THREAD)"));
    assert_int_equal(stats_of(f->bridge).refusals, 3 * FOREIGN_CALLS);
    assert_shows_ramp(f->bridge, foreign.id, 0, false);
    bridge_release_texture(f->bridge, foreign.id);
}

static void without_a_bridge_calls_are_refused(void **state)
{
    (void)state;
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_int_equal(bridge_texture_from_tensor(NULL, &t, 0), 0);
    assert_refused("NO_BRIDGE");
    assert_int_equal(bridge_caps(NULL), 0);
    assert_refused("NO_BRIDGE");
    assert_int_equal(stats_of(NULL).textures, 0);
    fault_set_plan("bridge.create:1");
    assert_null(bridge_create(NULL));
    assert_one_line(LOG_OUT_OF_MEMORY);
}

/* ---- Many ---- */

static void many_lives_leave_nothing(void **state)
{
    Fixture *f = *state;
    CaliperTextureId last = 0;
    for (int i = 0; i < 100000; i++) {
        CaliperTextureId id = ramp_texture(f->bridge);
        assert_true(id != 0 && id != last);
        last = id;
        bridge_release_texture(f->bridge, id);
        if (i % 7 == 0)
            bridge_frame_end(f->bridge);
    }
    bridge_frame_end(f->bridge);
    assert_int_equal(f->fake->textures, 0);
    assert_silent();
    fault_set_plan("bridge.slots:1");
    uint32_t made = 0;
    while (ramp_texture(f->bridge) != 0)
        made++;
    assert_int_equal(made, 256); /* the chunk that is there */
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_REFUSED], 1);
    assert_non_null(strstr(log_capture.text, "(IDS_SPENT)"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        CASE(a_tensor_becomes_a_texture),
        CASE(a_mapped_tensor_keeps_map_and_range),
        CASE(refusals_are_one_line_and_change_nothing),
        CASE(bad_ids_are_refused_by_every_call),
        CASE(a_released_texture_is_drawn_until_the_frame_ends),
        CASE(shared_memory_is_shown_when_drawn_or_read),
        CASE(each_read_of_shared_memory_is_fresh),
        CASE(update_of_a_shared_texture),
        CASE(shared_and_ordinary_ids_are_not_interchangeable),
        CASE(alloc_shared_refuses_with_outputs_untouched),
        CASE(device_tensors_keep_pointer_and_stream),
        CASE(imported_memory_is_read_in_place),
        CASE(caps_are_those_of_the_renderer),
        CASE(a_failing_renderer_is_one_line_of_its_own),
        CASE(textures_move_to_the_next_renderer),
        CASE(reclaiming_takes_one_owner_only),
        CASE(destroying_logs_a_leak_per_owner),
        CASE(other_threads_are_refused),
        CASE(without_a_bridge_calls_are_refused),
        CASE(many_lives_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
