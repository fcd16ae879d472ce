/* formats/array_slice.c: cuts slices and single elements out of an array.
 *
 * The source is walked in the order it is stored, through a window of 256 KiB: wanted bytes that
 * lie at most 4 KiB apart come with one read, others one by one. Thread rule: as ArrayFile. */
#include "formats/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 256 * 1024,
    GAP_BYTES = 4096, /* a page: the disk reads it anyway */
    SLICE_AXES = 3
};

/* One axis of the cut: how many, and how far apart in the array and in the picture. */
typedef struct CutAxis {
    uint64_t count;
    uint64_t source_stride;
    uint64_t out_stride;
} CutAxis;

typedef struct Cut {
    CutAxis axis[SLICE_AXES]; /* planned: largest source stride first */
    uint64_t base;            /* offset of the first element in the array's data */
    size_t element_bytes;
    ArraySliceShape shape;
} Cut;

typedef struct Window {
    ArrayFile *file;
    uint32_t array;
    uint64_t begin, end; /* what file->window holds, as offsets in the data */
    uint64_t read_until; /* reads may go on to here */
    bool read_ahead;
    const ArrayControl *control;   /* may be NULL */
    uint64_t cut_begin, cut_bytes; /* what the walk goes over, for the share that is done */
} Window;

void array_slice_default(const ArrayInfo *info, ArraySlice *slice)
{
    memset(slice, 0, sizeof *slice);
    int rank = (int)info->rank;
    bool colour = info->last_axis_is_colour && rank >= 3;
    slice->channel_axis = colour ? rank - 1 : ARRAY_AXIS_NONE;
    int last = colour ? rank - 2 : rank - 1;
    slice->col_axis = last >= 0 ? last : ARRAY_AXIS_NONE;
    slice->row_axis = last >= 1 ? last - 1 : ARRAY_AXIS_NONE;
}

static bool check_axes(const ArrayFile *file, const ArrayInfo *info, const ArraySlice *slice,
                       ArrayError *error)
{
    const int axes[SLICE_AXES] = {slice->row_axis, slice->col_axis, slice->channel_axis};
    static const char *const ROLES[SLICE_AXES] = {"row", "column", "colour"};
    for (int i = 0; i < SLICE_AXES; i++) {
        if (axes[i] < ARRAY_AXIS_NONE || axes[i] >= (int)info->rank) {
            return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                                   "slice of %s has %s axis %d, wanted -1 to %d", info->name,
                                   ROLES[i], axes[i], (int)info->rank - 1);
        }
        for (int j = 0; j < i; j++) {
            if (axes[i] != ARRAY_AXIS_NONE && axes[i] == axes[j]) {
                return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                                       "slice of %s has axis %d as %s and as %s, wanted two",
                                       info->name, axes[i], ROLES[j], ROLES[i]);
            }
        }
    }
    return true;
}

/* Resolves begin, count and step of an axis; `count` 0 is to the end. */
static bool resolve_range(const ArrayFile *file, const ArrayInfo *info, int axis, uint64_t begin,
                          uint64_t count, uint64_t step, uint64_t *resolved, ArrayError *error)
{
    uint64_t extent = axis == ARRAY_AXIS_NONE ? 1 : info->shape[axis];
    uint64_t stride = step == 0 ? 1 : step;
    if (begin > extent) {
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                               "slice of %s begins at %" PRIu64 " on axis %d of %" PRIu64,
                               info->name, begin, axis, extent);
    }
    uint64_t left = extent - begin;
    uint64_t possible = left == 0 ? 0 : (left - 1) / stride + 1;
    *resolved = count == 0 ? possible : count;
    if (*resolved > possible) {
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                               "slice of %s wants %" PRIu64 " from %" PRIu64 " by %" PRIu64
                               " on axis %d of %" PRIu64,
                               info->name, count, begin, stride, axis, extent);
    }
    return true;
}

static bool check_fixed(const ArrayFile *file, const ArrayInfo *info, const ArraySlice *slice,
                        ArrayError *error)
{
    for (int axis = 0; axis < (int)info->rank; axis++) {
        bool free_axis =
            axis == slice->row_axis || axis == slice->col_axis || axis == slice->channel_axis;
        bool empty = info->element_count == 0 && slice->index[axis] == 0;
        if (!free_axis && !empty && slice->index[axis] >= info->shape[axis]) {
            return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                                   "slice of %s has index %" PRIu64 " on axis %d of %" PRIu64,
                                   info->name, slice->index[axis], axis, info->shape[axis]);
        }
    }
    return true;
}

