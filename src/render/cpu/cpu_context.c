/* The cpu renderer's life and its table. Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "kernels/kernels.h"
#include "render/cpu/cpu.h"

enum { TEXTURE_MAX_PX = 16384 };

static void cpu_destroy(Renderer *renderer)
{
    CpuRenderer *self = cpu_renderer(renderer);
    free(self->scratch);
    free(self->frame);
    free(self);
}

static const char *cpu_path(const Renderer *renderer)
{
    (void)renderer;
    return "CPU reference (no GPU)";
}

static const RendererImpl cpu_impl = {
    .name = "cpu",
    .destroy = cpu_destroy,
    .texture_create = cpu_texture_create,
    .texture_update = cpu_texture_update,
    .texture_write = cpu_texture_write,
    .texture_read = cpu_texture_read,
    .texture_destroy = cpu_texture_destroy,
    .shared_attach = cpu_shared_attach,
    .shared_detach = cpu_shared_detach,
    .frame_begin = cpu_frame_begin,
    .draw_ui = cpu_draw_ui,
    .frame_end = cpu_frame_end,
    .frame_read = cpu_frame_read,
    .path = cpu_path,
};

CpuRenderer *cpu_renderer(Renderer *renderer)
{
    return renderer->impl == &cpu_impl ? (CpuRenderer *)renderer : NULL;
}

/* The processor's name as the kernel prints it; "CPU" where it does not. */
static void processor_name(char *name, size_t name_bytes)
{
    snprintf(name, name_bytes, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(name, name_bytes, "%s", colon + 1 + strspn(colon + 1, " "));
        name[strcspn(name, "\n")] = '\0';
        break;
    }
    fclose(file);
}

Renderer *cpu_renderer_create(const RendererParams *params, char *error, size_t error_bytes)
{
    if (fault_here("cpu.context")) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    CpuRenderer *self = calloc(1, sizeof *self);
    if (self == NULL) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    if (params->window != NULL) {
        self->window = *params->window;
        if (!self->window.open(self->window.user, RENDERER_WINDOW_PIXELS, error, error_bytes)) {
            free(self);
            return NULL;
        }
    }
    self->base.impl = &cpu_impl;
    RendererInfo *info = &self->base.info;
    info->name = cpu_impl.name;
    processor_name(info->device_name, sizeof info->device_name);
    snprintf(info->api_version, sizeof info->api_version, "%s kernels", kernel_best()->name);
    info->software = true;
    info->caps = RENDERER_CAP_SHARED_IN_PLACE;
    info->max_texture_px = TEXTURE_MAX_PX;
    info->max_source_bytes = (uint64_t)TEXTURE_MAX_PX * TEXTURE_MAX_PX * 4u;
    info->interop_index = -1;
    return &self->base;
}
