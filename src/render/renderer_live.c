/* The front door's list of live textures, for CALIPER_LEAKS: what is still there when a renderer is
 * destroyed, by label. Frame thread. */
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "render/renderer_front.h"

void renderer_live_add(Renderer *renderer, RendererTexture *texture, const char *label)
{
    snprintf(texture->label, sizeof texture->label, "%s", label != NULL ? label : "");
    texture->live_next = renderer->live_first;
    texture->live_at = &renderer->live_first;
    if (texture->live_next != NULL)
        texture->live_next->live_at = &texture->live_next;
    renderer->live_first = texture;
}

void renderer_live_remove(RendererTexture *texture)
{
    *texture->live_at = texture->live_next;
    if (texture->live_next != NULL)
        texture->live_next->live_at = texture->live_at;
}

void renderer_live_report(const Renderer *renderer)
{
    const char *wanted = getenv("CALIPER_LEAKS");
    if (wanted == NULL || wanted[0] != '1')
        return;
    for (const RendererTexture *texture = renderer->live_first; texture != NULL;
         texture = texture->live_next)
        log_item(RENDERER_LEAK, renderer->info.name, texture->label, (int)texture->width_px,
                 (int)texture->height_px, (unsigned long long)texture->counters.updates);
    if (renderer->counters.allocations > 0)
        log_item(RENDERER_LEAK_ALLOCATIONS, renderer->info.name,
                 (unsigned long long)renderer->counters.allocations);
}
