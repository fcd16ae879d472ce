/* The life of the database behind the data store: opened on first use, closed when it is broken or
 * the store ends; see data_store_impl.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "core/paths.h"
#include "store/data/data_store_impl.h"

enum { NS_PER_MS = 1000000 };

const char data_store_prepare_sql[] =
    "CREATE SCHEMA IF NOT EXISTS caliper;"
    "CREATE TABLE IF NOT EXISTS caliper.datasets(name VARCHAR PRIMARY KEY, uri VARCHAR NOT NULL, "
    "applet VARCHAR NOT NULL, registered_at TIMESTAMPTZ NOT NULL)";

/* ---- The store ---- */

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
    if (!mutex_wait_condition_init(&store->changed))
        goto destroy_change_lock;
    return store;

destroy_change_lock:
    pthread_mutex_destroy(&store->change_lock);
destroy_lock:
    pthread_mutex_destroy(&store->lock);
failed:
    free(store->path);
    free(store->data_root);
    free(store);
    return NULL;
}

static void free_store(DataStore *store)
{
    pthread_cond_destroy(&store->changed);
    pthread_mutex_destroy(&store->change_lock);
    pthread_mutex_destroy(&store->lock);
    free(store->path);
    free(store->data_root);
    free(store);
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

void data_store_hold(DataStore *store)
{
    store_lock(store);
    store->calls++;
    store_unlock(store);
}

void data_store_let_go(DataStore *store)
{
    store_lock(store);
    bool last = --store->calls == 0 && store->destroyed;
    pthread_cond_broadcast(&store->changed);
    store_unlock(store);
    if (last)
        free_store(store);
}

/* With the lock held, by the last that has to do with the file. */
static void let_root_go(DataStore *store)
{
    if (!store->file_stays)
        owner_lock_release(&store->owner);
    store->owner = NULL;
}

void data_store_close(DataStore *store)
{
    int64_t until_ns = mutex_wait_now_ns() + (int64_t)DATABASE_CLOSE_WAIT_MS * NS_PER_MS;
    store_lock(store);
    store->closed = true;
    Database *database = store->database;
    store->database = NULL;
    pthread_cond_broadcast(&store->changed);
    store_unlock(store);
    guard_lock_enter();
    bool ended = database_close(&database);
    guard_lock_leave();
    store_lock(store);
    while ((store->calls > 0 || store->busy) &&
           mutex_wait_condition(&store->changed, &store->lock, until_ns))
        ;
    store->file_stays |= !ended;
    bool waits = store->calls > 0 || store->busy;
    bool says = ended && waits && !store->left;
    store->left = waits;
    if (!store->busy)
        let_root_go(store);
    store_unlock(store);
    if (says)
        log_item(DATABASE_LEFT_OPEN, (int)DATABASE_CLOSE_WAIT_MS);
}

void data_store_destroy(DataStore **address)
{
    DataStore *store = *address;
    *address = NULL;
    if (store == NULL)
        return;
    data_store_close(store);
    store_lock(store);
    store->destroyed = true;
    bool last = store->calls == 0;
    store_unlock(store);
    if (last)
        free_store(store);
}

/* ---- Its database ---- */

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

/* By the busy thread, without the lock. What is missing in a fresh file is made. */
static Database *open_database(DataStore *store, DatabaseError *error)
{
    if (!take_ownership(store, error))
        return NULL;
    const DatabaseParams params = {
        .path = store->path, .external_access = true, .move_damaged = true};
    Database *database = database_open(&params, error);
    if (database == NULL)
        return NULL;
    DuckdbConnection connection = database_connect(database, error);
    bool prepared = connection != NULL &&
                    database_run(database_api(database), connection, data_store_prepare_sql, error);
    if (connection != NULL)
        database_api(database)->disconnect(&connection);
    if (!prepared)
        database_close(&database);
    return database;
}

/* With the lock held. */
static void end_busy(DataStore *store)
{
    store->busy = false;
    if (store->closed && store->left)
        let_root_go(store);
    pthread_cond_broadcast(&store->changed);
}

/* With the lock held, which is let go meanwhile: opens the database as the busy thread. */
static void open_busy(DataStore *store, DatabaseError *error)
{
    store->busy = true;
    pthread_mutex_unlock(&store->lock);
    Database *database = open_database(store, error);
    pthread_mutex_lock(&store->lock);
    if (store->closed && database != NULL) {
        pthread_mutex_unlock(&store->lock);
        database_close(&database);
        pthread_mutex_lock(&store->lock);
    }
    store->database = database;
    end_busy(store);
}

DatabaseSession *data_open_session(DataStore *store, int64_t until_ns, Database **database,
                                   DatabaseError *error)
{
    bool in_time = true;
    *database = NULL;
    store_lock(store);
    while (!store->closed && store->busy && in_time)
        in_time = mutex_wait_condition(&store->changed, &store->lock, until_ns);
    if (!store->closed && !store->busy && store->database == NULL)
        open_busy(store, error);
    if (store->closed)
        database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    else if (store->busy)
        database_error_set(error, 0, "%s is being opened: " FRAME_THREAD_BUSY, store->path);
    else if (store->database != NULL)
        database_hold(*database = store->database);
    store_unlock(store);
    DatabaseSession *session = *database != NULL ? database_session_open(*database, error) : NULL;
    if (session == NULL)
        database_let_go(database);
    return session;
}

/* A commit that failed for its disk, not for another transaction: what the engine then has in
 * memory is not what the file has (a table that was to be made stays behind without columns).
 * DuckDB gives both one kind; version 1.4 tells them apart in words alone. */
bool data_commit_broke(const DatabaseError *error)
{
    return error->kind == DUCKDB_ERROR_KIND_TRANSACTION &&
           strstr(error->text, "Failed to commit") != NULL &&
           strstr(error->text, "conflict") == NULL && strstr(error->text, "constraint") == NULL;
}

/* After a fatal error DuckDB refuses everything until the file is opened again, after a broken
 * commit it should. Another thread may have opened it again meanwhile. */
void data_open_failed(DataStore *store, int64_t until_ns, Database **address,
                      const DatabaseError *error)
{
    bool broken = error->kind == DUCKDB_ERROR_KIND_FATAL || data_commit_broke(error);
    store_lock(store);
    Database *drop = broken && store->database == *address ? store->database : NULL;
    if (drop != NULL) {
        store->database = NULL;
        store->busy = true;
    }
    store_unlock(store);
    database_let_go(address);
    if (drop == NULL)
        return;
    int64_t left_ns = until_ns == INT64_MAX ? INT64_MAX : until_ns - mutex_wait_now_ns();
    uint32_t wait_ms = left_ns == INT64_MAX ? DATABASE_CLOSE_WAIT_MS
                       : left_ns > 0        ? (uint32_t)(left_ns / NS_PER_MS)
                                            : 0;
    guard_lock_enter();
    bool ended = database_close_within(&drop, wait_ms);
    guard_lock_leave();
    store_lock(store);
    store->file_stays |= !ended;
    end_busy(store);
    store_unlock(store);
}
