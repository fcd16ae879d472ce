/* tensorscope/slice_data.c: reading and converting a rectangle. Loader's thread. */
#include "slice_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONVERT_COUNT = 4096,
    PIECE_CELLS = 1 << 16 /* computed between two looks at cancel */
};

static uint64_t steps_for(uint64_t extent, uint64_t most)
{
    return extent <= most ? 1 : (extent + most - 1) / most;
}

SliceArea slice_area_overview(uint64_t rows, uint64_t cols, uint64_t side_max, uint64_t cells_max)
{
    SliceArea area = {0, rows, steps_for(rows, side_max), 0, cols, steps_for(cols, side_max)};
    area.row_count = (rows + area.row_step - 1) / area.row_step;
    area.col_count = (cols + area.col_step - 1) / area.col_step;
    while (area.row_count > 1 && area.col_count > cells_max / area.row_count) {
        uint64_t *step = area.row_count >= area.col_count ? &area.row_step : &area.col_step;
        *step += 1 + *step / 16; /* by shares, so that huge extents end soon as well */
        area.row_count = (rows + area.row_step - 1) / area.row_step;
        area.col_count = (cols + area.col_step - 1) / area.col_step;
    }
    return area;
}

bool slice_to_colour(ArrayDtype dtype, const void *elements, uint8_t *out, size_t count)
{
    const uint8_t *bytes = elements;
    if (dtype == ARRAY_DTYPE_U8) {
        memcpy(out, bytes, count);
        return true;
    }
    if (dtype == ARRAY_DTYPE_U16) {
        for (size_t i = 0; i < count; i++) {
            uint16_t value;
            memcpy(&value, bytes + 2 * i, sizeof(value));
            out[i] = (uint8_t)((value + 128u) / 257u);
        }
        return true;
    }
    if (dtype != ARRAY_DTYPE_F16 && dtype != ARRAY_DTYPE_BF16 && dtype != ARRAY_DTYPE_F32 &&
        dtype != ARRAY_DTYPE_F64) {
        return false;
    }
    float block[CONVERT_COUNT];
    size_t size = array_dtype_size_bytes(dtype);
    for (size_t done = 0; done < count; done += CONVERT_COUNT) {
        size_t now = count - done < CONVERT_COUNT ? count - done : CONVERT_COUNT;
        array_convert_to_f32(dtype, bytes + done * size, block, now);
        for (size_t i = 0; i < now; i++) {
            float value = block[i] * 255.0f + 0.5f;
            out[done + i] = value >= 255.0f ? 255 : value > 0.0f ? (uint8_t)value : 0;
        }
    }
    return true;
}

typedef struct Progress {
    const ArrayControl *control;
    double from, share; /* of the whole work */
} Progress;

static bool is_cancelled(void *user)
{
    const ArrayControl *control = user;
    return control != NULL && control->cancel != NULL && control->cancel(control->user);
}

static void tell(const ArrayControl *control, double done)
{
    if (control != NULL && control->progress != NULL) {
        control->progress(control->user, done);
    }
}

static bool part_cancelled(void *user)
{
    return is_cancelled((void *)(uintptr_t)((Progress *)user)->control);
}

static void part_progress(void *user, double done)
{
    Progress *progress = user;
    tell(progress->control, progress->from + progress->share * done);
}

static bool cancelled_error(ArrayError *error)
{
    if (error != NULL) {
        error->fault = ARRAY_FAULT_CANCELLED;
        strcpy(error->message, "cancelled");
    }
    return false;
}

static bool memory_error(ArrayError *error)
{
    if (error != NULL) {
        error->fault = ARRAY_FAULT_MEMORY;
        strcpy(error->message, "there is not enough memory for this picture");
    }
    return false;
}

static size_t slice_bytes(const SliceData *data)
{
    uint64_t channels = data->channels > 0 ? data->channels : 1;
    return (size_t)(data->rows * data->cols * channels * array_dtype_size_bytes(data->dtype));
}

static uint32_t slice_count(const SliceData *data)
{
    return data->tiles.count > 0 ? data->tiles.count : 1;
}

static bool read_slices(ArrayFile *file, SliceData *data, ArraySlice slice,
                        const ArrayControl *control, double from, ArrayError *error)
{
    uint32_t count = slice_count(data);
    double share = (0.9 - from) / count;
    for (uint32_t i = 0; i < count; i++) {
        if (data->tiles.count > 0) {
            slice.index[data->request.axes.tile] =
                data->request.axes.index[data->request.axes.tile] + i;
        }
        Progress part = {control, from + share * i, share};
        const ArrayControl own = {part_cancelled, part_progress, &part};
        if (!array_file_read_slice_told(file, data->request.array, &slice,
                                        data->stored + i * slice_bytes(data), slice_bytes(data),
                                        &own, error)) {
            return false;
        }
    }
    return true;
}

