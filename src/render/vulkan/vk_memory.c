/* Blocks with sorted lists of free spans, first fit. Frame thread. */
#include "render/vulkan/vk_memory.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

static const uint64_t block_bytes_default = 64ull << 20;

typedef struct FreeSpan {
    uint64_t offset, size;
} FreeSpan;

struct VulkanMemoryBlock {
    VkDeviceMemory memory;
    uint64_t size;
    uint32_t type;
    VulkanMemoryUse use;
    bool dedicated; /* one resource; never in the search */
    uint8_t *mapped;
    uint32_t ranges; /* handed out */
    FreeSpan *spans; /* sorted by offset, never touching */
    uint32_t span_count, span_capacity;
};

void vk_memory_init(VulkanMemory *memory, const VulkanContext *context)
{
    memset(memory, 0, sizeof *memory);
    memory->context = context;
}

static void block_destroy(const VulkanContext *context, VulkanMemoryBlock *block)
{
    if (block->memory != VK_NULL_HANDLE)
        context->api.vkFreeMemory(context->device, block->memory, NULL);
    free(block->spans);
    free(block);
}

void vk_memory_finish(VulkanMemory *memory)
{
    for (uint32_t i = 0; i < memory->block_count; i++)
        block_destroy(memory->context, memory->blocks[i]);
    free(memory->blocks);
    memset(memory, 0, sizeof *memory);
}

