/* The second rung for device tensors, for drivers where the other API cannot write our images: it
 * copies the tensor, on the producer's stream, into a buffer that we exported, and a compute pass
 * in the submission that waits for the hand-over reads it. Frame thread.
 *
 * Each texture has a ring of such buffers, made as they are needed: a copy never goes into one that
 * a pass in flight reads. While the pass over the newest one is recorded and not submitted, and
 * nothing has read its pixels, a newer copy goes into the same buffer and is what that pass reads.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

/* ---- Which rung ---------------------------------------------------------------------------------
 */

bool vk_copy_possible(const VulkanRenderer *renderer, const VulkanInterop *api)
{
    return renderer->context.has_buffer_export && api->copy_run != NULL;
}

static void tell(VulkanRenderer *renderer, const char *reason)
{
    if (!renderer->interop.has_told)
        log_item(VULKAN_IN_PLACE_OFF, reason);
    renderer->interop.has_told = true;
}

void vk_copy_init(VulkanRenderer *renderer)
{
    VulkanInteropState *interop = &renderer->interop;
    const char *wanted = getenv("CALIPER_CUDA_RUNG");
    interop->can_copy = vk_copy_possible(renderer, interop->api);
    if (wanted != NULL && (strcmp(wanted, "copy") != 0 || !interop->can_copy)) {
        log_item(VARIABLE_REFUSED, "CALIPER_CUDA_RUNG", wanted,
                 "copy, on a device whose buffers can be exported");
        wanted = NULL;
    }
    interop->copies_only = wanted != NULL || !renderer->context.has_image_export;
    if (interop->copies_only)
        tell(renderer, wanted != NULL ? "CALIPER_CUDA_RUNG asks for it"
                                      : "the device does not export images");
}

bool vk_copy_is_used(const VulkanRenderer *renderer, const VulkanTexture *texture)
{
    return renderer->interop.copies_only || texture->copies_only;
}

/* A driver where the very first image fails is one where all do. Where one worked before, memory or
 * the like ran short: that is about this texture alone. */
void vk_copy_fall_back(VulkanRenderer *renderer, VulkanTexture *texture)
{
    VulkanInteropState *interop = &renderer->interop;
    if (!interop->can_copy)
        return;
    texture->copies_only = true;
    interop->copies_only = !interop->has_mapped;
    tell(renderer, interop->has_mapped ? "an image cannot be mapped" : "images cannot be mapped");
}

/* ---- The ring -----------------------------------------------------------------------------------
 */

/* What another API maps are pages: it is never asked for part of one. */
static const uint64_t export_granularity_bytes = 64ull << 10;

static VkResult source_export(VulkanRenderer *renderer, uint64_t size_bytes,
                              VulkanSourceBuffer *out, uint64_t *out_memory_bytes)
{
    const VulkanContext *context = &renderer->context;
    memset(out, 0, sizeof *out);
    out->size_bytes = (size_bytes + 3) & ~(uint64_t)3; /* the passes read words */
    out->is_external = true;
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = &external,
                               .size = out->size_bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkResult result = context->api.vkCreateBuffer(context->device, &info, NULL, &out->buffer);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    context->api.vkGetBufferMemoryRequirements(context->device, out->buffer, &needs);
    int32_t type = vk_memory_type(context, needs.memoryTypeBits, VULKAN_MEMORY_DEVICE);
    if (type < 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    uint64_t pages_bytes = (needs.size + export_granularity_bytes - 1) / export_granularity_bytes *
                           export_granularity_bytes;
    *out_memory_bytes = context->buffer_export_is_dedicated ? needs.size : pages_bytes;
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = out->buffer};
    VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = context->buffer_export_is_dedicated ? &dedicated : NULL,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &exported,
                                     .allocationSize = *out_memory_bytes,
                                     .memoryTypeIndex = (uint32_t)type};
    result = fault_here("vk.memory")
                 ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                 : context->api.vkAllocateMemory(context->device, &allocate, NULL, &out->memory);
    if (result != VK_SUCCESS) {
        out->memory = VK_NULL_HANDLE;
        return result;
    }
    renderer->memory.imported_count++;
    result = context->api.vkBindBufferMemory(context->device, out->buffer, out->memory, 0);
    return result == VK_SUCCESS ? vk_source_windows(renderer, out) : result;
}

