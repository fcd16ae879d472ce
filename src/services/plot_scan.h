/* services/plot_scan.h: the least and the greatest value of a run of elements, in a tight loop for
 * packed floating point numbers.
 *
 * Used by services/plot*; pure, any thread. */
#ifndef CALIPER_SERVICES_PLOT_SCAN_H
#define CALIPER_SERVICES_PLOT_SCAN_H

#include "services/plot_data.h"
#include "services/plot_scale.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PlotScan {
    PlotRange range; /* of the values that can be shown */
    int64_t dropped; /* the others: not finite, or <= 0 when only positive ones count */
} PlotScan;

/* Places in memory from..to-1 of one column, which is there. */
PlotScan plot_scan(const PlotData *data, PlotColumn column, int64_t from, int64_t to,
                   bool positive_only);
/* Elements from..to-1 in their order, which may wrap. */
PlotScan plot_scan_elements(const PlotData *data, PlotColumn column, int64_t from, int64_t to,
                            bool positive_only);

#ifdef __cplusplus
}
#endif

#endif
