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

/* In the child of a fork() in guarded code. A child made elsewhere is the host's own affair. */
static void on_forked_child(void)
{
    guard_thread.forked = guard_thread.top != NULL || guard_thread.words != NULL;
    guard_crash_end(); /* it was the parent's */
}

void guard_thread_end_if_forked(void)
{
    if (!guard_thread.forked)
        return;
    static const char line[] =
        "caliper: a child that an applet forked came back from the call; it ends with status 1\n";
    /* By hand: whoever held the log's lock is not in this process. */
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(STATUS_FAILED);
}

static void end_failed(const char *how)
{
    const GuardFrame *top = guard_thread.top;
    const char *what = top != NULL ? top->what : guard_thread.words;
    /* A child that an applet forked may end as it likes. */
    if (what == NULL || guard_thread.forked)
        return;
    log_item(GUARD_ENDED, what, how);
    guard_crash_begin();
    rescue_run(NULL);
    log_file_rescue();
    _exit(STATUS_FAILED);
}

static void on_exit_called(void)
{
    guard_crash_wait(); /* a fault on another thread says how the process ends */
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
        atexit(on_exit_called);
        at_quick_exit(on_exit_called);
        pthread_atfork(NULL, NULL, on_forked_child);
        has_key = pthread_key_create(&frame_thread_ends, on_thread_end) == 0;
    }
}

void guard_exit_watch_thread(bool on)
{
    if (has_key)
        pthread_setspecific(frame_thread_ends, on ? &frame_thread_ends : NULL);
}