static bool slot_create(VulkanRenderer *renderer, uint64_t size_bytes, VulkanCopySlot *out)
{
    const VulkanInteropState *interop = &renderer->interop;
    VulkanInteropBuffer shared = {.dedicated = renderer->context.buffer_export_is_dedicated};
    VkResult result = source_export(renderer, size_bytes, &out->source, &shared.memory_bytes);
    if (result != VK_SUCCESS) {
        vk_failed(renderer, "renderer_texture_update", "the exported buffer", result);
        goto failed;
    }
    shared.fd = vk_interop_export(renderer, out->source.memory);
    if (shared.fd < 0)
        goto failed;
    out->mapped = interop->api->buffer_map(interop->state, &shared);
    if (out->mapped != NULL)
        return true;
    close(shared.fd);

failed: /* nothing of it was ever recorded */
    vk_source_destroy(renderer, &out->source);
    return false;
}

/* Whether the newest pass can still be given newer bytes. */
static bool last_is_open(const VulkanRenderer *renderer, const VulkanTexture *texture)
{
    const VulkanCopies *copies = texture->copies;
    const VulkanImage *plain = &texture->plain;
    return copies->last != NULL && renderer->frames.recording &&
           copies->last->source.used_value == vk_value_now(renderer) && texture->current == plain &&
           plain->write_serial == copies->last_serial && plain->read_serial < plain->write_serial;
}

/* A slot that no pass reads any more. NULL: refused, logged. */
static VulkanCopySlot *slot_take(VulkanRenderer *renderer, VulkanTexture *texture,
                                 uint64_t size_bytes)
{
    VulkanCopySlot *unmade = NULL, *oldest = NULL;
    for (int i = 0; i < VULKAN_COPY_SLOTS; i++) {
        VulkanCopySlot *slot = &texture->copies->slots[i];
        if (slot->mapped == NULL)
            unmade = unmade == NULL ? slot : unmade;
        else if (vk_reached(renderer, slot->source.used_value))
            return slot;
        else if (oldest == NULL || slot->source.used_value < oldest->source.used_value)
            oldest = slot;
    }
    if (unmade != NULL)
        return slot_create(renderer, size_bytes, unmade) ? unmade : NULL;
    /* Only several draws and updates of one texture in one frame come here. */
    return oldest != NULL && vk_wait(renderer, oldest->source.used_value) ? oldest : NULL;
}

/* ---- Updates ------------------------------------------------------------------------------------
 */

static bool copy_into(VulkanRenderer *renderer, VulkanTexture *texture, VulkanCopySlot *slot,
                      const RendererSource *source)
{
    VulkanInteropState *interop = &renderer->interop;
    if (!interop->api->copy_run(interop->state, slot->mapped, source))
        return false;
    interop->is_dirty = true;
    renderer->base.counters.device_copied_bytes += source->extent_bytes;
    texture->base.counters.device_copied_bytes += source->extent_bytes;
    renderer->path_pending.copied = true;
    return true;
}

bool vk_copy_update(VulkanRenderer *renderer, VulkanTexture *texture, const RendererSource *source)
{
    if (texture->copies == NULL) {
        texture->copies = calloc(1, sizeof(*texture->copies));
        if (texture->copies == NULL) {
            log_item(OUT_OF_MEMORY, "renderer_texture_update",
                     (unsigned long long)sizeof(*texture->copies));
            return false;
        }
    }
    VulkanCopies *copies = texture->copies;
    if (last_is_open(renderer, texture)) {
        if (!copy_into(renderer, texture, copies->last, source))
            return false;
        renderer->base.counters.coalesced++;
        texture->base.counters.coalesced++;
        return true;
    }
    VulkanImage *image = vk_texture_plain(renderer, texture);
    VulkanCopySlot *slot =
        image != NULL ? slot_take(renderer, texture, source->extent_bytes) : NULL;
    if (slot == NULL || !copy_into(renderer, texture, slot, source) ||
        !vk_pass_record(renderer, &texture->base.pass, image, texture->base.width_px,
                        texture->base.height_px, &slot->source, 0))
        return false;
    copies->last = slot;
    copies->last_serial = image->write_serial;
    renderer->base.counters.passes++;
    texture->base.counters.passes++;
    bool shown = vk_texture_plain_shown(renderer, texture);
    vk_update_recorded(renderer);
    return shown;
}

void vk_copy_texture_destroy(VulkanRenderer *renderer, VulkanTexture *texture)
{
    const VulkanInteropState *interop = &renderer->interop;
    if (texture->copies == NULL)
        return;
    for (int i = 0; i < VULKAN_COPY_SLOTS; i++) {
        VulkanCopySlot *slot = &texture->copies->slots[i];
        if (slot->mapped == NULL)
            continue;
        interop->api->buffer_unmap(interop->state, slot->mapped);
        vk_defer(renderer, &(VulkanGarbage){.value = slot->source.used_value,
                                            .kind = VULKAN_GARBAGE_SOURCE,
                                            .of.source = slot->source});
    }
    free(texture->copies);
    texture->copies = NULL;
}
