/* Which thread draws: see frame_thread.h. */
#include "core/frame_thread.h"

#include <time.h>

static _Thread_local uint32_t hosts;

bool frame_thread_is_current(void)
{
    return hosts > 0;
}

void frame_thread_enter(void)
{
    hosts++;
}

void frame_thread_leave(void)
{
    if (hosts > 0)
        hosts--;
}

bool frame_thread_lock(pthread_mutex_t *mutex)
{
    if (hosts == 0)
        return pthread_mutex_lock(mutex) == 0;
    if (pthread_mutex_trylock(mutex) == 0)
        return true;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)FRAME_THREAD_WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(mutex, &until) == 0;
}
