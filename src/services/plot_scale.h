/* services/plot_scale.h: an axis as arithmetic: from a value to a place in pixels and back, and
 * what panning, zooming and fitting make of a range.
 *
 * Used by services/plot*; pure, any thread. Everything is computed in double. */
#ifndef CALIPER_SERVICES_PLOT_SCALE_H
#define CALIPER_SERVICES_PLOT_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values beyond this are not shown, so that no difference of two overflows. */
#define PLOT_VALUE_MAX 8e307
/* The least value a logarithmic axis shows. */
#define PLOT_LOG_MIN 1e-300

typedef struct PlotRange {
    double min, max; /* min > max: empty */
} PlotRange;

/* A range on a stretch of pixels. `from` is where min lies; to < from turns the axis round. */
typedef struct PlotScale {
    bool log10;
    PlotRange range;
    double from, to;
} PlotScale;

PlotRange plot_range_empty(void);
bool plot_range_is_empty(PlotRange range);
/* Takes a value in; what is not finite (or, on a log axis, not above 0) is left out. */
void plot_range_add(PlotRange *range, bool log10, double value);
PlotRange plot_range_union(PlotRange a, PlotRange b);

/* Any two numbers become a range that can be drawn: in order, finite, inside what is shown, wide
 * enough for its size. An empty or hopeless one becomes 0..1 (log: 1..10). */
PlotRange plot_range_repair(PlotRange range, bool log10);

/* A range with `low` and `high` shares of its width added at its ends. */
PlotRange plot_range_pad(PlotRange range, bool log10, double low, double high);
/* Moved by a share of its width; zoomed by `factor` (< 1 shows less) so that `at`, a value, keeps
 * its place. Answers are repaired; a step that would leave what can be shown does nothing. */
PlotRange plot_range_pan(PlotRange range, bool log10, double share);
PlotRange plot_range_zoom(PlotRange range, bool log10, double factor, double at);

/* NaN: the value has no place (not finite, or <= 0 on a log axis). */
double plot_scale_to_px(const PlotScale *scale, double value);
double plot_scale_from_px(const PlotScale *scale, double px);
bool plot_scale_same(const PlotScale *a, const PlotScale *b);

#ifdef __cplusplus
}
#endif

#endif
