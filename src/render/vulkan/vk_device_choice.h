/* render/vulkan/vk_device_choice.h: which Vulkan device to take, as a pure function over a list.
 *
 * Included by render/vulkan and its unit test; knows no Vulkan header. Any thread. */
#ifndef CALIPER_RENDER_VULKAN_VK_DEVICE_CHOICE_H
#define CALIPER_RENDER_VULKAN_VK_DEVICE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum VulkanDeviceKind { /* the values of VkPhysicalDeviceType */
                                VULKAN_DEVICE_KIND_OTHER = 0,
                                VULKAN_DEVICE_KIND_INTEGRATED = 1,
                                VULKAN_DEVICE_KIND_DISCRETE = 2,
                                VULKAN_DEVICE_KIND_VIRTUAL = 3,
                                VULKAN_DEVICE_KIND_CPU = 4
} VulkanDeviceKind;

typedef struct VulkanCandidate {
    char name[128];
    uint8_t uuid[16];
    VulkanDeviceKind kind;
    uint32_t vendor_id, device_id; /* PCI; told to people, never compared */
    const char *unusable;          /* why it cannot be taken; NULL: it can */
} VulkanCandidate;

typedef enum VulkanChoiceReason {
    VULKAN_CHOICE_NONE = 0,   /* no usable device */
    VULKAN_CHOICE_UUID = 1,   /* it is the compute device */
    VULKAN_CHOICE_BY_KIND = 2 /* no compute device was wanted, or none of the list is it */
} VulkanChoiceReason;

/* Index of the device to take, -1 when none is usable. A wanted UUID that matches a usable device
 * wins whatever its kind and place; otherwise discrete, integrated, virtual, other, cpu, and among
 * equals the first of the list. `wanted_uuid` may be NULL. */
int32_t vk_device_choose(const VulkanCandidate *candidates, uint32_t count,
                         const uint8_t *wanted_uuid, VulkanChoiceReason *out_reason);

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" and its NUL. */
enum { VULKAN_UUID_TEXT_BYTES = 37 };
void vk_uuid_text(const uint8_t uuid[16], char out[VULKAN_UUID_TEXT_BYTES]);

#endif
