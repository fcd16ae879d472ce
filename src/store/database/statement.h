/* store/database/statement.h: exactly one SQL statement, split and classified by DuckDB's parser.
 *
 * For src/store/. Between enter and leave of a session. */
#ifndef CALIPER_STORE_STATEMENT_H
#define CALIPER_STORE_STATEMENT_H

#include "store/database/database.h"

/* The longest SQL text that is looked at. */
enum { STATEMENT_BYTES_MAX = 4 << 20 };

typedef struct Statement {
    DuckdbPrepared prepared;
    DuckdbStatement kind; /* DUCKDB_STATEMENT_* */
} Statement;

/* Prepares the only statement in `sql`. False and *error: none, several, parameters, or an error in
 * it. NULL `sql` is refused. Destroy with statement_drop. */
bool statement_prepare(DatabaseSession *session, const char *sql, Statement *out,
                       DatabaseError *error);
void statement_drop(DatabaseSession *session, Statement *statement);

/* "SELECT", "CREATE", ... for messages. */
const char *statement_kind_name(DuckdbStatement kind);

#endif
