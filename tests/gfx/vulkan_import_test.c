/* Allocations that the other API exported itself: its own passes read them, through the fake of
 * vulkan_fake.h. And the ring of a texture when memory is short, and when sources alternate. */
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

enum { WIDTH = 61, HEIGHT = 47, COUNT = WIDTH * HEIGHT, MEMORY_BYTES = 65536 };

typedef struct Import {
    Renderer *renderer;
    Exporter *exporter;
    RendererAlloc *alloc;
    uint8_t *bytes; /* what is in it */
} Import;

static RendererAlloc *import_of(Renderer *renderer, Exporter *exporter, const uint8_t *bytes)
{
    uint64_t size_bytes = 0;
    int fd = exporter_export(exporter, bytes, MEMORY_BYTES, &size_bytes);
    RendererAlloc *alloc = renderer_alloc_import(renderer, (void *)(intptr_t)fd, size_bytes,
                                                 CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    close(fd);
    return alloc;
}

static Import import_begin(void)
{
    Import import = {.renderer = fake_start(FAKE_BOTH), .bytes = malloc(MEMORY_BYTES)};
    fake.maps_memory = true;
    import.exporter = exporter_create();
    for (int i = 0; i < MEMORY_BYTES; i++)
        import.bytes[i] = (uint8_t)test_random();
    import.alloc = import_of(import.renderer, import.exporter, import.bytes);
    assert_non_null(import.alloc);
    return import;
}

static void import_end(Import *import)
{
    renderer_alloc_release(import->renderer, &import->alloc);
    assert_int_equal(fake.memories, 0);
    exporter_destroy(&import->exporter);
    free(import->bytes);
    fake_stop(&import->renderer);
}

static RendererSource source_at(const Import *import, const RendererPass *pass, uint64_t offset)
{
    return (RendererSource){.kind = RENDERER_SOURCE_ALLOC,
                            .alloc = import->alloc,
                            .offset_bytes = offset,
                            .extent_bytes = source_bytes(pass, COUNT)};
}

static void shows(const Import *import, RendererTexture *texture, const RendererPass *pass,
                  uint64_t offset)
{
    static uint8_t wanted[COUNT * 4], given[COUNT * 4];
    reference_pixels(pass, import->bytes + offset, COUNT, wanted);
    assert_true(renderer_texture_read(import->renderer, texture, given, sizeof given));
    assert_memory_equal(given, wanted, sizeof given);
}

/* On the producer's stream alone: no order between the APIs but the frame's. */
static void its_own_passes_read_it(void **state)
{
    (void)state;
    Import import = import_begin();
    RendererCounters counters;
    for (int p = 0; p < 5; p++) {
        RendererPass pass = p == 0 ? pass_colormap(1, -1.0f, 2.0f) : pass_expand((uint32_t)p);
        RendererTexture *texture = fake_texture(import.renderer, WIDTH, HEIGHT, pass);
        for (int i = 0; i < 7; i++) {
            RendererSource source = source_at(&import, &pass, (uint64_t)i * 4);
            assert_true(renderer_texture_update(import.renderer, texture, &source));
            fake_frame(import.renderer, texture, WIDTH, HEIGHT);
            shows(&import, texture, &pass, (uint64_t)i * 4);
        }
        renderer_texture_destroy(import.renderer, &texture);
    }
    assert_int_equal(fake.passes, 5 * 7);
    assert_int_equal(fake.orders, 0);
    assert_int_equal(fake.copies, 0);
    renderer_counters(import.renderer, &counters);
    assert_int_equal(counters.passes, 5 * 7);
    assert_int_equal(counters.staged_bytes, 0);
    assert_int_equal(counters.device_copied_bytes, 0);
    assert_string_equal(renderer_path(import.renderer), fake_interop(FAKE_BOTH)->path);
    import_end(&import);
}

/* The contract of v1.2: the bytes of an update are given back by the next one. */
static void bytes_are_given_back_by_the_next_update(void **state)
{
    (void)state;
    Import import = import_begin();
    RendererPass pass = pass_expand(1);
    RendererTexture *texture = fake_texture(import.renderer, WIDTH, HEIGHT, pass);
    VulkanTexture *white = (VulkanTexture *)texture;
    RendererSource first = source_at(&import, &pass, 0), second = source_at(&import, &pass, 1);
    RendererSource host = {
        .kind = RENDERER_SOURCE_HOST, .host = import.bytes, .extent_bytes = COUNT};
    assert_true(renderer_texture_update(import.renderer, texture, &first));
    assert_true(renderer_texture_update(import.renderer, texture, &first));
    assert_int_equal(fake.waits, 0); /* the same bytes again: none are given back */
    const void *reader = white->current->mapped;
    assert_true(renderer_texture_update(import.renderer, texture, &second));
    assert_int_equal(fake.waits, 1);
    assert_ptr_equal(fake.waited_for, reader);
    assert_true(renderer_texture_update(import.renderer, texture, &host));
    assert_int_equal(fake.waits, 2);
    assert_true(renderer_texture_update(import.renderer, texture, &host));
    assert_int_equal(fake.waits, 2);
    shows(&import, texture, &pass, 0);
    renderer_texture_destroy(import.renderer, &texture);
    import_end(&import);
}

/* Where images cannot be mapped, our own import of the same memory is read, in place as well. */
static void without_images_our_pass_reads_it(void **state)
{
    (void)state;
    Import import = import_begin();
    RendererPass pass = pass_expand(3);
    fake.refuses_map = true;
    RendererTexture *texture = fake_texture(import.renderer, WIDTH, HEIGHT, pass);
    for (uint64_t i = 0; i < 4; i++) {
        RendererSource source = source_at(&import, &pass, i);
        assert_true(renderer_texture_update(import.renderer, texture, &source));
        shows(&import, texture, &pass, i);
    }
    assert_int_equal(fake.passes, 0);
    assert_int_equal(fake.copies, 0);
    assert_int_equal(fake.orders, 4);
    renderer_texture_destroy(import.renderer, &texture);
    import_end(&import);
}

static void imports_that_fail_leave_nothing(void **state)
{
    (void)state;
    Import import = import_begin();
    VulkanLive before, after;
    vk_renderer_live(import.renderer, &before);
    uint64_t size_bytes = 0;
    int fd = exporter_export(import.exporter, import.bytes, MEMORY_BYTES, &size_bytes);
    uint32_t fds = open_fd_count();
    for (int i = 0; i < 3; i++) {
        static const char *const plans[] = {NULL, "vk.import:1", "vk.import:2"};
        fake.refuses_memory = i == 0;
        fault_set_plan(plans[i]);
        log_capture_reset();
        assert_null(renderer_alloc_import(import.renderer, (void *)(intptr_t)fd, size_bytes,
                                          CALIPER_ALLOC_HANDLE_OPAQUE_FD));
        fault_set_plan(NULL);
        fake.refuses_memory = false;
        assert_int_equal(log_captured_problems(), 1);
        assert_int_equal(fake.memories, 1);
        assert_int_equal(open_fd_count(), fds);
    }
    close(fd);
    vk_renderer_live(import.renderer, &after);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.descriptor_sets, before.descriptor_sets);
    import_end(&import);
}

