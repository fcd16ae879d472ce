/* formats/array_stats.c: exact minimum and maximum, counts of NaN and infinities.
 *
 * Thread rule: any thread. */
#include "formats/array_values.h"
#include "formats/reader.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_minus_zero(double value)
{
    return value == 0.0 && signbit(value) != 0;
}

/* The zeros are one value: -0 stays an end only while no +0 is met. */
static void merge_f64(ArrayStats *stats, double low, double high)
{
    double least = stats->min.value.f64, most = stats->max.value.f64;
    bool none = stats->min.kind == ARRAY_NUMBER_KIND_NONE;
    if (none || low < least || (low == least && is_minus_zero(least)))
        stats->min = (ArrayNumber){ARRAY_NUMBER_KIND_F64, {.f64 = low}};
    if (none || high > most || (high == most && is_minus_zero(most)))
        stats->max = (ArrayNumber){ARRAY_NUMBER_KIND_F64, {.f64 = high}};
}

static void merge_i64(ArrayStats *stats, int64_t low, int64_t high)
{
    if (stats->min.kind == ARRAY_NUMBER_KIND_NONE || low < stats->min.value.i64)
        stats->min = (ArrayNumber){ARRAY_NUMBER_KIND_I64, {.i64 = low}};
    if (stats->max.kind == ARRAY_NUMBER_KIND_NONE || high > stats->max.value.i64)
        stats->max = (ArrayNumber){ARRAY_NUMBER_KIND_I64, {.i64 = high}};
}

static void merge_u64(ArrayStats *stats, uint64_t low, uint64_t high)
{
    if (stats->min.kind == ARRAY_NUMBER_KIND_NONE || low < stats->min.value.u64)
        stats->min = (ArrayNumber){ARRAY_NUMBER_KIND_U64, {.u64 = low}};
    if (stats->max.kind == ARRAY_NUMBER_KIND_NONE || high > stats->max.value.u64)
        stats->max = (ArrayNumber){ARRAY_NUMBER_KIND_U64, {.u64 = high}};
}

/* Whether one of these elements is +0, whose bits are all zero. */
static bool has_plus_zero(const uint8_t *from, size_t count, size_t size_bytes)
{
    static const uint8_t zero[8];
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = memcmp(from + i * size_bytes, zero, size_bytes) == 0;
    return found;
}

#define DEFINE_ADD_FLOAT(name, type, absolute, largest)                         \
    static void name(ArrayStats *stats, const uint8_t *from, size_t count)      \
    {                                                                           \
        type low = (largest), high = -(largest);                                \
        uint64_t nan_count = 0, finite_count = 0;                               \
        for (size_t i = 0; i < count; i++) {                                    \
            type value;                                                         \
            memcpy(&value, from + i * sizeof value, sizeof value);              \
            bool finite = absolute(value) <= (largest);                         \
            nan_count += value != value;                                        \
            finite_count += finite;                                             \
            low = finite && value < low ? value : low;                          \
            high = finite && value > high ? value : high;                       \
        }                                                                       \
        stats->nan_count += nan_count;                                          \
        stats->infinite_count += count - nan_count - finite_count;              \
        if (is_minus_zero((double)low) || is_minus_zero((double)high)) {        \
            type zero = has_plus_zero(from, count, sizeof zero) ? 0 : -(type)0; \
            low = low == 0 ? zero : low;                                        \
            high = high == 0 ? zero : high;                                     \
        }                                                                       \
        if (finite_count > 0)                                                   \
            merge_f64(stats, (double)low, (double)high);                        \
    }

DEFINE_ADD_FLOAT(add_f32, float, fabsf, FLT_MAX)
DEFINE_ADD_FLOAT(add_f64, double, fabs, DBL_MAX)

#define DEFINE_ADD_INTEGER(name, type, merge)                              \
    static void name(ArrayStats *stats, const uint8_t *from, size_t count) \
    {                                                                      \
        type low, high;                                                    \
        memcpy(&low, from, sizeof low);                                    \
        high = low;                                                        \
        for (size_t i = 1; i < count; i++) {                               \
            type value;                                                    \
            memcpy(&value, from + i * sizeof value, sizeof value);         \
            low = value < low ? value : low;                               \
            high = value > high ? value : high;                            \
        }                                                                  \
        merge(stats, low, high);                                           \
    }

