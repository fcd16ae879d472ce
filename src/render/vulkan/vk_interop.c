/* The Vulkan side of the seam to CUDA: exported images in a ring per texture, hand-overs between
 * queue families, one signal a submission. The other side is behind the VulkanInterop table. Frame
 * thread. */
#include "render/vulkan/vk_interop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

static const VulkanInterop *interop_override;

void vk_interop_set(const VulkanInterop *interop)
{
    interop_override = interop;
}

/* ---- Start and end
 * --------------------------------------------------------------------------------- */

/* A timeline semaphore that the other API signals; -1 when the driver has none to export. */
static int ready_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    if (!context->has_semaphore_fd)
        return -1;
    VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                            .handleTypes =
                                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .pNext = &exported,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    if (context->api.vkCreateSemaphore(context->device, &info, NULL, &semaphore) != VK_SUCCESS)
        return -1;
    VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                   .semaphore = semaphore,
                                   .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    if (context->api.vkGetSemaphoreFdKHR(context->device, &get, &fd) != VK_SUCCESS) {
        context->api.vkDestroySemaphore(context->device, semaphore, NULL);
        return -1;
    }
    renderer->interop.ready = semaphore;
    return fd;
}

void vk_interop_init(VulkanRenderer *renderer, int32_t interop_index)
{
    VulkanContext *context = &renderer->context;
    VulkanInteropState *interop = &renderer->interop;
    const VulkanInterop *api = interop_override != NULL ? interop_override : vk_cuda_interop();
    if (!context->is_interop_device || api == NULL)
        return;
    if (!context->has_image_export && !vk_copy_possible(renderer, api)) {
        log_item(VULKAN_WITHOUT, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                 "device tensors in place");
        return;
    }
    VulkanInteropParams params = {.index = interop_index, .ready_fd = ready_create(renderer)};
    memcpy(params.uuid, context->uuid, sizeof params.uuid);
    char error[256] = "";
    interop->state = api->create(&params, error, sizeof error);
    if (interop->state == NULL) {
        if (params.ready_fd >= 0)
            close(params.ready_fd);
        log_item(VULKAN_INTEROP_FAILED, api->name, error);
        return;
    }
    interop->api = api;
    vk_copy_init(renderer);
    renderer->base.info.interop_index = interop_index;
    renderer->base.info.caps |= RENDERER_CAP_DEVICE_SOURCE | RENDERER_CAP_STREAM_ORDERED;
}

void vk_interop_finish(VulkanRenderer *renderer)
{
    VulkanInteropState *interop = &renderer->interop;
    if (interop->api != NULL)
        interop->api->destroy(interop->state);
    renderer->context.api.vkDestroySemaphore(renderer->context.device, interop->ready, NULL);
    memset(interop, 0, sizeof *interop);
}

/* The signal that submissions wait for will not come: gives it, so that the queue runs dry and the
 * renderer can be taken down. What they drew is of a lost device. A value that was reached already
 * must not be signalled again. */
static void ready_signal(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    const VulkanInteropState *interop = &renderer->interop;
    uint64_t reached = 0;
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = interop->ready,
                                  .value = interop->ready_value};
    if (context->api.vkGetSemaphoreCounterValue(context->device, interop->ready, &reached) ==
            VK_SUCCESS &&
        reached < interop->ready_value)
        context->api.vkSignalSemaphore(context->device, &info);
}

VulkanInteropHealth vk_interop_health(VulkanRenderer *renderer)
{
    VulkanInteropState *interop = &renderer->interop;
    if (interop->api == NULL || interop->api->health == NULL)
        return VULKAN_INTEROP_IDLE;
    VulkanInteropHealth health = interop->api->health(interop->state);
    if (health == VULKAN_INTEROP_FAILED && interop->ready != VK_NULL_HANDLE)
        ready_signal(renderer);
    return health;
}

void vk_interop_collect(VulkanRenderer *renderer)
{
    const VulkanInteropState *interop = &renderer->interop;
    if (interop->api != NULL && interop->api->collect != NULL)
        interop->api->collect(interop->state);
}

/* ---- Hand-overs of images
 * --------------------------------------------------------------------------- */

