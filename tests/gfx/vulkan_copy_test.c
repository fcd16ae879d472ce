/* The second rung: device tensors that are copied into buffers of ours (vk_interop_copy.c), over
 * the fake of vulkan_fake.h. What is shown is the bytes as they were when the copy was launched,
 * whether the copy runs at once or as late as the hand-over; no copy goes into a buffer that a pass
 * in flight reads; nothing waits; what is refused leaves pixels and file descriptors as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fault.h"
#include "render/vulkan/vk_renderer.h"
#include "vulkan_fake.h"
#include "vulkan_support.h"

/* The texture whose buffers are watched. */
static VulkanRenderer *watched_renderer;
static VulkanTexture *watched_texture;
static int watched_writes;

static void watch_copy(const void *mapped)
{
    if (watched_texture == NULL || watched_texture->copies == NULL)
        return;
    for (int i = 0; i < VULKAN_COPY_SLOTS; i++) {
        const VulkanCopySlot *slot = &watched_texture->copies->slots[i];
        if (slot->mapped != mapped)
            continue;
        bool is_open = watched_renderer->frames.recording &&
                       slot->source.used_value == vk_value_now(watched_renderer);
        assert_true(is_open || vk_reached(watched_renderer, slot->source.used_value));
        watched_writes++;
    }
}

static void watch(Renderer *renderer, RendererTexture *texture)
{
    watched_renderer = vk_renderer(renderer);
    watched_texture = (VulkanTexture *)texture;
    watched_writes = 0;
    fake.on_write = watch_copy;
}

static void texture_done(RendererTexture **texture)
{
    watched_texture = NULL;
    renderer_texture_destroy(&watched_renderer->base, texture);
}

/* With the variable set: not one image is tried. */
static Renderer *start_copying(bool is_late)
{
    setenv("CALIPER_CUDA_RUNG", "copy", 1);
    Renderer *renderer = fake_start(FAKE_BOTH);
    unsetenv("CALIPER_CUDA_RUNG");
    fake.refuses_map = true;
    fake.is_late = is_late;
    return renderer;
}

static void all_pixels_are(const uint8_t *rgba, int count, uint8_t value)
{
    for (int p = 0; p < count; p++)
        if (rgba[p * 4] != value || rgba[p * 4 + 3] != 255)
            fail_msg("pixel %d is %u, wanted %u", p, rgba[p * 4], value);
}

static void exact_with(Renderer *renderer, RendererPass pass, int32_t width, int32_t height)
{
    uint64_t count = (uint64_t)width * (uint64_t)height, extent = source_bytes(&pass, count);
    uint8_t *bytes = malloc(extent), *wanted = malloc(count * 4), *given = malloc(count * 4);
    RendererTexture *texture = fake_texture(renderer, width, height, pass);
    RendererCounters counters;
    watch(renderer, texture);
    for (int again = 0; again < 3; again++) {
        source_fill(&pass, bytes, count);
        reference_pixels(&pass, bytes, count, wanted);
        RendererSource source = fake_source(bytes, extent);
        assert_true(renderer_texture_update(renderer, texture, &source));
        memset(bytes, 0x5a, extent); /* the producer goes on: what was copied stays */
        assert_true(renderer_texture_read(renderer, texture, given, count * 4));
        assert_memory_equal(given, wanted, count * 4);
    }
    renderer_texture_counters(texture, &counters);
    assert_int_equal(counters.device_copied_bytes, 3 * extent);
    assert_int_equal(counters.passes, 3);
    assert_int_equal(counters.staged_bytes, 0);
    texture_done(&texture);
    free(bytes);
    free(wanted);
    free(given);
}

/* ---- Tests --------------------------------------------------------------------------------------
 */

