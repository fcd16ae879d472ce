/* See export_job.h. The block is the page's; the job is over before it goes. */
#include "shell/runs/export_job.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "jobs/jobs.h"
#include "store/metrics/export.h"

enum { PATH_BYTES = 4096, WORDS_BYTES = PATH_BYTES + 256, ASK_NS = 2000000 };

struct ExportJob {
    MetricsStore *store;
    DatabaseStop *stop;
    atomic_bool done; /* words and succeeded are there, and the job touches this no more */
    atomic_bool cancelled;
    bool replaces, succeeded;
    uint64_t job;
    char path[PATH_BYTES], words[WORDS_BYTES];
    uint32_t run_count;
    uint64_t runs[];
};

static void write_file(ExportJob *job)
{
    DatabaseError error = {.text = ""};
    if (!metrics_export_is_name(job->path)) {
        snprintf(job->words, sizeof job->words, "A name that ends in .parquet or .csv is wanted");
        return;
    }
    if (!job->replaces && access(job->path, F_OK) == 0) {
        snprintf(job->words, sizeof job->words, "%s is there already", job->path);
        return;
    }
    char *sql = metrics_export_sql("scalars", job->runs, job->run_count);
    if (sql != NULL)
        job->succeeded = metrics_export(job->store, sql, job->path, job->replaces, &error);
    if (job->succeeded)
        snprintf(job->words, sizeof job->words, "Written: %s", job->path);
    else
        snprintf(job->words, sizeof job->words, "%s", sql != NULL ? error.text : "no memory");
    for (char *at = job->words; *at != '\0'; at++)
        *at = (unsigned char)*at < 0x20 ? ' ' : *at;
    free(sql);
}

static void run(void *user, const CaliperJobControl *control)
{
    ExportJob *job = user;
    database_stop_watch(job->stop);
    if (!atomic_load(&job->cancelled) && !control->cancelled(control))
        write_file(job);
    else
        snprintf(job->words, sizeof job->words, "Cancelled");
    database_stop_watch(NULL);
    control->progress(control, 1.0f, job->words);
    atomic_store(&job->done, true);
}

/* A leading ~ is the home folder, as in a shell. */
static void set_path(ExportJob *job, const char *path)
{
    const char *home = getenv("HOME");
    bool is_home = path[0] == '~' && path[1] == '/' && home != NULL;
    snprintf(job->path, sizeof job->path, "%s%s", is_home ? home : "", is_home ? path + 1 : path);
}

ExportJob *export_job_start(MetricsStore *store, const uint64_t *runs, uint32_t run_count,
                            const char *path, bool replaces)
{
    char label[96];
    ExportJob *job = calloc(1, sizeof *job + run_count * sizeof job->runs[0]);
    DatabaseStop *stop = database_stop_create();
    if (job == NULL || stop == NULL) {
        log_item(OUT_OF_MEMORY, "export_job_start", (unsigned long long)run_count);
        goto failed;
    }
    job->store = store;
    job->stop = stop;
    job->replaces = replaces;
    job->run_count = run_count;
    memcpy(job->runs, runs, run_count * sizeof job->runs[0]);
    set_path(job, path);
    snprintf(label, sizeof label, "Export %.80s", path);
    job->job = jobs_submit(label, run, job, 0);
    if (job->job != 0)
        return job;
failed:
    database_stop_destroy(&stop);
    free(job);
    return NULL;
}

void export_job_drop(ExportJob **address)
{
    ExportJob *job = *address;
    *address = NULL;
    if (job == NULL)
        return;
    atomic_store(&job->cancelled, true);
    while (!atomic_load(&job->done)) {
        database_stop_ask(job->stop);
        nanosleep(&(struct timespec){.tv_nsec = ASK_NS}, NULL);
    }
    database_stop_destroy(&job->stop);
    free(job);
}

const char *export_job_words(const ExportJob *job)
{
    return atomic_load(&job->done) ? job->words : NULL;
}

bool export_job_succeeded(const ExportJob *job)
{
    return job->succeeded;
}
