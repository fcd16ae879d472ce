/* Instance, device choice, device and queue. Optional extensions only set flags: what they carry is
 * left out with one line where it would have been used. Frame thread. */
#include "render/vulkan/vk_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_validation.h"

enum { INSTANCE_EXTENSIONS_MAX = 16, DEVICE_EXTENSIONS_MAX = 8, DEVICES_MAX = 16 };

const char *vk_result_name(VkResult result)
{
    switch (result) {
#define NAME(value) \
    case value:     \
        return #value;
        NAME(VK_SUCCESS)
        NAME(VK_NOT_READY)
        NAME(VK_TIMEOUT)
        NAME(VK_INCOMPLETE)
        NAME(VK_SUBOPTIMAL_KHR)
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(VK_ERROR_INITIALIZATION_FAILED)
        NAME(VK_ERROR_DEVICE_LOST)
        NAME(VK_ERROR_MEMORY_MAP_FAILED)
        NAME(VK_ERROR_LAYER_NOT_PRESENT)
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
        NAME(VK_ERROR_FEATURE_NOT_PRESENT)
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
        NAME(VK_ERROR_TOO_MANY_OBJECTS)
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED)
        NAME(VK_ERROR_FRAGMENTED_POOL)
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        NAME(VK_ERROR_SURFACE_LOST_KHR)
        NAME(VK_ERROR_NATIVE_WINDOW_IN_USE_KHR)
        NAME(VK_ERROR_OUT_OF_DATE_KHR)
#undef NAME
    default:
        return "an unknown VkResult";
    }
}

void vk_name_object(const VulkanContext *context, VkObjectType type, uint64_t handle,
                    const char *name)
{
    if (!context->names_objects || name == NULL)
        return;
    VkDebugUtilsObjectNameInfoEXT info = {.sType =
                                              VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                          .objectType = type,
                                          .objectHandle = handle,
                                          .pObjectName = name};
    context->instance_api.vkSetDebugUtilsObjectNameEXT(context->device, &info);
}

/* ---- Instance -------------------------------------------------------------------------------- */

static bool extension_in(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

static bool instance_has(const char *layer, const char *name)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(layer, &count, NULL) != VK_SUCCESS || count == 0)
        return false;
    VkExtensionProperties *list = calloc(count, sizeof *list);
    if (list == NULL)
        return false;
    VkResult result = vkEnumerateInstanceExtensionProperties(layer, &count, list);
    bool found =
        (result == VK_SUCCESS || result == VK_INCOMPLETE) && extension_in(list, count, name);
    free(list);
    return found;
}

