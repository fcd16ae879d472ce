/* Rows into tables: see commit.h. Scalars, histograms and images go through chunks of an appender,
 * what is rare through prepared statements. */
#include "store/metrics/commit.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "store/metrics/json_check.h"

typedef struct Shape {
    const char *name;
    uint8_t column_count;
    uint8_t types[COMMIT_COLUMNS_MAX];
} Shape;

enum { TABLE_SCALARS = 0, TABLE_HISTOGRAMS = 1, TABLE_IMAGES = 2, TABLE_TEXTS = 3 };

static const Shape shapes[COMMIT_TABLES] = {
    {"scalars",
     6,
     {DUCKDB_KIND_BIGINT, DUCKDB_KIND_VARCHAR, DUCKDB_KIND_BIGINT, DUCKDB_KIND_DOUBLE,
      DUCKDB_KIND_BIGINT, DUCKDB_KIND_TIMESTAMP}},
    {"histograms",
     7,
     {DUCKDB_KIND_BIGINT, DUCKDB_KIND_VARCHAR, DUCKDB_KIND_BIGINT, DUCKDB_KIND_BIGINT,
      DUCKDB_KIND_BLOB, DUCKDB_KIND_BIGINT, DUCKDB_KIND_TIMESTAMP}},
    {"images",
     9,
     {DUCKDB_KIND_BIGINT, DUCKDB_KIND_VARCHAR, DUCKDB_KIND_BIGINT, DUCKDB_KIND_INTEGER,
      DUCKDB_KIND_INTEGER, DUCKDB_KIND_INTEGER, DUCKDB_KIND_BLOB, DUCKDB_KIND_BIGINT,
      DUCKDB_KIND_TIMESTAMP}},
    {"texts",
     6,
     {DUCKDB_KIND_BIGINT, DUCKDB_KIND_VARCHAR, DUCKDB_KIND_BIGINT, DUCKDB_KIND_VARCHAR,
      DUCKDB_KIND_BIGINT, DUCKDB_KIND_TIMESTAMP}},
};

bool commit_reread_seq(Commit *commit)
{
    int64_t newest = 0;
    if (!sql_number(&commit->sql,
                    "SELECT max(s) FROM (SELECT max(seq) AS s FROM scalars UNION ALL "
                    "SELECT max(seq) FROM histograms UNION ALL SELECT max(seq) FROM images "
                    "UNION ALL SELECT max(seq) FROM texts "
                    "UNION ALL SELECT max(seq) FROM dropped_rows)",
                    0, &newest))
        return false;
    commit->next_seq = newest + 1;
    commit->seq_unknown = false;
    return true;
}

static bool prepare_all(Commit *commit)
{
    Sql *sql = &commit->sql;
    return (commit->begin_run = sql_prepare(
                sql, "INSERT INTO runs(id, experiment, name, done, started_at) "
                     "VALUES ($1, $2, $3, false, make_timestamp($4)) ON CONFLICT DO NOTHING")) !=
               NULL &&
           (commit->begin_session =
                sql_prepare(sql, "INSERT INTO run_sessions(run, session) VALUES ($1, $2) "
                                 "ON CONFLICT DO NOTHING")) != NULL &&
           (commit->end_run = sql_prepare(sql, "UPDATE runs SET done = true, ended_at = "
                                               "make_timestamp($2) WHERE id = $1 AND NOT done")) !=
               NULL &&
           (commit->hparams = sql_prepare(sql, "UPDATE runs SET hparams = $2 WHERE id = $1")) !=
               NULL &&
           (commit->dropped = sql_prepare(sql, "INSERT INTO dropped_rows(run, count, seq, "
                                               "wall_time) VALUES ($1, $2, $3, "
                                               "make_timestamp($4))")) != NULL &&
           (commit->spool_file = sql_prepare(sql, "INSERT OR REPLACE INTO spool_files(name, bytes) "
                                                  "VALUES ($1, $2)")) != NULL;
}

bool commit_init(Commit *commit, const DuckdbApi *api, DuckdbConnection connection)
{
    memset(commit, 0, sizeof *commit);
    commit->sql = (Sql){.api = api, .connection = connection};
    if (prepare_all(commit) && commit_reread_seq(commit))
        return true;
    return false;
}

