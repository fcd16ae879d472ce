/* The calls of caliper.data.v1; see data_store.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/mutex_wait.h"
#include "core/paths.h"
#include "store/data/data_check.h"
#include "store/data/data_files.h"
#include "store/data/data_store_impl.h"
#include "store/database/statement.h"

/* Changes that meet another transaction's are tried again, in all for about half a second. */
enum { SCHEMA_TRIES = 5, CONFLICT_TRIES = 30, CONFLICT_WAIT_US = 1000 };

/* A change that met another one of the same moment had no effect. */
static bool met_another(const DatabaseError *error)
{
    return error->kind == DUCKDB_ERROR_KIND_TRANSACTION && !data_commit_broke(error);
}

/* One call of the store. */
typedef struct DataCall {
    DataStore *store;
    int64_t until_ns; /* it waits no longer for other threads */
    DatabaseSession *session;
    Database *database; /* the session's, held */
    DatabaseError *error;
} DataCall;

/* Faults from here to call_end are the host's: nothing is jumped out of. */
static DataCall call_begin(DataStore *store, DatabaseError *error)
{
    DataCall call = {.store = store, .until_ns = frame_thread_until_ns(), .error = error};
    guard_lock_enter();
    data_store_hold(store);
    return call;
}

static void call_end(DataCall *call)
{
    data_store_let_go(call->store);
    guard_lock_leave();
}

/* A session, entered. */
static bool session_begin(DataCall *call)
{
    call->session = data_open_session(call->store, call->until_ns, &call->database, call->error);
    if (call->session == NULL)
        return false;
    if (database_session_enter(call->session, call->error))
        return true;
    database_session_close(&call->session);
    database_let_go(&call->database);
    return false;
}

/* The session may be the stream's by now. */
static void session_end(DataCall *call, bool done)
{
    if (call->session != NULL)
        database_session_leave(call->session);
    database_session_close(&call->session);
    if (done)
        database_let_go(&call->database);
    else
        data_open_failed(call->store, call->until_ns, &call->database, call->error);
}

static bool change_lock(DataCall *call)
{
    DataStore *store = call->store;
    DatabaseError *error = call->error;
    if (mutex_wait_until(&store->change_lock, call->until_ns))
        return true;
    database_error_set(error, 0, "%s is being changed: " FRAME_THREAD_BUSY, store->path);
    return false;
}

/* `before` NAME `after` with the applet's schema in it, quoted twice for search_path. */
static char *schema_sql(const char *applet, bool create)
{
    char name[256];
    snprintf(name, sizeof name, "applet_%.200s", applet);
    char *quoted = dataset_quote(name, '"');
    char *list = NULL;
    char *sql = NULL;
    if (quoted == NULL)
        return NULL;
    size_t size_bytes = strlen(quoted) + 64;
    char *text = malloc(size_bytes);
    if (text == NULL)
        goto done;
    if (create) {
        snprintf(text, size_bytes, "CREATE SCHEMA IF NOT EXISTS %s", quoted);
        sql = text;
        text = NULL;
        goto done;
    }
    snprintf(text, size_bytes, "%s,main", quoted);
    list = dataset_quote(text, '\'');
    if (list == NULL)
        goto done;
    size_bytes = strlen(list) + 64;
    sql = malloc(size_bytes);
    if (sql != NULL)
        snprintf(sql, size_bytes, "SET search_path = %s", list);
done:
    free(list);
    free(text);
    free(quoted);
    return sql;
}

/* Between enter and leave: the applet's schema exists and comes first. */
static bool enter_schema(DataCall *call, const char *applet)
{
    DatabaseError *error = call->error;
    if (applet[0] == '\0')
        return database_session_run(call->session, "SET search_path = 'main'", error);
    char *create = schema_sql(applet, true);
    char *enter = schema_sql(applet, false);
    bool done = false;
    if (create == NULL || enter == NULL)
        database_error_set(error, 0, "no memory for a statement");
    for (int try = 0; create != NULL && enter != NULL && !done && try < SCHEMA_TRIES; try++) {
        if (!change_lock(call))
            break;
        done = database_session_run(call->session, create, error);
        pthread_mutex_unlock(&call->store->change_lock);
        if (!done && !met_another(error))
            break;
    }
    done = done && database_session_run(call->session, enter, error);
    free(create);
    free(enter);
    return done;
}

/* The text of a row's column, malloc'ed. */
static char *copy_text(const DuckdbApi *duckdb, DuckdbDataChunk chunk, uint64_t column)
{
    uint32_t length = 0;
    DuckdbVector vector = duckdb->data_chunk_get_vector(chunk, column);
    const char *bytes = duckdb_string_bytes(duckdb->vector_get_data(vector), &length);
    return strndup(bytes, length);
}

/* What the engine has of our own table, malloc'ed: changed, it is another text. NULL and the error.
 */
