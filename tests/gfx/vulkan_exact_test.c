/* The Vulkan renderer's pixels, byte for byte, from every kind of source, with core and
 * synchronization validation: not one message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "render/vulkan/vk_renderer.h"
#include "vulkan_support.h"

static const int32_t sizes[][2] = {{1, 1},    {4, 4},    {5, 3},     {17, 9},  {255, 257},
                                   {1024, 1}, {1, 1024}, {1025, 33}, {64, 65}, {3, 513}};
enum { SIZE_COUNT = sizeof sizes / sizeof sizes[0], PASS_COUNT = 9 };

static RendererPass pass_number(int i)
{
    switch (i) {
    case 0:
        return pass_colormap(0, 0.0f, 1.0f);
    case 1:
        return pass_colormap(1, -0.5f, 1.75f);
    case 2:
        return pass_colormap(2, 1.0f, -1.0f);
    case 3:
        return pass_colormap(0, 0.25f, 0.25f);
    case 4:
        return pass_colormap(1, -3e37f, 3e37f);
    default:
        return pass_expand((uint32_t)i - 4);
    }
}

/* Where the elements come from; `memory` holds them from `offset` on. */
typedef struct Place {
    RendererSourceKind kind;
    uint8_t *memory;
    RendererAlloc *alloc;
    RendererShared *shared;
} Place;

static void check(Renderer *renderer, const Place *place, const RendererPass *pass, int32_t width,
                  int32_t height, uint64_t offset)
{
    uint64_t count = (uint64_t)width * (uint64_t)height;
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = width, .height_px = height, .pass = *pass));
    assert_non_null(texture);
    RendererSource source = {.kind = place->kind,
                             .host = place->memory + offset,
                             .alloc = place->alloc,
                             .shared = place->shared,
                             .offset_bytes = offset,
                             .extent_bytes = source_bytes(pass, count)};
    uint8_t *wanted = malloc(count * 4), *given = malloc(count * 4);
    reference_pixels(pass, place->memory + offset, count, wanted);
    assert_true(renderer_texture_update(renderer, texture, &source));
    memset(given, 0xa5, count * 4);
    assert_true(renderer_texture_read(renderer, texture, given, count * 4));
    for (uint64_t i = 0; i < count * 4; i++)
        if (wanted[i] != given[i])
            fail_msg("kind %d, pass %d/%u, %d x %d, offset %llu: byte %llu is %u, wanted %u",
                     (int)place->kind, (int)pass->kind, pass->channels, width, height,
                     (unsigned long long)offset, (unsigned long long)i, given[i], wanted[i]);
    free(wanted);
    free(given);
    renderer_texture_destroy(renderer, &texture);
    assert_null(texture);
}

static void all_sizes(Renderer *renderer, const Place *place)
{
    static const uint64_t offsets[] = {0, 16, 4, 1, 2, 3, 259};
    for (int p = 0; p < PASS_COUNT; p++) {
        RendererPass pass = pass_number(p);
        for (int s = 0; s < SIZE_COUNT; s++) {
            uint64_t count = (uint64_t)sizes[s][0] * (uint64_t)sizes[s][1];
            uint64_t offset = offsets[(p + s) % 7];
            source_fill(&pass, place->memory + offset, count);
            check(renderer, place, &pass, sizes[s][0], sizes[s][1], offset);
        }
        for (int o = 0; o < 7; o++) {
            source_fill(&pass, place->memory + offsets[o], 7 * 5);
            check(renderer, place, &pass, 7, 5, offsets[o]);
        }
    }
}

static const uint64_t memory_bytes = 512 * 1024;

static uint8_t *pages(uint64_t size_bytes)
{
    uint8_t *memory = aligned_alloc(4096, size_bytes);
    assert_non_null(memory);
    memset(memory, 0xcd, size_bytes);
    return memory;
}

static void host_is_exact(void **state)
{
    Renderer *renderer = *state;
    Place place = {.kind = RENDERER_SOURCE_HOST, .memory = pages(memory_bytes)};
    all_sizes(renderer, &place);
    free(place.memory);
}

