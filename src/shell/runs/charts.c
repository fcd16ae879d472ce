/* See charts.h. Reader's thread. */
#include "shell/runs/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t charts_points_of(uint32_t run_count)
{
    uint32_t points = CHARTS_POINTS / (run_count > 0 ? run_count : 1);
    if (points > CHARTS_RUN_POINTS)
        points = CHARTS_RUN_POINTS;
    return points > CHARTS_RUN_POINTS_MIN ? points : CHARTS_RUN_POINTS_MIN;
}

/* ---- Series ---- */

static void series_clear(WorkSeries *series)
{
    curve_free(&series->whole);
    curve_free(&series->detail);
}

void charts_clear(WorkChart *chart)
{
    for (uint32_t i = 0; i < chart->count; i++)
        series_clear(&chart->series[i]);
    free(chart->series);
    free(chart->tag);
    runs_chart_drop(&chart->published);
    *chart = (WorkChart){.tag = NULL};
}

static WorkSeries *find(WorkChart *chart, uint64_t run)
{
    uint32_t low = 0, high = chart->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (chart->series[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < chart->count && chart->series[low].run == run ? &chart->series[low] : NULL;
}

static int by_run(const void *a, const void *b)
{
    uint64_t x = ((const WorkSeries *)a)->run, y = ((const WorkSeries *)b)->run;
    return (x > y) - (x < y);
}

/* Room for the runs that are wanted and not there; those come last, for now. */
static bool add_missing(WorkChart *chart, const ChartWanted *wanted, uint32_t *out_before)
{
    uint32_t before = chart->count;
    if (before + wanted->run_count > chart->capacity) {
        uint32_t capacity = before + wanted->run_count;
        WorkSeries *series = realloc(chart->series, capacity * sizeof *series);
        if (series == NULL)
            return false;
        chart->series = series;
        chart->capacity = capacity;
    }
    uint32_t count = before;
    for (uint32_t i = 0; i < wanted->run_count; i++) {
        if (find(chart, wanted->runs[i]) == NULL)
            chart->series[count++] = (WorkSeries){
                .run = wanted->runs[i], .last = (double)NAN, .last_x = (double)NAN, .last_seq = 0};
    }
    chart->count = count;
    *out_before = before;
    return true;
}

/* True: some were dropped. */
static bool drop_unwanted(WorkChart *chart, const ChartWanted *wanted)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < chart->count; i++)
        chart->series[i].wanted = false;
    for (uint32_t i = 0; i < wanted->run_count; i++) {
        WorkSeries *series = find(chart, wanted->runs[i]);
        if (series != NULL)
            series->wanted = true;
    }
    for (uint32_t i = 0; i < chart->count; i++) {
        if (chart->series[i].wanted)
            chart->series[kept++] = chart->series[i];
        else
            series_clear(&chart->series[i]);
    }
    bool dropped = kept != chart->count;
    chart->count = kept;
    return dropped;
}

/* ---- Asking ---- */

static CurvePoint point_of(const MetricsBucket *bucket)
{
    return (CurvePoint){.first_x = bucket->first_x,
                        .last_x = bucket->last_x,
                        .mean = bucket->mean,
                        .least = bucket->least,
                        .greatest = bucket->greatest,
                        .rows = bucket->rows,
                        .gaps = bucket->gaps};
}

/* By arrival a row's place among its run's rows is its x. */
static void number(const WorkSeries *series, CurvePoint *point)
{
    point->first_x = (double)(series->rows + 1);
    point->last_x = (double)(series->rows + point->rows);
}

static bool take_bucket(WorkChart *chart, WorkSeries *series, const MetricsBucket *bucket)
{
    CurvePoint point = point_of(bucket);
    if (chart->axis == METRICS_AXIS_ARRIVAL)
        number(series, &point);
    if (!curve_add(&series->whole, &point))
        return false;
    series->rows += bucket->rows;
    series->gaps += bucket->gaps;
    if (bucket->last_seq >= series->last_seq) {
        series->last_seq = bucket->last_seq;
        series->last_step = bucket->last_step;
        series->last = bucket->last;
        series->last_x = point.last_x;
    }
    return true;
}

static bool ask(WorkChart *chart, MetricsReader *reader, const uint64_t *runs, uint32_t run_count,
                int64_t after_seq, uint32_t buckets, MetricsScalars *out, uint64_t *queries)
{
    MetricsWindow window = {.runs = runs,
                            .run_count = run_count,
                            .tag = chart->tag,
                            .axis = chart->axis,
                            .buckets = buckets,
                            .after_seq = after_seq};
    ++*queries;
    return metrics_read_scalars(reader, &window, out);
}

