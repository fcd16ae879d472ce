/* store/metrics/metrics_store.h: runs and what they log, kept in <data root>/metrics.duckdb.
 *
 * src/store/metrics/ holds the queue that callers fill without I/O, the thread that writes it out,
 * the spool files of processes that do not own the data root, the tables, snapshots for other
 * processes, and reading back (metrics_read.h). For services/metrics, shell/ and cli/; the other
 * headers of the folder are its own. Functions are [any] unless they say otherwise.
 *
 * On the frame thread end_run does not wait, and begin_run and query wait FRAME_THREAD_WAIT_MS for
 * the disk and for others, then refuse with a line; what a SELECT itself takes is its caller's.
 *
 * What may be lost: rows younger than METRICS_BATCH_DELAY_MS plus the commit in progress when the
 * process is killed; rows that found the queue full, which are counted and recorded. */
#ifndef CALIPER_STORE_METRICS_STORE_H
#define CALIPER_STORE_METRICS_STORE_H

#include <caliper/arrow_c.h>
#include <caliper/tensor.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct MetricsStore MetricsStore;

enum {
    METRICS_BATCH_DELAY_MS = 40, /* a batch starts this long after its oldest row; at most 50 */
    METRICS_FULL_WAIT_MS = 50,   /* waited in total until the queue is half empty again */
    METRICS_END_WAIT_MS = 2000,  /* end_run waits this long at most */
    METRICS_START_WAIT_MS = 500,
    METRICS_CLOSE_WAIT_MS = 5000 /* for a disk that does not take rows, at the end */
};
#define METRICS_QUEUE_BYTES ((uint64_t)64 << 20)

typedef struct MetricsParams { /* zero means the default */
    uint32_t struct_size;
    const char *data_root;       /* an existing folder */
    uint64_t queue_bytes;        /* METRICS_QUEUE_BYTES */
    uint32_t snapshot_period_ms; /* 60 000 */
    uint32_t close_wait_ms;      /* METRICS_CLOSE_WAIT_MS */
    bool start_now; /* start the thread and see to the file of run numbers at once, so that the
                       first begin_run waits for one write; waits METRICS_START_WAIT_MS at most */
} MetricsParams;

/* Touches no disk, and starts no thread unless start_now. NULL after one line. */
MetricsStore *metrics_store_create(const MetricsParams *params);
/* Writes what is left, makes a snapshot, ends queries and lets the data root go. Waits for the
 * disk: for its own rows close_wait_ms, and as long again for what others left and the snapshot;
 * then 1 s more until what runs is interrupted, and 1 s after that closing goes on, with one line,
 * whatever the writer does (2 s more for calls that use the database or a snapshot, each). What
 * lies in spool files stays there. Calls may be running in it; they and later ones have no effect.
 */
void metrics_store_close(MetricsStore *store);
/* Closes it and gives its memory back: no call may be running in it. NULLs *store, accepts NULL. */
void metrics_store_destroy(MetricsStore **store);

/* ---- Logging: as caliper.metrics.v1 says ---- */

uint64_t metrics_store_begin_run(MetricsStore *store, const char *experiment, const char *name);
void metrics_store_end_run(MetricsStore *store, uint64_t run);
void metrics_store_scalar(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                          double value);
void metrics_store_histogram(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                             const float *values, int64_t count);
void metrics_store_image(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                         const CaliperTensor *hwc_u8);
void metrics_store_hparams(MetricsStore *store, uint64_t run, const char *json);

/* The same with a time of its own, for what is imported: microseconds since 1970, UTC. */
uint64_t metrics_store_begin_run_at(MetricsStore *store, const char *experiment, const char *name,
                                    int64_t wall_us);
void metrics_store_end_run_at(MetricsStore *store, uint64_t run, int64_t wall_us);
void metrics_store_scalar_at(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                             double value, int64_t wall_us);
void metrics_store_histogram_at(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                                const float *values, int64_t count, int64_t wall_us);
void metrics_store_image_at(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                            const CaliperTensor *hwc_u8, int64_t wall_us);
/* Texts are only imported: no table of functions has them. `text` need not end with NUL. */
void metrics_store_text_at(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                           const char *text, size_t text_bytes, int64_t wall_us);

/* ---- Reading back: as caliper.metrics.v1_1 says; a NULL store is one that was closed ---- */

bool metrics_store_query(MetricsStore *store, const char *sql, struct ArrowArrayStream *out);
const char *metrics_store_last_error(void);

/* ---- State ---- */

/* Waits until every row logged before the call is durable, at most `timeout_ms`. */
bool metrics_store_flush(MetricsStore *store, uint32_t timeout_ms);
/* The same for a process that is about to end, on the rescue thread: `deadline_ns` is of
 * CLOCK_MONOTONIC. A row that a faulted thread left half-written is passed over. */
void metrics_store_rescue(MetricsStore *store, uint64_t deadline_ns);

typedef enum MetricsMode {
    METRICS_MODE_IDLE = 0,  /* nothing was logged or read: no file is open */
    METRICS_MODE_OWNER = 1, /* this process writes the database */
    METRICS_MODE_SPOOL = 2, /* another process does: rows go to a spool file */
    METRICS_MODE_WITHOUT =
        3 /* no DuckDB, or a newer database: rows go to a spool file that waits */
} MetricsMode;

typedef enum MetricsState {
    METRICS_STATE_FINE = 0,
    METRICS_STATE_FULL = 1,   /* the disk is full; rows wait in the queue */
    METRICS_STATE_FAILING = 2 /* another error; rows wait in the queue */
} MetricsState;

typedef struct MetricsStatus {
    MetricsMode mode;
    MetricsState state;
    uint64_t rows_accepted, rows_committed; /* of this process; the difference is queued */
    uint64_t rows_dropped;
    uint64_t waited_ns;       /* what calls waited for room in the queue, all threads' together; of
                                 one thread at most METRICS_FULL_WAIT_MS in each full period */
    uint64_t full_periods;    /* from a queue that is full until half of it is free again */
    uint64_t rows_taken_over; /* of other processes' spool files, by this one */
    uint64_t queue_used_bytes, queue_bytes;
    double lag_ms;       /* age of the oldest row that is not durable; 0: there is none */
    double last_lag_ms;  /* age of the oldest row of the last batch when it was durable */
    double commit_ms;    /* what the last commit took */
    uint64_t commits;    /* grows with every batch: poll it, then read what is new */
    uint64_t recovered;  /* how often writing began to work again */
    int64_t snapshot_us; /* when the newest snapshot was made; 0: none yet */
    char text[256];      /* one line for the status bar: what is wrong; "" when all is well */
} MetricsStatus;

/* No I/O and no lock that is held across I/O: the frame thread may ask every frame. */
void metrics_store_status(MetricsStore *store, MetricsStatus *out);

/* What the Runs dashboard lets a person do. Owner only; off the frame thread; false after one line.
 * A deleted run stays in the tables, marked, until it is undeleted. */
bool metrics_store_set_note(MetricsStore *store, uint64_t run, const char *note);
bool metrics_store_set_deleted(MetricsStore *store, uint64_t run, bool deleted);

#endif
