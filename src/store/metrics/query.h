/* store/metrics/query.h: the database that this process may read, for src/store/metrics/ alone.
 *
 * Threads that may wait for the disk; the frame thread for a moment, and then it is refused. */
#ifndef CALIPER_STORE_METRICS_QUERY_H
#define CALIPER_STORE_METRICS_QUERY_H

#include "store/metrics/store_impl.h"

/* The owner's database or the newest snapshot (*snapshot_us: when that was made; 0: it is none),
 * held: database_let_go when done. NULL and *error. It waits for other threads until `until_ns`,
 * frame_thread_until_ns() of the call that it is a part of. */
Database *query_database(MetricsStore *store, int64_t until_ns, int64_t *snapshot_us,
                         DatabaseError *error);

#endif
