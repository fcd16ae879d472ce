/* The frame's picture: one offscreen target, the UI pipeline and its draws. What presents or reads
 * takes the target in TRANSFER_SRC_OPTIMAL, where both render passes leave it. Frame thread. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "render/vulkan/vk_renderer.h"
#include "render/vulkan/vk_shaders.h"

static const uint32_t vertex_words[] = {
#include "render/vulkan/ui_vert_spv.h"
};
static const uint32_t fragment_words[] = {
#include "render/vulkan/ui_frag_spv.h"
};

static const VkFormat target_format = VK_FORMAT_R8G8B8A8_UNORM;

typedef struct ViewPush { /* ui.vert */
    float scale[2], offset[2];
} ViewPush;

/* ---- Creation
 * ------------------------------------------------------------------------------------ */

static VkResult samplers_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VulkanView *view = &renderer->view;
    for (int i = 0; i < 2; i++) {
        VkFilter filter = i == UI_FILTER_LINEAR ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
        VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                    .magFilter = filter,
                                    .minFilter = filter,
                                    .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
                                    .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                    .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                    .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
        VkResult result =
            fault_here("vk.create")
                ? VK_ERROR_OUT_OF_HOST_MEMORY
                : context->api.vkCreateSampler(context->device, &info, NULL, &view->samplers[i]);
        if (result != VK_SUCCESS)
            return result;
    }
    VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT};
    VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    return context->api.vkCreateDescriptorSetLayout(context->device, &layout, NULL,
                                                    &view->sampled_layout);
}

static VkResult pass_create(VulkanRenderer *renderer, bool clears, VkRenderPass *out)
{
    const VulkanContext *context = &renderer->context;
    VkAttachmentDescription colour = {
        .format = target_format,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = clears ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = clears ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = 1,
                                    .pColorAttachments = &reference};
    /* Copies of the last frame end before; copies of this one begin after. */
    VkSubpassDependency dependencies[2] = {
        {.srcSubpass = VK_SUBPASS_EXTERNAL,
         .dstSubpass = 0,
         .srcStageMask =
             VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         .dstAccessMask =
             VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT},
        {.srcSubpass = 0,
         .dstSubpass = VK_SUBPASS_EXTERNAL,
         .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .dstStageMask =
             VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
                          VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT}};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .pAttachments = &colour,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass,
                                   .dependencyCount = 2,
                                   .pDependencies = dependencies};
    return fault_here("vk.create")
               ? VK_ERROR_OUT_OF_HOST_MEMORY
               : context->api.vkCreateRenderPass(context->device, &info, NULL, out);
}

static VkResult layout_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(ViewPush)};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &renderer->view.sampled_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
    return context->api.vkCreatePipelineLayout(context->device, &info, NULL,
                                               &renderer->view.layout);
}

static VkResult pipeline_make(VulkanRenderer *renderer, VkShaderModule vertex,
                              VkShaderModule fragment)
{
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"}};
    VkVertexInputBindingDescription binding = {0, sizeof(UiVertex), VK_VERTEX_INPUT_RATE_VERTEX};
    VkVertexInputAttributeDescription attributes[3] = {
        {0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(UiVertex, x)},
        {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(UiVertex, u)},
        {2, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(UiVertex, rgba)}};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 3,
        .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .cullMode = VK_CULL_MODE_NONE,
        .lineWidth = 1.0f};
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState blend = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorBlendOp = VK_BLEND_OP_ADD,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .alphaBlendOp = VK_BLEND_OP_ADD,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend};
    VkDynamicState dynamic[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamics = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = dynamic};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &input,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &viewport,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pColorBlendState = &blends,
                                         .pDynamicState = &dynamics,
                                         .layout = renderer->view.layout,
                                         .renderPass = renderer->view.clear_pass};
    return renderer->context.api.vkCreateGraphicsPipelines(
        renderer->context.device, VK_NULL_HANDLE, 1, &info, NULL, &renderer->view.pipeline);
}

static VkResult pipeline_create(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    VkShaderModule vertex =
        vk_shader_module(context, (VulkanShaderCode){vertex_words, sizeof vertex_words});
    VkShaderModule fragment =
        vk_shader_module(context, (VulkanShaderCode){fragment_words, sizeof fragment_words});
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (vertex != VK_NULL_HANDLE && fragment != VK_NULL_HANDLE && !fault_here("vk.create"))
        result = pipeline_make(renderer, vertex, fragment);
    context->api.vkDestroyShaderModule(context->device, vertex, NULL);
    context->api.vkDestroyShaderModule(context->device, fragment, NULL);
    return result;
}

