/* Making and ending a store, waiting for it, and its state: see metrics_store.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "core/paths.h"
#include "store/metrics/disk.h"
#include "store/metrics/store_impl.h"
#include "store/metrics/writer.h"

enum { SNAPSHOT_PERIOD_MS = 60000, INTERRUPT_AFTER_MS = 1000, INTERRUPT_AGAIN_MS = 10 };
enum { RESCUE_MARGIN_MS = 20 };

int64_t metrics_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct timespec metrics_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

bool metrics_lock_soon(MetricsStore *store)
{
    guard_lock_enter();
    bool on_frame = frame_thread_is_current();
    int64_t wait_ms = on_frame ? FRAME_THREAD_WAIT_MS : METRICS_LOCK_MOST_MS;
    if (!atomic_load(&store->lost) &&
        mutex_wait_until(&store->mutex, metrics_monotonic_ns() + wait_ms * 1000000)) {
        atomic_store(&store->lock_since_ns, 0);
        return true;
    }
    guard_lock_leave();
    int64_t now_ns = metrics_monotonic_ns();
    int64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&store->lock_since_ns, &since_ns, now_ns))
        since_ns = now_ns;
    bool lost = !on_frame || now_ns - since_ns >= (int64_t)METRICS_LOCK_MOST_MS * 1000000;
    if (lost && !atomic_exchange(&store->lost, true))
        log_item(METRICS_STORE_LOST, store->data_root);
    return false;
}

void metrics_lock(MetricsStore *store)
{
    guard_lock_enter();
    pthread_mutex_lock(&store->mutex);
}

void metrics_unlock(MetricsStore *store)
{
    pthread_mutex_unlock(&store->mutex);
    guard_lock_leave();
}

void metrics_wake(MetricsStore *store)
{
    if (!metrics_lock_soon(store))
        return;
    atomic_store(&store->sleeping, false);
    pthread_cond_signal(&store->wake);
    metrics_unlock(store);
}

bool metrics_start_locked(MetricsStore *store)
{
    if (store->has_thread)
        return true;
    if (store->stop || store->thread_failed)
        return false;
    int result = fault_here("metrics.thread")
                     ? EAGAIN
                     : pthread_create(&store->thread, NULL, writer_main, store);
    if (result != 0) {
        store->thread_failed = true;
        log_item(METRICS_NO_THREAD, strerror(result));
        return false;
    }
    store->has_thread = true;
    return true;
}

bool metrics_ids_due(const MetricsStore *store)
{
    if (!store->ids_wanted)
        return !store->ids_ready;
    return store->spare_ids.first == store->spare_ids.end &&
           (store->ids.end - store->ids.first) * 2 <= store->ids_count;
}

static bool make_sync(MetricsStore *store)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool ok = pthread_mutex_init(&store->mutex, NULL) == 0 &&
              pthread_mutex_init(&store->database_mutex, NULL) == 0 &&
              pthread_cond_init(&store->wake, &monotonic) == 0 &&
              pthread_cond_init(&store->done, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    store->has_sync = ok;
    return ok;
}

static void free_store(MetricsStore *store)
{
    writer_free(store->writer);
    queue_finish(&store->queue);
    run_table_finish(&store->runs);
    if (store->has_sync) {
        pthread_cond_destroy(&store->done);
        pthread_cond_destroy(&store->wake);
        pthread_mutex_destroy(&store->database_mutex);
        pthread_mutex_destroy(&store->mutex);
    }
    free(store->snapshot_path);
    free(store->database_path);
    free(store->data_root);
    free(store);
}

/* There is no frame yet that could be late. */
static void start(MetricsStore *store)
{
    struct timespec deadline =
        metrics_timespec(metrics_monotonic_ns() + (int64_t)METRICS_START_WAIT_MS * 1000000);
    metrics_lock(store);
    bool ok = metrics_start_locked(store);
    while (ok && !store->ids_ready && !store->ids_failed)
        ok = pthread_cond_timedwait(&store->done, &store->mutex, &deadline) == 0;
    metrics_unlock(store);
}

