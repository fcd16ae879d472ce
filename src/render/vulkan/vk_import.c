/* Memory of others that passes read in place: host memory (shared tensors, HOST_POINTER) and file
 * descriptors of other devices or CUDA. Frame thread. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"

/* ---- Buffers over imported memory
 * ---------------------------------------------------------------- */

void vk_source_destroy(VulkanRenderer *renderer, VulkanSourceBuffer *source)
{
    const VulkanContext *context = &renderer->context;
    context->api.vkDestroyDescriptorPool(context->device, source->pool, NULL);
    if (source->pool != VK_NULL_HANDLE && source->windows != NULL)
        renderer->descriptor_sets -= source->window_count;
    context->api.vkDestroyBuffer(context->device, source->buffer, NULL);
    if (source->memory != VK_NULL_HANDLE) {
        context->api.vkFreeMemory(context->device, source->memory, NULL);
        renderer->memory.imported_count--;
    }
    free(source->windows);
    memset(source, 0, sizeof *source);
}

/* Windows of the device's largest range, half overlapping: a band no longer than a step lies in the
 * window where it begins. Their starts are multiples of any offset alignment a device may ask for.
 */
VkResult vk_source_windows(VulkanRenderer *renderer, VulkanSourceBuffer *source)
{
    const VulkanContext *context = &renderer->context;
    const uint64_t largest = context->properties.limits.maxStorageBufferRange & ~(uint64_t)4095;
    source->window_step = (largest / 2) & ~(uint64_t)4095;
    uint32_t count = 1;
    while ((uint64_t)(count - 1) * source->window_step + largest < source->size_bytes)
        count++;
    VkDescriptorSetLayout *layouts = calloc(count, sizeof *layouts);
    source->windows = calloc(count, sizeof(*source->windows));
    VkResult result =
        layouts != NULL && source->windows != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = count,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorPool made = VK_NULL_HANDLE;
    if (result == VK_SUCCESS)
        result = context->api.vkCreateDescriptorPool(context->device, &pool, NULL, &made);
    if (result == VK_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            layouts[i] = renderer->passes.source_layout;
        VkDescriptorSetAllocateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = made,
                                            .descriptorSetCount = count,
                                            .pSetLayouts = layouts};
        result = context->api.vkAllocateDescriptorSets(context->device, &sets, source->windows);
        if (result != VK_SUCCESS)
            context->api.vkDestroyDescriptorPool(context->device, made, NULL);
    }
    free(layouts);
    if (result != VK_SUCCESS)
        return result;
    source->pool = made;
    source->window_count = count;
    renderer->descriptor_sets += count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first = i * source->window_step;
        uint64_t rest = source->size_bytes - first;
        VkDescriptorBufferInfo range = {source->buffer, first, rest < largest ? rest : largest};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = source->windows[i],
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &range};
        context->api.vkUpdateDescriptorSets(context->device, 1, &write, 0, NULL);
    }
    return VK_SUCCESS;
}

/* `import` is the chain of VkMemoryAllocateInfo; `type_bits` what the handle itself allows. */
static VkResult source_create(VulkanRenderer *renderer, VkExternalMemoryHandleTypeFlagBits type,
                              const void *import, uint64_t size_bytes, uint32_t type_bits,
                              VulkanSourceBuffer *out)
{
    const VulkanContext *context = &renderer->context;
    memset(out, 0, sizeof *out);
    /* Whole words: the passes read words, and a byte alone at the end lies in one. */
    out->size_bytes = (size_bytes + 3) & ~(uint64_t)3;
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = type};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = &external,
                               .size = out->size_bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkResult result = fault_here("vk.import")
                          ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                          : context->api.vkCreateBuffer(context->device, &info, NULL, &out->buffer);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    context->api.vkGetBufferMemoryRequirements(context->device, out->buffer, &needs);
    int32_t memory_type =
        vk_memory_type(context, needs.memoryTypeBits & type_bits, VULKAN_MEMORY_DEVICE);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = import,
                                     .allocationSize = size_bytes,
                                     .memoryTypeIndex = (uint32_t)memory_type};
    if (memory_type < 0 || needs.size > size_bytes || fault_here("vk.import"))
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    else
        result = context->api.vkAllocateMemory(context->device, &allocate, NULL, &out->memory);
    if (result == VK_SUCCESS) {
        renderer->memory.imported_count++;
        result = context->api.vkBindBufferMemory(context->device, out->buffer, out->memory, 0);
    } else {
        out->memory = VK_NULL_HANDLE;
    }
    if (result == VK_SUCCESS)
        result = vk_source_windows(renderer, out);
    return result;
}

