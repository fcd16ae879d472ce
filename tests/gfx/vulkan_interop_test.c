/* The Vulkan side of the seam to CUDA, with another API made of the CPU (vulkan_fake.h). What is
 * tested is the renderer's part: the ring, the hand-overs, the counts, the refusals. A frame still
 * in flight that sampled an image being written would show a newer generation here too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "core/fault.h"
#include "render/vulkan/vk_renderer.h"
#include "vulkan_fake.h"
#include "vulkan_support.h"

/* The texture whose ring is watched: an image that a frame in flight reads must not be written. */
static VulkanRenderer *watched_renderer;
static VulkanTexture *watched_textures[4];

static void watch_write(const void *mapped)
{
    for (int t = 0; watched_renderer != NULL && t < 4; t++)
        for (int i = 0; watched_textures[t]->ring != NULL && i < VULKAN_RING_IMAGES; i++) {
            const VulkanImage *image = &watched_textures[t]->ring[i];
            if (image->mapped != mapped)
                continue;
            assert_true(vk_reached(watched_renderer, image->used_value));
            assert_true(image->is_external);
        }
}

static Renderer *start(void)
{
    Renderer *renderer = fake_start(FAKE_IMAGES);
    fake.on_write = watch_write;
    return renderer;
}

/* ---- Tests
 * --------------------------------------------------------------------------------------------- */

static void exported_images_are_exact(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {5, 3}, {17, 9}, {255, 257}, {1024, 1}};
    Renderer *renderer = start();
    const RendererInfo *info = renderer_info(renderer);
    assert_true(info->caps & RENDERER_CAP_DEVICE_SOURCE);
    RendererCounters counters;
    for (int s = 0; s < 5; s++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            uint64_t count = (uint64_t)sizes[s][0] * (uint64_t)sizes[s][1];
            RendererPass pass = pass_expand(channels);
            uint8_t *bytes = malloc(count * 4), *wanted = malloc(count * 4);
            uint8_t *given = malloc(count * 4);
            RendererTexture *texture = fake_texture(renderer, sizes[s][0], sizes[s][1], pass);
            for (int again = 0; again < 3; again++) {
                source_fill(&pass, bytes, count);
                reference_pixels(&pass, bytes, count, wanted);
                RendererSource source = fake_source(bytes, count * channels);
                assert_true(renderer_texture_update(renderer, texture, &source));
                assert_true(renderer_texture_read(renderer, texture, given, count * 4));
                assert_memory_equal(given, wanted, count * 4);
            }
            renderer_texture_counters(texture, &counters);
            assert_int_equal(counters.passes, 3);
            assert_int_equal(counters.staged_bytes, 0);
            renderer_texture_destroy(renderer, &texture);
            free(bytes);
            free(wanted);
            free(given);
        }
    renderer_counters(renderer, &counters);
    assert_int_equal(counters.staged_bytes, 0);
    assert_int_equal(counters.device_copied_bytes, 0);
    fake_stop(&renderer);
}

/* Full rate with frames in flight: every frame shows one generation, whole, and never an older one
 * than a frame before. One hand-over a frame, whatever the number of textures. */
