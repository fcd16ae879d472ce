/* shell/runs/export_job.h: the chosen runs' scalars as a Parquet or CSV file, written by a job.
 * Frame thread; nothing here waits but the drop. */
#ifndef CALIPER_SHELL_RUNS_EXPORT_JOB_H
#define CALIPER_SHELL_RUNS_EXPORT_JOB_H

#include "store/metrics/metrics_store.h"

typedef struct ExportJob ExportJob;

/* `replaces`: a file that is there goes; else it is refused. NULL after one line. */
ExportJob *export_job_start(MetricsStore *store, const uint64_t *runs, uint32_t run_count,
                            const char *path, bool replaces);
/* Cancels one that is not done, and waits for it: it asks the store. NULLs *job, accepts NULL. */
void export_job_drop(ExportJob **job);
/* What came of it, one line; NULL: it is not known yet. Lives as long as the job. */
const char *export_job_words(const ExportJob *job);
/* After the words: whether the file is there. */
bool export_job_succeeded(const ExportJob *job);

#endif
