/* store/metrics/read_impl.h: what read.c and read_scalars.c share. */
#ifndef CALIPER_STORE_METRICS_READ_IMPL_H
#define CALIPER_STORE_METRICS_READ_IMPL_H

#include "store/metrics/cursor.h"
#include "store/metrics/metrics_read.h"

struct MetricsReader {
    MetricsStore *store;
    Database *database;       /* held: that of the session */
    DatabaseSession *session; /* NULL: none yet, or it was closed */
    int64_t snapshot_us;
    DatabaseError error;
};

/* Enters a session on what is to be read now. False and the reader's error. */
bool read_enter(MetricsReader *reader);
void read_leave(MetricsReader *reader);
/* Prepares a statement, inside. NULL and the reader's error. */
DuckdbPrepared read_prepare(MetricsReader *reader, const char *sql);
/* Runs it and destroys it. False and the reader's error. */
bool read_run(MetricsReader *reader, DuckdbPrepared *prepared, Cursor *cursor);
/* Ends the rows, keeps the block or not, and leaves: what a read function answers. */
bool read_end(MetricsReader *reader, Cursor *cursor, Block *block, void **out_block);
/* Leaves after a failure before there were rows. */
bool read_failed(MetricsReader *reader);

#endif
