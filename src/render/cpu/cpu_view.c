/* The draw list on the cpu: vertices to fixed point, pairs of triangles that make an axis-aligned
 * rectangle to cpu_rect.c, the others to cpu_triangle.c. Frame thread. */
#include <math.h>

#include "render/cpu/cpu.h"
#include "render/cpu/cpu_raster.h"

/* 2^20 pixels from the frame's corner: products of two positions then fit 64 bits. A triangle that
 * reaches further, or is not a number, is left out. */
static const float position_limit_px = 1048576.0f;

typedef struct DrawState {
    RasterTarget target;
    RasterImage image;
    const UiDraw *draw;
    const UiVertex *vertices; /* of the command */
} DrawState;

static bool vertex_place(const DrawState *state, uint16_t index, RasterVertex *out)
{
    const UiVertex *vertex = &state->vertices[index];
    float x = (vertex->x - state->draw->origin_x) * state->draw->scale;
    float y = (vertex->y - state->draw->origin_y) * state->draw->scale;
    if (!(fabsf(x) <= position_limit_px) || !(fabsf(y) <= position_limit_px))
        return false;
    out->x = (int32_t)lrintf(x * RASTER_SUBPIXEL);
    out->y = (int32_t)lrintf(y * RASTER_SUBPIXEL);
    out->u = vertex->u;
    out->v = vertex->v;
    out->rgba = vertex->rgba;
    return true;
}

/* Corners 0, 1, 2, 3 in turn, as two triangles 0 1 2 and 0 2 3, sides along the axes, one colour,
 * texture coordinates along the same axes. */
static bool is_rect(const RasterVertex q[4])
{
    return q[0].x == q[3].x && q[1].x == q[2].x && q[0].y == q[1].y && q[3].y == q[2].y &&
           q[0].u == q[3].u && q[1].u == q[2].u && q[0].v == q[1].v && q[3].v == q[2].v &&
           q[0].rgba == q[1].rgba && q[0].rgba == q[2].rgba && q[0].rgba == q[3].rgba;
}

static void draw_rect(const DrawState *state, const RasterVertex *corner,
                      const RasterVertex *opposite)
{
    RasterVertex low = *corner;
    RasterVertex high = *opposite;
    if (low.x > high.x) {
        low.x = opposite->x;
        low.u = opposite->u;
        high.x = corner->x;
        high.u = corner->u;
    }
    if (low.y > high.y) {
        low.y = opposite->y;
        low.v = opposite->v;
        high.y = corner->y;
        high.v = corner->v;
    }
    raster_rect(&state->target, &state->image, &low, &high);
}

static void draw_command(DrawState *state, const uint16_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i + 3 <= count; i += 3) {
        RasterVertex q[4];
        bool placed = true;
        for (uint32_t k = 0; k < 3; k++)
            placed &= vertex_place(state, indices[i + k], &q[k]);
        if (!placed)
            continue;
        if (i + 6 <= count && indices[i + 3] == indices[i] && indices[i + 4] == indices[i + 2] &&
            vertex_place(state, indices[i + 5], &q[3]) && is_rect(q)) {
            draw_rect(state, &q[0], &q[2]);
            i += 3;
        } else {
            raster_triangle(&state->target, &state->image, q);
        }
    }
}

bool cpu_draw_ui(Renderer *renderer, const UiDraw *draw)
{
    CpuRenderer *self = cpu_renderer(renderer);
    DrawState state = {.draw = draw};
    state.target.pixels = self->frame;
    state.target.stride_px = self->width_px;
    state.target.scratch = self->scratch;
    for (uint32_t i = 0; i < draw->list_count; i++) {
        const UiList *list = &draw->lists[i];
        for (uint32_t k = 0; k < list->command_count; k++) {
            const UiCommand *command = &list->commands[k];
            if (command->index_count == 0 || command->clip_x0 == command->clip_x1 ||
                command->clip_y0 == command->clip_y1)
                continue;
            state.target.x0 = command->clip_x0;
            state.target.y0 = command->clip_y0;
            state.target.x1 = command->clip_x1;
            state.target.y1 = command->clip_y1;
            state.image.pixels = cpu_texture(command->texture)->pixels;
            state.image.width_px = command->texture->width_px;
            state.image.height_px = command->texture->height_px;
            state.image.filter = command->filter;
            state.vertices = list->vertices + command->vertex_first;
            draw_command(&state, list->indices + command->index_first, command->index_count);
        }
    }
    return true;
}
