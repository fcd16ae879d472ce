/* services/plot_reduce.c: see plot_reduce.h. */
#include "services/plot_reduce.h"

#include <math.h>
#include <stdlib.h>

bool plot_samples_reserve(PlotSamples *samples, int64_t more)
{
    int64_t wanted = samples->count + more;
    if (wanted <= samples->capacity)
        return true;
    wanted += wanted / 2 + 256;
    PlotSample *bigger = realloc(samples->items, (size_t)wanted * sizeof *bigger);
    if (bigger == NULL)
        return false;
    samples->items = bigger;
    samples->capacity = wanted;
    return true;
}

void plot_samples_free(PlotSamples *samples)
{
    free(samples->items);
    *samples = (PlotSamples){0};
}

static void append(PlotSamples *samples, double x, double y, int64_t index)
{
    samples->items[samples->count++] = (PlotSample){x, y, index};
}

/* ---- Where an element lies ---- */

/* Positions along the columns that never fall from one element to the next. */
typedef struct Walk {
    const PlotSeries *series;
    const PlotScale *scale;
    bool descending; /* x falls with the element's number */
    bool turned;     /* and pixels fall with the position */
    double end;      /* pixel of position 0 when turned */
} Walk;

static Walk walk_of(const PlotSeries *series, const PlotScale *scale)
{
    Walk walk = {.series = series, .scale = scale};
    walk.descending = series->data->columns[PLOT_COLUMN_X] == NULL && series->data->dx < 0.0;
    walk.turned = walk.descending != (scale->to < scale->from);
    walk.end = fmax(scale->from, scale->to);
    return walk;
}

static double position_of(const Walk *walk, double x)
{
    double px = plot_scale_to_px(walk->scale, x);
    if (isnan(px)) /* <= 0 on a logarithmic axis: before all others, or behind them */
        return walk->descending ? HUGE_VAL : -HUGE_VAL;
    return walk->turned ? walk->end - px : px;
}

static double position(const Walk *walk, int64_t i)
{
    return position_of(walk, plot_data_x(walk->series->data, i));
}