DEFINE_ADD_INTEGER(add_i64, int64_t, merge_i64)
DEFINE_ADD_INTEGER(add_i32, int32_t, merge_i64)
DEFINE_ADD_INTEGER(add_i16, int16_t, merge_i64)
DEFINE_ADD_INTEGER(add_i8, int8_t, merge_i64)
DEFINE_ADD_INTEGER(add_u64, uint64_t, merge_u64)
DEFINE_ADD_INTEGER(add_u32, uint32_t, merge_u64)
DEFINE_ADD_INTEGER(add_u16, uint16_t, merge_u64)
DEFINE_ADD_INTEGER(add_u8, uint8_t, merge_u64)

static void add_small_floats(ArrayStats *stats, ArrayDtype dtype, const uint8_t *from, size_t count)
{
    float wide[512];
    for (size_t done = 0; done < count;) {
        size_t step = count - done < 512 ? count - done : 512;
        array_convert_to_f32(dtype, from + done * 2, wide, step);
        add_f32(stats, (const uint8_t *)wide, step);
        done += step;
    }
}

void array_stats_add(ArrayStats *stats, ArrayDtype dtype, const void *elements, size_t count)
{
    if (count == 0)
        return;
    switch (dtype) {
    case ARRAY_DTYPE_F64:
        add_f64(stats, elements, count);
        break;
    case ARRAY_DTYPE_F32:
        add_f32(stats, elements, count);
        break;
    case ARRAY_DTYPE_F16:
    case ARRAY_DTYPE_BF16:
        add_small_floats(stats, dtype, elements, count);
        break;
    case ARRAY_DTYPE_I64:
        add_i64(stats, elements, count);
        break;
    case ARRAY_DTYPE_I32:
        add_i32(stats, elements, count);
        break;
    case ARRAY_DTYPE_I16:
        add_i16(stats, elements, count);
        break;
    case ARRAY_DTYPE_I8:
        add_i8(stats, elements, count);
        break;
    case ARRAY_DTYPE_U64:
        add_u64(stats, elements, count);
        break;
    case ARRAY_DTYPE_U32:
        add_u32(stats, elements, count);
        break;
    case ARRAY_DTYPE_U16:
        add_u16(stats, elements, count);
        break;
    case ARRAY_DTYPE_U8:
    case ARRAY_DTYPE_BOOL:
        add_u8(stats, elements, count);
        break;
    case ARRAY_DTYPE_NONE:
    case ARRAY_DTYPE_COUNT:
        return;
    }
    stats->element_count += count;
}

bool array_file_statistics(ArrayFile *file, uint32_t array, const ArrayControl *control,
                           ArrayStats *stats, ArrayError *error)
{
    memset(stats, 0, sizeof *stats);
    const ArrayEntry *entry = reader_entry(file, array, error);
    if (entry == NULL || !array_file_prepare(file, array, control, error))
        return false;
    const ArrayInfo *info = &entry->info;
    uint64_t block = READER_BLOCK_BYTES / array_dtype_size_bytes(info->dtype);
    /* No more than the array holds: a file may have very many small ones. */
    size_t block_bytes =
        info->size_bytes < READER_BLOCK_BYTES ? (size_t)info->size_bytes : READER_BLOCK_BYTES;
    void *elements = malloc(block_bytes > 0 ? block_bytes : 1);
    if (elements == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory to gather statistics");
    }
    bool good = true;
    for (uint64_t done = 0; good && done < info->element_count;) {
        uint64_t step = info->element_count - done < block ? info->element_count - done : block;
        if (reader_is_cancelled(file, control, error)) {
            good = false;
            break;
        }
        good = array_file_read_stored(file, array, done, step, elements, block_bytes, error);
        if (good)
            array_stats_add(stats, info->dtype, elements, (size_t)step);
        done += step;
        if (good && control != NULL && control->progress != NULL)
            control->progress(control->user, (double)done / (double)info->element_count);
    }
    free(elements);
    return good;
}