static void instance_functions_load(VulkanContext *context)
{
    VulkanInstanceTable *api = &context->instance_api;
#define LOAD(name) \
    api->name = (PFN_##name)(void (*)(void))vkGetInstanceProcAddr(context->instance, #name);
    VULKAN_INSTANCE_FUNCTIONS(LOAD)
    VULKAN_INSTANCE_EXTENSION_FUNCTIONS(LOAD)
#undef LOAD
}

/* The loader unloads the drivers with the last instance, and NVIDIA's does not load any number of
 * times in one process (seen on an H200 with driver 580: about the 20th time vkCreateInstance
 * answers VK_ERROR_INCOMPATIBLE_DRIVER). An instance that lives as long as the process keeps them
 * loaded, so that a lost renderer can be followed by another as often as needed. */
static void drivers_keep(void)
{
    static VkInstance keeper;
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    if (keeper == VK_NULL_HANDLE && vkCreateInstance(&info, NULL, &keeper) != VK_SUCCESS)
        keeper = VK_NULL_HANDLE;
}

static bool surface_extensions_add(const RendererWindow *window, const char **extensions,
                                   uint32_t *count, char *error, size_t error_bytes)
{
    uint32_t wanted = 0;
    const char *const *names = window->vulkan_instance_extensions != NULL
                                   ? window->vulkan_instance_extensions(window->user, &wanted)
                                   : NULL;
    if (names == NULL || wanted == 0 || wanted > INSTANCE_EXTENSIONS_MAX - *count) {
        snprintf(error, error_bytes, "the window has no Vulkan surface");
        return false;
    }
    for (uint32_t i = 0; i < wanted; i++)
        extensions[(*count)++] = names[i];
    return true;
}

static bool instance_create(VulkanContext *context, const RendererParams *params, char *error,
                            size_t error_bytes)
{
    if (fault_here("vk.create") || volkInitialize() != VK_SUCCESS) {
        snprintf(error, error_bytes, "no Vulkan loader (libvulkan.so.1)");
        return false;
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) {
        snprintf(error, error_bytes, "the Vulkan loader is older than 1.2");
        return false;
    }
    const char *extensions[INSTANCE_EXTENSIONS_MAX];
    uint32_t extension_count = 0;
    bool validate = params->validate && vk_validation_layer_present();
    if (params->validate && !validate)
        log_item(VULKAN_NO_VALIDATION, VULKAN_VALIDATION_LAYER);
    if (validate && (instance_has(NULL, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
                     instance_has(VULKAN_VALIDATION_LAYER, VK_EXT_DEBUG_UTILS_EXTENSION_NAME))) {
        extensions[extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        context->names_objects = true;
    }
    if (validate &&
        instance_has(VULKAN_VALIDATION_LAYER, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME))
        extensions[extension_count++] = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
    if (params->window != NULL &&
        !surface_extensions_add(params->window, extensions, &extension_count, error, error_bytes))
        return false;

    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "caliper",
                                     .pEngineName = "caliper",
                                     .apiVersion = VK_API_VERSION_1_2};
    VulkanValidationChain chain;
    const char *layer = VULKAN_VALIDATION_LAYER;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pNext = validate ? vk_validation_chain(&chain) : NULL,
                                 .pApplicationInfo = &application,
                                 .enabledLayerCount = validate ? 1 : 0,
                                 .ppEnabledLayerNames = &layer,
                                 .enabledExtensionCount = extension_count,
                                 .ppEnabledExtensionNames = extensions};
    VkResult result = fault_here("vk.create") ? VK_ERROR_OUT_OF_HOST_MEMORY
                                              : vkCreateInstance(&info, NULL, &context->instance);
    if (result != VK_SUCCESS) {
        context->instance = VK_NULL_HANDLE;
        snprintf(error, error_bytes, "vkCreateInstance failed: %s", vk_result_name(result));
        return false;
    }
    drivers_keep();
    volkLoadInstanceOnly(context->instance);
    instance_functions_load(context);
    if (context->names_objects)
        vk_validation_start(context);
    return true;
}

/* ---- Device ---------------------------------------------------------------------------------- */

static bool family_find(const VulkanContext *context, VkPhysicalDevice physical,
                        uint32_t *out_family)
{
    const VulkanInstanceTable *api = &context->instance_api;
    VkQueueFamilyProperties families[32];
    uint32_t count = sizeof families / sizeof families[0];
    api->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        if ((families[i].queueFlags & wanted) != wanted)
            continue;
        VkBool32 presents = VK_TRUE;
        if (context->surface != VK_NULL_HANDLE &&
            api->vkGetPhysicalDeviceSurfaceSupportKHR(physical, i, context->surface, &presents) !=
                VK_SUCCESS)
            presents = VK_FALSE;
        if (presents) {
            *out_family = i;
            return true;
        }
    }
    return false;
}

/* NULL when the device has all that is not optional. */
static const char *device_lack(const VulkanContext *context, VkPhysicalDevice physical,
                               const VkPhysicalDeviceProperties *properties)
{
    uint32_t family = 0;
    if (properties->apiVersion < VK_API_VERSION_1_2)
        return "its Vulkan is older than 1.2";
    if (!family_find(context, physical, &family))
        return context->surface != VK_NULL_HANDLE
                   ? "no queue draws, computes and presents to this window"
                   : "no queue both draws and computes";
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    context->instance_api.vkGetPhysicalDeviceFeatures2(physical, &features);
    if (!features12.timelineSemaphore)
        return "no timeline semaphores";
    return NULL;
}

static void candidate_fill(const VulkanContext *context, VkPhysicalDevice physical,
                           VulkanCandidate *out)
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    context->instance_api.vkGetPhysicalDeviceProperties2(physical, &properties);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1,
             properties.properties.deviceName);
    memcpy(out->uuid, id.deviceUUID, 16);
    out->kind = (VulkanDeviceKind)properties.properties.deviceType;
    out->vendor_id = properties.properties.vendorID;
    out->device_id = properties.properties.deviceID;
    out->unusable = device_lack(context, physical, &properties.properties);
}

