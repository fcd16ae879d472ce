/* The bridge's calls as applets make them: textures, shared and imported memory, and what is
 * refused with exactly one line. One thread. */
#include <sys/mman.h>

#include "bridge_fixture.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
