/* Stands in for vk_cuda.c in a build without it: device tensors are refused. */
#include "render/vulkan/vk_interop.h"

const VulkanInterop *vk_cuda_interop(void)
{
    return NULL;
}