/* One row of one slice into its place in the picture. */
static void place_row(SliceData *data, uint32_t tile, uint64_t row)
{
    uint64_t channels = data->channels > 0 ? data->channels : 1;
    uint64_t at_row = row, at_col = 0;
    const uint8_t *from =
        data->stored + tile * slice_bytes(data) + row * (slice_bytes(data) / (size_t)data->rows);
    if (data->tiles.count > 0) {
        tiles_corner(&data->tiles, tile, &at_row, &at_col);
        at_row += row;
    }
    size_t place = (size_t)((at_row * data->width + at_col) * channels);
    if (data->colour != NULL) {
        slice_to_colour(data->dtype, from, data->colour + place, (size_t)(data->cols * channels));
    } else {
        array_convert_to_f32(data->dtype, from, data->values + place, (size_t)data->cols);
    }
}

/* The gaps between the tiles have no value. */
static bool clear_gaps(SliceData *data, size_t count, const ArrayControl *control,
                       ArrayError *error)
{
    for (size_t done = 0; done < count; done += PIECE_CELLS) {
        size_t end = count - done < PIECE_CELLS ? count : done + PIECE_CELLS;
        for (size_t i = done; i < end; i++) {
            data->values[i] = NAN;
        }
        if (is_cancelled((void *)(uintptr_t)control)) {
            return cancelled_error(error);
        }
    }
    return true;
}

/* What is drawn, from what is stored. */
static bool make_picture(SliceData *data, const ArrayControl *control, ArrayError *error)
{
    size_t count = (size_t)(data->width * data->height);
    if (data->channels > 0) {
        data->colour = calloc(count, (size_t)data->channels);
    } else {
        data->values = malloc(count * sizeof(*data->values));
    }
    if (data->colour == NULL && data->values == NULL) {
        return memory_error(error);
    }
    if (data->tiles.count > 0 && data->values != NULL && !clear_gaps(data, count, control, error)) {
        return false;
    }
    for (uint32_t tile = 0; tile < slice_count(data); tile++) {
        for (uint64_t row = 0; row < data->rows; row++) {
            if (is_cancelled((void *)(uintptr_t)control)) {
                return cancelled_error(error);
            }
            place_row(data, tile, row);
        }
    }
    return true;
}

static bool is_whole(ArrayDtype dtype)
{
    return dtype != ARRAY_DTYPE_F64 && dtype != ARRAY_DTYPE_F32 && dtype != ARRAY_DTYPE_F16 &&
           dtype != ARRAY_DTYPE_BF16;
}

/* The statistics of the stored elements, and their values in `scratch` unless that is NULL. */
static bool count_stored(SliceData *data, size_t count, float *scratch, const ArrayControl *control)
{
    const size_t element = array_dtype_size_bytes(data->dtype);
    for (size_t done = 0; done < count; done += PIECE_CELLS) {
        size_t now = count - done < PIECE_CELLS ? count - done : PIECE_CELLS;
        if (is_cancelled((void *)(uintptr_t)control)) {
            return false;
        }
        array_stats_add(&data->stats, data->dtype, data->stored + done * element, now);
        if (scratch != NULL) {
            array_convert_to_f32(data->dtype, data->stored + done * element, scratch + done, now);
        }
    }
    return true;
}

static bool summarise(SliceData *data, size_t count, const ArrayControl *control, ArrayError *error)
{
    float *scratch = NULL;
    const float *values = data->tiles.count > 0 ? NULL : data->values; /* without the gaps */
    if (values == NULL) {
        scratch = malloc(count * sizeof(*scratch));
        if (scratch == NULL) {
            return memory_error(error);
        }
        values = scratch;
    }
    bool done = count_stored(data, count, scratch, control) &&
                summary_make(values, count, is_whole(data->dtype), is_cancelled,
                             (void *)(uintptr_t)control, &data->summary);
    free(scratch);
    if (!done) {
        return is_cancelled((void *)(uintptr_t)control) ? cancelled_error(error)
                                                        : memory_error(error);
    }
    return true;
}

