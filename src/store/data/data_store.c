/* Opening data.duckdb on first use, and the calls of caliper.data.v1; see data_store.h. store->lock
 * is held while the database is opened and while a call takes a session of it, never over the
 * work. */
#include "store/data/data_store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/paths.h"
#include "store/data/data_check.h"
#include "store/database/statement.h"
#include "store/owner_lock.h"

#define CLOSED_TEXT "the store is closed"

/* Changes that meet another transaction's are tried again, in all for about half a second. */
enum { SCHEMA_TRIES = 5, CONFLICT_TRIES = 30, CONFLICT_WAIT_US = 1000 };
/* 1 + 2 + ... + 9 ms on the frame thread. */
enum { FRAME_TRIES = 9 };

struct DataStore {
    char *data_root;
    char *path; /* <data root>/data.duckdb */
    /* Held while a session makes a schema or a dataset, so that two do not get in each other's way;
     * never with `lock`. */
    pthread_mutex_t change_lock;
    pthread_mutex_t lock; /* the fields below */
    bool closed;
    OwnerLock *owner;
    Database *database; /* NULL until somebody needs it */
};

static const char prepare_sql[] =
    "CREATE SCHEMA IF NOT EXISTS caliper;"
    "CREATE TABLE IF NOT EXISTS caliper.datasets(name VARCHAR PRIMARY KEY, uri VARCHAR NOT NULL, "
    "applet VARCHAR NOT NULL, registered_at TIMESTAMPTZ NOT NULL)";

DataStore *data_store_create(const char *data_root)
{
    DataStore *store = fault_here("store.data.alloc") ? NULL : calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->data_root = strdup(data_root);
    store->path = store->data_root != NULL ? paths_join(data_root, "data.duckdb") : NULL;
    if (store->path == NULL)
        goto failed;
    if (pthread_mutex_init(&store->lock, NULL) != 0)
        goto failed;
    if (pthread_mutex_init(&store->change_lock, NULL) != 0)
        goto destroy_lock;
    return store;

destroy_lock:
    pthread_mutex_destroy(&store->lock);
failed:
    free(store->path);
    free(store->data_root);
    free(store);
    return NULL;
}

static void store_lock(DataStore *store)
{
    guard_lock_enter();
    pthread_mutex_lock(&store->lock);
}

static void store_unlock(DataStore *store)
{
    pthread_mutex_unlock(&store->lock);
    guard_lock_leave();
}

/* The owner's lock, held. */
static bool take_ownership(DataStore *store, DatabaseError *error)
{
    OwnerInfo other = {.pid = 0};
    if (store->owner != NULL)
        return true;
    switch (owner_lock_take(store->data_root, &store->owner, &other)) {
    case OWNER_STATE_HELD:
        return true;
    case OWNER_STATE_OTHER:
        database_error_set(error, 0,
                           "%s belongs to another Caliper, process %lld on %s; end that one or use "
                           "another data folder",
                           store->path, (long long)other.pid, other.host);
        return false;
    case OWNER_STATE_FAILED:
        break;
    }
    database_error_set(error, 0, "%s: whether another process owns it cannot be told", store->path);
    return false;
}

/* The lock is held; what is missing in a fresh file is made. */
static bool open_database(DataStore *store, DatabaseError *error)
{
    if (store->database != NULL)
        return true;
    if (!take_ownership(store, error))
        return false;
    const DatabaseParams params = {
        .path = store->path, .external_access = true, .move_damaged = true};
    Database *database = database_open(&params, error);
    if (database == NULL)
        return false;
    DuckdbConnection connection = database_connect(database, error);
    bool prepared =
        connection != NULL && database_run(database_api(database), connection, prepare_sql, error);
    if (connection != NULL)
        database_api(database)->disconnect(&connection);
    if (!prepared) {
        database_close(&database);
        return false;
    }
    store->database = database;
    return true;
}

