/* tensorscope/axes.h: which axes of an array run down, across and through colour, and where the
 * other axes stand. Pure; any thread. */
#ifndef TENSORSCOPE_AXES_H
#define TENSORSCOPE_AXES_H

#include "source.h"

typedef struct AxisChoice {
    int row, col, colour;           /* an axis, or ARRAY_AXIS_NONE; never the same axis twice */
    uint64_t index[ARRAY_RANK_MAX]; /* of the other axes */
    bool tiled;                     /* slices along `tile` stand beside each other, */
    int tile;                       /* from index[tile] on; an axis without a role */
} AxisChoice;

/* The last two axes as rows and columns. The last three with colour where the file says so, and for
 * u8 whose last axis has 3 or 4 entries and stands behind two axes. A vector runs across. */
void axes_default(const SourceArray *array, AxisChoice *axes);

/* Whether an axis can be colour: 1 to 4 entries of u8, u16, f16, bf16, f32 or f64. */
bool axes_can_be_colour(const SourceArray *array, int axis);

/* Give an axis a role, ARRAY_AXIS_NONE: none. An axis that had another role swaps with the one that
 * loses its place. Answer whether anything changed; nothing does for what is not allowed. */
bool axes_set_row(const SourceArray *array, AxisChoice *axes, int axis);
bool axes_set_col(const SourceArray *array, AxisChoice *axes, int axis);
bool axes_set_colour(const SourceArray *array, AxisChoice *axes, int axis);

/* Slices along an axis side by side; NONE: one slice. Refused for an axis that has a role. */
bool axes_set_tile(const SourceArray *array, AxisChoice *axes, int axis);

/* Whether a choice made for one array means the same in another: as many axes, and an axis that is
 * colour can be. axes_clamp then moves what stands past an end to the last entry. */
bool axes_fit(const SourceArray *from, const SourceArray *to, const AxisChoice *axes);
void axes_clamp(const SourceArray *array, AxisChoice *axes);

/* The axes that have no role and more than one entry, outermost first; answers how many. */
uint32_t axes_sliders(const SourceArray *array, const AxisChoice *axes, int out[ARRAY_RANK_MAX]);
/* Moves one axis by `delta`, stopping at its ends. Answers whether it moved. */
bool axes_step(const SourceArray *array, AxisChoice *axes, int axis, int64_t delta);

/* Rows and columns of the picture; 1 where an axis is none. */
uint64_t axes_rows(const SourceArray *array, const AxisChoice *axes);
uint64_t axes_cols(const SourceArray *array, const AxisChoice *axes);
/* The same as a slice of formats/, whole and unstepped. */
void axes_to_slice(const AxisChoice *axes, ArraySlice *slice);
/* Whether a column of the picture lies closer together in the file than a row does. */
bool axes_runs_down(const AxisChoice *axes, bool fortran_order);
/* The element at a row, column and (colour) channel of the picture, one number an axis. */
void axes_element(uint32_t rank, const AxisChoice *axes, uint64_t row, uint64_t col,
                  uint64_t channel, uint64_t index[ARRAY_RANK_MAX]);

#endif