static void shared_is_exact_and_stages_nothing(void **state)
{
    Renderer *renderer = *state;
    RendererCounters before, after;
    if ((renderer_info(renderer)->caps & RENDERER_CAP_SHARED_IN_PLACE) == 0)
        skip();
    Place place = {.kind = RENDERER_SOURCE_SHARED, .memory = pages(memory_bytes)};
    place.shared = renderer_shared_attach(renderer, place.memory, memory_bytes);
    assert_non_null(place.shared);
    renderer_counters(renderer, &before);
    all_sizes(renderer, &place);
    renderer_counters(renderer, &after);
    assert_int_equal(after.staged_bytes, before.staged_bytes);
    assert_int_equal(after.device_copied_bytes, before.device_copied_bytes);
    assert_int_equal(after.passes - before.passes, after.updates - before.updates);
    renderer_shared_detach(renderer, &place.shared);
    free(place.memory);
}

static void host_pointer_is_exact(void **state)
{
    Renderer *renderer = *state;
    if ((renderer_info(renderer)->caps & RENDERER_CAP_IMPORT_HOST_POINTER) == 0)
        skip();
    Place place = {.kind = RENDERER_SOURCE_ALLOC, .memory = pages(memory_bytes)};
    place.alloc = renderer_alloc_import(renderer, place.memory, memory_bytes,
                                        CALIPER_ALLOC_HANDLE_HOST_POINTER);
    assert_non_null(place.alloc);
    all_sizes(renderer, &place);
    renderer_alloc_release(renderer, &place.alloc);
    free(place.memory);
}

static void fd_of_a_second_device_is_exact(void **state)
{
    Renderer *renderer = *state;
    if ((renderer_info(renderer)->caps & RENDERER_CAP_IMPORT_FD) == 0)
        skip();
    Exporter *exporter = exporter_create();
    uint8_t *bytes = malloc(memory_bytes);
    for (int p = 0; p < PASS_COUNT; p++) {
        RendererPass pass = pass_number(p);
        uint64_t offset = (uint64_t)p * 3, size_bytes = 0;
        source_fill(&pass, bytes + offset, 255 * 257);
        int fd = exporter_export(exporter, bytes, memory_bytes, &size_bytes);
        Place place = {.kind = RENDERER_SOURCE_ALLOC, .memory = bytes};
        place.alloc = renderer_alloc_import(renderer, (void *)(intptr_t)fd, size_bytes,
                                            CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        assert_non_null(place.alloc);
        assert_int_equal(close(fd), 0); /* the caller keeps its own */
        check(renderer, &place, &pass, 255, 257, offset);
        renderer_alloc_release(renderer, &place.alloc);
    }
    free(bytes);
    exporter_destroy(&exporter);
}

/* Larger than the staging ring and than one read-back. */
static void bands_are_seamless(void **state)
{
    Renderer *renderer = *state;
    const int32_t width = 4099, height = 4200;
    RendererPass pass = pass_expand(1);
    Place place = {.kind = RENDERER_SOURCE_HOST, .memory = malloc((size_t)width * height)};
    source_fill(&pass, place.memory, (uint64_t)width * height);
    check(renderer, &place, &pass, width, height, 0);
    free(place.memory);
}

/* Beyond the device's range limit the pass runs in row bands over windows: an offset near the end
 * of a large allocation and a source longer than one window's step. */
static void windows_are_seamless(void **state)
{
    Renderer *renderer = *state;
    if ((renderer_info(renderer)->caps & RENDERER_CAP_SHARED_IN_PLACE) == 0)
        skip();
    const uint64_t large = 300ull << 20;
    const uint64_t limit = vk_renderer(renderer)->context.properties.limits.maxStorageBufferRange;
    if (limit >= large)
        skip();
    RendererPass pass = pass_expand(4);
    Place place = {.kind = RENDERER_SOURCE_SHARED, .memory = aligned_alloc(4096, large)};
    place.shared = renderer_shared_attach(renderer, place.memory, large);
    assert_non_null(place.shared);
    const int32_t width = 5003, height = 4000; /* 76 MiB: more than a step of 64 */
    const uint64_t offset = (100ull << 20) + 3;
    source_fill(&pass, place.memory + offset, (uint64_t)width * height);
    check(renderer, &place, &pass, width, height, offset);
    source_fill(&pass, place.memory + large - 17 * 9 * 4, 17 * 9);
    check(renderer, &place, &pass, 17, 9, large - 17 * 9 * 4);
    renderer_shared_detach(renderer, &place.shared);
    free(place.memory);
}

/* ---- Frames
 * -------------------------------------------------------------------------------------- */

static void draw_whole(Renderer *renderer, RendererTexture *texture, int32_t width, int32_t height)
{
    float w = (float)width, h = (float)height;
    UiVertex vertices[4] = {{0, 0, 0, 0, 0xffffffffu},
                            {w, 0, 1, 0, 0xffffffffu},
                            {w, h, 1, 1, 0xffffffffu},
                            {0, h, 0, 1, 0xffffffffu}};
    uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand command = {.clip_x1 = width,
                         .clip_y1 = height,
                         .texture = texture,
                         .filter = UI_FILTER_NEAREST,
                         .index_count = 6};
    UiList list = {vertices, 4, indices, 6, &command, 1};
    UiDraw draw = {.lists = &list, .list_count = 1, .scale = 1.0f};
    assert_true(renderer_draw_ui(renderer, &draw));
}

/* Updates before, in and between the draws of many frames; what was drawn is what was current. */
static void frames_show_what_was_current(void **state)
{
    Renderer *renderer = *state;
    enum { WIDTH = 40, HEIGHT = 24, COUNT = WIDTH * HEIGHT };
    RendererPass pass = pass_expand(4);
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = WIDTH, .height_px = HEIGHT, .pass = pass));
    uint8_t first[COUNT * 4], second[COUNT * 4], given[COUNT * 4];
    RendererSource source = {.kind = RENDERER_SOURCE_HOST, .extent_bytes = sizeof first};
    for (int frame = 0; frame < 40; frame++) {
        memset(first, frame * 5 + 1, sizeof first);
        memset(second, frame * 3 + 2, sizeof second);
        for (int i = 0; i < COUNT; i++)
            first[i * 4 + 3] = second[i * 4 + 3] = 255;
        source.host = first;
        if (frame % 2 == 0)
            assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_frame_begin(renderer, WIDTH, HEIGHT, 0xff000000u));
        if (frame % 2 == 1)
            assert_true(renderer_texture_update(renderer, texture, &source));
        draw_whole(renderer, texture, WIDTH, HEIGHT);
        if (frame % 3 == 0) { /* covered by a later draw, from newer pixels */
            source.host = second;
            assert_true(renderer_texture_update(renderer, texture, &source));
            draw_whole(renderer, texture, WIDTH, HEIGHT);
        } else if (frame % 3 == 1) { /* newer pixels that this frame must not show */
            source.host = second;
            assert_true(renderer_texture_update(renderer, texture, &source));
        }
        assert_true(renderer_frame_end(renderer));
        if (frame % 4 == 3 || frame < 6) {
            assert_true(renderer_frame_read(renderer, given, sizeof given));
            assert_memory_equal(given, frame % 3 == 0 ? second : first, sizeof given);
        }
    }
    assert_string_equal(renderer_path(renderer), "CPU-staged (Vulkan)");
    renderer_texture_destroy(renderer, &texture);
}

