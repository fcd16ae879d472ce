/* tensorscope/slice_data.h: a rectangle of an array as the picture needs it: the stored elements,
 * what is drawn of them, and their statistics.
 *
 * Made by the loader's thread, then handed over; read only from then on, by whoever holds it. */
#ifndef TENSORSCOPE_SLICE_DATA_H
#define TENSORSCOPE_SLICE_DATA_H

#include <stdatomic.h>

#include "axes.h"
#include "formats/array_values.h"
#include "summary.h"
#include "tiles.h"

/* Rows row_begin, row_begin + row_step, ... of the picture, row_count of them; columns too. */
typedef struct SliceArea {
    uint64_t row_begin, row_count, row_step;
    uint64_t col_begin, col_count, col_step;
} SliceArea;

typedef struct SliceRequest {
    uint32_t array;
    AxisChoice axes;
    SliceArea area;
    uint32_t tile_count; /* 0: one slice; else so many along axes.tile, from its index on */
    bool summarise;      /* statistics and histogram too */
} SliceRequest;

typedef struct SliceData {
    SliceRequest request;
    ArrayDtype dtype;
    uint64_t rows, cols, channels; /* of the samples of one slice; channels 0: not colour */
    Tiles tiles;                   /* count 0: one slice */
    uint8_t *stored; /* (tiles x) rows x cols x (channels or 1) elements, host byte order */
    /* What is drawn, height x width: the slice, or all tiles with NaN or zeros in the gaps. */
    uint64_t height, width;
    float *values;   /* binary32; NULL for colour */
    uint8_t *colour; /* x channels; NULL when not colour */
    ArrayStats stats;
    Summary summary;
    atomic_uint holders; /* beside the first; the last one frees */
} SliceData;

/* The whole picture in at most side_max samples a side and cells_max in all; steps above 1 where it
 * is larger. */
SliceArea slice_area_overview(uint64_t rows, uint64_t cols, uint64_t side_max, uint64_t cells_max);

/* Reads and converts, asking control->cancel before every system call and at least once in a MiB or
 * in 64 Ki elements of computing. NULL and `error` when it cannot. */
SliceData *slice_data_read(ArrayFile *file, const SliceRequest *request,
                           const ArrayControl *control, ArrayError *error);
/* One holder more; any thread that is a holder. Returns `data`. */
SliceData *slice_data_hold(SliceData *data);
/* One holder less, the last frees; NULLs, accepts NULL. Any thread. */
void slice_data_destroy(SliceData **data);

/* The stored element of a cell of the picture, or NULL where it was not read. */
const void *slice_data_element(const SliceData *data, uint64_t row, uint64_t col, uint64_t channel);

/* The same in tiles, by sample. */
const void *slice_data_tile_element(const SliceData *data, uint32_t tile, uint64_t row,
                                    uint64_t col, uint64_t channel);

/* Turns `count` elements into colour bytes: u8 as they are, u16 to the nearest of v / 257, floats
 * from [0, 1] to the nearest of v * 255, clamped, NaN 0. False for other types. */
bool slice_to_colour(ArrayDtype dtype, const void *elements, uint8_t *out, size_t count);

#endif