bool vk_view_init(VulkanRenderer *renderer, char *error, size_t error_bytes)
{
    VkResult result = samplers_create(renderer);
    if (result == VK_SUCCESS)
        result = pass_create(renderer, true, &renderer->view.clear_pass);
    if (result == VK_SUCCESS)
        result = pass_create(renderer, false, &renderer->view.load_pass);
    if (result == VK_SUCCESS)
        result = layout_create(renderer);
    if (result == VK_SUCCESS)
        result = pipeline_create(renderer);
    if (result == VK_SUCCESS)
        return true;
    snprintf(error, error_bytes, "the UI pipeline failed: %s", vk_result_name(result));
    return false;
}

void vk_view_finish(VulkanRenderer *renderer)
{
    const VulkanContext *context = &renderer->context;
    const struct VolkDeviceTable *api = &context->api;
    VulkanView *view = &renderer->view;
    vk_target_destroy(renderer, &view->target);
    api->vkDestroyPipeline(context->device, view->pipeline, NULL);
    api->vkDestroyPipelineLayout(context->device, view->layout, NULL);
    api->vkDestroyRenderPass(context->device, view->load_pass, NULL);
    api->vkDestroyRenderPass(context->device, view->clear_pass, NULL);
    api->vkDestroyDescriptorSetLayout(context->device, view->sampled_layout, NULL);
    for (int i = 0; i < 2; i++)
        api->vkDestroySampler(context->device, view->samplers[i], NULL);
    memset(view, 0, sizeof *view);
}

/* ---- The target
 * ----------------------------------------------------------------------------------- */

void vk_target_destroy(VulkanRenderer *renderer, VulkanTarget *target)
{
    const VulkanContext *context = &renderer->context;
    context->api.vkDestroyFramebuffer(context->device, target->framebuffer, NULL);
    context->api.vkDestroyImageView(context->device, target->view, NULL);
    context->api.vkDestroyImage(context->device, target->image, NULL);
    vk_memory_free(&renderer->memory, &target->range);
    memset(target, 0, sizeof *target);
}

static VkResult target_create(VulkanRenderer *renderer, int32_t width_px, int32_t height_px,
                              VulkanTarget *out)
{
    const VulkanContext *context = &renderer->context;
    const struct VolkDeviceTable *api = &context->api;
    memset(out, 0, sizeof *out);
    out->width_px = width_px;
    out->height_px = height_px;
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = target_format,
                              .extent = {(uint32_t)width_px, (uint32_t)height_px, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .tiling = VK_IMAGE_TILING_OPTIMAL,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                       VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                              .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkResult result = fault_here("vk.target")
                          ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                          : api->vkCreateImage(context->device, &info, NULL, &out->image);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    api->vkGetImageMemoryRequirements(context->device, out->image, &needs);
    result = vk_memory_allocate(&renderer->memory, &needs, VULKAN_MEMORY_IMAGE, &out->range);
    if (result == VK_SUCCESS)
        result = api->vkBindImageMemory(context->device, out->image, out->range.memory,
                                        out->range.offset);
    if (result != VK_SUCCESS)
        return result;
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = out->image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = target_format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    result = api->vkCreateImageView(context->device, &view, NULL, &out->view);
    if (result != VK_SUCCESS)
        return result;
    VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                           .renderPass = renderer->view.clear_pass,
                                           .attachmentCount = 1,
                                           .pAttachments = &out->view,
                                           .width = (uint32_t)width_px,
                                           .height = (uint32_t)height_px,
                                           .layers = 1};
    vk_name_object(context, VK_OBJECT_TYPE_IMAGE, (uint64_t)out->image, "frame");
    return api->vkCreateFramebuffer(context->device, &framebuffer, NULL, &out->framebuffer);
}

bool vk_view_begin(VulkanRenderer *renderer, int32_t width_px, int32_t height_px,
                   uint32_t clear_rgba)
{
    VulkanView *view = &renderer->view;
    if (view->target.width_px != width_px || view->target.height_px != height_px) {
        VulkanTarget next;
        VkResult result = target_create(renderer, width_px, height_px, &next);
        if (result != VK_SUCCESS) {
            vk_target_destroy(renderer, &next);
            return vk_failed(renderer, "renderer_frame_begin", "the frame's target", result);
        }
        if (view->target.image != VK_NULL_HANDLE)
            vk_defer(renderer, &(VulkanGarbage){.value = vk_value_now(renderer),
                                                .kind = VULKAN_GARBAGE_TARGET,
                                                .of.target = view->target});
        view->target = next;
    }
    for (int i = 0; i < 4; i++)
        view->clear_colour.float32[i] = (float)((clear_rgba >> (8 * i)) & 0xffu) / 255.0f;
    view->is_cleared = false;
    return true;
}

bool vk_view_pass_open(VulkanRenderer *renderer)
{
    VulkanView *view = &renderer->view;
    VkCommandBuffer commands = vk_batch(renderer);
    if (commands == VK_NULL_HANDLE)
        return false;
    if (view->in_pass)
        return true;
    VkClearValue clear = {.color = view->clear_colour};
    VkExtent2D extent = {(uint32_t)view->target.width_px, (uint32_t)view->target.height_px};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .renderPass =
                                       view->is_cleared ? view->load_pass : view->clear_pass,
                                   .framebuffer = view->target.framebuffer,
                                   .renderArea = {.extent = extent},
                                   .clearValueCount = view->is_cleared ? 0 : 1,
                                   .pClearValues = &clear};
    renderer->context.api.vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    view->in_pass = true;
    view->is_cleared = true;
    return true;
}