/* Runs that were not there before: the series from `before` on. */
static bool load_missing(WorkChart *chart, MetricsReader *reader, uint32_t before,
                         uint64_t *queries)
{
    uint32_t missing = chart->count - before;
    uint64_t *runs = malloc((missing + 1) * sizeof *runs);
    bool ok = runs != NULL;
    int64_t newest = 0;
    for (uint32_t i = 0; ok && i < missing; i++)
        runs[i] = chart->series[before + i].run;
    qsort(chart->series, chart->count, sizeof chart->series[0], by_run);
    for (uint32_t at = 0; ok && at < missing; at += METRICS_WINDOW_RUNS_MAX) {
        MetricsScalars read;
        uint32_t some =
            missing - at < METRICS_WINDOW_RUNS_MAX ? missing - at : METRICS_WINDOW_RUNS_MAX;
        ok = ask(chart, reader, runs + at, some, 0, chart->points, &read, queries);
        for (uint32_t i = 0; ok && i < read.count; i++) {
            WorkSeries *series = find(chart, read.items[i].run);
            ok = series == NULL || take_bucket(chart, series, &read.items[i]);
            if (read.items[i].last_seq > newest)
                newest = read.items[i].last_seq;
        }
        metrics_scalars_free(&read);
    }
    /* What others have is up to synced_seq; a first load says where that is. */
    if (ok && before == 0)
        chart->synced_seq = newest;
    for (uint32_t i = 0; i < chart->count; i++) {
        WorkSeries *series = &chart->series[i];
        if (series->seen_seq < series->last_seq)
            series->seen_seq = series->last_seq;
        if (series->seen_seq < chart->synced_seq)
            series->seen_seq = chart->synced_seq;
    }
    free(runs);
    return ok;
}

typedef enum Extended {
    EXTENDED_NOTHING,
    EXTENDED_MORE,
    EXTENDED_UNSURE,
    EXTENDED_FAILED
} Extended;

/* Rows that came after the last ones. Where a run was read later than others its rows come twice;
 * such a row is known by its seq. UNSURE: it came together with others, load anew. */
static Extended extend(WorkChart *chart, MetricsReader *reader, const uint64_t *runs,
                       uint32_t run_count, int64_t news_seq, uint64_t *queries)
{
    MetricsScalars read;
    Extended result = EXTENDED_NOTHING;
    /* The query may see rows of other runs' time that the news did not tell of: those are the
     * next news'. */
    int64_t newest = chart->synced_seq > news_seq ? chart->synced_seq : news_seq;
    if (run_count > METRICS_WINDOW_RUNS_MAX)
        return EXTENDED_UNSURE;
    if (!ask(chart, reader, runs, run_count, chart->synced_seq, METRICS_BUCKETS_MAX, &read,
             queries))
        return EXTENDED_FAILED;
    for (uint32_t i = 0; i < read.count && result < EXTENDED_UNSURE; i++) {
        const MetricsBucket *bucket = &read.items[i];
        WorkSeries *series = find(chart, bucket->run);
        if (series == NULL || (bucket->rows == 1 && bucket->last_seq <= series->seen_seq))
            continue;
        if (bucket->rows > 1 && series->seen_seq > chart->synced_seq)
            result = EXTENDED_UNSURE;
        else if (!take_bucket(chart, series, bucket))
            result = EXTENDED_FAILED;
        else
            result = EXTENDED_MORE;
    }
    metrics_scalars_free(&read);
    chart->synced_seq = newest;
    for (uint32_t i = 0; i < chart->count; i++) {
        WorkSeries *series = &chart->series[i];
        if (series->seen_seq < series->last_seq)
            series->seen_seq = series->last_seq;
        if (series->seen_seq < newest)
            series->seen_seq = newest;
        if (series->whole.count > 2 * chart->points)
            curve_thin(&series->whole, chart->points);
    }
    return result;
}

static bool is_merged(const WorkChart *chart)
{
    for (uint32_t i = 0; i < chart->count; i++) {
        if (chart->series[i].whole.count < chart->series[i].rows)
            return true;
    }
    return false;
}

/* The window's rows again, thinned to as many points as the whole. */
static bool load_detail(WorkChart *chart, MetricsReader *reader, const ChartWanted *wanted,
                        uint64_t *queries)
{
    MetricsScalars read;
    MetricsWindow window = {.runs = wanted->runs,
                            .run_count = wanted->run_count,
                            .tag = chart->tag,
                            .axis = chart->axis,
                            .has_range = true,
                            .from = wanted->from,
                            .to = wanted->to,
                            .buckets = charts_points_of(wanted->run_count)};
    for (uint32_t i = 0; i < chart->count; i++)
        curve_free(&chart->series[i].detail);
    chart->has_detail = false;
    if (wanted->run_count == 0 || wanted->run_count > METRICS_WINDOW_RUNS_MAX)
        return true;
    ++*queries;
    bool ok = metrics_read_scalars(reader, &window, &read);
    for (uint32_t i = 0; ok && i < read.count; i++) {
        WorkSeries *series = find(chart, read.items[i].run);
        CurvePoint point = point_of(&read.items[i]);
        ok = series == NULL || curve_add(&series->detail, &point);
    }
    metrics_scalars_free(&read);
    chart->has_detail = ok;
    chart->from = wanted->from;
    chart->to = wanted->to;
    return ok;
}

