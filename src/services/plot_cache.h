/* services/plot_cache.h: the indices and histograms of series that carry a revision, kept while
 * they are drawn; and the counters that prove what is read.
 *
 * Used by services/plot*; frame thread. One cache in a process. */
#ifndef CALIPER_SERVICES_PLOT_CACHE_H
#define CALIPER_SERVICES_PLOT_CACHE_H

#include "services/plot_bins.h"
#include "services/plot_index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PLOT_CACHE_FRAMES = 60,                /* not drawn so long: dropped */
    PLOT_INDEX_PER_FRAME = 4 * 1024 * 1024 /* elements indexed in one frame, over all series */
};

typedef struct PlotCacheEntry {
    uint64_t key;
    PlotData seen; /* where and how the data lay; never read through */
    bool positive_only;
    uint64_t frame; /* drawn last */
    PlotIndex *index, *index2;
    int64_t *counts; /* of the histogram */
    PlotBins bins;
    int32_t bins_wanted;
    double lo_wanted, hi_wanted;
    int64_t counted; /* elements that the histogram holds */
} PlotCacheEntry;

typedef struct PlotCounters { /* since the start */
    uint64_t indexed;         /* elements taken into an index */
    uint64_t read;            /* elements read to draw, fit or name a point */
    uint64_t drawn;           /* samples handed to the drawing */
    uint64_t entries;         /* kept now */
    uint64_t vertices;        /* of lines, bars, areas and marks */
} PlotCounters;

extern PlotCounters plot_counters;

/* Once a frame. */
void plot_cache_frame(void);
void plot_cache_clear(void);

/* The series' entry, made where there is none; what it holds of other data is dropped. NULL: the
 * data has no revision, or there is no memory. */
PlotCacheEntry *plot_cache_get(uint64_t key, const PlotData *data, bool positive_only);
/* Goes on indexing, as far as this frame's share reaches. Answers how many elements can be drawn
 * through the index; 0 with index NULL when there is no memory. */
int64_t plot_cache_index(PlotCacheEntry *entry, const PlotData *data, bool with_y2);
/* The bins' counts; NULL when there is no memory. */
const int64_t *plot_cache_bins(PlotCacheEntry *entry, const PlotData *data, int32_t bins, double lo,
                               double hi, PlotBins *out);

#ifdef __cplusplus
}
#endif

#endif