static void drop_table_state(Commit *commit, CommitTable *table)
{
    const DuckdbApi *api = commit->sql.api;
    if (table->appender != NULL)
        api->appender_destroy(&table->appender);
    if (table->chunk != NULL)
        api->destroy_data_chunk(&table->chunk);
    memset(table, 0, sizeof *table);
}

void commit_finish(Commit *commit)
{
    const DuckdbApi *api = commit->sql.api;
    if (api == NULL)
        return;
    if (commit->open)
        commit_abandon(commit);
    for (int i = 0; i < COMMIT_TABLES; i++)
        drop_table_state(commit, &commit->tables[i]);
    DuckdbPrepared *all[] = {&commit->begin_run, &commit->begin_session, &commit->end_run,
                             &commit->hparams,   &commit->dropped,       &commit->spool_file};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (*all[i] != NULL)
            api->destroy_prepare(all[i]);
    memset(commit, 0, sizeof *commit);
}

bool commit_begin(Commit *commit)
{
    if ((commit->seq_unknown && !commit_reread_seq(commit)) ||
        !sql_run(&commit->sql, "BEGIN TRANSACTION", "metrics.begin"))
        return false;
    commit->open = true;
    commit->seq = commit->next_seq;
    return true;
}

/* ---- Chunks ---- */

static bool appender_failed(Commit *commit, CommitTable *table, const char *what)
{
    const DuckdbApi *api = commit->sql.api;
    DuckdbErrorData error =
        table->appender != NULL ? api->appender_error_data(table->appender) : NULL;
    if (error != NULL && api->error_data_has_error(error))
        sql_failed(&commit->sql, api->error_data_error_type(error), api->error_data_message(error));
    else
        sql_failed(&commit->sql, DUCKDB_ERROR_KIND_INTERNAL, what);
    if (error != NULL)
        api->destroy_error_data(&error);
    return false;
}

static bool injected(Commit *commit, const char *site)
{
    if (!fault_here(site))
        return false;
    sql_failed(&commit->sql, DUCKDB_ERROR_KIND_IO, "injected failure");
    return true;
}

/* Appender and chunk of a table; the chunk's memory is found anew after each reset. */
static bool table_ready(Commit *commit, CommitTable *table, const Shape *shape)
{
    const DuckdbApi *api = commit->sql.api;
    if (table->appender == NULL &&
        (injected(commit, "metrics.appender") ||
         api->appender_create(commit->sql.connection, "main", shape->name, &table->appender) !=
             DUCKDB_STATE_SUCCESS))
        return appender_failed(commit, table, "no appender");
    if (table->chunk == NULL) {
        DuckdbLogicalType types[COMMIT_COLUMNS_MAX];
        for (int i = 0; i < shape->column_count; i++)
            types[i] = api->create_logical_type(shape->types[i]);
        table->chunk = api->create_data_chunk(types, shape->column_count);
        for (int i = 0; i < shape->column_count; i++)
            api->destroy_logical_type(&types[i]);
        if (table->chunk == NULL)
            return sql_failed(&commit->sql, DUCKDB_ERROR_KIND_OUT_OF_MEMORY, "no chunk");
    }
    for (int i = 0; table->rows == 0 && i < shape->column_count; i++) {
        table->vectors[i] = api->data_chunk_get_vector(table->chunk, (uint64_t)i);
        table->data[i] = api->vector_get_data(table->vectors[i]);
    }
    return true;
}

static bool chunk_append(Commit *commit, CommitTable *table)
{
    const DuckdbApi *api = commit->sql.api;
    if (table->rows == 0)
        return true;
    api->data_chunk_set_size(table->chunk, table->rows);
    if (injected(commit, "metrics.append"))
        return false;
    if (api->append_data_chunk(table->appender, table->chunk) != DUCKDB_STATE_SUCCESS)
        return appender_failed(commit, table, "the rows were not taken");
    api->data_chunk_reset(table->chunk);
    table->rows = 0;
    table->dirty = true;
    return true;
}

/* VARCHAR is UTF-8: a copy in which what is not became U+FFFD; the caller's, NULL without memory.
 */
