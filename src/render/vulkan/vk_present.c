/* The window: a swapchain that the finished target is copied to. A swapchain that does not fit any
 * more is made again before the next frame; a window of no size shows nothing. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

/* An image that does not come (a hidden window) must not stop the shell. */
static const uint64_t acquire_limit_ns = 100ull * 1000000ull;

static VkResult format_choose(VulkanRenderer *renderer)
{
    VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    VkSurfaceFormatKHR formats[64];
    uint32_t count = sizeof formats / sizeof formats[0];
    VkResult result = context->instance_api.vkGetPhysicalDeviceSurfaceFormatsKHR(
        context->physical, context->surface, &count, formats);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        VkFormat format = formats[i].format;
        VkFormatProperties properties;
        /* Bytes go to the screen as they are: no sRGB conversion on the way. */
        if (format != VK_FORMAT_B8G8R8A8_UNORM && format != VK_FORMAT_R8G8B8A8_UNORM &&
            format != VK_FORMAT_A8B8G8R8_UNORM_PACK32)
            continue;
        context->instance_api.vkGetPhysicalDeviceFormatProperties(context->physical, format,
                                                                  &properties);
        if ((properties.optimalTilingFeatures & VK_FORMAT_FEATURE_BLIT_DST_BIT) == 0)
            continue;
        present->format = format;
        present->colour_space = formats[i].colorSpace;
        return VK_SUCCESS;
    }
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

static VkResult mode_choose(VulkanRenderer *renderer)
{
    VulkanContext *context = &renderer->context;
    VkPresentModeKHR modes[16];
    uint32_t count = sizeof modes / sizeof modes[0];
    renderer->present.mode = VK_PRESENT_MODE_FIFO_KHR;
    if (!renderer->vsync_off)
        return VK_SUCCESS;
    VkResult result = context->instance_api.vkGetPhysicalDeviceSurfacePresentModesKHR(
        context->physical, context->surface, &count, modes);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if (modes[i] == VK_PRESENT_MODE_MAILBOX_KHR)
            renderer->present.mode = VK_PRESENT_MODE_MAILBOX_KHR;
        if (modes[i] == VK_PRESENT_MODE_IMMEDIATE_KHR &&
            renderer->present.mode == VK_PRESENT_MODE_FIFO_KHR)
            renderer->present.mode = VK_PRESENT_MODE_IMMEDIATE_KHR;
    }
    return VK_SUCCESS;
}

static void swapchain_destroy(VulkanRenderer *renderer, VkSwapchainKHR swapchain)
{
    const VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    for (uint32_t i = 0; i < VULKAN_SWAPCHAIN_IMAGES_MAX; i++) {
        context->api.vkDestroySemaphore(context->device, present->rendered[i], NULL);
        present->rendered[i] = VK_NULL_HANDLE;
    }
    if (swapchain != VK_NULL_HANDLE)
        context->api.vkDestroySwapchainKHR(context->device, swapchain, NULL);
}

static VkResult semaphore_create(const VulkanContext *context, VkSemaphore *out)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    return fault_here("vk.create")
               ? VK_ERROR_OUT_OF_HOST_MEMORY
               : context->api.vkCreateSemaphore(context->device, &info, NULL, out);
}

static VkResult images_get(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    present->image_count = VULKAN_SWAPCHAIN_IMAGES_MAX;
    VkResult result = context->api.vkGetSwapchainImagesKHR(context->device, present->swapchain,
                                                           &present->image_count, present->images);
    for (uint32_t i = 0; result == VK_SUCCESS && i < present->image_count; i++)
        result = semaphore_create(context, &present->rendered[i]);
    return result;
}

/* Fits the swapchain to the surface and the frame. VK_NOT_READY: the window has no size. */
static VkResult swapchain_create(VulkanRenderer *renderer)
{
    VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    VkSurfaceCapabilitiesKHR surface;
    VkResult result = context->instance_api.vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
        context->physical, context->surface, &surface);
    if (result != VK_SUCCESS)
        return result;
    VkExtent2D extent = surface.currentExtent;
    if (extent.width == UINT32_MAX) /* the swapchain decides the size */
        extent = (VkExtent2D){(uint32_t)renderer->view.target.width_px,
                              (uint32_t)renderer->view.target.height_px};
    if (extent.width == 0 || extent.height == 0)
        return VK_NOT_READY;
    if ((surface.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT) == 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    uint32_t count = surface.minImageCount + 1;
    if (surface.maxImageCount > 0 && count > surface.maxImageCount)
        count = surface.maxImageCount;
    VkCompositeAlphaFlagBitsKHR alpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
    if ((surface.supportedCompositeAlpha & (VkCompositeAlphaFlagsKHR)alpha) == 0)
        alpha = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
    VkSwapchainKHR old = present->swapchain;
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .surface = context->surface,
                                     .minImageCount = count,
                                     .imageFormat = present->format,
                                     .imageColorSpace = present->colour_space,
                                     .imageExtent = extent,
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                     .imageSharingMode = VK_SHARING_MODE_EXCLUSIVE,
                                     .preTransform = surface.currentTransform,
                                     .compositeAlpha = alpha,
                                     .presentMode = present->mode,
                                     .clipped = VK_TRUE,
                                     .oldSwapchain = old};
    if (old != VK_NULL_HANDLE) /* rare: nothing of the old one is in use afterwards */
        context->api.vkQueueWaitIdle(context->queue);
    VkSwapchainKHR made = VK_NULL_HANDLE;
    result = fault_here("vk.create")
                 ? VK_ERROR_OUT_OF_HOST_MEMORY
                 : context->api.vkCreateSwapchainKHR(context->device, &info, NULL, &made);
    if (result != VK_SUCCESS)
        return result;
    swapchain_destroy(renderer, old);
    present->swapchain = made;
    present->extent = extent;
    present->is_stale = false;
    return images_get(renderer);
}

