/* shell/runs/snapshot.h: what the dashboard shows of the store at one moment, never changed again.
 *
 * Made by the reader's thread (reader.h), looked at by the frame thread. Parts are counted: a new
 * snapshot shares with the one before what has not changed. */
#ifndef CALIPER_SHELL_RUNS_SNAPSHOT_H
#define CALIPER_SHELL_RUNS_SNAPSHOT_H

#include <stdatomic.h>

#include "shell/runs/curve.h"
#include "store/metrics/metrics_read.h"

/* A tag of one kind, over all runs that are not deleted. */
typedef struct RunsTag {
    MetricsKind kind;
    const char *name; /* lives as long as the catalog */
    uint32_t runs;
    uint64_t rows;
} RunsTag;

typedef struct RunsCatalog {
    atomic_uint references;
    uint64_t number;  /* another one for each that was read, from 1 */
    MetricsRuns runs; /* deleted ones too */
    MetricsTags tags;
    RunsTag *kinds; /* by kind, then name */
    uint32_t kind_count;
    bool own_tags;      /* `tags` is one block of ours, made from the catalog before */
    bool *twins;        /* of each run: another has its experiment and name */
    int64_t read_us;    /* when, since 1970 */
    int64_t newest_seq; /* the tags tell of all rows up to it */
} RunsCatalog;

/* One run's curve in a chart, as columns. */
typedef struct RunsSeries {
    uint64_t run;
    uint32_t count;
    double *x, *mean, *least, *greatest, *smooth;
    double *path;       /* x and what is drawn of it, by turns */
    uint32_t gap_count; /* points with a gap in them, where they are to be marked */
    double *gap_x, *gap_y;
    uint64_t rows, gaps; /* of all its rows */
    bool merged;         /* a point stands for several rows somewhere: bands are worth drawing */
    double last, last_x; /* the newest value by arrival, and where it is */
    int64_t last_step, last_seq;
} RunsSeries;

typedef struct RunsChart {
    atomic_uint references;
    char *tag;
    MetricsAxis axis;
    double smoothing;
    bool has_range;
    double from, to;
    RunsSeries *series;
    uint32_t count;
    uint32_t revision; /* another one for other numbers; never 0 */
    uint64_t rows, gaps;
    bool merged;                  /* some series is */
    double first_x, last_x;       /* of all points; NaN: none */
    double low, high;             /* of the values; NaN: none */
    double inner_low, inner_high; /* without the outliers */
    int64_t newest_seq;
    double *values; /* all columns lie in this one block */
} RunsChart;

enum { RUNS_BINS = 48, RUNS_HISTOGRAM_STEPS = 64 };

/* A tag of histograms, images or texts of one run. */
typedef struct RunsMedia {
    atomic_uint references;
    uint64_t run;
    char *tag;
    MetricsKind kind;
    /* Histograms: each step's values counted into bins between the extremes of all of them. */
    uint32_t step_count;
    uint64_t rows; /* there are; step_count are shown */
    int64_t *steps;
    double low, high;
    double *counts; /* step_count rows of RUNS_BINS */
    uint64_t not_finite;
    /* Images: which there are, and the one that was asked for. */
    MetricsImages list, image;
    MetricsTexts text_list, text; /* likewise; its first RUNS_TEXT_CHARACTERS */
} RunsMedia;

enum { RUNS_CHARTS_MAX = 64, RUNS_ERROR_BYTES = 256, RUNS_TEXT_CHARACTERS = 20000 };

typedef struct RunsSnapshot {
    struct RunsSnapshot *next;
    uint64_t request; /* the newest request that this answers whole */
    RunsCatalog *catalog;
    RunsChart *charts[RUNS_CHARTS_MAX];
    uint32_t chart_count;
    RunsMedia *media;
    int64_t copy_us; /* when the copy was made that was read; 0: it is live */
    bool owner;      /* notes and deletions are possible */
    uint64_t queries;
    double slowest_ms;            /* of the last round */
    char error[RUNS_ERROR_BYTES]; /* "": none */
} RunsSnapshot;

/* The runs anew, and their tags: read whole when `before` is NULL, else those of `before` with
 * `news` added. NULL: the reader's error says why, or there is no memory. */
RunsCatalog *runs_catalog_read(MetricsReader *reader, const RunsCatalog *before,
                               const MetricsTags *news);
void runs_catalog_drop(RunsCatalog **catalog);
RunsChart *runs_chart_hold(RunsChart *chart);
void runs_chart_drop(RunsChart **chart);
RunsMedia *runs_media_read(MetricsReader *reader, uint64_t run, const char *tag, MetricsKind kind,
                           int64_t wanted_seq);
void runs_media_drop(RunsMedia **media);
void runs_snapshot_free(RunsSnapshot *snapshot);

/* The run's place in the catalog; -1: it is not there. */
int32_t runs_catalog_find(const RunsCatalog *catalog, uint64_t run);

#endif