/* ---- The ring ---------------------------------------------------------------------------------
 */

/* A texture that has images goes on with them when there is no memory for another: one line. */
static void a_ring_that_cannot_grow_goes_on(void **state)
{
    (void)state;
    static uint8_t bytes[COUNT], wanted[COUNT * 4], given[COUNT * 4];
    RendererPass pass = pass_expand(1);
    static const char *const plans[] = {"vk.texture:1+", "vk.memory:1+", "vk.export:1+"};
    for (int i = 0; i < 4; i++) {
        Renderer *renderer = fake_start(FAKE_BOTH);
        RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
        RendererSource source = fake_source(bytes, COUNT);
        for (int u = 0; u < 2; u++) { /* two images: one shown, one to write */
            assert_true(renderer_texture_update(renderer, texture, &source));
            fake_frame(renderer, texture, WIDTH, HEIGHT);
        }
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        log_capture_reset();
        fake.refuses_map = i == 3;
        fault_set_plan(i < 3 ? plans[i] : NULL);
        for (int u = 0; u < 12; u++) {
            memset(bytes, 20 + u, sizeof bytes);
            reference_pixels(&pass, bytes, COUNT, wanted);
            /* Each draw keeps its image for the frame, so the second update finds none free. */
            assert_true(renderer_frame_begin(renderer, WIDTH, HEIGHT, 0));
            for (int d = 0; d < 3; d++) {
                assert_true(renderer_texture_update(renderer, texture, &source));
                fake_draw(renderer, texture, WIDTH, HEIGHT);
            }
            assert_true(renderer_frame_end(renderer));
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
            assert_memory_equal(given, wanted, sizeof given);
        }
        fault_set_plan(NULL);
        fake.refuses_map = false;
        assert_int_equal(log_captured_problems(), 1);
        assert_int_equal(fake.copies, 0);
        renderer_texture_destroy(renderer, &texture);
        fake_stop(&renderer);
    }
}