/* In one draw list an earlier texture is read behind a barrier that a later one asks for: the next
 * write to either must wait for the draw. */
static void a_write_waits_for_every_texture_of_a_list(void **state)
{
    enum { SIDE = 64, BYTES = SIDE * SIDE * 4 };
    Renderer *renderer = *state;
    uint8_t *memory = pages(BYTES);
    RendererShared *shared = renderer_shared_attach(renderer, memory, BYTES);
    RendererTexture *textures[2];
    UiVertex vertices[4] = {{0, 0, 0, 0, 0xffffffffu},
                            {SIDE, 0, 1, 0, 0xffffffffu},
                            {SIDE, SIDE, 1, 1, 0xffffffffu},
                            {0, SIDE, 0, 1, 0xffffffffu}};
    uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand commands[2];
    if (shared == NULL)
        skip();
    RendererSource source = {
        .kind = RENDERER_SOURCE_SHARED, .shared = shared, .extent_bytes = BYTES};
    for (int i = 0; i < 2; i++) {
        textures[i] = renderer_texture_create(
            renderer,
            RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass_expand(4)));
        assert_true(renderer_texture_update(renderer, textures[i], &source));
        commands[i] =
            (UiCommand){.clip_x1 = SIDE, .clip_y1 = SIDE, .texture = textures[i], .index_count = 6};
    }
    UiList list = {vertices, 4, indices, 6, commands, 2};
    UiDraw draw = {.lists = &list, .list_count = 1, .scale = 1.0f};
    for (int frame = 0; frame < 3; frame++) {
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0xff000000u));
        if (frame > 0) /* only the later one is written anew */
            assert_true(renderer_texture_update(renderer, textures[1], &source));
        assert_true(renderer_draw_ui(renderer, &draw));
        for (int i = 0; i < 2; i++)
            assert_true(vk_access_needs_barrier(vk_renderer(renderer),
                                                ((VulkanTexture *)textures[i])->current, true));
        assert_true(renderer_frame_end(renderer));
    }
    for (int i = 0; i < 2; i++)
        renderer_texture_destroy(renderer, &textures[i]);
    renderer_shared_detach(renderer, &shared);
    free(memory);
}