/* An empty array gives an empty slice whatever axis is the empty one. */
static bool slice_shape(const ArrayFile *file, const ArrayInfo *info, const ArraySlice *slice,
                        ArraySliceShape *shape, ArrayError *error)
{
    if (!check_axes(file, info, slice, error) || !check_fixed(file, info, slice, error) ||
        !resolve_range(file, info, slice->row_axis, slice->row_begin, slice->row_count,
                       slice->row_step, &shape->rows, error) ||
        !resolve_range(file, info, slice->col_axis, slice->col_begin, slice->col_count,
                       slice->col_step, &shape->cols, error))
        return false;
    shape->channels = slice->channel_axis == ARRAY_AXIS_NONE ? 1 : info->shape[slice->channel_axis];
    shape->size_bytes = 0; /* the product below is at most the array's own size */
    if (info->element_count != 0) {
        shape->size_bytes =
            shape->rows * shape->cols * shape->channels * array_dtype_size_bytes(info->dtype);
    }
    return true;
}

bool array_file_slice_shape(const ArrayFile *file, uint32_t array, const ArraySlice *slice,
                            ArraySliceShape *shape, ArrayError *error)
{
    const ArrayEntry *entry = reader_entry(file, array, error);
    return entry != NULL && slice_shape(file, &entry->info, slice, shape, error);
}

static uint64_t axis_stride(const ArrayEntry *entry, int axis)
{
    return axis == ARRAY_AXIS_NONE ? 0 : entry->stride_bytes[axis];
}

static CutAxis make_axis(const ArrayEntry *entry, int axis, uint64_t count, uint64_t step,
                         uint64_t out_stride)
{
    uint64_t stride = count > 1 ? axis_stride(entry, axis) * (step == 0 ? 1 : step) : 0;
    return (CutAxis){.count = count, .source_stride = stride, .out_stride = out_stride};
}

/* Largest source stride first, so that the walk never goes back; axes that lie against each other
 * in the source and in the picture become one. */
static void plan(Cut *cut)
{
    CutAxis *axis = cut->axis;
    for (int i = 1; i < SLICE_AXES; i++) {
        for (int j = i; j > 0 && axis[j].source_stride > axis[j - 1].source_stride; j--) {
            CutAxis moved = axis[j];
            axis[j] = axis[j - 1];
            axis[j - 1] = moved;
        }
    }
    CutAxis kept[SLICE_AXES];
    int used = 0;
    for (int i = 0; i < SLICE_AXES; i++) {
        if (axis[i].count > 1)
            kept[used++] = axis[i];
    }
    for (int i = used - 1; i > 0; i--) {
        CutAxis *outer = &kept[i - 1], inner = kept[i];
        if (outer->source_stride != inner.count * inner.source_stride ||
            outer->out_stride != inner.count * inner.out_stride)
            continue;
        *outer = (CutAxis){outer->count * inner.count, inner.source_stride, inner.out_stride};
        memmove(&kept[i], &kept[i + 1], (size_t)(used - i - 1) * sizeof kept[0]);
        used--;
    }
    for (int i = 0; i < SLICE_AXES; i++) {
        int from = i - (SLICE_AXES - used);
        axis[i] = from >= 0 ? kept[from] : (CutAxis){1, 0, 0};
    }
}

static void make_cut(const ArrayEntry *entry, const ArraySlice *slice, Cut *cut)
{
    cut->element_bytes = array_dtype_size_bytes(entry->info.dtype);
    cut->base = axis_stride(entry, slice->row_axis) * slice->row_begin +
                axis_stride(entry, slice->col_axis) * slice->col_begin;
    for (int axis = 0; axis < (int)entry->info.rank; axis++) {
        if (axis != slice->row_axis && axis != slice->col_axis && axis != slice->channel_axis)
            cut->base += entry->stride_bytes[axis] * slice->index[axis];
    }
    uint64_t pixel = cut->shape.channels * cut->element_bytes;
    cut->axis[0] = make_axis(entry, slice->row_axis, cut->shape.rows, slice->row_step,
                             cut->shape.cols * pixel);
    cut->axis[1] = make_axis(entry, slice->col_axis, cut->shape.cols, slice->col_step, pixel);
    cut->axis[2] =
        make_axis(entry, slice->channel_axis, cut->shape.channels, 1, cut->element_bytes);
    plan(cut);
}

