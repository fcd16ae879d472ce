/* Stands for the OpenGL renderer where the build leaves it out (CALIPER_GL=OFF). Frame thread. */
#include <stdio.h>

#include "render/renderer_impl.h"

Renderer *gl_renderer_create(const RendererParams *params, char *error, size_t error_bytes)
{
    (void)params;
    snprintf(error, error_bytes, "this build was made without OpenGL");
    return NULL;
}