static void no_frame_tears(void **state)
{
    (void)state;
    enum { SIDE = 64, COUNT = SIDE * SIDE, VIEWS = 4, FRAMES = 400, LARGE = 512 };
    static uint8_t bytes[COUNT], given[LARGE * LARGE * 4];
    Renderer *renderer = start();
    RendererTexture *textures[VIEWS];
    RendererCounters warm, after;
    for (int i = 0; i < VIEWS; i++)
        textures[i] = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    watched_renderer = vk_renderer(renderer);
    for (int i = 0; i < VIEWS; i++)
        watched_textures[i] = (VulkanTexture *)textures[i];
    VulkanLive live_start, live_after;
    vk_renderer_live(renderer, &live_start);
    for (int frame = 0; frame < FRAMES; frame++) {
        memset(bytes, frame & 255, sizeof bytes);
        RendererSource source = fake_source(bytes, COUNT);
        for (int i = 0; i < VIEWS; i++)
            assert_true(renderer_texture_update(renderer, textures[i], &source));
        /* Large frames, so that the device stays behind. */
        assert_true(renderer_frame_begin(renderer, LARGE, LARGE, 0));
        for (int i = 0; i < VIEWS; i++)
            fake_draw(renderer, textures[i], LARGE, LARGE);
        assert_true(renderer_frame_end(renderer));
        /* What comes after the frame must not reach it. */
        memset(bytes, (frame + 1) & 255, sizeof bytes);
        assert_true(renderer_texture_update(renderer, textures[frame % VIEWS], &source));
        if (frame % 7 == 0) {
            assert_true(renderer_frame_read(renderer, given, sizeof given));
            for (int i = 0; i < LARGE * LARGE; i++)
                if (given[i * 4] != (frame & 255) || given[i * 4 + 3] != 255)
                    fail_msg("frame %d shows %u at pixel %d", frame, given[i * 4], i);
        }
        if (frame == 20)
            renderer_counters(renderer, &warm);
    }
    renderer_counters(renderer, &after);
    vk_renderer_live(renderer, &live_after);
    assert_true(after.hand_overs - warm.hand_overs <= (FRAMES - 21) * 8 / 7 + 3);
    /* How much of the ring is made depends on the device's pace; its size does not. */
    assert_true(live_after.allocations <= live_start.allocations + VIEWS * VULKAN_RING_IMAGES + 2);
    assert_int_equal(after.staged_bytes, 0);
    assert_string_equal(renderer_path(renderer), fake_interop(FAKE_IMAGES)->path);
    watched_renderer = NULL;
    for (int i = 0; i < VIEWS; i++)
        renderer_texture_destroy(renderer, &textures[i]);
    fake_stop(&renderer);
}

