/* services/plot_scale.c: see plot_scale.h. */
#include "services/plot_scale.h"

#include <math.h>

/* The narrowest range as a share of its distance from 0: some hundred steps of a double, so that
 * pixels still have values of their own. */
static const double narrowest = 0x1p-43;

PlotRange plot_range_empty(void)
{
    return (PlotRange){HUGE_VAL, -HUGE_VAL};
}

bool plot_range_is_empty(PlotRange range)
{
    return !(range.min <= range.max);
}

void plot_range_add(PlotRange *range, bool log10_scale, double value)
{
    if (!isfinite(value) || (log10_scale && value <= 0.0))
        return;
    if (value < range->min)
        range->min = value;
    if (value > range->max)
        range->max = value;
}

PlotRange plot_range_union(PlotRange a, PlotRange b)
{
    if (plot_range_is_empty(a))
        return b;
    if (plot_range_is_empty(b))
        return a;
    return (PlotRange){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Decades from a to b, both above 0: by their quotient, which is exact for close ones, as long as
 * there is one. */
static double decades_between(double a, double b)
{
    double quotient = b / a;
    return isfinite(quotient) && quotient > 1e-300 ? log10(quotient) : log10(b) - log10(a);
}

static PlotRange repair_log(PlotRange range)
{
    if (!(range.max > 0.0))
        return (PlotRange){1.0, 10.0};
    range.max = clamp(range.max, PLOT_LOG_MIN * 10.0, PLOT_VALUE_MAX);
    if (!(range.min > 0.0)) /* what cannot be shown: three decades below the other end */
        range.min = range.max * 1e-3;
    range.min = clamp(range.min, PLOT_LOG_MIN, PLOT_VALUE_MAX);
    double decades = decades_between(range.min, range.max);
    if (!(decades >= 1e-6)) { /* about a tenth of a decade to both sides */
        range.min = clamp(range.min * 0.8, PLOT_LOG_MIN, PLOT_VALUE_MAX * 0.5);
        range.max = clamp(range.max * 1.25, range.min * 1.5, PLOT_VALUE_MAX);
    }
    return range;
}

PlotRange plot_range_repair(PlotRange range, bool log10_scale)
{
    if (isnan(range.min) || isnan(range.max) ||
        (isinf(range.min) && isinf(range.max) && range.min > range.max))
        return log10_scale ? (PlotRange){1.0, 10.0} : (PlotRange){0.0, 1.0};
    if (range.min > range.max)
        range = (PlotRange){range.max, range.min};
    if (log10_scale)
        return repair_log(range);
    range.min = clamp(range.min, -PLOT_VALUE_MAX, PLOT_VALUE_MAX);
    range.max = clamp(range.max, -PLOT_VALUE_MAX, PLOT_VALUE_MAX);
    double size = fmax(fabs(range.min), fabs(range.max));
    if (range.max - range.min > size * narrowest && range.max - range.min >= 1e-300)
        return range;
    double middle = range.min / 2 + range.max / 2;
    double half = range.min == range.max ? (size > 0.0 ? size * 0.1 : 0.5) : size * narrowest;
    half = fmax(half, 1e-300);
    return (PlotRange){clamp(middle - half, -PLOT_VALUE_MAX, PLOT_VALUE_MAX * 0.9),
                       clamp(middle + half, -PLOT_VALUE_MAX * 0.9, PLOT_VALUE_MAX)};
}

/* Where a range lies on a line without a scale, and back. */
static PlotRange flat(PlotRange range, bool log10_scale)
{
    return log10_scale ? (PlotRange){log10(range.min), log10(range.max)} : range;
}

static PlotRange unflat(PlotRange range, bool log10_scale)
{
    return log10_scale ? (PlotRange){pow(10.0, range.min), pow(10.0, range.max)} : range;
}

PlotRange plot_range_pad(PlotRange range, bool log10_scale, double low, double high)
{
    range = plot_range_repair(range, log10_scale);
    PlotRange line = flat(range, log10_scale);
    double width = line.max - line.min;
    line.min -= width * low;
    line.max += width * high;
    return plot_range_repair(unflat(line, log10_scale), log10_scale);
}

/* A step is taken only where both ends stay inside, and apart. */
static PlotRange step_to(PlotRange old, PlotRange line, bool log10_scale)
{
    PlotRange wanted = unflat(line, log10_scale);
    PlotRange mended = plot_range_repair(wanted, log10_scale);
    bool kept = wanted.min == mended.min && wanted.max == mended.max && wanted.min < wanted.max;
    return kept ? wanted : old;
}

PlotRange plot_range_pan(PlotRange range, bool log10_scale, double share)
{
    range = plot_range_repair(range, log10_scale);
    if (!isfinite(share))
        return range;
    PlotRange line = flat(range, log10_scale);
    double step = (line.max - line.min) * share;
    return step_to(range, (PlotRange){line.min + step, line.max + step}, log10_scale);
}

PlotRange plot_range_zoom(PlotRange range, bool log10_scale, double factor, double at)
{
    range = plot_range_repair(range, log10_scale);
    if (!isfinite(factor) || factor <= 0.0)
        return range;
    PlotRange line = flat(range, log10_scale);
    double middle = log10_scale ? log10(at) : at;
    if (!isfinite(middle))
        middle = line.min / 2 + line.max / 2;
    return step_to(
        range,
        (PlotRange){middle - (middle - line.min) * factor, middle + (line.max - middle) * factor},
        log10_scale);
}

double plot_scale_to_px(const PlotScale *scale, double value)
{
    if (!isfinite(value) || (scale->log10 && value <= 0.0))
        return (double)NAN;
    double share;
    if (scale->log10)
        share = decades_between(scale->range.min, value) /
                decades_between(scale->range.min, scale->range.max);
    else
        /* By halves: a value beyond what is shown lies far outside, at the end of no overflow. */
        share = (value / 2 - scale->range.min / 2) / (scale->range.max / 2 - scale->range.min / 2);
    return scale->from + share * (scale->to - scale->from);
}

double plot_scale_from_px(const PlotScale *scale, double px)
{
    double share = (px - scale->from) / (scale->to - scale->from);
    if (scale->log10)
        return scale->range.min *
               pow(10.0, share * decades_between(scale->range.min, scale->range.max));
    return scale->range.min + share * (scale->range.max - scale->range.min);
}

bool plot_scale_same(const PlotScale *a, const PlotScale *b)
{
    return a->log10 == b->log10 && a->range.min == b->range.min && a->range.max == b->range.max &&
           a->from == b->from && a->to == b->to;
}
