/* Stands for the Vulkan renderer where the build leaves it out (CALIPER_VULKAN=OFF). Frame thread.
 */
#include <stdio.h>

#include "render/renderer_impl.h"

Renderer *vk_renderer_create(const RendererParams *params, char *error, size_t error_bytes)
{
    (void)params;
    snprintf(error, error_bytes, "this build was made without Vulkan");
    return NULL;
}
