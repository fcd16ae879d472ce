/* applets/mlscope/fetcher.h: MNIST fetched in a job, when a person asks for it, and what the frame
 * thread sees of it. fetcher_run is the job's; the rest is for the frame thread. */
#ifndef MLSCOPE_FETCHER_H
#define MLSCOPE_FETCHER_H

#include <caliper/services/jobs_v1.h>

#include "datasets/datasets.h"

typedef enum FetcherState {
    FETCHER_STATE_IDLE = 0, /* also when it was stopped: what came is kept */
    FETCHER_STATE_RUNNING = 1,
    FETCHER_STATE_DONE = 2,
    FETCHER_STATE_FAILED = 3
} FetcherState;

typedef struct Fetcher Fetcher;

typedef struct FetcherView {
    FetcherState state;
    int64_t got_bytes, total_bytes;
    char words[DATASETS_ERROR_BYTES]; /* of a failure */
} FetcherView;

Fetcher *fetcher_create(void);
/* Its job has ended. */
void fetcher_destroy(Fetcher **fetcher);
/* Not while one runs: the next job fetches into this folder. */
void fetcher_prepare(Fetcher *fetcher, const char *folder);
/* What was prepared does not run. */
void fetcher_refuse(Fetcher *fetcher, const char *words);
/* The job's function; `user` is the fetcher. */
void fetcher_run(void *user, const CaliperJobControl *control);
void fetcher_view(Fetcher *fetcher, FetcherView *out);

#endif
