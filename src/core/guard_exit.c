/* Guarded code that ends the process or its thread instead of returning. That cannot be undone, but
 * it is said, and the exit status is not the applet's to choose. Registered by the first
 * guard_install; the functions run on the thread that ends. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/guard_impl.h"
#include "core/log.h"
#include "core/log_file.h"

enum { STATUS_FAILED = 1 };

static pthread_key_t frame_thread_ends;
static bool has_key;
static pid_t host_pid;

static void end_failed(const char *how)
{
    const GuardFrame *top = guard_thread.top;
    /* A child that an applet forked may end as it likes. */
    if (top == NULL || getpid() != host_pid)
        return;
    log_item(GUARD_ENDED, top->what, how);
    log_file_rescue();
    _exit(STATUS_FAILED);
}

static void on_exit_called(void)
{
    end_failed("ended the process with exit()");
}

static void on_thread_end(void *unused)
{
    (void)unused;
    end_failed("ended its thread with pthread_exit() or by cancelling it");
}

void guard_exit_watch(void)
{
    static bool registered;
    if (!registered) {
        registered = true;
        host_pid = getpid();
        atexit(on_exit_called);
        at_quick_exit(on_exit_called);
        has_key = pthread_key_create(&frame_thread_ends, on_thread_end) == 0;
    }
}

void guard_exit_watch_thread(bool on)
{
    if (has_key)
        pthread_setspecific(frame_thread_ends, on ? &frame_thread_ends : NULL);
}
