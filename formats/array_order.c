/* formats/array_order.c: an array's elements in row-major order, however they are stored.
 *
 * Thread rule: as ArrayFile. */
#include "formats/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Up to here a Fortran-ordered array is read whole and turned round in memory; above, every piece
 * is gathered from the file, which is slow and bounded. */
static const uint64_t TURN_IN_MEMORY_BYTES = UINT64_C(1) << 30;

struct ArrayOrder {
    ArrayFile *file;
    uint32_t array;
    uint64_t next;                         /* element, in row-major order */
    uint8_t *stored;                       /* NULL: not held */
    uint64_t index[ARRAY_RANK_MAX];        /* of `next` */
    uint64_t stride_elems[ARRAY_RANK_MAX]; /* as stored */
};

ArrayOrder *array_order_begin(ArrayFile *file, uint32_t array, ArrayError *error)
{
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL)
        return NULL;
    const ArrayInfo *info = &entry->info;
    ArrayOrder *order = calloc(1, sizeof *order);
    bool turns = info->fortran_order && info->rank > 1 && info->size_bytes > 0 &&
                 info->size_bytes <= TURN_IN_MEMORY_BYTES;
    if (order != NULL && turns)
        order->stored = malloc((size_t)info->size_bytes);
    if (order == NULL || (turns && order->stored == NULL)) {
        array_error_fill(error, ARRAY_FAULT_MEMORY, file->name, "no memory to read it in order");
        array_order_end(&order);
        return NULL;
    }
    order->file = file;
    order->array = array;
    for (uint32_t axis = 0; axis < info->rank; axis++)
        order->stride_elems[axis] = entry->stride_bytes[axis] / array_dtype_size_bytes(info->dtype);
    if (turns && !array_file_read_stored(file, array, 0, info->element_count, order->stored,
                                         (size_t)info->size_bytes, error))
        array_order_end(&order);
    return order;
}

void array_order_end(ArrayOrder **order)
{
    if (order == NULL || *order == NULL)
        return;
    free((*order)->stored);
    free(*order);
    *order = NULL;
}

/* Moves the index on by `count` elements along the last axis, which has that many left. */
static void advance(ArrayOrder *order, const ArrayInfo *info, uint64_t count)
{
    order->next += count;
    uint32_t axis = info->rank - 1;
    order->index[axis] += count;
    while (order->index[axis] == info->shape[axis] && axis > 0) {
        order->index[axis--] = 0;
        order->index[axis]++;
    }
}

static void copy_line(const ArrayOrder *order, const ArrayInfo *info, uint64_t count, uint8_t *out)
{
    size_t size = array_dtype_size_bytes(info->dtype);
    uint64_t at = 0;
    for (uint32_t axis = 0; axis < info->rank; axis++)
        at += order->index[axis] * order->stride_elems[axis];
    const uint8_t *from = order->stored + at * size;
    uint64_t step = order->stride_elems[info->rank - 1] * size;
    for (uint64_t i = 0; i < count; i++, from += step, out += size)
        memcpy(out, from, size);
}

/* A piece of a line along the last axis, gathered from the file. */
static bool read_line(ArrayOrder *order, const ArrayInfo *info, uint64_t count, uint8_t *out,
                      size_t out_bytes, ArrayError *error)
{
    ArraySlice slice = {.row_axis = ARRAY_AXIS_NONE,
                        .col_axis = (int)info->rank - 1,
                        .channel_axis = ARRAY_AXIS_NONE,
                        .col_count = count};
    memcpy(slice.index, order->index, sizeof slice.index);
    slice.col_begin = order->index[info->rank - 1];
    return array_file_read_slice(order->file, order->array, &slice, out, out_bytes, error);
}

bool array_order_read(ArrayOrder *order, uint64_t count, void *out, size_t out_bytes,
                      ArrayError *error)
{
    const ArrayInfo *info = &order->file->entries[order->array].info;
    size_t size = array_dtype_size_bytes(info->dtype);
    if (count > info->element_count - order->next || count > out_bytes / size)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, order->file->name,
                               "asked for %" PRIu64 " elements from %" PRIu64 " of %" PRIu64
                               " into %zu bytes",
                               count, order->next, info->element_count, out_bytes);
    if (!info->fortran_order || info->rank < 2) {
        order->next += count;
        return array_file_read_stored(order->file, order->array, order->next - count, count, out,
                                      out_bytes, error);
    }
    uint8_t *to = out;
    while (count > 0) {
        uint64_t left = info->shape[info->rank - 1] - order->index[info->rank - 1];
        uint64_t step = count < left ? count : left;
        if (order->stored != NULL)
            copy_line(order, info, step, to);
        else if (!read_line(order, info, step, to, (size_t)step * size, error))
            return false;
        advance(order, info, step);
        to += step * size;
        count -= step;
    }
    return true;
}