/* ---- Host memory
 * --------------------------------------------------------------------------------- */

static VkResult host_source_create(VulkanRenderer *renderer, void *memory, uint64_t size_bytes,
                                   VulkanSourceBuffer *out)
{
    const VulkanContext *context = &renderer->context;
    const VkExternalMemoryHandleTypeFlagBits type =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    memset(out, 0, sizeof *out);
    VkResult result = context->api.vkGetMemoryHostPointerPropertiesEXT(context->device, type,
                                                                       memory, &properties);
    if (result != VK_SUCCESS)
        return result;
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = type,
        .pHostPointer = memory};
    /* The CPU's writes are never flushed, so they have to be seen without. */
    uint32_t coherent = 0;
    const VkPhysicalDeviceMemoryProperties *types = &context->memory_properties;
    for (uint32_t i = 0; i < types->memoryTypeCount; i++) {
        if ((types->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0)
            coherent |= 1u << i;
    }
    return source_create(renderer, type, &import, size_bytes, properties.memoryTypeBits & coherent,
                         out);
}

static bool host_is_aligned(const VulkanContext *context, const void *memory, uint64_t size_bytes)
{
    return (uintptr_t)memory % context->host_import_alignment == 0 &&
           size_bytes % context->host_import_alignment == 0;
}

RendererShared *vk_shared_attach(Renderer *base, void *memory, uint64_t size_bytes)
{
    VulkanRenderer *renderer = vk_renderer(base);
    if (!renderer->context.has_host_import ||
        !host_is_aligned(&renderer->context, memory, size_bytes))
        return NULL;
    VulkanShared *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return NULL;
    vk_collect(renderer);
    if (host_source_create(renderer, memory, size_bytes, &shared->source) != VK_SUCCESS) {
        vk_source_destroy(renderer, &shared->source);
        free(shared);
        return NULL;
    }
    return &shared->base;
}

/* After this nothing reads the source, even on a device that is gone. */
static void source_quiesce(VulkanRenderer *renderer, uint64_t value)
{
    if (!vk_wait(renderer, value))
        renderer->context.api.vkDeviceWaitIdle(renderer->context.device);
}

void vk_shared_detach(Renderer *base, RendererShared *base_shared)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanShared *shared = (VulkanShared *)base_shared;
    source_quiesce(renderer, shared->source.used_value);
    vk_source_destroy(renderer, &shared->source);
    free(shared);
}

/* ---- Imported allocations
 * ------------------------------------------------------------------------- */

static bool refuse(const char *wanted, const char *given)
{
    log_item(RENDERER_REFUSED, "renderer_alloc_import", given, wanted);
    return false;
}

/* A file that knows its size must be that large. */
static bool fd_file_is_true(const VulkanRenderer *renderer, int fd, uint64_t size_bytes)
{
    char given[96];
    struct stat status;
    if (fstat(fd, &status) != 0) {
        snprintf(given, sizeof given, "file descriptor %d (%s)", fd, strerror(errno));
        return refuse("an open file descriptor", given);
    }
    /* A software driver's memory is a file, and it may block reading anything else; a device
     * driver's is a device or has no type. */
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISDIR(status.st_mode) ||
        (renderer->base.info.software && !S_ISREG(status.st_mode))) {
        snprintf(given, sizeof given, "file descriptor %d of mode %o", fd,
                 (unsigned)status.st_mode);
        return refuse("a file descriptor of exported memory", given);
    }
    if (S_ISREG(status.st_mode) && (uint64_t)status.st_size < size_bytes) {
        snprintf(given, sizeof given, "%" PRIu64 " bytes of a file of %" PRIu64, size_bytes,
                 (uint64_t)status.st_size);
        return refuse("a size within the allocation", given);
    }
    return true;
}

/* What CUDA exported is mapped there, which proves its size; the rest (another Vulkan device's fd
 * without a size) is bound at exactly the size claimed, as its API asks. */
