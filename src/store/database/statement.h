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
/* As statement_prepare, but a single statement that the parser makes several of (PIVOT with values
 * of its own finding, IMPORT DATABASE) is taken: all but the last are run here, the last is
 * prepared. */
bool statement_prepare_expanded(DatabaseSession *session, const char *sql, Statement *out,
                                DatabaseError *error);
void statement_drop(DatabaseSession *session, Statement *statement);

/* statement_scan.c: whether a text that DuckDB parsed is one statement as its author wrote it: no
 * semicolon outside quotes and comments but at its end. Pure. */
bool statement_is_single(const char *sql);

/* Visits each text in quotes of any kind, names in double quotes among them, as the engine reads
 * it, with the word right before it in capitals ("" when something else is). False when a visit
 * answered so, or without memory. Pure. */
enum { STATEMENT_WORD_BYTES = 32 };
typedef bool (*StatementTextVisit)(void *user, const char *word, const char *text);
bool statement_each_text(const char *sql, StatementTextVisit visit, void *user);

/* "SELECT", "CREATE", ... for messages. */
const char *statement_kind_name(DuckdbStatement kind);

#endif