/* A session of the open database; NULL and *error. */
static DatabaseSession *open_session(DataStore *store, DatabaseError *error)
{
    DatabaseSession *session = NULL;
    guard_lock_enter();
    if (!frame_thread_lock(&store->lock)) {
        guard_lock_leave();
        database_error_set(error, 0, "%s is being opened: " FRAME_THREAD_BUSY, store->path);
        return NULL;
    }
    if (store->closed)
        database_error_set(error, 0, CLOSED_TEXT);
    else if (open_database(store, error))
        session = database_session_open(store->database, error);
    store_unlock(store);
    return session;
}

/* A commit that failed for its disk, not for another transaction: what the engine then has in
 * memory is not what the file has (a table that was to be made stays behind without columns).
 * DuckDB gives both one kind; version 1.4 tells them apart in words alone. */
static bool commit_broke(const DatabaseError *error)
{
    return error->kind == DUCKDB_ERROR_KIND_TRANSACTION &&
           strstr(error->text, "Failed to commit") != NULL &&
           strstr(error->text, "conflict") == NULL && strstr(error->text, "constraint") == NULL;
}

/* A change that met another one of the same moment had no effect. */
static bool met_another(const DatabaseError *error)
{
    return error->kind == DUCKDB_ERROR_KIND_TRANSACTION && !commit_broke(error);
}

/* After a fatal error DuckDB refuses everything until the file is opened again, after a broken
 * commit it should: the next call opens it. */
static void drop_if_broken(DataStore *store, const DatabaseError *error)
{
    if (error->kind != DUCKDB_ERROR_KIND_FATAL && !commit_broke(error))
        return;
    store_lock(store);
    Database *database = store->database;
    store->database = NULL;
    store_unlock(store);
    database_close(&database);
}

void data_store_close(DataStore *store)
{
    store_lock(store);
    store->closed = true;
    Database *database = store->database;
    store->database = NULL;
    store_unlock(store);
    guard_lock_enter();
    bool closed = database_close(&database);
    guard_lock_leave();
    store_lock(store);
    if (closed) /* else the data root stays this process's, until it ends */
        owner_lock_release(&store->owner);
    store->owner = NULL;
    store_unlock(store);
}

void data_store_destroy(DataStore **address)
{
    DataStore *store = *address;
    *address = NULL;
    if (store == NULL)
        return;
    data_store_close(store);
    pthread_mutex_destroy(&store->change_lock);
    pthread_mutex_destroy(&store->lock);
    free(store->path);
    free(store->data_root);
    free(store);
}