static void copy_elements(uint8_t *out, uint64_t out_stride, const uint8_t *from,
                          uint64_t from_stride, uint64_t count, size_t element_bytes)
{
    for (uint64_t i = 0; i < count; i++, out += out_stride, from += from_stride) {
        switch (element_bytes) {
        case 1:
            *out = *from;
            break;
        case 2:
            memcpy(out, from, 2);
            break;
        case 4:
            memcpy(out, from, 4);
            break;
        default:
            memcpy(out, from, 8);
            break;
        }
    }
}

/* One read of the walk, which goes over the source front to back. */
static bool walk_read(const Window *window, uint64_t offset, void *out, size_t size_bytes,
                      ArrayError *error)
{
    const ArrayControl *control = window->control;
    if (reader_is_cancelled(window->file, control, error) ||
        !reader_read_data(window->file, window->array, offset, out, size_bytes, error))
        return false;
    if (control != NULL && control->progress != NULL) {
        double done = (double)(offset + size_bytes - window->cut_begin);
        double share = done / (double)window->cut_bytes;
        control->progress(control->user, share < 1.0 ? share : 1.0);
    }
    return true;
}

/* The bytes at `offset` of the data, in the window; NULL on a read error. */
static const uint8_t *window_fetch(Window *window, uint64_t offset, size_t size_bytes,
                                   ArrayError *error)
{
    if (offset < window->begin || offset + size_bytes > window->end) {
        size_t want = size_bytes;
        if (window->read_ahead && offset < window->read_until) {
            uint64_t useful = window->read_until - offset;
            want = useful < WINDOW_BYTES ? (size_t)useful : (size_t)WINDOW_BYTES;
            if (want < size_bytes)
                want = size_bytes;
        }
        window->begin = window->end = 0;
        if (!walk_read(window, offset, window->file->window, want, error))
            return NULL;
        window->begin = offset;
        window->end = offset + want;
    }
    return window->file->window + (offset - window->begin);
}

/* A line that lies in the source as it is wanted, past the window. */
static bool read_packed(const Window *window, uint64_t offset, uint8_t *out, uint64_t size_bytes,
                        ArrayError *error)
{
    for (uint64_t done = 0; done < size_bytes; done += READER_BLOCK_BYTES) {
        uint64_t left = size_bytes - done;
        size_t step = left < READER_BLOCK_BYTES ? (size_t)left : (size_t)READER_BLOCK_BYTES;
        if (!walk_read(window, offset + done, out + done, step, error))
            return false;
    }
    return true;
}

static bool read_line(Window *window, const Cut *cut, uint64_t offset, uint8_t *out,
                      ArrayError *error)
{
    const CutAxis *line = &cut->axis[2];
    size_t element_bytes = cut->element_bytes;
    bool packed = line->source_stride == element_bytes && line->out_stride == element_bytes;
    if (packed && line->count * element_bytes >= WINDOW_BYTES / 2)
        return read_packed(window, offset, out, line->count * element_bytes, error);
    uint64_t stride = line->source_stride != 0 ? line->source_stride : element_bytes;
    uint64_t at_once = stride > GAP_BYTES ? 1 : (WINDOW_BYTES - element_bytes) / stride + 1;
    for (uint64_t done = 0; done < line->count;) {
        uint64_t step = line->count - done < at_once ? line->count - done : at_once;
        size_t span = (size_t)((step - 1) * stride + element_bytes);
        const uint8_t *from = window_fetch(window, offset + done * stride, span, error);
        if (from == NULL)
            return false;
        uint8_t *to = out + done * line->out_stride;
        if (packed)
            memcpy(to, from, span);
        else
            copy_elements(to, line->out_stride, from, stride, step, element_bytes);
        done += step;
    }
    return true;
}

static uint64_t axis_span(const CutAxis *axis)
{
    return (axis->count - 1) * axis->source_stride;
}

