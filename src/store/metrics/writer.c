/* The writer's loop: see writer.h. */
#include "store/metrics/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/metrics/disk.h"

enum { NS_PER_MS = 1000000, IDLE_MS = 1000 };
/* A process that is killed leaves a gap of what it had not given out: it begins with few. */
enum { IDS_FIRST_BLOCK = 4, IDS_MOST_BLOCK = 64 };

Writer *writer_create(MetricsStore *store)
{
    Writer *writer = fault_here("metrics.alloc") ? NULL : calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->store = store;
    writer->kept_fd = -1;
    writer->spool.session_fd = writer->spool.fd = -1;
    if (snapshot_init(&writer->snapshot, store->data_root, store->snapshot_path) &&
        spool_writer_init(&writer->spool, store->data_root, store->session))
        return writer;
    writer_free(writer);
    return NULL;
}

void writer_free(Writer *writer)
{
    if (writer == NULL)
        return;
    snapshot_finish(&writer->snapshot);
    spool_writer_finish(&writer->spool);
    free(writer->seen);
    free(writer);
}

static void plan_retry(Writer *writer)
{
    writer->retry_ms = writer->retry_ms == 0                          ? WRITER_RETRY_FIRST_MS
                       : writer->retry_ms >= WRITER_RETRY_LAST_MS / 2 ? WRITER_RETRY_LAST_MS
                                                                      : writer->retry_ms * 2;
    writer->retry_ns = metrics_monotonic_ns() + (int64_t)writer->retry_ms * NS_PER_MS;
}

/* Only the writer changes the state, so it may be read before it is shown: the line comes first. */
void writer_trouble(Writer *writer, int error_number, const char *words)
{
    MetricsStore *store = writer->store;
    bool full = error_number == ENOSPC || error_number == EDQUOT ||
                (words != NULL && strstr(words, "No space left") != NULL);
    MetricsState state = words == NULL ? METRICS_STATE_FINE
                         : full        ? METRICS_STATE_FULL
                                       : METRICS_STATE_FAILING;
    metrics_lock(store);
    MetricsState before = store->state;
    metrics_unlock(store);
    if (words != NULL) {
        plan_retry(writer);
        if (state != before)
            log_item(METRICS_WRITING_FAILS, store->data_root, words);
    } else {
        writer->retry_ms = 0;
        writer->retry_ns = 0;
        if (before != METRICS_STATE_FINE) {
            atomic_fetch_add(&store->recovered, 1);
            log_item(METRICS_WRITING_AGAIN, store->data_root);
        }
    }
    metrics_lock(store);
    store->state = state;
    snprintf(store->trouble, sizeof store->trouble, "%s%.200s",
             full            ? "the disk is full, metrics wait: "
             : words != NULL ? "metrics wait: "
                             : "",
             words != NULL ? words : "");
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
}

void writer_database_failed(Writer *writer, const Sql *sql)
{
    writer->broken = true;
    writer_trouble(writer, 0, sql->error);
}

/* ---- Numbers for runs ---- */

/* With the mutex held. After a failure when it is time again, or a call has come since. */
static bool ids_are_due(const Writer *writer, int64_t now_ns)
{
    return metrics_ids_due(writer->store) &&
           (writer->ids_retry_ns <= now_ns || !writer->store->ids_failed);
}

static void refill_ids(Writer *writer)
{
    MetricsStore *store = writer->store;
    int64_t now_ns = metrics_monotonic_ns();
    metrics_lock(store);
    bool due = ids_are_due(writer, now_ns);
    bool wanted = store->ids_wanted;
    uint64_t count = store->ids_count == 0                   ? IDS_FIRST_BLOCK
                     : store->ids_count < IDS_MOST_BLOCK / 2 ? store->ids_count * 2
                                                             : IDS_MOST_BLOCK;
    metrics_unlock(store);
    if (!due)
        return;
    RunIdBlock block = {0};
    bool ok = wanted ? run_ids_reserve(store->data_root, 1, count, &block)
                     : run_ids_prepare(store->data_root);
    /* Where nobody asks, a folder that may not be written is tried less and less often. */
    int64_t longer_ms = writer->ids_wait_ms * 2;
    writer->ids_wait_ms = ok                                 ? 0
                          : longer_ms < WRITER_RETRY_LAST_MS ? WRITER_RETRY_LAST_MS
                          : longer_ms < WRITER_IDS_LAST_MS   ? longer_ms
                                                             : WRITER_IDS_LAST_MS;
    writer->ids_retry_ns = ok ? 0 : now_ns + writer->ids_wait_ms * NS_PER_MS;
    metrics_lock(store);
    store->ids_ready |= ok;
    store->ids_failed = !ok;
    if (ok && wanted) {
        store->ids_count = count;
        *(store->ids.first == store->ids.end ? &store->ids : &store->spare_ids) = block;
    }
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
}

