/* render/renderer_front.h: what the files of the front door (renderer.c, renderer_draw.c,
 * renderer_show.c, renderer_live.c) share. Included by those and tests. Frame thread. */
#ifndef CALIPER_RENDER_RENDERER_FRONT_H
#define CALIPER_RENDER_RENDERER_FRONT_H

#include "render/renderer_impl.h"

/* Logs one refusal; `given_format` is printf-like. Always false. */
__attribute__((format(printf, 3, 4))) bool renderer_refuse(const char *call, const char *wanted,
                                                           const char *given_format, ...);

/* renderer_live.c: the list of live textures. */
void renderer_live_add(Renderer *renderer, RendererTexture *texture, const char *label);
void renderer_live_remove(RendererTexture *texture);
/* With CALIPER_LEAKS=1: one line for each texture that is still there. */
void renderer_live_report(const Renderer *renderer);

/* renderer_show.c: what is shown is no frame of renderer_frame_show; and the end of its copy. */
void renderer_kept_forget(Renderer *renderer);
void renderer_kept_free(Renderer *renderer);

#endif