/* Host, device and imported sources in any order on one texture, drawn and not drawn. */
static void sources_take_turns(void **state)
{
    (void)state;
    enum { SIDE = 40, COUNT = SIDE * SIDE, MEMORY = 4096 };
    static uint8_t given[COUNT * 4];
    Renderer *renderer = start();
    uint8_t *memory = aligned_alloc(4096, MEMORY);
    RendererAlloc *alloc =
        renderer_alloc_import(renderer, memory, MEMORY, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    assert_non_null(alloc);
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    for (int i = 0; i < 300; i++) {
        uint32_t turn = test_random() % 3, after = test_random() % 3;
        /* The imported memory is read in place: its reader has to be done before it changes. */
        if (turn == 2 && i > 0)
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        memset(memory, i & 255, COUNT);
        RendererSource source = fake_source(memory, COUNT);
        source.host = memory;
        source.alloc = alloc;
        source.kind = turn == 0   ? RENDERER_SOURCE_DEVICE
                      : turn == 1 ? RENDERER_SOURCE_HOST
                                  : RENDERER_SOURCE_ALLOC;
        assert_true(renderer_texture_update(renderer, texture, &source));
        if (after == 0 || turn == 2) {
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        } else if (after == 1) {
            assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
            fake_draw(renderer, texture, SIDE, SIDE);
            assert_true(renderer_frame_end(renderer));
            assert_true(renderer_frame_read(renderer, given, sizeof given));
        } else {
            continue;
        }
        for (int p = 0; p < COUNT; p++)
            assert_int_equal(given[p * 4], i & 255);
    }
    renderer_texture_destroy(renderer, &texture);
    renderer_alloc_release(renderer, &alloc);
    free(memory);
    fake_stop(&renderer);
}

/* Imported memory is ordered on the producer's stream when the device wrote it, and only then. */
static void imports_are_ordered(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE, MEMORY = 4096 };
    Renderer *renderer = start();
    Exporter *exporter = exporter_create();
    uint8_t *memory = aligned_alloc(4096, MEMORY), given[COUNT * 4];
    uint64_t size_bytes = 0;
    memset(memory, 5, MEMORY);
    int fd = exporter_export(exporter, memory, MEMORY, &size_bytes);
    RendererAlloc *of_host =
        renderer_alloc_import(renderer, memory, MEMORY, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    RendererAlloc *of_fd = renderer_alloc_import(renderer, (void *)(intptr_t)fd, size_bytes,
                                                 CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    const struct {
        RendererAlloc *alloc;
        void *stream;
        bool by_device;
        int orders;
    } cases[] = {{of_host, NULL, false, 0},
                 {of_host, NULL, true, 1},
                 {of_host, &fake, false, 1},
                 {of_fd, NULL, false, 1},
                 {of_fd, &fake, true, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RendererSource source = {.kind = RENDERER_SOURCE_ALLOC,
                                 .alloc = cases[i].alloc,
                                 .extent_bytes = COUNT,
                                 .stream = cases[i].stream,
                                 .by_device = cases[i].by_device};
        fake.orders = fake.hand_overs = 0;
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        assert_int_equal(fake.orders, cases[i].orders);
        assert_int_equal(fake.hand_overs, cases[i].orders);
        assert_int_equal(given[0], 5);
    }
    renderer_texture_destroy(renderer, &texture);
    renderer_alloc_release(renderer, &of_host);
    renderer_alloc_release(renderer, &of_fd);
    close(fd);
    exporter_destroy(&exporter);
    free(memory);
    fake_stop(&renderer);
}

/* One line, pixels as before, nothing left over. */
static void refusals_leave_the_pixels(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t first[COUNT], second[COUNT], given[COUNT * 4], wanted[COUNT * 4];
    RendererPass pass = pass_expand(1);
    const char *plans[] = {NULL, NULL, "vk.export:1", "vk.texture:1", "vk.memory:1"};
    for (int i = 0; i < 5; i++) {
        Renderer *renderer = start();
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass);
        source_fill(&pass, first, COUNT);
        source_fill(&pass, second, COUNT);
        reference_pixels(&pass, first, COUNT, wanted);
        RendererSource source = {
            .kind = RENDERER_SOURCE_HOST, .host = first, .extent_bytes = COUNT};
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        uint32_t fds = open_fd_count();
        VulkanLive before, after;
        vk_renderer_live(renderer, &before);
        fake.refuses_map = i == 0;
        fake.refuses_pass = i == 1;
        source = fake_source(second, COUNT);
        for (int again = 0; again < 3; again++) {
            fault_set_plan(plans[i]);
            log_capture_reset();
            assert_false(renderer_texture_update(renderer, texture, &source));
            assert_int_equal(log_captured_problems(), 1);
            assert_false(renderer_lost(renderer));
        }
        fault_set_plan(NULL);
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        assert_memory_equal(given, wanted, sizeof given);
        vk_renderer_live(renderer, &after);
        if (!fake.refuses_pass) { /* which keeps the ring image for the next try */
            assert_int_equal(open_fd_count(), fds);
            assert_int_equal(after.allocations, before.allocations);
            assert_int_equal(after.descriptor_sets, before.descriptor_sets);
        }
        fake.refuses_map = fake.refuses_pass = false;
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        reference_pixels(&pass, second, COUNT, wanted);
        assert_memory_equal(given, wanted, sizeof given);
        renderer_texture_destroy(renderer, &texture);
        fake_stop(&renderer);
    }
}

static void a_failed_hand_over_is_a_loss(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT] = {0}, given[COUNT * 4];
    Renderer *renderer = start();
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    RendererSource source = fake_source(bytes, COUNT);
    assert_true(renderer_texture_update(renderer, texture, &source));
    log_capture_reset();
    fake.refuses_hand_over = true;
    assert_false(renderer_texture_read(renderer, texture, given, sizeof given));
    assert_true(renderer_lost(renderer));
    assert_int_equal(log_captured_problems(), 1);
    renderer_texture_destroy(renderer, &texture);
    fake_stop(&renderer);
}

static void an_interop_that_does_not_start_is_one_line(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.refuses_create = true;
    vk_interop_set(fake_interop(FAKE_IMAGES));
    RendererParams params = fake_params();
    uint32_t fds = open_fd_count();
    log_capture_reset();
    Renderer *renderer = vulkan_test_renderer_with(&params);
    assert_int_equal(log_captured(LOG_VULKAN_INTEROP_FAILED), 1);
    assert_int_equal(log_captured_problems(), 1);
    assert_false(renderer_info(renderer)->caps & RENDERER_CAP_DEVICE_SOURCE);
    assert_int_equal(renderer_info(renderer)->interop_index, -1);
    fake_stop(&renderer);
    /* Another device's UUID: the renderer starts, without it and without a word of warning. */
    params.interop_uuid[15] ^= 1;
    fake.refuses_create = false;
    log_capture_reset();
    renderer = vulkan_test_renderer_with(&params);
    assert_int_equal(fake.states, 0);
    assert_int_equal(log_captured_problems(), 0);
    assert_false(renderer_info(renderer)->caps & RENDERER_CAP_DEVICE_SOURCE);
    fake_stop(&renderer);
    assert_int_equal(open_fd_count(), fds);
}

static void cycles_leave_nothing(void **state)
{
    (void)state;
    enum { SIDE = 16, COUNT = SIDE * SIDE };
    uint8_t bytes[COUNT] = {7};
    Renderer *renderer = start();
    VulkanLive before = {0}, after;
    uint32_t fds = 0;
    for (int i = 0; i < 600; i++) {
        RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        RendererSource source = fake_source(bytes, COUNT);
        assert_true(renderer_texture_update(renderer, texture, &source));
        if (i % 2 == 0) {
            assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
            fake_draw(renderer, texture, SIDE, SIDE);
            assert_true(renderer_frame_end(renderer));
        }
        renderer_texture_destroy(renderer, &texture);
        if (i != 20 && i != 599)
            continue;
        /* Nothing is in flight after a read-back, so nothing waits to be freed. */
        uint8_t given[SIDE * SIDE * 4];
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
        assert_true(renderer_frame_end(renderer));
        assert_true(renderer_frame_read(renderer, given, sizeof given));
        texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
        renderer_texture_destroy(renderer, &texture);
        vk_renderer_live(renderer, i == 20 ? &before : &after);
        if (i == 20)
            fds = open_fd_count();
    }
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(open_fd_count(), fds);
    fake_stop(&renderer);
}

/* Frames that are not drawn give back what was released as those that are: a window may stay as it
 * is for hours, and the memory is another program's in the meantime. */
static void still_frames_free_what_was_released(void **state)
{
    (void)state;
    enum { SIDE = 64, COUNT = SIDE * SIDE, LARGE = 2048, SECONDS_MAX = 20 };
    static uint8_t bytes[COUNT];
    Renderer *renderer = start();
    RendererTexture *texture = fake_texture(renderer, SIDE, SIDE, pass_expand(1));
    RendererSource source = fake_source(bytes, COUNT);
    RendererFrame still = {.width_px = LARGE, .height_px = LARGE};
    assert_true(renderer_texture_update(renderer, texture, &source));
    fake_frame(renderer, texture, LARGE, LARGE); /* large: the device stays behind */
    renderer_texture_destroy(renderer, &texture);
    assert_int_equal(renderer_frame_show(renderer, &still), RENDERER_SHOWN_DRAWN);

    int collects = fake.collects;
    assert_int_equal(renderer_frame_show(renderer, &still), RENDERER_SHOWN_ALREADY);
    assert_int_equal(fake.collects, collects + 1); /* what the other API holds, too */
    VulkanLive live = {0};
    for (int i = 0; i < SECONDS_MAX * 1000; i++) {
        vk_renderer_live(renderer, &live);
        if (live.garbage == 0)
            break;
        usleep(1000);
        assert_int_equal(renderer_frame_show(renderer, &still), RENDERER_SHOWN_ALREADY);
    }
    assert_int_equal(live.garbage, 0);
    assert_int_equal(fake.images, 0);
    fake_stop(&renderer);
}

int main(void)
{
    if (!fake_begin())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(exported_images_are_exact),
                                       cmocka_unit_test(no_frame_tears),
                                       cmocka_unit_test(sources_take_turns),
                                       cmocka_unit_test(imports_are_ordered),
                                       cmocka_unit_test(refusals_leave_the_pixels),
                                       cmocka_unit_test(a_failed_hand_over_is_a_loss),
                                       cmocka_unit_test(an_interop_that_does_not_start_is_one_line),
                                       cmocka_unit_test(cycles_leave_nothing),
                                       cmocka_unit_test(still_frames_free_what_was_released)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
