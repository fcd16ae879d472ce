/* Small statements: see sql.h. */
#include "store/metrics/sql.h"

#include <stdio.h>
#include <string.h>

#include "core/fault.h"

bool sql_failed(Sql *sql, DuckdbErrorKind kind, const char *text)
{
    sql->error_kind = kind;
    /* The first line: the rest is advice for a console. */
    const char *words = text != NULL && text[0] != '\0' ? text : "no reason given";
    snprintf(sql->error, sizeof sql->error, "%.*s", (int)strcspn(words, "\n"), words);
    return false;
}

static bool injected(Sql *sql, const char *site)
{
    if (!fault_here(site))
        return false;
    sql_failed(sql, DUCKDB_ERROR_KIND_IO, "injected failure");
    return true;
}

static bool query(Sql *sql, const char *statement, DuckdbResult *result)
{
    if (sql->api->query(sql->connection, statement, result) == DUCKDB_STATE_SUCCESS)
        return true;
    sql_failed(sql, sql->api->result_error_type(result), sql->api->result_error(result));
    sql->api->destroy_result(result);
    return false;
}

bool sql_run(Sql *sql, const char *statement, const char *site)
{
    DuckdbResult result;
    if (injected(sql, site) || !query(sql, statement, &result))
        return false;
    sql->api->destroy_result(&result);
    return true;
}

bool sql_number(Sql *sql, const char *statement, int64_t otherwise, int64_t *out)
{
    DuckdbResult result;
    if (injected(sql, "metrics.select") || !query(sql, statement, &result))
        return false;
    *out = otherwise;
    bool ok = sql->api->column_type(&result, 0) == DUCKDB_KIND_BIGINT;
    DuckdbDataChunk chunk = ok ? sql->api->fetch_chunk(result) : NULL;
    if (chunk != NULL && sql->api->data_chunk_get_size(chunk) > 0) {
        DuckdbVector vector = sql->api->data_chunk_get_vector(chunk, 0);
        if (duckdb_row_is_valid(sql->api->vector_get_validity(vector), 0))
            *out = *(const int64_t *)sql->api->vector_get_data(vector);
    }
    if (chunk != NULL)
        sql->api->destroy_data_chunk(&chunk);
    sql->api->destroy_result(&result);
    return ok || sql_failed(sql, DUCKDB_ERROR_KIND_INTERNAL, "not a BIGINT");
}

static void each_row(Sql *sql, DuckdbDataChunk chunk, uint64_t columns, SqlTextRow row, void *user)
{
    const DuckdbString *data[SQL_COLUMNS_MAX];
    const uint64_t *validity[SQL_COLUMNS_MAX];
    for (uint64_t column = 0; column < columns; column++) {
        DuckdbVector vector = sql->api->data_chunk_get_vector(chunk, column);
        data[column] = sql->api->vector_get_data(vector);
        validity[column] = sql->api->vector_get_validity(vector);
    }
    uint64_t count = sql->api->data_chunk_get_size(chunk);
    for (uint64_t i = 0; i < count; i++) {
        const char *values[SQL_COLUMNS_MAX];
        uint32_t lengths[SQL_COLUMNS_MAX];
        for (uint64_t column = 0; column < columns; column++) {
            bool valid = duckdb_row_is_valid(validity[column], i);
            values[column] = valid ? duckdb_string_bytes(&data[column][i], &lengths[column]) : NULL;
            if (!valid)
                lengths[column] = 0;
        }
        row(user, values, lengths);
    }
}

bool sql_texts(Sql *sql, const char *statement, SqlTextRow row, void *user)
{
    DuckdbResult result;
    if (injected(sql, "metrics.select") || !query(sql, statement, &result))
        return false;
    uint64_t columns = sql->api->column_count(&result);
    bool ok = columns <= SQL_COLUMNS_MAX;
    for (uint64_t column = 0; ok && column < columns; column++)
        ok = sql->api->column_type(&result, column) == DUCKDB_KIND_VARCHAR;
    for (DuckdbDataChunk chunk = ok ? sql->api->fetch_chunk(result) : NULL; chunk != NULL;
         chunk = sql->api->fetch_chunk(result)) {
        each_row(sql, chunk, columns, row, user);
        sql->api->destroy_data_chunk(&chunk);
    }
    sql->api->destroy_result(&result);
    return ok || sql_failed(sql, DUCKDB_ERROR_KIND_INTERNAL, "not all VARCHAR");
}

DuckdbPrepared sql_prepare(Sql *sql, const char *statement)
{
    DuckdbPrepared prepared = NULL;
    if (injected(sql, "metrics.prepare"))
        return NULL;
    if (sql->api->prepare(sql->connection, statement, &prepared) != DUCKDB_STATE_SUCCESS) {
        sql_failed(sql, DUCKDB_ERROR_KIND_INTERNAL,
                   prepared != NULL ? sql->api->prepare_error(prepared) : "no statement");
        sql->api->destroy_prepare(&prepared);
        return NULL;
    }
    return prepared;
}

bool sql_execute(Sql *sql, DuckdbPrepared prepared, const char *site)
{
    if (injected(sql, site))
        return false;
    DuckdbResult result;
    bool ok = sql->api->execute_prepared(prepared, &result) == DUCKDB_STATE_SUCCESS;
    if (!ok)
        sql_failed(sql, sql->api->result_error_type(&result), sql->api->result_error(&result));
    sql->api->destroy_result(&result);
    return ok;
}
