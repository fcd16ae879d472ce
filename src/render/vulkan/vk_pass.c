/* The compute passes: a storage buffer of tensor elements into a texture's storage image. Buffers
 * beyond the device's range limit are read through windows, in bands of rows. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "kernels/kernels.h"
#include "render/vulkan/vk_renderer.h"
#include "render/vulkan/vk_shaders.h"

static const uint32_t colormap_words[] = {
#include "render/vulkan/colormap_comp_spv.h"
};
static const uint32_t expand_words[] = {
#include "render/vulkan/expand_comp_spv.h"
};

typedef struct PassPush { /* pass.glsl */
    uint32_t base_bytes, width, rows, first_row;
    float vmin, inv;
    uint32_t table_first, is_aligned;
} PassPush;

enum { TABLE_BYTES = COLORMAP_COUNT * COLORMAP_ENTRIES * 4, GROUP_WIDTH = 8, PIXELS_X = 32 };

/* ---- Creation -----------------------------------------------------------------------------------
 */

static VkResult set_layout(VulkanRenderer *renderer, VkDescriptorType type,
                           VkDescriptorSetLayout *out)
{
    const VulkanContext *context = &renderer->context;
    VkDescriptorSetLayoutBinding binding = {
        .descriptorType = type, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                            .bindingCount = 1,
                                            .pBindings = &binding};
    return fault_here("vk.create")
               ? VK_ERROR_OUT_OF_HOST_MEMORY
               : context->api.vkCreateDescriptorSetLayout(context->device, &info, NULL, out);
}

static VkResult layouts_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanPasses *passes = &renderer->passes;
    VkResult result =
        set_layout(renderer, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, &passes->storage_layout);
    if (result == VK_SUCCESS)
        result = set_layout(renderer, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &passes->source_layout);
    if (result == VK_SUCCESS)
        result = set_layout(renderer, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &passes->table_layout);
    if (result != VK_SUCCESS)
        return result;
    VkDescriptorSetLayout layouts[3] = {passes->storage_layout, passes->source_layout,
                                        passes->table_layout};
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(PassPush)};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 3,
                                       .pSetLayouts = layouts,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
    return context->api.vkCreatePipelineLayout(context->device, &info, NULL, &passes->layout);
}

/* Vulkan promises 128 threads a group; most devices have more. */
static uint32_t group_rows(const VkPhysicalDeviceLimits *limits)
{
    bool is_large = limits->maxComputeWorkGroupInvocations >= GROUP_WIDTH * 32 &&
                    limits->maxComputeWorkGroupSize[1] >= 32;
    return is_large ? 32 : 16;
}

/* `channels`: of the expanding pass; the colormap's does not look at it. */
static VkResult pipeline_create(VulkanRenderer *renderer, VulkanShaderCode code, uint32_t channels,
                                VkPipeline *out)
{
    const VulkanContext *context = &renderer->context;
    VkShaderModule module =
        fault_here("vk.create") ? VK_NULL_HANDLE : vk_shader_module(context, code);
    if (module == VK_NULL_HANDLE)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const uint32_t values[2] = {channels, renderer->passes.group_rows};
    const VkSpecializationMapEntry entries[2] = {{0, 0, sizeof values[0]},
                                                 {1, sizeof values[0], sizeof values[1]}};
    VkSpecializationInfo special = {2, entries, sizeof values, values};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &special},
        .layout = renderer->passes.layout};
    VkResult result =
        context->api.vkCreateComputePipelines(context->device, VK_NULL_HANDLE, 1, &info, NULL, out);
    context->api.vkDestroyShaderModule(context->device, module, NULL);
    return result;
}

static VkResult table_set_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanPasses *passes = &renderer->passes;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkResult result =
        context->api.vkCreateDescriptorPool(context->device, &pool, NULL, &passes->table_pool);
    if (result != VK_SUCCESS)
        return result;
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = passes->table_pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &passes->table_layout};
    result = context->api.vkAllocateDescriptorSets(context->device, &info, &passes->table_set);
    if (result != VK_SUCCESS)
        return result;
    VkDescriptorBufferInfo buffer = {passes->table_buffer, 0, TABLE_BYTES};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = passes->table_set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    context->api.vkUpdateDescriptorSets(context->device, 1, &write, 0, NULL);
    return VK_SUCCESS;
}

/* The tables go up once, with the first batch. */
static VkResult table_create(VulkanRenderer *renderer)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    VulkanPasses *passes = &renderer->passes;
    VkResult result =
        vk_buffer_create(renderer, TABLE_BYTES,
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                         VULKAN_MEMORY_DEVICE, &passes->table_buffer, &passes->table_range);
    if (result == VK_SUCCESS)
        result = table_set_create(renderer);
    if (result != VK_SUCCESS)
        return result;
    uint64_t offset = 0;
    uint8_t *staged = vk_staging_take(renderer, TABLE_BYTES, &offset);
    VkCommandBuffer commands = vk_commands(renderer);
    if (staged == NULL || commands == VK_NULL_HANDLE)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (int32_t i = 0; i < COLORMAP_COUNT; i++)
        memcpy(staged + i * COLORMAP_ENTRIES * 4, colormap_table(i), COLORMAP_ENTRIES * 4);
    VkBufferCopy copy = {offset, 0, TABLE_BYTES};
    api->vkCmdCopyBuffer(commands, renderer->staging.buffer, passes->table_buffer, 1, &copy);
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
    api->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                              NULL);
    return VK_SUCCESS;
}