MetricsStore *metrics_store_create(const MetricsParams *params)
{
    MetricsStore *store =
        fault_here("metrics.alloc") ? NULL : aligned_alloc(QUEUE_LINE_BYTES, sizeof *store);
    uint64_t queue_bytes = params->queue_bytes != 0 ? params->queue_bytes : METRICS_QUEUE_BYTES;
    if (store == NULL)
        goto failed;
    memset(store, 0, sizeof *store);
    store->snapshot_period_ms =
        params->snapshot_period_ms != 0 ? params->snapshot_period_ms : SNAPSHOT_PERIOD_MS;
    store->close_wait_ms =
        params->close_wait_ms != 0 ? params->close_wait_ms : METRICS_CLOSE_WAIT_MS;
    session_make_name(store->session);
    store->data_root = strdup(params->data_root);
    if (store->data_root == NULL || !make_sync(store) || !queue_init(&store->queue, queue_bytes) ||
        !run_table_init(&store->runs))
        goto failed;
    store->database_path = paths_join(store->data_root, "metrics.duckdb");
    store->snapshot_path = paths_join(store->data_root, "metrics.snapshot.duckdb");
    store->writer = writer_create(store);
    if (store->database_path == NULL || store->snapshot_path == NULL || store->writer == NULL)
        goto failed;
    if (params->start_now)
        start(store);
    return store;
failed:
    log_item(OUT_OF_MEMORY, "metrics_store_create", (unsigned long long)queue_bytes);
    if (store != NULL)
        free_store(store);
    return NULL;
}

int64_t metrics_close_ns(const MetricsStore *store)
{
    int64_t close_ns = atomic_load(&store->close_ns);
    return close_ns != 0 ? close_ns : INT64_MAX;
}

void metrics_say_early(MetricsStore *store, const char *why)
{
    int64_t began_ns = atomic_load(&store->close_ns) - (int64_t)store->close_wait_ms * 2 * 1000000;
    if (!metrics_lock_soon(store))
        return;
    bool said = store->said_early;
    store->said_early = true;
    metrics_unlock(store);
    if (!said)
        log_item(METRICS_CLOSED_EARLY, store->data_root,
                 (long long)((metrics_monotonic_ns() - began_ns) / 1000000), why);
}

/* Until `deadline_ns`; with `interrupts` what the writer executes is interrupted every now and
 * then: between two statements an interrupt is lost. */
static bool wait_for_thread(MetricsStore *store, int64_t deadline_ns, bool interrupts)
{
    if (!metrics_lock_soon(store))
        return false;
    while (!store->thread_over && metrics_monotonic_ns() < deadline_ns) {
        if (interrupts && store->interrupt_connection != NULL)
            store->interrupt_api->interrupt(store->interrupt_connection);
        int64_t until_ns = metrics_monotonic_ns() + (int64_t)INTERRUPT_AGAIN_MS * 1000000;
        struct timespec until =
            metrics_timespec(interrupts && until_ns < deadline_ns ? until_ns : deadline_ns);
        pthread_cond_timedwait(&store->done, &store->mutex, &until);
    }
    bool over = store->thread_over;
    metrics_unlock(store);
    return over;
}

/* The writer ends by itself; or what it executes is interrupted; or it is left to itself, on a disk
 * that does not answer, with all that it has. */
static void end_thread(MetricsStore *store)
{
    int64_t deadline_ns = metrics_close_ns(store) + (int64_t)INTERRUPT_AFTER_MS * 1000000;
    bool over = wait_for_thread(store, deadline_ns, false);
    if (!over) {
        deadline_ns = metrics_monotonic_ns() + (int64_t)INTERRUPT_AFTER_MS * 1000000;
        over = wait_for_thread(store, deadline_ns, true);
        metrics_say_early(store, over ? "a statement was interrupted"
                                      : "the disk or another process does not answer");
    }
    if (over)
        pthread_join(store->thread, NULL);
    else
        pthread_detach(store->thread);
    store->left = !over;
}

void metrics_store_close(MetricsStore *store)
{
    if (!metrics_lock_soon(store)) {
        atomic_store(&store->ended, true);
        if (!store->left && store->has_thread)
            pthread_detach(store->thread);
        store->left = true;
        return;
    }
    bool joins = store->has_thread && !store->stop;
    store->stop = true;
    if (joins)
        atomic_store(&store->close_ns,
                     metrics_monotonic_ns() + (int64_t)store->close_wait_ms * 2 * 1000000);
    atomic_store(&store->sleeping, false);
    pthread_cond_signal(&store->wake);
    metrics_unlock(store);
    if (joins)
        end_thread(store);
    atomic_store(&store->ended, true);
    if (metrics_lock_soon(store)) {
        pthread_cond_broadcast(&store->done);
        metrics_unlock(store);
    }
    pthread_mutex_lock(&store->database_mutex);
    for (int i = 0; i < SNAPSHOTS_OPEN_MAX; i++)
        database_close(&store->snapshots[i].database);
    pthread_mutex_unlock(&store->database_mutex);
}

void metrics_store_destroy(MetricsStore **store)
{
    if (store == NULL || *store == NULL)
        return;
    metrics_store_close(*store);
    if (!(*store)->left) /* else its writer has it, until the process ends */
        free_store(*store);
    *store = NULL;
}

