/* cli/import.c: `caliper import tfevents DIR`: TensorBoard's runs into caliper.metrics. First
 * thread. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/artifacts_report.h"
#include "cli/cli.h"
#include "cli/import_find.h"
#include "cli/import_run.h"
#include "core/log.h"
#include "core/paths.h"
#include "formats/tfevents.h"
#include "store/artifacts/artifact_store.h"
#include "store/metrics/metrics_read.h"

typedef enum RunState {
    RUN_STATE_IMPORTED,
    RUN_STATE_REPLACED, /* the folder had grown since it was imported; that run is marked deleted */
    RUN_STATE_SKIPPED,  /* it was imported before, as it is */
    RUN_STATE_EMPTY,    /* nothing in it is kept */
    RUN_STATE_FAILED
} RunState;

static const char *const state_words[] = {"imported", "replaced", "skipped", "empty", "failed"};

typedef struct Session {
    MetricsStore *store;
    MetricsRuns runs; /* those there were before */
    const char *experiment;
    bool json;
    size_t printed;
    ImportCounts total;
    uint64_t of_state[5];
} Session;

/* ---- Printing ---- */

typedef struct NamedCount {
    const char *name;
    size_t offset;
} NamedCount;

#define COUNT(member)                           \
    {                                           \
#member, offsetof(ImportCounts, member) \
    }
static const NamedCount named_counts[] = {
    COUNT(scalars),         COUNT(histograms),    COUNT(images),    COUNT(texts),
    COUNT(hparams),         COUNT(images_unread), COUNT(other),     COUNT(records),
    COUNT(damaged_records), COUNT(damaged_bytes), COUNT(undecoded), COUNT(too_large),
    COUNT(pending_bytes)};
enum { COUNTS = sizeof named_counts / sizeof named_counts[0] };

static uint64_t *count_at(ImportCounts *counts, size_t index)
{
    return (uint64_t *)(void *)((char *)counts + named_counts[index].offset);
}

static void print_counts_json(ImportCounts *counts)
{
    for (size_t i = 0; i < COUNTS; i++)
        printf("%s\"%s\": %llu", i > 0 ? ", " : "", named_counts[i].name,
               (unsigned long long)*count_at(counts, i));
}

/* "300 scalars, 4 histograms, ..." without what is none. */
static void print_counts(ImportCounts *counts)
{
    static const char *const words[] = {"scalars",
                                        "histograms (values drawn from their buckets)",
                                        "images",
                                        "texts",
                                        "settings",
                                        "images that are not PNG (not kept)",
                                        "values of other kinds (not kept)",
                                        NULL,
                                        "damaged records",
                                        "damaged bytes",
                                        "records that are no events",
                                        "records too large",
                                        "bytes of a record that was not ended"};
    bool first = true;
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t count = *count_at(counts, i);
        if (count == 0 || words[i] == NULL)
            continue;
        printf("%s%llu %s", first ? "" : ", ", (unsigned long long)count, words[i]);
        first = false;
    }
    puts(first ? "nothing" : "");
}

static void print_run(Session *session, const char *name, RunState state, uint64_t run,
                      ImportCounts *counts)
{
    static char text[4 * PATH_MAX + 1];
    if (session->json) {
        printf("%s\n  {\"name\": ", session->printed > 0 ? "," : "");
        artifacts_print_json_string(name);
        printf(", \"state\": \"%s\", \"run\": %llu, ", state_words[state], (unsigned long long)run);
        print_counts_json(counts);
        fputs("}", stdout);
    } else {
        if (strlen(name) < PATH_MAX)
            artifact_name_text(name, text);
        printf("%-9s run %llu  %s: ", state_words[state], (unsigned long long)run, text);
        print_counts(counts);
    }
    session->printed++;
    session->of_state[state]++;
    for (size_t i = 0; i < COUNTS; i++)
        *count_at(&session->total, i) += *count_at(counts, i);
}

static void print_end(Session *session)
{
    if (session->json) {
        printf("],\n \"total\": {");
        print_counts_json(&session->total);
        puts("}}");
        return;
    }
    printf("%llu imported, %llu replaced, %llu skipped, %llu empty, %llu failed: ",
           (unsigned long long)session->of_state[RUN_STATE_IMPORTED],
           (unsigned long long)session->of_state[RUN_STATE_REPLACED],
           (unsigned long long)session->of_state[RUN_STATE_SKIPPED],
           (unsigned long long)session->of_state[RUN_STATE_EMPTY],
           (unsigned long long)session->of_state[RUN_STATE_FAILED]);
    print_counts(&session->total);
}

/* ---- Runs ---- */

/* The run that this folder was imported as: same experiment, name and first time. */
static const MetricsRunInfo *earlier_run(const Session *session, const char *name,
                                         const ImportSpan *span)
{
    for (uint32_t i = session->runs.count; i-- > 0;) {
        const MetricsRunInfo *run = &session->runs.items[i];
        if (!run->deleted && run->started_us == span->first_us &&
            strcmp(run->experiment, session->experiment) == 0 && strcmp(run->name, name) == 0)
            return run;
    }
    return NULL;
}