static bool image_hand_over(VulkanRenderer *renderer, VulkanImage *image, bool to_us)
{
    const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    const VkPipelineStageFlags readers = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT |
                                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                         VK_PIPELINE_STAGE_TRANSFER_BIT;
    uint32_t family = renderer->context.queue_family;
    VkCommandBuffer commands = vk_commands(renderer);
    if (commands == VK_NULL_HANDLE)
        return false;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = to_us ? reads : 0,
        .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = to_us ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .dstQueueFamilyIndex = to_us ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .image = image->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    /* The submission's wait for `ready` is at these stages too: the chain begins there. */
    renderer->context.api.vkCmdPipelineBarrier(
        commands, readers, to_us ? readers : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0,
        NULL, 1, &barrier);
    image->is_external = !to_us;
    image->used_value = vk_value_now(renderer);
    return true;
}

bool vk_interop_acquire(VulkanRenderer *renderer, VulkanImage *image)
{
    return image_hand_over(renderer, image, true);
}

bool vk_interop_release(VulkanRenderer *renderer, VulkanImage *image)
{
    if (image->mapped == NULL || image->is_external)
        return true; /* never shown: it is still the other side's */
    return image_hand_over(renderer, image, false);
}

bool vk_interop_hand_over(VulkanRenderer *renderer, uint64_t *out_value)
{
    VulkanInteropState *interop = &renderer->interop;
    *out_value = 0;
    if (interop->api == NULL || !interop->is_dirty)
        return true;
    interop->is_dirty = false;
    bool waited = false;
    if (!interop->api->hand_over(interop->state, out_value, &waited)) {
        renderer->base.lost = true; /* it said why */
        renderer->frames.recording = false;
        return false;
    }
    renderer->base.counters.hand_overs += waited || *out_value > 0 ? 1u : 0u;
    renderer->base.counters.waits += waited ? 1u : 0u;
    interop->ready_value = *out_value > 0 ? *out_value : interop->ready_value;
    return true;
}

/* ---- The ring
 * --------------------------------------------------------------------------------------- */

int vk_interop_export(VulkanRenderer *renderer, VkDeviceMemory memory)
{
    const VulkanContext *context = &renderer->context;
    VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                 .memory = memory,
                                 .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VkResult result = fault_here("vk.export")
                          ? VK_ERROR_TOO_MANY_OBJECTS
                          : context->api.vkGetMemoryFdKHR(context->device, &info, &fd);
    if (result == VK_SUCCESS)
        return fd;
    vk_failed(renderer, "renderer_texture_update", "vkGetMemoryFdKHR", result);
    return -1;
}

/* Made, in GENERAL, released, mapped. Waits once, at the image's birth. `is_only`: the texture has
 * no other that could be written instead. */
static bool ring_image_create(VulkanRenderer *renderer, VulkanTexture *texture, bool is_only,
                              VulkanImage *out)
{
    VulkanInteropState *interop = &renderer->interop;
    VkResult result = vk_image_create(renderer, texture->base.width_px, texture->base.height_px,
                                      true, texture->label, out);
    if (result != VK_SUCCESS)
        return vk_failed(renderer, "renderer_texture_update", "the exported image", result);
    if (!vk_access(renderer, out, false) || !image_hand_over(renderer, out, false) ||
        !vk_wait(renderer, vk_value_now(renderer)))
        goto failed;
    VulkanInteropImage shared = {.width_px = texture->base.width_px,
                                 .height_px = texture->base.height_px,
                                 .memory_bytes = out->range.size,
                                 .dedicated = true,
                                 .fd = vk_interop_export(renderer, out->range.memory)};
    if (shared.fd < 0)
        goto failed;
    out->mapped = interop->api->image_map(interop->state, &shared);
    if (out->mapped == NULL) {
        close(shared.fd);
        if (is_only)
            vk_copy_fall_back(renderer, texture);
        goto failed;
    }
    interop->has_mapped = true;
    return true;

failed:
    if (renderer->base.lost) /* its barriers may be in a batch that never ran */
        renderer->context.api.vkDeviceWaitIdle(renderer->context.device);
    vk_image_destroy(renderer, out);
    return false;
}

