/* store/metrics/sql.h: small statements on a connection.
 *
 * For src/store/metrics/ alone. Nothing is logged: a failure is false and words in the Sql. A
 * connection is for one thread at a time, and so is an Sql. */
#ifndef CALIPER_STORE_METRICS_SQL_H
#define CALIPER_STORE_METRICS_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/database/duckdb_api.h"

enum { SQL_ERROR_BYTES = 400 };

typedef struct Sql {
    const DuckdbApi *api;
    DuckdbConnection connection;
    DuckdbErrorKind error_kind; /* of the last failure */
    char error[SQL_ERROR_BYTES];
} Sql;

/* Runs one statement. `site` is asked of core/fault. */
bool sql_run(Sql *sql, const char *statement, const char *site);

/* The one value of a SELECT that gives one BIGINT; `otherwise` for NULL or no row. */
bool sql_number(Sql *sql, const char *statement, int64_t otherwise, int64_t *out);

/* Calls `row` for each row of a SELECT whose columns are all VARCHAR; a value is NULL for SQL's
 * NULL, is not ended by a NUL and lives for the call. */
typedef void (*SqlTextRow)(void *user, const char *const *values, const uint32_t *lengths);
enum { SQL_COLUMNS_MAX = 16 };
bool sql_texts(Sql *sql, const char *statement, SqlTextRow row, void *user);

/* Prepared statements. */
DuckdbPrepared sql_prepare(Sql *sql, const char *statement);
/* Runs it with what was bound. */
bool sql_execute(Sql *sql, DuckdbPrepared prepared, const char *site);

/* Takes the words of a failure. `text` may be NULL. */
bool sql_failed(Sql *sql, DuckdbErrorKind kind, const char *text);

#endif