static void import_one(Session *session, const FoundRun *found)
{
    ImportSpan span;
    ImportCounts counts;
    bool whole = false;
    if (!import_look(found, &span, &counts)) {
        print_run(session, found->name, RUN_STATE_FAILED, 0, &counts);
        return;
    }
    const MetricsRunInfo *earlier = earlier_run(session, found->name, &span);
    if (span.items == 0 || (earlier != NULL && earlier->state == METRICS_RUN_STATE_DONE &&
                            earlier->ended_us == span.last_us)) {
        print_run(session, found->name, span.items == 0 ? RUN_STATE_EMPTY : RUN_STATE_SKIPPED,
                  earlier != NULL ? earlier->id : 0, &counts);
        return;
    }
    uint64_t run = import_run(session->store, session->experiment, found, &span, &counts, &whole);
    /* Of two runs from one folder the incomplete one goes out of sight. */
    uint64_t away = run != 0 && !whole ? run : earlier != NULL ? earlier->id : 0;
    if (away != 0)
        metrics_store_set_deleted(session->store, away, true);
    RunState state = !whole            ? RUN_STATE_FAILED
                     : earlier != NULL ? RUN_STATE_REPLACED
                                       : RUN_STATE_IMPORTED;
    print_run(session, found->name, state, run, &counts);
}

/* Where they cannot be read (another process has the data root and made no snapshot yet, or there
 * is no DuckDB; a line says so) nothing counts as imported before. */
static void read_earlier_runs(Session *session)
{
    MetricsReader *reader = metrics_reader_create(session->store);
    if (reader != NULL)
        metrics_read_runs(reader, &session->runs);
    metrics_reader_destroy(&reader);
}

/* The experiment's name where none was given: the folder's own. */
static char *name_of_folder(const char *path)
{
    char *real = realpath(path, NULL);
    char *name = real != NULL ? strdup(basename(real)) : strdup("tfevents");
    free(real);
    return name;
}

static int import_all(Session *session, const FoundRuns *found)
{
    MetricsStatus status;
    artifacts_report_begin("import");
    if (session->json) {
        printf("{\"experiment\": ");
        artifacts_print_json_string(session->experiment);
        printf(", \"runs\": [");
    }
    for (size_t i = 0; i < found->count && !artifacts_report_interrupted(); i++)
        import_one(session, &found->runs[i]);
    print_end(session);
    metrics_store_status(session->store, &status);
    if (status.rows_dropped > 0)
        log_item(IMPORT_FAILED, "rows were dropped since the disk did not keep up");
    bool good = !artifacts_report_interrupted() && status.rows_dropped == 0 &&
                session->of_state[RUN_STATE_FAILED] == 0;
    return good ? 0 : 1;
}

/* Of a single file that was named: whether it is an event file at all. */
static bool has_records(const char *path)
{
    struct stat status;
    TfeventsItem item;
    TfeventsCounts counts;
    ArrayError error = {.fault = ARRAY_FAULT_NONE};
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return true;
    TfeventsReader *reader = tfevents_open(path, &(TfeventsOptions){.is_final = true}, &error);
    if (reader == NULL)
        return true;
    do
        tfevents_counts(reader, &counts);
    while (counts.records == 0 && tfevents_next(reader, &item, &error));
    tfevents_counts(reader, &counts);
    bool failed = error.fault != ARRAY_FAULT_NONE; /* the import says why */
    tfevents_close(&reader);
    return counts.records > 0 || failed;
}

int cli_import(CliOptions *options)
{
    FoundRuns found;
    Session session = {.json = options->json};
    int status = 1;
    if (options->word_count != 2 || strcmp(options->words[0], "tfevents") != 0)
        return cli_usage("import: wanted tfevents and a folder");
    import_find(options->words[1], &found);
    char *root = paths_data_root(options->shell.data_dir);
    char *name = options->experiment != NULL ? strdup(options->experiment)
                                             : name_of_folder(options->words[1]);
    if (found.failed) {
        status = cli_failed("%s", found.reason);
    } else if (found.count == 0) {
        status = cli_failed("%s: no file with \"tfevents\" in its name", options->words[1]);
    } else if (!has_records(options->words[1])) {
        status = cli_failed("%s: no record of an event file in it", options->words[1]);
    } else if (root != NULL && name != NULL) {
        session.experiment = name;
        session.store = metrics_store_create(
            &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
        if (session.store != NULL) {
            read_earlier_runs(&session);
            status = import_all(&session, &found);
        }
        metrics_runs_free(&session.runs);
        metrics_store_destroy(&session.store);
        artifacts_report_end();
    }
    import_found_free(&found);
    free(name);
    free(root);
    return status;
}