/* ---- The loop ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The oldest row's time; 0: it is not published yet, or there is none. */
static int64_t oldest_us(Writer *writer)
{
    Queue *queue = &writer->store->queue;
    uint64_t position = queue->cursor;
    uint64_t size_bytes = 0;
    const Row *row = queue_row_at(queue, &position, atomic_load(&queue->head), false, &size_bytes);
    return row != NULL ? row->wall_us : 0;
}

/* When the rows that are there must be written: METRICS_BATCH_DELAY_MS after the oldest was logged.
 * A row with a time of its own (an import) counts from when it was seen. */
static int64_t batch_due_ns(Writer *writer, int64_t now_ns)
{
    if (writer->batch_due_ns != 0)
        return writer->batch_due_ns;
    int64_t oldest = oldest_us(writer);
    if (oldest == 0)
        return now_ns + NS_PER_MS;
    int64_t delay_us = (int64_t)METRICS_BATCH_DELAY_MS * 1000;
    int64_t wall_us = disk_wall_us();
    int64_t age_us = wall_us - oldest;
    if (age_us < 0 || age_us > WRITER_AGE_MAX_US)
        age_us = 0;
    atomic_store(&writer->store->oldest_wall_us, wall_us - age_us);
    writer->batch_due_ns = now_ns + (age_us >= delay_us ? 0 : (delay_us - age_us) * 1000);
    return writer->batch_due_ns;
}

static int64_t housekeeping_ns(const Writer *writer, int64_t now_ns)
{
    int64_t until = now_ns + (int64_t)IDLE_MS * NS_PER_MS;
    if (writer->lock != NULL && !writer->newer)
        until = least(until, writer->takeover_ns);
    else if (writer->spools && !writer->without && writer->lock == NULL)
        until = least(until, writer->owner_try_ns);
    if (writer->database != NULL && writer->snapshot_due)
        until = least(until, writer->snapshot_soonest_ns);
    return until < now_ns ? now_ns : until;
}

static bool has_choice(const Writer *writer)
{
    return writer->lock != NULL || writer->spools;
}

/* With the mutex held: now_ns when there is something to do, else when to look again. */
static int64_t next_look_ns(Writer *writer, bool has_rows, int64_t now_ns)
{
    MetricsStore *store = writer->store;
    if (store->stop)
        return now_ns;
    if (writer->retry_ns > now_ns)
        return writer->retry_ns;
    if ((store->database_wanted && !has_choice(writer)) ||
        (writer->lock != NULL && writer->database == NULL))
        return now_ns;
    if (ids_are_due(writer, now_ns))
        return now_ns;
    int64_t until = has_choice(writer) ? housekeeping_ns(writer, now_ns)
                                       : now_ns + (int64_t)60 * IDLE_MS * NS_PER_MS;
    bool notes = atomic_load(&store->notes_pending);
    if (notes || has_rows) {
        bool at_once = notes || store->flush_to > atomic_load(&store->queue.tail) ||
                       atomic_load(&store->pressure);
        return at_once ? now_ns : least(until, batch_due_ns(writer, now_ns));
    }
    return until;
}

static void wait_for_work(Writer *writer)
{
    MetricsStore *store = writer->store;
    metrics_lock(store);
    for (;;) {
        atomic_store(&store->sleeping, true);
        int64_t now_ns = metrics_monotonic_ns();
        /* Read once: whoever puts a row behind this head finds a writer to be woken, and a writer
         * that is not to be woken has counted its rows in when it looks again. */
        bool has_rows = atomic_load(&store->queue.head) != store->queue.cursor;
        int64_t until_ns = next_look_ns(writer, has_rows, now_ns);
        /* One that waits for its batch to be due need not be woken by each row. */
        if (has_rows)
            atomic_store(&store->sleeping, false);
        if (until_ns <= now_ns)
            break;
        struct timespec until = metrics_timespec(until_ns);
        pthread_cond_timedwait(&store->wake, &store->mutex, &until);
    }
    atomic_store(&store->sleeping, false);
    metrics_unlock(store);
}

static void settled(Writer *writer)
{
    MetricsStore *store = writer->store;
    metrics_lock(store);
    store->settled = has_choice(writer);
    store->mode = writer->newer || writer->without ? METRICS_MODE_WITHOUT
                  : writer->lock != NULL           ? METRICS_MODE_OWNER
                  : writer->spools                 ? METRICS_MODE_SPOOL
                                                   : METRICS_MODE_IDLE;
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
}

static bool is_late(const Writer *writer)
{
    return metrics_monotonic_ns() >= metrics_close_ns(writer->store);
}

static bool owner_step(Writer *writer)
{
    int64_t now_ns = metrics_monotonic_ns();
    bool more = false;
    if (writer->takes_over_first || now_ns >= writer->takeover_ns) {
        do {
            refill_ids(writer); /* somebody may wait for a number while much is taken over */
            if (!takeover_step(writer, &more) || (more && is_late(writer)))
                return false;
        } while (more && writer->takes_over_first);
        writer->takes_over_first = false;
        int64_t period_ms = writer->others_alive ? WRITER_TAKEOVER_MS : IDLE_MS;
        writer->takeover_ns = more ? now_ns : now_ns + period_ms * NS_PER_MS;
    }
    return true;
}

