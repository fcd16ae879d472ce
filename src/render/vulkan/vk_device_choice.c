/* The device chooser: pure, so that lists of machines nobody has at hand can be tested. */
#include "render/vulkan/vk_device_choice.h"

#include <stdio.h>
#include <string.h>

static int rank(VulkanDeviceKind kind)
{
    switch (kind) {
    case VULKAN_DEVICE_KIND_DISCRETE:
        return 4;
    case VULKAN_DEVICE_KIND_INTEGRATED:
        return 3;
    case VULKAN_DEVICE_KIND_VIRTUAL:
        return 2;
    case VULKAN_DEVICE_KIND_OTHER:
        return 1;
    case VULKAN_DEVICE_KIND_CPU:
        return 0;
    }
    return 1;
}

int32_t vk_device_choose(const VulkanCandidate *candidates, uint32_t count,
                         const uint8_t *wanted_uuid, VulkanChoiceReason *out_reason)
{
    int32_t best = -1;
    *out_reason = VULKAN_CHOICE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].unusable != NULL)
            continue;
        if (wanted_uuid != NULL && memcmp(candidates[i].uuid, wanted_uuid, 16) == 0) {
            *out_reason = VULKAN_CHOICE_UUID;
            return (int32_t)i;
        }
        if (best < 0 || rank(candidates[i].kind) > rank(candidates[best].kind))
            best = (int32_t)i;
    }
    if (best >= 0)
        *out_reason = VULKAN_CHOICE_BY_KIND;
    return best;
}

void vk_uuid_text(const uint8_t uuid[16], char out[VULKAN_UUID_TEXT_BYTES])
{
    static const int dash_before[16] = {[4] = 1, [6] = 1, [8] = 1, [10] = 1};
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (dash_before[i])
            *at++ = '-';
        snprintf(at, 3, "%02x", uuid[i]);
        at += 2;
    }
}
