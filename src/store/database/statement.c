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

bool statement_prepare(DatabaseSession *session, const char *sql, Statement *out,
                       DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbConnection connection = database_session_connection(session);
    DuckdbExtracted extracted = NULL;
    DuckdbPrepared prepared = NULL;
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
    uint64_t count = duckdb->extract_statements(connection, sql, &extracted);
    if (count == 0) {
        const char *text = duckdb->extract_statements_error(extracted);
        set_text(session, error,
                 text != NULL && text[0] != '\0' ? text : "no statement was given, wanted one");
    } else if (count != 1) {
        database_error_set(error, 0, "given %llu statements, wanted one",
                           (unsigned long long)count);
    } else if (duckdb->prepare_extracted_statement(connection, extracted, 0, &prepared) !=
               DUCKDB_STATE_SUCCESS) {
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
    duckdb->destroy_extracted(&extracted);
    return done;
}

void statement_drop(DatabaseSession *session, Statement *statement)
{
    database_session_api(session)->destroy_prepare(&statement->prepared);
}
