/* The renderer's clock: batches of commands, the timeline, deferred frees, barriers and frames.
 * Nothing here waits in steady state, but for the device being VULKAN_FRAMES_IN_FLIGHT behind.
 * Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

/* A device that answers nothing for so long has hung. */
static const uint64_t wait_limit_ns = 60ull * 1000000000ull;
static const uint64_t wait_slice_ns = 250ull * 1000000ull;

bool vk_frames_init(VulkanRenderer *renderer, char *error, size_t error_bytes)
{
    VulkanContext *context = &renderer->context;
    VulkanFrames *frames = &renderer->frames;
    frames->barrier_serial = 1; /* 0 in an image: never touched */
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    const char *what = "vkCreateSemaphore";
    VkResult result =
        fault_here("vk.create")
            ? VK_ERROR_OUT_OF_HOST_MEMORY
            : context->api.vkCreateSemaphore(context->device, &semaphore, NULL, &frames->timeline);
    for (int i = 0; result == VK_SUCCESS && i < VULKAN_BATCHES; i++) {
        VulkanBatch *batch = &frames->batches[i];
        VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = context->queue_family};
        what = "vkCreateCommandPool";
        result = fault_here("vk.create")
                     ? VK_ERROR_OUT_OF_HOST_MEMORY
                     : context->api.vkCreateCommandPool(context->device, &pool, NULL, &batch->pool);
        if (result != VK_SUCCESS)
            break;
        VkCommandBufferAllocateInfo buffer = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = batch->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
        what = "vkAllocateCommandBuffers";
        result = context->api.vkAllocateCommandBuffers(context->device, &buffer, &batch->commands);
    }
    if (result == VK_SUCCESS)
        return true;
    snprintf(error, error_bytes, "%s failed: %s", what, vk_result_name(result));
    return false;
}

static void garbage_free(VulkanRenderer *renderer, VulkanGarbage *garbage)
{
    switch (garbage->kind) {
    case VULKAN_GARBAGE_IMAGE:
        vk_image_destroy(renderer, &garbage->of.image);
        break;
    case VULKAN_GARBAGE_SOURCE:
        vk_source_destroy(renderer, &garbage->of.source);
        break;
    case VULKAN_GARBAGE_TARGET:
        vk_target_destroy(renderer, &garbage->of.target);
        break;
    }
}

void vk_frames_finish(VulkanRenderer *renderer)
{
    VulkanContext *context = &renderer->context;
    VulkanFrames *frames = &renderer->frames;
    for (uint32_t i = 0; i < frames->garbage_count; i++)
        garbage_free(renderer, &frames->garbage[i]);
    free(frames->garbage);
    for (int i = 0; i < VULKAN_BATCHES; i++)
        context->api.vkDestroyCommandPool(context->device, frames->batches[i].pool, NULL);
    context->api.vkDestroySemaphore(context->device, frames->timeline, NULL);
    memset(frames, 0, sizeof *frames);
}

/* ---- The timeline ------------------------------------------------------------------------------
 */

uint64_t vk_value_now(const VulkanRenderer *renderer)
{
    return renderer->frames.submitted + (renderer->frames.recording ? 1 : 0);
}

bool vk_reached(VulkanRenderer *renderer, uint64_t value)
{
    VulkanFrames *frames = &renderer->frames;
    if (value <= frames->completed)
        return true;
    if (renderer->base.lost)
        return false;
    uint64_t completed = 0;
    VkResult result = renderer->context.api.vkGetSemaphoreCounterValue(
        renderer->context.device, frames->timeline, &completed);
    if (result != VK_SUCCESS)
        return vk_failed(renderer, "renderer", "vkGetSemaphoreCounterValue", result);
    /* A lost device may report the largest value. */
    frames->completed = completed < frames->submitted ? completed : frames->submitted;
    return value <= frames->completed;
}

/* A device that does nothing for wait_limit_ns is lost. One that waits for a producer of another
 * API is not, unless that API's work has failed. */
static VkResult wait_patiently(VulkanRenderer *renderer, const VkSemaphoreWaitInfo *info)
{
    uint64_t waited_ns = 0;
    for (;;) {
        VkResult result =
            renderer->context.api.vkWaitSemaphores(renderer->context.device, info, wait_slice_ns);
        if (result != VK_TIMEOUT)
            return result;
        VulkanInteropHealth health = vk_interop_health(renderer);
        waited_ns = health == VULKAN_INTEROP_BUSY ? 0 : waited_ns + wait_slice_ns;
        if (health == VULKAN_INTEROP_FAILED || waited_ns >= wait_limit_ns)
            return VK_ERROR_DEVICE_LOST;
    }
}

