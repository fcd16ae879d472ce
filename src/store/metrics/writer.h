/* store/metrics/writer.h: the thread that makes rows durable.
 *
 * For src/store/metrics/ alone. Everything of a Writer belongs to that thread. It empties the queue
 * into the database (backend.c, commit.c) or into a spool file, a batch at a time (writer_batch.c);
 * a row leaves the queue when it is safe, so that a failure loses nothing and is tried again. As
 * owner it also takes over the spool files of others (takeover.c) and makes snapshots (snapshot.c).
 */
#ifndef CALIPER_STORE_METRICS_WRITER_H
#define CALIPER_STORE_METRICS_WRITER_H

#include "store/metrics/commit.h"
#include "store/metrics/notes.h"
#include "store/metrics/snapshot.h"
#include "store/metrics/spool.h"
#include "store/metrics/store_impl.h"
#include "store/owner_lock.h"

enum {
    WRITER_BATCH_ROWS = 131072,
    WRITER_BATCH_BYTES = 16 << 20,
    WRITER_SPOOL_FRAME_BYTES = 1 << 20,
    WRITER_OWNER_TRY_MS = 1000, /* how often a spooling process tries to become the owner */
    WRITER_TAKEOVER_MS = 250,   /* how often the owner looks for spooled rows */
    WRITER_RETRY_FIRST_MS = 50, /* after a failure; doubles up to the last */
    WRITER_RETRY_LAST_MS = 1000,
    WRITER_IDS_LAST_MS = 60000,
    WRITER_AGE_MAX_US = 10000000, /* a row that is older has a time of its own: an import */
    WRITER_LOG_BYTES = 16 << 20   /* of write-ahead log, then a checkpoint */
};

/* How far a spool file was taken over. */
typedef struct SpoolSeen {
    char name[SPOOL_NAME_BYTES];
    uint64_t bytes;
    uint32_t no_room; /* how often there was no memory for the frame there */
} SpoolSeen;

/* Rows that leave the queue together: writer_batch.c. */
typedef struct Batch {
    uint64_t end; /* position behind the last one */
    uint64_t rows;
    int64_t oldest_us;
    bool ends_run;
    bool notes; /* with what no row in the queue tells of */
} Batch;

struct Writer {
    MetricsStore *store;
    OwnerLock *lock;    /* held: this process owns the data root */
    Database *database; /* open; NULL while it cannot be opened */
    bool newer;         /* it is of a newer Caliper and only read */
    bool without;       /* there is no library */
    bool left_open;     /* a call did not come out of a database that was to be closed */
    bool spools;        /* rows go to spool files */
    bool said_other;    /* whose the data root is was logged */
    int kept_fd;        /* of the database file, for snapshots; -1: none. See snapshot.h */
    DuckdbConnection connection;
    Commit commit;
    SpoolWriter spool;
    Notes notes;
    uint64_t spool_again; /* a sync failed: rows up to here are written once more; 0: none */
    bool broken;          /* a statement failed: see whether the instance is of any use */
    bool in_doubt;        /* a COMMIT failed: `doubt` may be in the tables up to doubt_seq */
    Batch doubt;
    int64_t doubt_seq;

    Snapshot snapshot;
    bool snapshot_due; /* a run ended */
    bool rows_since_snapshot, snapshot_said;
    int64_t snapshot_next_ns, snapshot_soonest_ns, checkpoint_ns;

    SpoolSeen *seen;
    uint32_t seen_count, seen_capacity;
    bool takes_over_first; /* before rows of its own */
    bool others_alive;     /* some other session may still spool */
    bool spool_said;       /* that a spool file cannot be read was logged */
    bool interrupted_due;

    int64_t batch_due_ns; /* of the rows that are waiting; 0: none were seen */
    int64_t owner_try_ns, takeover_ns, ids_retry_ns, ids_wait_ms, retry_ns;
    uint32_t retry_ms;
};

Writer *writer_create(MetricsStore *store);
void writer_free(Writer *writer);
void *writer_main(void *store);

/* ---- backend.c ---- */

/* Becomes the owner, or finds out who is; opens the database, or spools. False: an error, told to
 * writer_trouble; to be tried again. */
bool backend_choose(Writer *writer);
/* For one that spools: the owner's place may be free. */
void backend_try_owner(Writer *writer);
/* After a failed statement: sees whether the instance still works, and opens a fresh one if not.
 * False as above. */
bool backend_mend(Writer *writer);
/* Closes the database and lets the data root go. */
void backend_release(Writer *writer);
/* Checkpoint and snapshot, when they are due; at the `end` both, and waits. */
void backend_maintain(Writer *writer, bool end);

/* ---- takeover.c ---- */

/* Commits what others spooled, a bounded piece; *more: there is more at once. False: the database
 * failed, told to writer_trouble. */
bool takeover_step(Writer *writer, bool *more);
/* Forgets spool files that are gone. */
bool takeover_clean(Writer *writer);
/* Marks the runs of dead sessions (`closing`: of this one too) as interrupted. */
bool takeover_mark_interrupted(Writer *writer, bool closing);
/* Whether a dead session left something in the spool folder. */
bool takeover_is_due(const Writer *writer);

/* ---- writer_batch.c ---- */

/* Writes what is in the queue, one batch. False: it failed and is to be tried again. */
bool writer_write_batch(Writer *writer);
/* After a transaction that may have happened: its rows leave the queue if it did. False: it cannot
 * be told now. */
bool writer_settle_doubt(Writer *writer);

/* ---- writer.c ---- */

/* Enters a state, one log line for each change, and plans the next try; `words` NULL: all is well.
 */
void writer_trouble(Writer *writer, int error_number, const char *words);
/* The same with the words of a failed statement; the instance is looked at before the next one. */
void writer_database_failed(Writer *writer, const Sql *sql);

#endif
