/* The ordered list of backends, and the choice of the first one that starts. The list is the probe
 * order, the words of --renderer and the help text at once. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "render/renderer_impl.h"

const RendererBackend renderer_backends[] = {
    {"vulkan", "Vulkan 1.2 or newer; shares textures with a CUDA device", vk_renderer_create},
    {"gl", "OpenGL 3.3 core, staged by the CPU", gl_renderer_create},
    {"cpu", "the reference: plain memory, no GPU", cpu_renderer_create},
    {NULL, NULL, NULL},
};

static int backend_find(const char *name)
{
    for (int i = 0; renderer_backends[i].name != NULL; i++) {
        if (strcmp(renderer_backends[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* "vulkan, gl, cpu" from entry `first` on. */
static const char *backend_names(int first, char *text, size_t text_bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = first; renderer_backends[i].name != NULL && used < text_bytes; i++) {
        int wrote = snprintf(text + used, text_bytes - used, "%s%s", i > first ? ", " : "",
                             renderer_backends[i].name);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return text[0] != '\0' ? text : "none";
}

Renderer *renderer_choose(const RendererParams *params, const char *wanted,
                          const char *skip_through)
{
    char names[128];
    char error[256];
    int first = 0;
    if (params == NULL || params->struct_size < sizeof(RendererParams)) {
        log_item(RENDERER_REFUSED, "renderer_choose",
                 params == NULL ? "no params" : "params of another size", "RENDERER_PARAMS()");
        return NULL;
    }
    bool asked = wanted != NULL && wanted[0] != '\0';
    if (asked) {
        first = backend_find(wanted);
        if (first < 0) {
            log_item(RENDERER_UNKNOWN, wanted, backend_names(0, names, sizeof names));
            return NULL;
        }
    }
    int asked_index = asked ? first : -1;
    char asked_error[sizeof error] = "";
    if (skip_through != NULL && skip_through[0] != '\0') {
        int after = backend_find(skip_through) + 1;
        if (after == 0) {
            log_item(RENDERER_UNKNOWN, skip_through, backend_names(0, names, sizeof names));
            return NULL;
        }
        first = after > first ? after : first;
    }
    for (int i = first; renderer_backends[i].name != NULL; i++) {
        const RendererBackend *backend = &renderer_backends[i];
        snprintf(error, sizeof error, "no reason given");
        Renderer *renderer = backend->create(params, error, sizeof error);
        if (renderer != NULL) {
            if (asked_error[0] != '\0')
                log_item(RENDERER_WANTED_FAILED, wanted, asked_error, backend->name);
            fprintf(stderr, "[renderer] %s\n", backend->name);
            log_item(RENDERER_STARTED, backend->name, renderer->info.device_name,
                     renderer->info.api_version);
            return renderer;
        }
        if (i == asked_index)
            memcpy(asked_error, error, sizeof error);
        else
            log_item(RENDERER_PROBE_FAILED, backend->name, error);
    }
    if (asked_error[0] != '\0')
        log_item(RENDERER_WANTED_FAILED, wanted, asked_error, "none");
    log_item(RENDERER_NONE, backend_names(first, names, sizeof names));
    return NULL;
}
