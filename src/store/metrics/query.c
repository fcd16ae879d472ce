/* SELECTs over what was logged, in the owner's database or the newest snapshot; and the little that
 * a person changes. Threads that may wait. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/frame_thread.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "store/database/select_guard.h"
#include "store/metrics/disk.h"
#include "store/metrics/query.h"
#include "store/metrics/sql.h"

enum { SETTLE_MS = 30000, FLUSH_MS = 10000 };

static _Thread_local char last_error[DATABASE_ERROR_BYTES];

const char *metrics_store_last_error(void)
{
    return last_error;
}

/* The snapshot that lies there now, opened once. With the database mutex held. */
static Database *newest_snapshot(MetricsStore *store, int64_t *made_us, DatabaseError *error)
{
    struct stat status;
    const char *reason = NULL;
    if (duckdb_api(&reason) == NULL) {
        database_error_set(error, 0, "%s", reason);
        return NULL;
    }
    if (stat(store->snapshot_path, &status) != 0) {
        database_error_set(
            error, 0,
            "another process owns %s and has made no snapshot yet; it makes one when "
            "a run ends and once a minute",
            store->data_root);
        return NULL;
    }
    OpenSnapshot *open = store->snapshots;
    int64_t changed_us = (int64_t)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000;
    if (open[0].database == NULL || open[0].inode != status.st_ino ||
        open[0].made_us != changed_us) {
        DatabaseParams params = {.path = store->snapshot_path, .read_only = true};
        Database *database = database_open(&params, error);
        if (database == NULL)
            return NULL;
        /* Streams of the last few go on; older ones end. */
        database_close(&open[SNAPSHOTS_OPEN_MAX - 1].database);
        memmove(open + 1, open, (SNAPSHOTS_OPEN_MAX - 1) * sizeof *open);
        open[0] =
            (OpenSnapshot){.database = database, .made_us = changed_us, .inode = status.st_ino};
    }
    *made_us = open[0].made_us;
    return open[0].database;
}

Database *query_database(MetricsStore *store, int64_t until_ns, int64_t *snapshot_us,
                         DatabaseError *error)
{
    *snapshot_us = 0;
    bool on_frame = until_ns != INT64_MAX;
    bool settled = metrics_settle(
        store, on_frame ? until_ns : metrics_monotonic_ns() + (int64_t)SETTLE_MS * 1000000);
    char trouble[sizeof store->trouble];
    if (!metrics_lock_soon(store)) {
        database_error_set(error, 0, METRICS_LOST_TEXT);
        return NULL;
    }
    bool owner = store->mode == METRICS_MODE_OWNER;
    bool ended = store->ended;
    memcpy(trouble, store->trouble, sizeof trouble);
    metrics_unlock(store);
    if (!mutex_wait_until(&store->database_mutex, until_ns)) {
        database_error_set(error, 0, "the database is being opened: " FRAME_THREAD_BUSY);
        return NULL;
    }
    Database *database = store->database;
    if (ended)
        database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    else if (database == NULL && !settled && on_frame && trouble[0] == '\0')
        database_error_set(error, 0, "the database is being opened: " FRAME_THREAD_BUSY);
    else if (database == NULL && (owner || !settled))
        database_error_set(error, 0, "the database is not open: %s",
                           trouble[0] != '\0' ? trouble : "not yet");
    else if (database == NULL)
        database = newest_snapshot(store, snapshot_us, error);
    if (database != NULL)
        database_hold(database);
    pthread_mutex_unlock(&store->database_mutex);
    return database;
}

/* Rows that cannot be written now are not in the answer, which says what is there. False: the frame
 * thread cannot wait for those that can. */
static bool flush_for_query(MetricsStore *store, int64_t until_ns)
{
    if (until_ns == INT64_MAX) {
        metrics_store_flush(store, FLUSH_MS);
        return true;
    }
    uint64_t position = atomic_load(&store->queue.head);
    if (!metrics_lock_soon(store))
        return true; /* query_database says so */
    bool ok = metrics_flush_locked(store, position, until_ns, false) ||
              store->state != METRICS_STATE_FINE || !store->has_thread || store->ended;
    metrics_unlock(store);
    return ok;
}

