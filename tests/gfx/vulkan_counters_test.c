/* The counters against what was really called: the renderer's own table of device functions is
 * replaced by functions that count. Where the project says zero, nothing was copied; in steady
 * state nothing is allocated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "render/vulkan/vk_renderer.h"
#include "vulkan_support.h"

static struct VolkDeviceTable real;

static struct {
    uint64_t copied_to_images; /* bytes of vkCmdCopyBufferToImage, 4 a pixel */
    uint32_t other_copies;     /* every other command that moves bytes, but for read-backs */
    uint32_t dispatches, submissions, waits;
    uint32_t allocations; /* memory, buffers, images, views, pools, sets, set writes */
} seen;

static VKAPI_ATTR void VKAPI_CALL count_copy_to_image(VkCommandBuffer commands, VkBuffer buffer,
                                                      VkImage image, VkImageLayout layout,
                                                      uint32_t count,
                                                      const VkBufferImageCopy *regions)
{
    for (uint32_t i = 0; i < count; i++)
        seen.copied_to_images +=
            (uint64_t)regions[i].imageExtent.width * regions[i].imageExtent.height * 4;
    real.vkCmdCopyBufferToImage(commands, buffer, image, layout, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL count_copy_buffer(VkCommandBuffer commands, VkBuffer from,
                                                    VkBuffer to, uint32_t count,
                                                    const VkBufferCopy *regions)
{
    seen.other_copies++;
    real.vkCmdCopyBuffer(commands, from, to, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL count_copy_image(VkCommandBuffer commands, VkImage from,
                                                   VkImageLayout from_layout, VkImage to,
                                                   VkImageLayout to_layout, uint32_t count,
                                                   const VkImageCopy *regions)
{
    seen.other_copies++;
    real.vkCmdCopyImage(commands, from, from_layout, to, to_layout, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL count_blit(VkCommandBuffer commands, VkImage from,
                                             VkImageLayout from_layout, VkImage to,
                                             VkImageLayout to_layout, uint32_t count,
                                             const VkImageBlit *regions, VkFilter filter)
{
    seen.other_copies++;
    real.vkCmdBlitImage(commands, from, from_layout, to, to_layout, count, regions, filter);
}

static VKAPI_ATTR void VKAPI_CALL count_update(VkCommandBuffer commands, VkBuffer to,
                                               VkDeviceSize at, VkDeviceSize size, const void *data)
{
    seen.other_copies++;
    real.vkCmdUpdateBuffer(commands, to, at, size, data);
}

static VKAPI_ATTR void VKAPI_CALL count_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                                 uint32_t z)
{
    seen.dispatches++;
    real.vkCmdDispatch(commands, x, y, z);
}

static VKAPI_ATTR VkResult VKAPI_CALL count_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo *infos, VkFence fence)
{
    seen.submissions++;
    return real.vkQueueSubmit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL count_wait(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                 uint64_t timeout)
{
    seen.waits++;
    return real.vkWaitSemaphores(device, info, timeout);
}

#define COUNT_ALLOCATION(name, info_type, out_type)                                            \
    static VKAPI_ATTR VkResult VKAPI_CALL count_##name(VkDevice device, const info_type *info, \
                                                       const VkAllocationCallbacks *allocator, \
                                                       out_type *out)                          \
    {                                                                                          \
        seen.allocations++;                                                                    \
        return real.name(device, info, allocator, out);                                        \
    }
COUNT_ALLOCATION(vkAllocateMemory, VkMemoryAllocateInfo, VkDeviceMemory)
COUNT_ALLOCATION(vkCreateBuffer, VkBufferCreateInfo, VkBuffer)
COUNT_ALLOCATION(vkCreateImage, VkImageCreateInfo, VkImage)
COUNT_ALLOCATION(vkCreateImageView, VkImageViewCreateInfo, VkImageView)
COUNT_ALLOCATION(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
COUNT_ALLOCATION(vkCreateFramebuffer, VkFramebufferCreateInfo, VkFramebuffer)

static VKAPI_ATTR VkResult VKAPI_CALL count_sets(VkDevice device,
                                                 const VkDescriptorSetAllocateInfo *info,
                                                 VkDescriptorSet *out)
{
    seen.allocations++;
    return real.vkAllocateDescriptorSets(device, info, out);
}

static VKAPI_ATTR void VKAPI_CALL count_set_writes(VkDevice device, uint32_t count,
                                                   const VkWriteDescriptorSet *writes,
                                                   uint32_t copy_count,
                                                   const VkCopyDescriptorSet *copies)
{
    seen.allocations++;
    real.vkUpdateDescriptorSets(device, count, writes, copy_count, copies);
}

static Renderer *start(void)
{
    Renderer *renderer = vulkan_test_renderer();
    struct VolkDeviceTable *api = &vk_renderer(renderer)->context.api;
    real = *api;
    api->vkCmdCopyBufferToImage = count_copy_to_image;
    api->vkCmdCopyBuffer = count_copy_buffer;
    api->vkCmdCopyImage = count_copy_image;
    api->vkCmdBlitImage = count_blit;
    api->vkCmdUpdateBuffer = count_update;
    api->vkCmdDispatch = count_dispatch;
    api->vkQueueSubmit = count_submit;
    api->vkWaitSemaphores = count_wait;
    api->vkAllocateMemory = count_vkAllocateMemory;
    api->vkCreateBuffer = count_vkCreateBuffer;
    api->vkCreateImage = count_vkCreateImage;
    api->vkCreateImageView = count_vkCreateImageView;
    api->vkCreateDescriptorPool = count_vkCreateDescriptorPool;
    api->vkCreateFramebuffer = count_vkCreateFramebuffer;
    api->vkAllocateDescriptorSets = count_sets;
    api->vkUpdateDescriptorSets = count_set_writes;
    memset(&seen, 0, sizeof seen);
    return renderer;
}

enum { SIDE = 96, COUNT = SIDE * SIDE, MEMORY = 40960, UPDATES = 12 };

static RendererTexture *texture_of(Renderer *renderer, RendererPass pass)
{
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass));
    assert_non_null(texture);
    return texture;
}

static void draw(Renderer *renderer, RendererTexture *texture)
{
    UiVertex vertices[3] = {{0, 0, 0, 0, ~0u}, {SIDE, 0, 1, 0, ~0u}, {SIDE, SIDE, 1, 1, ~0u}};
    uint16_t indices[3] = {0, 1, 2};
    UiCommand command = {.clip_x1 = SIDE, .clip_y1 = SIDE, .texture = texture, .index_count = 3};
    UiList list = {vertices, 3, indices, 3, &command, 1};
    UiDraw ui = {.lists = &list, .list_count = 1, .scale = 1.0f};
    assert_true(renderer_draw_ui(renderer, &ui));
}

/* Updates from one kind of source, frames in between; the counters grew by exactly what was called.
 */
static void compare(RendererSourceKind kind, bool in_place)
{
    Renderer *renderer = start();
    if (in_place && (renderer_info(renderer)->caps & RENDERER_CAP_SHARED_IN_PLACE) == 0) {
        renderer_destroy(&renderer);
        print_message("skipped: this device cannot read host memory in place\n");
        skip();
    }
    uint8_t *memory = aligned_alloc(4096, MEMORY);
    memset(memory, 3, MEMORY);
    RendererPass pass = pass_colormap(0, 0.0f, 1.0f);
    RendererTexture *texture = texture_of(renderer, pass);
    RendererSource source = {.kind = kind, .host = memory, .extent_bytes = COUNT * 4};
    if (kind == RENDERER_SOURCE_SHARED)
        source.shared = renderer_shared_attach(renderer, memory, MEMORY);
    if (kind == RENDERER_SOURCE_ALLOC)
        source.alloc =
            renderer_alloc_import(renderer, memory, MEMORY, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    RendererCounters before, after, of_texture;
    renderer_counters(renderer, &before);
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < UPDATES; i++) {
        assert_true(renderer_texture_update(renderer, texture, &source));
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
        draw(renderer, texture);
        assert_true(renderer_frame_end(renderer));
    }
    renderer_counters(renderer, &after);
    renderer_texture_counters(texture, &of_texture);
    const uint64_t moved = in_place ? 0 : (uint64_t)UPDATES * COUNT * 4;
    assert_int_equal(seen.copied_to_images, moved);
    assert_int_equal(after.staged_bytes - before.staged_bytes, moved);
    assert_int_equal(of_texture.staged_bytes, moved);
    assert_int_equal(seen.other_copies, 0);
    assert_int_equal(after.device_copied_bytes, 0);
    assert_int_equal(seen.dispatches, in_place ? UPDATES : 0);
    assert_int_equal(after.passes - before.passes, seen.dispatches);
    assert_int_equal(of_texture.passes, seen.dispatches);
    assert_int_equal(after.waits - before.waits, seen.waits);
    assert_int_equal(seen.submissions, UPDATES); /* one a frame, updates and draws together */
    assert_string_equal(renderer_path(renderer), in_place
                                                     ? "GPU-resident (Vulkan, zero CPU staging)"
                                                     : "CPU-staged (Vulkan)");
    renderer_alloc_release(renderer, &source.alloc);
    renderer_shared_detach(renderer, &source.shared);
    renderer_texture_destroy(renderer, &texture);
    renderer_destroy(&renderer);
    free(memory);
    assert_int_equal(vk_validation_messages(), 0);
}

static void host_updates_are_staged_once(void **state)
{
    (void)state;
    compare(RENDERER_SOURCE_HOST, false);
}

static void shared_updates_move_nothing(void **state)
{
    (void)state;
    compare(RENDERER_SOURCE_SHARED, true);
}

static void imported_updates_move_nothing(void **state)
{
    (void)state;
    compare(RENDERER_SOURCE_ALLOC, true);
}

/* The staging ring itself: what the CPU wrote there for a texture is what the counter says. */
static void the_ring_agrees(void **state)
{
    (void)state;
    Renderer *renderer = start();
    const VulkanStaging *staging = &vk_renderer(renderer)->staging;
    static uint8_t bytes[COUNT];
    RendererTexture *texture = texture_of(renderer, pass_expand(1));
    RendererSource source = {.kind = RENDERER_SOURCE_HOST, .host = bytes, .extent_bytes = COUNT};
    assert_true(renderer_texture_update(renderer, texture, &source)); /* opens the batch */
    uint64_t head = staging->head;
    RendererCounters before, after;
    renderer_counters(renderer, &before);
    for (int i = 0; i < UPDATES; i++)
        assert_true(renderer_texture_update(renderer, texture, &source));
    renderer_counters(renderer, &after);
    assert_int_equal(staging->head - head, after.staged_bytes - before.staged_bytes);
    assert_int_equal((COUNT * 4) % 256, 0); /* no padding between the pieces */
    renderer_texture_destroy(renderer, &texture);
    renderer_destroy(&renderer);
}

/* 256 live textures, host and shared, a hundred frames: nothing is allocated after the first. */
static void steady_frames_allocate_nothing(void **state)
{
    (void)state;
    enum { TEXTURES = 256, FRAMES = 100 };
    Renderer *renderer = start();
    RendererTexture *textures[TEXTURES];
    uint8_t *memory = aligned_alloc(4096, MEMORY);
    memset(memory, 3, MEMORY);
    RendererShared *shared = renderer_shared_attach(renderer, memory, MEMORY);
    for (int i = 0; i < TEXTURES; i++)
        textures[i] = texture_of(renderer, pass_expand(1));
    RendererCounters before = {0}, after;
    for (int frame = 0; frame < FRAMES; frame++) {
        if (frame == 1) {
            renderer_counters(renderer, &before);
            memset(&seen, 0, sizeof seen);
        }
        for (int i = 0; i < TEXTURES; i++) {
            bool in_place = shared != NULL && i % 2 == 1;
            RendererSource source = {.kind =
                                         in_place ? RENDERER_SOURCE_SHARED : RENDERER_SOURCE_HOST,
                                     .host = memory,
                                     .shared = shared,
                                     .extent_bytes = COUNT};
            assert_true(renderer_texture_update(renderer, textures[i], &source));
        }
        assert_true(renderer_frame_begin(renderer, SIDE, SIDE, 0));
        for (int i = 0; i < TEXTURES; i++)
            draw(renderer, textures[i]);
        assert_true(renderer_frame_end(renderer));
    }
    renderer_counters(renderer, &after);
    assert_int_equal(seen.allocations, 0);
    assert_int_equal(seen.other_copies, 0);
    assert_int_equal(seen.submissions, FRAMES - 1);
    assert_int_equal(after.waits - before.waits, seen.waits);
    assert_true(seen.waits <= FRAMES - 1); /* the device is behind: at most once a frame */
    for (int i = 0; i < TEXTURES; i++)
        renderer_texture_destroy(renderer, &textures[i]);
    renderer_shared_detach(renderer, &shared);
    renderer_destroy(&renderer);
    free(memory);
    assert_int_equal(vk_validation_messages(), 0);
}

int main(void)
{
    vulkan_test_begin();
    log_stderr_enable(false);
    const struct CMUnitTest tests[] = {cmocka_unit_test(host_updates_are_staged_once),
                                       cmocka_unit_test(shared_updates_move_nothing),
                                       cmocka_unit_test(imported_updates_move_nothing),
                                       cmocka_unit_test(the_ring_agrees),
                                       cmocka_unit_test(steady_frames_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
