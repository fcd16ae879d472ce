/* services/plot_bins.c: see plot_bins.h. */
#include "services/plot_bins.h"

#include <math.h>
#include <string.h>

static bool is_integer_type(uint32_t type)
{
    return type == CALIPER_PLOT_TYPE_I64 || type == CALIPER_PLOT_TYPE_I32 ||
           type == CALIPER_PLOT_TYPE_U8;
}

/* Scott's rule: 3.49 standard deviations over the cube root of the count. */
static int32_t choose_count(const PlotData *data, double lo, double hi)
{
    double mean = 0.0, squares = 0.0, kept = 0.0;
    for (int64_t place = 0; place < data->count; place++) {
        double value = plot_data_at(data, PLOT_COLUMN_Y, place);
        if (!(value >= lo && value <= hi))
            continue;
        kept += 1.0;
        double delta = value - mean;
        mean += delta / kept;
        squares += delta * (value - mean);
    }
    double deviation = kept > 1.0 ? sqrt(squares / kept) : 0.0;
    double width = 3.49 * deviation / cbrt(kept > 0.0 ? kept : 1.0);
    double count = width > 0.0 ? ceil((hi - lo) / width) : 1.0;
    return count >= PLOT_BINS_AUTO_MAX ? PLOT_BINS_AUTO_MAX : count >= 1.0 ? (int32_t)count : 1;
}

PlotBins plot_bins_choose(const PlotData *data, int32_t bins, double lo, double hi)
{
    PlotBins chosen = {.count = bins > PLOT_BINS_MAX ? PLOT_BINS_MAX : bins};
    bool own_ends = isfinite(lo) && isfinite(hi);
    if (!own_ends) {
        PlotScan scan = plot_scan(data, PLOT_COLUMN_Y, 0, data->count, false);
        PlotRange range = scan.range;
        if (plot_range_is_empty(range))
            range = (PlotRange){0.0, 1.0};
        lo = isfinite(lo) ? lo : range.min;
        hi = isfinite(hi) ? hi : range.max;
    }
    if (lo > hi) {
        double swap = lo;
        lo = hi;
        hi = swap;
    }
    if (bins <= 0 && !own_ends && is_integer_type(data->types[PLOT_COLUMN_Y]) &&
        hi - lo < PLOT_BINS_AUTO_MAX) { /* one for each integer, its value in the middle */
        chosen.count = (int32_t)(hi - lo) + 1;
        lo -= 0.5;
        hi += 0.5;
    }
    PlotRange mended = {lo, hi};
    if (lo == hi)
        mended = (PlotRange){lo - 0.5, hi + 0.5}; /* as numpy does */
    mended = plot_range_repair(mended, false);
    chosen.lo = mended.min;
    chosen.hi = mended.max;
    if (chosen.count <= 0)
        chosen.count = choose_count(data, chosen.lo, chosen.hi);
    return chosen;
}

double plot_bins_edge(const PlotBins *bins, int32_t i)
{
    if (i >= bins->count)
        return bins->hi;
    return bins->lo + (double)i * ((bins->hi - bins->lo) / (double)bins->count);
}

void plot_bins_count(PlotBins *bins, const PlotData *data, int64_t *counts)
{
    double share = (double)bins->count / (bins->hi - bins->lo);
    bins->inside = bins->outside = bins->not_finite = 0;
    memset(counts, 0, (size_t)bins->count * sizeof *counts);
    for (int64_t place = 0; place < data->count; place++) {
        double value = plot_data_at(data, PLOT_COLUMN_Y, place);
        if (!isfinite(value)) {
            bins->not_finite++;
            continue;
        }
        if (value < bins->lo || value > bins->hi) {
            bins->outside++;
            continue;
        }
        double at = (value - bins->lo) * share;
        int32_t bin = at >= (double)bins->count ? bins->count - 1 : (int32_t)at;
        if (bin > 0 && value < plot_bins_edge(bins, bin))
            bin--;
        else if (bin + 1 < bins->count && value >= plot_bins_edge(bins, bin + 1))
            bin++;
        counts[bin]++;
        bins->inside++;
    }
}
