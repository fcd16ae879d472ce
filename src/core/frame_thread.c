/* Which thread draws: see frame_thread.h. */
#include "core/frame_thread.h"

#include "core/mutex_wait.h"

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

int64_t frame_thread_until_ns(void)
{
    if (hosts == 0)
        return INT64_MAX;
    return mutex_wait_now_ns() + (int64_t)FRAME_THREAD_WAIT_MS * 1000000;
}

bool frame_thread_lock(pthread_mutex_t *mutex)
{
    return mutex_wait_until(mutex, frame_thread_until_ns());
}