/* Two slots of imported memory in turn: when an update returns, the slot of the one before may be
 * rewritten, though the frame that shows it is perhaps still in flight. */
static void imported_bytes_are_free_after_the_next_update(void **state)
{
    enum { SIDE = 1024, ROUNDS = 30 };
    Renderer *renderer = *state;
    if ((renderer_info(renderer)->caps & RENDERER_CAP_IMPORT_HOST_POINTER) == 0)
        skip();
    const uint64_t slot_bytes = (uint64_t)SIDE * SIDE * 4;
    uint8_t *memory = pages(slot_bytes * 2);
    uint8_t *frame = malloc(slot_bytes);
    RendererAlloc *alloc =
        renderer_alloc_import(renderer, memory, slot_bytes * 2, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    RendererTexture *texture = renderer_texture_create(
        renderer,
        RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass_expand(4)));
    assert_non_null(alloc);
    assert_non_null(texture);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t slot = (uint64_t)(i % 2) * slot_bytes;
        RendererSource source = {.kind = RENDERER_SOURCE_ALLOC,
                                 .alloc = alloc,
                                 .offset_bytes = slot,
                                 .extent_bytes = slot_bytes};
        memset(memory + slot, 0x80 + i, slot_bytes);
        for (uint64_t k = 3; k < slot_bytes; k += 4)
            memory[slot + k] = 255; /* opaque: the frame has the bytes as they are */
        assert_true(renderer_texture_update(renderer, texture, &source));
        if (i > 0) {
            memset(memory + (slot_bytes - slot), 0x11, slot_bytes);
            assert_true(renderer_frame_read(renderer, frame, slot_bytes));
            for (uint64_t k = 0; k < slot_bytes; k++)
                if (frame[k] != (k % 4 == 3 ? 255 : 0x80 + i - 1))
                    fail_msg("round %d, byte %llu is %u", i, (unsigned long long)k, frame[k]);
        }
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0xff000000u));
        draw_whole(renderer, texture, SIDE, SIDE);
        assert_true(renderer_frame_end(renderer));
    }
    renderer_texture_destroy(renderer, &texture);
    renderer_alloc_release(renderer, &alloc);
    free(frame);
    free(memory);
}

static void a_released_texture_stays_for_its_frame(void **state)
{
    Renderer *renderer = *state;
    enum { WIDTH = 16, HEIGHT = 16 };
    uint8_t pixels[WIDTH * HEIGHT * 4], given[sizeof pixels];
    for (int frame = 0; frame < 20; frame++) {
        RendererTexture *texture = renderer_texture_create(
            renderer, RENDERER_TEXTURE_PARAMS(.width_px = WIDTH, .height_px = HEIGHT,
                                              .pass = pass_expand(4)));
        memset(pixels, 255 - frame, sizeof pixels);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            pixels[i * 4 + 3] = 255;
        assert_true(renderer_texture_write(renderer, texture, pixels));
        assert_true(renderer_frame_begin(renderer, WIDTH, HEIGHT, 0));
        draw_whole(renderer, texture, WIDTH, HEIGHT);
        renderer_texture_destroy(renderer, &texture);
        assert_true(renderer_frame_end(renderer));
        if (frame > 10) {
            assert_true(renderer_frame_read(renderer, given, sizeof given));
            assert_memory_equal(given, pixels, sizeof given);
        }
    }
}