/* ---- Publishing ---- */

/* The whole curve with the detail in its place; `out` has room for both. */
static uint32_t composed(const WorkChart *chart, const WorkSeries *series, CurvePoint *out)
{
    uint32_t count = 0;
    if (!chart->has_detail || series->detail.count == 0) {
        memcpy(out, series->whole.points, series->whole.count * sizeof *out);
        return series->whole.count;
    }
    double from = series->detail.points[0].first_x;
    double to = series->detail.points[series->detail.count - 1].last_x;
    for (uint32_t i = 0; i < series->whole.count && series->whole.points[i].first_x < from; i++) {
        if (series->whole.points[i].last_x < from)
            out[count++] = series->whole.points[i];
    }
    for (uint32_t i = 0; i < series->detail.count; i++)
        out[count++] = series->detail.points[i];
    for (uint32_t i = 0; i < series->whole.count; i++) {
        if (series->whole.points[i].first_x > to)
            out[count++] = series->whole.points[i];
    }
    return count;
}

enum { COLUMNS = 9 };

/* Fills the columns; `values` has room for COLUMNS times `count`. Returns what is behind them. */
static double *fill(RunsSeries *out, const WorkSeries *series, const CurvePoint *points,
                    uint32_t count, double smoothing, double *values)
{
    *out = (RunsSeries){.run = series->run,
                        .count = count,
                        .x = values,
                        .mean = values + count,
                        .least = values + 2 * (size_t)count,
                        .greatest = values + 3 * (size_t)count,
                        .smooth = values + 4 * (size_t)count,
                        .gap_x = values + 5 * (size_t)count,
                        .gap_y = values + 6 * (size_t)count,
                        .path = values + 7 * (size_t)count,
                        .rows = series->rows,
                        .gaps = series->gaps,
                        .last = series->last,
                        .last_x = series->last_x,
                        .last_step = series->last_step,
                        .last_seq = series->last_seq};
    double seen = (double)NAN;
    for (uint32_t i = 0; i < count && isnan(seen); i++)
        seen = points[i].mean; /* gaps before the first value are marked at its height */
    for (uint32_t i = 0; i < count; i++) {
        const CurvePoint *point = &points[i];
        out->x[i] = point->first_x + (point->last_x - point->first_x) / 2;
        out->mean[i] = point->mean;
        out->least[i] = point->least;
        out->greatest[i] = point->greatest;
        out->merged |= point->rows > 1;
        if (!isnan(point->mean))
            seen = point->mean;
        if (point->gaps > 0) {
            out->gap_x[out->gap_count] = out->x[i];
            out->gap_y[out->gap_count++] = isnan(seen) ? 0.0 : seen;
        }
    }
    curve_smooth(points, count, smoothing, out->smooth);
    for (uint32_t i = 0; i < count; i++) {
        out->path[2 * i] = out->x[i];
        out->path[2 * i + 1] = out->smooth[i];
    }
    return values + COLUMNS * (size_t)count;
}

/* Extremes of what is drawn, and those without the outliers: 5 % at each end, over all runs. */
static void find_ranges(RunsChart *chart, double *scratch)
{
    enum { SHARE_PERCENT = 5 };
    uint32_t count = 0;
    chart->first_x = chart->last_x = (double)NAN;
    chart->low = chart->high = chart->inner_low = chart->inner_high = (double)NAN;
    for (uint32_t i = 0; i < chart->count; i++) {
        const RunsSeries *series = &chart->series[i];
        chart->merged |= series->merged;
        if (series->count > 0) {
            chart->first_x = fmin(chart->first_x, series->x[0]);
            chart->last_x = fmax(chart->last_x, series->x[series->count - 1]);
        }
        for (uint32_t k = 0; k < series->count; k++) {
            chart->low = fmin(chart->low, series->least[k]);
            chart->high = fmax(chart->high, series->greatest[k]);
            scratch[count++] = series->mean[k];
        }
    }
    curve_range(scratch, count, SHARE_PERCENT / 100.0, &chart->inner_low, &chart->inner_high);
}

