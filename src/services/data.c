/* caliper.data.v1: the frozen table over store/data. Any thread; last_error is the calling
 * thread's. */
#include "services/data_service.h"

#include <pthread.h>
#include <string.h>

#include "core/caller.h"
#include "core/guard.h"
#include "core/log.h"
#include "store/data/data_store.h"
#include "store/database/statement.h"

/* Held while a call takes the store, and while that comes and goes; over no work. */
static pthread_mutex_t bound_lock = PTHREAD_MUTEX_INITIALIZER;
static DataStore *bound;

static _Thread_local DatabaseError last_error;

/* On a thread that the applet made itself, the return address tells whose call it is. */
static CallerId caller_of(const void *return_address)
{
    CallerId owner = caller_current();
    return owner != 0 ? owner : caller_of_address(return_address);
}

/* Reads a text of the applet's to its end while no lock is held: a pointer to nowhere is a fault of
 * that applet's call, which ends alone. */
static void touch(const char *text)
{
    const volatile char *at = text;
    for (size_t i = 0; at != NULL && i <= STATEMENT_BYTES_MAX && at[i] != '\0'; i++)
        ;
}

/* Begins a call: the store, or NULL when there is none, which is said. Faults until its end are the
 * host's: nothing is jumped out of. */
static DataStore *begin(void)
{
    last_error.text[0] = '\0';
    last_error.kind = 0;
    guard_lock_enter();
    pthread_mutex_lock(&bound_lock);
    DataStore *store = bound;
    if (store != NULL)
        data_store_hold(store);
    pthread_mutex_unlock(&bound_lock);
    if (store == NULL)
        database_error_set(&last_error, 0, DATABASE_CLOSED_TEXT);
    return store;
}

/* Ends it: one line when it was refused. */
static bool end(DataStore *store, const char *call, CallerId owner, bool done)
{
    if (store != NULL)
        data_store_let_go(store);
    guard_lock_leave();
    if (done) {
        last_error.text[0] = '\0';
        return true;
    }
    CallerId before = caller_enter(owner);
    log_item(DATA_REFUSED, call, last_error.text);
    caller_leave(before);
    return false;
}

static bool service_query(const char *sql, struct ArrowArrayStream *out)
{
    CallerId owner = caller_of(__builtin_return_address(0));
    struct ArrowArrayStream stream;
    touch(sql);
    DataStore *store = begin();
    bool done = store != NULL && data_store_query(store, caller_name(owner), sql,
                                                  out != NULL ? &stream : NULL, &last_error);
    if (!end(store, "query", owner, done))
        return false;
    *out = stream;
    return true;
}

static bool service_register_dataset(const char *name, const char *uri)
{
    CallerId owner = caller_of(__builtin_return_address(0));
    touch(name);
    touch(uri);
    DataStore *store = begin();
    bool done =
        store != NULL && data_store_register(store, caller_name(owner), name, uri, &last_error);
    return end(store, "register_dataset", owner, done);
}

static bool service_open_dataset(const char *name, struct ArrowArrayStream *out)
{
    CallerId owner = caller_of(__builtin_return_address(0));
    struct ArrowArrayStream stream;
    touch(name);
    DataStore *store = begin();
    bool done = store != NULL &&
                data_store_open_dataset(store, name, out != NULL ? &stream : NULL, &last_error);
    if (!end(store, "open_dataset", owner, done))
        return false;
    *out = stream;
    return true;
}

static const char *service_last_error(void)
{
    return last_error.text;
}

static const CaliperDataV1 table = {.struct_size = sizeof table,
                                    .query = service_query,
                                    .register_dataset = service_register_dataset,
                                    .open_dataset = service_open_dataset,
                                    .last_error = service_last_error};

const CaliperDataV1 *data_service_table(void)
{
    return &table;
}

/* The host ends: calls that run are interrupted; one that does not end keeps the store's memory. */
static void unbind(void *user)
{
    DataStore *store = user;
    pthread_mutex_lock(&bound_lock);
    if (bound == store)
        bound = NULL;
    pthread_mutex_unlock(&bound_lock);
    data_store_destroy(&store);
}

bool data_service_register(Host *host)
{
    const char *reason = NULL;
    if (!duckdb_api_present(&reason)) {
        log_item(SERVICE_ABSENT, CALIPER_DATA_V1, reason);
        return host_service_absent(host, CALIPER_DATA_V1, reason);
    }
    DataStore *store = data_store_create(host_data_dir(host));
    if (store == NULL) {
        log_item(OUT_OF_MEMORY, "data_service_register",
                 (unsigned long long)strlen(host_data_dir(host)));
        return false;
    }
    if (!host_on_end(host, unbind, store)) {
        data_store_destroy(&store);
        return false;
    }
    pthread_mutex_lock(&bound_lock);
    bound = store;
    pthread_mutex_unlock(&bound_lock);
    return host_service_register(host, CALIPER_DATA_V1, &table);
}
