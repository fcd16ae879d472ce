/* shell/runs/reader.h: the one thread that asks the store, for the frame thread that never does.
 *
 * The frame thread leaves a request and takes the newest snapshot, both by exchanging one pointer:
 * it takes no lock and does no I/O. Requests that were overtaken are not answered; commands are
 * never lost. */
#ifndef CALIPER_SHELL_RUNS_READER_H
#define CALIPER_SHELL_RUNS_READER_H

#include "shell/runs/snapshot.h"

typedef struct RunsReader RunsReader;

typedef struct RunsChartRequest {
    char *tag;
    bool has_range;
    double from, to;
} RunsChartRequest;

typedef struct RunsRequest {
    uint64_t serial;
    MetricsAxis axis;
    double smoothing;
    uint64_t *runs;
    uint32_t run_count;
    RunsChartRequest charts[RUNS_CHARTS_MAX];
    uint32_t chart_count;
    char *media_tag; /* NULL: none */
    MetricsKind media_kind;
    uint64_t media_run;
    int64_t media_seq; /* of images and texts: the one that is shown; 0: the newest */
} RunsRequest;

void runs_request_free(RunsRequest *request);

typedef struct RunsCommand {
    struct RunsCommand *next;
    uint64_t run;
    bool sets_note, deleted; /* a note, else put away or brought back */
    char note[];             /* ends with NUL */
} RunsCommand;

/* Starts the thread; the store outlives the reader. NULL after one line. Frame thread. */
RunsReader *runs_reader_create(MetricsStore *store);
/* Waits for a query that runs. NULLs *reader, accepts NULL. */
void runs_reader_destroy(RunsReader **reader);

/* The request is the reader's from here on. Frame thread, no lock. */
void runs_reader_ask(RunsReader *reader, RunsRequest *request);
/* The command is the reader's from here on. */
void runs_reader_command(RunsReader *reader, RunsCommand *command);
/* The newest snapshot, NULL before the first. Lives until the next call. Frame thread, no lock. */
const RunsSnapshot *runs_reader_snapshot(RunsReader *reader);

typedef struct RunsReaderCounters {
    uint64_t queries;       /* questions to the store, on the reader's thread */
    uint64_t frame_queries; /* of those on the thread that created the reader: stays 0 */
    uint64_t snapshots, rounds;
} RunsReaderCounters;
void runs_reader_counters(const RunsReader *reader, RunsReaderCounters *out);

/* For scripted input: waits until the request `serial` and all commands are answered and what was
 * logged by this process is in, at most timeout_ms. Never in a window. */
bool runs_reader_settle(RunsReader *reader, uint64_t serial, uint32_t timeout_ms);

#endif