static bool change_lock(DataStore *store, DatabaseError *error)
{
    if (frame_thread_lock(&store->change_lock))
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
static bool enter_schema(DataStore *store, DatabaseSession *session, const char *applet,
                         DatabaseError *error)
{
    if (applet[0] == '\0')
        return database_session_run(session, "SET search_path = 'main'", error);
    char *create = schema_sql(applet, true);
    char *enter = schema_sql(applet, false);
    bool done = false;
    if (create == NULL || enter == NULL)
        database_error_set(error, 0, "no memory for a statement");
    for (int try = 0; create != NULL && enter != NULL && !done && try < SCHEMA_TRIES; try++) {
        if (!change_lock(store, error))
            break;
        done = database_session_run(session, create, error);
        pthread_mutex_unlock(&store->change_lock);
        if (!done && !met_another(error))
            break;
    }
    done = done && database_session_run(session, enter, error);
    free(create);
    free(enter);
    return done;
}

/* A change that met another one is tried again for a while. */
static bool execute(DatabaseSession *session, const Statement *statement, DatabaseError *error)
{
    for (int try = 1;; try++) {
        if (database_session_execute(session, statement->prepared, error))
            return true;
        if (!met_another(error) || try == CONFLICT_TRIES || database_session_closing(session) ||
            (frame_thread_is_current() && try > FRAME_TRIES))
            return false;
        usleep((useconds_t)try * CONFLICT_WAIT_US);
    }
}

/* Runs `sql` as `applet` and gives its stream; `ours` skips what only others' SQL is asked. */
static bool run_as(DataStore *store, const char *applet, const char *sql, bool ours,
                   struct ArrowArrayStream *out, DatabaseError *error)
{
    Statement statement = {.prepared = NULL};
    bool done = false;
    DatabaseSession *session = open_session(store, error);
    if (session == NULL)
        return false;
    if (!database_session_enter(session, error))
        goto close_session;
    if (!enter_schema(store, session, applet, error))
        goto leave_session;
    if (!statement_prepare_expanded(session, sql, &statement, error))
        goto leave_session;
    done = (ours || data_check_statement(session, sql, statement.kind, error)) &&
           execute(session, &statement, error);
    statement_drop(session, &statement);
    done = done && arrow_stream_from_session(&session, out, error);
leave_session:
    if (session != NULL)
        database_session_leave(session);
close_session:
    database_session_close(&session);
    if (!done)
        drop_if_broken(store, error);
    return done;
}

bool data_store_query(DataStore *store, const char *applet, const char *sql,
                      struct ArrowArrayStream *out, DatabaseError *error)
{
    if (sql == NULL || out == NULL) {
        database_error_set(error, 0, "%s is NULL", sql == NULL ? "sql" : "out");
        return false;
    }
    return run_as(store, applet, sql, false, out, error);
}

/* One of our statements with texts for its parameters, after `before` (may be NULL), in a session
 * of its own; the session comes back with the result in it, entered. NULL and *error. */
static DatabaseSession *run_bound(DataStore *store, const char *before, const char *sql,
                                  const char *const *texts, uint64_t text_count,
                                  DatabaseError *error)
{
    DuckdbPrepared prepared = NULL;
    bool done = false;
    DatabaseSession *session = open_session(store, error);
    if (session == NULL)
        return NULL;
    if (!database_session_enter(session, error))
        goto close_session;
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
    if (done)
        return session;
    database_session_leave(session);
close_session:
    database_session_close(&session);
    drop_if_broken(store, error);
    return NULL;
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
    guard_lock_enter();
    DatabaseSession *session = NULL;
    if (change_lock(store, error)) {
        session = run_bound(store, prepare_sql,
                            "INSERT OR REPLACE INTO caliper.datasets VALUES ($1, $2, $3, now())",
                            texts, 3, error);
        pthread_mutex_unlock(&store->change_lock);
    }
    guard_lock_leave();
    free(absolute);
    if (session == NULL)
        return false;
    database_session_leave(session);
    database_session_close(&session);
    return true;
}

/* The text of a row's column, malloc'ed. */
static char *copy_text(const DuckdbApi *duckdb, DuckdbDataChunk chunk, uint64_t column)
{
    uint32_t length = 0;
    DuckdbVector vector = duckdb->data_chunk_get_vector(chunk, column);
    const char *bytes = duckdb_string_bytes(duckdb->vector_get_data(vector), &length);
    return strndup(bytes, length);
}

/* What a name stands for; false and *error. The texts are the caller's. */
static bool look_up(DataStore *store, const char *name, char **uri, char **applet,
                    DatabaseError *error)
{
    DatabaseSession *session = run_bound(
        store, NULL, "SELECT uri, applet FROM caliper.datasets WHERE name = $1", &name, 1, error);
    if (session == NULL)
        return false;
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbDataChunk chunk = duckdb->fetch_chunk(*database_session_result(session));
    if (chunk != NULL && duckdb->data_chunk_get_size(chunk) == 1) {
        *uri = copy_text(duckdb, chunk, 0);
        *applet = copy_text(duckdb, chunk, 1);
        if (*uri == NULL || *applet == NULL)
            database_error_set(error, 0, "no memory for the dataset %s", name);
    } else {
        database_error_set(error, 0, "no dataset is called %s", name);
    }
    duckdb->destroy_data_chunk(&chunk);
    database_session_leave(session);
    database_session_close(&session);
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
    if (!look_up(store, name, &uri, &applet, error))
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
        done = run_as(store, applet, sql, true, out, error);
done:
    free(sql);
    free(applet);
    free(uri);
    return done;
}
