/* services/plot_index.h: what makes a line of 10^7 points as quick as one of 10^3: the least and
 * greatest value of every block of elements, of every eight blocks, and so on; and whether x
 * ascends.
 *
 * Used by services/plot*; one thread at a time. It is built from the front, a part in each call,
 * and goes on where it stopped when elements were appended. */
#ifndef CALIPER_SERVICES_PLOT_INDEX_H
#define CALIPER_SERVICES_PLOT_INDEX_H

#include "services/plot_scan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLOT_BLOCK = 64, PLOT_FANOUT = 8, PLOT_LEVELS_MAX = 14 };

typedef struct PlotIndex PlotIndex;

typedef struct PlotIndexParams {
    PlotColumn column;
    bool positive_only;
    bool with_x; /* looks at x too, when the data has one */
} PlotIndexParams;

/* NULL when there is no memory. */
PlotIndex *plot_index_create(const PlotIndexParams *params);
void plot_index_destroy(PlotIndex **index);

/* Takes in at most `budget` further elements of the data, whose earlier ones are unchanged; takes
 * what it read off *budget. False: no memory, and the index is as it was. */
bool plot_index_extend(PlotIndex *index, const PlotData *data, int64_t *budget);

/* How many elements (places from 0) it knows. */
int64_t plot_index_known(const PlotIndex *index);
/* Elements left out of what it knows, and the range of the others. */
int64_t plot_index_dropped(const PlotIndex *index);
PlotRange plot_index_whole(const PlotIndex *index);
/* x of what it knows; without an x array nothing is known about it. */
PlotRange plot_index_x(const PlotIndex *index);
/* Whether x ascends (equal neighbours included) in the data's order, with nothing that is not
 * finite. True for data without an x array. */
bool plot_index_x_ascends(const PlotIndex *index, const PlotData *data);

/* The range of places from..to-1, all of them known; reads the caller's data only at the ends and
 * adds how many elements that were to *samples_read. */
PlotRange plot_index_range(const PlotIndex *index, const PlotData *data, int64_t from, int64_t to,
                           uint64_t *samples_read);

#ifdef __cplusplus
}
#endif

#endif
