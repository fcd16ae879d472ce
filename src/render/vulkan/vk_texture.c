/* Textures: an image, its view and its descriptor sets, made once; nothing of it is allocated by an
 * update. Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

enum { POOL_IMAGES = 128, SETS_PER_IMAGE = 3 };

static const VkImageUsageFlags image_usage =
    VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
    VK_IMAGE_USAGE_TRANSFER_DST_BIT;
/* What was tried with other APIs (docs/architecture.md, the recipe): nothing is copied into these.
 */
static const VkImageUsageFlags exported_usage =
    VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;

static VulkanTexture *vulkan_texture(RendererTexture *texture)
{
    return (VulkanTexture *)texture;
}

int32_t vk_texture_max_px(const VulkanContext *context)
{
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = image_usage};
    VkImageFormatProperties2 out = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    if (context->instance_api.vkGetPhysicalDeviceImageFormatProperties2(context->physical, &info,
                                                                        &out) != VK_SUCCESS)
        return 0;
    const VkPhysicalDeviceLimits *limits = &context->properties.limits;
    uint32_t side = out.imageFormatProperties.maxExtent.width;
    uint32_t others[] = {out.imageFormatProperties.maxExtent.height, limits->maxFramebufferWidth,
                         limits->maxFramebufferHeight, limits->maxImageDimension2D};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        side = others[i] < side ? others[i] : side;
    return (int32_t)side;
}

/* ---- Descriptor sets ----------------------------------------------------------------------------
 */

static VkResult pool_add(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanTexturePool *pools =
        realloc(renderer->texture_pools, (renderer->texture_pool_count + 1) * sizeof *pools);
    if (pools == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    renderer->texture_pools = pools;
    VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2 * POOL_IMAGES},
                                     {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, POOL_IMAGES}};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                                       .maxSets = SETS_PER_IMAGE * POOL_IMAGES,
                                       .poolSizeCount = 2,
                                       .pPoolSizes = sizes};
    VulkanTexturePool pool = {0};
    VkResult result = context->api.vkCreateDescriptorPool(context->device, &info, NULL, &pool.pool);
    if (result == VK_SUCCESS)
        pools[renderer->texture_pool_count++] = pool;
    return result;
}

void vk_texture_pools_finish(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    for (uint32_t i = 0; i < renderer->texture_pool_count; i++)
        context->api.vkDestroyDescriptorPool(context->device, renderer->texture_pools[i].pool,
                                             NULL);
    free(renderer->texture_pools);
    renderer->texture_pools = NULL;
    renderer->texture_pool_count = 0;
}

static void sets_write(VulkanRenderer *renderer, const VulkanImage *image)
{
    const VulkanContext *context = &renderer->context;
    VkDescriptorImageInfo infos[SETS_PER_IMAGE];
    VkWriteDescriptorSet writes[SETS_PER_IMAGE];
    for (int i = 0; i < SETS_PER_IMAGE; i++) {
        bool sampled = i < 2;
        infos[i] = (VkDescriptorImageInfo){.sampler = sampled ? renderer->view.samplers[i]
                                                              : VK_NULL_HANDLE,
                                           .imageView = image->view,
                                           .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = sampled ? image->sampled[i] : image->storage,
                                           .descriptorCount = 1,
                                           .descriptorType =
                                               sampled ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                                                       : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                           .pImageInfo = &infos[i]};
    }
    context->api.vkUpdateDescriptorSets(context->device, SETS_PER_IMAGE, writes, 0, NULL);
}

