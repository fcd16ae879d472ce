/* render/vulkan/vk_validation.h: validation layers and their messages. Included by this folder. */
#ifndef CALIPER_RENDER_VULKAN_VK_VALIDATION_H
#define CALIPER_RENDER_VULKAN_VK_VALIDATION_H

#include "render/vulkan/vk_context.h"

enum { VULKAN_VALIDATION_FEATURES = 1 };

/* What goes into VkInstanceCreateInfo for validation; lives until the instance is made. */
typedef struct VulkanValidationChain {
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    VkValidationFeaturesEXT features;
    VkValidationFeatureEnableEXT enabled[VULKAN_VALIDATION_FEATURES];
} VulkanValidationChain;

/* The Khronos layer is installed. */
bool vk_validation_layer_present(void);
#define VULKAN_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

/* Fills the chain (core and synchronization validation); returns its head for pNext. */
const void *vk_validation_chain(VulkanValidationChain *chain);
/* The messenger for the instance's life; without it messages end with instance creation. */
void vk_validation_start(VulkanContext *context);

#endif
