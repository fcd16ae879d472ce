#include "vulkan_copy_count.h"

#include <string.h>

#include "render/vulkan/vk_renderer.h"

/* All images here are RGBA8. */
enum { PIXEL_BYTES = 4 };

static struct VolkDeviceTable real;
static CopyCount counted;

static uint64_t extent_bytes(VkExtent3D extent)
{
    return (uint64_t)extent.width * extent.height * extent.depth * PIXEL_BYTES;
}

static VKAPI_ATTR void VKAPI_CALL buffer_to_image(VkCommandBuffer commands, VkBuffer from,
                                                  VkImage to, VkImageLayout layout, uint32_t count,
                                                  const VkBufferImageCopy *regions)
{
    for (uint32_t i = 0; i < count; i++)
        counted.buffer_to_image += extent_bytes(regions[i].imageExtent);
    real.vkCmdCopyBufferToImage(commands, from, to, layout, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL image_to_buffer(VkCommandBuffer commands, VkImage from,
                                                  VkImageLayout layout, VkBuffer to, uint32_t count,
                                                  const VkBufferImageCopy *regions)
{
    for (uint32_t i = 0; i < count; i++)
        counted.image_to_buffer += extent_bytes(regions[i].imageExtent);
    real.vkCmdCopyImageToBuffer(commands, from, layout, to, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL buffer_to_buffer(VkCommandBuffer commands, VkBuffer from,
                                                   VkBuffer to, uint32_t count,
                                                   const VkBufferCopy *regions)
{
    for (uint32_t i = 0; i < count; i++)
        counted.buffer_to_buffer += regions[i].size;
    real.vkCmdCopyBuffer(commands, from, to, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL image_to_image(VkCommandBuffer commands, VkImage from,
                                                 VkImageLayout from_layout, VkImage to,
                                                 VkImageLayout to_layout, uint32_t count,
                                                 const VkImageCopy *regions)
{
    for (uint32_t i = 0; i < count; i++)
        counted.image_to_image += extent_bytes(regions[i].extent);
    real.vkCmdCopyImage(commands, from, from_layout, to, to_layout, count, regions);
}

static VKAPI_ATTR void VKAPI_CALL image_blit(VkCommandBuffer commands, VkImage from,
                                             VkImageLayout from_layout, VkImage to,
                                             VkImageLayout to_layout, uint32_t count,
                                             const VkImageBlit *regions, VkFilter filter)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkOffset3D *at = regions[i].dstOffsets;
        counted.image_to_image +=
            (uint64_t)(at[1].x - at[0].x) * (uint64_t)(at[1].y - at[0].y) * PIXEL_BYTES;
    }
    real.vkCmdBlitImage(commands, from, from_layout, to, to_layout, count, regions, filter);
}

static VKAPI_ATTR void VKAPI_CALL buffer_update(VkCommandBuffer commands, VkBuffer to,
                                                VkDeviceSize offset, VkDeviceSize size,
                                                const void *bytes)
{
    counted.inline_bytes += size;
    real.vkCmdUpdateBuffer(commands, to, offset, size, bytes);
}

void copy_count_start(Renderer *renderer)
{
    struct VolkDeviceTable *api = &vk_renderer(renderer)->context.api;
    real = *api;
    memset(&counted, 0, sizeof counted);
    api->vkCmdCopyBufferToImage = buffer_to_image;
    api->vkCmdCopyImageToBuffer = image_to_buffer;
    api->vkCmdCopyBuffer = buffer_to_buffer;
    api->vkCmdCopyImage = image_to_image;
    api->vkCmdBlitImage = image_blit;
    api->vkCmdUpdateBuffer = buffer_update;
    api->vkCmdCopyBuffer2KHR = NULL;
    api->vkCmdCopyImage2KHR = NULL;
    api->vkCmdCopyBufferToImage2KHR = NULL;
    api->vkCmdCopyImageToBuffer2KHR = NULL;
    api->vkCmdBlitImage2KHR = NULL;
#if defined(VK_VERSION_1_3)
    api->vkCmdCopyBuffer2 = NULL;
    api->vkCmdCopyImage2 = NULL;
    api->vkCmdCopyBufferToImage2 = NULL;
    api->vkCmdCopyImageToBuffer2 = NULL;
    api->vkCmdBlitImage2 = NULL;
#endif
}

CopyCount copy_count(void)
{
    return counted;
}