static char *mended_copy(const char *text, size_t length, size_t *out_length)
{
    char *mended = malloc(length * 3 + 1);
    size_t out = 0;
    for (size_t at = 0; mended != NULL && at < length;) {
        size_t bytes = utf8_sequence_bytes(text + at, length - at);
        memcpy(mended + out, bytes != 0 ? text + at : "\xef\xbf\xbd", bytes != 0 ? bytes : 3);
        out += bytes != 0 ? bytes : 3;
        at += bytes != 0 ? bytes : 1;
    }
    *out_length = out;
    return mended;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        if ((unsigned char)text[at] < 0x80) {
            at++;
            continue;
        }
        size_t bytes = utf8_sequence_bytes(text + at, length - at);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return true;
}

static bool assign_text(Commit *commit, DuckdbVector vector, uint64_t index, const char *text,
                        uint64_t text_bytes)
{
    const DuckdbApi *api = commit->sql.api;
    if (is_utf8(text, (size_t)text_bytes)) {
        api->vector_assign_string_element_len(vector, index, text, text_bytes);
        return true;
    }
    size_t length = 0;
    char *mended = mended_copy(text, (size_t)text_bytes, &length);
    if (mended == NULL)
        return sql_failed(&commit->sql, DUCKDB_ERROR_KIND_OUT_OF_MEMORY, "no memory for a text");
    api->vector_assign_string_element_len(vector, index, mended, length);
    free(mended);
    return true;
}

/* The columns that all of them begin and end with. */
static bool put_common(Commit *commit, CommitTable *table, const Shape *shape, const Row *row)
{
    uint32_t at = table->rows;
    ((int64_t *)table->data[0])[at] = (int64_t)row->run;
    ((int64_t *)table->data[2])[at] = row->step;
    ((int64_t *)table->data[shape->column_count - 2])[at] = commit->seq;
    ((int64_t *)table->data[shape->column_count - 1])[at] = row->wall_us;
    return assign_text(commit, table->vectors[1], at, row_text(row), row->text_bytes);
}

static void put_blob(Commit *commit, CommitTable *table, int column, const Row *row)
{
    commit->sql.api->vector_assign_string_element_len(table->vectors[column], table->rows,
                                                      (const char *)row_payload(row),
                                                      row_payload_bytes(row));
}

static bool put_row(Commit *commit, int which, const Row *row)
{
    CommitTable *table = &commit->tables[which];
    const Shape *shape = &shapes[which];
    if (!table_ready(commit, table, shape) || !put_common(commit, table, shape, row))
        return false;
    uint32_t at = table->rows;
    if (which == TABLE_SCALARS) {
        ((double *)table->data[3])[at] = row->value.number;
    } else if (which == TABLE_HISTOGRAMS) {
        ((int64_t *)table->data[3])[at] = row->value.count;
        put_blob(commit, table, 4, row);
    } else if (which == TABLE_TEXTS) {
        if (!assign_text(commit, table->vectors[3], at, (const char *)row_payload(row),
                         row_payload_bytes(row)))
            return false;
    } else {
        ((int32_t *)table->data[3])[at] = (int32_t)row->value.image.width;
        ((int32_t *)table->data[4])[at] = (int32_t)row->value.image.height;
        ((int32_t *)table->data[5])[at] = row->channels;
        put_blob(commit, table, 6, row);
    }
    table->rows++;
    commit->seq++;
    return table->rows < COMMIT_CHUNK_ROWS || chunk_append(commit, table);
}

/* ---- Statements ---- */

static bool bind_text(Commit *commit, DuckdbPrepared prepared, uint64_t index, const char *text,
                      uint64_t length)
{
    const DuckdbApi *api = commit->sql.api;
    if (is_utf8(text, (size_t)length))
        return api->bind_varchar_length(prepared, index, text, length) == DUCKDB_STATE_SUCCESS;
    size_t mended_length = 0;
    char *mended = mended_copy(text, (size_t)length, &mended_length);
    if (mended == NULL)
        return sql_failed(&commit->sql, DUCKDB_ERROR_KIND_OUT_OF_MEMORY, "no memory for a name");
    bool ok =
        api->bind_varchar_length(prepared, index, mended, mended_length) == DUCKDB_STATE_SUCCESS;
    free(mended);
    return ok;
}