static RunsChart *publish(const WorkChart *chart, const ChartWanted *wanted)
{
    static uint32_t revisions;
    size_t total = 0, most = 0;
    for (uint32_t i = 0; i < chart->count; i++) {
        size_t points = (size_t)chart->series[i].whole.count + chart->series[i].detail.count;
        total += points;
        most = points > most ? points : most;
    }
    RunsChart *made = calloc(1, sizeof *made);
    CurvePoint *points = malloc((most + 1) * sizeof *points);
    double *scratch = malloc((total + 1) * sizeof *scratch);
    if (made == NULL || points == NULL || scratch == NULL)
        goto failed;
    made->references = 1;
    made->tag = strdup(chart->tag);
    made->series = calloc(chart->count + 1, sizeof *made->series);
    made->values = malloc((total * COLUMNS + 1) * sizeof *made->values);
    if (made->tag == NULL || made->series == NULL || made->values == NULL)
        goto failed;
    made->axis = chart->axis;
    made->smoothing = wanted->smoothing;
    made->has_range = chart->has_detail;
    made->from = chart->from;
    made->to = chart->to;
    made->newest_seq = chart->synced_seq;
    made->revision = ++revisions != 0 ? revisions : ++revisions;
    double *at = made->values;
    for (uint32_t i = 0; i < chart->count; i++) {
        const WorkSeries *series = &chart->series[i];
        if (series->rows == 0)
            continue;
        uint32_t count = composed(chart, series, points);
        at = fill(&made->series[made->count++], series, points, count, wanted->smoothing, at);
        made->rows += series->rows;
        made->gaps += series->gaps;
    }
    find_ranges(made, scratch);
    free(points);
    free(scratch);
    return made;
failed:
    free(points);
    free(scratch);
    runs_chart_drop(&made);
    return NULL;
}

/* ---- One update ---- */

static bool begin_again(WorkChart *chart, const ChartWanted *wanted)
{
    RunsChart *published = chart->published;
    uint64_t used = chart->used;
    chart->published = NULL;
    charts_clear(chart);
    chart->published = published;
    chart->used = used;
    chart->tag = strdup(wanted->tag);
    chart->axis = wanted->axis;
    chart->points = charts_points_of(wanted->run_count);
    return chart->tag != NULL;
}

static bool load(WorkChart *chart, MetricsReader *reader, const ChartWanted *wanted,
                 bool *out_changed, uint64_t *queries)
{
    uint32_t before = 0;
    *out_changed |= drop_unwanted(chart, wanted);
    if (!add_missing(chart, wanted, &before))
        return false;
    if (before == chart->count)
        return true;
    *out_changed = true;
    return load_missing(chart, reader, before, queries);
}

static bool wants_other_detail(const WorkChart *chart, const ChartWanted *wanted)
{
    if (chart->axis == METRICS_AXIS_ARRIVAL)
        return false;
    return wanted->has_range
               ? !chart->has_detail || chart->from != wanted->from || chart->to != wanted->to
               : chart->has_detail;
}

bool charts_update(WorkChart *chart, MetricsReader *reader, const ChartWanted *wanted, bool missed,
                   uint64_t *queries)
{
    uint32_t points = charts_points_of(wanted->run_count);
    bool changed = chart->published == NULL || chart->published->smoothing != wanted->smoothing;
    bool fresh = chart->tag == NULL || strcmp(chart->tag, wanted->tag) != 0 ||
                 chart->axis != wanted->axis || points > 2 * chart->points ||
                 2 * points < chart->points;
    if (fresh && !begin_again(chart, wanted))
        goto failed;
    changed |= fresh;
    uint32_t before = chart->count;
    bool other_runs = false;
    if (!load(chart, reader, wanted, &other_runs, queries))
        goto failed;
    bool newer = false;
    const uint64_t *late = missed ? wanted->runs : wanted->news;
    uint32_t late_count = missed ? wanted->run_count : wanted->news_count;
    if (before > 0 && late_count > 0) {
        Extended extended = extend(chart, reader, late, late_count, wanted->news_seq, queries);
        newer = extended == EXTENDED_MORE;
        if (extended == EXTENDED_UNSURE) {
            newer = true;
            if (!begin_again(chart, wanted) || !load(chart, reader, wanted, &newer, queries))
                goto failed;
        } else if (extended == EXTENDED_FAILED) {
            goto failed;
        }
    } else if (chart->synced_seq < wanted->news_seq) {
        chart->synced_seq = wanted->news_seq;
    }
    if (wants_other_detail(chart, wanted) || (chart->has_detail && (other_runs || newer))) {
        ChartWanted detail = *wanted;
        if (!wanted->has_range || !is_merged(chart))
            detail.run_count = 0;
        changed |= chart->has_detail || detail.run_count > 0;
        if (!load_detail(chart, reader, &detail, queries))
            goto failed;
    }
    if (changed || other_runs || newer) {
        RunsChart *made = publish(chart, wanted);
        if (made == NULL)
            goto failed;
        runs_chart_drop(&chart->published);
        chart->published = made;
    }
    return true;
failed: /* what was published stays; the next time it begins anew */
    free(chart->tag);
    chart->tag = NULL;
    return false;
}