static void raise_flush_to(MetricsStore *store, uint64_t position)
{
    uint64_t before = atomic_load(&store->flush_to);
    while (before < position &&
           !atomic_compare_exchange_weak(&store->flush_to, &before, position)) {
    }
}

bool metrics_flush_locked(MetricsStore *store, uint64_t position, int64_t deadline_ns, bool patient)
{
    struct timespec deadline = metrics_timespec(deadline_ns);
    raise_flush_to(store, position);
    atomic_store(&store->sleeping, false);
    pthread_cond_signal(&store->wake);
    while (atomic_load_explicit(&store->queue.tail, memory_order_acquire) < position)
        if (!store->has_thread || store->ended ||
            (!patient && store->state != METRICS_STATE_FINE) ||
            pthread_cond_timedwait(&store->done, &store->mutex, &deadline) != 0)
            return atomic_load(&store->queue.tail) >= position;
    return true;
}

bool metrics_store_flush(MetricsStore *store, uint32_t timeout_ms)
{
    uint64_t position = atomic_load(&store->queue.head);
    if (!metrics_lock_soon(store))
        return false;
    bool durable = metrics_flush_locked(
        store, position, metrics_monotonic_ns() + (int64_t)timeout_ms * 1000000, true);
    metrics_unlock(store);
    return durable;
}

/* Waits without the mutex: the thread that faulted may have it, and this one may be made to leave
 * while it waits. The writer looks at what is set here once in a while. */
void metrics_store_rescue(MetricsStore *store, uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int64_t until_ns = (int64_t)deadline_ns - (int64_t)RESCUE_MARGIN_MS * 1000000;
    uint64_t position = atomic_load(&store->queue.head);
    atomic_store(&store->rescue, true);
    raise_flush_to(store, position);
    if (pthread_mutex_trylock(&store->mutex) == 0) {
        pthread_cond_signal(&store->wake);
        pthread_mutex_unlock(&store->mutex);
    }
    while (atomic_load(&store->queue.tail) < position && !atomic_load(&store->ended) &&
           metrics_monotonic_ns() < until_ns)
        nanosleep(&pause, NULL);
}

bool metrics_settle(MetricsStore *store, int64_t deadline_ns)
{
    struct timespec deadline = metrics_timespec(deadline_ns);
    if (!metrics_lock_soon(store))
        return false;
    bool ok = metrics_start_locked(store);
    store->database_wanted = true;
    atomic_store(&store->sleeping, false);
    pthread_cond_signal(&store->wake);
    /* What fails is tried again, once a second at most: whoever waits is told why at once. */
    while (ok && !store->settled && !store->ended && store->state == METRICS_STATE_FINE)
        ok = pthread_cond_timedwait(&store->done, &store->mutex, &deadline) == 0;
    ok = store->settled && !store->ended;
    metrics_unlock(store);
    return ok;
}

void metrics_store_status(MetricsStore *store, MetricsStatus *out)
{
    memset(out, 0, sizeof *out);
    if (metrics_lock_soon(store)) {
        out->mode = store->mode;
        out->state = store->state;
        snprintf(out->text, sizeof out->text, "%s", store->trouble);
        metrics_unlock(store);
    } else {
        out->state = METRICS_STATE_FAILING;
        snprintf(out->text, sizeof out->text, "%s", METRICS_LOST_TEXT);
    }
    out->rows_committed = atomic_load(&store->rows_committed);
    out->rows_accepted = atomic_load(&store->queue.accepted);
    if (out->rows_accepted < out->rows_committed)
        out->rows_accepted = out->rows_committed;
    out->rows_dropped = atomic_load(&store->rows_dropped);
    out->waited_ns = (uint64_t)atomic_load(&store->waited_ns);
    out->full_periods = atomic_load(&store->full_periods);
    out->rows_taken_over = atomic_load(&store->rows_taken_over);
    out->queue_used_bytes = queue_used_bytes(&store->queue);
    out->queue_bytes = store->queue.capacity_bytes;
    int64_t oldest_us = atomic_load(&store->oldest_wall_us);
    int64_t now_us = disk_wall_us();
    out->lag_ms = oldest_us > 0 && now_us > oldest_us ? (double)(now_us - oldest_us) / 1e3 : 0.0;
    out->last_lag_ms = (double)atomic_load(&store->last_lag_us) / 1e3;
    out->commit_ms = (double)atomic_load(&store->commit_us) / 1e3;
    out->commits = atomic_load(&store->commits);
    out->recovered = atomic_load(&store->recovered);
    out->snapshot_us = atomic_load(&store->snapshot_us);
    if (out->text[0] == '\0' && out->rows_dropped > 0)
        snprintf(out->text, sizeof out->text, "%llu rows found the queue full and were dropped",
                 (unsigned long long)out->rows_dropped);
}
