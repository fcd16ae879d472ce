/* services/plot_reduce.h: the points of a series that a picture of some pixel columns needs.
 *
 * Used by services/plot*; one thread at a time. Of an ascending series it takes at most four
 * samples a column: the first, the least, the greatest and the last, so that the outline keeps
 * every extreme. */
#ifndef CALIPER_SERVICES_PLOT_REDUCE_H
#define CALIPER_SERVICES_PLOT_REDUCE_H

#include "services/plot_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PlotSample {
    double x, y;   /* y NaN: a gap */
    int64_t index; /* the element; -1: an extreme of a column */
} PlotSample;

typedef struct PlotSamples { /* grows, kept from frame to frame */
    PlotSample *items;
    int64_t count, capacity;
} PlotSamples;

bool plot_samples_reserve(PlotSamples *samples, int64_t more);
void plot_samples_free(PlotSamples *samples);

/* A series as it is to be walked: in ascending (or, for dx < 0, descending) x. */
typedef struct PlotSeries {
    const PlotData *data;
    const PlotIndex *index;  /* of y; NULL: the data is read */
    const PlotIndex *index2; /* of y2, for bands; may be NULL */
    int64_t count;           /* elements to show; with an unfinished index fewer than there are */
    bool positive_only;      /* a logarithmic y axis */
} PlotSeries;

/* The first element at or right of pixel `px` in the direction of the series' order; count: none.
 * The scale runs over pixel columns, 0 to their number or back. */
int64_t plot_find(const PlotSeries *series, const PlotScale *x, double px);

/* Appends what the columns 0..columns-1 need, and one sample beyond each edge; adds elements read
 * to *samples_read. False: no memory. */
bool plot_reduce_line(const PlotSeries *series, const PlotScale *x, int32_t columns,
                      PlotSamples *out, uint64_t *samples_read);

/* The same for the area between y and y2: pairs of samples (x, low), (x, high). */
bool plot_reduce_band(const PlotSeries *series, const PlotScale *x, int32_t columns,
                      PlotSamples *out, uint64_t *samples_read);

/* A series in any order of x: leaves out points that fall on the pixel drawn last, and what comes
 * after `most` samples (false then). */
bool plot_reduce_unordered(const PlotSeries *series, const PlotScale *x, const PlotScale *y,
                           int64_t most, PlotSamples *out, uint64_t *samples_read);

#ifdef __cplusplus
}
#endif

#endif