/* After the first turn of each nothing is made any more. */
static void sources_that_alternate_make_no_images(void **state)
{
    (void)state;
    static uint8_t bytes[COUNT], wanted[COUNT * 4], given[COUNT * 4];
    RendererPass pass = pass_expand(1);
    Renderer *renderer = fake_start(FAKE_BOTH);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
    VulkanTexture *white = (VulkanTexture *)texture;
    VkImage plain = VK_NULL_HANDLE;
    for (int i = 0; i < 30; i++) {
        RendererSource source = fake_source(bytes, COUNT);
        source.kind = i % 2 == 0 ? RENDERER_SOURCE_DEVICE : RENDERER_SOURCE_HOST;
        source.host = bytes;
        memset(bytes, i, sizeof bytes);
        reference_pixels(&pass, bytes, COUNT, wanted);
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        assert_memory_equal(given, wanted, sizeof given);
        if (i == 1)
            plain = white->plain.image;
        assert_true(i < 1 || white->plain.image == plain);
    }
    renderer_texture_destroy(renderer, &texture);
    fake_stop(&renderer);
}

/* No image is made that only host tensors would be written to, and one is when they come. */
static void a_device_tensor_needs_no_plain_image(void **state)
{
    (void)state;
    static uint8_t bytes[COUNT], wanted[COUNT * 4], given[COUNT * 4];
    RendererPass pass = pass_expand(1);
    Renderer *renderer = fake_start(FAKE_BOTH);
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = WIDTH, .height_px = HEIGHT, .pass = pass,
                                          .device_first = true));
    VulkanTexture *white = (VulkanTexture *)texture;
    RendererSource source = fake_source(bytes, COUNT);
    assert_non_null(texture);
    log_capture_reset();
    assert_false(renderer_texture_read(renderer, texture, given, sizeof given));
    assert_int_equal(log_captured_problems(), 1);
    for (int i = 0; i < 6; i++) {
        source.kind = i < 3 ? RENDERER_SOURCE_DEVICE : RENDERER_SOURCE_HOST;
        source.host = bytes;
        memset(bytes, 30 + i, sizeof bytes);
        reference_pixels(&pass, bytes, COUNT, wanted);
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true((white->plain.image != VK_NULL_HANDLE) == (i >= 3));
        fake_frame(renderer, texture, WIDTH, HEIGHT);
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        assert_memory_equal(given, wanted, sizeof given);
    }
    renderer_texture_destroy(renderer, &texture);
    texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = WIDTH, .height_px = HEIGHT, .pass = pass,
                                          .device_first = true));
    renderer_texture_destroy(renderer, &texture); /* never updated */
    fake_stop(&renderer);
}

int main(void)
{
    if (!fake_begin())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(its_own_passes_read_it),
                                       cmocka_unit_test(bytes_are_given_back_by_the_next_update),
                                       cmocka_unit_test(without_images_our_pass_reads_it),
                                       cmocka_unit_test(imports_that_fail_leave_nothing),
                                       cmocka_unit_test(a_ring_that_cannot_grow_goes_on),
                                       cmocka_unit_test(sources_that_alternate_make_no_images),
                                       cmocka_unit_test(a_device_tensor_needs_no_plain_image)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
