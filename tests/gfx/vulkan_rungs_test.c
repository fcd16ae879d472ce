/* The counters against a witness, over all rungs that a tensor can take: bytes staged by the CPU
 * and bytes copied in device memory, as the renderer tells them, beside the copy commands that it
 * recorded (vulkan_copy_count.h), what the fake of vulkan_fake.h copied, and how far the staging
 * ring moved. (vulkan_counters_test.c has the counts of calls, waits and allocations.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "render/vulkan/vk_renderer.h"
#include "vulkan_copy_count.h"
#include "vulkan_fake.h"
#include "vulkan_support.h"

enum { WIDTH = 61, HEIGHT = 47, COUNT = WIDTH * HEIGHT, MEMORY_BYTES = 16384, PASSES = 5 };

static RendererPass pass_of(int number)
{
    return number == 0 ? pass_colormap(1, -1.0f, 2.0f) : pass_expand((uint32_t)number);
}

/* What the counters, the commands and the ring say of a piece of work. */
typedef struct Account {
    RendererCounters counters;
    CopyCount commands;
    uint64_t ring_head, fake_copied;
} Account;

static Account account(Renderer *renderer)
{
    Account now = {.commands = copy_count(),
                   .ring_head = vk_renderer(renderer)->staging.head,
                   .fake_copied = fake.copied_bytes};
    renderer_counters(renderer, &now.counters);
    return now;
}

static void settle(Renderer *renderer, const Account *before, uint64_t staged, uint64_t copied)
{
    Account after = account(renderer);
    assert_int_equal(after.counters.staged_bytes - before->counters.staged_bytes, staged);
    assert_int_equal(after.commands.buffer_to_image - before->commands.buffer_to_image, staged);
    assert_int_equal(after.commands.buffer_to_buffer, before->commands.buffer_to_buffer);
    assert_int_equal(after.commands.image_to_image, before->commands.image_to_image);
    assert_int_equal(after.commands.inline_bytes, before->commands.inline_bytes);
    assert_int_equal(after.counters.device_copied_bytes - before->counters.device_copied_bytes,
                     copied);
    assert_int_equal(after.fake_copied - before->fake_copied, copied);
    /* Between frames the ring may go back to its start, and does not go on by itself. */
    if (staged == 0)
        assert_true(after.ring_head <= before->ring_head);
    else
        assert_true(after.ring_head >= staged);
}

static Renderer *start(const char *rung)
{
    if (rung != NULL)
        setenv("CALIPER_CUDA_RUNG", rung, 1);
    Renderer *renderer = fake_start(FAKE_BOTH);
    unsetenv("CALIPER_CUDA_RUNG");
    copy_count_start(renderer);
    return renderer;
}

/* `source` updates a texture of each pass three times; the witnesses agree after each. */
static void each_pass(Renderer *renderer, RendererSource source, bool is_staged, bool is_copied)
{
    for (int p = 0; p < PASSES; p++) {
        RendererPass pass = pass_of(p);
        RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
        RendererCounters counters;
        source.extent_bytes = source_bytes(&pass, COUNT);
        for (int again = 0; again < 3; again++) {
            Account before = account(renderer);
            assert_true(renderer_texture_update(renderer, texture, &source));
            settle(renderer, &before, is_staged ? COUNT * 4 : 0,
                   is_copied ? source.extent_bytes : 0);
        }
        renderer_texture_counters(texture, &counters);
        assert_int_equal(counters.staged_bytes, is_staged ? 3 * COUNT * 4 : 0);
        assert_int_equal(counters.device_copied_bytes, is_copied ? 3 * source.extent_bytes : 0);
        renderer_texture_destroy(renderer, &texture);
    }
}

static uint8_t *pages_of_noise(void)
{
    uint8_t *memory = aligned_alloc(4096, MEMORY_BYTES);
    RendererPass pass = pass_of(0);
    assert_non_null(memory);
    assert_true(source_bytes(&pass, COUNT) <= MEMORY_BYTES);
    for (int i = 0; i < MEMORY_BYTES; i++)
        memory[i] = (uint8_t)(test_random() >> 9);
    return memory;
}

/* ---- Tests --------------------------------------------------------------------------------------
 */

static void staged_bytes_are_told(void **state)
{
    (void)state;
    Renderer *renderer = start(NULL);
    uint8_t *memory = pages_of_noise();
    each_pass(renderer, (RendererSource){.kind = RENDERER_SOURCE_HOST, .host = memory}, true,
              false);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(4));
    Account before = account(renderer);
    assert_true(renderer_texture_write(renderer, texture, memory));
    settle(renderer, &before, COUNT * 4, 0);
    renderer_texture_destroy(renderer, &texture);
    free(memory);
    /* In several bands. */
    const int32_t side = 2100;
    const uint64_t count = (uint64_t)side * (uint64_t)side;
    memory = calloc(count, 1);
    texture = fake_texture(renderer, side, side, pass_expand(1));
    RendererSource source = {.kind = RENDERER_SOURCE_HOST, .host = memory, .extent_bytes = count};
    assert_true(count * 4 > VULKAN_BAND_BYTES);
    before = account(renderer);
    assert_true(renderer_texture_update(renderer, texture, &source));
    settle(renderer, &before, count * 4, 0);
    renderer_texture_destroy(renderer, &texture);
    free(memory);
    fake_stop(&renderer);
}

