/* services/plot_scan.c: see plot_scan.h. Vectors of 16 bytes, which every machine has, in two
 * chains that do not wait for each other; a comparison with a NaN is false, which leaves it out. */
#include "services/plot_scan.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { VECTOR_BYTES = 16, CHAINS = 2 };

/* Bits of `a` where the mask has them, else those of `b`. */
#define PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

#define DEFINE_SCAN(name, type, bits, type_max, type_least)                                       \
    typedef type name##_values __attribute__((vector_size(VECTOR_BYTES)));                        \
    typedef bits name##_bits __attribute__((vector_size(VECTOR_BYTES)));                          \
    static PlotScan name(const type *values, int64_t count, bool positive_only)                   \
    {                                                                                             \
        enum { LANES = VECTOR_BYTES / sizeof(type) };                                             \
        const name##_values zero = {0};                                                           \
        const name##_values least = zero + (positive_only ? type_least : -type_max);              \
        const name##_values most = zero + type_max;                                               \
        const name##_values infinite = zero + (type)INFINITY;                                     \
        const name##_bits none_low = (name##_bits)infinite, none_high = (name##_bits) - infinite; \
        name##_values low[CHAINS], high[CHAINS];                                                  \
        name##_bits kept[CHAINS];                                                                 \
        for (int chain = 0; chain < CHAINS; chain++) {                                            \
            low[chain] = infinite;                                                                \
            high[chain] = -infinite;                                                              \
            kept[chain] = (name##_bits)zero;                                                      \
        }                                                                                         \
        int64_t i = 0;                                                                            \
        for (; i + CHAINS * LANES <= count; i += CHAINS * LANES) {                                \
            for (int chain = 0; chain < CHAINS; chain++) {                                        \
                name##_values value;                                                              \
                memcpy(&value, values + i + chain * LANES, sizeof value);                         \
                name##_bits above = (name##_bits)(value >= least);                                \
                name##_bits below = (name##_bits)(value <= most);                                 \
                name##_bits bit = (name##_bits)value;                                             \
                name##_bits as_low = PICK(above, bit, none_low);                                  \
                name##_bits as_high = PICK(below, bit, none_high);                                \
                name##_bits less = (name##_bits)((name##_values)as_low < low[chain]);             \
                name##_bits more = (name##_bits)((name##_values)as_high > high[chain]);           \
                low[chain] = (name##_values)PICK(less, as_low, (name##_bits)low[chain]);          \
                high[chain] = (name##_values)PICK(more, as_high, (name##_bits)high[chain]);       \
                kept[chain] -= above & below; /* a mask is -1 */                                  \
            }                                                                                     \
        }                                                                                         \
        PlotScan scan = {{HUGE_VAL, -HUGE_VAL}, count};                                           \
        for (int chain = 0; chain < CHAINS; chain++) {                                            \
            for (int lane = 0; lane < LANES; lane++) {                                            \
                double least_here = (double)low[chain][lane],                                     \
                       most_here = (double)high[chain][lane];                                     \
                scan.range.min = least_here < scan.range.min ? least_here : scan.range.min;       \
                scan.range.max = most_here > scan.range.max ? most_here : scan.range.max;         \
                scan.dropped -= (int64_t)kept[chain][lane];                                       \
            }                                                                                     \
        }                                                                                         \
        for (; i < count; i++) {                                                                  \
            if (!(values[i] >= least[0] && values[i] <= type_max))                                \
                continue;                                                                         \
            plot_range_add(&scan.range, false, (double)values[i]);                                \
            scan.dropped--;                                                                       \
        }                                                                                         \
        /* Only what can be shown makes a greatest value. */                                      \
        if (scan.dropped == count)                                                                \
            scan.range = plot_range_empty();                                                      \
        return scan;                                                                              \
    }

DEFINE_SCAN(scan_f32, float, int32_t, FLT_MAX, 0x1p-149f)
DEFINE_SCAN(scan_f64, double, int64_t, DBL_MAX, 0x1p-1074)

static PlotScan scan_any(const PlotData *data, PlotColumn column, int64_t from, int64_t to,
                         bool positive_only)
{
    PlotScan scan = {plot_range_empty(), 0};
    for (int64_t place = from; place < to; place++) {
        double value = plot_data_at(data, column, place);
        if (isfinite(value) && (!positive_only || value > 0.0))
            plot_range_add(&scan.range, false, value);
        else
            scan.dropped++;
    }
    return scan;
}

PlotScan plot_scan(const PlotData *data, PlotColumn column, int64_t from, int64_t to,
                   bool positive_only)
{
    if (from >= to) /* nothing, perhaps at no address */
        return (PlotScan){plot_range_empty(), 0};
    const uint8_t *at = data->columns[column] + from * data->strides[column];
    if (data->types[column] == CALIPER_PLOT_TYPE_F32 && data->strides[column] == 4 &&
        (uintptr_t)at % sizeof(float) == 0 && to - from <= INT32_MAX)
        return scan_f32((const float *)(const void *)at, to - from, positive_only);
    if (data->types[column] == CALIPER_PLOT_TYPE_F64 && data->strides[column] == 8 &&
        (uintptr_t)at % sizeof(double) == 0)
        return scan_f64((const double *)(const void *)at, to - from, positive_only);
    return scan_any(data, column, from, to, positive_only);
}

PlotScan plot_scan_elements(const PlotData *data, PlotColumn column, int64_t from, int64_t to,
                            bool positive_only)
{
    if (from >= to)
        return (PlotScan){plot_range_empty(), 0};
    int64_t wrap = data->count - data->first; /* the first element behind the wrap */
    int64_t last = to - 1;
    if (last < wrap || from >= wrap) {
        int64_t place = plot_data_place(data, from);
        return plot_scan(data, column, place, place + (to - from), positive_only);
    }
    PlotScan a = plot_scan(data, column, plot_data_place(data, from), data->count, positive_only);
    PlotScan b = plot_scan(data, column, 0, to - wrap, positive_only);
    return (PlotScan){plot_range_union(a.range, b.range), a.dropped + b.dropped};
}
