/* The life of data.duckdb below the calls: no lock is held while it is opened, its end has an end,
 * what is broken is closed once, and a call of the frame thread waits for one time in all. */
#include "data_room.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/frame_thread.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "failing_io.h"
#include "store/data/data_store_impl.h"

static char root[64];
static char path[128];
static atomic_uint left_open;

static void capture(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->item == LOG_DATABASE_LEFT_OPEN)
        atomic_fetch_add(&left_open, 1);
}

static int begin(void **state)
{
    (void)state;
    log_stderr_enable(false);
    data_room_make(root);
    snprintf(path, sizeof path, "%s/data.duckdb", root);
    atomic_store(&left_open, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    failing_io_hold(NULL);
    store_folder_remove(root);
    return 0;
}

/* ---- Which waits the calls make ---- */

static _Thread_local int64_t lock_until_ns; /* of this thread's last wait; 0: none */

bool __real_mutex_wait_until(pthread_mutex_t *mutex, int64_t until_ns);
bool __wrap_mutex_wait_until(pthread_mutex_t *mutex, int64_t until_ns);

bool __wrap_mutex_wait_until(pthread_mutex_t *mutex, int64_t until_ns)
{
    lock_until_ns = until_ns;
    return __real_mutex_wait_until(mutex, until_ns);
}

/* ---- A disk that does not answer ---- */

typedef struct Asker {
    DataStore *store;
    DatabaseError error;
    bool done;
    pthread_t thread;
} Asker;

static void *ask(void *user)
{
    Asker *asker = user;
    asker->done = data_room_run(asker->store, "SELECT 1", &asker->error);
    return NULL;
}

/* A thread that stands still while it opens the database. */
static void start_asker(Asker *asker, DataStore *store)
{
    *asker = (Asker){.store = store};
    failing_io_hold(path);
    assert_int_equal(pthread_create(&asker->thread, NULL, ask, asker), 0);
    while (failing_io_held() == 0)
        usleep(1000);
}

static void test_others_do_not_wait_for_the_opening(void **state)
{
    (void)state;
    Asker asker;
    DatabaseError error;
    DataStore *store = data_store_create(root);
    data_room_number(store, "SELECT 1::BIGINT"); /* makes the file */
    data_store_destroy(&store);
    store = data_store_create(root);
    start_asker(&asker, store);
    frame_thread_enter();
    assert_false(data_room_run(store, "SELECT 1", &error));
    assert_non_null(strstr(error.text, "busy; do it in a job"));
    frame_thread_leave();
    failing_io_hold(NULL);
    pthread_join(asker.thread, NULL);
    assert_true(asker.done);
    assert_int_equal(data_room_number(store, "SELECT 2::BIGINT"), 2);
    data_store_destroy(&store);
    assert_int_equal(atomic_load(&left_open), 0);
}

static void test_the_end_does_not_wait_for_the_opening(void **state)
{
    (void)state;
    Asker asker;
    DatabaseError error;
    DataStore *store = data_store_create(root);
    data_room_number(store, "SELECT 1::BIGINT");
    data_store_destroy(&store);
    store = data_store_create(root);
    DataStore *kept = store;
    start_asker(&asker, store);
    data_store_close(store);
    assert_int_equal(atomic_load(&left_open), 1);
    assert_false(data_room_run(kept, "SELECT 1", &error));
    assert_string_equal(error.text, "the store is closed");
    data_store_destroy(&store); /* the call that is left frees it */
    assert_null(store);
    assert_int_equal(atomic_load(&left_open), 1);
    failing_io_hold(NULL);
    pthread_join(asker.thread, NULL);
    assert_false(asker.done);
    assert_string_equal(asker.error.text, "the store is closed");
    assert_false(owner_lock_is_held(root, NULL));
    store = data_store_create(root);
    assert_int_equal(data_room_number(store, "SELECT 3::BIGINT"), 3);
    data_store_destroy(&store);
}

/* ---- What is broken ---- */

static void test_a_late_failure_closes_no_other_instance(void **state)
{
    (void)state;
    static const DatabaseError fatal = {.kind = DUCKDB_ERROR_KIND_FATAL, .text = "fatal"};
    Database *first_database, *second_database, *third_database;
    DatabaseError error;
    DataStore *store = data_store_create(root);
    DatabaseSession *first = data_open_session(store, INT64_MAX, &first_database, &error);
    DatabaseSession *second = data_open_session(store, INT64_MAX, &second_database, &error);
    assert_ptr_equal(first_database, second_database);
    database_session_close(&first);
    data_open_failed(store, INT64_MAX, &first_database, &fatal);
    assert_null(first_database);
    DatabaseSession *third = data_open_session(store, INT64_MAX, &third_database, &error);
    assert_non_null(third);
    assert_ptr_not_equal(third_database, second_database);
    /* The second failed for the instance that is closed by now. */
    assert_false(database_session_enter(second, &error));
    database_session_close(&second);
    data_open_failed(store, INT64_MAX, &second_database, &fatal);
    assert_true(database_session_enter(third, &error));
    assert_true(database_session_run(third, "SELECT 1", &error));
    database_session_leave(third);
    database_session_close(&third);
    assert_ptr_equal(store->database, third_database);
    database_let_go(&third_database);
    data_store_destroy(&store);
}

/* ---- One time a call ---- */

static void *stop_being_busy(void *user)
{
    DataStore *store = user;
    int64_t *released_ns = malloc(sizeof *released_ns);
    bool called = false;
    while (!called) {
        pthread_mutex_lock(&store->lock);
        called = store->calls > 0;
        pthread_mutex_unlock(&store->lock);
    }
    *released_ns = mutex_wait_now_ns();
    pthread_mutex_lock(&store->lock);
    store->busy = false;
    pthread_cond_broadcast(&store->changed);
    pthread_mutex_unlock(&store->lock);
    return released_ns;
}

/* The frame thread waits for another that opens the database, and then for one that makes a schema:
 * the second wait ends when the first would have. */
static void test_one_time_a_call(void **state)
{
    (void)state;
    DatabaseError error;
    DataStore *store = data_store_create(root);
    data_room_number(store, "SELECT 1::BIGINT");
    frame_thread_enter();
    pthread_mutex_lock(&store->change_lock);
    bool looked = false;
    while (!looked) { /* until the other thread was in time, on a machine that is busy */
        struct ArrowArrayStream none;
        pthread_t thread;
        void *released_ns = NULL;
        lock_until_ns = 0;
        store->busy = true;
        assert_int_equal(pthread_create(&thread, NULL, stop_being_busy, store), 0);
        assert_false(data_store_query(store, "org.caliper.test", "SELECT 1", &none, &error));
        pthread_join(thread, &released_ns);
        assert_non_null(strstr(error.text, "busy; do it in a job"));
        looked = lock_until_ns != 0;
        if (looked)
            assert_true(lock_until_ns <
                        *(int64_t *)released_ns + (int64_t)FRAME_THREAD_WAIT_MS * 1000000);
        free(released_ns);
    }
    pthread_mutex_unlock(&store->change_lock);
    frame_thread_leave();
    data_store_destroy(&store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        TEST(test_others_do_not_wait_for_the_opening),
        TEST(test_the_end_does_not_wait_for_the_opening),
        TEST(test_a_late_failure_closes_no_other_instance),
        TEST(test_one_time_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
