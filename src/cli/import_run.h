/* cli/import_run.h: one folder of event files becomes one run of caliper.metrics.
 *
 * For cli/import.c. First thread of the process. */
#ifndef CALIPER_CLI_IMPORT_RUN_H
#define CALIPER_CLI_IMPORT_RUN_H

#include "cli/import_find.h"
#include "store/metrics/metrics_store.h"

typedef struct ImportCounts {
    uint64_t scalars, histograms, images, texts, hparams;
    uint64_t images_unread; /* not PNG, or damaged */
    uint64_t other;         /* values of other kinds */
    uint64_t records, damaged_records, damaged_bytes, undecoded, too_large, pending_bytes;
} ImportCounts;

typedef struct ImportSpan {    /* what tells whether a folder was imported before */
    int64_t first_us, last_us; /* the earliest and the latest time in it */
    uint64_t items;
} ImportSpan;

/* Reads the folder for its span and counts alone. False after one line when a file cannot be read,
 * or when the work was interrupted (without one). */
bool import_look(const FoundRun *found, ImportSpan *span, ImportCounts *counts);
/* Logs everything into a new run; 0 after one line. `counts` are filled anew. *whole is false when
 * it was interrupted, or a file could not be read to its end. */
uint64_t import_run(MetricsStore *store, const char *experiment, const FoundRun *found,
                    const ImportSpan *span, ImportCounts *counts, bool *whole);

/* Values that a histogram's buckets stand for, evenly over the count; at most
 * IMPORT_HISTOGRAM_VALUES. How many were written. Pure; for tests too. */
enum { IMPORT_HISTOGRAM_VALUES = 1024 };
struct TfeventsItem;
size_t import_histogram_values(const struct TfeventsItem *item, float *out);

#endif