static bool put_begin(Commit *commit, const Row *row, const char *session)
{
    const DuckdbApi *api = commit->sql.api;
    api->bind_int64(commit->begin_run, 1, (int64_t)row->run);
    api->bind_int64(commit->begin_run, 4, row->wall_us);
    api->bind_int64(commit->begin_session, 1, (int64_t)row->run);
    return bind_text(commit, commit->begin_run, 2, row_text(row), row->text_bytes) &&
           bind_text(commit, commit->begin_run, 3, (const char *)row_payload(row),
                     row_payload_bytes(row)) &&
           bind_text(commit, commit->begin_session, 2, session, strlen(session)) &&
           sql_execute(&commit->sql, commit->begin_run, "metrics.run") &&
           sql_execute(&commit->sql, commit->begin_session, "metrics.run");
}

static bool put_end(Commit *commit, const Row *row)
{
    const DuckdbApi *api = commit->sql.api;
    api->bind_int64(commit->end_run, 1, (int64_t)row->run);
    api->bind_int64(commit->end_run, 2, row->wall_us);
    return sql_execute(&commit->sql, commit->end_run, "metrics.run");
}

static bool put_hparams(Commit *commit, const Row *row)
{
    commit->sql.api->bind_int64(commit->hparams, 1, (int64_t)row->run);
    return bind_text(commit, commit->hparams, 2, row_text(row), row->text_bytes) &&
           sql_execute(&commit->sql, commit->hparams, "metrics.run");
}

static bool put_dropped(Commit *commit, const Row *row)
{
    const DuckdbApi *api = commit->sql.api;
    api->bind_int64(commit->dropped, 1, (int64_t)row->run);
    api->bind_int64(commit->dropped, 2, row->value.count);
    api->bind_int64(commit->dropped, 3, commit->seq++);
    api->bind_int64(commit->dropped, 4, row->wall_us);
    return sql_execute(&commit->sql, commit->dropped, "metrics.run");
}

bool commit_row(Commit *commit, const Row *row, const char *session)
{
    switch ((RowKind)row->kind) {
    case ROW_KIND_SCALAR:
        return put_row(commit, TABLE_SCALARS, row);
    case ROW_KIND_HISTOGRAM:
        return put_row(commit, TABLE_HISTOGRAMS, row);
    case ROW_KIND_IMAGE:
        return put_row(commit, TABLE_IMAGES, row);
    case ROW_KIND_TEXT:
        return put_row(commit, TABLE_TEXTS, row);
    case ROW_KIND_BEGIN:
        return put_begin(commit, row, session);
    case ROW_KIND_END:
        return put_end(commit, row);
    case ROW_KIND_HPARAMS:
        return put_hparams(commit, row);
    case ROW_KIND_DROPPED:
        return put_dropped(commit, row);
    default:
        return true; /* a kind that this version does not know is passed over */
    }
}

bool commit_spool_position(Commit *commit, const char *file, int64_t bytes)
{
    commit->sql.api->bind_int64(commit->spool_file, 2, bytes);
    return bind_text(commit, commit->spool_file, 1, file, strlen(file)) &&
           sql_execute(&commit->sql, commit->spool_file, "metrics.spool.commit");
}

static bool flush_tables(Commit *commit)
{
    for (int i = 0; i < COMMIT_TABLES; i++) {
        CommitTable *table = &commit->tables[i];
        if (!chunk_append(commit, table))
            return false;
        if (!table->dirty)
            continue;
        if (injected(commit, "metrics.flush"))
            return false;
        if (commit->sql.api->appender_flush(table->appender) != DUCKDB_STATE_SUCCESS)
            return appender_failed(commit, table, "the rows were not written");
        table->dirty = false;
    }
    return true;
}

bool commit_end(Commit *commit)
{
    /* The second site stands for an engine that fails after the rows are in the tables. */
    if (!flush_tables(commit) || !sql_run(&commit->sql, "COMMIT", "metrics.commit") ||
        injected(commit, "metrics.committed")) {
        commit_abandon(commit);
        commit->seq_unknown = true;
        return false;
    }
    commit->open = false;
    commit->next_seq = commit->seq;
    return true;
}

void commit_abandon(Commit *commit)
{
    Sql words = commit->sql;
    /* What is left in an appender would be written with the next transaction, or when it is
     * destroyed: so it is destroyed before the rollback. */
    for (int i = 0; i < COMMIT_TABLES; i++)
        if (commit->tables[i].appender != NULL || commit->tables[i].rows > 0)
            drop_table_state(commit, &commit->tables[i]);
    sql_run(&commit->sql, "ROLLBACK", "metrics.rollback");
    commit->sql = words;
    commit->open = false;
}
