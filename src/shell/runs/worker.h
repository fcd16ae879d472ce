/* shell/runs/worker.h: one thread that answers the newest question, for the frame thread.
 *
 * For the pages whose answers come from files (lineage.h, table_reader.h). Asking and taking an
 * answer exchange one pointer: no lock, no I/O. Questions that were overtaken are not answered. An
 * answer is never changed again; it is freed on the worker's thread. Frame thread, but for the
 * three functions of RunsWork. */
#ifndef CALIPER_SHELL_RUNS_WORKER_H
#define CALIPER_SHELL_RUNS_WORKER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RunsWorker RunsWorker;

typedef struct RunsWork {
    void *user;
    /* On the worker's thread. The question is the function's from here on. NULL: there is nothing
     * new to be shown. */
    void *(*answer)(void *user, void *question);
    void (*drop_question)(void *question);
    void (*drop_answer)(void *answer);
} RunsWork;

/* Starts the thread. NULL after one line. */
RunsWorker *runs_worker_create(const RunsWork *work);
/* Waits for an answer that is being made. NULLs *worker, accepts NULL. */
void runs_worker_destroy(RunsWorker **worker);

/* The question is the worker's from here on. */
void runs_worker_ask(RunsWorker *worker, void *question);
/* The newest answer, NULL before the first. Lives until the next call. */
const void *runs_worker_answer(RunsWorker *worker);
/* Whether a question is not answered yet. */
bool runs_worker_is_busy(const RunsWorker *worker);
/* For scripted input: waits until it is not, at most timeout_ms. Never in a window. */
bool runs_worker_settle(RunsWorker *worker, uint32_t timeout_ms);

#endif