static VkResult sets_create(VulkanRenderer *renderer, VulkanImage *image)
{
    const VulkanContext *context = &renderer->context;
    uint32_t at = 0;
    while (at < renderer->texture_pool_count && renderer->texture_pools[at].used == POOL_IMAGES)
        at++;
    if (at == renderer->texture_pool_count) {
        VkResult added = pool_add(renderer);
        if (added != VK_SUCCESS)
            return added;
    }
    VulkanTexturePool *pool = &renderer->texture_pools[at];
    VkDescriptorSetLayout layouts[SETS_PER_IMAGE] = {renderer->view.sampled_layout,
                                                     renderer->view.sampled_layout,
                                                     renderer->passes.storage_layout};
    VkDescriptorSet sets[SETS_PER_IMAGE];
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = pool->pool,
                                        .descriptorSetCount = SETS_PER_IMAGE,
                                        .pSetLayouts = layouts};
    VkResult result = context->api.vkAllocateDescriptorSets(context->device, &info, sets);
    if (result != VK_SUCCESS)
        return result;
    pool->used++;
    renderer->descriptor_sets += SETS_PER_IMAGE;
    image->pool = pool->pool;
    image->sampled[0] = sets[0];
    image->sampled[1] = sets[1];
    image->storage = sets[2];
    sets_write(renderer, image);
    return VK_SUCCESS;
}

static void sets_destroy(VulkanRenderer *renderer, VulkanImage *image)
{
    const VulkanContext *context = &renderer->context;
    if (image->pool == VK_NULL_HANDLE)
        return;
    VkDescriptorSet sets[SETS_PER_IMAGE] = {image->sampled[0], image->sampled[1], image->storage};
    context->api.vkFreeDescriptorSets(context->device, image->pool, SETS_PER_IMAGE, sets);
    renderer->descriptor_sets -= SETS_PER_IMAGE;
    for (uint32_t i = 0; i < renderer->texture_pool_count; i++)
        if (renderer->texture_pools[i].pool == image->pool)
            renderer->texture_pools[i].used--;
}

/* ---- Images -------------------------------------------------------------------------------------
 */

static VkResult image_memory(VulkanRenderer *renderer, bool exported, VulkanImage *image)
{
    const VulkanContext *context = &renderer->context;
    VkMemoryRequirements needs;
    context->api.vkGetImageMemoryRequirements(context->device, image->image, &needs);
    VkResult result =
        exported
            ? vk_memory_allocate_exported(&renderer->memory, &needs, image->image, &image->range)
            : vk_memory_allocate(&renderer->memory, &needs, VULKAN_MEMORY_IMAGE, &image->range);
    if (result != VK_SUCCESS)
        return result;
    return context->api.vkBindImageMemory(context->device, image->image, image->range.memory,
                                          image->range.offset);
}

VkResult vk_image_create(VulkanRenderer *renderer, int32_t width_px, int32_t height_px,
                         bool exported, const char *label, VulkanImage *out)
{
    const VulkanContext *context = &renderer->context;
    memset(out, 0, sizeof *out);
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .pNext = exported ? &external : NULL,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {(uint32_t)width_px, (uint32_t)height_px, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .tiling = VK_IMAGE_TILING_OPTIMAL,
                              .usage = exported ? exported_usage : image_usage,
                              .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
                              .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED};
    VkResult result = fault_here("vk.texture")
                          ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                          : context->api.vkCreateImage(context->device, &info, NULL, &out->image);
    if (result == VK_SUCCESS)
        result = image_memory(renderer, exported, out);
    if (result == VK_SUCCESS) {
        VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                      .image = out->image,
                                      .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                      .format = VK_FORMAT_R8G8B8A8_UNORM,
                                      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        result = context->api.vkCreateImageView(context->device, &view, NULL, &out->view);
    }
    if (result == VK_SUCCESS)
        result = sets_create(renderer, out);
    if (result != VK_SUCCESS) {
        vk_image_destroy(renderer, out);
        return result;
    }
    vk_name_object(context, VK_OBJECT_TYPE_IMAGE, (uint64_t)out->image, label);
    return VK_SUCCESS;
}

void vk_image_destroy(VulkanRenderer *renderer, VulkanImage *image)
{
    const VulkanContext *context = &renderer->context;
    sets_destroy(renderer, image);
    context->api.vkDestroyImageView(context->device, image->view, NULL);
    context->api.vkDestroyImage(context->device, image->image, NULL);
    vk_memory_free(&renderer->memory, &image->range);
    memset(image, 0, sizeof *image);
}

