/* formats/array_save.c: begins, fills and ends a file of any format; save_*.c hold what is each
 * format's own. Thread rule: one ArraySave by one thread. */
#include "formats/save_impl.h"

#include "formats/array_values.h"
#include "formats/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Big-endian hosts would have to swap; none is supported, and this says so when one is built. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "array_save writes host order");

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcasecmp(text + length - tail_length, tail) == 0;
}

ArrayFormat array_save_format(const char *path)
{
    static const struct {
        const char *tail;
        ArrayFormat format;
    } TAILS[] = {{".npy", ARRAY_FORMAT_NPY}, {".npz", ARRAY_FORMAT_NPZ},
                 {".idx", ARRAY_FORMAT_IDX}, {".safetensors", ARRAY_FORMAT_SAFETENSORS},
                 {".png", ARRAY_FORMAT_PNG}, {".raw", ARRAY_FORMAT_RAW},
                 {".bin", ARRAY_FORMAT_RAW}, {"-ubyte", ARRAY_FORMAT_IDX}};
    for (size_t i = 0; i < sizeof TAILS / sizeof TAILS[0]; i++) {
        if (ends_with(path, TAILS[i].tail))
            return TAILS[i].format;
    }
    return ARRAY_FORMAT_NONE;
}

/* ---- What fits ---- */

static bool unfit(const char *path, const ArraySaveItem *item, const char *reason,
                  ArrayError *error)
{
    return array_error_set(error, ARRAY_FAULT_UNFIT, path, "%s%s%s, %u axes: %s",
                           item->name[0] != '\0' ? item->name : "",
                           item->name[0] != '\0' ? ": " : "", array_dtype_name(item->dtype),
                           item->rank, reason);
}

static bool fits_idx(const char *path, const ArraySaveItem *item, ArrayError *error)
{
    ArrayDtype d = item->dtype;
    if (d != ARRAY_DTYPE_U8 && d != ARRAY_DTYPE_I8 && d != ARRAY_DTYPE_I16 &&
        d != ARRAY_DTYPE_I32 && d != ARRAY_DTYPE_F32 && d != ARRAY_DTYPE_F64)
        return unfit(path, item, "IDX holds u8, i8, i16, i32, f32 and f64 alone", error);
    for (uint32_t axis = 0; axis < item->rank; axis++) {
        if (item->shape[axis] > UINT32_MAX)
            return unfit(path, item, "an extent in IDX is below 2^32", error);
    }
    return true;
}

static bool fits_png(const char *path, const ArraySaveItem *item, ArrayError *error)
{
    enum { SIDE_MAX = 0x7fffffff / 8 }; /* a row's bytes must be countable */
    if (item->dtype != ARRAY_DTYPE_U8 && item->dtype != ARRAY_DTYPE_U16)
        return unfit(path, item, "PNG holds u8 and u16 alone", error);
    bool grey = item->rank == 2;
    bool colour = item->rank == 3 && item->shape[2] >= 1 && item->shape[2] <= 4;
    if (!grey && !colour)
        return unfit(path, item, "PNG holds rows x columns, or rows x columns x 1 to 4", error);
    if (item->shape[0] < 1 || item->shape[1] < 1 || item->shape[0] > SIDE_MAX ||
        item->shape[1] > SIDE_MAX)
        return unfit(path, item, "a PNG has 1 to 2^28 - 1 pixels a side", error);
    return true;
}

const char *save_name(ArrayFormat format, const ArraySaveItem *item)
{
    return item->name[0] != '\0' ? item->name : format == ARRAY_FORMAT_NPZ ? "arr_0" : "array";
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_differ(const char *path, ArrayFormat format, const ArraySaveItem *items,
                         uint32_t count, ArrayError *error)
{
    const char **names = malloc((count + (size_t)1) * sizeof(const char *));
    if (names == NULL)
        return array_error_set(error, ARRAY_FAULT_MEMORY, path, "no memory for the names");
    for (uint32_t i = 0; i < count; i++)
        names[i] = save_name(format, &items[i]);
    qsort(names, count, sizeof(const char *), compare_names);
    bool good = true;
    for (uint32_t i = 1; good && i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            good = array_error_set(error, ARRAY_FAULT_UNFIT, path,
                                   "two arrays are named '%.80s': one of them would be lost",
                                   names[i]);
    }
    free(names);
    return good;
}

static bool extent_fits(const char *path, const ArraySaveItem *item, ArrayError *error)
{
    uint64_t product = 8;
    if (array_dtype_size_bytes(item->dtype) == 0 || item->rank > ARRAY_RANK_MAX)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, path,
                               "asked to write type %d with %u axes, wanted a known type and at "
                               "most %d",
                               (int)item->dtype, item->rank, ARRAY_RANK_MAX);
    for (uint32_t axis = 0; axis < item->rank; axis++) {
        if (item->shape[axis] == 0)
            return true;
    }
    for (uint32_t axis = 0; axis < item->rank; axis++) {
        if (item->shape[axis] > INT64_MAX / product)
            return array_error_set(error, ARRAY_FAULT_OVERFLOW, path,
                                   "shape of more bytes than a file can have");
        product *= item->shape[axis];
    }
    return true;
}

