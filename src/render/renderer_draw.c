/* The front door, second half: frames and draw lists. Every range of a draw list is checked against
 * its list, the indices themselves too, so that no backend reads outside. Frame thread. */
#include <math.h>
#include <stdio.h>

#include "core/trace.h"
#include "render/renderer_front.h"

static const char draw_call[] = "renderer_draw_ui";

bool renderer_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px,
                          uint32_t clear_rgba)
{
    static const char call[] = "renderer_frame_begin";
    if (renderer == NULL)
        return renderer_refuse(call, "a renderer", "nothing");
    if (renderer->lost)
        return false;
    if (renderer->in_frame)
        return renderer_refuse(call, "renderer_frame_end first", "a frame that has begun");
    int32_t limit = renderer->info.max_texture_px;
    if (width_px < 1 || height_px < 1 || width_px > limit || height_px > limit) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "1 to %d pixels a side", (int)limit);
        return renderer_refuse(call, wanted, "%d x %d", (int)width_px, (int)height_px);
    }
    renderer->has_frame = false;
    renderer_kept_forget(renderer);
    uint64_t started_ns = trace_begin();
    bool begun = renderer->impl->frame_begin(renderer, width_px, height_px, clear_rgba);
    trace_span(started_ns, &(TraceEvent){.category = "render", .name = "frame_begin"});
    if (!begun)
        return false;
    renderer->frame_width_px = width_px;
    renderer->frame_height_px = height_px;
    renderer->in_frame = true;
    return true;
}

/* The largest index of a command, so that one comparison serves all of them. */
static uint32_t index_max(const uint16_t *indices, uint32_t count)
{
    uint16_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = indices[i] > largest ? indices[i] : largest;
    return largest;
}

static bool command_is_legal(const Renderer *renderer, const UiList *list, const UiCommand *command)
{
    if (command->texture == NULL || command->texture->owner != renderer)
        return renderer_refuse(draw_call, "a texture of this renderer", "%s",
                               command->texture == NULL ? "a command without a texture"
                                                        : "another renderer's texture");
    if (!command->texture->has_pixels)
        return renderer_refuse(draw_call, "an update before", "a texture without pixels");
    if (command->filter != UI_FILTER_LINEAR && command->filter != UI_FILTER_NEAREST)
        return renderer_refuse(draw_call, "a UiFilter", "filter %d", (int)command->filter);
    if (command->clip_x0 < 0 || command->clip_y0 < 0 || command->clip_x1 < command->clip_x0 ||
        command->clip_y1 < command->clip_y0 || command->clip_x1 > renderer->frame_width_px ||
        command->clip_y1 > renderer->frame_height_px)
        return renderer_refuse(draw_call, "a rectangle inside the frame", "clip %d,%d to %d,%d",
                               (int)command->clip_x0, (int)command->clip_y0, (int)command->clip_x1,
                               (int)command->clip_y1);
    if (command->index_first > list->index_count ||
        command->index_count > list->index_count - command->index_first ||
        command->index_count % 3u != 0)
        return renderer_refuse(draw_call, "whole triangles inside the list",
                               "%u indices from %u of %u", (unsigned)command->index_count,
                               (unsigned)command->index_first, (unsigned)list->index_count);
    if (command->index_count == 0)
        return true;
    uint32_t largest = index_max(list->indices + command->index_first, command->index_count);
    if ((uint64_t)command->vertex_first + largest >= list->vertex_count)
        return renderer_refuse(draw_call, "vertices inside the list", "index %u from %u of %u",
                               (unsigned)largest, (unsigned)command->vertex_first,
                               (unsigned)list->vertex_count);
    return true;
}

static bool list_is_legal(const Renderer *renderer, const UiList *list)
{
    if ((list->vertices == NULL && list->vertex_count > 0) ||
        (list->indices == NULL && list->index_count > 0) ||
        (list->commands == NULL && list->command_count > 0))
        return renderer_refuse(draw_call, "arrays for all counts", "a list with a NULL array");
    for (uint32_t i = 0; i < list->command_count; i++) {
        if (!command_is_legal(renderer, list, &list->commands[i]))
            return false;
    }
    return true;
}