static void copies_are_exact(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {5, 3}, {17, 9}, {255, 257}, {1024, 1}, {1, 1024}};
    for (int is_late = 0; is_late < 2; is_late++) {
        Renderer *renderer = start_copying(is_late != 0);
        assert_true(renderer_info(renderer)->caps & RENDERER_CAP_DEVICE_SOURCE);
        for (int s = 0; s < 6; s++) {
            for (int32_t map = 0; map < 3; map++)
                exact_with(renderer, pass_colormap(map, map == 1 ? 1.5f : -0.5f, 1.0f), sizes[s][0],
                           sizes[s][1]);
            for (uint32_t channels = 1; channels <= 4; channels++)
                exact_with(renderer, pass_expand(channels), sizes[s][0], sizes[s][1]);
        }
        RendererCounters counters;
        renderer_counters(renderer, &counters);
        assert_int_equal(counters.device_copied_bytes, fake.copied_bytes);
        assert_int_equal(counters.staged_bytes, 0);
        assert_int_equal(fake.passes, 0);
        fake_stop(&renderer);
    }
}

/* More than the device binds at once: bands over several windows, on lavapipe beyond 128 MiB. */
static void long_buffers_are_exact(void **state)
{
    (void)state;
    Renderer *renderer = start_copying(false);
    const uint64_t window = vk_renderer(renderer)->context.properties.limits.maxStorageBufferRange;
    if (window > 1ull << 28)
        print_message("left out: the device binds more than 256 MiB\n");
    else
        exact_with(renderer, pass_colormap(0, 0.0f, 1.0f), 8192,
                   (int32_t)(window / (8192 * 4)) + 100);
    fake_stop(&renderer);
}

static void a_driver_without_surfaces_copies(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT], given[COUNT * 4];
    Renderer *renderer = fake_start(FAKE_BUFFERS);
    assert_int_equal(log_captured(LOG_VULKAN_IN_PLACE_OFF), 0);
    for (int i = 0; i < 3; i++) {
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererSource source = fake_source(bytes, COUNT);
        memset(bytes, 10 + i, COUNT);
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        all_pixels_are(given, COUNT, (uint8_t)(10 + i));
        fake_frame(renderer, texture, SIDE, SIDE);
        assert_string_equal(renderer_path(renderer), fake_interop(FAKE_BUFFERS)->copy_path);
        renderer_texture_destroy(renderer, &texture);
    }
    /* The one image that failed, and that copies are used: once each, not once a texture. */
    assert_int_equal(log_captured_problems(), 1);
    assert_int_equal(log_captured(LOG_VULKAN_IN_PLACE_OFF), 1);
    assert_int_equal(fake.copies, 3);
    fake_stop(&renderer);
}

/* Where images can be mapped, one that fails is that texture's matter alone. */
static void one_failed_image_is_one_texture(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT], given[COUNT * 4];
    Renderer *renderer = fake_start(FAKE_BOTH);
    for (int i = 0; i < 3; i++) {
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererSource source = fake_source(bytes, COUNT);
        for (int again = 0; again < 4; again++) {
            fake.refuses_map = i == 1 && again == 0;
            memset(bytes, 40 * i + again, COUNT);
            assert_true(renderer_texture_update(renderer, texture, &source));
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
            all_pixels_are(given, COUNT, (uint8_t)(40 * i + again));
        }
        renderer_texture_destroy(renderer, &texture);
    }
    assert_int_equal(fake.copies, 4);
    assert_int_equal(fake.passes, 8);
    assert_int_equal(log_captured(LOG_VULKAN_IN_PLACE_OFF), 1);
    fake_stop(&renderer);
}

/* Full rate, as many frames in flight as there can be: each shows its own generation, the frame
 * thread waits for nothing in an update, and there are never more buffers than the ring has. */
