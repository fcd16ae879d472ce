/* One statement by DuckDB's own parser; see statement.h. */
#include "store/database/statement.h"

#include <string.h>

#include "core/fault.h"

static const char *const kind_names[] = {
    [DUCKDB_STATEMENT_INVALID] = "invalid",
    [DUCKDB_STATEMENT_SELECT] = "SELECT",
    [DUCKDB_STATEMENT_INSERT] = "INSERT",
    [DUCKDB_STATEMENT_UPDATE] = "UPDATE",
    [DUCKDB_STATEMENT_EXPLAIN] = "EXPLAIN",
    [DUCKDB_STATEMENT_DELETE] = "DELETE",
    [DUCKDB_STATEMENT_PREPARE] = "PREPARE",
    [DUCKDB_STATEMENT_CREATE] = "CREATE",
    [DUCKDB_STATEMENT_EXECUTE] = "EXECUTE",
    [DUCKDB_STATEMENT_ALTER] = "ALTER",
    [DUCKDB_STATEMENT_TRANSACTION] = "transaction",
    [DUCKDB_STATEMENT_COPY] = "COPY",
    [DUCKDB_STATEMENT_ANALYZE] = "ANALYZE",
    [DUCKDB_STATEMENT_VARIABLE_SET] = "SET VARIABLE",
    [DUCKDB_STATEMENT_CREATE_FUNCTION] = "CREATE FUNCTION",
    [DUCKDB_STATEMENT_DROP] = "DROP",
    [DUCKDB_STATEMENT_EXPORT] = "EXPORT",
    [DUCKDB_STATEMENT_PRAGMA] = "PRAGMA",
    [DUCKDB_STATEMENT_VACUUM] = "VACUUM",
    [DUCKDB_STATEMENT_CALL] = "CALL",
    [DUCKDB_STATEMENT_SET] = "SET, RESET or USE",
    [DUCKDB_STATEMENT_LOAD] = "LOAD or INSTALL",
    [DUCKDB_STATEMENT_RELATION] = "relation",
    [DUCKDB_STATEMENT_EXTENSION] = "extension",
    [DUCKDB_STATEMENT_LOGICAL_PLAN] = "plan",
    [DUCKDB_STATEMENT_ATTACH] = "ATTACH",
    [DUCKDB_STATEMENT_DETACH] = "DETACH",
    [DUCKDB_STATEMENT_MULTI] = "several statements",
};

const char *statement_kind_name(DuckdbStatement kind)
{
    bool known = kind < sizeof kind_names / sizeof kind_names[0] && kind_names[kind] != NULL;
    return known ? kind_names[kind] : "unknown";
}

static void set_text(DatabaseSession *session, DatabaseError *error, const char *text)
{
    if (database_session_closing(session))
        database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    else
        database_error_set(error, 0, "%s", text != NULL ? text : "DuckDB does not say why");
}

static bool prepare_one(DatabaseSession *session, DuckdbExtracted extracted, uint64_t index,
                        Statement *out, DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbPrepared prepared = NULL;
    bool done = false;
    if (duckdb->prepare_extracted_statement(database_session_connection(session), extracted, index,
                                            &prepared) != DUCKDB_STATE_SUCCESS) {
        set_text(session, error, duckdb->prepare_error(prepared));
    } else if (duckdb->nparams(prepared) != 0) {
        database_error_set(error, 0, "the statement has parameters, wanted all values in it");
    } else {
        out->kind = duckdb->prepared_statement_type(prepared);
        out->prepared = prepared;
        prepared = NULL;
        done = true;
    }
    duckdb->destroy_prepare(&prepared);
    return done;
}

/* What the parser put before the statement itself. */
static bool run_one(DatabaseSession *session, DuckdbExtracted extracted, uint64_t index,
                    DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    Statement statement = {.prepared = NULL};
    DuckdbResult result;
    memset(&result, 0, sizeof result);
    if (!prepare_one(session, extracted, index, &statement, error))
        return false;
    bool done = duckdb->execute_prepared(statement.prepared, &result) == DUCKDB_STATE_SUCCESS;
    if (!done)
        set_text(session, error, duckdb->result_error(&result));
    duckdb->destroy_result(&result);
    statement_drop(session, &statement);
    return done;
}

static bool prepare(DatabaseSession *session, const char *sql, bool expanded, Statement *out,
                    DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbExtracted extracted = NULL;
    bool done = false;
    if (sql == NULL || strnlen(sql, (size_t)STATEMENT_BYTES_MAX + 1) > STATEMENT_BYTES_MAX) {
        database_error_set(error, 0, "given %s, wanted one statement of at most %d bytes",
                           sql == NULL ? "NULL" : "a longer text", STATEMENT_BYTES_MAX);
        return false;
    }
    if (fault_here("store.statement.prepare")) {
        database_error_set(error, 0, "injected failure");
        return false;
    }
    uint64_t count =
        duckdb->extract_statements(database_session_connection(session), sql, &extracted);
    if (count == 0) {
        const char *text = duckdb->extract_statements_error(extracted);
        set_text(session, error,
                 text != NULL && text[0] != '\0' ? text : "no statement was given, wanted one");
    } else if (count != 1 && !(expanded && statement_is_single(sql))) {
        database_error_set(error, 0, "given %llu statements, wanted one",
                           (unsigned long long)count);
    } else {
        done = true;
        for (uint64_t i = 0; done && i + 1 < count; i++)
            done = run_one(session, extracted, i, error);
        done = done && prepare_one(session, extracted, count - 1, out, error);
    }
    duckdb->destroy_extracted(&extracted);
    return done;
}

bool statement_prepare(DatabaseSession *session, const char *sql, Statement *out,
                       DatabaseError *error)
{
    return prepare(session, sql, false, out, error);
}

bool statement_prepare_expanded(DatabaseSession *session, const char *sql, Statement *out,
                                DatabaseError *error)
{
    return prepare(session, sql, true, out, error);
}

void statement_drop(DatabaseSession *session, Statement *statement)
{
    database_session_api(session)->destroy_prepare(&statement->prepared);
}
