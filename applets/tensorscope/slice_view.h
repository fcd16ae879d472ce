/* tensorscope/slice_view.h: the textures of the picture: the whole of it and, where it is stepped,
 * a finer part. The bridge pins colormap, range and shape when a texture is made, so a change of
 * those makes another one; that is counted.
 *
 * Frame thread only. */
#ifndef TENSORSCOPE_SLICE_VIEW_H
#define TENSORSCOPE_SLICE_VIEW_H

#include <caliper/services/tensor_bridge_v1.h>

#include "loader.h"
#include "range.h"
#include "slice_data.h"

typedef struct SliceTexture {
    SliceData *data; /* NULL: nothing there */
    CaliperTextureId texture;
    /* As pinned. */
    uint64_t rows, cols, channels;
    Range range;
    int32_t colormap;
} SliceTexture;

typedef struct SliceView {
    const CaliperTensorBridgeV1 *bridge;
    Loader *loader; /* whose thread frees what is not shown any more; NULL: freed at once */
    SliceTexture whole;
    SliceTexture detail;
    uint64_t recreated_count; /* textures made where one was before */
    bool refused;             /* the bridge refused the last picture */
} SliceView;

/* Takes the data over. Shows it in the texture that is there if shape, range and colormap are the
 * pinned ones, else in a new one. False: the bridge refused; nothing is shown then. */
bool slice_view_set_whole(SliceView *view, SliceData *data, Range range, int32_t colormap);
bool slice_view_set_detail(SliceView *view, SliceData *data);
/* Makes the textures again where the range or colormap differs from the pinned one. */
bool slice_view_set_range(SliceView *view, Range range, int32_t colormap);
void slice_view_drop_detail(SliceView *view);
/* Releases every texture and frees the data. */
void slice_view_clear(SliceView *view);

/* The stored element of a cell, from what was read; NULL when only the file has it. */
const void *slice_view_element(const SliceView *view, uint64_t row, uint64_t col, uint64_t channel);

#endif