bool metrics_store_query(MetricsStore *store, const char *sql, struct ArrowArrayStream *out)
{
    DatabaseError error = {0};
    int64_t snapshot_us = 0;
    last_error[0] = '\0';
    if (store == NULL || sql == NULL || out == NULL) {
        snprintf(last_error, sizeof last_error, "%s",
                 store == NULL ? DATABASE_CLOSED_TEXT
                 : sql == NULL ? "the SQL text is NULL"
                               : "the place for the stream is NULL");
        log_item(METRICS_QUERY_REFUSED, last_error);
        return false;
    }
    Database *database = NULL;
    int64_t until_ns = frame_thread_until_ns(); /* for all that is waited for here */
    if (flush_for_query(store, until_ns))
        database = query_database(store, until_ns, &snapshot_us, &error);
    else
        database_error_set(&error, 0, "rows are still being written: " FRAME_THREAD_BUSY);
    bool ok = database != NULL && select_guard_query(database, sql, out, &error);
    database_let_go(&database);
    if (!ok) {
        snprintf(last_error, sizeof last_error, "%s", error.text);
        log_item(METRICS_QUERY_REFUSED, last_error);
    }
    return ok;
}

/* ---- What a person changes ---- */

/* Runs one statement with a run's number and perhaps a text. */
static bool change(MetricsStore *store, const char *call, uint64_t run, const char *statement,
                   const char *text)
{
    DatabaseError error = {0};
    int64_t snapshot_us = 0;
    int64_t until_ns = frame_thread_until_ns();
    Database *database = query_database(store, until_ns, &snapshot_us, &error);
    bool ok = false;
    bool taken = database != NULL && mutex_wait_until(&store->database_mutex, until_ns);
    bool writable = taken && database == store->database && !store->database_is_newer;
    if (taken)
        pthread_mutex_unlock(&store->database_mutex);
    DatabaseSession *session = writable ? database_session_open(database, &error) : NULL;
    if (database != NULL && !taken)
        database_error_set(&error, 0, "the database is being opened: " FRAME_THREAD_BUSY);
    else if (database != NULL && !writable)
        database_error_set(&error, 0, "another process owns the data root");
    if (session != NULL && database_session_enter(session, &error)) {
        Sql sql = {.api = database_session_api(session),
                   .connection = database_session_connection(session)};
        DuckdbPrepared prepared = sql_prepare(&sql, statement);
        if (prepared != NULL) {
            sql.api->bind_int64(prepared, 1, (int64_t)run);
            if (text != NULL)
                sql.api->bind_varchar_length(prepared, 2, text, strlen(text));
            ok = sql_execute(&sql, prepared, "metrics.change");
            sql.api->destroy_prepare(&prepared);
        }
        if (!ok)
            database_error_set(&error, 0, "%s", sql.error);
        database_session_leave(session);
    }
    database_session_close(&session);
    database_let_go(&database);
    if (ok) {
        atomic_store(&store->changed, true);
        atomic_fetch_add(&store->commits, 1);
    } else {
        log_item(METRICS_CHANGE_FAILED, call, (unsigned long long)run, error.text);
    }
    return ok;
}

bool metrics_store_set_note(MetricsStore *store, uint64_t run, const char *note)
{
    return change(store, "note", run,
                  "INSERT OR REPLACE INTO run_notes SELECT id, $2, now()::TIMESTAMP FROM runs "
                  "WHERE id = $1",
                  note != NULL ? note : "");
}

bool metrics_store_set_deleted(MetricsStore *store, uint64_t run, bool deleted)
{
    return change(store, deleted ? "delete" : "undelete", run,
                  deleted ? "INSERT OR REPLACE INTO deleted_runs SELECT id, now()::TIMESTAMP FROM "
                            "runs WHERE id = $1"
                          : "DELETE FROM deleted_runs WHERE run = $1",
                  NULL);
}
