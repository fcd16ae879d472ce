/* What leaves the queue together: into the database in one transaction, or into a spool file. The
 * writer thread: see writer.h. */
#include <errno.h>
#include <string.h>

#include "core/trace.h"
#include "store/metrics/disk.h"
#include "store/metrics/writer.h"

static void batch_note(Batch *batch, const Row *row)
{
    if (batch->oldest_us == 0 || row->wall_us < batch->oldest_us)
        batch->oldest_us = row->wall_us;
    batch->rows++;
    batch->ends_run |= row->kind == ROW_KIND_END;
}

static bool put_notes_in_database(Writer *writer)
{
    notes_gather(&writer->notes, &writer->store->runs);
    for (uint32_t i = 0; i < writer->notes.count; i++)
        if (!commit_row(&writer->commit, &writer->notes.rows[i], writer->store->session))
            return false;
    return true;
}

/* The row behind the batch, which then ends in front of it: gaps are passed over. */
static const Row *next_row(Writer *writer, Batch *batch, uint64_t limit, bool rescue,
                           uint64_t *size_bytes)
{
    return queue_row_at(&writer->store->queue, &batch->end, limit, rescue, size_bytes);
}

/* One transaction. */
static bool write_to_database(Writer *writer, Batch *batch, uint64_t limit, bool rescue)
{
    uint64_t first = batch->end;
    Commit *commit = &writer->commit;
    if (!commit_begin(commit))
        return false;
    bool ok = true;
    while (ok && batch->rows < WRITER_BATCH_ROWS && batch->end - first < WRITER_BATCH_BYTES) {
        uint64_t size_bytes = 0;
        const Row *row = next_row(writer, batch, limit, rescue, &size_bytes);
        if (row == NULL)
            break;
        ok = commit_row(commit, row, writer->store->session);
        batch->end += size_bytes;
        batch_note(batch, row);
    }
    ok = ok && (!batch->notes || put_notes_in_database(writer));
    if (!ok) {
        commit_abandon(commit);
        return false;
    }
    writer->doubt_seq = commit->seq - 1;
    bool has_seq = commit->seq > commit->next_seq;
    if (commit_end(commit))
        return true;
    /* Rows without a number may be written twice to the same end. */
    writer->in_doubt = has_seq;
    writer->doubt = *batch;
    return false;
}

/* The next rows that lie side by side; *more: there is a row behind them. */
static const Row *next_frame(Writer *writer, Batch *batch, uint64_t limit, bool rescue,
                             uint64_t *frame_bytes, bool *more)
{
    const Row *frame = NULL;
    *frame_bytes = 0;
    for (;;) {
        uint64_t size_bytes = 0;
        const Row *row = next_row(writer, batch, limit, rescue, &size_bytes);
        *more = row != NULL;
        bool beside =
            frame == NULL || (const uint8_t *)row == (const uint8_t *)frame + *frame_bytes;
        if (row == NULL || !beside || *frame_bytes >= WRITER_SPOOL_FRAME_BYTES)
            return frame;
        frame = frame != NULL ? frame : row;
        *frame_bytes += size_bytes;
        batch->end += size_bytes;
        batch_note(batch, row);
    }
}

/* One frame, so that it is there whole or not at all. As with rows, what a failed sync left is
 * written again, the same frame at the same place, before anything else is. */
static bool write_notes_to_spool(Writer *writer)
{
    Notes *notes = &writer->notes;
    SpoolWriter *spool = &writer->spool;
    if (!notes->again)
        notes_gather(notes, &writer->store->runs);
    if (notes->count == 0)
        return true;
    const SpoolPlace place = spool_place(spool);
    if (!spool_write(spool, notes->rows, notes->count * sizeof notes->rows[0]))
        return false;
    notes->again = !spool_sync(spool);
    if (notes->again)
        spool_rewind(spool, place);
    else
        notes_are_safe(notes);
    return !notes->again;
}

/* Whole frames leave the queue one by one, so that one which fails is all that is tried again; and
 * none leaves it before the sync has returned. After a sync that failed nobody knows what became of
 * the pages: the same frames are written again at the same place, where an owner that has read them
 * already finds nothing new. */
