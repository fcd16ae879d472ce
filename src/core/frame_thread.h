/* core/frame_thread.h: whether this is the thread that draws.
 *
 * Any folder of src/ may include it; any thread may ask. The host says so of the thread that makes
 * it. What may wait for a disk, a process or a lock that is held across such a wait does so for
 * FRAME_THREAD_WAIT_MS at most there, and then refuses with a line that says what to do. */
#ifndef CALIPER_CORE_FRAME_THREAD_H
#define CALIPER_CORE_FRAME_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { FRAME_THREAD_WAIT_MS = 50 };
/* The end of a refusal's words. */
#define FRAME_THREAD_BUSY "busy; do it in a job"

bool frame_thread_is_current(void);

/* Around a host's life, counted; this thread. */
void frame_thread_enter(void);
void frame_thread_leave(void);

/* When a call that begins now has waited long enough, of CLOCK_MONOTONIC: one such time a call, for
 * all that it waits for (core/mutex_wait.h). INT64_MAX on any other thread. */
int64_t frame_thread_until_ns(void);

/* Takes the mutex, where that is all a call waits for: without a limit, but FRAME_THREAD_WAIT_MS on
 * the frame thread. False: it is still another's. */
bool frame_thread_lock(pthread_mutex_t *mutex);

#endif
