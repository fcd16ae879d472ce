/* store/metrics/store_impl.h: the insides of MetricsStore, for src/store/metrics/ alone. */
#ifndef CALIPER_STORE_METRICS_STORE_IMPL_H
#define CALIPER_STORE_METRICS_STORE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/database/database.h"
#include "store/metrics/metrics_store.h"
#include "store/metrics/queue.h"
#include "store/metrics/run_ids.h"
#include "store/metrics/run_table.h"
#include "store/metrics/session.h"

typedef struct Writer Writer; /* writer.h */

enum { SNAPSHOTS_OPEN_MAX = 4 };

/* A snapshot of the owner's that this process reads. */
typedef struct OpenSnapshot {
    Database *database;
    int64_t made_us;
    uint64_t inode;
} OpenSnapshot;

struct MetricsStore {
    char *data_root, *database_path, *snapshot_path;
    char session[SESSION_NAME_BYTES];
    uint32_t snapshot_period_ms, close_wait_ms;

    Queue queue;
    RunTable runs;
    atomic_bool notes_pending; /* some run has drops or an end that no row in the queue tells of */
    _Atomic uint64_t rows_dropped;
    _Atomic int64_t full_since_ns; /* when the queue was first found full; 0: it is not */
    _Atomic int64_t waited_ns;     /* what calls were made to wait for room, all together */
    _Atomic uint64_t full_periods; /* how often such waiting began */
    atomic_bool pressure;          /* the queue is half full and the writer knows */
    atomic_bool sleeping;          /* the writer waits without a row: wake it */

    /* Between callers and the writer; never held across I/O. */
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* for the writer */
    pthread_cond_t done; /* for those who wait for it */
    bool has_sync, has_thread, thread_failed, stop;
    atomic_bool ended; /* the thread is over: nobody waits for it any more */
    bool database_wanted;
    atomic_bool rescue;            /* pass over rows that were never published */
    _Atomic uint64_t flush_to;     /* the queue's position that somebody waits for; it only grows */
    atomic_bool lost;              /* the mutex: a thread that faulted has it */
    _Atomic int64_t lock_since_ns; /* when it was first not to be had; 0: it was */
    RunIdBlock ids, spare_ids;
    uint64_t ids_count; /* how many the newest block had; 0: there was none yet */
    bool ids_wanted;    /* a run was begun, or is to be; before that no number is reserved */
    bool ids_ready;     /* the file that counts them is there */
    bool ids_failed;    /* the last try; tried again */
    bool settled;       /* the writer has found out which mode it is in */
    MetricsMode mode;
    MetricsState state;
    char trouble[256];
    const DuckdbApi *interrupt_api;        /* the writer's connection, while it has one */
    DuckdbConnection interrupt_connection; /* NULL: none */
    _Atomic int64_t close_ns; /* closing: what may be left to others is, from then on; 0: not yet */
    bool thread_over;         /* the writer is about to return */
    bool left;                /* it did not, and was left to itself */
    bool said_early;
    pthread_t thread;
    Writer *writer;

    /* What readers use; its mutex is held while a connection is made or the database changes. */
    pthread_mutex_t database_mutex;
    Database *database; /* the writer's; NULL: not open now */
    bool database_is_newer;
    atomic_bool changed; /* a person changed something since the last snapshot */
    OpenSnapshot snapshots[SNAPSHOTS_OPEN_MAX]; /* newest first */

    /* The writer's numbers, for the status. */
    _Atomic uint64_t rows_committed, rows_taken_over, commits, recovered;
    _Atomic int64_t last_lag_us, commit_us, snapshot_us, oldest_wall_us;
};

/* ---- store.c ---- */

int64_t metrics_monotonic_ns(void);
/* CLOCK_MONOTONIC as pthread_cond_timedwait wants it. */
struct timespec metrics_timespec(int64_t ns);
/* The mutex: for the writer, and while a store is made. */
void metrics_lock(MetricsStore *store);
/* For calls. Nobody holds it for long but a thread that faulted in it, and that one for ever: then,
 * after METRICS_LOCK_MOST_MS or FRAME_THREAD_WAIT_MS, false; one line for a store, and from then on
 * at once. */
enum { METRICS_LOCK_MOST_MS = 3000 };
bool metrics_lock_soon(MetricsStore *store);
#define METRICS_LOST_TEXT "the store is held by a call that faulted"
void metrics_unlock(MetricsStore *store);
/* Starts the thread if that is due. With the mutex held. */
bool metrics_start_locked(MetricsStore *store);
/* Whether the writer has to do with run numbers: before the first run to see that there is a file
 * of them; then to reserve the next block when half of the newest one is given out. With the mutex
 * held. */
bool metrics_ids_due(const MetricsStore *store);
/* Waits for the queue's `position` to be durable; `patient`: also while writing fails. With the
 * mutex held. */
bool metrics_flush_locked(MetricsStore *store, uint64_t position, int64_t deadline_ns,
                          bool patient);
/* When closing ends what it may leave to others, of CLOCK_MONOTONIC; INT64_MAX: nobody closes. */
int64_t metrics_close_ns(const MetricsStore *store);
/* Closing leaves something: one line, once. */
void metrics_say_early(MetricsStore *store, const char *why);
/* Wakes the writer, whatever it waits for. */
void metrics_wake(MetricsStore *store);
/* Waits, until `deadline_ns` of CLOCK_MONOTONIC, for the writer to know its mode, opening the
 * database if that is this process's. */
bool metrics_settle(MetricsStore *store, int64_t deadline_ns);

#endif
