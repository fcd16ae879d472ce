/* Where rows go: the database of an owner, or spool files; and the care of the database. The writer
 * thread: see writer.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "store/metrics/disk.h"
#include "store/metrics/schema.h"
#include "store/metrics/writer.h"

enum { NS_PER_MS = 1000000, SNAPSHOT_PAUSE_MS = 1000, SNAPSHOT_PAUSE_FACTOR = 10 };

/* ---- Opening and closing ---- */

static void show_database(MetricsStore *store, Database *database, bool newer)
{
    pthread_mutex_lock(&store->database_mutex);
    store->database = database;
    store->database_is_newer = newer;
    pthread_mutex_unlock(&store->database_mutex);
}

/* What the thread that closes the store may interrupt. */
static void show_connection(MetricsStore *store, const DuckdbApi *api, DuckdbConnection connection)
{
    metrics_lock(store);
    store->interrupt_api = api;
    store->interrupt_connection = connection;
    metrics_unlock(store);
}

static void close_database(Writer *writer)
{
    bool ended = false;
    snapshot_end(&writer->snapshot, metrics_close_ns(writer->store), &ended);
    show_database(writer->store, NULL, false);
    show_connection(writer->store, NULL, NULL);
    commit_finish(&writer->commit);
    if (writer->connection != NULL)
        database_api(writer->database)->disconnect(&writer->connection);
    writer->connection = NULL;
    writer->left_open |= !database_close(&writer->database);
    /* Only now: closing it would drop the engine's lock on the file. */
    if (writer->kept_fd >= 0 && !writer->left_open)
        close(writer->kept_fd);
    writer->kept_fd = -1;
    writer->seen_count = 0;
}

static bool open_instance(Writer *writer, bool read_only, DatabaseError *error)
{
    /* Checkpoints are the writer's, since none may run during a snapshot. */
    static const char *const settings[] = {"checkpoint_threshold", "1TB", NULL};
    DatabaseParams params = {.path = writer->store->database_path,
                             .read_only = read_only,
                             .move_damaged = !read_only,
                             .settings = settings};
    writer->database = database_open(&params, error);
    if (writer->database == NULL)
        return false;
    writer->connection = database_connect(writer->database, error);
    if (writer->connection != NULL)
        show_connection(writer->store, database_api(writer->database), writer->connection);
    return writer->connection != NULL;
}

static bool open_failed(Writer *writer, const char *words)
{
    char copy[SQL_ERROR_BYTES];
    snprintf(copy, sizeof copy, "%.*s", (int)sizeof copy - 1, words);
    close_database(writer);
    writer_trouble(writer, 0, copy);
    return false;
}

/* The newer file is opened again so that nothing of it can change. */
static bool open_newer(Writer *writer, int64_t version)
{
    DatabaseError error = {0};
    close_database(writer);
    if (!writer->newer)
        log_item(METRICS_NEWER, writer->store->database_path, (long long)version,
                 (int)SCHEMA_VERSION);
    writer->newer = writer->spools = true;
    if (!open_instance(writer, true, &error))
        return open_failed(writer, error.text);
    show_database(writer->store, writer->database, true);
    return true;
}

/* Numbers of runs that are in the tables are not given out again, whatever became of the file that
 * counts them. */
static bool check_ids(Writer *writer, Sql *sql)
{
    MetricsStore *store = writer->store;
    int64_t newest = 0;
    bool raised = false;
    if (!sql_number(sql, "SELECT max(id) FROM runs", 0, &newest))
        return false;
    if (newest > 0 && run_ids_raise(store->data_root, (uint64_t)newest + 1, &raised) && raised) {
        metrics_lock(store);
        store->ids = store->spare_ids = (RunIdBlock){0};
        metrics_unlock(store);
    }
    return true;
}

static bool open_database(Writer *writer)
{
    MetricsStore *store = writer->store;
    DatabaseError error = {0};
    int64_t version = 0;
    if (!open_instance(writer, false, &error))
        return open_failed(writer, error.text);
    Sql sql = {.api = database_api(writer->database), .connection = writer->connection};
    SchemaState state = schema_ensure(&sql, &version);
    if (state == SCHEMA_STATE_NEWER)
        return open_newer(writer, version);
    if (state == SCHEMA_STATE_FAILED)
        return open_failed(writer, sql.error);
    if (state == SCHEMA_STATE_MIGRATED)
        log_item(METRICS_MIGRATED, store->database_path, (long long)version, (int)SCHEMA_VERSION);
    if (!commit_init(&writer->commit, sql.api, writer->connection))
        return open_failed(writer, writer->commit.sql.error);
    if (!check_ids(writer, &sql))
        return open_failed(writer, sql.error);
    writer->kept_fd = disk_open(store->database_path, O_RDONLY, "metrics.snapshot.open");
    writer->takes_over_first = writer->interrupted_due = true;
    writer->newer = writer->spools = writer->broken = false;
    show_database(store, writer->database, false);
    return true;
}

static bool without_library(Writer *writer)
{
    const char *reason = NULL;
    if (duckdb_api(&reason) != NULL)
        return false;
    log_item(METRICS_WITHOUT, reason);
    writer->without = writer->spools = true;
    return true;
}