static bool fill(ArrayFile *file, SliceData *data, const ArraySlice *slice, size_t size_bytes,
                 const ArrayControl *control, ArrayError *error)
{
    double from = 0.0;
    size_t count = size_bytes / array_dtype_size_bytes(data->dtype);
    const ArrayInfo *info = array_file_info(file, data->request.array);
    if (info->compressed) {
        Progress progress = {control, 0.0, 0.6};
        ArrayControl own = {part_cancelled, part_progress, &progress};
        if (!array_file_prepare(file, data->request.array, &own, error)) {
            return false;
        }
        from = 0.6;
    }
    data->stored = malloc(size_bytes);
    if (data->stored == NULL) {
        return memory_error(error);
    }
    if (!read_slices(file, data, *slice, control, from, error) ||
        !make_picture(data, control, error)) {
        return false;
    }
    return !data->request.summarise || summarise(data, count, control, error);
}

SliceData *slice_data_read(ArrayFile *file, const SliceRequest *request,
                           const ArrayControl *control, ArrayError *error)
{
    ArraySlice slice;
    ArraySliceShape shape;
    axes_to_slice(&request->axes, &slice);
    slice.row_begin = request->area.row_begin;
    slice.row_count = request->area.row_count;
    slice.row_step = request->area.row_step;
    slice.col_begin = request->area.col_begin;
    slice.col_count = request->area.col_count;
    slice.col_step = request->area.col_step;
    if (!array_file_slice_shape(file, request->array, &slice, &shape, error)) {
        return NULL;
    }
    SliceData *data = calloc(1, sizeof(*data));
    if (data == NULL) {
        memory_error(error);
        return NULL;
    }
    data->request = *request;
    data->dtype = array_file_info(file, request->array)->dtype;
    data->rows = shape.rows;
    data->cols = shape.cols;
    data->channels = request->axes.colour != ARRAY_AXIS_NONE ? shape.channels : 0;
    data->height = shape.rows;
    data->width = shape.cols;
    if (request->tile_count > 0 && shape.size_bytes > 0) {
        data->tiles.count = request->tile_count;
        data->tiles.rows = shape.rows;
        data->tiles.cols = shape.cols;
        data->tiles.across = tiles_across(request->tile_count, shape.rows, shape.cols);
        data->tiles.gap = tiles_gap(shape.rows, shape.cols);
        data->height = tiles_height(&data->tiles);
        data->width = tiles_width(&data->tiles);
    }
    data->request.area.row_count = shape.rows;
    data->request.area.col_count = shape.cols;
    if (shape.size_bytes == 0) {
        if (error != NULL) {
            error->fault = ARRAY_FAULT_ARGUMENT;
            strcpy(error->message, "this array holds no element: there is nothing to show");
        }
        slice_data_destroy(&data);
        return NULL;
    }
    if (!fill(file, data, &slice, (size_t)shape.size_bytes * slice_count(data), control, error)) {
        slice_data_destroy(&data);
    }
    return data;
}

SliceData *slice_data_hold(SliceData *data)
{
    atomic_fetch_add_explicit(&data->holders, 1, memory_order_relaxed);
    return data;
}

void slice_data_destroy(SliceData **data)
{
    if (data == NULL || *data == NULL) {
        return;
    }
    SliceData *old = *data;
    *data = NULL;
    if (atomic_fetch_sub_explicit(&old->holders, 1, memory_order_acq_rel) != 0) {
        return;
    }
    free(old->colour);
    free(old->values);
    free(old->stored);
    free(old);
}

/* The sample that stands for a row or column, or false. */
static bool sample_of(uint64_t at, uint64_t begin, uint64_t step, uint64_t count, uint64_t *out)
{
    if (at < begin || (at - begin) % step != 0 || (at - begin) / step >= count) {
        return false;
    }
    *out = (at - begin) / step;
    return true;
}

const void *slice_data_element(const SliceData *data, uint64_t row, uint64_t col, uint64_t channel)
{
    const SliceArea *area = &data->request.area;
    uint64_t channels = data->channels > 0 ? data->channels : 1;
    uint64_t at_row, at_col;
    if (channel >= channels ||
        !sample_of(row, area->row_begin, area->row_step, area->row_count, &at_row) ||
        !sample_of(col, area->col_begin, area->col_step, area->col_count, &at_col)) {
        return NULL;
    }
    uint64_t place = (at_row * data->cols + at_col) * channels + channel;
    return data->stored + place * array_dtype_size_bytes(data->dtype);
}

const void *slice_data_tile_element(const SliceData *data, uint32_t tile, uint64_t row,
                                    uint64_t col, uint64_t channel)
{
    uint64_t channels = data->channels > 0 ? data->channels : 1;
    if (tile >= data->tiles.count || row >= data->rows || col >= data->cols ||
        channel >= channels) {
        return NULL;
    }
    uint64_t place = ((tile * data->rows + row) * data->cols + col) * channels + channel;
    return data->stored + place * array_dtype_size_bytes(data->dtype);
}
