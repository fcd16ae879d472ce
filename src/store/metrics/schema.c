/* The tables and their migration: see schema.h.
 *
 * Version 0 is a file whose tables have no schema_version beside them, and which may lack columns
 * of version 1. Each table is made anew, its rows are copied in their order of storage, what is
 * missing is filled in, and the old table goes, all in one transaction. Version 1 has no texts. */
#include "store/metrics/schema.h"

#include <stdio.h>
#include <string.h>

typedef struct Column {
    const char *name, *type;
    const char *missing; /* what an older file's rows get; an SQL expression, rowid at hand */
} Column;

typedef struct Table {
    const char *name;
    Column columns[10]; /* up to the first without a name */
    const char *key;    /* a column or NULL */
} Table;

#define NO_TIME "TIMESTAMP 'epoch'"

static const Table tables[] = {
    {"runs",
     {{"id", "BIGINT", "rowid + 1"},
      {"experiment", "VARCHAR", "''"},
      {"name", "VARCHAR", "''"},
      {"done", "BOOLEAN", "true"},
      {"hparams", "VARCHAR", "NULL"},
      {"started_at", "TIMESTAMP", NO_TIME},
      {"ended_at", "TIMESTAMP", "NULL"}},
     "id"},
    {"scalars",
     {{"run", "BIGINT", "0"},
      {"tag", "VARCHAR", "''"},
      {"step", "BIGINT", "0"},
      {"value", "DOUBLE", "NULL"},
      {"seq", "BIGINT", "rowid + 1"},
      {"wall_time", "TIMESTAMP", NO_TIME}},
     NULL},
    {"histograms",
     {{"run", "BIGINT", "0"},
      {"tag", "VARCHAR", "''"},
      {"step", "BIGINT", "0"},
      {"count", "BIGINT", "0"},
      {"data", "BLOB", "NULL"},
      {"seq", "BIGINT", "rowid + 1"},
      {"wall_time", "TIMESTAMP", NO_TIME}},
     NULL},
    {"images",
     {{"run", "BIGINT", "0"},
      {"tag", "VARCHAR", "''"},
      {"step", "BIGINT", "0"},
      {"w", "INTEGER", "0"},
      {"h", "INTEGER", "0"},
      {"c", "INTEGER", "0"},
      {"data", "BLOB", "NULL"},
      {"seq", "BIGINT", "rowid + 1"},
      {"wall_time", "TIMESTAMP", NO_TIME}},
     NULL},
    {"texts",
     {{"run", "BIGINT", "0"},
      {"tag", "VARCHAR", "''"},
      {"step", "BIGINT", "0"},
      {"value", "VARCHAR", "''"},
      {"seq", "BIGINT", "rowid + 1"},
      {"wall_time", "TIMESTAMP", NO_TIME}},
     NULL},
};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

/* What is the store's own: rows that were lost, how far each spool file was taken over, which life
 * of a process began a run and which of those ended without ending it; and what a person adds. */
static const char *const own_tables[] = {
    "CREATE TABLE dropped_rows(run BIGINT, count BIGINT, seq BIGINT, wall_time TIMESTAMP)",
    "CREATE TABLE spool_files(name VARCHAR PRIMARY KEY, bytes BIGINT)",
    "CREATE TABLE run_sessions(run BIGINT PRIMARY KEY, session VARCHAR)",
    "CREATE TABLE interrupted_runs(run BIGINT PRIMARY KEY, noticed_at TIMESTAMP)",
    "CREATE TABLE run_notes(run BIGINT PRIMARY KEY, note VARCHAR, changed_at TIMESTAMP)",
    "CREATE TABLE deleted_runs(run BIGINT PRIMARY KEY, deleted_at TIMESTAMP)",
    "CREATE TABLE schema_version(version INTEGER NOT NULL)",
    "INSERT INTO schema_version VALUES (2)",
};

static const char site[] = "metrics.schema";

static const Column *column_at(const Table *table, size_t index)
{
    return table->columns[index].name != NULL ? &table->columns[index] : NULL;
}

static bool append(char *out, size_t out_bytes, const char *text)
{
    size_t length = strlen(out);
    int added = snprintf(out + length, out_bytes - length, "%s", text);
    return added >= 0 && (size_t)added < out_bytes - length;
}

static bool create_table(Sql *sql, const Table *table, const char *prefix)
{
    char text[1024];
    snprintf(text, sizeof text, "CREATE TABLE %s%s(", prefix, table->name);
    const Column *column;
    for (size_t i = 0; (column = column_at(table, i)) != NULL; i++) {
        bool is_key = table->key != NULL && strcmp(table->key, column->name) == 0;
        char part[96];
        snprintf(part, sizeof part, "%s%s %s%s", i == 0 ? "" : ", ", column->name, column->type,
                 is_key ? " PRIMARY KEY" : "");
        append(text, sizeof text, part);
    }
    append(text, sizeof text, ")");
    return sql_run(sql, text, site);
}

