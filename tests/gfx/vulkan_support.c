#include "vulkan_support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <volk.h>

#include "kernels/kernels.h"
#include "render/renderer_impl.h"

static const char lavapipe[] = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";

void vulkan_test_begin(void)
{
    if (getenv("VK_DRIVER_FILES") == NULL && getenv("VK_ICD_FILENAMES") == NULL &&
        access(lavapipe, R_OK) == 0) {
        setenv("VK_DRIVER_FILES", lavapipe, 1);
        setenv("VK_ICD_FILENAMES", lavapipe, 1); /* older loaders */
    }
    /* Kept loaded, so that the leak check can name what is theirs (tests/lsan.supp). */
    dlopen("libVkLayer_khronos_validation.so", RTLD_NOW | RTLD_NODELETE);
    dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_NODELETE);
    char error[256] = "";
    Renderer *renderer = vk_renderer_create(RENDERER_PARAMS(.validate = true), error, sizeof error);
    if (renderer == NULL) {
        printf("skipped: no Vulkan device: %s\n", error);
        exit(77);
    }
    renderer_destroy(&renderer);
}

Renderer *vulkan_test_renderer_with(const RendererParams *params)
{
    char error[256] = "";
    Renderer *renderer = vk_renderer_create(params, error, sizeof error);
    if (renderer == NULL)
        fail_msg("the renderer does not start: %s", error);
    return renderer;
}

Renderer *vulkan_test_renderer(void)
{
    return vulkan_test_renderer_with(RENDERER_PARAMS(.validate = true));
}

/* ---- Log ---------------------------------------------------------------------------------------
 */

static uint32_t captured[LOG_ITEM_COUNT];
static uint32_t captured_problems;

static void on_entry(void *user, const LogEntry *entry)
{
    (void)user;
    captured[entry->item]++;
    if (entry->level >= LOG_LEVEL_WARN)
        captured_problems++;
}

void log_capture_start(void)
{
    log_sink_add(on_entry, NULL);
    log_capture_reset();
}

void log_capture_reset(void)
{
    memset(captured, 0, sizeof captured);
    captured_problems = 0;
}

uint32_t log_captured(LogItem item)
{
    return captured[item];
}

uint32_t log_captured_problems(void)
{
    return captured_problems;
}

/* ---- Reference ---------------------------------------------------------------------------------
 */

static uint32_t reference_index(const RendererPass *pass, float value)
{
    if (isnan(value) || pass->inv == 0.0f)
        return 0;
    volatile float difference = value - pass->vmin;
    volatile float t = difference * pass->inv;
    if (t <= 0.0f)
        return 0;
    if (t >= 1.0f)
        return 255;
    volatile float scaled = t * 255.0f;
    volatile float rounded = scaled + 0.5f;
    return (uint32_t)rounded;
}

void reference_pixels(const RendererPass *pass, const uint8_t *source, uint64_t count,
                      uint8_t *out_rgba)
{
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *out = out_rgba + i * 4;
        if (pass->kind == RENDERER_PASS_COLORMAP) {
            float value;
            memcpy(&value, source + i * 4, sizeof value);
            memcpy(out, colormap_table(pass->colormap)[reference_index(pass, value)], 4);
            continue;
        }
        const uint8_t *in = source + i * pass->channels;
        switch (pass->channels) {
        case 1:
            out[0] = out[1] = out[2] = in[0];
            out[3] = 255;
            break;
        case 2:
            out[0] = out[1] = out[2] = in[0];
            out[3] = in[1];
            break;
        case 3:
            memcpy(out, in, 3);
            out[3] = 255;
            break;
        default:
            memcpy(out, in, 4);
        }
    }
}