static void the_ring_is_used_again(void **state)
{
    (void)state;
    enum { SIDE = 64, COUNT = SIDE * SIDE, FRAMES = 200, LARGE = 512 };
    static uint8_t bytes[COUNT], given[LARGE * LARGE * 4];
    for (int is_late = 0; is_late < 2; is_late++) {
        Renderer *renderer = start_copying(is_late != 0);
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererCounters before, after;
        watch(renderer, texture);
        for (int frame = 0; frame < FRAMES; frame++) {
            memset(bytes, frame & 255, sizeof bytes);
            RendererSource source = fake_source(bytes, COUNT);
            renderer_counters(renderer, &before);
            assert_true(renderer_texture_update(renderer, texture, &source));
            renderer_counters(renderer, &after);
            assert_int_equal(after.waits, before.waits);
            fake_frame(renderer, texture, LARGE, LARGE);
            if (frame % 11 != 0)
                continue;
            assert_true(renderer_frame_read(renderer, given, sizeof given));
            all_pixels_are(given, LARGE * LARGE, (uint8_t)(frame & 255));
        }
        assert_int_equal(watched_writes, FRAMES);
        assert_int_equal(fake.hand_overs, FRAMES);
        assert_true(fake.buffers >= 2 && fake.buffers <= VULKAN_COPY_SLOTS);
        texture_done(&texture);
        fake_stop(&renderer);
    }
}

static void updates_of_one_frame(void **state)
{
    (void)state;
    enum { SIDE = 16, COUNT = SIDE * SIDE, STEPS = 6 };
    static uint8_t bytes[COUNT], frame[SIDE * SIDE * STEPS * 4];
    RendererSource source = fake_source(bytes, COUNT);
    for (int is_late = 0; is_late < 2; is_late++) {
        Renderer *renderer = start_copying(is_late != 0);
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererCounters counters;
        watch(renderer, texture);
        /* Not drawn between: the newest is shown, by one pass, in one buffer. */
        for (int i = 0; i < 10; i++) {
            memset(bytes, 100 + i, COUNT);
            assert_true(renderer_texture_update(renderer, texture, &source));
        }
        fake_frame(renderer, texture, SIDE, SIDE);
        assert_true(renderer_frame_read(renderer, frame, SIDE * SIDE * 4));
        all_pixels_are(frame, COUNT, 109);
        renderer_texture_counters(texture, &counters);
        assert_int_equal(counters.passes, 1);
        assert_int_equal(counters.coalesced, 9);
        assert_int_equal(counters.device_copied_bytes, 10 * COUNT);
        assert_int_equal(fake.buffers, 1);
        /* Drawn between: each draw shows what was newest then. More of them than buffers. */
        assert_true(renderer_frame_begin(renderer, SIDE * STEPS, SIDE, 0));
        for (int i = 0; i < STEPS; i++) {
            memset(bytes, 200 + i, COUNT);
            assert_true(renderer_texture_update(renderer, texture, &source));
            fake_draw_at(renderer, texture, SIDE * i, SIDE, SIDE);
        }
        assert_true(renderer_frame_end(renderer));
        assert_true(renderer_frame_read(renderer, frame, sizeof frame));
        for (int p = 0; p < SIDE * SIDE * STEPS; p++)
            assert_int_equal(frame[p * 4], 200 + p % (SIDE * STEPS) / SIDE);
        texture_done(&texture);
        fake_stop(&renderer);
    }
}

/* Host and device sources in any order, drawn, read or neither. */
static void sources_take_turns(void **state)
{
    (void)state;
    enum { SIDE = 24, COUNT = SIDE * SIDE };
    static uint8_t bytes[COUNT], given[COUNT * 4];
    Renderer *renderer = start_copying(true);
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    watch(renderer, texture);
    for (int i = 0; i < 400; i++) {
        memset(bytes, i & 255, COUNT);
        RendererSource source = fake_source(bytes, COUNT);
        if (test_random() % 3 == 0) {
            source.kind = RENDERER_SOURCE_HOST;
            source.host = bytes;
        }
        assert_true(renderer_texture_update(renderer, texture, &source));
        memset(bytes, ~i & 255, COUNT);
        uint32_t after = test_random() % 3;
        if (after == 0)
            continue;
        if (after == 1) {
            fake_frame(renderer, texture, SIDE, SIDE);
            assert_true(renderer_frame_read(renderer, given, sizeof given));
        } else {
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        }
        all_pixels_are(given, COUNT, (uint8_t)(i & 255));
    }
    texture_done(&texture);
    fake_stop(&renderer);
}