static bool fd_map_there(VulkanRenderer *renderer, int fd, uint64_t size_bytes,
                         VulkanInteropMemory *out)
{
    const VulkanInterop *interop = renderer->interop.api;
    return interop == NULL || interop->memory_map == NULL ||
           interop->memory_map(renderer->interop.state, fd, size_bytes, out) !=
               VULKAN_SIZE_PROOF_BAD;
}

static void alloc_unmap_there(VulkanRenderer *renderer, VulkanAlloc *alloc)
{
    if (alloc->there.mapped != NULL)
        renderer->interop.api->memory_unmap(renderer->interop.state, alloc->there.mapped);
}

static bool fd_import(VulkanRenderer *renderer, int fd, uint64_t size_bytes, VulkanAlloc *alloc)
{
    VulkanSourceBuffer *out = &alloc->source;
    if (!renderer->context.has_memory_fd)
        return refuse("a handle type that this device imports", "OPAQUE_FD");
    if (!fd_file_is_true(renderer, fd, size_bytes) ||
        !fd_map_there(renderer, fd, size_bytes, &alloc->there))
        return false;
    int owned = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (owned < 0)
        return refuse("a file descriptor that can be duplicated", strerror(errno));
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = type, .fd = owned};
    VkResult result = source_create(renderer, type, &import, size_bytes, UINT32_MAX, out);
    if (out->memory == VK_NULL_HANDLE)
        close(owned); /* only a successful import takes it */
    out->is_external = true;
    if (result != VK_SUCCESS)
        return vk_failed(renderer, "renderer_alloc_import", "the import of the fd", result);
    return true;
}

static bool host_pointer_import(VulkanRenderer *renderer, void *memory, uint64_t size_bytes,
                                VulkanSourceBuffer *out)
{
    char text[96];
    if (!renderer->context.has_host_import)
        return refuse("a handle type that this device imports", "HOST_POINTER");
    if (memory == NULL || !host_is_aligned(&renderer->context, memory, size_bytes)) {
        char wanted[96];
        snprintf(text, sizeof text, "%" PRIu64 " bytes at %p", size_bytes, memory);
        snprintf(wanted, sizeof wanted, "an address and a size that are multiples of %" PRIu64,
                 renderer->context.host_import_alignment);
        return refuse(wanted, text);
    }
    VkResult result = host_source_create(renderer, memory, size_bytes, out);
    if (result != VK_SUCCESS)
        return vk_failed(renderer, "renderer_alloc_import", "the import of host memory", result);
    return true;
}

RendererAlloc *vk_alloc_import(Renderer *base, void *os_handle, uint64_t size_bytes,
                               uint32_t handle_type)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanAlloc *alloc = calloc(1, sizeof *alloc);
    if (alloc == NULL) {
        log_item(OUT_OF_MEMORY, "renderer_alloc_import", (unsigned long long)sizeof *alloc);
        return NULL;
    }
    vk_collect(renderer);
    bool imported = false;
    if (handle_type == CALIPER_ALLOC_HANDLE_OPAQUE_FD) {
        imported = fd_import(renderer, (int)(intptr_t)os_handle, size_bytes, alloc);
    } else if (handle_type == CALIPER_ALLOC_HANDLE_HOST_POINTER) {
        imported = host_pointer_import(renderer, os_handle, size_bytes, &alloc->source);
        alloc->is_host_pointer = true;
    } else {
        char given[32];
        snprintf(given, sizeof given, "handle type %u", handle_type);
        refuse("OPAQUE_FD or HOST_POINTER", given);
    }
    if (imported)
        return &alloc->base;
    vk_source_destroy(renderer, &alloc->source);
    alloc_unmap_there(renderer, alloc);
    free(alloc);
    return NULL;
}

void vk_alloc_release(Renderer *base, RendererAlloc *base_alloc)
{
    VulkanRenderer *renderer = vk_renderer(base);
    VulkanAlloc *alloc = (VulkanAlloc *)base_alloc;
    /* The caller may unmap a host pointer now. A device driver has pinned the pages; a software
     * device reads through the address itself, so there it has to be done before. */
    if (alloc->is_host_pointer && base->info.software)
        source_quiesce(renderer, alloc->source.used_value);
    vk_defer(renderer, &(VulkanGarbage){.value = alloc->source.used_value,
                                        .kind = VULKAN_GARBAGE_SOURCE,
                                        .of.source = alloc->source});
    alloc_unmap_there(renderer, alloc);
    free(alloc);
    vk_collect(renderer);
}
