/* The renderer as a whole: creation in order, destruction in reverse, the table. Frame thread. */
#include "render/vulkan/vk_renderer.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

static void destroy(Renderer *base);
static const char *path(const Renderer *base);

static const RendererImpl impl = {.name = "vulkan",
                                  .destroy = destroy,
                                  .texture_create = vk_texture_create,
                                  .texture_update = vk_texture_update,
                                  .texture_write = vk_texture_write,
                                  .texture_read = vk_texture_read,
                                  .texture_destroy = vk_texture_destroy,
                                  .shared_attach = vk_shared_attach,
                                  .shared_detach = vk_shared_detach,
                                  .alloc_import = vk_alloc_import,
                                  .alloc_release = vk_alloc_release,
                                  .frame_begin = vk_frame_begin,
                                  .draw_ui = vk_draw_ui,
                                  .frame_end = vk_frame_end,
                                  .rest = vk_rest,
                                  .frame_read = vk_frame_read,
                                  .path = path};

VulkanRenderer *vk_renderer(Renderer *renderer)
{
    assert(renderer->impl == &impl);
    return (VulkanRenderer *)renderer;
}

const VulkanRenderer *vk_renderer_const(const Renderer *renderer)
{
    assert(renderer->impl == &impl);
    return (const VulkanRenderer *)renderer;
}

bool vk_failed(VulkanRenderer *renderer, const char *call, const char *what, VkResult result)
{
    if (renderer->base.lost)
        return false;
    if (result != VK_ERROR_DEVICE_LOST && result != VK_ERROR_SURFACE_LOST_KHR) {
        log_item(RENDERER_FAILED, call, what, vk_result_name(result));
        return false;
    }
    renderer->base.lost = true;
    log_item(RENDERER_LOST, "vulkan", what, vk_result_name(result));
    return false;
}

void vk_renderer_live(const Renderer *base, VulkanLive *out)
{
    const VulkanRenderer *renderer = vk_renderer_const(base);
    out->descriptor_sets = renderer->descriptor_sets;
    out->allocations = vk_memory_allocations(&renderer->memory);
    out->garbage = renderer->frames.garbage_count;
}

static const char *path(const Renderer *base)
{
    const VulkanRenderer *renderer = vk_renderer_const(base);
    const char *pending = renderer->path != NULL ? renderer->path : vk_path_pending(renderer);
    return pending != NULL ? pending : "CPU-staged (Vulkan)";
}

const char *vk_path_pending(const VulkanRenderer *renderer)
{
    const VulkanPathFlags *pending = &renderer->path_pending;
    if (pending->staged)
        return "CPU-staged (Vulkan)";
    if (pending->copied)
        return renderer->interop.api->copy_path;
    if (pending->interop)
        return renderer->interop.api->path;
    return pending->in_place ? "GPU-resident (Vulkan, zero CPU staging)" : NULL;
}

static void info_fill(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    const VkPhysicalDeviceProperties *properties = &context->properties;
    RendererInfo *info = &renderer->base.info;
    info->name = "vulkan";
    snprintf(info->device_name, sizeof info->device_name, "%.*s", (int)sizeof info->device_name - 1,
             properties->deviceName);
    snprintf(info->api_version, sizeof info->api_version, "Vulkan %u.%u.%u",
             VK_API_VERSION_MAJOR(properties->apiVersion),
             VK_API_VERSION_MINOR(properties->apiVersion),
             VK_API_VERSION_PATCH(properties->apiVersion));
    info->software = properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    info->max_texture_px = vk_texture_max_px(context);
    info->max_source_bytes = (uint64_t)info->max_texture_px * (uint64_t)info->max_texture_px * 4;
    info->has_uuid = true;
    memcpy(info->uuid, context->uuid, sizeof info->uuid);
    info->interop_index = -1;
    info->caps = RENDERER_CAP_RECOVERS;
    if (context->has_memory_fd)
        info->caps |= RENDERER_CAP_IMPORT_FD;
    else
        log_item(VULKAN_WITHOUT, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                 "imports of file descriptors");
    if (context->has_host_import)
        info->caps |= RENDERER_CAP_IMPORT_HOST_POINTER | RENDERER_CAP_SHARED_IN_PLACE;
    else
        log_item(VULKAN_WITHOUT, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
                 "host pointers read in place");
}

Renderer *vk_renderer_create(const RendererParams *params, char *error, size_t error_bytes)
{
    VulkanRenderer *renderer = calloc(1, sizeof *renderer);
    if (renderer == NULL) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    renderer->base.impl = &impl;
    renderer->vsync_off = params->vsync_off;
    if (params->window != NULL) {
        renderer->window = *params->window;
        renderer->has_window = true;
    }
    vk_memory_init(&renderer->memory, &renderer->context);
    if (!vk_context_init(&renderer->context, params, error, error_bytes))
        goto failed;
    info_fill(renderer);
    if (!vk_frames_init(renderer, error, error_bytes) ||
        !vk_staging_init(renderer, error, error_bytes) ||
        !vk_passes_init(renderer, error, error_bytes) ||
        !vk_view_init(renderer, error, error_bytes) ||
        (renderer->has_window && !vk_present_init(renderer, error, error_bytes)))
        goto failed;
    vk_interop_init(renderer, params->interop_index);
    return &renderer->base;

failed:
    destroy(&renderer->base);
    return NULL;
}

/* Also for a renderer that failed half-way: every part accepts being empty. */
static void destroy(Renderer *base)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanContext *context = &renderer->context;
    if (context->device != VK_NULL_HANDLE) {
        /* On a lost device this returns at once and everything may be destroyed. */
        context->api.vkDeviceWaitIdle(context->device);
        vk_interop_finish(renderer);
        vk_present_finish(renderer);
        vk_frames_finish(renderer);
        vk_view_finish(renderer);
        vk_passes_finish(renderer);
        vk_staging_finish(renderer);
        vk_texture_pools_finish(renderer);
        vk_memory_finish(&renderer->memory);
    }
    vk_context_finish(context);
    free(renderer);
}
