/* shell/runs/charts.h: the charts that the reader's thread keeps: loaded, extended, published.
 *
 * For reader.c and tests. One thread. A chart is loaded once per run, thinned by the database;
 * after that only rows that came later are asked for. */
#ifndef CALIPER_SHELL_RUNS_CHARTS_H
#define CALIPER_SHELL_RUNS_CHARTS_H

#include "shell/runs/snapshot.h"

enum {
    CHARTS_POINTS = 24000,    /* in one chart, shared by its runs */
    CHARTS_RUN_POINTS = 2000, /* of one run at most, and of a window */
    CHARTS_RUN_POINTS_MIN = 24
};

typedef struct ChartWanted {
    const char *tag;
    MetricsAxis axis;
    double smoothing;
    const uint64_t *runs;
    uint32_t run_count;
    /* Rows of these came since the last update, none of others did; all that came up to news_seq.
     */
    const uint64_t *news;
    uint32_t news_count;
    int64_t news_seq;
    bool has_range; /* more detail in from..to, where points stand for several rows */
    double from, to;
} ChartWanted;

typedef struct WorkSeries {
    uint64_t run;
    Curve whole, detail;
    uint64_t rows, gaps;
    double last, last_x;
    int64_t last_step, last_seq;
    int64_t seen_seq; /* all its rows up to it are in; never below the chart's synced_seq */
    bool wanted;
} WorkSeries;

typedef struct WorkChart {
    char *tag;
    MetricsAxis axis;
    WorkSeries *series;
    uint32_t count, capacity;
    uint32_t points;    /* per run, when it was loaded */
    int64_t synced_seq; /* all rows up to it are in */
    bool has_detail;
    double from, to;
    RunsChart *published;
    uint64_t used; /* for the reader: when it was wanted last */
} WorkChart;

/* How many points of one run a chart of so many holds. */
uint32_t charts_points_of(uint32_t run_count);

/* Brings it to what is wanted: loads runs that are missing, drops others, asks for what came since
 * (of all its runs when it `missed` updates, else of those in the news) and for detail in the
 * window; then publishes if anything changed. The number of queries is added to *queries. False:
 * the reader's error says why (or there is no memory); what was published stays. */
bool charts_update(WorkChart *chart, MetricsReader *reader, const ChartWanted *wanted, bool missed,
                   uint64_t *queries);
void charts_clear(WorkChart *chart);

#endif
