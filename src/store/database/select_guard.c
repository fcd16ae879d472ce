/* The order of checks around a SELECT that may only read; see select_guard.h. */
#include "store/database/select_guard.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "store/database/statement.h"

#define BEGIN_READING "BEGIN TRANSACTION READ ONLY"

/* One VARCHAR of one row, malloc'ed. */
static char *read_text(const DuckdbApi *duckdb, DuckdbResult *result)
{
    char *copy = NULL;
    DuckdbDataChunk chunk = duckdb->fetch_chunk(*result);
    if (chunk != NULL && duckdb->data_chunk_get_size(chunk) == 1) {
        DuckdbVector vector = duckdb->data_chunk_get_vector(chunk, 0);
        if (duckdb_row_is_valid(duckdb->vector_get_validity(vector), 0)) {
            uint32_t length = 0;
            const char *bytes = duckdb_string_bytes(duckdb->vector_get_data(vector), &length);
            copy = fault_here("store.guard.alloc") ? NULL : malloc((size_t)length + 1);
            if (copy != NULL) {
                memcpy(copy, bytes, length);
                copy[length] = '\0';
            }
        }
    }
    duckdb->destroy_data_chunk(&chunk);
    return copy;
}

char *select_guard_tree(DatabaseSession *session, const char *sql, DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbConnection connection = database_session_connection(session);
    DuckdbPrepared prepared = NULL;
    DuckdbResult result;
    char *json = NULL;
    const char *text = NULL;
    memset(&result, 0, sizeof result);
    if (duckdb->prepare(connection, "SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", &prepared) !=
        DUCKDB_STATE_SUCCESS)
        text = duckdb->prepare_error(prepared);
    else if (duckdb->bind_varchar_length(prepared, 1, sql, strlen(sql)) != DUCKDB_STATE_SUCCESS)
        text = "the text is not UTF-8";
    else if (fault_here("store.guard.serialize") ||
             duckdb->execute_prepared(prepared, &result) != DUCKDB_STATE_SUCCESS)
        text = duckdb->result_error(&result);
    else
        json = read_text(duckdb, &result);
    if (json == NULL && database_session_closing(session))
        database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    else if (json == NULL)
        database_error_set(error, 0, "%s", text != NULL ? text : "the statement cannot be checked");
    duckdb->destroy_result(&result);
    duckdb->destroy_prepare(&prepared);
    return json;
}

/* Whether the text may run; nothing of it was run so far. */
static bool check(DatabaseSession *session, const char *sql, DatabaseError *error)
{
    char why[512];
    if (sql == NULL || strnlen(sql, (size_t)STATEMENT_BYTES_MAX + 1) > STATEMENT_BYTES_MAX) {
        database_error_set(error, 0, "given %s, wanted one SELECT of at most %d bytes",
                           sql == NULL ? "NULL" : "a longer text", STATEMENT_BYTES_MAX);
        return false;
    }
    char *json = select_guard_tree(session, sql, error);
    if (json == NULL)
        return false;
    bool allowed = select_tree_allowed(json, why, sizeof why) ||
                   (select_tree_is_other(json) && select_pragma_allowed(sql));
    free(json);
    if (!allowed)
        database_error_set(error, 0, "refused: %s", why);
    return allowed;
}

bool select_guard_query(Database *database, const char *sql, struct ArrowArrayStream *out,
                        DatabaseError *error)
{
    Statement statement = {.prepared = NULL};
    DatabaseSession *session = database_session_open(database, error);
    if (session == NULL)
        return false;
    if (!database_session_enter(session, error))
        goto close_session;
    if (!check(session, sql, error) || !database_session_run(session, BEGIN_READING, error))
        goto leave_session;
    if (!statement_prepare(session, sql, &statement, error))
        goto leave_session;
    if (statement.kind != DUCKDB_STATEMENT_SELECT && statement.kind != DUCKDB_STATEMENT_PRAGMA) {
        database_error_set(error, 0, "refused: given %s, wanted SELECT",
                           statement_kind_name(statement.kind));
        goto drop_statement;
    }
    if (!database_session_execute(session, statement.prepared, error))
        goto drop_statement;
    statement_drop(session, &statement);
    if (arrow_stream_from_session(&session, out, error))
        return true;
    goto leave_session;

drop_statement:
    statement_drop(session, &statement);
leave_session:
    database_session_leave(session);
close_session:
    database_session_close(&session);
    return false;
}
