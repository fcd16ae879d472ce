/* What the tests of src/store/database/ share: a folder of their own, a database, one value out of
 * it, and reading Arrow structs by hand. */
#ifndef DATABASE_FIXTURE_H
#define DATABASE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/database/arrow_stream.h"
#include "store/database/database.h"
#include "store/database/statement.h"

/* A fresh folder below /tmp, removed with all in it by fixture_remove. */
static inline void fixture_folder(char out[64])
{
    snprintf(out, 64, "/tmp/caliper-database-XXXXXX");
    assert_non_null(mkdtemp(out));
}

static inline void fixture_remove(const char *folder)
{
    char command[128];
    assert_true(strncmp(folder, "/tmp/caliper-database-", 22) == 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static inline Database *fixture_memory(void)
{
    DatabaseParams params = {.external_access = false};
    DatabaseError error;
    Database *database = database_open(&params, &error);
    if (database == NULL)
        fail_msg("%s", error.text);
    return database;
}

/* Runs our own statements; they must succeed. */
static inline void fixture_run(Database *database, const char *sql)
{
    DatabaseError error;
    DuckdbConnection connection = database_connect(database, &error);
    assert_non_null(connection);
    if (!database_run(database_api(database), connection, sql, &error))
        fail_msg("%s: %s", sql, error.text);
    database_api(database)->disconnect(&connection);
}

/* A stream of any one statement, unguarded. */
static inline bool fixture_stream(Database *database, const char *sql, struct ArrowArrayStream *out,
                                  DatabaseError *error)
{
    DatabaseSession *session = database_session_open(database, error);
    Statement statement;
    bool done = false;
    if (session == NULL)
        return false;
    if (!database_session_enter(session, error))
        goto close_session;
    if (statement_prepare(session, sql, &statement, error)) {
        done = database_session_execute(session, statement.prepared, error);
        statement_drop(session, &statement);
        done = done && arrow_stream_from_session(&session, out, error);
    }
    if (session != NULL)
        database_session_leave(session);
close_session:
    database_session_close(&session);
    return done;
}

static inline struct ArrowArrayStream fixture_query(Database *database, const char *sql)
{
    struct ArrowArrayStream stream;
    DatabaseError error;
    if (!fixture_stream(database, sql, &stream, &error))
        fail_msg("%s: %s", sql, error.text);
    return stream;
}

/* Whether a row of a column is not NULL, by the Arrow specification. */
static inline bool arrow_is_valid(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *bits = column->buffers[0];
    int64_t at = row + column->offset;
    return bits == NULL || (bits[at / 8] >> (at % 8) & 1) != 0;
}

/* The first column of the first row as a number: formats l, i and g. */
static inline double fixture_number(Database *database, const char *sql)
{
    struct ArrowArrayStream stream = fixture_query(database, sql);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    double number = 0;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_non_null(batch.release);
    const struct ArrowArray *column = batch.children[0];
    const char *format = schema.children[0]->format;
    assert_true(arrow_is_valid(column, 0));
    if (strcmp(format, "l") == 0)
        number = (double)((const int64_t *)column->buffers[1])[column->offset];
    else if (strcmp(format, "i") == 0)
        number = (double)((const int32_t *)column->buffers[1])[column->offset];
    else if (strcmp(format, "g") == 0)
        number = ((const double *)column->buffers[1])[column->offset];
    else
        fail_msg("%s has format %s", sql, format);
    batch.release(&batch);
    schema.release(&schema);
    stream.release(&stream);
    return number;
}

#endif
