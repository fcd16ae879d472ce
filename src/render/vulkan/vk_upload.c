/* Staging: one ring of mapped memory that the CPU kernels write straight into, and the read-back
 * buffer. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "kernels/kernels.h"
#include "render/vulkan/vk_renderer.h"

/* Covers vertex, index and copy offsets, and keeps pieces on cache lines of their own. */
static const uint64_t piece_alignment = 256;

VkResult vk_buffer_create(VulkanRenderer *renderer, uint64_t size, VkBufferUsageFlags usage,
                          VulkanMemoryUse use, VkBuffer *out, VulkanRange *out_range)
{
    VulkanContext *context = &renderer->context;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = usage,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = context->api.vkCreateBuffer(context->device, &info, NULL, &buffer);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    context->api.vkGetBufferMemoryRequirements(context->device, buffer, &needs);
    result = vk_memory_allocate(&renderer->memory, &needs, use, out_range);
    if (result == VK_SUCCESS)
        result = context->api.vkBindBufferMemory(context->device, buffer, out_range->memory,
                                                 out_range->offset);
    if (result != VK_SUCCESS) {
        vk_memory_free(&renderer->memory, out_range);
        context->api.vkDestroyBuffer(context->device, buffer, NULL);
        return result;
    }
    *out = buffer;
    return VK_SUCCESS;
}

bool vk_staging_init(VulkanRenderer *renderer, char *error, size_t error_bytes)
{
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                     VK_BUFFER_USAGE_INDEX_BUFFER_BIT;
    VulkanStaging *staging = &renderer->staging;
    VkResult result = fault_here("vk.create") ? VK_ERROR_OUT_OF_HOST_MEMORY
                                              : vk_buffer_create(renderer, VULKAN_STAGING_BYTES,
                                                                 usage, VULKAN_MEMORY_UPLOAD,
                                                                 &staging->buffer, &staging->range);
    if (result == VK_SUCCESS)
        return true;
    snprintf(error, error_bytes, "the staging ring failed: %s", vk_result_name(result));
    return false;
}

void vk_staging_finish(VulkanRenderer *renderer)
{
    VulkanContext *context = &renderer->context;
    VulkanStaging *staging = &renderer->staging;
    context->api.vkDestroyBuffer(context->device, staging->buffer, NULL);
    context->api.vkDestroyBuffer(context->device, staging->readback_buffer, NULL);
    vk_memory_free(&renderer->memory, &staging->range);
    vk_memory_free(&renderer->memory, &staging->readback_range);
    memset(staging, 0, sizeof *staging);
}

/* ---- The ring -----------------------------------------------------------------------------------
 */

static void marks_drop_first(VulkanStaging *staging)
{
    staging->tail = staging->marks[0].head;
    staging->mark_count--;
    memmove(&staging->marks[0], &staging->marks[1], staging->mark_count * sizeof staging->marks[0]);
}

void vk_staging_mark(VulkanRenderer *renderer, uint64_t value)
{
    VulkanStaging *staging = &renderer->staging;
    if (staging->head == staging->marked_head)
        return;
    staging->marked_head = staging->head;
    while (staging->mark_count > 0 && vk_reached(renderer, staging->marks[0].value))
        marks_drop_first(staging);
    if (staging->mark_count == VULKAN_BATCHES + 1) { /* cannot be: batches wait for their slot */
        staging->marks[VULKAN_BATCHES].value = value;
        staging->marks[VULKAN_BATCHES].head = staging->head;
        return;
    }
    staging->marks[staging->mark_count].value = value;
    staging->marks[staging->mark_count].head = staging->head;
    staging->mark_count++;
}

void vk_staging_rewind(VulkanRenderer *renderer)
{
    VulkanStaging *staging = &renderer->staging;
    while (staging->mark_count > 0 && vk_reached(renderer, staging->marks[0].value))
        marks_drop_first(staging);
    if (staging->mark_count == 0 && staging->head == staging->marked_head)
        staging->head = staging->tail = staging->marked_head = 0;
}

uint8_t *vk_staging_take(VulkanRenderer *renderer, uint64_t size, uint64_t *out_offset)
{
    VulkanStaging *staging = &renderer->staging;
    const uint64_t ring = VULKAN_STAGING_BYTES;
    if (size > ring)
        return NULL;
    for (;;) {
        uint64_t start = (staging->head + piece_alignment - 1) / piece_alignment * piece_alignment;
        if (start % ring + size > ring) /* a piece does not wrap */
            start = (start / ring + 1) * ring;
        if (start + size - staging->tail <= ring) {
            staging->head = start + size;
            *out_offset = start % ring;
            return staging->range.mapped + start % ring;
        }
        while (staging->mark_count > 0 && vk_reached(renderer, staging->marks[0].value) &&
               start + size - staging->tail > ring)
            marks_drop_first(staging);
        if (start + size - staging->tail <= ring)
            continue;
        if (staging->mark_count == 0) {
            if (staging->head == staging->marked_head) { /* all is free, at an awkward place */
                vk_staging_rewind(renderer);
                continue;
            }
            if (!vk_submit(renderer, VK_NULL_HANDLE, VK_NULL_HANDLE))
                return NULL;
            if (staging->mark_count == 0)
                return NULL;
        }
        if (!vk_wait(renderer, staging->marks[0].value))
            return NULL;
        marks_drop_first(staging);
    }
}