bool array_save_fits(const char *path, ArrayFormat format, const ArraySaveItem *items,
                     uint32_t count, ArrayError *error)
{
    bool container = format == ARRAY_FORMAT_NPZ || format == ARRAY_FORMAT_SAFETENSORS;
    if (format <= ARRAY_FORMAT_NONE || format >= ARRAY_FORMAT_COUNT)
        return array_error_set(error, ARRAY_FAULT_FORMAT, path,
                               "wanted a name that ends in .npy, .npz, .safetensors, .idx, .png, "
                               ".raw or .bin");
    if (!container && count != 1)
        return array_error_set(error, ARRAY_FAULT_UNFIT, path,
                               "%s holds one array, given %u: name one", array_format_name(format),
                               count);
    for (uint32_t i = 0; i < count; i++) {
        if (!extent_fits(path, &items[i], error) ||
            (format == ARRAY_FORMAT_IDX && !fits_idx(path, &items[i], error)) ||
            (format == ARRAY_FORMAT_PNG && !fits_png(path, &items[i], error)))
            return false;
        if (format == ARRAY_FORMAT_SAFETENSORS && strcmp(items[i].name, "__metadata__") == 0)
            return unfit(path, &items[i], "safetensors keeps that name for itself", error);
        if (format == ARRAY_FORMAT_NPZ && strlen(items[i].name) > UINT16_MAX - 4)
            return unfit(path, &items[i], "a name in .npz has at most 65531 bytes", error);
    }
    return !container || names_differ(path, format, items, count, error);
}

/* ---- Writing ---- */

bool save_bytes(ArraySave *save, const void *bytes, size_t size_bytes, ArrayError *error)
{
    save->position_bytes += size_bytes;
    return write_file_append(&save->file, bytes, size_bytes, error);
}

static bool begin_item(ArraySave *save, ArrayError *error)
{
    char header[NPY_HEADER_BYTES];
    save->current_done = 0;
    if (save->current == save->count)
        return true;
    SaveItem *item = &save->items[save->current];
    if (save->format == ARRAY_FORMAT_NPZ)
        return save_npz_member(save, item, error);
    if (save->format == ARRAY_FORMAT_NPY) {
        size_t size = npy_header_make(header, item->item.dtype, item->item.rank, item->item.shape);
        return save_bytes(save, header, size, error);
    }
    return true;
}

/* Ends what is whole, and what has no element, and begins the next. */
static bool advance(ArraySave *save, ArrayError *error)
{
    while (save->current < save->count &&
           save->current_done == save->items[save->current].element_count) {
        if (save->format == ARRAY_FORMAT_NPZ &&
            !save_npz_member_end(save, &save->items[save->current], error))
            return false;
        save->current++;
        if (!begin_item(save, error))
            return false;
    }
    return true;
}

static bool begin_format(ArraySave *save, ArrayError *error)
{
    if (save->format == ARRAY_FORMAT_SAFETENSORS && !save_safetensors_header(save, error))
        return false;
    if (save->format == ARRAY_FORMAT_IDX && !save_idx_header(save, error))
        return false;
    if (save->format == ARRAY_FORMAT_PNG && !save_png_begin(save, error))
        return false;
    return begin_item(save, error) && advance(save, error);
}

static void take_items(ArraySave *save, const ArraySaveItem *items)
{
    bool widens = save->format == ARRAY_FORMAT_NPY || save->format == ARRAY_FORMAT_NPZ;
    for (uint32_t i = 0; i < save->count; i++) {
        SaveItem *item = &save->items[i];
        item->item = items[i];
        item->stored = widens ? npy_stored_dtype(items[i].dtype) : items[i].dtype;
        item->element_count = 1;
        for (uint32_t axis = 0; axis < items[i].rank; axis++)
            item->element_count = items[i].shape[axis] == 0 ? 0 : item->element_count;
        for (uint32_t axis = 0; axis < items[i].rank && item->element_count != 0; axis++)
            item->element_count *= items[i].shape[axis];
        item->size_bytes = item->element_count * array_dtype_size_bytes(item->stored);
    }
}