static void memory_of_another_device_is_not_copied(void **state)
{
    (void)state;
    Renderer *renderer = start(NULL);
    uint8_t *memory = pages_of_noise();
    Exporter *exporter = exporter_create();
    uint64_t size_bytes = 0;
    int fd = exporter_export(exporter, memory, MEMORY_BYTES, &size_bytes);
    RendererAlloc *alloc = renderer_alloc_import(renderer, (void *)(intptr_t)fd, size_bytes,
                                                 CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    assert_non_null(alloc);
    close(fd);
    each_pass(renderer, (RendererSource){.kind = RENDERER_SOURCE_ALLOC, .alloc = alloc}, false,
              false);
    renderer_alloc_release(renderer, &alloc);
    exporter_destroy(&exporter);
    free(memory);
    fake_stop(&renderer);
}

static void device_tensors_in_place_are_not_copied(void **state)
{
    (void)state;
    Renderer *renderer = start(NULL);
    uint8_t *memory = pages_of_noise();
    each_pass(renderer, fake_source(memory, 0), false, false);
    assert_int_equal(fake.passes, 3 * PASSES);
    assert_int_equal(fake.copies, 0);
    free(memory);
    fake_stop(&renderer);
}

static void device_copies_are_told(void **state)
{
    (void)state;
    Renderer *renderer = start("copy");
    uint8_t *memory = pages_of_noise();
    each_pass(renderer, fake_source(memory, 0), false, true);
    assert_int_equal(fake.passes, 0);
    assert_int_equal(fake.copies, 3 * PASSES);
    free(memory);
    fake_stop(&renderer);
}

static void read_backs_are_no_staging(void **state)
{
    (void)state;
    static uint8_t given[COUNT * 4];
    Renderer *renderer = start(NULL);
    uint8_t *memory = pages_of_noise();
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(1));
    RendererSource source = fake_source(memory, COUNT);
    assert_true(renderer_texture_update(renderer, texture, &source));
    Account before = account(renderer);
    assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
    settle(renderer, &before, 0, 0);
    assert_int_equal(copy_count().image_to_buffer, sizeof given);
    renderer_texture_destroy(renderer, &texture);
    free(memory);
    fake_stop(&renderer);
}

/* All kinds in any order, with frames between, whose vertices are no tensor's bytes. */
static void totals_agree(void **state)
{
    (void)state;
    for (int rung = 0; rung < 2; rung++) {
        Renderer *renderer = start(rung == 0 ? NULL : "copy");
        uint8_t *memory = pages_of_noise();
        RendererShared *shared = renderer_shared_attach(renderer, memory, MEMORY_BYTES);
        RendererTexture *textures[PASSES];
        RendererCounters total, one;
        uint64_t staged = 0, copied = 0;
        for (int p = 0; p < PASSES; p++)
            textures[p] = fake_texture(renderer, WIDTH, HEIGHT, pass_of(p));
        for (int i = 0; i < 300; i++) {
            int p = (int)(test_random() % PASSES);
            RendererPass pass = pass_of(p);
            RendererSource source = fake_source(memory, source_bytes(&pass, COUNT));
            const RendererSourceKind kinds[3] = {RENDERER_SOURCE_DEVICE, RENDERER_SOURCE_HOST,
                                                 RENDERER_SOURCE_SHARED};
            source.kind = kinds[test_random() % 3];
            source.host = memory;
            source.shared = shared;
            assert_true(renderer_texture_update(renderer, textures[p], &source));
            if (test_random() % 4 == 0)
                fake_frame(renderer, textures[p], WIDTH, HEIGHT);
        }
        renderer_counters(renderer, &total);
        for (int p = 0; p < PASSES; p++) {
            renderer_texture_counters(textures[p], &one);
            staged += one.staged_bytes;
            copied += one.device_copied_bytes;
            renderer_texture_destroy(renderer, &textures[p]);
        }
        CopyCount commands = copy_count();
        assert_true(commands.buffer_to_image > 0);
        assert_int_equal(total.staged_bytes, commands.buffer_to_image);
        assert_int_equal(total.device_copied_bytes, commands.buffer_to_buffer +
                                                        commands.image_to_image +
                                                        commands.inline_bytes + fake.copied_bytes);
        assert_int_equal(fake.copied_bytes > 0, rung == 1);
        assert_int_equal(total.staged_bytes, staged);
        assert_int_equal(total.device_copied_bytes, copied);
        renderer_shared_detach(renderer, &shared);
        free(memory);
        fake_stop(&renderer);
    }
}

int main(void)
{
    if (!fake_begin())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(staged_bytes_are_told),
                                       cmocka_unit_test(memory_of_another_device_is_not_copied),
                                       cmocka_unit_test(device_tensors_in_place_are_not_copied),
                                       cmocka_unit_test(device_copies_are_told),
                                       cmocka_unit_test(read_backs_are_no_staging),
                                       cmocka_unit_test(totals_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
