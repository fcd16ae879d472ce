/* services/plot_bins.h: counting values into bins, as numpy.histogram counts them.
 *
 * Used by services/plot*; pure, any thread. */
#ifndef CALIPER_SERVICES_PLOT_BINS_H
#define CALIPER_SERVICES_PLOT_BINS_H

#include "services/plot_scan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLOT_BINS_AUTO_MAX = 512, PLOT_BINS_MAX = 65536 };

typedef struct PlotBins {
    double lo, hi;
    int32_t count;
    int64_t inside, outside, not_finite;
} PlotBins;

/* How many bins and over which range: bins <= 0: by the data; an end that is not finite: that of
 * the data. Fills all but the three counts. */
PlotBins plot_bins_choose(const PlotData *data, int32_t bins, double lo, double hi);
/* Edge i of 0..count; each is the start of its bin, the last one belongs to its own. */
double plot_bins_edge(const PlotBins *bins, int32_t i);
/* Counts y into counts[0..bins->count-1], which it zeroes first. */
void plot_bins_count(PlotBins *bins, const PlotData *data, int64_t *counts);

#ifdef __cplusplus
}
#endif

#endif
