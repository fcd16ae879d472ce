/* services/plot_ticks.h: where an axis has its ticks and what they say.
 *
 * Used by services/plot*; pure but for the process's time zone, any thread. */
#ifndef CALIPER_SERVICES_PLOT_TICKS_H
#define CALIPER_SERVICES_PLOT_TICKS_H

#include <stddef.h>

#include "services/plot_scale.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLOT_TICKS_MAX = 256, PLOT_TICK_BYTES = 40 };

typedef struct PlotTick {
    double at;
    bool minor; /* without a text */
    char text[PLOT_TICK_BYTES];
} PlotTick;

typedef struct PlotTicks {
    PlotTick items[PLOT_TICKS_MAX];
    int32_t count;
    char context[64]; /* what all ticks share: a time axis' day, or a number to add; "": nothing */
} PlotTicks;

typedef struct PlotTickParams {
    PlotRange range; /* repaired */
    uint32_t scale;  /* CALIPER_SCALE_* */
    bool integer, local_time;
    bool may_offset; /* long numbers that differ at their ends may be told from their beginning */
    int32_t most;    /* labelled ticks at most, 2 or more */
} PlotTickParams;

/* Ascending. */
void plot_ticks(const PlotTickParams *params, PlotTicks *out);

/* A moment to the microsecond, without zeros at its end: "2026-12-02 10:23:24.5 UTC". */
void plot_time_print(double at_sec, bool local, char *text, size_t text_bytes);

/* For plot_time_ticks.c and plot_ticks.c only. */
void plot_ticks_time(const PlotTickParams *params, PlotTicks *out);
void plot_ticks_linear(const PlotTickParams *params, PlotTicks *out);
PlotTick *plot_ticks_add(PlotTicks *ticks, double at, bool minor);

#ifdef __cplusplus
}
#endif

#endif
