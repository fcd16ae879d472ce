/* jobs/jobs.h: work on threads of its own, for applets and for the host.
 *
 * src/jobs/ is what stands behind caliper.jobs.v1: a table of jobs, the threads that run them, who
 * they belong to. services/ maps the frozen table onto it, the shell shows it. It knows core alone.
 * There is one table a process. Functions are for any thread unless they say otherwise; those for
 * the frame thread wait for no lock that a job's thread may hold. */
#ifndef CALIPER_JOBS_JOBS_H
#define CALIPER_JOBS_JOBS_H

#include <caliper/services/jobs_v1.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/caller.h"

/* So many may run at once, and so many are remembered, running and finished together: the id of a
 * finished job is forgotten when JOBS_MAX younger ones came, or when it is cleared. */
enum { JOBS_MAX = 4096, JOBS_END_MS = 2000 };

/* Starts fn(user, control) on a thread of its own. Label and messages are cut at a character, and
 * what is not one line of UTF-8 is replaced. An id from 1 on, never used twice; 0 and one line when
 * fn is NULL, the owner is closed, JOBS_MAX run or there is no thread or memory. */
uint64_t jobs_submit(const char *label, CaliperJobFn fn, void *user, CallerId owner);
void jobs_request_cancel(uint64_t id);
/* Until fn has returned; its thread may take a moment more to end. */
bool jobs_is_running(uint64_t id);
float jobs_progress_of(uint64_t id);

/* ---- Owners ---- */

/* Closes an owner: it gets no new jobs, those that run are cancelled. True when the threads of all
 * of them are gone, and with them what its library registered for their end. [frame] */
bool jobs_quiesce(CallerId owner);
/* The owner's life ended; what still runs goes on, cancelled, and is shown as left behind. */
void jobs_owner_gone(CallerId owner);
/* The host ends: cancels all and waits JOBS_END_MS at most. Answers how many still run, with one
 * line if that is not 0: then the process must end without exit(), under whose feet they would be.
 * Jobs may be submitted again afterwards. [frame] */
uint32_t jobs_end(void);

/* ---- What is shown ---- */

enum { JOB_TEXT_BYTES = 160 };

typedef struct JobView {
    uint64_t id;
    CallerId owner;
    char label[JOB_TEXT_BYTES];
    char message[JOB_TEXT_BYTES]; /* "" until there was one */
    float progress;
    bool running;
    bool cancelled;   /* asked to end */
    bool left_behind; /* its owner's life ended before it */
    double seconds;   /* since its start, or from start to end */
} JobView;

typedef struct JobCounts {
    uint32_t running, finished;
} JobCounts;

/* Lock-free. */
JobCounts jobs_counts(void);
/* The ids there are: running ones first, in order of their start, then finished ones, youngest
 * first; at most `max`. [frame] */
uint32_t jobs_list(uint64_t *ids, uint32_t max);
/* False for an unknown id. Lock-free. */
bool jobs_view(uint64_t id, JobView *out);
/* Forgets a finished job, or all of them with 0; now or in a later jobs_frame. [frame] */
void jobs_clear(uint64_t id);
/* Once a frame: takes leave of threads that ended. [frame] */
void jobs_frame(void);

#endif