static char *own_table(DataCall *call)
{
    static const char sql[] =
        "SELECT coalesce(max(table_oid::VARCHAR || sql), '') FROM duckdb_tables() WHERE "
        "database_name = current_database() AND schema_name = 'caliper' AND "
        "table_name = 'datasets'";
    const DuckdbApi *duckdb = database_session_api(call->session);
    DuckdbResult result;
    char *text = NULL;
    memset(&result, 0, sizeof result);
    if (duckdb->query(database_session_connection(call->session), sql, &result) ==
        DUCKDB_STATE_SUCCESS) {
        DuckdbDataChunk chunk = duckdb->fetch_chunk(result);
        if (chunk != NULL && duckdb->data_chunk_get_size(chunk) == 1)
            text = copy_text(duckdb, chunk, 0);
        duckdb->destroy_data_chunk(&chunk);
    }
    if (text == NULL) {
        const char *words = duckdb->result_error(&result);
        database_error_set(call->error, 0, "%s", words != NULL ? words : "no memory for a text");
    }
    duckdb->destroy_result(&result);
    return text;
}

/* Runs what makes or drops tables in a transaction, which is taken back if our own table is another
 * one afterwards: which name means it is the engine's to say. */
static bool execute_around_own(DataCall *call, const Statement *statement)
{
    DatabaseSession *session = call->session;
    DatabaseError ignored;
    if (!database_session_run(session, "BEGIN TRANSACTION", call->error))
        return false;
    char *before = own_table(call);
    char *after = NULL;
    bool done =
        before != NULL && database_session_execute_whole(session, statement->prepared, call->error);
    if (done)
        after = own_table(call);
    done = after != NULL;
    if (done && strcmp(before, after) != 0) {
        database_error_set(call->error, 0,
                           "given %s of caliper.datasets, which is Caliper's own table; its rows "
                           "may be changed",
                           statement_kind_name(statement->kind));
        done = false;
    }
    done = done && database_session_run(session, "COMMIT", call->error);
    if (!done)
        database_session_run(session, "ROLLBACK", &ignored);
    free(after);
    free(before);
    return done;
}

static bool execute_once(DataCall *call, const Statement *statement)
{
    switch (statement->kind) {
    case DUCKDB_STATEMENT_CREATE:
    case DUCKDB_STATEMENT_DROP:
    case DUCKDB_STATEMENT_ALTER:
    case DUCKDB_STATEMENT_EXPLAIN: /* ANALYZE runs it */
        return execute_around_own(call, statement);
    default:
        return database_session_execute(call->session, statement->prepared, call->error);
    }
}

/* A change that met another one is tried again for a while. */
static bool execute(DataCall *call, const Statement *statement)
{
    for (int try = 1;; try++) {
        if (execute_once(call, statement))
            return true;
        int64_t wait_us = (int64_t)try * CONFLICT_WAIT_US;
        if (!met_another(call->error) || try == CONFLICT_TRIES ||
            database_session_closing(call->session) ||
            mutex_wait_now_ns() + wait_us * 1000 >= call->until_ns)
            return false;
        usleep((useconds_t)wait_us);
    }
}

/* Runs `sql` as `applet` and gives its stream; `ours` skips what only others' SQL is asked. */
static bool run_as(DataCall *call, const char *applet, const char *sql, bool ours,
                   struct ArrowArrayStream *out)
{
    Statement statement = {.prepared = NULL};
    DatabaseError *error = call->error;
    if (!session_begin(call))
        return false;
    bool done = (ours || data_files_check(call->store->data_root, sql, error)) &&
                enter_schema(call, applet) &&
                statement_prepare_expanded(call->session, sql, &statement, error);
    if (done) {
        done = (ours || data_check_statement(call->session, sql, statement.kind, error)) &&
               execute(call, &statement);
        statement_drop(call->session, &statement);
    }
    done = done && arrow_stream_from_session(&call->session, out, error);
    session_end(call, done);
    return done;
}

bool data_store_query(DataStore *store, const char *applet, const char *sql,
                      struct ArrowArrayStream *out, DatabaseError *error)
{
    if (sql == NULL || out == NULL) {
        database_error_set(error, 0, "%s is NULL", sql == NULL ? "sql" : "out");
        return false;
    }
    DataCall call = call_begin(store, error);
    bool done = run_as(&call, applet, sql, false, out);
    call_end(&call);
    return done;
}

/* One of our statements with texts for its parameters, after `before` (may be NULL), in a session
 * of its own, which is left entered with the result in it. False and call->error. */