/* ---- Textures -----------------------------------------------------------------------------------
 */

RendererTexture *vk_texture_create(Renderer *base, const RendererTextureParams *params)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanTexture *texture = calloc(1, sizeof *texture);
    if (texture == NULL) {
        log_item(OUT_OF_MEMORY, "renderer_texture_create", (unsigned long long)sizeof *texture);
        return NULL;
    }
    snprintf(texture->label, sizeof texture->label, "%s",
             params->label != NULL ? params->label : "texture");
    vk_collect(renderer);
    VkResult result = VK_SUCCESS;
    if (!params->device_first || renderer->interop.api == NULL)
        result = vk_image_create(renderer, params->width_px, params->height_px, false,
                                 texture->label, &texture->plain);
    if (result != VK_SUCCESS) {
        vk_failed(renderer, "renderer_texture_create", "the image", result);
        free(texture);
        return NULL;
    }
    texture->current = &texture->plain;
    return &texture->base;
}

void vk_texture_destroy(Renderer *base, RendererTexture *base_texture)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanTexture *texture = vulkan_texture(base_texture);
    vk_interop_texture_destroy(renderer, texture);
    if (texture->plain.image != VK_NULL_HANDLE)
        vk_defer(renderer, &(VulkanGarbage){.value = texture->plain.used_value,
                                            .kind = VULKAN_GARBAGE_IMAGE,
                                            .of.image = texture->plain});
    free(texture);
    vk_collect(renderer);
}

VulkanImage *vk_texture_plain(VulkanRenderer *renderer, VulkanTexture *texture)
{
    VulkanImage *plain = &texture->plain;
    if (plain->image == VK_NULL_HANDLE) {
        VkResult result = vk_image_create(renderer, texture->base.width_px, texture->base.height_px,
                                          false, texture->label, plain);
        if (result != VK_SUCCESS) {
            vk_failed(renderer, "renderer_texture_update", "the image", result);
            return NULL;
        }
        texture->keeps_plain = texture->ring != NULL;
    }
    return plain;
}

bool vk_texture_plain_shown(VulkanRenderer *renderer, VulkanTexture *texture)
{
    if (texture->current != &texture->plain && !vk_interop_release(renderer, texture->current))
        return false;
    texture->current = &texture->plain;
    return true;
}

static bool update_from_buffer(VulkanRenderer *renderer, VulkanTexture *texture,
                               VulkanSourceBuffer *buffer, uint64_t offset_bytes)
{
    VulkanImage *image = vk_texture_plain(renderer, texture);
    if (image == NULL)
        return false;
    if (!vk_pass_record(renderer, &texture->base.pass, image, texture->base.width_px,
                        texture->base.height_px, buffer, offset_bytes))
        return false;
    renderer->base.counters.passes++;
    texture->base.counters.passes++;
    renderer->path_pending.in_place = true;
    vk_update_recorded(renderer);
    return vk_texture_plain_shown(renderer, texture);
}

static bool update_from_host(VulkanRenderer *renderer, VulkanTexture *texture,
                             const RendererPass *pass, const uint8_t *bytes)
{
    VulkanImage *image = vk_texture_plain(renderer, texture);
    return image != NULL && vk_upload(renderer, texture, image, pass, bytes) &&
           vk_texture_plain_shown(renderer, texture);
}

/* A host pointer is mostly written by the CPU, which needs no order; by the device only where the
 * source says so. */
static bool alloc_is_ordered(const RendererSource *source)
{
    const VulkanAlloc *alloc = (const VulkanAlloc *)source->alloc;
    return source->by_device || source->stream != NULL || !alloc->is_host_pointer;
}

/* When an update of a texture that reads imported memory returns, the bytes of the update before
 * may be rewritten, so their pass must be over by now. It is, unless the device is more than a
 * frame behind. An update that reads the same bytes again gives none back. */
