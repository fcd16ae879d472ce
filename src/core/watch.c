/* The watcher thread. What it reads of the watched thread is atomic; it takes no lock that thread
 * could hold but the log's. */
#include "core/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/log.h"

enum { DEFAULT_LIMIT_SEC = 10 };
static const double notice_after_sec = 2.0;
static const double tick_longest_sec = 0.2;
static const double tick_shortest_sec = 0.005;

struct Watch {
    pthread_t watched;
    pthread_t thread;
    double limit_sec;
    double tick_sec;

    pthread_mutex_t mutex; /* of `stop` and `wake` alone */
    pthread_cond_t wake;
    bool stop;

    /* The call that runs; serial 0: none. The others are written while it is 0. */
    atomic_uint_fast64_t serial;
    atomic_uint caller;
    _Atomic(const char *) what;
    atomic_uint limit_factor;
};

static atomic_uint_fast64_t last_serial; /* one count for the process, as guard_interrupt wants */

/* What the watcher knows about the call it saw last. */
typedef struct Seen {
    uint64_t serial;
    double running_sec;
    bool noticed, gave_up;
} Seen;

static double limit_from_environment(void)
{
    const char *text = getenv("CALIPER_HANG_LIMIT");
    if (text == NULL || text[0] == '\0')
        return DEFAULT_LIMIT_SEC;
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (*end == '\0' && isfinite(seconds) && seconds >= 0.0)
        return seconds;
    log_item(HANG_LIMIT_REFUSED, text, (int)DEFAULT_LIMIT_SEC);
    return DEFAULT_LIMIT_SEC;
}

static bool debugger_attached(void)
{
    char text[2048];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "TracerPid:");
    return line != NULL && strtol(line + strlen("TracerPid:"), NULL, 10) != 0;
}

static void look(Watch *watch, Seen *seen, double passed_sec)
{
    uint64_t serial = atomic_load(&watch->serial);
    CallerId caller = atomic_load(&watch->caller);
    const char *what = atomic_load(&watch->what);
    unsigned limit_factor = atomic_load(&watch->limit_factor);
    if (serial == 0 || serial != seen->serial || atomic_load(&watch->serial) != serial) {
        *seen = (Seen){.serial = serial};
        return;
    }
    double limit_sec = watch->limit_sec * limit_factor;
    double notice_sec = limit_sec > 0.0 ? fmin(notice_after_sec, limit_sec / 2) : notice_after_sec;
    seen->running_sec += passed_sec;
    CallerId before = caller_enter(caller);
    if (!seen->noticed && seen->running_sec >= notice_sec) {
        seen->noticed = true;
        log_item(APPLET_HANGS, caller_name(caller), what, seen->running_sec);
    }
    if (limit_sec > 0.0 && seen->running_sec >= limit_sec && !debugger_attached()) {
        guard_interrupt(watch->watched, serial);
        if (!seen->gave_up && seen->running_sec >= limit_sec + notice_sec) {
            seen->gave_up = true;
            log_item(APPLET_NOT_INTERRUPTED, caller_name(caller), what);
        }
    }
    caller_leave(before);
}

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *watch_run(void *arg)
{
    Watch *watch = arg;
    Seen seen = {0};
    double before = now_sec();
    pthread_mutex_lock(&watch->mutex);
    while (!watch->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        long wait_ns = (long)(watch->tick_sec * 1e9);
        until.tv_sec += (until.tv_nsec + wait_ns) / 1000000000;
        until.tv_nsec = (until.tv_nsec + wait_ns) % 1000000000;
        pthread_cond_timedwait(&watch->wake, &watch->mutex, &until);
        if (watch->stop)
            break;
        pthread_mutex_unlock(&watch->mutex);
        double now = now_sec();
        /* A longer pause than asked for is one of the whole process: it does not count. */
        look(watch, &seen, fmin(now - before, 2 * watch->tick_sec));
        before = now;
        pthread_mutex_lock(&watch->mutex);
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

/* Signals go to the threads that expect them. */
static int start_thread(Watch *watch)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = fault_here("watch.thread") ? EAGAIN
                                           : pthread_create(&watch->thread, NULL, watch_run, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(watch->thread, "caliper-watch");
    return error;
}

Watch *watch_create(void)
{
    Watch *watch = fault_here("watch.alloc") ? NULL : calloc(1, sizeof *watch);
    if (watch == NULL) {
        log_item(OUT_OF_MEMORY, "watch_create", (unsigned long long)sizeof *watch);
        return NULL;
    }
    watch->watched = pthread_self();
    watch->limit_sec = limit_from_environment();
    watch->tick_sec =
        watch->limit_sec > 0.0 ? fmin(tick_longest_sec, watch->limit_sec / 4) : tick_longest_sec;
    watch->tick_sec = fmax(watch->tick_sec, tick_shortest_sec);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = start_thread(watch);
    if (error != 0) {
        log_item(WATCH_NOT_STARTED, strerror(error));
        pthread_cond_destroy(&watch->wake);
        pthread_mutex_destroy(&watch->mutex);
        free(watch);
        return NULL;
    }
    return watch;
}

void watch_destroy(Watch **watch_ptr)
{
    Watch *watch = watch_ptr != NULL ? *watch_ptr : NULL;
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->stop = true;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->mutex);
    free(watch);
    *watch_ptr = NULL;
}

uint64_t watch_begin(Watch *watch, CallerId caller, const char *what, uint32_t limit_factor)
{
    if (watch == NULL)
        return 0;
    atomic_store(&watch->caller, caller);
    atomic_store(&watch->what, what);
    atomic_store(&watch->limit_factor, limit_factor);
    uint64_t serial = atomic_fetch_add(&last_serial, 1) + 1;
    atomic_store(&watch->serial, serial);
    return serial;
}

void watch_end(Watch *watch)
{
    if (watch != NULL)
        atomic_store(&watch->serial, 0);
}

double watch_limit_sec(const Watch *watch)
{
    return watch != NULL ? watch->limit_sec : 0.0;
}
