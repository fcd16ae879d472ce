/* core/mutex_wait.h: taking a mutex of another thread's, and waiting for a condition, with an end
 * to the waiting, told by the clock that nobody sets.
 *
 * Any folder of src/ may include it. Any thread. */
#ifndef CALIPER_CORE_MUTEX_WAIT_H
#define CALIPER_CORE_MUTEX_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC. */
int64_t mutex_wait_now_ns(void);
/* Takes it, or false at `until_ns` of CLOCK_MONOTONIC; INT64_MAX waits without end. One that is
 * free is taken however late it is. */
bool mutex_wait_until(pthread_mutex_t *mutex, int64_t until_ns);

/* A condition that is waited for by that clock. */
bool mutex_wait_condition_init(pthread_cond_t *condition);
/* With the mutex held. False at `until_ns`; INT64_MAX waits without end. */
bool mutex_wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_ns);

#endif