typedef enum RefusalCase {
    REFUSAL_BUFFER_MAP,
    REFUSAL_COPY_RUN,
    REFUSAL_EXPORT,
    REFUSAL_MEMORY,
    REFUSAL_COUNT
} RefusalCase;

/* One line, pixels as before, nothing left over; `is_pending`: while an earlier copy is. */
static void refusal(RefusalCase kind, bool is_pending)
{
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    static const char *const plans[REFUSAL_COUNT] = {NULL, NULL, "vk.export:1", "vk.memory:1"};
    uint8_t first[COUNT], second[COUNT], given[COUNT * 4], wanted[COUNT * 4];
    RendererPass pass = pass_expand(1);
    Renderer *renderer = start_copying(true);
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass);
    RendererCounters counters_before, counters_after;
    VulkanLive before, after;
    watch(renderer, texture);
    source_fill(&pass, first, COUNT);
    source_fill(&pass, second, COUNT);
    reference_pixels(&pass, first, COUNT, wanted);
    RendererSource source = fake_source(first, COUNT);
    if (!is_pending) {
        source.kind = RENDERER_SOURCE_HOST;
        source.host = first;
    }
    assert_true(renderer_texture_update(renderer, texture, &source));
    if (!is_pending) /* in the other case its pass is recorded and not submitted */
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
    uint32_t fds = open_fd_count();
    vk_renderer_live(renderer, &before);
    renderer_texture_counters(texture, &counters_before);
    fake.refuses_buffer = kind == REFUSAL_BUFFER_MAP;
    fake.refuses_copy = kind == REFUSAL_COPY_RUN;
    source = fake_source(second, COUNT);
    for (int again = 0; again < 3; again++) {
        fault_set_plan(plans[kind]);
        log_capture_reset();
        assert_false(renderer_texture_update(renderer, texture, &source));
        assert_int_equal(log_captured_problems(), 1);
        assert_false(renderer_lost(renderer));
    }
    fault_set_plan(NULL);
    assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
    assert_memory_equal(given, wanted, sizeof given);
    vk_renderer_live(renderer, &after);
    renderer_texture_counters(texture, &counters_after);
    assert_int_equal(counters_after.device_copied_bytes, counters_before.device_copied_bytes);
    assert_int_equal(counters_after.passes, counters_before.passes);
    if (kind != REFUSAL_COPY_RUN) { /* which keeps the buffer for the next try */
        assert_int_equal(open_fd_count(), fds);
        assert_int_equal(after.allocations, before.allocations + (is_pending ? 1 : 0));
        assert_int_equal(after.descriptor_sets, before.descriptor_sets);
    }
    fake.refuses_buffer = fake.refuses_copy = false;
    assert_true(renderer_texture_update(renderer, texture, &source));
    assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
    reference_pixels(&pass, second, COUNT, wanted);
    assert_memory_equal(given, wanted, sizeof given);
    texture_done(&texture);
    fake_stop(&renderer);
}

static void refusals_leave_the_pixels(void **state)
{
    (void)state;
    for (int kind = 0; kind < REFUSAL_COUNT; kind++)
        refusal((RefusalCase)kind, false);
    refusal(REFUSAL_COPY_RUN, true);
}

