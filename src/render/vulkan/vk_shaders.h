/* render/vulkan/vk_shaders.h: the compiled shaders, as lists of words made by the build. Included
 * by vk_pass.c and vk_view.c. */
#ifndef CALIPER_RENDER_VULKAN_VK_SHADERS_H
#define CALIPER_RENDER_VULKAN_VK_SHADERS_H

#include "render/vulkan/vk_context.h"

typedef struct VulkanShaderCode {
    const uint32_t *words;
    size_t size_bytes;
} VulkanShaderCode;

/* VK_NULL_HANDLE on failure. */
static inline VkShaderModule vk_shader_module(const VulkanContext *context, VulkanShaderCode code)
{
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = code.size_bytes,
                                     .pCode = code.words};
    VkShaderModule module = VK_NULL_HANDLE;
    return context->api.vkCreateShaderModule(context->device, &info, NULL, &module) == VK_SUCCESS
               ? module
               : VK_NULL_HANDLE;
}

#endif
