/* store/metrics/snapshot.h: a copy of the database for other processes.
 *
 * For src/store/metrics/ alone. Between two checkpoints the database file does not change but in
 * blocks that nothing refers to, so a copy of it is a whole database of the moment of the last
 * checkpoint. It is made by a thread of its own, through a descriptor that stays open as long as
 * the engine has the file: closing one would drop the engine's lock. No checkpoint may run
 * meanwhile. */
#ifndef CALIPER_STORE_METRICS_SNAPSHOT_H
#define CALIPER_STORE_METRICS_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Snapshot {
    char *path, *temporary_path, *folder;
    int fd;          /* the kept descriptor, while copying */
    int64_t made_us; /* of the checkpoint that is copied */
    int64_t took_ns; /* the last copy */
    pthread_t thread;
    bool has_thread;
    atomic_bool ended; /* the thread is about to end */
    atomic_bool stop;  /* it is to end soon, without a snapshot */
    int failure;       /* errno; 0: it worked */
} Snapshot;

/* False without memory. */
bool snapshot_init(Snapshot *snapshot, const char *folder, const char *path);
void snapshot_finish(Snapshot *snapshot);
/* Begins a copy; the caller made a checkpoint and makes no other until it is over. */
bool snapshot_begin(Snapshot *snapshot, int fd);
/* Whether one runs. After it ended, once: *ended with its failure. */
bool snapshot_runs(Snapshot *snapshot, bool *ended);
/* Waits for its end; at `deadline_ns` of CLOCK_MONOTONIC it is given up: failure ECANCELED. */
void snapshot_end(Snapshot *snapshot, int64_t deadline_ns, bool *ended);

#endif