/* One round: what is to be written, and what else is due. False: it failed. */
static bool step(Writer *writer)
{
    MetricsStore *store = writer->store;
    metrics_lock(store);
    bool wanted = store->database_wanted;
    metrics_unlock(store);
    bool has_rows = atomic_load(&store->queue.head) != store->queue.cursor ||
                    atomic_load(&store->notes_pending);
    if (!has_choice(writer) && !wanted && !has_rows)
        return true;
    bool opens = !has_choice(writer) || (writer->lock != NULL && writer->database == NULL);
    bool ok = !opens || backend_choose(writer);
    ok = ok && (writer->spools || writer_settle_doubt(writer));
    bool is_owner = writer->lock != NULL && !writer->newer;
    ok = ok && (!is_owner || owner_step(writer));
    /* Readers come after what others left: their rows, and which runs were interrupted. */
    if (opens)
        settled(writer);
    if (!ok || !writer_write_batch(writer))
        return false;
    if (is_owner) {
        backend_maintain(writer, false);
    } else if (!writer->without && writer->lock == NULL &&
               metrics_monotonic_ns() >= writer->owner_try_ns) {
        backend_try_owner(writer);
        settled(writer);
    }
    return true;
}

static void pause_until(Writer *writer, int64_t deadline_ns)
{
    MetricsStore *store = writer->store;
    struct timespec until =
        metrics_timespec(writer->retry_ns > 0 ? least(writer->retry_ns, deadline_ns) : deadline_ns);
    metrics_lock(store);
    pthread_cond_timedwait(&store->wake, &store->mutex, &until);
    metrics_unlock(store);
}

/* Writes what is left, as long as it may take. */
static void drain(Writer *writer)
{
    MetricsStore *store = writer->store;
    int64_t deadline_ns = metrics_monotonic_ns() + (int64_t)store->close_wait_ms * NS_PER_MS;
    while (atomic_load(&store->queue.head) != store->queue.cursor ||
           atomic_load(&store->notes_pending)) {
        if (metrics_monotonic_ns() >= deadline_ns)
            break;
        if (!step(writer))
            pause_until(writer, deadline_ns);
    }
    uint64_t accepted = atomic_load(&store->queue.accepted);
    uint64_t committed = atomic_load(&store->rows_committed);
    if (atomic_load(&store->queue.head) != store->queue.cursor && accepted > committed)
        log_item(METRICS_LOST, (unsigned long long)(accepted - committed), store->trouble);
}

/* The last of all processes commits what the others spooled. Each spools to its end, then asks for
 * the lock; each owner lets the lock go, then looks once more: so one of them sees every file. */
static void end_as_owner(Writer *writer)
{
    enum { ROUNDS = 4 }; /* a file that cannot be read is left for another day */
    for (int round = 0; round < ROUNDS && !writer->without; round++) {
        if (writer->lock == NULL) {
            if (!takeover_is_due(writer) ||
                owner_lock_take(writer->store->data_root, &writer->lock, NULL) != OWNER_STATE_HELD)
                return;
            writer->spools = false;
        }
        bool more = true;
        bool ok = writer->database != NULL || backend_choose(writer);
        while (ok && more && !writer->newer && !is_late(writer))
            ok = (!writer->broken || backend_mend(writer)) && takeover_step(writer, &more);
        bool late = is_late(writer);
        if (ok && !writer->newer) {
            takeover_mark_interrupted(writer, true);
            if (!late)
                backend_maintain(writer, true);
        }
        if (late)
            metrics_say_early(writer->store,
                              "it took too long to take over what others left and to "
                              "make a snapshot");
        backend_release(writer);
        if (!ok || writer->newer || late)
            return;
    }
}

void *writer_main(void *argument)
{
    MetricsStore *store = argument;
    Writer *writer = store->writer;
    refill_ids(writer);
    if (takeover_is_due(writer)) {
        metrics_lock(store);
        store->database_wanted = true;
        metrics_unlock(store);
    }
    for (;;) {
        wait_for_work(writer);
        refill_ids(writer);
        metrics_lock(store);
        bool stop = store->stop;
        metrics_unlock(store);
        if (stop)
            break;
        step(writer);
    }
    drain(writer);
    spool_writer_end_session(&writer->spool);
    if (has_choice(writer))
        end_as_owner(writer);
    metrics_lock(store);
    RunIdBlock spare = store->spare_ids;
    RunIdBlock ids = store->ids;
    store->ids = store->spare_ids = (RunIdBlock){0};
    store->mode = METRICS_MODE_IDLE;
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
    run_ids_return(store->data_root, spare);
    run_ids_return(store->data_root, ids);
    metrics_lock(store);
    store->thread_over = true;
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
    return NULL;
}