bool vk_wait(VulkanRenderer *renderer, uint64_t value)
{
    VulkanFrames *frames = &renderer->frames;
    if (renderer->base.lost)
        return false;
    if (value > frames->submitted && !vk_submit(renderer, VK_NULL_HANDLE, VK_NULL_HANDLE))
        return false;
    if (vk_reached(renderer, value))
        return true;
    if (renderer->base.lost)
        return false;
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &frames->timeline,
                                .pValues = &value};
    renderer->base.counters.waits++;
    VkResult result =
        fault_here("vk.wait") ? VK_ERROR_DEVICE_LOST : wait_patiently(renderer, &info);
    if (result != VK_SUCCESS)
        return vk_failed(renderer, "renderer", "vkWaitSemaphores", result);
    if (frames->completed < value)
        frames->completed = value;
    return true;
}

/* ---- Batches -----------------------------------------------------------------------------------
 */

VkCommandBuffer vk_batch(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanFrames *frames = &renderer->frames;
    VulkanBatch *batch = &frames->batches[frames->batch_index];
    if (renderer->base.lost)
        return VK_NULL_HANDLE;
    if (frames->recording)
        return batch->commands;
    if (!vk_wait(renderer, batch->value))
        return VK_NULL_HANDLE;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = context->api.vkResetCommandPool(context->device, batch->pool, 0);
    if (result == VK_SUCCESS)
        result = context->api.vkBeginCommandBuffer(batch->commands, &begin);
    if (result != VK_SUCCESS) {
        vk_failed(renderer, "renderer", "vkBeginCommandBuffer", result);
        return VK_NULL_HANDLE;
    }
    frames->recording = true;
    frames->batch_updates = 0;
    vk_staging_rewind(renderer);
    vk_collect(renderer);
    return batch->commands;
}

VkCommandBuffer vk_commands(VulkanRenderer *renderer)
{
    VkCommandBuffer commands = vk_batch(renderer);
    if (commands != VK_NULL_HANDLE)
        vk_view_pass_close(renderer);
    return commands;
}

void vk_update_recorded(VulkanRenderer *renderer)
{
    if (++renderer->frames.batch_updates >= VULKAN_BATCH_UPDATES_MAX)
        vk_submit(renderer, VK_NULL_HANDLE, VK_NULL_HANDLE);
}

bool vk_submit(VulkanRenderer *renderer, VkSemaphore wait, VkSemaphore signal)
{
    VulkanContext *context = &renderer->context;
    VulkanFrames *frames = &renderer->frames;
    if (renderer->base.lost)
        return false;
    if (!frames->recording)
        return true;
    vk_view_pass_close(renderer);
    VulkanBatch *batch = &frames->batches[frames->batch_index];
    uint64_t ready_value = 0;
    if (!vk_interop_hand_over(renderer, &ready_value))
        return false;
    uint64_t value = frames->submitted + 1;
    VkSemaphore waits[2], signals[2] = {frames->timeline, signal};
    uint64_t wait_values[2] = {0, 0}, signal_values[2] = {value, 0};
    VkPipelineStageFlags stages[2];
    uint32_t wait_count = 0;
    if (wait != VK_NULL_HANDLE) {
        waits[wait_count] = wait;
        stages[wait_count++] = VK_PIPELINE_STAGE_TRANSFER_BIT;
    }
    if (ready_value > 0) {
        waits[wait_count] = renderer->interop.ready;
        wait_values[wait_count] = ready_value;
        /* All of them: barriers that take memory over from the other API wait too. */
        stages[wait_count++] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    uint32_t signal_count = signal != VK_NULL_HANDLE ? 2 : 1;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType =
                                                  VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .waitSemaphoreValueCount = wait_count,
                                              .pWaitSemaphoreValues = wait_values,
                                              .signalSemaphoreValueCount = signal_count,
                                              .pSignalSemaphoreValues = signal_values};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .waitSemaphoreCount = wait_count,
                         .pWaitSemaphores = waits,
                         .pWaitDstStageMask = stages,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &batch->commands,
                         .signalSemaphoreCount = signal_count,
                         .pSignalSemaphores = signals};
    frames->recording = false;
    VkResult result = context->api.vkEndCommandBuffer(batch->commands);
    if (result == VK_SUCCESS)
        result = fault_here("vk.submit")
                     ? VK_ERROR_DEVICE_LOST
                     : context->api.vkQueueSubmit(context->queue, 1, &info, VK_NULL_HANDLE);
    if (result != VK_SUCCESS) /* updates that were answered with true are gone: as good as lost */
        return vk_failed(renderer, "renderer", "vkQueueSubmit", VK_ERROR_DEVICE_LOST);
    frames->submitted = value;
    batch->value = value;
    frames->batch_index = (frames->batch_index + 1) % VULKAN_BATCHES;
    vk_staging_mark(renderer, value);
    return true;
}

/* ---- Order between accesses ---------------------------------------------------------------------
 */

bool vk_access_needs_barrier(const VulkanRenderer *renderer, const VulkanImage *image,
                             bool is_write)
{
    uint64_t serial = renderer->frames.barrier_serial;
    return !image->is_general || image->is_external || image->write_serial == serial ||
           (is_write && image->read_serial == serial);
}

