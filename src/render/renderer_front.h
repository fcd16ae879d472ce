/* render/renderer_front.h: what the two halves of the front door (renderer.c, renderer_draw.c)
 * share. Included by those two only. Frame thread. */
#ifndef CALIPER_RENDER_RENDERER_FRONT_H
#define CALIPER_RENDER_RENDERER_FRONT_H

#include "render/renderer_impl.h"

/* Logs one refusal; `given_format` is printf-like. Always false. */
__attribute__((format(printf, 3, 4))) bool renderer_refuse(const char *call, const char *wanted,
                                                           const char *given_format, ...);

#endif
