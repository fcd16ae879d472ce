/* store/metrics/export.h: what runs logged, as Parquet or CSV.
 *
 * For cli/ and the Runs dashboard. Any thread that may wait for the disk. */
#ifndef CALIPER_STORE_METRICS_EXPORT_H
#define CALIPER_STORE_METRICS_EXPORT_H

#include "store/database/database.h"
#include "store/metrics/metrics_store.h"

/* Whether a file of that name can be written: it ends in .parquet or .csv. */
bool metrics_export_is_name(const char *path);
/* The SELECT that a file of `table` (scalars, histograms, images, texts, runs) holds: of these
 * runs, of all with none; never of deleted ones. malloc'ed, NULL without memory. */
char *metrics_export_sql(const char *table, const uint64_t *runs, uint32_t run_count);
/* Writes the rows of `sql` beside `path` and, once they are durable, in its place; what was there
 * by then is replaced, or with `replaces` false left alone. False and *error: nothing is left
 * behind. */
bool metrics_export(MetricsStore *store, const char *sql, const char *path, bool replaces,
                    DatabaseError *error);

#endif