static void a_failed_hand_over_is_a_loss(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT] = {0}, given[COUNT * 4];
    Renderer *renderer = start_copying(true);
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    RendererSource source = fake_source(bytes, COUNT);
    assert_true(renderer_texture_update(renderer, texture, &source));
    log_capture_reset();
    fake.refuses_hand_over = true;
    assert_false(renderer_texture_read(renderer, texture, given, sizeof given));
    assert_true(renderer_lost(renderer));
    assert_int_equal(log_captured_problems(), 1);
    assert_false(renderer_texture_update(renderer, texture, &source));
    assert_int_equal(log_captured_problems(), 1);
    renderer_texture_destroy(renderer, &texture);
    fake_stop(&renderer);
}

/* Textures destroyed with their copy launched, recorded or in a frame on its way. */
static void destroyed_in_flight(void **state)
{
    (void)state;
    enum { SIDE = 16, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT] = {7}, given[COUNT * 4];
    Renderer *renderer = start_copying(true);
    VulkanLive before = {0}, after;
    uint32_t fds = 0;
    for (int i = 0; i < 400; i++) {
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererSource source = fake_source(bytes, COUNT);
        for (int again = 0; again <= i % 3; again++) {
            assert_true(renderer_texture_update(renderer, texture, &source));
            if (i % 2 == 0)
                fake_frame(renderer, texture, SIDE, SIDE);
        }
        renderer_texture_destroy(renderer, &texture);
        if (i != 20 && i != 399)
            continue;
        /* Nothing is in flight after a read-back, so nothing waits to be freed. */
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
        assert_true(renderer_frame_end(renderer));
        assert_true(renderer_frame_read(renderer, given, sizeof given));
        texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        renderer_texture_destroy(renderer, &texture);
        vk_renderer_live(renderer, i == 20 ? &before : &after);
        if (i == 20)
            fds = open_fd_count();
    }
    assert_int_equal(fake.buffers, 0);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(open_fd_count(), fds);
    /* And the renderer with all of it. */
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    RendererSource source = fake_source(bytes, COUNT);
    assert_true(renderer_texture_update(renderer, texture, &source));
    fake_frame(renderer, texture, SIDE, SIDE);
    assert_true(renderer_texture_update(renderer, texture, &source));
    renderer_texture_destroy(renderer, &texture);
    fake_stop(&renderer);
}

static void the_variable(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        FakeRungs rungs;
        uint32_t refused, told;
    } cases[] = {{"copy", FAKE_BOTH, 0, 1},
                 {"copy", FAKE_IMAGES, 1, 0},
                 {"surface", FAKE_BOTH, 1, 0},
                 {"", FAKE_BOTH, 1, 0}};
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT] = {3};
    for (int i = 0; i < 4; i++) {
        setenv("CALIPER_CUDA_RUNG", cases[i].value, 1);
        Renderer *renderer = fake_start(cases[i].rungs);
        unsetenv("CALIPER_CUDA_RUNG");
        assert_int_equal(log_captured(LOG_VARIABLE_REFUSED), cases[i].refused);
        assert_int_equal(log_captured(LOG_VULKAN_IN_PLACE_OFF), cases[i].told);
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererSource source = fake_source(bytes, COUNT);
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_int_equal(fake.copies, cases[i].told);
        assert_int_equal(fake.passes, 1 - (int)cases[i].told);
        renderer_texture_destroy(renderer, &texture);
        fake_stop(&renderer);
    }
}

int main(void)
{
    if (!fake_begin())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_are_exact),
                                       cmocka_unit_test(long_buffers_are_exact),
                                       cmocka_unit_test(a_driver_without_surfaces_copies),
                                       cmocka_unit_test(one_failed_image_is_one_texture),
                                       cmocka_unit_test(the_ring_is_used_again),
                                       cmocka_unit_test(updates_of_one_frame),
                                       cmocka_unit_test(sources_take_turns),
                                       cmocka_unit_test(refusals_leave_the_pixels),
                                       cmocka_unit_test(a_failed_hand_over_is_a_loss),
                                       cmocka_unit_test(destroyed_in_flight),
                                       cmocka_unit_test(the_variable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