static bool settle_imported_read(VulkanRenderer *renderer, VulkanTexture *texture,
                                 const RendererSource *source)
{
    bool same = source->kind == RENDERER_SOURCE_ALLOC && source->alloc == texture->reading_alloc &&
                source->offset_bytes == texture->reading_offset_bytes;
    const VulkanInterop *api = renderer->interop.api;
    if (same)
        return true;
    if (texture->reading_mapped != NULL && api->pass_wait != NULL &&
        !api->pass_wait(renderer->interop.state, texture->reading_mapped))
        return false;
    texture->reading_mapped = NULL;
    if (texture->reading_value != 0 && !vk_wait(renderer, texture->reading_value))
        return false;
    texture->reading_value = 0;
    return true;
}

static void read_imported(VulkanTexture *texture, const RendererSource *source)
{
    texture->reading_alloc = source->alloc;
    texture->reading_offset_bytes = source->offset_bytes;
}

/* By a compute pass over our own import of it. */
static bool update_from_import(VulkanRenderer *renderer, VulkanTexture *texture,
                               const RendererSource *source)
{
    if (renderer->interop.api != NULL && alloc_is_ordered(source)) {
        if (!renderer->interop.api->order_after(renderer->interop.state, source->stream))
            return false;
        renderer->interop.is_dirty = true;
    }
    if (!update_from_buffer(renderer, texture, &((VulkanAlloc *)source->alloc)->source,
                            source->offset_bytes))
        return false;
    texture->reading_value = vk_value_now(renderer);
    read_imported(texture, source);
    return true;
}

/* What the other API exported is read by its own pass, on the producer's stream: that needs no
 * order between the APIs beyond the frame's, and is the faster of the two. */
static bool update_from_alloc(VulkanRenderer *renderer, VulkanTexture *texture,
                              const RendererSource *source)
{
    const VulkanInteropMemory *there = &((VulkanAlloc *)source->alloc)->there;
    if (there->mapped == NULL || vk_copy_is_used(renderer, texture))
        return update_from_import(renderer, texture, source);
    RendererSource in_place = *source;
    in_place.device_ptr = there->address + source->offset_bytes;
    if (vk_interop_update_in_place(renderer, texture, &in_place)) {
        texture->reading_mapped = texture->current->mapped;
        read_imported(texture, source);
        return true;
    }
    /* Its image could just not be mapped: then it is our turn. */
    return vk_copy_is_used(renderer, texture) && update_from_import(renderer, texture, source);
}

bool vk_texture_update(Renderer *base, RendererTexture *base_texture, const RendererSource *source)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanTexture *texture = vulkan_texture(base_texture);
    if (!settle_imported_read(renderer, texture, source))
        return false;
    switch (source->kind) {
    case RENDERER_SOURCE_HOST:
        if (!update_from_host(renderer, texture, &base_texture->pass, source->host))
            return false;
        renderer->path_pending.staged = true;
        return true;
    case RENDERER_SOURCE_SHARED:
        return update_from_buffer(renderer, texture, &((VulkanShared *)source->shared)->source,
                                  source->offset_bytes);
    case RENDERER_SOURCE_ALLOC:
        return update_from_alloc(renderer, texture, source);
    case RENDERER_SOURCE_DEVICE:
        return vk_interop_update(renderer, texture, source);
    }
    return false;
}

bool vk_texture_write(Renderer *base, RendererTexture *texture, const uint8_t *rgba)
{
    return update_from_host(vk_renderer(base), vulkan_texture(texture), NULL, rgba);
}

bool vk_texture_read(Renderer *base, RendererTexture *base_texture, uint8_t *dst)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanTexture *texture = vulkan_texture(base_texture);
    if (texture->current->image == VK_NULL_HANDLE) {
        log_item(RENDERER_REFUSED, "renderer_texture_read", "a texture before its first update",
                 "a texture that was updated");
        return false;
    }
    return vk_access(renderer, texture->current, false) &&
           vk_read_image(renderer, texture->current->image, VK_IMAGE_LAYOUT_GENERAL,
                         texture->base.width_px, texture->base.height_px, dst);
}
