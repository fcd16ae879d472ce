/* shell/runs/import_job.h: `caliper import tfevents` as a job: TensorBoard's runs come over while
 * the dashboard looks on.
 *
 * The command runs as a process of its own, whose rows this one takes over as it does anybody's.
 * Frame thread; nothing here waits. */
#ifndef CALIPER_SHELL_RUNS_IMPORT_JOB_H
#define CALIPER_SHELL_RUNS_IMPORT_JOB_H

#include <stdbool.h>

typedef struct ImportJob ImportJob;

/* NULL after one line. */
ImportJob *import_job_start(const char *folder, const char *data_root);
/* It is asked to end when it has not. NULLs *job, accepts NULL. */
void import_job_drop(ImportJob **job);
/* What came of it, one line; NULL: it is not known yet. Lives as long as the job. */
const char *import_job_words(const ImportJob *job);
/* After the words: whether it did what it was asked. */
bool import_job_succeeded(const ImportJob *job);

#endif
