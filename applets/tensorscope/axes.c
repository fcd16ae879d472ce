/* tensorscope/axes.c: choosing and moving axes. Pure; any thread. */
#include "axes.h"

#include <string.h>

void axes_default(const SourceArray *array, AxisChoice *axes)
{
    int rank = (int)array->rank;
    memset(axes, 0, sizeof(*axes));
    axes->row = axes->col = axes->colour = ARRAY_AXIS_NONE;
    bool colour = array->last_axis_is_colour;
    if (!colour && rank >= 3 && array->dtype == ARRAY_DTYPE_U8) {
        uint64_t last = array->shape[rank - 1];
        colour = last == 3 || last == 4;
    }
    if (colour && rank >= 1 && axes_can_be_colour(array, rank - 1)) {
        axes->colour = rank - 1;
        rank--;
    }
    if (rank >= 1) {
        axes->col = rank - 1;
    }
    if (rank >= 2) {
        axes->row = rank - 2;
    }
}

bool axes_can_be_colour(const SourceArray *array, int axis)
{
    if (axis < 0 || axis >= (int)array->rank || array->shape[axis] < 1 || array->shape[axis] > 4) {
        return false;
    }
    switch (array->dtype) {
    case ARRAY_DTYPE_U8:
    case ARRAY_DTYPE_U16:
    case ARRAY_DTYPE_F16:
    case ARRAY_DTYPE_BF16:
    case ARRAY_DTYPE_F32:
    case ARRAY_DTYPE_F64:
        return true;
    default:
        return false;
    }
}

/* Puts `axis` into `role`; whoever had it takes what stood there, where that is allowed. */
static bool assign(const SourceArray *array, AxisChoice *axes, int *role, int axis)
{
    int *roles[3] = {&axes->row, &axes->col, &axes->colour};
    int before = *role;
    if (axis != ARRAY_AXIS_NONE && (axis < 0 || axis >= (int)array->rank)) {
        return false;
    }
    if (axis == before) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (axis != ARRAY_AXIS_NONE && roles[i] != role && *roles[i] == axis) {
            bool may = roles[i] != &axes->colour || axes_can_be_colour(array, before);
            *roles[i] = may ? before : ARRAY_AXIS_NONE;
        }
    }
    *role = axis;
    if (axes->tiled &&
        (axes->tile == axes->row || axes->tile == axes->col || axes->tile == axes->colour)) {
        axes->tiled = false;
    }
    return true;
}

bool axes_set_row(const SourceArray *array, AxisChoice *axes, int axis)
{
    return assign(array, axes, &axes->row, axis);
}

bool axes_set_col(const SourceArray *array, AxisChoice *axes, int axis)
{
    return assign(array, axes, &axes->col, axis);
}

bool axes_set_colour(const SourceArray *array, AxisChoice *axes, int axis)
{
    if (axis != ARRAY_AXIS_NONE && !axes_can_be_colour(array, axis)) {
        return false;
    }
    return assign(array, axes, &axes->colour, axis);
}

bool axes_set_tile(const SourceArray *array, AxisChoice *axes, int axis)
{
    if (axis == ARRAY_AXIS_NONE) {
        bool changed = axes->tiled;
        axes->tiled = false;
        return changed;
    }
    if (axis < 0 || axis >= (int)array->rank || axis == axes->row || axis == axes->col ||
        axis == axes->colour || (axes->tiled && axes->tile == axis)) {
        return false;
    }
    axes->tiled = true;
    axes->tile = axis;
    return true;
}

bool axes_fit(const SourceArray *from, const SourceArray *to, const AxisChoice *axes)
{
    return from->rank == to->rank &&
           (axes->colour == ARRAY_AXIS_NONE || axes_can_be_colour(to, axes->colour));
}

void axes_clamp(const SourceArray *array, AxisChoice *axes)
{
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        uint64_t last = array->shape[axis] > 0 ? array->shape[axis] - 1 : 0;
        axes->index[axis] = axes->index[axis] < last ? axes->index[axis] : last;
    }
}

uint32_t axes_sliders(const SourceArray *array, const AxisChoice *axes, int out[ARRAY_RANK_MAX])
{
    uint32_t count = 0;
    for (int axis = 0; axis < (int)array->rank; axis++) {
        bool has_role = axis == axes->row || axis == axes->col || axis == axes->colour;
        if (!has_role && array->shape[axis] > 1) {
            out[count++] = axis;
        }
    }
    return count;
}

bool axes_step(const SourceArray *array, AxisChoice *axes, int axis, int64_t delta)
{
    if (axis < 0 || axis >= (int)array->rank || array->shape[axis] == 0) {
        return false;
    }
    uint64_t last = array->shape[axis] - 1;
    uint64_t before = axes->index[axis];
    uint64_t by = delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
    uint64_t after;
    if (delta < 0) {
        after = before > by ? before - by : 0;
    } else {
        after = by < last - (before < last ? before : last) ? before + by : last;
    }
    axes->index[axis] = after;
    return after != before;
}

static uint64_t extent(const SourceArray *array, int axis)
{
    return axis == ARRAY_AXIS_NONE ? 1 : array->shape[axis];
}

uint64_t axes_rows(const SourceArray *array, const AxisChoice *axes)
{
    return extent(array, axes->row);
}

uint64_t axes_cols(const SourceArray *array, const AxisChoice *axes)
{
    return extent(array, axes->col);
}

void axes_to_slice(const AxisChoice *axes, ArraySlice *slice)
{
    memset(slice, 0, sizeof(*slice));
    slice->row_axis = axes->row;
    slice->col_axis = axes->col;
    slice->channel_axis = axes->colour;
    memcpy(slice->index, axes->index, sizeof(slice->index));
}

bool axes_runs_down(const AxisChoice *axes, bool fortran_order)
{
    return axes->row != ARRAY_AXIS_NONE && axes->col != ARRAY_AXIS_NONE &&
           (axes->row < axes->col) == fortran_order;
}

void axes_element(uint32_t rank, const AxisChoice *axes, uint64_t row, uint64_t col,
                  uint64_t channel, uint64_t index[ARRAY_RANK_MAX])
{
    for (int axis = 0; axis < (int)rank; axis++) {
        index[axis] = axis == axes->row      ? row
                      : axis == axes->col    ? col
                      : axis == axes->colour ? channel
                                             : axes->index[axis];
    }
}