/* The first use: whatever the memory held, it is an image in GENERAL now. */
static void image_to_general(VulkanRenderer *renderer, VkCommandBuffer commands, VulkanImage *image)
{
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .dstAccessMask =
                                        VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                                    .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                    .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image->image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    renderer->context.api.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                               VK_PIPELINE_STAGE_TRANSFER_BIT |
                                                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                                   VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                               0, 0, NULL, 0, NULL, 1, &barrier);
    image->is_general = true;
}

static void full_barrier(VulkanRenderer *renderer, VkCommandBuffer commands)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_TRANSFER_BIT |
                                        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT;
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                         VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    renderer->context.api.vkCmdPipelineBarrier(commands, stages, stages, 0, 1, &barrier, 0, NULL, 0,
                                               NULL);
    renderer->frames.barrier_serial++;
}

bool vk_access(VulkanRenderer *renderer, VulkanImage *image, bool is_write)
{
    if (renderer->base.lost)
        return false;
    if (vk_access_needs_barrier(renderer, image, is_write)) {
        VkCommandBuffer commands = vk_commands(renderer);
        if (commands == VK_NULL_HANDLE)
            return false;
        if (!image->is_general)
            image_to_general(renderer, commands, image);
        else if (image->is_external && !vk_interop_acquire(renderer, image))
            return false;
        else if (image->write_serial == renderer->frames.barrier_serial ||
                 (is_write && image->read_serial == renderer->frames.barrier_serial))
            full_barrier(renderer, commands);
    } else if (vk_batch(renderer) == VK_NULL_HANDLE) {
        return false;
    }
    if (is_write)
        image->write_serial = renderer->frames.barrier_serial;
    else
        image->read_serial = renderer->frames.barrier_serial;
    image->used_value = vk_value_now(renderer);
    return true;
}

/* ---- Deferred frees -----------------------------------------------------------------------------
 */

void vk_defer(VulkanRenderer *renderer, const VulkanGarbage *garbage)
{
    VulkanFrames *frames = &renderer->frames;
    if (frames->garbage_count == frames->garbage_capacity) {
        uint32_t capacity = frames->garbage_capacity == 0 ? 64 : frames->garbage_capacity * 2;
        VulkanGarbage *grown = realloc(frames->garbage, capacity * sizeof *grown);
        if (grown == NULL) { /* no memory to remember it in: wait and free it now */
            VulkanGarbage now = *garbage;
            if (!vk_wait(renderer, now.value))
                renderer->context.api.vkDeviceWaitIdle(renderer->context.device);
            garbage_free(renderer, &now);
            return;
        }
        frames->garbage = grown;
        frames->garbage_capacity = capacity;
    }
    frames->garbage[frames->garbage_count++] = *garbage;
}

void vk_collect(VulkanRenderer *renderer)
{
    VulkanFrames *frames = &renderer->frames;
    uint32_t kept = 0;
    vk_interop_collect(renderer);
    for (uint32_t i = 0; i < frames->garbage_count; i++) {
        VulkanGarbage *garbage = &frames->garbage[i];
        if (vk_reached(renderer, garbage->value))
            garbage_free(renderer, garbage);
        else
            frames->garbage[kept++] = *garbage;
    }
    frames->garbage_count = kept;
}

/* ---- Frames -------------------------------------------------------------------------------------
 */

bool vk_frame_begin(Renderer *base, int32_t width_px, int32_t height_px, uint32_t clear_rgba)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanFrames *frames = &renderer->frames;
    if (!vk_wait(renderer, frames->frame_values[frames->frame_count % VULKAN_FRAMES_IN_FLIGHT]))
        return false;
    vk_collect(renderer);
    return !base->lost && vk_view_begin(renderer, width_px, height_px, clear_rgba);
}

static void path_latch(VulkanRenderer *renderer)
{
    const char *pending = vk_path_pending(renderer);
    if (pending != NULL)
        renderer->path = pending;
    memset(&renderer->path_pending, 0, sizeof renderer->path_pending);
}

bool vk_frame_end(Renderer *base)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanFrames *frames = &renderer->frames;
    path_latch(renderer);
    /* A frame nobody drew into is still cleared. */
    if (!vk_view_pass_open(renderer))
        return false;
    vk_view_pass_close(renderer);
    if (!vk_submit(renderer, VK_NULL_HANDLE, VK_NULL_HANDLE))
        return false;
    bool shown = !renderer->has_window || vk_present_frame(renderer);
    frames->frame_values[frames->frame_count % VULKAN_FRAMES_IN_FLIGHT] = frames->submitted;
    frames->frame_count++;
    return shown && !base->lost;
}

void vk_rest(Renderer *base)
{
    vk_collect(vk_renderer(base));
}

bool vk_frame_read(Renderer *base, uint8_t *dst)
{
    VulkanRenderer *renderer = vk_renderer(base);
    const VulkanTarget *target = &renderer->view.target;
    return vk_read_image(renderer, target->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                         target->width_px, target->height_px, dst);
}
