/* render/vulkan/vk_context.h: instance, device, queue and what they can do.
 *
 * src/render/vulkan/ is the Vulkan 1.2 renderer: vk_renderer.h has its whole state, vk_frame.c its
 * clock (command buffers and the timeline), vk_texture.c images, vk_upload.c staging, vk_pass.c
 * compute, vk_view.c the UI, vk_present.c the window, vk_import.c memory of others, vk_interop.c
 * the seam to CUDA. Only this folder includes a Vulkan header. Several contexts may live at once (a
 * lost renderer beside its successor), so every function pointer is in the context's own tables.
 * Frame thread only, but for vk_validation_messages. */
#ifndef CALIPER_RENDER_VULKAN_VK_CONTEXT_H
#define CALIPER_RENDER_VULKAN_VK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <volk.h>

#include "render/renderer.h"
#include "render/vulkan/vk_device_choice.h"

#define VULKAN_INSTANCE_FUNCTIONS(X)                  \
    X(vkDestroyInstance)                              \
    X(vkEnumeratePhysicalDevices)                     \
    X(vkEnumerateDeviceExtensionProperties)           \
    X(vkGetPhysicalDeviceProperties2)                 \
    X(vkGetPhysicalDeviceFeatures2)                   \
    X(vkGetPhysicalDeviceMemoryProperties)            \
    X(vkGetPhysicalDeviceQueueFamilyProperties)       \
    X(vkGetPhysicalDeviceFormatProperties)            \
    X(vkGetPhysicalDeviceImageFormatProperties2)      \
    X(vkGetPhysicalDeviceExternalBufferProperties)    \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties) \
    X(vkCreateDevice)

/* NULL where the extension is not enabled. */
#define VULKAN_INSTANCE_EXTENSION_FUNCTIONS(X)   \
    X(vkCreateDebugUtilsMessengerEXT)            \
    X(vkDestroyDebugUtilsMessengerEXT)           \
    X(vkSetDebugUtilsObjectNameEXT)              \
    X(vkDestroySurfaceKHR)                       \
    X(vkGetPhysicalDeviceSurfaceSupportKHR)      \
    X(vkGetPhysicalDeviceSurfaceCapabilitiesKHR) \
    X(vkGetPhysicalDeviceSurfaceFormatsKHR)      \
    X(vkGetPhysicalDeviceSurfacePresentModesKHR)

typedef struct VulkanInstanceTable {
#define VULKAN_FUNCTION(name) PFN_##name name;
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_FUNCTION)
    VULKAN_INSTANCE_EXTENSION_FUNCTIONS(VULKAN_FUNCTION)
#undef VULKAN_FUNCTION
} VulkanInstanceTable;

typedef struct VulkanContext {
    VulkanInstanceTable instance_api;
    struct VolkDeviceTable api;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkSurfaceKHR surface; /* VK_NULL_HANDLE offscreen */
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory_properties;
    uint8_t uuid[16];
    bool is_interop_device;          /* its UUID is the compute device's */
    bool has_memory_fd;              /* OPAQUE_FD buffers can be imported */
    bool has_image_export;           /* texture images can be exported as OPAQUE_FD */
    bool has_buffer_export;          /* storage buffers can be exported as OPAQUE_FD */
    bool buffer_export_is_dedicated; /* ... with memory of their own only */
    bool has_semaphore_fd;           /* timeline semaphores can be exported as OPAQUE_FD */
    bool has_host_import;
    uint64_t host_import_alignment;
    bool names_objects;
} VulkanContext;

/* Everything up to the queue. False: the reason is in `error`, nothing is logged, and
 * vk_context_finish still has to be called. */
bool vk_context_init(VulkanContext *context, const RendererParams *params, char *error,
                     size_t error_bytes);
/* The device must be idle. Accepts a context that failed half-way. */
void vk_context_finish(VulkanContext *context);

/* "VK_ERROR_DEVICE_LOST" and its kin; never NULL. */
const char *vk_result_name(VkResult result);
/* Shown by tools and validation messages; a no-op without the debug extension. */
void vk_name_object(const VulkanContext *context, VkObjectType type, uint64_t handle,
                    const char *name);

/* Validation messages (errors and warnings of the layers) of this process so far. [any] */
uint64_t vk_validation_messages(void);

#endif
