/* Waiting for a mutex: see mutex_wait.h. pthread_mutex_timedlock goes by the wall clock, which may
 * be set while it waits. Where the C library has no clocklock (glibc before 2.30), or the thread
 * sanitizer does not know it (gcc 12's), the mutex is tried once a millisecond instead. */
#include "core/mutex_wait.h"

#include <time.h>

#include "core/sanitized.h"

#if defined(__GLIBC__) && !SANITIZED_THREAD
#define HAS_CLOCKLOCK __GLIBC_PREREQ(2, 30)
#else
#define HAS_CLOCKLOCK 0
#endif

enum { NS_PER_SEC = 1000000000, PAUSE_NS = 1000000 };

int64_t mutex_wait_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

bool mutex_wait_until(pthread_mutex_t *mutex, int64_t until_ns)
{
    if (until_ns == INT64_MAX)
        return pthread_mutex_lock(mutex) == 0;
    if (pthread_mutex_trylock(mutex) == 0)
        return true;
#if HAS_CLOCKLOCK
    struct timespec until = {.tv_sec = until_ns / NS_PER_SEC, .tv_nsec = until_ns % NS_PER_SEC};
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until) == 0;
#else
    while (mutex_wait_now_ns() < until_ns) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        if (pthread_mutex_trylock(mutex) == 0)
            return true;
    }
    return false;
#endif
}

bool mutex_wait_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return made;
}

bool mutex_wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_ns)
{
    if (until_ns == INT64_MAX)
        return pthread_cond_wait(condition, mutex) == 0;
    struct timespec until = {.tv_sec = until_ns / NS_PER_SEC, .tv_nsec = until_ns % NS_PER_SEC};
    return pthread_cond_timedwait(condition, mutex, &until) == 0;
}