static bool read_cut(ArrayFile *file, uint32_t array, const Cut *cut, uint8_t *out,
                     const ArrayControl *control, ArrayError *error)
{
    if (file->window == NULL)
        file->window = malloc(WINDOW_BYTES);
    if (file->window == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory for the reading window");
    }
    const CutAxis *axis = cut->axis;
    uint64_t line_bytes = axis_span(&axis[2]) + cut->element_bytes;
    uint64_t block_bytes = axis_span(&axis[1]) + line_bytes;
    bool dense_line = axis[2].count <= 1 || axis[2].source_stride <= GAP_BYTES;
    bool dense_block =
        dense_line && (axis[1].count <= 1 || axis[1].source_stride <= line_bytes + GAP_BYTES);
    bool dense_all =
        dense_block && (axis[0].count <= 1 || axis[0].source_stride <= block_bytes + GAP_BYTES);
    Window window = {.file = file,
                     .array = array,
                     .read_ahead = dense_block,
                     .control = control,
                     .cut_begin = cut->base,
                     .cut_bytes = axis_span(&axis[0]) + block_bytes};
    for (uint64_t i = 0; i < axis[0].count; i++) {
        uint64_t block = cut->base + i * axis[0].source_stride;
        window.read_until =
            dense_all ? cut->base + axis_span(&axis[0]) + block_bytes : block + block_bytes;
        for (uint64_t j = 0; j < axis[1].count; j++) {
            uint8_t *to = out + i * axis[0].out_stride + j * axis[1].out_stride;
            if (!read_line(&window, cut, block + j * axis[1].source_stride, to, error))
                return false;
        }
    }
    return true;
}

/* Into host order, asking `control` once a MiB. */
static bool normalise(const ArrayFile *file, const ArrayInfo *info, uint8_t *elements,
                      uint64_t count, const ArrayControl *control, ArrayError *error)
{
    const size_t element_bytes = array_dtype_size_bytes(info->dtype);
    const uint64_t block = READER_BLOCK_BYTES / element_bytes;
    for (uint64_t done = 0; done < count; done += block) {
        if (reader_is_cancelled(file, control, error))
            return false;
        reader_normalise(info, elements + done * element_bytes,
                         (size_t)(count - done < block ? count - done : block));
    }
    return true;
}

bool array_file_read_slice(ArrayFile *file, uint32_t array, const ArraySlice *slice, void *out,
                           size_t out_bytes, ArrayError *error)
{
    return array_file_read_slice_told(file, array, slice, out, out_bytes, NULL, error);
}

bool array_file_read_slice_told(ArrayFile *file, uint32_t array, const ArraySlice *slice, void *out,
                                size_t out_bytes, const ArrayControl *control, ArrayError *error)
{
    Cut cut = {0};
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL || !slice_shape(file, &entry->info, slice, &cut.shape, error))
        return false;
    if (cut.shape.size_bytes > out_bytes) {
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                               "slice of %s needs %" PRIu64 " bytes, given %zu", entry->info.name,
                               cut.shape.size_bytes, out_bytes);
    }
    if (cut.shape.size_bytes == 0)
        return true;
    make_cut(entry, slice, &cut);
    return read_cut(file, array, &cut, out, control, error) &&
           normalise(file, &entry->info, out, cut.shape.size_bytes / cut.element_bytes, control,
                     error);
}

bool array_file_read_element(ArrayFile *file, uint32_t array, const uint64_t *index, void *out,
                             ArrayError *error)
{
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL)
        return false;
    uint64_t offset = 0;
    for (uint32_t axis = 0; axis < entry->info.rank; axis++) {
        if (index[axis] >= entry->info.shape[axis]) {
            return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                                   "element of %s has index %" PRIu64 " on axis %u of %" PRIu64,
                                   entry->info.name, index[axis], axis, entry->info.shape[axis]);
        }
        offset += index[axis] * entry->stride_bytes[axis];
    }
    if (!reader_read_data(file, array, offset, out, array_dtype_size_bytes(entry->info.dtype),
                          error))
        return false;
    reader_normalise(&entry->info, out, 1);
    return true;
}

bool array_file_read_stored(ArrayFile *file, uint32_t array, uint64_t first, uint64_t count,
                            void *out, size_t out_bytes, ArrayError *error)
{
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL)
        return false;
    size_t element_bytes = array_dtype_size_bytes(entry->info.dtype);
    uint64_t total = entry->info.element_count;
    if (first > total || count > total - first || count > out_bytes / element_bytes) {
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                               "asked for %" PRIu64 " elements from %" PRIu64 " of %" PRIu64
                               " into %zu bytes",
                               count, first, total, out_bytes);
    }
    if (count == 0)
        return true;
    return reader_read_data(file, array, first * element_bytes, out, (size_t)count * element_bytes,
                            error) &&
           normalise(file, &entry->info, out, count, NULL, error);
}
