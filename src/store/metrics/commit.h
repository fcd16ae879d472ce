/* store/metrics/commit.h: rows into the database, a transaction at a time.
 *
 * For src/store/metrics/ alone. The writer thread. Every row gets the next `seq`; a transaction
 * that does not end takes its numbers back. */
#ifndef CALIPER_STORE_METRICS_COMMIT_H
#define CALIPER_STORE_METRICS_COMMIT_H

#include "store/metrics/row.h"
#include "store/metrics/sql.h"

enum { COMMIT_TABLES = 4, COMMIT_COLUMNS_MAX = 9, COMMIT_CHUNK_ROWS = 2048 };

typedef struct CommitTable {
    DuckdbAppender appender; /* made when the first row of a kind comes */
    DuckdbDataChunk chunk;
    DuckdbVector vectors[COMMIT_COLUMNS_MAX];
    void *data[COMMIT_COLUMNS_MAX];
    uint32_t rows; /* in the chunk */
    bool dirty;    /* something is in the appender */
} CommitTable;

typedef struct Commit {
    Sql sql;
    CommitTable tables[COMMIT_TABLES];
    DuckdbPrepared begin_run, begin_session, end_run, hparams, dropped, spool_file;
    int64_t next_seq; /* of the next row that is committed */
    int64_t seq;      /* inside a transaction */
    bool open;
    bool seq_unknown; /* a COMMIT failed: look before the next number is given out */
} Commit;

/* On a connection of its own, which stays the caller's. False with words in commit->sql. */
bool commit_init(Commit *commit, const DuckdbApi *api, DuckdbConnection connection);
void commit_finish(Commit *commit);

bool commit_begin(Commit *commit);
/* `session`: which life of a process logged it. */
bool commit_row(Commit *commit, const Row *row, const char *session);
/* Rows of the spool file up to `bytes` are in this transaction. */
bool commit_spool_position(Commit *commit, const char *file, int64_t bytes);
/* Durable when it answers true. After false the transaction is over, and whether it happened can
 * only be told by looking: next_seq after the next commit_reread_seq. */
bool commit_end(Commit *commit);
/* Ends it without a trace. */
void commit_abandon(Commit *commit);
/* next_seq from what is in the tables. */
bool commit_reread_seq(Commit *commit);

#endif