static bool write_to_spool(Writer *writer, Batch *batch, uint64_t limit, bool rescue)
{
    SpoolWriter *spool = &writer->spool;
    const Batch before = *batch;
    if (writer->notes.again && !write_notes_to_spool(writer))
        return false;
    const SpoolPlace place = spool_place(spool);
    bool ok = true;
    bool more = true;
    if (writer->spool_again != 0)
        limit = writer->spool_again;
    /* Only the first frame may begin a file, so that all of a batch lie in one. */
    while (ok && more && batch->end - before.end < WRITER_BATCH_BYTES &&
           (batch->end == before.end || spool->end_bytes < SPOOL_FILE_BYTES)) {
        Batch next = *batch;
        uint64_t frame_bytes = 0;
        const Row *frame = next_frame(writer, &next, limit, rescue, &frame_bytes, &more);
        ok = frame == NULL || spool_write(spool, frame, frame_bytes);
        if (ok)
            *batch = next;
    }
    if (!spool_sync(spool)) {
        spool_rewind(spool, place);
        if (batch->rows > before.rows && batch->end > writer->spool_again)
            writer->spool_again = batch->end;
        *batch = before;
        return false;
    }
    if (batch->end >= writer->spool_again)
        writer->spool_again = 0;
    return ok && (!batch->notes || write_notes_to_spool(writer));
}

/* The numbers come first: whoever waited for the rows finds them there. */
static void batch_is_safe(Writer *writer, const Batch *batch)
{
    MetricsStore *store = writer->store;
    if (batch->rows > 0) {
        atomic_fetch_add(&store->rows_committed, batch->rows);
        atomic_fetch_add(&store->commits, 1);
        int64_t lag_us = disk_wall_us() - batch->oldest_us;
        if (lag_us >= 0 && lag_us <= WRITER_AGE_MAX_US)
            atomic_store(&store->last_lag_us, lag_us);
        atomic_store(&store->oldest_wall_us, 0);
        writer->batch_due_ns = 0;
        writer->rows_since_snapshot = true;
        writer->snapshot_due |= batch->ends_run;
    }
    metrics_lock(store);
    queue_release(&store->queue, batch->end);
    pthread_cond_broadcast(&store->done);
    metrics_unlock(store);
    store->queue.cursor = batch->end;
    if (queue_used_bytes(&store->queue) < store->queue.capacity_bytes / 2) {
        atomic_store(&store->pressure, false);
        atomic_store(&store->full_since_ns, 0);
    }
}

static void trace_batch(uint64_t started, const Batch *batch)
{
    if (started == 0)
        return;
    TraceEvent event = {.category = "metrics", .name = "batch", .value_count = 1};
    event.values[0] = (TraceValue){"rows", batch->rows};
    trace_span(started, &event);
}

bool writer_write_batch(Writer *writer)
{
    MetricsStore *store = writer->store;
    uint64_t limit = atomic_load(&store->queue.head);
    Batch batch = {.end = store->queue.cursor};
    batch.notes = atomic_exchange(&store->notes_pending, false);
    if (limit == batch.end && !batch.notes)
        return true;
    bool rescue = atomic_load(&store->rescue);
    uint64_t span = trace_begin();
    int64_t started_ns = metrics_monotonic_ns();
    errno = 0;
    bool ok = writer->spools ? write_to_spool(writer, &batch, limit, rescue)
                             : write_to_database(writer, &batch, limit, rescue);
    int failure = errno;
    trace_batch(span, &batch);
    if (ok) {
        atomic_store(&store->commit_us, (metrics_monotonic_ns() - started_ns) / 1000);
        writer_trouble(writer, 0, NULL);
    } else if (writer->spools) {
        writer_trouble(writer, failure, strerror(failure));
    } else {
        writer_database_failed(writer, &writer->commit.sql);
    }
    if (ok && batch.notes)
        notes_are_safe(&writer->notes);
    if (batch.notes && (!ok || writer->notes.more))
        atomic_store(&store->notes_pending, true);
    /* Last: whoever waits for the rows then finds everything in order. What a spool took is safe
     * even when the next frame failed. */
    if (ok || writer->spools)
        batch_is_safe(writer, &batch);
    return ok;
}

bool writer_settle_doubt(Writer *writer)
{
    if ((writer->broken && !backend_mend(writer)) ||
        (writer->in_doubt && writer->commit.seq_unknown && !commit_reread_seq(&writer->commit))) {
        if (!writer->broken)
            writer_database_failed(writer, &writer->commit.sql);
        return false;
    }
    if (writer->in_doubt && writer->commit.next_seq > writer->doubt_seq) {
        batch_is_safe(writer, &writer->doubt);
        /* notes_pending stays: a row may have been dropped since, and telling of nothing is
         * harmless. */
        if (writer->doubt.notes)
            notes_are_safe(&writer->notes);
    }
    writer->in_doubt = false;
    return true;
}