static bool device_choose(VulkanContext *context, const RendererParams *params, char *error,
                          size_t error_bytes)
{
    VkPhysicalDevice devices[DEVICES_MAX];
    VulkanCandidate candidates[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    VkResult result =
        fault_here("vk.create")
            ? VK_ERROR_INITIALIZATION_FAILED
            : context->instance_api.vkEnumeratePhysicalDevices(context->instance, &count, devices);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0) {
        snprintf(error, error_bytes, "no Vulkan device: %s", vk_result_name(result));
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        candidate_fill(context, devices[i], &candidates[i]);
    VulkanChoiceReason reason;
    const uint8_t *wanted = params->has_interop_uuid ? params->interop_uuid : NULL;
    int32_t chosen = vk_device_choose(candidates, count, wanted, &reason);
    if (chosen < 0) {
        snprintf(error, error_bytes, "none of %u Vulkan devices will do; %s: %s", count,
                 candidates[0].name, candidates[0].unusable);
        return false;
    }
    context->physical = devices[chosen];
    context->is_interop_device = reason == VULKAN_CHOICE_UUID;
    memcpy(context->uuid, candidates[chosen].uuid, 16);
    char uuid[VULKAN_UUID_TEXT_BYTES], interop[VULKAN_UUID_TEXT_BYTES] = "none";
    vk_uuid_text(context->uuid, uuid);
    if (wanted != NULL)
        vk_uuid_text(wanted, interop);
    log_item(VULKAN_DEVICE, candidates[chosen].name, uuid, chosen, count, interop,
             reason == VULKAN_CHOICE_UUID ? "the same device"
             : wanted != NULL             ? "no usable Vulkan device is it"
                                          : "chosen by kind");
    return true;
}

/* The device's limits, and which optional extensions are there. Fills `extensions`. */
static uint32_t device_capabilities(VulkanContext *context, const char **extensions)
{
    const VulkanInstanceTable *api = &context->instance_api;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {.sType =
                                                  VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    uint32_t listed = 0, used = 0;
    VkExtensionProperties *list = NULL;
    if (api->vkEnumerateDeviceExtensionProperties(context->physical, NULL, &listed, NULL) ==
            VK_SUCCESS &&
        listed > 0)
        list = calloc(listed, sizeof *list);
    if (list == NULL || api->vkEnumerateDeviceExtensionProperties(context->physical, NULL, &listed,
                                                                  list) != VK_SUCCESS)
        listed = 0;
    /* CALIPER_VULKAN_WITHOUT=name,name hides extensions, so that life without them is tested. */
    const char *hidden = getenv("CALIPER_VULKAN_WITHOUT");
#define TAKE(name)                                                                        \
    (extension_in(list, listed, name) && (hidden == NULL || strstr(hidden, name) == NULL) \
         ? (extensions[used++] = (name), true)                                            \
         : false)
    if (context->surface != VK_NULL_HANDLE)
        TAKE(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
    context->has_memory_fd = TAKE(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    context->has_semaphore_fd = TAKE(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    context->has_host_import = TAKE(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    TAKE("VK_KHR_portability_subset"); /* has to be enabled where it exists */
#undef TAKE
    free(list);
    if (context->has_host_import)
        properties.pNext = &host;
    api->vkGetPhysicalDeviceProperties2(context->physical, &properties);
    context->properties = properties.properties;
    context->host_import_alignment = host.minImportedHostPointerAlignment;
    api->vkGetPhysicalDeviceMemoryProperties(context->physical, &context->memory_properties);
    return used;
}

static VkExternalMemoryFeatureFlags buffer_features(const VulkanContext *context,
                                                    VkExternalMemoryHandleTypeFlagBits type)
{
    VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .handleType = type};
    VkExternalBufferProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    context->instance_api.vkGetPhysicalDeviceExternalBufferProperties(context->physical, &info,
                                                                      &out);
    return out.externalMemoryProperties.externalMemoryFeatures;
}

static bool buffer_imports(const VulkanContext *context, VkExternalMemoryHandleTypeFlagBits type)
{
    return (buffer_features(context, type) & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

static bool semaphore_exports(const VulkanContext *context)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &type,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    context->instance_api.vkGetPhysicalDeviceExternalSemaphoreProperties(context->physical, &info,
                                                                         &out);
    return (out.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

static bool image_exports(const VulkanContext *context)
{
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                 VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkExternalImageFormatProperties properties = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 out = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                    .pNext = &properties};
    return context->instance_api.vkGetPhysicalDeviceImageFormatProperties2(context->physical, &info,
                                                                           &out) == VK_SUCCESS &&
           (properties.externalMemoryProperties.externalMemoryFeatures &
            VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
}

static bool device_create(VulkanContext *context, char *error, size_t error_bytes)
{
    const char *extensions[DEVICE_EXTENSIONS_MAX];
    uint32_t extension_count = device_capabilities(context, extensions);
    context->has_image_export = context->has_memory_fd && image_exports(context);
    VkExternalMemoryFeatureFlags fd_features =
        buffer_features(context, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    context->has_buffer_export =
        context->has_memory_fd && (fd_features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
    context->buffer_export_is_dedicated =
        (fd_features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
    context->has_memory_fd = context->has_memory_fd &&
                             buffer_imports(context, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    context->has_semaphore_fd = context->has_semaphore_fd && semaphore_exports(context);
    context->has_host_import =
        context->has_host_import && context->host_import_alignment > 0 &&
        buffer_imports(context, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT);
    if (!family_find(context, context->physical, &context->queue_family)) {
        snprintf(error, error_bytes, "the queue family is gone");
        return false;
    }
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = context->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .timelineSemaphore = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features12,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = extension_count,
                               .ppEnabledExtensionNames = extensions};
    VkResult result = fault_here("vk.create")
                          ? VK_ERROR_INITIALIZATION_FAILED
                          : context->instance_api.vkCreateDevice(context->physical, &info, NULL,
                                                                 &context->device);
    if (result != VK_SUCCESS) {
        context->device = VK_NULL_HANDLE;
        snprintf(error, error_bytes, "vkCreateDevice failed: %s", vk_result_name(result));
        return false;
    }
    volkLoadDeviceTable(&context->api, context->device);
    context->api.vkGetDeviceQueue(context->device, context->queue_family, 0, &context->queue);
    return true;
}

static bool surface_create(VulkanContext *context, const RendererWindow *window, char *error,
                           size_t error_bytes)
{
    uint64_t surface = 0;
    int32_t result = VK_ERROR_EXTENSION_NOT_PRESENT;
    if (fault_here("vk.create"))
        result = VK_ERROR_SURFACE_LOST_KHR;
    else if (window->vulkan_create_surface != NULL)
        result = window->vulkan_create_surface(window->user, context->instance, &surface);
    if (result != VK_SUCCESS || surface == 0) {
        snprintf(error, error_bytes, "the window's surface failed: %s",
                 vk_result_name((VkResult)result));
        return false;
    }
    context->surface = (VkSurfaceKHR)surface;
    return true;
}

bool vk_context_init(VulkanContext *context, const RendererParams *params, char *error,
                     size_t error_bytes)
{
    if (params->window != NULL &&
        !params->window->open(params->window->user, RENDERER_WINDOW_VULKAN, error, error_bytes))
        return false;
    return instance_create(context, params, error, error_bytes) &&
           (params->window == NULL ||
            surface_create(context, params->window, error, error_bytes)) &&
           device_choose(context, params, error, error_bytes) &&
           device_create(context, error, error_bytes);
}

void vk_context_finish(VulkanContext *context)
{
    if (context->device != VK_NULL_HANDLE)
        context->api.vkDestroyDevice(context->device, NULL);
    if (context->surface != VK_NULL_HANDLE)
        context->instance_api.vkDestroySurfaceKHR(context->instance, context->surface, NULL);
    if (context->messenger != VK_NULL_HANDLE)
        context->instance_api.vkDestroyDebugUtilsMessengerEXT(context->instance, context->messenger,
                                                              NULL);
    if (context->instance != VK_NULL_HANDLE)
        context->instance_api.vkDestroyInstance(context->instance, NULL);
    memset(context, 0, sizeof *context);
}
