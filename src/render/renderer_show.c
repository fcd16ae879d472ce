/* The front door, third part: a frame in one piece, drawn only where it differs from the one that
 * is shown. What is compared is bytes, with a copy that grows and is kept: a frame that differs
 * costs a comparison up to the first difference and one copy, one that does not costs the device
 * nothing at all. Frame thread. */
#include <stdlib.h>
#include <string.h>

#include "render/renderer_front.h"

/* No padding: their bytes are their values. */
_Static_assert(sizeof(UiVertex) == 4 * sizeof(float) + sizeof(uint32_t), "no padding");
_Static_assert(sizeof(UiCommand) == 4 * sizeof(int32_t) + sizeof(RendererTexture *) +
                                        sizeof(UiFilter) + 3 * sizeof(uint32_t),
               "no padding");

struct RendererKept {
    bool is_valid;
    uint64_t changes; /* the renderer's, when it was drawn */
    uint8_t *bytes;
    uint64_t size_bytes, capacity_bytes;
};

/* One walk serves counting (no buffer), comparing and copying. */
typedef struct Walk {
    uint8_t *buffer; /* NULL: count */
    uint64_t at, size_bytes;
    bool compares, differs;
} Walk;

static void visit(Walk *walk, const void *bytes, uint64_t count)
{
    if (walk->differs || count == 0)
        return;
    if (bytes == NULL) { /* which renderer_draw_ui refuses */
        walk->differs = true;
        return;
    }
    if (walk->buffer != NULL && walk->compares)
        walk->differs = count > walk->size_bytes - walk->at ||
                        memcmp(walk->buffer + walk->at, bytes, count) != 0;
    else if (walk->buffer != NULL)
        memcpy(walk->buffer + walk->at, bytes, count);
    walk->at += count;
}

static void visit_list(Walk *walk, const UiList *list)
{
    const uint32_t counts[] = {list->vertex_count, list->index_count, list->command_count};
    visit(walk, counts, sizeof counts);
    visit(walk, list->commands, (uint64_t)list->command_count * sizeof *list->commands);
    visit(walk, list->vertices, (uint64_t)list->vertex_count * sizeof *list->vertices);
    visit(walk, list->indices, (uint64_t)list->index_count * sizeof *list->indices);
}

static void visit_frame(Walk *walk, const RendererFrame *frame)
{
    const uint32_t head[] = {(uint32_t)frame->width_px, (uint32_t)frame->height_px,
                             frame->clear_rgba, frame->draw_count};
    visit(walk, head, sizeof head);
    for (uint32_t i = 0; i < frame->draw_count; i++) {
        const UiDraw *draw = &frame->draws[i];
        const float place[] = {draw->origin_x, draw->origin_y, draw->scale};
        visit(walk, place, sizeof place);
        visit(walk, &draw->list_count, sizeof draw->list_count);
        walk->differs = walk->differs || (draw->lists == NULL && draw->list_count > 0);
        for (uint32_t k = 0; !walk->differs && k < draw->list_count; k++)
            visit_list(walk, &draw->lists[k]);
    }
}

static bool is_shown(const Renderer *renderer, const RendererFrame *frame)
{
    const RendererKept *kept = renderer->kept;
    if (kept == NULL || !kept->is_valid || kept->changes != renderer->changes)
        return false;
    Walk walk = {.buffer = kept->bytes, .size_bytes = kept->size_bytes, .compares = true};
    visit_frame(&walk, frame);
    return !walk.differs && walk.at == kept->size_bytes;
}

/* Without memory for it the next frame is drawn, whatever it is. */
static void keep(Renderer *renderer, const RendererFrame *frame)
{
    if (renderer->kept == NULL)
        renderer->kept = calloc(1, sizeof *renderer->kept);
    RendererKept *kept = renderer->kept;
    if (kept == NULL)
        return;
    Walk walk = {.buffer = NULL};
    visit_frame(&walk, frame);
    if (walk.at > kept->capacity_bytes) {
        uint64_t capacity_bytes = walk.at + walk.at / 2;
        free(kept->bytes);
        kept->bytes = malloc(capacity_bytes);
        kept->capacity_bytes = kept->bytes != NULL ? capacity_bytes : 0;
        if (kept->bytes == NULL)
            return;
    }
    kept->size_bytes = walk.at;
    walk = (Walk){.buffer = kept->bytes};
    visit_frame(&walk, frame);
    kept->changes = renderer->changes;
    kept->is_valid = true;
}

void renderer_kept_forget(Renderer *renderer)
{
    if (renderer->kept != NULL)
        renderer->kept->is_valid = false;
}

void renderer_kept_free(Renderer *renderer)
{
    if (renderer->kept != NULL)
        free(renderer->kept->bytes);
    free(renderer->kept);
    renderer->kept = NULL;
}

static bool draw_all(Renderer *renderer, const RendererFrame *frame)
{
    if (!renderer_frame_begin(renderer, frame->width_px, frame->height_px, frame->clear_rgba))
        return false;
    bool drawn = true;
    for (uint32_t i = 0; drawn && i < frame->draw_count; i++)
        drawn = renderer_draw_ui(renderer, &frame->draws[i]);
    return renderer_frame_end(renderer) && drawn;
}

RendererShown renderer_frame_show(Renderer *renderer, const RendererFrame *frame)
{
    static const char call[] = "renderer_frame_show";
    if (renderer == NULL || frame == NULL || (frame->draws == NULL && frame->draw_count > 0)) {
        renderer_refuse(call, "a renderer, a frame and its draws", "no %s",
                        renderer == NULL ? "renderer"
                        : frame == NULL  ? "frame"
                                         : "draws");
        return RENDERER_SHOWN_NOT;
    }
    if (renderer->lost)
        return RENDERER_SHOWN_NOT;
    if (renderer->in_frame) {
        renderer_refuse(call, "renderer_frame_end first", "a frame that has begun");
        return RENDERER_SHOWN_NOT;
    }
    if (!frame->always && is_shown(renderer, frame)) {
        if (renderer->impl->rest != NULL)
            renderer->impl->rest(renderer);
        return renderer->lost ? RENDERER_SHOWN_NOT : RENDERER_SHOWN_ALREADY;
    }
    if (!draw_all(renderer, frame))
        return RENDERER_SHOWN_NOT;
    keep(renderer, frame);
    return RENDERER_SHOWN_DRAWN;
}