/* The first of from..count whose position is at least `at`, by doubling steps and then halving. */
static int64_t search(const Walk *walk, int64_t from, double at)
{
    int64_t count = walk->series->count;
    int64_t low = from, step = 1; /* all before low lie before `at` */
    while (low < count && position(walk, low) < at) {
        if (count - low <= step) {
            step = 0;
            break;
        }
        if (!(position(walk, low + step) < at))
            break;
        low += step;
        step *= 2;
    }
    if (low >= count || !(position(walk, low) < at))
        return low;
    int64_t high = step == 0 ? count : low + step;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (position(walk, middle) < at)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The same where x counts: computed, and put right by the neighbours. */
static int64_t search_counted(const Walk *walk, int64_t from, double at)
{
    const PlotSeries *series = walk->series;
    double px = walk->turned ? walk->end - at : at;
    double guess =
        ceil((plot_scale_from_px(walk->scale, px) - series->data->x0) / series->data->dx);
    if (isnan(guess))
        return search(walk, from, at);
    int64_t i = guess <= (double)from            ? from
                : guess >= (double)series->count ? series->count
                                                 : (int64_t)guess;
    for (int steps = 0; steps < 4; steps++) {
        if (i > from && !(position(walk, i - 1) < at))
            i--;
        else if (i < series->count && position(walk, i) < at)
            i++;
        else
            return i;
    }
    return search(walk, from, at);
}

static int64_t find(const Walk *walk, int64_t from, double at)
{
    return walk->series->data->columns[PLOT_COLUMN_X] == NULL ? search_counted(walk, from, at)
                                                              : search(walk, from, at);
}

int64_t plot_find(const PlotSeries *series, const PlotScale *x, double px)
{
    Walk walk = walk_of(series, x);
    return find(&walk, 0, walk.turned ? walk.end - px : px);
}

/* ---- What is in a column ---- */

static bool can_show(const PlotSeries *series, double y)
{
    return isfinite(y) && (!series->positive_only || y > 0.0);
}

static PlotRange range_of(const PlotSeries *series, PlotColumn column, const PlotIndex *index,
                          int64_t from, int64_t to, uint64_t *samples_read)
{
    const PlotData *data = series->data;
    if (index == NULL) {
        *samples_read += (uint64_t)(to - from);
        return plot_scan_elements(data, column, from, to, series->positive_only).range;
    }
    int64_t wrap = data->count - data->first;
    if (from >= wrap || to <= wrap) {
        int64_t place = plot_data_place(data, from);
        return plot_index_range(index, data, place, place + (to - from), samples_read);
    }
    return plot_range_union(
        plot_index_range(index, data, data->first + from, data->count, samples_read),
        plot_index_range(index, data, 0, to - wrap, samples_read));
}

static void append_element(const PlotSeries *series, PlotSamples *out, int64_t i)
{
    double y = plot_data_y(series->data, i);
    append(out, plot_data_x(series->data, i), can_show(series, y) ? y : (double)NAN, i);
}

/* Elements from..to-1 share a column and are more than four. */
static void append_column(const PlotSeries *series, PlotSamples *out, int64_t from, int64_t to,
                          uint64_t *samples_read)
{
    PlotRange range = range_of(series, PLOT_COLUMN_Y, series->index, from, to, samples_read);
    double x0 = plot_data_x(series->data, from), x1 = plot_data_x(series->data, to - 1);
    double middle = x0 / 2 + x1 / 2;
    *samples_read += 2;
    if (plot_range_is_empty(range)) {
        append(out, middle, (double)NAN, from);
        return;
    }
    append_element(series, out, from);
    double y = out->items[out->count - 1].y;
    bool low_first = isnan(y) || y - range.min <= range.max - y;
    append(out, middle, low_first ? range.min : range.max, -1);
    append(out, middle, low_first ? range.max : range.min, -1);
    append_element(series, out, to - 1);
}

bool plot_reduce_line(const PlotSeries *series, const PlotScale *x, int32_t columns,
                      PlotSamples *out, uint64_t *samples_read)
{
    Walk walk = walk_of(series, x);
    if (!plot_samples_reserve(out, (int64_t)columns * 4 + 2))
        return false;
    int64_t i = find(&walk, 0, 0.0);
    if (i > 0)
        append_element(series, out, i - 1);
    while (i < series->count) {
        double column = floor(position(&walk, i));
        if (!(column < (double)columns))
            break;
        int64_t end = find(&walk, i + 1, column + 1.0);
        if (end - i > 4) {
            append_column(series, out, i, end, samples_read);
        } else {
            *samples_read += (uint64_t)(end - i);
            for (; i < end; i++)
                append_element(series, out, i);
        }
        i = end;
    }
    if (i < series->count)
        append_element(series, out, i);
    return true;
}

/* ---- Bands ---- */

static void append_span(PlotSamples *out, double x, PlotRange range, int64_t index)
{
    bool empty = plot_range_is_empty(range);
    append(out, x, empty ? (double)NAN : range.min, index);
    append(out, x, empty ? (double)NAN : range.max, index);
}

static void append_pair(const PlotSeries *series, PlotSamples *out, int64_t i)
{
    double a = plot_data_y(series->data, i), b = plot_data_y2(series->data, i);
    PlotRange range = plot_range_empty();
    if (can_show(series, a) && can_show(series, b))
        range = (PlotRange){fmin(a, b), fmax(a, b)};
    append_span(out, plot_data_x(series->data, i), range, i);
}

bool plot_reduce_band(const PlotSeries *series, const PlotScale *x, int32_t columns,
                      PlotSamples *out, uint64_t *samples_read)
{
    Walk walk = walk_of(series, x);
    if (!plot_samples_reserve(out, (int64_t)columns * 4 + 4))
        return false;
    int64_t i = find(&walk, 0, 0.0);
    if (i > 0)
        append_pair(series, out, i - 1);
    while (i < series->count) {
        double column = floor(position(&walk, i));
        if (!(column < (double)columns))
            break;
        int64_t end = find(&walk, i + 1, column + 1.0);
        if (end - i > 2) {
            PlotRange range = plot_range_union(
                range_of(series, PLOT_COLUMN_Y, series->index, i, end, samples_read),
                range_of(series, PLOT_COLUMN_Y2, series->index2, i, end, samples_read));
            double x0 = plot_data_x(series->data, i), x1 = plot_data_x(series->data, end - 1);
            append_span(out, x0 / 2 + x1 / 2, range, i);
            i = end;
        }
        for (; i < end; i++)
            append_pair(series, out, i);
    }
    if (i < series->count)
        append_pair(series, out, i);
    return true;
}

/* ---- Any order ---- */

bool plot_reduce_unordered(const PlotSeries *series, const PlotScale *x, const PlotScale *y,
                           int64_t most, PlotSamples *out, uint64_t *samples_read)
{
    double last_x = (double)NAN, last_y = (double)NAN;
    int64_t start = out->count;
    *samples_read += (uint64_t)series->count;
    for (int64_t i = 0; i < series->count; i++) {
        double at_x = plot_data_x(series->data, i), at_y = plot_data_y(series->data, i);
        double px = floor(plot_scale_to_px(x, at_x)), py = floor(plot_scale_to_px(y, at_y));
        bool gap = isnan(px) || isnan(py);
        bool was_gap = isnan(last_x);
        if (gap ? was_gap : (px == last_x && py == last_y))
            continue;
        last_x = gap ? (double)NAN : px;
        last_y = py;
        if (out->count - start >= most || !plot_samples_reserve(out, 1))
            return false;
        append(out, at_x, gap ? (double)NAN : at_y, i);
    }
    return true;
}