bool renderer_draw_ui(Renderer *renderer, const UiDraw *draw)
{
    if (renderer == NULL || draw == NULL)
        return renderer_refuse(draw_call, "both", "no %s", renderer == NULL ? "renderer" : "draw");
    if (renderer->lost)
        return false;
    if (!renderer->in_frame)
        return renderer_refuse(draw_call, "renderer_frame_begin first", "no frame");
    if (!(draw->scale > 0.0f) || !isfinite(draw->scale) || !isfinite(draw->origin_x) ||
        !isfinite(draw->origin_y))
        return renderer_refuse(draw_call, "finite, scale above 0", "scale %g, origin %g,%g",
                               (double)draw->scale, (double)draw->origin_x, (double)draw->origin_y);
    if (draw->lists == NULL && draw->list_count > 0)
        return renderer_refuse(draw_call, "an array of lists", "NULL");
    for (uint32_t i = 0; i < draw->list_count; i++) {
        if (!list_is_legal(renderer, &draw->lists[i]))
            return false;
    }
    uint64_t started_ns = trace_begin();
    bool drawn = renderer->impl->draw_ui(renderer, draw);
    trace_span(started_ns, &(TraceEvent){.category = "render", .name = "draw_ui"});
    return drawn;
}

static void trace_frame_end(uint64_t started_ns, const Renderer *renderer)
{
    RendererCounters frame;
    renderer_frame_counters(renderer, &frame);
    trace_span(started_ns, &(TraceEvent){.category = "render",
                                         .name = "frame_end",
                                         .kind = renderer_path(renderer),
                                         .values = {{"updates", frame.updates},
                                                    {"passes", frame.passes},
                                                    {"waits", frame.waits},
                                                    {"hand_overs", frame.hand_overs},
                                                    {"coalesced", frame.coalesced}},
                                         .value_count = 5});
    trace_counter(&(TraceEvent){
        .category = "render",
        .name = "bytes a frame",
        .values = {{"staged", frame.staged_bytes}, {"device_copied", frame.device_copied_bytes}},
        .value_count = 2});
}

bool renderer_frame_end(Renderer *renderer)
{
    static const char call[] = "renderer_frame_end";
    if (renderer == NULL)
        return renderer_refuse(call, "a renderer", "nothing");
    if (renderer->lost) {
        renderer->in_frame = false;
        return false;
    }
    if (!renderer->in_frame)
        return renderer_refuse(call, "renderer_frame_begin first", "no frame");
    renderer->in_frame = false;
    renderer->has_frame = true;
    uint64_t started_ns = trace_begin();
    bool shown = renderer->impl->frame_end(renderer);
    renderer->frame_ended[0] = renderer->frame_ended[1];
    renderer->frame_ended[1] = renderer->counters;
    if (started_ns != 0)
        trace_frame_end(started_ns, renderer);
    return shown;
}

bool renderer_frame_read(Renderer *renderer, uint8_t *dst, uint64_t dst_bytes)
{
    static const char call[] = "renderer_frame_read";
    if (renderer == NULL)
        return renderer_refuse(call, "a renderer", "nothing");
    if (renderer->in_frame || !renderer->has_frame)
        return renderer_refuse(call, "a frame that has ended", "%s",
                               renderer->in_frame ? "a frame that is still open" : "no frame");
    uint64_t frame_bytes =
        (uint64_t)renderer->frame_width_px * (uint64_t)renderer->frame_height_px * 4u;
    if (dst == NULL || dst_bytes < frame_bytes) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "at least %llu", (unsigned long long)frame_bytes);
        return renderer_refuse(call, wanted, "%llu bytes%s", (unsigned long long)dst_bytes,
                               dst == NULL ? " at NULL" : "");
    }
    return renderer->impl->frame_read(renderer, dst);
}
