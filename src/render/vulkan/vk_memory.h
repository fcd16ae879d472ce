/* render/vulkan/vk_memory.h: the one allocator of device memory.
 *
 * Drivers allow few allocations (4096 is common) and each is slow, so resources get ranges of large
 * blocks; what is larger than half a block gets an allocation of its own. One empty block a kind is
 * kept, so that a texture made and released again and again allocates nothing. Included by this
 * folder. Frame thread. */
#ifndef CALIPER_RENDER_VULKAN_VK_MEMORY_H
#define CALIPER_RENDER_VULKAN_VK_MEMORY_H

#include "render/vulkan/vk_context.h"

typedef enum VulkanMemoryUse {
    VULKAN_MEMORY_IMAGE = 0,   /* optimal images: device local */
    VULKAN_MEMORY_DEVICE = 1,  /* buffers: device local */
    VULKAN_MEMORY_UPLOAD = 2,  /* mapped, coherent, written by the CPU in order */
    VULKAN_MEMORY_READBACK = 3 /* mapped, coherent, cached where there is such a kind */
} VulkanMemoryUse;

typedef struct VulkanMemoryBlock VulkanMemoryBlock;

/* A piece of a block. Zero: nothing. */
typedef struct VulkanRange {
    VulkanMemoryBlock *block;
    VkDeviceMemory memory;
    uint64_t offset, size;
    uint8_t *mapped; /* UPLOAD and READBACK: the range's first byte */
} VulkanRange;

typedef struct VulkanMemory {
    const VulkanContext *context;
    VulkanMemoryBlock **blocks;
    uint32_t block_count, block_capacity;
    uint32_t imported_count; /* allocations made elsewhere (vk_import.c), told for the count */
} VulkanMemory;

void vk_memory_init(VulkanMemory *memory, const VulkanContext *context);
/* Frees every block; ranges must not be used any more. */
void vk_memory_finish(VulkanMemory *memory);

VkResult vk_memory_allocate(VulkanMemory *memory, const VkMemoryRequirements *needs,
                            VulkanMemoryUse use, VulkanRange *out);
/* An allocation of its own for one image, exportable as OPAQUE_FD. */
VkResult vk_memory_allocate_exported(VulkanMemory *memory, const VkMemoryRequirements *needs,
                                     VkImage image, VulkanRange *out);
/* Gives the range back and zeroes it. Accepts a zero range. */
void vk_memory_free(VulkanMemory *memory, VulkanRange *range);

/* Index of the best memory type of `type_bits` for the use; -1: none. */
int32_t vk_memory_type(const VulkanContext *context, uint32_t type_bits, VulkanMemoryUse use);
/* Device memory allocations live now, imports included. */
uint32_t vk_memory_allocations(const VulkanMemory *memory);

#endif