bool vk_present_init(VulkanRenderer *renderer, char *error, size_t error_bytes)
{
    VulkanPresent *present = &renderer->present;
    VkResult result = format_choose(renderer);
    if (result == VK_SUCCESS)
        result = mode_choose(renderer);
    for (uint32_t i = 0; result == VK_SUCCESS && i < VULKAN_FRAMES_IN_FLIGHT + 1; i++)
        result = semaphore_create(&renderer->context, &present->acquired[i]);
    present->is_stale = true; /* the first frame makes the swapchain */
    if (result == VK_SUCCESS)
        return true;
    snprintf(error, error_bytes, "the window's surface will not do: %s", vk_result_name(result));
    return false;
}

void vk_present_finish(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    swapchain_destroy(renderer, present->swapchain);
    for (uint32_t i = 0; i < VULKAN_FRAMES_IN_FLIGHT + 1; i++)
        context->api.vkDestroySemaphore(context->device, present->acquired[i], NULL);
    memset(present, 0, sizeof *present);
}

/* ---- A frame
 * --------------------------------------------------------------------------------------- */

static void image_barrier(VulkanRenderer *renderer, VkCommandBuffer commands, VkImage image,
                          bool before_copy)
{
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .srcAccessMask = before_copy ? 0 : VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = before_copy ? VK_ACCESS_TRANSFER_WRITE_BIT : 0,
                                    .oldLayout = before_copy ? VK_IMAGE_LAYOUT_UNDEFINED
                                                             : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                    .newLayout = before_copy ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                                             : VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    renderer->context.api.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                               before_copy ? VK_PIPELINE_STAGE_TRANSFER_BIT
                                                           : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                               0, 0, NULL, 0, NULL, 1, &barrier);
}

static bool copy_record(VulkanRenderer *renderer, VkImage image)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    const VulkanTarget *target = &renderer->view.target;
    VkCommandBuffer commands = vk_commands(renderer);
    if (commands == VK_NULL_HANDLE)
        return false;
    VkExtent2D extent = renderer->present.extent;
    int32_t width =
        target->width_px < (int32_t)extent.width ? target->width_px : (int32_t)extent.width;
    int32_t height =
        target->height_px < (int32_t)extent.height ? target->height_px : (int32_t)extent.height;
    VkImageBlit blit = {.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                        .srcOffsets = {{0, 0, 0}, {width, height, 1}},
                        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                        .dstOffsets = {{0, 0, 0}, {width, height, 1}}};
    image_barrier(renderer, commands, image, true);
    api->vkCmdBlitImage(commands, target->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image,
                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, VK_FILTER_NEAREST);
    image_barrier(renderer, commands, image, false);
    return true;
}

/* True: `out_index` and its semaphore are ours. False: nothing to show this time. */
static bool image_acquire(VulkanRenderer *renderer, uint32_t *out_index)
{
    const VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    uint32_t slot = present->acquired_index;
    if (!vk_wait(renderer, present->acquired_values[slot]))
        return false;
    VkResult result = fault_here("vk.acquire")
                          ? VK_ERROR_DEVICE_LOST
                          : context->api.vkAcquireNextImageKHR(
                                context->device, present->swapchain, acquire_limit_ns,
                                present->acquired[slot], VK_NULL_HANDLE, out_index);
    switch (result) {
    case VK_SUBOPTIMAL_KHR:
        present->is_stale = true;
        return true;
    case VK_SUCCESS:
        return true;
    case VK_ERROR_OUT_OF_DATE_KHR:
        present->is_stale = true;
        return false;
    case VK_TIMEOUT:
    case VK_NOT_READY:
        return false;
    default:
        return vk_failed(renderer, "renderer_frame_end", "vkAcquireNextImageKHR", result);
    }
}

bool vk_present_frame(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanPresent *present = &renderer->present;
    int32_t width = 0, height = 0;
    renderer->window.framebuffer_size(renderer->window.user, &width, &height);
    if (width <= 0 || height <= 0)
        return false;
    if (present->is_stale || present->extent.width != (uint32_t)renderer->view.target.width_px ||
        present->extent.height != (uint32_t)renderer->view.target.height_px) {
        VkResult result = swapchain_create(renderer);
        if (result == VK_NOT_READY)
            return false;
        if (result != VK_SUCCESS) {
            present->is_stale = true;
            return vk_failed(renderer, "renderer_frame_end", "the swapchain", result);
        }
    }
    uint32_t index = 0;
    if (!image_acquire(renderer, &index))
        return false;
    uint32_t slot = present->acquired_index;
    if (!copy_record(renderer, present->images[index]) ||
        !vk_submit(renderer, present->acquired[slot], present->rendered[index]))
        return false;
    present->acquired_values[slot] = renderer->frames.submitted;
    present->acquired_index = (slot + 1) % (VULKAN_FRAMES_IN_FLIGHT + 1);
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &present->rendered[index],
                             .swapchainCount = 1,
                             .pSwapchains = &present->swapchain,
                             .pImageIndices = &index};
    VkResult result = fault_here("vk.present")
                          ? VK_ERROR_DEVICE_LOST
                          : context->api.vkQueuePresentKHR(context->queue, &info);
    if (result == VK_SUBOPTIMAL_KHR || result == VK_ERROR_OUT_OF_DATE_KHR) {
        present->is_stale = true;
        return result == VK_SUBOPTIMAL_KHR;
    }
    return result == VK_SUCCESS ||
           vk_failed(renderer, "renderer_frame_end", "vkQueuePresentKHR", result);
}
