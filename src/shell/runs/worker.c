/* See worker.h. `current` belongs to the frame thread; what both threads touch is atomic. */
#include "shell/runs/worker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "core/fault.h"
#include "core/log.h"

typedef struct Answer {
    struct Answer *next;
    void *made;
} Answer;

struct RunsWorker {
    RunsWork work;
    pthread_t thread;
    sem_t wake;
    atomic_bool stop;
    _Atomic(void *) wanted;    /* left by the frame thread */
    _Atomic(Answer *) ready;   /* left by the worker */
    _Atomic(Answer *) retired; /* to be freed by the worker */
    Answer *current;
    atomic_ullong asked, answered;
};

static void answer_free(const RunsWorker *worker, Answer *answer)
{
    if (answer == NULL)
        return;
    worker->work.drop_answer(answer->made);
    free(answer);
}

static void free_retired(RunsWorker *worker)
{
    Answer *answer = atomic_exchange(&worker->retired, NULL);
    while (answer != NULL) {
        Answer *next = answer->next;
        answer_free(worker, answer);
        answer = next;
    }
}

static void one_round(RunsWorker *worker)
{
    unsigned long long asked = atomic_load(&worker->asked);
    void *question = atomic_exchange(&worker->wanted, NULL);
    if (question != NULL) {
        void *made = worker->work.answer(worker->work.user, question);
        Answer *answer = made != NULL ? calloc(1, sizeof *answer) : NULL;
        if (answer != NULL) {
            answer->made = made;
            answer_free(worker, atomic_exchange(&worker->ready, answer));
        } else if (made != NULL) {
            log_item(OUT_OF_MEMORY, "runs_worker", (unsigned long long)sizeof *answer);
            worker->work.drop_answer(made);
        }
    }
    free_retired(worker);
    atomic_store(&worker->answered, asked);
}

static void wait_for_more(RunsWorker *worker)
{
    while (sem_wait(&worker->wake) != 0) /* a signal came */
        ;
    while (sem_trywait(&worker->wake) == 0) /* several wishes are one */
        ;
}

static void *work_for_ever(void *user)
{
    RunsWorker *worker = user;
    wait_for_more(worker);
    while (!atomic_load(&worker->stop)) {
        one_round(worker);
        wait_for_more(worker);
    }
    return NULL;
}

RunsWorker *runs_worker_create(const RunsWork *work)
{
    RunsWorker *worker = fault_here("runs.worker") ? NULL : calloc(1, sizeof *worker);
    if (worker == NULL) {
        log_item(OUT_OF_MEMORY, "runs_worker_create", (unsigned long long)sizeof *worker);
        return NULL;
    }
    worker->work = *work;
    sem_init(&worker->wake, 0, 0);
    if (fault_here("runs.worker.thread") ||
        pthread_create(&worker->thread, NULL, work_for_ever, worker) != 0) {
        log_item(RUNS_NO_THREAD, "one of its pages stays empty");
        sem_destroy(&worker->wake);
        free(worker);
        return NULL;
    }
    return worker;
}

void runs_worker_destroy(RunsWorker **worker)
{
    if (worker == NULL || *worker == NULL)
        return;
    RunsWorker *ended = *worker;
    *worker = NULL;
    atomic_store(&ended->stop, true);
    sem_post(&ended->wake);
    pthread_join(ended->thread, NULL);
    sem_destroy(&ended->wake);
    void *question = atomic_load(&ended->wanted);
    if (question != NULL)
        ended->work.drop_question(question);
    answer_free(ended, atomic_load(&ended->ready));
    answer_free(ended, ended->current);
    free_retired(ended);
    free(ended);
}

void runs_worker_ask(RunsWorker *worker, void *question)
{
    void *before = atomic_exchange(&worker->wanted, question);
    if (before != NULL)
        worker->work.drop_question(before);
    atomic_fetch_add(&worker->asked, 1);
    sem_post(&worker->wake);
}

const void *runs_worker_answer(RunsWorker *worker)
{
    Answer *ready = atomic_exchange(&worker->ready, NULL);
    Answer *old = worker->current;
    if (ready == NULL)
        return old != NULL ? old->made : NULL;
    worker->current = ready;
    if (old != NULL) { /* given back: freeing much memory takes time */
        old->next = atomic_load(&worker->retired);
        while (!atomic_compare_exchange_weak(&worker->retired, &old->next, old))
            ;
        sem_post(&worker->wake);
    }
    return ready->made;
}

bool runs_worker_is_busy(const RunsWorker *worker)
{
    return atomic_load(&worker->answered) < atomic_load(&worker->asked);
}

bool runs_worker_settle(RunsWorker *worker, uint32_t timeout_ms)
{
    for (uint32_t waited_ms = 0; waited_ms < timeout_ms && runs_worker_is_busy(worker); waited_ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return !runs_worker_is_busy(worker);
}