/* ---- Uploads ------------------------------------------------------------------------------------
 */

static void band_fill(const RendererPass *pass, const uint8_t *bytes, uint64_t first_px,
                      uint64_t count, uint8_t *out_rgba)
{
    const KernelVariant *kernel = kernel_best();
    if (pass == NULL)
        memcpy(out_rgba, bytes + first_px * 4, count * 4);
    else if (pass->kind == RENDERER_PASS_COLORMAP)
        kernel->colormap((const float *)(const void *)(bytes + first_px * 4), out_rgba, count,
                         colormap_table(pass->colormap), pass->vmin, pass->inv);
    else
        kernel->expand(bytes + first_px * pass->channels, out_rgba, count, pass->channels);
}

bool vk_upload(VulkanRenderer *renderer, VulkanTexture *texture, VulkanImage *image,
               const RendererPass *pass, const uint8_t *bytes)
{
    const uint64_t width = (uint64_t)texture->base.width_px;
    const uint64_t height = (uint64_t)texture->base.height_px;
    uint64_t band_rows = VULKAN_BAND_BYTES / (width * 4);
    if (band_rows == 0)
        band_rows = 1;
    for (uint64_t row = 0; row < height; row += band_rows) {
        uint64_t rows = height - row < band_rows ? height - row : band_rows;
        uint64_t offset = 0;
        uint8_t *staged = vk_staging_take(renderer, rows * width * 4, &offset);
        if (staged == NULL)
            return false;
        band_fill(pass, bytes, row * width, rows * width, staged);
        /* Bands of one update do not overlap: only the first needs ordering. */
        if (row == 0 && !vk_access(renderer, image, true))
            return false;
        VkCommandBuffer commands = vk_commands(renderer);
        if (commands == VK_NULL_HANDLE)
            return false;
        VkBufferImageCopy copy = {.bufferOffset = offset,
                                  .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                  .imageOffset = {0, (int32_t)row, 0},
                                  .imageExtent = {(uint32_t)width, (uint32_t)rows, 1}};
        renderer->context.api.vkCmdCopyBufferToImage(
            commands, renderer->staging.buffer, image->image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
        image->used_value = vk_value_now(renderer);
        renderer->base.counters.staged_bytes += rows * width * 4;
        texture->base.counters.staged_bytes += rows * width * 4;
        /* The device copies a band while the next one is made. */
        if (row + rows < height && !vk_submit(renderer, VK_NULL_HANDLE, VK_NULL_HANDLE))
            return false;
    }
    vk_update_recorded(renderer);
    return !renderer->base.lost;
}

/* ---- Reading back -------------------------------------------------------------------------------
 */

static bool band_read(VulkanRenderer *renderer, VkImage image, VkImageLayout layout,
                      const VkBufferImageCopy *copy)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    VkCommandBuffer commands = vk_commands(renderer);
    if (commands == VK_NULL_HANDLE)
        return false;
    /* The buffer's last copy was waited for by its timeline value. That orders it, but layers
     * of 1.3.275 look at fences alone, and a barrier costs this path nothing. */
    const VkMemoryBarrier before = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};
    api->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &before, 0, NULL, 0, NULL);
    api->vkCmdCopyImageToBuffer(commands, image, layout, renderer->staging.readback_buffer, 1,
                                copy);
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    api->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                              0, 1, &barrier, 0, NULL, 0, NULL);
    return vk_wait(renderer, vk_value_now(renderer));
}

bool vk_read_image(VulkanRenderer *renderer, VkImage image, VkImageLayout layout, int32_t width_px,
                   int32_t height_px, uint8_t *dst)
{
    VulkanStaging *staging = &renderer->staging;
    if (renderer->base.lost)
        return false;
    if (staging->readback_buffer == VK_NULL_HANDLE) {
        VkResult result = vk_buffer_create(renderer, VULKAN_BAND_BYTES,
                                           VK_BUFFER_USAGE_TRANSFER_DST_BIT, VULKAN_MEMORY_READBACK,
                                           &staging->readback_buffer, &staging->readback_range);
        if (result != VK_SUCCESS)
            return vk_failed(renderer, "renderer_texture_read", "the read-back buffer", result);
    }
    const uint64_t row_bytes = (uint64_t)width_px * 4;
    const int32_t band_rows = (int32_t)(VULKAN_BAND_BYTES / row_bytes);
    for (int32_t row = 0; row < height_px; row += band_rows) {
        int32_t rows = height_px - row < band_rows ? height_px - row : band_rows;
        VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                  .imageOffset = {0, row, 0},
                                  .imageExtent = {(uint32_t)width_px, (uint32_t)rows, 1}};
        if (!band_read(renderer, image, layout, &copy))
            return false;
        memcpy(dst + (uint64_t)row * row_bytes, staging->readback_range.mapped,
               (uint64_t)rows * row_bytes);
    }
    return true;
}