bool vk_passes_init(VulkanRenderer *renderer, char *error, size_t error_bytes)
{
    VulkanPasses *passes = &renderer->passes;
    VulkanShaderCode colormap = {colormap_words, sizeof colormap_words};
    VulkanShaderCode expand = {expand_words, sizeof expand_words};
    passes->group_rows = group_rows(&renderer->context.properties.limits);
    VkResult result = layouts_create(renderer);
    if (result == VK_SUCCESS)
        result = pipeline_create(renderer, colormap, 0, &passes->colormap);
    for (uint32_t i = 0; result == VK_SUCCESS && i < VULKAN_EXPAND_PIPELINES; i++)
        result = pipeline_create(renderer, expand, i + 1, &passes->expand[i]);
    if (result == VK_SUCCESS)
        result = table_create(renderer);
    if (result == VK_SUCCESS)
        return true;
    snprintf(error, error_bytes, "the compute passes failed: %s", vk_result_name(result));
    return false;
}

void vk_passes_finish(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    const struct VolkDeviceTable *api = &context->api;
    VulkanPasses *passes = &renderer->passes;
    api->vkDestroyDescriptorPool(context->device, passes->table_pool, NULL);
    api->vkDestroyBuffer(context->device, passes->table_buffer, NULL);
    vk_memory_free(&renderer->memory, &passes->table_range);
    for (uint32_t i = 0; i < VULKAN_EXPAND_PIPELINES; i++)
        api->vkDestroyPipeline(context->device, passes->expand[i], NULL);
    api->vkDestroyPipeline(context->device, passes->colormap, NULL);
    api->vkDestroyPipelineLayout(context->device, passes->layout, NULL);
    api->vkDestroyDescriptorSetLayout(context->device, passes->table_layout, NULL);
    api->vkDestroyDescriptorSetLayout(context->device, passes->source_layout, NULL);
    api->vkDestroyDescriptorSetLayout(context->device, passes->storage_layout, NULL);
    memset(passes, 0, sizeof *passes);
}

/* ---- Recording ----------------------------------------------------------------------------------
 */

/* Memory of another device is handed over to this queue and back around each pass. */
static void source_hand_over(VulkanRenderer *renderer, VkCommandBuffer commands,
                             const VulkanSourceBuffer *source, bool to_us)
{
    uint32_t family = renderer->context.queue_family;
    VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = 0,
        .dstAccessMask = to_us ? VK_ACCESS_SHADER_READ_BIT : 0,
        .srcQueueFamilyIndex = to_us ? VK_QUEUE_FAMILY_EXTERNAL : family,
        .dstQueueFamilyIndex = to_us ? family : VK_QUEUE_FAMILY_EXTERNAL,
        .buffer = source->buffer,
        .size = VK_WHOLE_SIZE};
    renderer->context.api.vkCmdPipelineBarrier(
        commands, to_us ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        to_us ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
        NULL, 1, &barrier, 0, NULL);
}

static void bands_dispatch(VulkanRenderer *renderer, VkCommandBuffer commands,
                           const RendererPass *pass, uint32_t width, uint32_t height,
                           const VulkanSourceBuffer *source, uint64_t offset_bytes)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    const VulkanPasses *passes = &renderer->passes;
    const uint64_t row_bytes =
        (uint64_t)width * (pass->kind == RENDERER_PASS_COLORMAP ? 4 : pass->channels);
    /* A band is at most a window's step long, so it lies in the window where it begins. */
    uint64_t band_rows = source->window_step / row_bytes;
    for (uint64_t row = 0; row < height; row += band_rows) {
        uint64_t at = offset_bytes + row * row_bytes;
        uint64_t window = at / source->window_step;
        if (window >= source->window_count)
            window = source->window_count - 1;
        PassPush push = {.base_bytes = (uint32_t)(at - window * source->window_step),
                         .width = width,
                         .rows = (uint32_t)(height - row < band_rows ? height - row : band_rows),
                         .first_row = (uint32_t)row,
                         .vmin = pass->vmin,
                         .inv = pass->inv,
                         .table_first = (uint32_t)pass->colormap * COLORMAP_ENTRIES,
                         .is_aligned = at % 16 == 0 && row_bytes % 16 == 0};
        api->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, passes->layout, 1, 1,
                                     &source->windows[window], 0, NULL);
        api->vkCmdPushConstants(commands, passes->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                sizeof push, &push);
        api->vkCmdDispatch(commands, (width + PIXELS_X - 1) / PIXELS_X,
                           (push.rows + passes->group_rows - 1) / passes->group_rows, 1);
    }
}

bool vk_pass_record(VulkanRenderer *renderer, const RendererPass *pass, VulkanImage *image,
                    int32_t width_px, int32_t height_px, VulkanSourceBuffer *source,
                    uint64_t offset_bytes)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    const VulkanPasses *passes = &renderer->passes;
    if (!vk_access(renderer, image, true))
        return false;
    VkCommandBuffer commands = vk_commands(renderer);
    if (commands == VK_NULL_HANDLE)
        return false;
    if (source->is_external)
        source_hand_over(renderer, commands, source, true);
    api->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                           pass->kind == RENDERER_PASS_COLORMAP
                               ? passes->colormap
                               : passes->expand[pass->channels - 1]);
    api->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, passes->layout, 0, 1,
                                 &image->storage, 0, NULL);
    api->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, passes->layout, 2, 1,
                                 &passes->table_set, 0, NULL);
    bands_dispatch(renderer, commands, pass, (uint32_t)width_px, (uint32_t)height_px, source,
                   offset_bytes);
    if (source->is_external)
        source_hand_over(renderer, commands, source, false);
    source->used_value = vk_value_now(renderer);
    return true;
}
