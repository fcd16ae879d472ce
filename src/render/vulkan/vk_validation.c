/* Validation messages go into the project's log and are counted for tests. The callback runs on
 * whatever thread made the call that is complained about. */
#include "render/vulkan/vk_validation.h"

#include <stdatomic.h>
#include <string.h>

#include "core/log.h"

static atomic_uint_fast64_t message_count;

uint64_t vk_validation_messages(void)
{
    return atomic_load(&message_count);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    (void)user;
    /* The loader's own remarks come as GENERAL; only the layers judge our use. */
    if ((types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) == 0)
        return VK_FALSE;
    atomic_fetch_add(&message_count, 1);
    const char *id = data->pMessageIdName != NULL ? data->pMessageIdName : "(no id)";
    const char *text = data->pMessage != NULL ? data->pMessage : "";
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)
        log_item(VULKAN_VALIDATION_ERROR, id, text);
    else
        log_item(VULKAN_VALIDATION_WARNING, id, text);
    return VK_FALSE;
}

bool vk_validation_layer_present(void)
{
    VkLayerProperties layers[64];
    uint32_t count = sizeof layers / sizeof layers[0];
    VkResult result = vkEnumerateInstanceLayerProperties(&count, layers);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(layers[i].layerName, VULKAN_VALIDATION_LAYER) == 0)
            return true;
    return false;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(void)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message};
}

const void *vk_validation_chain(VulkanValidationChain *chain)
{
    chain->messenger = messenger_info();
    chain->enabled[0] = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    chain->features =
        (VkValidationFeaturesEXT){.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                  .pNext = &chain->messenger,
                                  .enabledValidationFeatureCount = VULKAN_VALIDATION_FEATURES,
                                  .pEnabledValidationFeatures = chain->enabled};
    return &chain->features;
}

void vk_validation_start(VulkanContext *context)
{
    if (context->instance_api.vkCreateDebugUtilsMessengerEXT == NULL)
        return;
    VkDebugUtilsMessengerCreateInfoEXT info = messenger_info();
    if (context->instance_api.vkCreateDebugUtilsMessengerEXT(context->instance, &info, NULL,
                                                             &context->messenger) != VK_SUCCESS)
        context->messenger = VK_NULL_HANDLE;
}
