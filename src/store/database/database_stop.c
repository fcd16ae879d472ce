/* Ending what one thread asks from another thread; see database.h. The stop's lock is held while a
 * pointer is set or an interrupt is told, never over the work. */
#include <stdlib.h>

#include "core/fault.h"
#include "core/guard.h"
#include "store/database/database_impl.h"

struct DatabaseStop {
    pthread_mutex_t lock;
    DatabaseSession *session; /* in which the watched thread works now; its connection stays */
    bool asked;
};

static _Thread_local DatabaseStop *watched;

DatabaseStop *database_stop_create(void)
{
    DatabaseStop *stop = fault_here("store.stop.alloc") ? NULL : calloc(1, sizeof *stop);
    if (stop == NULL || pthread_mutex_init(&stop->lock, NULL) != 0) {
        free(stop);
        return NULL;
    }
    return stop;
}

void database_stop_destroy(DatabaseStop **address)
{
    DatabaseStop *stop = *address;
    *address = NULL;
    if (stop == NULL)
        return;
    pthread_mutex_destroy(&stop->lock);
    free(stop);
}

static void stop_lock(DatabaseStop *stop)
{
    guard_lock_enter();
    pthread_mutex_lock(&stop->lock);
}

static void stop_unlock(DatabaseStop *stop)
{
    pthread_mutex_unlock(&stop->lock);
    guard_lock_leave();
}

void database_stop_watch(DatabaseStop *stop)
{
    if (stop != NULL) {
        stop_lock(stop);
        stop->asked = false;
        stop_unlock(stop);
    }
    watched = stop;
}

void database_stop_ask(DatabaseStop *stop)
{
    stop_lock(stop);
    stop->asked = true;
    if (stop->session != NULL)
        database_session_api(stop->session)->interrupt(database_session_connection(stop->session));
    stop_unlock(stop);
}

bool database_work_begin(DatabaseSession *session, DatabaseError *error)
{
    if (watched == NULL)
        return true;
    stop_lock(watched);
    bool go = !watched->asked;
    watched->session = go ? session : NULL;
    stop_unlock(watched);
    if (!go)
        database_error_set(error, DUCKDB_ERROR_KIND_INTERRUPT, DATABASE_STOPPED_TEXT);
    return go;
}

bool database_work_end(void)
{
    if (watched == NULL)
        return false;
    stop_lock(watched);
    bool asked = watched->asked;
    watched->session = NULL;
    stop_unlock(watched);
    return asked;
}
