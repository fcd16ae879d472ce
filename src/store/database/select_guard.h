/* store/database/select_guard.h: running a SELECT that may only read.
 *
 * For the stores whose tables others may ask but not change (metrics). The text is judged by
 * DuckDB's parser and never by its looks: exactly one statement; of type SELECT; its tree
 * (json_serialize_sql) names no table function outside a list, no scalar function with an effect,
 * no PIVOT; PRAGMAs that only tell (table_info, show_tables, ...) are allowed by name. It then runs
 * on a connection of its own in BEGIN TRANSACTION READ ONLY. Any thread. */
#ifndef CALIPER_STORE_SELECT_GUARD_H
#define CALIPER_STORE_SELECT_GUARD_H

#include "store/database/arrow_stream.h"
#include "store/database/database.h"

/* Fills *out with a live stream. False and *error: refused or failed, *out is untouched. */
bool select_guard_query(Database *database, const char *sql, struct ArrowArrayStream *out,
                        DatabaseError *error);

/* The tree of `sql` as json_serialize_sql writes it, malloc'ed; nothing is run. NULL and *error
 * only when it cannot be asked; what the parser refuses is in the answer. Between enter and leave.
 */
char *select_guard_tree(DatabaseSession *session, const char *sql, DatabaseError *error);

/* select_tree.c: judges what json_serialize_sql answered. False and a reason. Pure. */
bool select_tree_allowed(const char *json, char *why, size_t why_bytes);
/* True when that answer only says that the statement is no SELECT: the PRAGMAs are tried then. */
bool select_tree_is_other(const char *json);
/* The first function in that answer whose name is on the NULL-terminated list, as the list has it;
 * NULL when there is none, also when the answer is no tree. */
const char *select_tree_finds(const char *json, const char *const *names);
/* Whether `sql` is PRAGMA NAME or PRAGMA NAME(literals) with a name on the list, and nothing else.
 * Pure. */
bool select_pragma_allowed(const char *sql);

#endif