/* An image that no frame reads any more and that is not the one shown. NULL: refused, logged. */
static VulkanImage *ring_take(VulkanRenderer *renderer, VulkanTexture *texture)
{
    VulkanImage *oldest = NULL;
    if (texture->ring == NULL) {
        texture->ring = calloc(VULKAN_RING_IMAGES, sizeof(*texture->ring));
        if (texture->ring == NULL) {
            log_item(OUT_OF_MEMORY, "renderer_texture_update",
                     (unsigned long long)(VULKAN_RING_IMAGES * sizeof(*texture->ring)));
            return NULL;
        }
    }
    /* Written since the last draw and not sampled yet: a newer update takes its place. */
    if (texture->current->mapped != NULL && texture->current->is_external) {
        renderer->base.counters.coalesced++;
        texture->base.counters.coalesced++;
        return texture->current;
    }
    VulkanImage *unmade = NULL;
    for (int i = 0; i < VULKAN_RING_IMAGES; i++) {
        VulkanImage *image = &texture->ring[i];
        if (image == texture->current)
            continue;
        if (image->image == VK_NULL_HANDLE)
            unmade = unmade == NULL ? image : unmade;
        else if (vk_reached(renderer, image->used_value))
            return image;
        else if (oldest == NULL || image->used_value < oldest->used_value)
            oldest = image;
    }
    if (unmade != NULL && (oldest == NULL || !texture->ring_is_short)) {
        if (ring_image_create(renderer, texture, oldest == NULL, unmade))
            return unmade;
        texture->ring_is_short = true;
    }
    /* Only several draws and updates of one texture in one frame come here, and a texture whose
     * ring cannot grow: one line said so. */
    return oldest != NULL && vk_wait(renderer, oldest->used_value) ? oldest : NULL;
}

static bool update_in_place(VulkanRenderer *renderer, VulkanTexture *texture, VulkanImage *image,
                            const RendererSource *source)
{
    VulkanInteropState *interop = &renderer->interop;
    if (!interop->api->pass_run(interop->state, image->mapped, &texture->base.pass, source,
                                texture->base.width_px, texture->base.height_px))
        return false;
    interop->is_dirty = true;
    if (image != texture->current && !vk_interop_release(renderer, texture->current))
        return false;
    /* Its memory is worth more elsewhere, unless host tensors come in between. */
    if (texture->plain.image != VK_NULL_HANDLE && texture->current == &texture->plain &&
        !texture->keeps_plain) {
        vk_defer(renderer, &(VulkanGarbage){.value = texture->plain.used_value,
                                            .kind = VULKAN_GARBAGE_IMAGE,
                                            .of.image = texture->plain});
        memset(&texture->plain, 0, sizeof texture->plain);
    }
    texture->current = image;
    renderer->base.counters.passes++;
    texture->base.counters.passes++;
    renderer->path_pending.interop = true;
    return true;
}

bool vk_interop_update_in_place(VulkanRenderer *renderer, VulkanTexture *texture,
                                const RendererSource *source)
{
    VulkanImage *image = ring_take(renderer, texture);
    return image != NULL && update_in_place(renderer, texture, image, source);
}

bool vk_interop_update(VulkanRenderer *renderer, VulkanTexture *texture,
                       const RendererSource *source)
{
    if (!vk_copy_is_used(renderer, texture) &&
        vk_interop_update_in_place(renderer, texture, source))
        return true;
    /* Also when the image that was to be written could just not be mapped. */
    return vk_copy_is_used(renderer, texture) && vk_copy_update(renderer, texture, source);
}

void vk_interop_texture_destroy(VulkanRenderer *renderer, VulkanTexture *texture)
{
    VulkanInteropState *interop = &renderer->interop;
    vk_copy_texture_destroy(renderer, texture);
    if (texture->ring == NULL)
        return;
    for (int i = 0; i < VULKAN_RING_IMAGES; i++) {
        VulkanImage *image = &texture->ring[i];
        if (image->mapped != NULL)
            interop->api->image_unmap(interop->state, image->mapped);
        if (image->image != VK_NULL_HANDLE)
            vk_defer(renderer, &(VulkanGarbage){.value = image->used_value,
                                                .kind = VULKAN_GARBAGE_IMAGE,
                                                .of.image = *image});
    }
    free(texture->ring);
    texture->ring = NULL;
}