uint32_t vk_memory_allocations(const VulkanMemory *memory)
{
    return memory->block_count + memory->imported_count;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static int type_score(VkMemoryPropertyFlags flags, VulkanMemoryUse use)
{
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    if (flags & (VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT))
        return -1;
    switch (use) {
    case VULKAN_MEMORY_IMAGE:
    case VULKAN_MEMORY_DEVICE:
        return (local ? 4 : 0) + ((flags & mapped) == 0 ? 1 : 0);
    case VULKAN_MEMORY_UPLOAD:
        return (flags & mapped) != mapped ? -1 : (local ? 0 : 2) + (cached ? 0 : 1);
    case VULKAN_MEMORY_READBACK:
        return (flags & mapped) != mapped ? -1 : (cached ? 4 : 0) + (local ? 0 : 1);
    }
    return -1;
}

int32_t vk_memory_type(const VulkanContext *context, uint32_t type_bits, VulkanMemoryUse use)
{
    const VkPhysicalDeviceMemoryProperties *properties = &context->memory_properties;
    int32_t best = -1;
    int best_score = -1;
    for (uint32_t i = 0; i < properties->memoryTypeCount; i++) {
        if ((type_bits & (1u << i)) == 0)
            continue;
        int score = type_score(properties->memoryTypes[i].propertyFlags, use);
        if (score > best_score) {
            best_score = score;
            best = (int32_t)i;
        }
    }
    return best;
}

/* A block is at most a sixteenth of its heap, so that small devices can hold several kinds. */
static uint64_t block_bytes(const VulkanContext *context, uint32_t type)
{
    uint32_t heap = context->memory_properties.memoryTypes[type].heapIndex;
    uint64_t share = context->memory_properties.memoryHeaps[heap].size / 16;
    return share < block_bytes_default ? share : block_bytes_default;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool spans_reserve(VulkanMemoryBlock *block, uint32_t count)
{
    if (count <= block->span_capacity)
        return true;
    uint32_t capacity = count < 16 ? 16 : count * 2;
    FreeSpan *spans = realloc(block->spans, capacity * sizeof *spans);
    if (spans == NULL)
        return false;
    block->spans = spans;
    block->span_capacity = capacity;
    return true;
}

static VkResult block_create(VulkanMemory *memory, uint64_t size, uint32_t type,
                             VulkanMemoryUse use, const void *next, VulkanMemoryBlock **out)
{
    const VulkanContext *context = memory->context;
    if (memory->block_count == memory->block_capacity) {
        uint32_t capacity = memory->block_capacity == 0 ? 16 : memory->block_capacity * 2;
        VulkanMemoryBlock **blocks = realloc(memory->blocks, capacity * sizeof(*blocks));
        if (blocks == NULL)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        memory->blocks = blocks;
        memory->block_capacity = capacity;
    }
    VulkanMemoryBlock *block = calloc(1, sizeof *block);
    if (block == NULL || !spans_reserve(block, 1)) {
        free(block);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    block->size = size;
    block->type = type;
    block->use = use;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = next,
                                 .allocationSize = size,
                                 .memoryTypeIndex = type};
    VkResult result =
        fault_here("vk.memory")
            ? VK_ERROR_OUT_OF_DEVICE_MEMORY
            : context->api.vkAllocateMemory(context->device, &info, NULL, &block->memory);
    if (result == VK_SUCCESS && use >= VULKAN_MEMORY_UPLOAD)
        result = context->api.vkMapMemory(context->device, block->memory, 0, VK_WHOLE_SIZE, 0,
                                          (void **)&block->mapped);
    if (result != VK_SUCCESS) {
        block_destroy(context, block);
        return result;
    }
    block->spans[0] = (FreeSpan){0, size};
    block->span_count = 1;
    memory->blocks[memory->block_count++] = block;
    *out = block;
    return VK_SUCCESS;
}

static void block_remove(VulkanMemory *memory, VulkanMemoryBlock *block)
{
    for (uint32_t i = 0; i < memory->block_count; i++) {
        if (memory->blocks[i] != block)
            continue;
        memory->blocks[i] = memory->blocks[--memory->block_count];
        break;
    }
    block_destroy(memory->context, block);
}

static bool block_take(VulkanMemoryBlock *block, uint64_t size, uint64_t alignment,
                       VulkanRange *out)
{
    for (uint32_t i = 0; i < block->span_count; i++) {
        FreeSpan *span = &block->spans[i];
        uint64_t offset = (span->offset + alignment - 1) / alignment * alignment;
        uint64_t skipped = offset - span->offset;
        if (skipped > span->size || size > span->size - skipped)
            continue;
        uint64_t after = span->size - skipped - size;
        if (skipped > 0 && after > 0) {
            if (!spans_reserve(block, block->span_count + 1))
                return false;
            span = &block->spans[i];
            memmove(span + 1, span, (block->span_count - i) * sizeof *span);
            block->span_count++;
            span[0].size = skipped;
            span[1] = (FreeSpan){offset + size, after};
        } else if (skipped > 0) {
            span->size = skipped;
        } else if (after > 0) {
            *span = (FreeSpan){offset + size, after};
        } else {
            memmove(span, span + 1, (block->span_count - i - 1) * sizeof *span);
            block->span_count--;
        }
        block->ranges++;
        *out = (VulkanRange){.block = block,
                             .memory = block->memory,
                             .offset = offset,
                             .size = size,
                             .mapped = block->mapped != NULL ? block->mapped + offset : NULL};
        return true;
    }
    return false;
}

VkResult vk_memory_allocate(VulkanMemory *memory, const VkMemoryRequirements *needs,
                            VulkanMemoryUse use, VulkanRange *out)
{
    memset(out, 0, sizeof *out);
    int32_t type = vk_memory_type(memory->context, needs->memoryTypeBits, use);
    if (type < 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    uint64_t block_size = block_bytes(memory->context, (uint32_t)type);
    VulkanMemoryBlock *block = NULL;
    bool dedicated = needs->size > block_size / 2;
    for (uint32_t i = 0; !dedicated && i < memory->block_count; i++) {
        block = memory->blocks[i];
        if (!block->dedicated && block->type == (uint32_t)type && block->use == use &&
            block_take(block, needs->size, needs->alignment, out))
            return VK_SUCCESS;
    }
    VkResult result = block_create(memory, dedicated ? needs->size : block_size, (uint32_t)type,
                                   use, NULL, &block);
    if (result != VK_SUCCESS)
        return result;
    block->dedicated = dedicated;
    return block_take(block, needs->size, needs->alignment, out) ? VK_SUCCESS
                                                                 : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult vk_memory_allocate_exported(VulkanMemory *memory, const VkMemoryRequirements *needs,
                                     VkImage image, VulkanRange *out)
{
    memset(out, 0, sizeof *out);
    int32_t type = vk_memory_type(memory->context, needs->memoryTypeBits, VULKAN_MEMORY_IMAGE);
    if (type < 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .image = image};
    VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                           .pNext = &dedicated,
                                           .handleTypes =
                                               VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VulkanMemoryBlock *block = NULL;
    VkResult result =
        block_create(memory, needs->size, (uint32_t)type, VULKAN_MEMORY_IMAGE, &exported, &block);
    if (result != VK_SUCCESS)
        return result;
    block->dedicated = true;
    return block_take(block, needs->size, 1, out) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Puts a span back, joined with its neighbours. A list that cannot grow loses the span until the
 * block is empty, which puts the list right again. */
static void block_give(VulkanMemoryBlock *block, uint64_t offset, uint64_t size)
{
    block->ranges--;
    if (block->ranges == 0) {
        block->spans[0] = (FreeSpan){0, block->size};
        block->span_count = 1;
        return;
    }
    uint32_t at = 0;
    while (at < block->span_count && block->spans[at].offset < offset)
        at++;
    FreeSpan *spans = block->spans;
    bool joins_before = at > 0 && spans[at - 1].offset + spans[at - 1].size == offset;
    bool joins_after = at < block->span_count && offset + size == spans[at].offset;
    if (joins_before && joins_after) {
        spans[at - 1].size += size + spans[at].size;
        memmove(&spans[at], &spans[at + 1], (block->span_count - at - 1) * sizeof *spans);
        block->span_count--;
    } else if (joins_before) {
        spans[at - 1].size += size;
    } else if (joins_after) {
        spans[at] = (FreeSpan){offset, size + spans[at].size};
    } else if (spans_reserve(block, block->span_count + 1)) {
        spans = block->spans;
        memmove(&spans[at + 1], &spans[at], (block->span_count - at) * sizeof *spans);
        spans[at] = (FreeSpan){offset, size};
        block->span_count++;
    }
}

void vk_memory_free(VulkanMemory *memory, VulkanRange *range)
{
    VulkanMemoryBlock *block = range->block;
    if (block == NULL)
        return;
    block_give(block, range->offset, range->size);
    memset(range, 0, sizeof *range);
    if (block->ranges > 0)
        return;
    bool other_empty = false;
    for (uint32_t i = 0; i < memory->block_count; i++) {
        const VulkanMemoryBlock *other = memory->blocks[i];
        other_empty |= other != block && !other->dedicated && other->ranges == 0 &&
                       other->type == block->type && other->use == block->use;
    }
    if (block->dedicated || other_empty)
        block_remove(memory, block);
}
