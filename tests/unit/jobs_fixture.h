/* tests/unit/jobs_fixture.h: what the tests of jobs share: jobs that wait at a gate, end at once or
 * run until they are cancelled, and waiting for them.
 *
 * Included by jobs_test.c and jobs_say_test.c. A hang is ended by the test runner's time limit. */
#ifndef CALIPER_TESTS_JOBS_FIXTURE_H
#define CALIPER_TESTS_JOBS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "core/sanitized.h"
#include "jobs/jobs.h"
#include "log_capture.h"

static inline void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static inline void wait_end(uint64_t id)
{
    for (int turns = 0; jobs_is_running(id); turns++) {
        if (turns < 1000)
            sched_yield();
        else
            nap();
    }
}

static inline void clear_all(void)
{
    do {
        jobs_clear(0);
        nap();
    } while (jobs_counts().finished > 0);
    assert_int_equal(jobs_counts().running, 0);
}

static inline int begin(void **state)
{
    (void)state;
    clear_all();
    log_capture_reset();
    return 0;
}

/* ---- Jobs for tests ---- */

typedef struct Gate {
    sem_t entered, leave;
} Gate;

static inline void gate_open(Gate *gate)
{
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->leave, 0, 0);
}

static inline void sem_take(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        continue;
}

static inline void job_gate(void *user, const CaliperJobControl *control)
{
    Gate *gate = user;
    (void)control;
    sem_post(&gate->entered);
    sem_take(&gate->leave);
}

static inline void job_nothing(void *user, const CaliperJobControl *control)
{
    (void)user;
    (void)control;
}

static inline void job_until_cancelled(void *user, const CaliperJobControl *control)
{
    if (user != NULL)
        sem_post(user);
    while (!control->cancelled(control))
        nap();
}

#endif