ArraySave *array_save_begin(const char *path, ArrayFormat format, const ArraySaveItem *items,
                            uint32_t count, bool replace, ArrayError *error)
{
    if (!array_save_fits(path, format, items, count, error))
        return NULL;
    ArraySave *save = calloc(1, sizeof *save);
    if (save != NULL) {
        save->file.fd = -1;
        save->path = strdup(path);
        save->items = calloc(count + (size_t)1, sizeof *save->items);
        save->scratch = malloc(SAVE_SCRATCH_BYTES);
    }
    if (save == NULL || save->path == NULL || save->items == NULL || save->scratch == NULL) {
        array_error_fill(error, ARRAY_FAULT_MEMORY, path, "no memory to write it");
        goto fail;
    }
    save->format = format;
    save->count = count;
    take_items(save, items);
    if (!(replace ? write_file_begin(&save->file, save->path, error)
                  : write_file_begin_new(&save->file, save->path, error)) ||
        !begin_format(save, error))
        goto fail;
    return save;
fail:
    array_save_cancel(&save);
    return NULL;
}

/* Elements as they are stored, through the scratch block where they differ from those given. */
static bool append_block(ArraySave *save, SaveItem *item, const uint8_t *from, size_t count,
                         ArrayError *error)
{
    size_t size = array_dtype_size_bytes(item->item.dtype);
    size_t stored_size = array_dtype_size_bytes(item->stored);
    const uint8_t *bytes = from;
    if (item->stored != item->item.dtype) {
        array_convert_to_f32(item->item.dtype, from, (float *)(void *)save->scratch, count);
        bytes = save->scratch;
    } else if (save->format == ARRAY_FORMAT_IDX && size > 1) {
        for (size_t i = 0; i < count; i++) {
            for (size_t byte = 0; byte < size; byte++)
                save->scratch[i * size + byte] = from[i * size + size - 1 - byte];
        }
        bytes = save->scratch;
    }
    if (save->format == ARRAY_FORMAT_PNG)
        return save_png_append(save, bytes, count * size, error);
    if (save->format == ARRAY_FORMAT_NPZ)
        item->crc32 = (uint32_t)crc32(item->crc32, bytes, (uInt)(count * stored_size));
    return save_bytes(save, bytes, count * stored_size, error);
}

bool array_save_append(ArraySave *save, const void *elements, size_t element_count,
                       ArrayError *error)
{
    if (element_count == 0)
        return true;
    if (save->current == save->count ||
        element_count > save->items[save->current].element_count - save->current_done)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, save->path,
                               "given more elements than its arrays have");
    SaveItem *item = &save->items[save->current];
    const uint8_t *from = elements;
    size_t size = array_dtype_size_bytes(item->item.dtype);
    size_t block = SAVE_SCRATCH_BYTES / 8;
    for (size_t done = 0; done < element_count;) {
        size_t step = element_count - done < block ? element_count - done : block;
        if (!append_block(save, item, from + done * size, step, error))
            return false;
        done += step;
    }
    save->current_done += element_count;
    return advance(save, error);
}

static void destroy(ArraySave **save)
{
    ArraySave *old = *save;
    *save = NULL;
    save_png_free(old);
    free(old->scratch);
    free(old->items);
    free(old->path);
    free(old);
}

void array_save_cancel(ArraySave **save)
{
    if (save == NULL || *save == NULL)
        return;
    write_file_cancel(&(*save)->file);
    destroy(save);
}

bool array_save_flush(ArraySave *save, const ArrayControl *control, ArrayError *error)
{
    enum { PIECE_BYTES = 1 << 20 };
    for (uint64_t done = 0; done < save->position_bytes; done += PIECE_BYTES) {
        if (control != NULL && control->cancel != NULL && control->cancel(control->user))
            return array_error_set(error, ARRAY_FAULT_CANCELLED, save->path, "writing stopped");
        if (!write_file_flush(&save->file, done, PIECE_BYTES))
            break; /* the commit flushes all of it */
    }
    return true;
}

bool array_save_commit(ArraySave **save, ArrayError *error)
{
    ArraySave *ending = *save;
    bool good = ending->current == ending->count;
    if (!good)
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, ending->path,
                         "ended with %" PRIu64 " of the %" PRIu64 " elements of its array %u",
                         ending->current_done, ending->items[ending->current].element_count,
                         ending->current);
    good = good && (ending->format != ARRAY_FORMAT_NPZ || save_npz_end(ending, error)) &&
           (ending->format != ARRAY_FORMAT_PNG || save_png_end(ending, error));
    if (!good) {
        array_save_cancel(save);
        return false;
    }
    good = write_file_commit(&ending->file, error);
    destroy(save);
    return good;
}
