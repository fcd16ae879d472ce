/* services/plot_scan.c: see plot_scan.h. Eight independent lanes, so that the compiler may keep
 * them in vector registers; a comparison with a NaN is false, which leaves it out. */
#include "services/plot_scan.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

enum { LANES = 8 };

#define DEFINE_SCAN(name, type, count_type, type_max, type_least)                   \
    static PlotScan name(const type *values, int64_t count, bool positive_only)     \
    {                                                                               \
        const type infinite = (type)INFINITY;                                       \
        const type least = positive_only ? type_least : -type_max;                  \
        type low[LANES], high[LANES];                                               \
        count_type kept[LANES];                                                     \
        for (int lane = 0; lane < LANES; lane++) {                                  \
            low[lane] = infinite;                                                   \
            high[lane] = -infinite;                                                 \
            kept[lane] = 0;                                                         \
        }                                                                           \
        int64_t i = 0;                                                              \
        for (; i + LANES <= count; i += LANES) {                                    \
            for (int lane = 0; lane < LANES; lane++) {                              \
                type value = values[i + lane];                                      \
                type as_low = value >= least ? value : infinite;                    \
                type as_high = value <= type_max ? value : -infinite;               \
                low[lane] = as_low < low[lane] ? as_low : low[lane];                \
                high[lane] = as_high > high[lane] ? as_high : high[lane];           \
                kept[lane] += (count_type)((value >= least) & (value <= type_max)); \
            }                                                                       \
        }                                                                           \
        PlotScan scan = {plot_range_empty(), count};                                \
        for (int lane = 0; lane < LANES; lane++) {                                  \
            scan.range.min = fmin(scan.range.min, (double)low[lane]);               \
            scan.range.max = fmax(scan.range.max, (double)high[lane]);              \
            scan.dropped -= (int64_t)kept[lane];                                    \
        }                                                                           \
        for (; i < count; i++) {                                                    \
            if (!(values[i] >= least && values[i] <= type_max))                     \
                continue;                                                           \
            plot_range_add(&scan.range, false, (double)values[i]);                  \
            scan.dropped--;                                                         \
        }                                                                           \
        /* Only what can be shown makes a greatest value. */                        \
        if (scan.dropped == count)                                                  \
            scan.range = plot_range_empty();                                        \
        return scan;                                                                \
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
