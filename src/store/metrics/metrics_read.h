/* store/metrics/metrics_read.h: what was logged, read back for people: runs, tags, curves.
 *
 * For the Runs dashboard, exports and cli/. A reader is for one thread at a time, never for the
 * frame thread: every call may wait for the disk. In the process that owns the data root it reads
 * the live database, elsewhere the owner's newest snapshot. Answers are the caller's, in one block
 * that its free function gives back; what is a list is thinned and windowed by the database. When
 * MetricsStatus.commits has grown there is something new. False: metrics_reader_error says why, one
 * line was written, and *out is empty. */
#ifndef CALIPER_STORE_METRICS_READ_H
#define CALIPER_STORE_METRICS_READ_H

#include "store/metrics/metrics_store.h"

typedef struct MetricsReader MetricsReader;

/* Touches no disk. The store outlives it. NULL after one line. */
MetricsReader *metrics_reader_create(MetricsStore *store);
void metrics_reader_destroy(MetricsReader **reader);
const char *metrics_reader_error(const MetricsReader *reader);
/* When the snapshot of the last call was made, microseconds since 1970; 0: it was live. */
int64_t metrics_reader_snapshot_us(const MetricsReader *reader);

/* ---- Runs ---- */

typedef enum MetricsRunState {
    METRICS_RUN_STATE_RUNNING = 0,
    METRICS_RUN_STATE_DONE = 1,
    METRICS_RUN_STATE_INTERRUPTED = 2 /* its process ended before it did */
} MetricsRunState;

typedef struct MetricsRunInfo {
    uint64_t id;
    const char *experiment, *name;
    const char *hparams; /* JSON as it was given; NULL: none */
    const char *note;    /* "" when there is none */
    MetricsRunState state;
    bool deleted;
    int64_t started_us, ended_us; /* since 1970; ended_us 0: not yet */
    uint64_t dropped;             /* rows that found the queue full */
} MetricsRunInfo;

typedef struct MetricsRuns {
    MetricsRunInfo *items; /* by id */
    uint32_t count;
    void *block;
} MetricsRuns;
bool metrics_read_runs(MetricsReader *reader, MetricsRuns *out);
void metrics_runs_free(MetricsRuns *runs);

/* ---- Tags ---- */

typedef enum MetricsKind {
    METRICS_KIND_SCALAR = 0,
    METRICS_KIND_HISTOGRAM = 1,
    METRICS_KIND_IMAGE = 2,
    METRICS_KIND_TEXT = 3
} MetricsKind;

typedef struct MetricsTag {
    uint64_t run;
    MetricsKind kind;
    const char *tag;
    uint64_t rows;
    int64_t first_step, last_step; /* the least and the greatest */
    int64_t newest_seq;
} MetricsTag;

typedef struct MetricsTags {
    MetricsTag *items; /* by kind, tag, run */
    uint32_t count;
    void *block;
} MetricsTags;
/* Of one run; 0: of all. */
bool metrics_read_tags(MetricsReader *reader, uint64_t run, MetricsTags *out);
/* Of the rows alone that came after `after_seq`: what a reader that knows the rest has missed. */
bool metrics_read_news(MetricsReader *reader, int64_t after_seq, MetricsTags *out);
void metrics_tags_free(MetricsTags *tags);

/* ---- Scalars ---- */

typedef enum MetricsAxis {
    METRICS_AXIS_STEP = 0,
    METRICS_AXIS_WALL = 1,     /* seconds since 1970 */
    METRICS_AXIS_RELATIVE = 2, /* seconds since the run began */
    METRICS_AXIS_ARRIVAL = 3   /* seq */
} MetricsAxis;

typedef struct MetricsWindow {
    const uint64_t *runs;
    uint32_t run_count;
    const char *tag;
    MetricsAxis axis;
    bool has_range;    /* else all there is */
    double from, to;   /* both ends are in it */
    uint32_t buckets;  /* per run, at most METRICS_BUCKETS_MAX; a run with fewer rows in the window
                          than that comes row by row */
    int64_t after_seq; /* only rows that came later; 0: all */
} MetricsWindow;
enum { METRICS_BUCKETS_MAX = 65536, METRICS_WINDOW_RUNS_MAX = 4096 };

typedef struct MetricsBucket {
    uint64_t run;
    double first_x, last_x; /* the least and the greatest x in it */
    double first, last;     /* the first and last value by arrival; may be NaN or infinite */
    double least, greatest; /* of the finite values; NaN when there is none */
    double mean;            /* of the finite values */
    uint64_t rows;
    uint64_t gaps;                             /* of those, NaN or infinite */
    int64_t last_step, last_seq, last_wall_us; /* of the last row by arrival */
} MetricsBucket;

typedef struct MetricsScalars {
    MetricsBucket *items; /* by run, then x; rows with one x by arrival */
    uint32_t count;
    void *block;
} MetricsScalars;
bool metrics_read_scalars(MetricsReader *reader, const MetricsWindow *window, MetricsScalars *out);
void metrics_scalars_free(MetricsScalars *scalars);

/* ---- Histograms and images ---- */

typedef struct MetricsHistogram {
    int64_t step, seq, wall_us;
    const float *values;
    uint64_t count;
} MetricsHistogram;

typedef struct MetricsHistograms {
    MetricsHistogram *items; /* by step, then seq */
    uint32_t count;
    uint64_t rows; /* there are in the window; `items` are evenly chosen of them */
    void *block;
} MetricsHistograms;
/* Of the steps from..to, at most `most` (1 on). */
bool metrics_read_histograms(MetricsReader *reader, uint64_t run, const char *tag, int64_t from,
                             int64_t to, uint32_t most, MetricsHistograms *out);
void metrics_histograms_free(MetricsHistograms *histograms);

typedef struct MetricsImage {
    int64_t step, seq, wall_us;
    uint32_t width, height, channels;
    const uint8_t *bytes; /* (height, width, channels); NULL in a list */
} MetricsImage;

typedef struct MetricsImages {
    MetricsImage *items; /* by step, then seq */
    uint32_t count;
    void *block;
} MetricsImages;
/* Which there are, without their bytes. */
bool metrics_read_image_list(MetricsReader *reader, uint64_t run, const char *tag,
                             MetricsImages *out);
/* One, by its seq; `count` is 0 when there is none. */
bool metrics_read_image(MetricsReader *reader, uint64_t run, int64_t seq, MetricsImages *out);
void metrics_images_free(MetricsImages *images);

/* ---- Texts ---- */

typedef struct MetricsText {
    int64_t step, seq, wall_us;
    uint64_t bytes;    /* all of it */
    const char *value; /* NULL in a list; ends with NUL, but may hold others */
    uint64_t value_bytes;
} MetricsText;

typedef struct MetricsTexts {
    MetricsText *items; /* by step, then seq */
    uint32_t count;
    void *block;
} MetricsTexts;
/* Which there are, without what they say. */
bool metrics_read_text_list(MetricsReader *reader, uint64_t run, const char *tag,
                            MetricsTexts *out);
/* One, by its seq, its first `most` characters; `count` is 0 when there is none. */
bool metrics_read_text(MetricsReader *reader, uint64_t run, int64_t seq, uint32_t most,
                       MetricsTexts *out);
void metrics_texts_free(MetricsTexts *texts);

#endif