static void frames_change_size(void **state)
{
    Renderer *renderer = *state;
    uint8_t *given = malloc(300 * 200 * 4);
    for (int32_t i = 0; i < 30; i++) {
        int32_t width = 10 + i * 9, height = 200 - i * 6;
        uint32_t clear = 0xff000000u | (uint32_t)i * 0x010203u;
        assert_true(renderer_frame_begin(renderer, width, height, clear));
        assert_true(renderer_frame_end(renderer));
        if (i % 5 != 4)
            continue;
        assert_true(renderer_frame_read(renderer, given, 300 * 200 * 4));
        for (int32_t at = 0; at < width * height; at++)
            assert_memory_equal(given + at * 4, &clear, 4);
    }
    free(given);
}

/* After a warm-up no descriptor set and no memory is allocated any more, and nobody waits but for
 * the frames in flight. */
static void steady_state_allocates_nothing(void **state)
{
    Renderer *renderer = *state;
    enum { TEXTURES = 20, SIDE = 33 };
    RendererTexture *textures[TEXTURES];
    uint8_t pixels[SIDE * SIDE];
    VulkanLive before = {0}, after;
    for (int i = 0; i < TEXTURES; i++)
        textures[i] = renderer_texture_create(
            renderer,
            RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass_expand(1)));
    memset(pixels, 7, sizeof pixels);
    for (int frame = 0; frame < 50; frame++) {
        RendererSource source = {
            .kind = RENDERER_SOURCE_HOST, .host = pixels, .extent_bytes = sizeof pixels};
        assert_true(renderer_frame_begin(renderer, 64, 64, 0));
        for (int i = 0; i < TEXTURES; i++) {
            assert_true(renderer_texture_update(renderer, textures[i], &source));
            draw_whole(renderer, textures[i], 64, 64);
        }
        assert_true(renderer_frame_end(renderer));
        if (frame == 10)
            vk_renderer_live(renderer, &before);
    }
    vk_renderer_live(renderer, &after);
    assert_int_equal(after.descriptor_sets, before.descriptor_sets);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.garbage, 0);
    for (int i = 0; i < TEXTURES; i++)
        renderer_texture_destroy(renderer, &textures[i]);
}

static void cycles_leave_nothing(void **state)
{
    Renderer *renderer = *state;
    VulkanLive before = {0}, after;
    uint8_t pixels[64 * 64], given[64 * 64 * 4];
    uint8_t *memory = pages(16384);
    memset(pixels, 9, sizeof pixels);
    for (int i = 0; i < 400; i++) {
        RendererTexture *texture = renderer_texture_create(
            renderer,
            RENDERER_TEXTURE_PARAMS(.width_px = 64, .height_px = 64, .pass = pass_expand(1)));
        RendererShared *shared = renderer_shared_attach(renderer, memory, 16384);
        RendererSource source = {.kind =
                                     shared != NULL ? RENDERER_SOURCE_SHARED : RENDERER_SOURCE_HOST,
                                 .host = pixels,
                                 .shared = shared,
                                 .extent_bytes = sizeof pixels};
        assert_true(renderer_texture_update(renderer, texture, &source));
        if (i % 16 == 0)
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        renderer_shared_detach(renderer, &shared);
        renderer_texture_destroy(renderer, &texture);
        if (i == 20)
            vk_renderer_live(renderer, &before);
    }
    vk_renderer_live(renderer, &after);
    assert_int_equal(after.descriptor_sets, before.descriptor_sets);
    assert_int_equal(after.allocations, before.allocations);
    free(memory);
}

static int setup(void **state)
{
    *state = vulkan_test_renderer();
    log_capture_reset();
    return 0;
}

static int teardown(void **state)
{
    Renderer *renderer = *state;
    renderer_destroy(&renderer);
    assert_int_equal(vk_validation_messages(), 0);
    assert_int_equal(log_captured_problems(), 0);
    return 0;
}

int main(void)
{
    vulkan_test_begin();
    log_stderr_enable(false);
    log_capture_start();
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(host_is_exact),
                                       TEST(shared_is_exact_and_stages_nothing),
                                       TEST(host_pointer_is_exact),
                                       TEST(fd_of_a_second_device_is_exact),
                                       TEST(bands_are_seamless),
                                       TEST(windows_are_seamless),
                                       TEST(frames_show_what_was_current),
                                       TEST(a_write_waits_for_every_texture_of_a_list),
                                       TEST(imported_bytes_are_free_after_the_next_update),
                                       TEST(a_released_texture_stays_for_its_frame),
                                       TEST(frames_change_size),
                                       TEST(steady_state_allocates_nothing),
                                       TEST(cycles_leave_nothing)};
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
