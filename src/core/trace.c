/* The trace file: two buffers of events, one being filled, one being written by the thread. The
 * mutex is held to add an event or to swap, never while writing. */
#include "core/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/mutex_wait.h"

enum { EVENTS = 8192, WRITE_EVERY_MS = 100, LINE_BYTES = 1024, BLOCK_BYTES = 64 << 10 };

typedef struct Record {
    TraceEvent event; /* its label points nowhere: see `label` */
    char label[TRACE_LABEL_BYTES];
    uint64_t started_ns, duration_ns;
    pid_t thread;
    char phase; /* 'X' a span, 'C' values */
} Record;

atomic_bool trace_is_on;

static struct {
    bool started;
    int fd;
    pthread_t thread;
    Record *buffers[2];
    uint32_t used[2];
    int filling;      /* which buffer takes events */
    uint64_t dropped; /* events without room, not yet told */
    uint64_t zero_ns; /* times are counted from here */
    bool stop;
    char *block; /* the thread's: text that is not yet written */
    size_t block_used;
    bool lost; /* the thread's: a write failed, nothing more is tried */
} trace = {.fd = -1};

static pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t half_full; /* made with the first trace, and stays */

static void trace_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&trace_mutex);
}

static void trace_unlock(void)
{
    pthread_mutex_unlock(&trace_mutex);
    guard_lock_leave();
}

uint64_t trace_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Taking events ---- */

static pid_t thread_id(void)
{
    static _Thread_local pid_t known;
    if (known == 0)
        known = (pid_t)syscall(SYS_gettid);
    return known;
}

static void record_add(const TraceEvent *event, char phase, uint64_t started_ns, uint64_t ended_ns)
{
    Record record = {.event = *event,
                     .started_ns = started_ns,
                     .duration_ns = ended_ns - started_ns,
                     .thread = thread_id(),
                     .phase = phase};
    if (event->label != NULL)
        snprintf(record.label, sizeof record.label, "%s", event->label);
    trace_lock();
    if (trace.started && !trace.stop) {
        uint32_t *used = &trace.used[trace.filling];
        if (*used == EVENTS)
            trace.dropped++;
        else
            trace.buffers[trace.filling][(*used)++] = record;
        if (*used == EVENTS / 2)
            pthread_cond_signal(&half_full);
    }
    trace_unlock();
}

void trace_span(uint64_t started_ns, const TraceEvent *event)
{
    if (started_ns != 0)
        record_add(event, 'X', started_ns, trace_now_ns());
}

void trace_counter(const TraceEvent *event)
{
    if (atomic_load_explicit(&trace_is_on, memory_order_relaxed)) {
        uint64_t now_ns = trace_now_ns();
        record_add(event, 'C', now_ns, now_ns);
    }
}

/* ---- Writing them ---- */

/* Whole events at once, so that a file that ends here can be read. */
static void block_write(void)
{
    size_t done = 0;
    while (!trace.lost && done < trace.block_used) {
        bool failed = fault_here("trace.write");
        ssize_t wrote = failed ? -1 : write(trace.fd, trace.block + done, trace.block_used - done);
        int error = failed ? EIO : errno;
        if (wrote >= 0) {
            done += (size_t)wrote;
        } else if (error != EINTR) {
            trace.lost = true;
            log_item(TRACE_LOST, strerror(error));
        }
    }
    trace.block_used = 0;
}

static void line_write(const char *line, size_t line_bytes)
{
    if (trace.block_used + line_bytes > BLOCK_BYTES)
        block_write();
    memcpy(trace.block + trace.block_used, line, line_bytes);
    trace.block_used += line_bytes;
}

/* A JSON string of printable ASCII; whatever else there is becomes '?'. */
static size_t text_put(char *out, const char *text)
{
    size_t used = 0;
    out[used++] = '"';
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            out[used++] = '\\';
        out[used++] = *at >= 0x20 && *at < 0x7f ? *at : '?';
    }
    out[used++] = '"';
    out[used] = '\0';
    return used;
}

static void record_write(const Record *record)
{
    const TraceEvent *event = &record->event;
    char line[LINE_BYTES], label[2 * TRACE_LABEL_BYTES + 3];
    double started_us = (double)(int64_t)(record->started_ns - trace.zero_ns) / 1e3;
    size_t used =
        (size_t)snprintf(line, sizeof line,
                         ",\n{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,"
                         "\"ts\":%.3f",
                         record->phase, event->category, event->name, (int)getpid(),
                         (int)record->thread, started_us);
    if (record->phase == 'X')
        used += (size_t)snprintf(line + used, sizeof line - used, ",\"dur\":%.3f",
                                 (double)record->duration_ns / 1e3);
    used += (size_t)snprintf(line + used, sizeof line - used, ",\"args\":{");
    const char *comma = "";
    if (event->kind != NULL) {
        used += (size_t)snprintf(line + used, sizeof line - used, "\"kind\":\"%s\"", event->kind);
        comma = ",";
    }
    if (event->label != NULL) {
        text_put(label, record->label);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s\"label\":%s", comma, label);
        comma = ",";
    }
    for (uint32_t i = 0; i < event->value_count && i < TRACE_VALUES_MAX; i++) {
        used += (size_t)snprintf(line + used, sizeof line - used, "%s\"%s\":%llu", comma,
                                 event->values[i].name, (unsigned long long)event->values[i].value);
        comma = ",";
    }
    used += (size_t)snprintf(line + used, sizeof line - used, "}}");
    if (used < sizeof line)
        line_write(line, used);
}

