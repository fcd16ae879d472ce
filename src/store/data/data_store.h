/* store/data/data_store.h: the tables and datasets behind caliper.data.v1, in data.duckdb.
 *
 * src/store/data/ is one store over store/database/; for services/data, cli/sql and tests. The
 * database is opened on first use by the process that owns the data root (store/owner_lock.h);
 * another process is refused with the owner's pid. Any thread; calls wait for their work. For other
 * threads and processes the frame thread waits FRAME_THREAD_WAIT_MS a call, all together. */
#ifndef CALIPER_STORE_DATA_STORE_H
#define CALIPER_STORE_DATA_STORE_H

#include "store/database/arrow_stream.h"
#include "store/database/database.h"

typedef struct DataStore DataStore;

/* Remembers where; opens nothing. NULL without memory. */
DataStore *data_store_create(const char *data_root);
/* Ends every stream and call, closes the database and lets the owner's lock go. Later calls are
 * refused. What does not end is waited for DATABASE_CLOSE_WAIT_MS at most: then one line. May be
 * called again. */
void data_store_close(DataStore *store);
/* Closes it. Streams may outlive it, and calls that did not end: the last one frees it. NULLs
 * *store, accepts NULL. */
void data_store_destroy(DataStore **store);
/* Around a call of a thread that does not know whether the store is destroyed meanwhile. */
void data_store_hold(DataStore *store);
void data_store_let_go(DataStore *store);

/* One statement of any kind but BEGIN, COMMIT, ROLLBACK, USE, SET and RESET. `applet` is the id
 * whose schema comes first; "" is the host, which has main alone. False and *error: *out is
 * untouched. */
bool data_store_query(DataStore *store, const char *applet, const char *sql,
                      struct ArrowArrayStream *out, DatabaseError *error);

/* Names a file or a table, durably; registering again replaces. Nothing is read. A relative path is
 * made absolute now, a table's name is looked up as `applet` when it is opened. */
bool data_store_register(DataStore *store, const char *applet, const char *name, const char *uri,
                         DatabaseError *error);
bool data_store_open_dataset(DataStore *store, const char *name, struct ArrowArrayStream *out,
                             DatabaseError *error);

/* ---- data_names.c: pure ---- */

typedef enum DatasetKind {
    DATASET_KIND_NONE = 0, /* not a dataset's uri */
    DATASET_KIND_PARQUET = 1,
    DATASET_KIND_CSV = 2,
    DATASET_KIND_TSV = 3,
    DATASET_KIND_JSON = 4,
    DATASET_KIND_TABLE = 5
} DatasetKind;

enum { DATASET_NAME_BYTES_MAX = 128, DATASET_URI_BYTES_MAX = 4096 };

/* A letter or underscore, then letters, digits, underscores; DATASET_NAME_BYTES_MAX at most. */
bool dataset_name_valid(const char *name);
/* By its ending, in any case: .parquet, .csv, .tsv, .json; else TABLE, SCHEMA.TABLE or
 * DATABASE.SCHEMA.TABLE of such names. NONE and a reason for anything else, a scheme such as
 * https:// among it. */
DatasetKind dataset_uri_kind(const char *uri, char *why, size_t why_bytes);
/* The SELECT that reads it whole; malloc'ed, NULL without memory. */
char *dataset_select(DatasetKind kind, const char *uri);
/* `text` between `quote`s, with those inside it doubled; malloc'ed, NULL without memory. */
char *dataset_quote(const char *text, char quote);

#endif