uint32_t test_random(void)
{
    static uint32_t state = 0x9e3779b9u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static float interesting_f32(uint64_t i, const RendererPass *pass)
{
    static const uint32_t bits[] = {0x00000000u, 0x80000000u, 0x7fc00000u, 0xffc00001u,
                                    0x7f800001u, 0x7f800000u, 0xff800000u, 0x00000001u,
                                    0x807fffffu, 0x00800000u, 0x7f7fffffu, 0xff7fffffu,
                                    0x3f800000u, 0x3f000000u, 0x3f7fffffu};
    float value;
    if (i % 3 == 0) {
        memcpy(&value, &bits[test_random() % (sizeof bits / sizeof bits[0])], sizeof value);
        return value;
    }
    if (i % 3 == 1 && pass->inv != 0.0f) { /* at a bin's edge, or one step beside it */
        float edge = pass->vmin + ((float)(test_random() % 256) + 0.5f) / 255.0f / pass->inv;
        uint32_t turn = test_random() % 3;
        return turn == 0 ? edge : nextafterf(edge, turn == 1 ? INFINITY : -INFINITY);
    }
    return (float)(test_random() >> 8) / 16777216.0f * 3.0f - 1.0f;
}

void source_fill(const RendererPass *pass, uint8_t *bytes, uint64_t count)
{
    if (pass->kind == RENDERER_PASS_EXPAND) {
        for (uint64_t i = 0; i < count * pass->channels; i++)
            bytes[i] = (uint8_t)(test_random() >> 11);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        float value = interesting_f32(i, pass);
        memcpy(bytes + i * 4, &value, sizeof value);
    }
}

uint64_t source_bytes(const RendererPass *pass, uint64_t count)
{
    return count * (pass->kind == RENDERER_PASS_COLORMAP ? 4 : pass->channels);
}

RendererPass pass_colormap(int32_t map, float vmin, float vmax)
{
    return (RendererPass){.kind = RENDERER_PASS_COLORMAP,
                          .colormap = map,
                          .vmin = vmin,
                          .inv = vmin == vmax ? 0.0f : 1.0f / (vmax - vmin)};
}

RendererPass pass_expand(uint32_t channels)
{
    return (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = channels};
}

uint32_t open_fd_count(void)
{
    uint32_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* ---- The second device --------------------------------------------------------------------------
 */

enum { EXPORTS_MAX = 64 };

struct Exporter {
    VkInstance instance;
    VkDevice device;
    struct VolkDeviceTable api;
    VkDeviceMemory memories[EXPORTS_MAX];
    uint32_t count;
};

Exporter *exporter_create(void)
{
    Exporter *exporter = calloc(1, sizeof *exporter);
    assert_non_null(exporter);
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application};
    assert_int_equal(volkInitialize(), VK_SUCCESS);
    assert_int_equal(vkCreateInstance(&instance, NULL, &exporter->instance), VK_SUCCESS);
    volkLoadInstanceOnly(exporter->instance);
    VkPhysicalDevice physical;
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(exporter->instance, &count, &physical);
    assert_int_equal(count, 1);
    const float priority = 1.0f;
    const char *extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = &extension};
    assert_int_equal(vkCreateDevice(physical, &device, NULL, &exporter->device), VK_SUCCESS);
    volkLoadDeviceTable(&exporter->api, exporter->device);
    return exporter;
}

void exporter_destroy(Exporter **exporter)
{
    Exporter *gone = *exporter;
    for (uint32_t i = 0; i < gone->count; i++)
        gone->api.vkFreeMemory(gone->device, gone->memories[i], NULL);
    gone->api.vkDestroyDevice(gone->device, NULL);
    vkDestroyInstance(gone->instance, NULL);
    free(gone);
    *exporter = NULL;
}

int exporter_export(Exporter *exporter, const uint8_t *bytes, uint64_t size_bytes,
                    uint64_t *out_allocation_bytes)
{
    const struct VolkDeviceTable *api = &exporter->api;
    assert_true(exporter->count < EXPORTS_MAX);
    VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                           .handleTypes =
                                               VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &exported,
                                 .allocationSize = (size_bytes + 4095) & ~(uint64_t)4095,
                                 .memoryTypeIndex = 0};
    VkDeviceMemory memory;
    assert_int_equal(api->vkAllocateMemory(exporter->device, &info, NULL, &memory), VK_SUCCESS);
    exporter->memories[exporter->count++] = memory;
    void *mapped = NULL;
    assert_int_equal(api->vkMapMemory(exporter->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                     VK_SUCCESS);
    memcpy(mapped, bytes, size_bytes);
    VkMemoryGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                .memory = memory,
                                .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    assert_int_equal(api->vkGetMemoryFdKHR(exporter->device, &get, &fd), VK_SUCCESS);
    *out_allocation_bytes = info.allocationSize;
    return fd;
}
