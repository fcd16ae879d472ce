/* Connections that the closing of their database may end at any moment. The order of locks is
 * session->lock before database->lock; database_close() takes the first with a time limit only and
 * holds the second while it interrupts, so that no connection goes away under it. */
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/mutex_wait.h"
#include "store/database/database_impl.h"

/* How long the closing waits for a session before it interrupts again: an interrupt between two
 * statements is lost. */
#define INTERRUPT_AGAIN_NS 10000000

static void session_unref(DatabaseSession *session)
{
    if (atomic_fetch_sub(&session->references, 1) != 1)
        return;
    pthread_mutex_destroy(&session->lock);
    database_unref(session->database);
    free(session);
}

/* Takes it out of the list; false when somebody else did. */
static bool session_unlink(DatabaseSession *session)
{
    Database *database = session->database;
    pthread_mutex_lock(&database->lock);
    bool linked = session->linked;
    if (linked) {
        if (session->previous != NULL)
            session->previous->next = session->next;
        else
            database->sessions = session->next;
        if (session->next != NULL)
            session->next->previous = session->previous;
        session->previous = session->next = NULL;
        session->linked = false;
    }
    pthread_mutex_unlock(&database->lock);
    return linked;
}

static void drop_result(DatabaseSession *session)
{
    if (session->has_result)
        session->database->duckdb->destroy_result(&session->result);
    session->has_result = false;
}

/* session->lock is held. The session leaves the list before its connection goes. */
void database_session_finish(DatabaseSession *session)
{
    session_unlink(session);
    drop_result(session);
    if (session->connection != NULL)
        session->database->duckdb->disconnect(&session->connection);
    session->connection = NULL;
}

DatabaseSession *database_session_open(Database *database, DatabaseError *error)
{
    DatabaseSession *session =
        fault_here("store.session.alloc") ? NULL : calloc(1, sizeof *session);
    if (session == NULL || pthread_mutex_init(&session->lock, NULL) != 0) {
        free(session);
        database_error_set(error, 0, "no memory for a connection");
        return NULL;
    }
    atomic_init(&session->references, 1);
    atomic_fetch_add(&database->references, 1);
    session->database = database;
    session->connection = database_connect(database, error);
    if (session->connection == NULL)
        goto drop;
    pthread_mutex_lock(&database->lock);
    bool closing = atomic_load(&database->closing);
    if (!closing) {
        session->next = database->sessions;
        if (session->next != NULL)
            session->next->previous = session;
        database->sessions = session;
        session->linked = true;
    }
    pthread_mutex_unlock(&database->lock);
    if (!closing)
        return session;
    database->duckdb->disconnect(&session->connection);
    database_error_set(error, 0, DATABASE_CLOSED_TEXT);
drop:
    session_unref(session);
    return NULL;
}

void database_session_close(DatabaseSession **address)
{
    DatabaseSession *session = *address;
    *address = NULL;
    if (session == NULL)
        return;
    guard_lock_enter();
    pthread_mutex_lock(&session->lock);
    database_session_finish(session);
    pthread_mutex_unlock(&session->lock);
    session_unref(session);
    guard_lock_leave();
}

bool database_session_enter(DatabaseSession *session, DatabaseError *error)
{
    /* A fault in here, on an applet's behalf, cannot be jumped out of. */
    guard_lock_enter();
    pthread_mutex_lock(&session->lock);
    if (session->connection != NULL && !atomic_load(&session->database->closing))
        return true;
    pthread_mutex_unlock(&session->lock);
    guard_lock_leave();
    database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    return false;
}

void database_session_leave(DatabaseSession *session)
{
    pthread_mutex_unlock(&session->lock);
    guard_lock_leave();
}

bool database_session_closing(const DatabaseSession *session)
{
    return atomic_load(&session->database->closing);
}

const DuckdbApi *database_session_api(const DatabaseSession *session)
{
    return session->database->duckdb;
}

DuckdbConnection database_session_connection(const DatabaseSession *session)
{
    return session->connection;
}

DuckdbResult *database_session_result(DatabaseSession *session)
{
    return session->has_result ? &session->result : NULL;
}

static void set_closing_or(DatabaseSession *session, DatabaseError *error, DuckdbErrorKind kind,
                           const char *text)
{
    if (database_session_closing(session))
        database_error_set(error, 0, DATABASE_CLOSED_TEXT);
    else
        database_error_set(error, kind, "%s", text != NULL ? text : "DuckDB does not say why");
}

bool database_session_run(DatabaseSession *session, const char *sql, DatabaseError *error)
{
    DatabaseError own;
    if (database_run(session->database->duckdb, session->connection, sql, &own))
        return true;
    set_closing_or(session, error, own.kind, own.text);
    return false;
}

static bool execute(DatabaseSession *session, DuckdbPrepared prepared, bool whole,
                    DatabaseError *error)
{
    const DuckdbApi *duckdb = session->database->duckdb;
    DuckdbPending pending = NULL;
    bool done = false;
    drop_result(session);
    if (fault_here("store.session.execute")) {
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "injected failure");
        return false;
    }
    if (fault_here("store.session.fatal")) {
        database_error_set(error, DUCKDB_ERROR_KIND_FATAL, "injected fatal failure");
        return false;
    }
    DuckdbState state = duckdb->pending_prepared_streaming != NULL && !whole
                            ? duckdb->pending_prepared_streaming(prepared, &pending)
                            : duckdb->pending_prepared(prepared, &pending);
    if (state != DUCKDB_STATE_SUCCESS) {
        set_closing_or(session, error, DUCKDB_ERROR_KIND_IO,
                       pending != NULL ? duckdb->pending_error(pending) : NULL);
        goto done;
    }
    memset(&session->result, 0, sizeof session->result);
    if (!database_work_begin(session, error))
        goto done;
    state = duckdb->execute_pending(pending, &session->result);
    bool stopped = database_work_end();
    session->has_result = true;
    done = state == DUCKDB_STATE_SUCCESS;
    if (!done && stopped && !database_session_closing(session)) {
        database_error_set(error, DUCKDB_ERROR_KIND_INTERRUPT, DATABASE_STOPPED_TEXT);
        drop_result(session);
    } else if (!done) {
        set_closing_or(session, error, duckdb->result_error_type(&session->result),
                       duckdb->result_error(&session->result));
        drop_result(session);
    }
done:
    duckdb->destroy_pending(&pending);
    return done;
}

bool database_session_execute(DatabaseSession *session, DuckdbPrepared prepared,
                              DatabaseError *error)
{
    return execute(session, prepared, false, error);
}

bool database_session_execute_whole(DatabaseSession *session, DuckdbPrepared prepared,
                                    DatabaseError *error)
{
    return execute(session, prepared, true, error);
}

bool database_sessions_end(Database *database, int64_t until_ns)
{
    for (;;) {
        pthread_mutex_lock(&database->lock);
        for (DatabaseSession *each = database->sessions; each != NULL; each = each->next)
            database->duckdb->interrupt(each->connection);
        DatabaseSession *session = database->sessions;
        if (session != NULL)
            atomic_fetch_add(&session->references, 1);
        pthread_mutex_unlock(&database->lock);
        if (session == NULL)
            return true;
        int64_t again_ns = mutex_wait_now_ns() + INTERRUPT_AGAIN_NS;
        bool ended = mutex_wait_until(&session->lock, again_ns < until_ns ? again_ns : until_ns);
        if (ended) {
            database_session_finish(session);
            pthread_mutex_unlock(&session->lock);
        }
        session_unref(session);
        if (!ended && mutex_wait_now_ns() >= until_ns)
            return false;
    }
}