static bool run_bound(DataCall *call, const char *before, const char *sql, const char *const *texts,
                      uint64_t text_count)
{
    DuckdbPrepared prepared = NULL;
    DatabaseError *error = call->error;
    bool done = false;
    if (!session_begin(call))
        return false;
    DatabaseSession *session = call->session;
    const DuckdbApi *duckdb = database_session_api(session);
    if (before != NULL && !database_session_run(session, before, error))
        goto drop_prepared;
    if (duckdb->prepare(database_session_connection(session), sql, &prepared) !=
        DUCKDB_STATE_SUCCESS) {
        const char *text = duckdb->prepare_error(prepared);
        database_error_set(error, 0, "%s", text != NULL ? text : sql);
        goto drop_prepared;
    }
    for (uint64_t i = 0; i < text_count; i++) {
        if (duckdb->bind_varchar_length(prepared, i + 1, texts[i], strlen(texts[i])) !=
            DUCKDB_STATE_SUCCESS) {
            database_error_set(error, 0, "given bytes that are not UTF-8, wanted UTF-8");
            goto drop_prepared;
        }
    }
    done = database_session_execute(session, prepared, error);
drop_prepared:
    duckdb->destroy_prepare(&prepared);
    if (!done)
        session_end(call, false);
    return done;
}

/* A file's absolute path; a table's name as it is. */
static char *absolute_uri(DatasetKind kind, const char *uri)
{
    if (kind == DATASET_KIND_TABLE || uri[0] == '/')
        return strdup(uri);
    char folder[DATASET_URI_BYTES_MAX];
    return getcwd(folder, sizeof folder) != NULL ? paths_join(folder, uri) : NULL;
}

bool data_store_register(DataStore *store, const char *applet, const char *name, const char *uri,
                         DatabaseError *error)
{
    char why[256];
    if (!dataset_name_valid(name)) {
        database_error_set(error, 0,
                           "given the name %.200s, wanted a letter or underscore, then letters, "
                           "digits, underscores, %d bytes at most",
                           name != NULL ? name : "NULL", DATASET_NAME_BYTES_MAX);
        return false;
    }
    DatasetKind kind = dataset_uri_kind(uri, why, sizeof why);
    if (kind == DATASET_KIND_NONE) {
        database_error_set(error, 0, "%s: %s", name, why);
        return false;
    }
    char *absolute = absolute_uri(kind, uri);
    if (absolute == NULL) {
        database_error_set(error, 0, "%s: the folder of %s cannot be told", name, uri);
        return false;
    }
    const char *const texts[] = {name, absolute, applet};
    DataCall call = call_begin(store, error);
    bool done = false;
    if (change_lock(&call)) {
        done = run_bound(&call, data_store_prepare_sql,
                         "INSERT OR REPLACE INTO caliper.datasets VALUES ($1, $2, $3, now())",
                         texts, 3);
        pthread_mutex_unlock(&store->change_lock);
    }
    if (done)
        session_end(&call, true);
    call_end(&call);
    free(absolute);
    return done;
}

/* What a name stands for; false and *error. The texts are the caller's. */
static bool look_up(DataCall *call, const char *name, char **uri, char **applet)
{
    DatabaseError *error = call->error;
    if (!run_bound(call, NULL, "SELECT uri, applet FROM caliper.datasets WHERE name = $1", &name,
                   1))
        return false;
    const DuckdbApi *duckdb = database_session_api(call->session);
    DuckdbDataChunk chunk = duckdb->fetch_chunk(*database_session_result(call->session));
    if (chunk != NULL && duckdb->data_chunk_get_size(chunk) == 1) {
        *uri = copy_text(duckdb, chunk, 0);
        *applet = copy_text(duckdb, chunk, 1);
        if (*uri == NULL || *applet == NULL)
            database_error_set(error, 0, "no memory for the dataset %s", name);
    } else {
        database_error_set(error, 0, "no dataset is called %s", name);
    }
    duckdb->destroy_data_chunk(&chunk);
    session_end(call, true);
    return *uri != NULL && *applet != NULL;
}

bool data_store_open_dataset(DataStore *store, const char *name, struct ArrowArrayStream *out,
                             DatabaseError *error)
{
    char *uri = NULL;
    char *applet = NULL;
    char *sql = NULL;
    char why[256] = "";
    bool done = false;
    if (!dataset_name_valid(name) || out == NULL) {
        database_error_set(error, 0, "given %s %.200s, wanted a dataset's name",
                           out == NULL ? "a NULL stream for" : "the name",
                           name != NULL ? name : "NULL");
        return false;
    }
    DataCall call = call_begin(store, error);
    if (!look_up(&call, name, &uri, &applet))
        goto done;
    DatasetKind kind = dataset_uri_kind(uri, why, sizeof why);
    if (kind == DATASET_KIND_NONE) {
        database_error_set(error, 0, "the dataset %s was changed by hand: %s", name, why);
        goto done;
    }
    sql = dataset_select(kind, uri);
    if (sql == NULL)
        database_error_set(error, 0, "no memory for the dataset %s", name);
    else
        done = run_as(&call, applet, sql, true, out);
done:
    call_end(&call);
    free(sql);
    free(applet);
    free(uri);
    return done;
}
