/* cli/convert.c: `caliper convert IN OUT`: the arrays of one file in another format, which OUT's
 * name says. Nothing is lost or it is refused, before a byte is written. First thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array_words.h"
#include "cli/printable.h"
#include "formats/array_save.h"

enum { BLOCK_BYTES = 1 << 20 };

typedef struct Conversion {
    const CliOptions *options;
    ArrayFile *file;
    ArrayFormat format; /* of the result */
    uint32_t count;
    uint32_t *arrays;     /* of the file, in the order they are written */
    ArraySaveItem *items; /* the same */
} Conversion;

/* Larger elements first, so that all of a safetensors file's data is aligned; else the file's own
 * order. */
static int compare_arrays(const void *a, const void *b, void *user)
{
    const ArrayFile *file = user;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    size_t left_bytes = array_dtype_size_bytes(array_file_info(file, left)->dtype);
    size_t right_bytes = array_dtype_size_bytes(array_file_info(file, right)->dtype);
    if (left_bytes != right_bytes)
        return left_bytes < right_bytes ? 1 : -1;
    return left < right ? -1 : left > right;
}

static bool choose_arrays(Conversion *conversion)
{
    const CliOptions *options = conversion->options;
    int64_t chosen = 0;
    conversion->count = array_file_count(conversion->file);
    if (options->tensor != NULL) {
        chosen = array_words_find(options, conversion->file);
        conversion->count = 1;
    }
    if (chosen < 0)
        return false;
    conversion->arrays = calloc(conversion->count + (size_t)1, sizeof *conversion->arrays);
    conversion->items = calloc(conversion->count + (size_t)1, sizeof *conversion->items);
    if (conversion->arrays == NULL || conversion->items == NULL) {
        cli_failed("%s: no memory for the list of its arrays", options->words[0]);
        return false;
    }
    for (uint32_t i = 0; i < conversion->count; i++)
        conversion->arrays[i] = (uint32_t)chosen + i;
    if (conversion->format == ARRAY_FORMAT_SAFETENSORS)
        qsort_r(conversion->arrays, conversion->count, sizeof *conversion->arrays, compare_arrays,
                conversion->file);
    for (uint32_t i = 0; i < conversion->count; i++) {
        const ArrayInfo *info = array_file_info(conversion->file, conversion->arrays[i]);
        if (info->problem != NULL) {
            cli_failed("%s", info->problem);
            return false;
        }
        conversion->items[i] =
            (ArraySaveItem){.name = info->name, .dtype = info->dtype, .rank = info->rank};
        memcpy(conversion->items[i].shape, info->shape, sizeof info->shape);
    }
    return true;
}

static bool copy_array(const Conversion *conversion, ArraySave *save, uint32_t array,
                       uint8_t *block, ArrayError *error)
{
    const ArrayInfo *info = array_file_info(conversion->file, array);
    ArrayOrder *order = array_order_begin(conversion->file, array, error);
    if (order == NULL)
        return false;
    uint64_t most = BLOCK_BYTES / array_dtype_size_bytes(info->dtype);
    bool good = true;
    for (uint64_t done = 0; good && done < info->element_count;) {
        uint64_t step = info->element_count - done < most ? info->element_count - done : most;
        good = array_order_read(order, step, block, BLOCK_BYTES, error) &&
               array_save_append(save, block, (size_t)step, error);
        done += step;
    }
    array_order_end(&order);
    return good;
}

static bool write_all(const Conversion *conversion)
{
    ArrayError error;
    const CliOptions *options = conversion->options;
    uint8_t *block = malloc(BLOCK_BYTES);
    if (block == NULL) {
        cli_failed("%s: no memory to convert it", options->words[0]);
        return false;
    }
    ArraySave *save = array_save_begin(options->words[1], conversion->format, conversion->items,
                                       conversion->count, options->force, &error);
    bool good = save != NULL;
    for (uint32_t i = 0; good && i < conversion->count; i++)
        good = copy_array(conversion, save, conversion->arrays[i], block, &error);
    good = good && array_save_commit(&save, &error);
    array_save_cancel(&save);
    free(block);
    if (!good)
        cli_failed("%s%s", error.message, error.fault == ARRAY_FAULT_EXISTS ? " (--force)" : "");
    return good;
}

static bool widens(const Conversion *conversion)
{
    bool any = false;
    for (uint32_t i = 0; i < conversion->count; i++)
        any |= conversion->items[i].dtype == ARRAY_DTYPE_BF16;
    return any &&
           (conversion->format == ARRAY_FORMAT_NPY || conversion->format == ARRAY_FORMAT_NPZ);
}

/* What --raw has to be told to read the result again. */
static const char *raw_text(const Conversion *conversion, char text[ARRAY_RAW_TEXT_BYTES])
{
    const ArraySaveItem *item = &conversion->items[0];
    ArrayRawLayout layout = {.dtype = item->dtype, .rank = item->rank};
    memcpy(layout.shape, item->shape, sizeof layout.shape);
    if (layout.rank == 0) { /* a layout has at least one axis */
        layout.rank = 1;
        layout.shape[0] = 1;
    }
    return array_raw_layout_text(&layout, text);
}

static int say(const Conversion *conversion)
{
    char shape[ARRAY_WORDS_SHAPE_BYTES], raw[ARRAY_RAW_TEXT_BYTES];
    const char *path = conversion->options->words[1];
    const char *format = array_format_name(conversion->format);
    bool wide = widens(conversion);
    if (conversion->options->json) {
        cJSON *tensors;
        cJSON *json = array_words_json(path, format, &tensors);
        for (uint32_t i = 0; i < conversion->count; i++) {
            const ArraySaveItem *item = &conversion->items[i];
            bool this = wide && item->dtype == ARRAY_DTYPE_BF16;
            array_words_add(tensors, item->name, item->rank, item->shape,
                            this ? ARRAY_DTYPE_F32 : item->dtype);
        }
        if (conversion->format == ARRAY_FORMAT_RAW)
            cJSON_AddStringToObject(json, "raw", raw_text(conversion, raw));
        return array_words_print(json);
    }
    const ArraySaveItem *first = &conversion->items[0];
    if (conversion->count == 1)
        printable_print(stdout, "%s: %s, %s, %s\n", path, format, array_dtype_name(first->dtype),
                        array_words_shape(first->rank, first->shape, shape));
    else
        printable_print(stdout, "%s: %s, %u arrays\n", path, format, conversion->count);
    if (wide)
        puts("bf16 is written as f32, which holds each value exactly: .npy has no bf16");
    if (conversion->format == ARRAY_FORMAT_RAW)
        printf("read it with --raw %s\n", raw_text(conversion, raw));
    return 0;
}

int cli_convert(CliOptions *options)
{
    Conversion conversion = {.options = options};
    if (options->word_count != 2)
        return cli_usage("convert: given %d names, wanted a file to read and one to write",
                         (int)options->word_count);
    conversion.format = array_save_format(options->words[1]);
    if (conversion.format == ARRAY_FORMAT_NONE)
        return cli_usage("convert: given \"%s\", wanted a name that ends in .npy, .npz, "
                         ".safetensors, .idx, .png, .raw or .bin",
                         options->words[1]);
    conversion.file = array_words_open(options, options->words[0]);
    if (conversion.file == NULL)
        return 1;
    bool good = choose_arrays(&conversion) && write_all(&conversion);
    int status = good ? say(&conversion) : 1;
    free(conversion.items);
    free(conversion.arrays);
    array_file_close(&conversion.file);
    return status;
}