static void dropped_write(uint64_t dropped)
{
    Record record = {.event = {.category = "trace",
                               .name = "dropped",
                               .values = {{"events", dropped}},
                               .value_count = 1},
                     .started_ns = trace_now_ns(),
                     .thread = thread_id(),
                     .phase = 'C'};
    record_write(&record);
}

/* Swaps the buffers and writes the full one. */
static void drain(void)
{
    trace_lock();
    int full = trace.filling;
    uint32_t count = trace.used[full];
    uint64_t dropped = trace.dropped;
    trace.filling = 1 - full;
    trace.used[trace.filling] = 0;
    trace.dropped = 0;
    trace_unlock();
    for (uint32_t i = 0; i < count; i++)
        record_write(&trace.buffers[full][i]);
    if (dropped > 0)
        dropped_write(dropped);
    block_write();
}

static void *writer(void *unused)
{
    (void)unused;
    bool stop = false;
    while (!stop) {
        int64_t until_ns = mutex_wait_now_ns() + (int64_t)WRITE_EVERY_MS * 1000000;
        trace_lock();
        if (!trace.stop && trace.used[trace.filling] < EVENTS / 2)
            mutex_wait_condition(&half_full, &trace_mutex, until_ns);
        stop = trace.stop;
        trace_unlock();
        drain();
    }
    return NULL;
}

/* ---- Start and end ---- */

static bool start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all,
                    &before); /* signals are for the threads that can answer them */
    int error =
        fault_here("trace.thread") ? EAGAIN : pthread_create(&trace.thread, NULL, writer, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

static void give_back(void)
{
    if (trace.fd >= 0)
        close(trace.fd);
    trace.fd = -1;
    for (int i = 0; i < 2; i++) {
        free(trace.buffers[i]);
        trace.buffers[i] = NULL;
        trace.used[i] = 0;
    }
    free(trace.block);
    trace.block = NULL;
}

static bool take(const char *path)
{
    for (int i = 0; i < 2; i++)
        trace.buffers[i] = fault_here("trace.memory") ? NULL : calloc(EVENTS, sizeof(Record));
    trace.block = malloc(BLOCK_BYTES);
    if (trace.buffers[0] == NULL || trace.buffers[1] == NULL || trace.block == NULL) {
        errno = ENOMEM;
        return false;
    }
    trace.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return trace.fd >= 0;
}

bool trace_start(const char *path)
{
    static bool at_exit, has_condition;
    if (trace.started) {
        log_item(TRACE_NOT_STARTED, path, "a trace runs");
        return false;
    }
    has_condition = has_condition || mutex_wait_condition_init(&half_full);
    if (has_condition && take(path)) {
        trace.block_used = (size_t)snprintf(
            trace.block, BLOCK_BYTES,
            "[\n{\"ph\":\"M\",\"cat\":\"trace\",\"name\":\"process_name\",\"pid\":%d,\"tid\":%d,"
            "\"ts\":0,\"args\":{\"name\":\"caliper\"}}",
            (int)getpid(), (int)thread_id());
        trace_lock();
        trace.started = true;
        trace.stop = trace.lost = false;
        trace.dropped = 0;
        trace.zero_ns = trace_now_ns();
        trace_unlock();
        if (start_thread()) {
            atomic_store(&trace_is_on, true);
            if (!at_exit)
                atexit(trace_stop);
            at_exit = true;
            return true;
        }
        trace_lock();
        trace.started = false;
        trace_unlock();
    }
    log_item(TRACE_NOT_STARTED, path, strerror(errno));
    give_back();
    return false;
}

void trace_stop(void)
{
    if (!trace.started)
        return;
    atomic_store(&trace_is_on, false);
    trace_lock();
    trace.stop = true;
    pthread_cond_signal(&half_full);
    trace_unlock();
    pthread_join(trace.thread, NULL);
    line_write("\n]\n", 3);
    block_write();
    trace_lock();
    trace.started = false;
    give_back();
    trace_unlock();
}

void trace_start_from_environment(void)
{
    const char *path = getenv("CALIPER_TRACE");
    if (path != NULL && path[0] != '\0')
        trace_start(path);
}