static bool count_of(Sql *sql, const char *format, const char *table, const char *column,
                     int64_t *out)
{
    char text[256];
    snprintf(text, sizeof text, format, table, column);
    return sql_number(sql, text, 0, out);
}

static bool has_table(Sql *sql, const char *name, bool *out)
{
    int64_t count = 0;
    bool ok = count_of(sql,
                       "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'main' AND "
                       "table_name = '%s'%s",
                       name, "", &count);
    *out = count > 0;
    return ok;
}

static bool has_column(Sql *sql, const char *table, const char *column, bool *out)
{
    int64_t count = 0;
    bool ok = count_of(sql,
                       "SELECT count(*) FROM duckdb_columns() WHERE schema_name = 'main' AND "
                       "table_name = '%s' AND column_name = '%s'",
                       table, column, &count);
    *out = count > 0;
    return ok;
}

/* The rows of an older table in a new one of today's shape. */
static bool remake_table(Sql *sql, const Table *table)
{
    char names[256] = "";
    char values[1024] = "";
    const Column *column;
    for (size_t i = 0; (column = column_at(table, i)) != NULL; i++) {
        bool there = false;
        if (!has_column(sql, table->name, column->name, &there))
            return false;
        char part[128];
        snprintf(part, sizeof part, "%sCAST(%s AS %s)", i == 0 ? "" : ", ",
                 there ? column->name : column->missing, column->type);
        append(values, sizeof values, part);
        snprintf(part, sizeof part, "%s%s", i == 0 ? "" : ", ", column->name);
        append(names, sizeof names, part);
    }
    char text[2048];
    if (!create_table(sql, table, "new_"))
        return false;
    snprintf(text, sizeof text, "INSERT INTO new_%s(%s) SELECT %s FROM %s ORDER BY rowid",
             table->name, names, values, table->name);
    if (!sql_run(sql, text, site))
        return false;
    snprintf(text, sizeof text, "DROP TABLE %s", table->name);
    if (!sql_run(sql, text, site))
        return false;
    snprintf(text, sizeof text, "ALTER TABLE new_%s RENAME TO %s", table->name, table->name);
    return sql_run(sql, text, site);
}

/* Inside the transaction. */
static bool make_tables(Sql *sql)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        bool there = false;
        if (!has_table(sql, tables[i].name, &there) ||
            !(there ? remake_table(sql, &tables[i]) : create_table(sql, &tables[i], "")))
            return false;
    }
    for (size_t i = 0; i < sizeof own_tables / sizeof own_tables[0]; i++)
        if (!sql_run(sql, own_tables[i], site))
            return false;
    return true;
}

/* Version 1 into 2, inside the transaction. A table of that name is somebody else's: it stays and
 * is made to fit, as those of version 0. */
static bool add_texts(Sql *sql)
{
    const Table *texts = &tables[TABLE_COUNT - 1];
    bool there = false;
    return has_table(sql, texts->name, &there) &&
           (there ? remake_table(sql, texts) : create_table(sql, texts, "")) &&
           sql_run(sql, "UPDATE schema_version SET version = 2", site);
}

/* -1: no tables of ours at all. */
static bool find_version(Sql *sql, int64_t *out)
{
    bool versioned = false;
    bool has_runs = false;
    if (!has_table(sql, "schema_version", &versioned) || !has_table(sql, "runs", &has_runs))
        return false;
    if (versioned)
        return sql_number(sql, "SELECT CAST(max(version) AS BIGINT) FROM schema_version", 0, out);
    *out = has_runs ? 0 : -1;
    return true;
}

SchemaState schema_ensure(Sql *sql, int64_t *found)
{
    *found = -1;
    if (!find_version(sql, found))
        return SCHEMA_STATE_FAILED;
    if (*found > SCHEMA_VERSION)
        return SCHEMA_STATE_NEWER;
    if (*found == SCHEMA_VERSION)
        return SCHEMA_STATE_CURRENT;
    if (!sql_run(sql, "BEGIN TRANSACTION", site))
        return SCHEMA_STATE_FAILED;
    if ((*found == 1 ? add_texts(sql) : make_tables(sql)) && sql_run(sql, "COMMIT", site))
        return *found < 0 ? SCHEMA_STATE_CREATED : SCHEMA_STATE_MIGRATED;
    Sql words = *sql;
    sql_run(sql, "ROLLBACK", site);
    *sql = words;
    return SCHEMA_STATE_FAILED;
}