void vk_view_pass_close(VulkanRenderer *renderer)
{
    const VulkanFrames *frames = &renderer->frames;
    if (!renderer->view.in_pass)
        return;
    renderer->view.in_pass = false;
    renderer->context.api.vkCmdEndRenderPass(frames->batches[frames->batch_index].commands);
}

/* ---- Draws
 * ----------------------------------------------------------------------------------------- */

static void state_bind(VulkanRenderer *renderer, VkCommandBuffer commands, const UiDraw *draw,
                       uint64_t vertices_at, uint64_t indices_at)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    const VulkanView *view = &renderer->view;
    float width = (float)view->target.width_px, height = (float)view->target.height_px;
    VkViewport viewport = {0.0f, 0.0f, width, height, 0.0f, 1.0f};
    ViewPush push = {.scale = {2.0f * draw->scale / width, 2.0f * draw->scale / height}};
    push.offset[0] = -1.0f - draw->origin_x * push.scale[0];
    push.offset[1] = -1.0f - draw->origin_y * push.scale[1];
    api->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->pipeline);
    api->vkCmdSetViewport(commands, 0, 1, &viewport);
    api->vkCmdPushConstants(commands, view->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push,
                            &push);
    api->vkCmdBindVertexBuffers(commands, 0, 1, &renderer->staging.buffer, &vertices_at);
    api->vkCmdBindIndexBuffer(commands, renderer->staging.buffer, indices_at, VK_INDEX_TYPE_UINT16);
}

static void commands_draw(VulkanRenderer *renderer, VkCommandBuffer commands, const UiList *list)
{
    const struct VolkDeviceTable *api = &renderer->context.api;
    VkDescriptorSet bound = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < list->command_count; i++) {
        const UiCommand *command = &list->commands[i];
        int32_t width = command->clip_x1 - command->clip_x0;
        int32_t height = command->clip_y1 - command->clip_y0;
        if (command->index_count == 0 || width <= 0 || height <= 0)
            continue;
        VkDescriptorSet set =
            ((VulkanTexture *)command->texture)->current->sampled[command->filter];
        if (set != bound)
            api->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                         renderer->view.layout, 0, 1, &set, 0, NULL);
        bound = set;
        VkRect2D scissor = {{command->clip_x0, command->clip_y0},
                            {(uint32_t)width, (uint32_t)height}};
        api->vkCmdSetScissor(commands, 0, 1, &scissor);
        api->vkCmdDrawIndexed(commands, command->index_count, 1, command->index_first,
                              (int32_t)command->vertex_first, 0);
    }
}

static VulkanImage *list_image(const UiList *list, uint32_t command)
{
    return ((VulkanTexture *)list->commands[command].texture)->current;
}

static bool list_draw(VulkanRenderer *renderer, const UiDraw *draw, const UiList *list)
{
    uint64_t vertex_bytes = (uint64_t)list->vertex_count * sizeof(UiVertex);
    uint64_t index_bytes = (uint64_t)list->index_count * sizeof(uint16_t);
    uint64_t at = 0;
    if (index_bytes == 0 || vertex_bytes == 0 || list->command_count == 0)
        return true;
    /* May submit what was recorded before, so it comes first. */
    uint8_t *mapped = vk_staging_take(renderer, vertex_bytes + index_bytes, &at);
    if (mapped == NULL) {
        if (!renderer->base.lost)
            log_item(RENDERER_REFUSED, "renderer_draw_ui", "a draw list of more than 64 MiB",
                     "a smaller one");
        return false;
    }
    memcpy(mapped, list->vertices, vertex_bytes);
    memcpy(mapped + vertex_bytes, list->indices, index_bytes);
    for (uint32_t i = 0; i < list->command_count; i++)
        if (!vk_access(renderer, list_image(list, i), false))
            return false;
    /* All of them are read behind the last barrier that one of them asked for. */
    for (uint32_t i = 0; i < list->command_count; i++)
        list_image(list, i)->read_serial = renderer->frames.barrier_serial;
    if (!vk_view_pass_open(renderer))
        return false;
    VkCommandBuffer commands = vk_batch(renderer);
    state_bind(renderer, commands, draw, at, at + vertex_bytes);
    commands_draw(renderer, commands, list);
    return true;
}

bool vk_draw_ui(Renderer *base, const UiDraw *draw)
{
    VulkanRenderer *renderer = vk_renderer(base);
    for (uint32_t i = 0; i < draw->list_count; i++)
        if (!list_draw(renderer, draw, &draw->lists[i]))
            return false;
    return true;
}
