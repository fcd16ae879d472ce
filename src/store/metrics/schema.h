/* store/metrics/schema.h: the tables of metrics.duckdb, and older ones made into them.
 *
 * For src/store/metrics/ alone. The public tables are those of caliper.metrics.v1_1; the others are
 * the store's own bookkeeping and what the Runs dashboard keeps. Times are UTC. The writer thread.
 */
#ifndef CALIPER_STORE_METRICS_SCHEMA_H
#define CALIPER_STORE_METRICS_SCHEMA_H

#include "store/metrics/sql.h"

enum { SCHEMA_VERSION = 2 };

typedef enum SchemaState {
    SCHEMA_STATE_CURRENT = 0,
    SCHEMA_STATE_CREATED = 1,
    SCHEMA_STATE_MIGRATED = 2, /* *found was older */
    SCHEMA_STATE_NEWER = 3,    /* nothing was changed */
    SCHEMA_STATE_FAILED = 4    /* words in the Sql; nothing was changed */
} SchemaState;

/* One transaction: all of it or nothing. *found: the version that the file had (0: tables without
 * one); -1 for a file without tables. */
SchemaState schema_ensure(Sql *sql, int64_t *found);

#endif