bool backend_choose(Writer *writer)
{
    MetricsStore *store = writer->store;
    if (writer->lock != NULL)
        return open_database(writer);
    if (without_library(writer))
        return true;
    OwnerInfo other;
    OwnerState state = owner_lock_take(store->data_root, &writer->lock, &other);
    if (state == OWNER_STATE_HELD)
        return open_database(writer);
    if (state == OWNER_STATE_FAILED && (errno == EACCES || errno == EPERM || errno == EROFS)) {
        /* A data root that may not be written: its owner's newest copy can be read. */
        writer->spools = true;
        writer->owner_try_ns = metrics_monotonic_ns() + (int64_t)WRITER_OWNER_TRY_MS * NS_PER_MS;
        return true;
    }
    if (state == OWNER_STATE_FAILED) {
        writer_trouble(writer, errno, "the data root's lock cannot be taken");
        return false;
    }
    if (!writer->said_other)
        log_item(METRICS_SPOOLING, store->data_root, (long long)other.pid, other.host);
    writer->said_other = writer->spools = true;
    writer->owner_try_ns = metrics_monotonic_ns() + (int64_t)WRITER_OWNER_TRY_MS * NS_PER_MS;
    return true;
}

void backend_try_owner(Writer *writer)
{
    writer->owner_try_ns = metrics_monotonic_ns() + (int64_t)WRITER_OWNER_TRY_MS * NS_PER_MS;
    if (owner_lock_take(writer->store->data_root, &writer->lock, NULL) != OWNER_STATE_HELD)
        return;
    /* What it spooled itself comes before what is in the queue: takes_over_first. */
    spool_writer_end_session(&writer->spool);
    writer->spools = false;
    log_item(METRICS_OWNS, writer->store->data_root);
    open_database(writer);
}

bool backend_mend(Writer *writer)
{
    if (writer->database != NULL && commit_reread_seq(&writer->commit)) {
        writer->broken = false;
        return true;
    }
    if (writer->database != NULL)
        close_database(writer);
    return open_database(writer);
}

void backend_release(Writer *writer)
{
    if (writer->database != NULL)
        close_database(writer);
    if (!writer->left_open) /* else the data root stays this process's, until it ends */
        owner_lock_release(&writer->lock);
    writer->lock = NULL;
}

/* ---- Checkpoints and snapshots ---- */

static uint64_t log_bytes(const Writer *writer)
{
    char path[4096 + 8];
    struct stat status;
    snprintf(path, sizeof path, "%s.wal", writer->store->database_path);
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void snapshot_over(Writer *writer)
{
    Snapshot *snapshot = &writer->snapshot;
    int64_t now_ns = metrics_monotonic_ns();
    int64_t pause_ns = snapshot->took_ns * SNAPSHOT_PAUSE_FACTOR;
    if (pause_ns < (int64_t)SNAPSHOT_PAUSE_MS * NS_PER_MS)
        pause_ns = (int64_t)SNAPSHOT_PAUSE_MS * NS_PER_MS;
    writer->snapshot_soonest_ns = now_ns + pause_ns;
    if (snapshot->failure == 0) {
        atomic_store(&writer->store->snapshot_us, snapshot->made_us);
        writer->snapshot_said = false;
        return;
    }
    writer->rows_since_snapshot = writer->snapshot_due = true;
    if (!writer->snapshot_said)
        log_item(METRICS_NO_SNAPSHOT, writer->store->snapshot_path, strerror(snapshot->failure));
    writer->snapshot_said = true;
}

static bool checkpoint(Writer *writer)
{
    int64_t now_ns = metrics_monotonic_ns();
    if (now_ns < writer->checkpoint_ns)
        return false;
    if (sql_run(&writer->commit.sql, "CHECKPOINT", "metrics.checkpoint"))
        return true;
    /* A reader may be in the way for a moment; else the instance is looked at before it is used. */
    writer->checkpoint_ns = now_ns + (int64_t)SNAPSHOT_PAUSE_MS * NS_PER_MS;
    writer->broken = true;
    return false;
}

void backend_maintain(Writer *writer, bool end)
{
    bool ended = false;
    if (end)
        snapshot_end(&writer->snapshot, metrics_close_ns(writer->store), &ended);
    bool runs = !end && snapshot_runs(&writer->snapshot, &ended);
    if (ended)
        snapshot_over(writer);
    if (runs || writer->database == NULL || writer->broken || writer->kept_fd < 0)
        return;
    if (atomic_exchange(&writer->store->changed, false))
        writer->rows_since_snapshot = writer->snapshot_due = true;
    int64_t now_ns = metrics_monotonic_ns();
    int64_t period_ns = (int64_t)writer->store->snapshot_period_ms * NS_PER_MS;
    if (writer->snapshot_next_ns == 0)
        writer->snapshot_next_ns = now_ns + period_ns;
    bool wanted = writer->rows_since_snapshot &&
                  (end || now_ns >= writer->snapshot_next_ns ||
                   (writer->snapshot_due && now_ns >= writer->snapshot_soonest_ns));
    if (!wanted && log_bytes(writer) < WRITER_LOG_BYTES)
        return;
    if (end)
        writer->checkpoint_ns = 0;
    if (!checkpoint(writer) || !wanted)
        return;
    if (!snapshot_begin(&writer->snapshot, writer->kept_fd))
        return;
    writer->rows_since_snapshot = writer->snapshot_due = false;
    writer->snapshot_next_ns = now_ns + period_ns;
    if (end) {
        snapshot_end(&writer->snapshot, metrics_close_ns(writer->store), &ended);
        snapshot_over(writer);
    }
}
