/* Closing has an end, whatever others do: a call that stands still, a disk that does not answer,
 * more to take over than there is time for. One line says so, and nothing that is stored is lost.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/sanitized.h"
#include "metrics_fixture.h"
#include "store/database/database.h"
#include "store/file_lock.h"
#include "store/metrics/query.h"
#include "store/metrics/row.h"
#include "store/metrics/spool.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

/* A thread in the middle of a call. */
typedef struct Caller {
    Database *database;
    DatabaseSession *session;
    atomic_bool inside, leaves;
    pthread_t thread;
} Caller;

static void *stand_still(void *user)
{
    Caller *caller = user;
    DatabaseError error = {0};
    caller->session = database_session_open(caller->database, &error);
    bool entered = caller->session != NULL && database_session_enter(caller->session, &error);
    atomic_store(&caller->inside, true);
    while (!atomic_load(&caller->leaves))
        usleep(1000);
    if (entered)
        database_session_leave(caller->session);
    database_session_close(&caller->session);
    return entered ? caller : NULL;
}

static void caller_start(Caller *caller, Database *database)
{
    *caller = (Caller){.database = database};
    assert_int_equal(pthread_create(&caller->thread, NULL, stand_still, caller), 0);
    while (!atomic_load(&caller->inside))
        usleep(1000);
}

static void caller_end(Caller *caller)
{
    void *entered = NULL;
    atomic_store(&caller->leaves, true);
    pthread_join(caller->thread, &entered);
    assert_ptr_equal(entered, caller);
}

static Database *open_file(DatabaseError *error)
{
    return database_open(&(DatabaseParams){.path = fixture_path(root, "x.duckdb")}, error);
}

static void test_a_call_that_stands_still(void **state)
{
    (void)state;
    DatabaseError error = {0};
    Caller caller;
    Database *database = open_file(&error);
    assert_non_null(database);
    caller_start(&caller, database);
    assert_false(database_close(&database));
    assert_null(database);
    assert_int_equal(fixture_log_count(LOG_DATABASE_LEFT_OPEN), 1);
    assert_null(open_file(&error)); /* it is still open */
    caller_end(&caller);
    database = open_file(&error);
    assert_non_null(database);
    assert_true(database_close(&database));
    assert_int_equal(fixture_log_count(LOG_DATABASE_LEFT_OPEN), 1);
}

#if !SANITIZED_THREAD /* a fork meets the locks of the engine's allocator */
static OwnerState state_in_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        OwnerLock *lock = NULL;
        _exit((int)owner_lock_take(root, &lock, NULL));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return (OwnerState)WEXITSTATUS(status);
}
#endif

/* The file is open: until this process ends nobody else may think that it is not. */
static void test_a_store_is_closed_under_a_call(void **state)
{
    (void)state;
    DatabaseError error = {0};
    int64_t snapshot_us = 0;
    Caller caller;
    MetricsStore *store = fixture_store(root);
    metrics_store_end_run(store, metrics_store_begin_run(store, "e", "n"));
    Database *database = query_database(store, frame_thread_until_ns(), &snapshot_us, &error);
    assert_non_null(database);
    caller_start(&caller, database);
    metrics_store_destroy(&store);
    database_let_go(&database);
    assert_int_equal(fixture_log_count(LOG_DATABASE_LEFT_OPEN), 1);
#if !SANITIZED_THREAD
    assert_int_equal(state_in_child(), OWNER_STATE_OTHER);
#endif
    caller_end(&caller);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE done"), 1);
    store = fixture_store(root); /* this process still owns it */
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 1);
    metrics_store_destroy(&store);
}

static MetricsStore *impatient_store(bool start_now)
{
    MetricsStore *store =
        metrics_store_create(&(MetricsParams){.struct_size = sizeof(MetricsParams),
                                              .data_root = root,
                                              .close_wait_ms = 1,
                                              .start_now = start_now});
    assert_non_null(store);
    return store;
}

static void test_more_than_there_is_time_for(void **state)
{
    (void)state;
    enum { FRAMES = 24, FRAME_ROWS = 20000 };
    static Row rows[FRAME_ROWS];
    SpoolWriter spool;
    MetricsStore *store = impatient_store(false);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 0);
    fault_set_plan("metrics.spool.list:1+"); /* nothing is taken over until it closes */
    assert_true(spool_writer_init(&spool, root, "0123456789abcdef0123456789abcdef"));
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int i = 0; i < FRAME_ROWS; i++) {
            rows[i] = (Row){.kind = ROW_KIND_SCALAR, .run = 1, .step = i, .wall_us = 1};
            atomic_init(&rows[i].size_and_state,
                        (uint64_t)sizeof rows[i] << ROW_STATE_BITS | ROW_STATE_READY);
        }
        assert_true(spool_write(&spool, rows, sizeof rows));
    }
    assert_true(spool_sync(&spool));
    spool_writer_finish(&spool);
    fault_set_plan(NULL);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_CLOSED_EARLY), 1);
    assert_int_equal(store_folder_count(fixture_path(root, "spool"), "0123456789abcdef"), 2);
    store = fixture_store(root); /* the next one takes the rest */
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), FRAMES * FRAME_ROWS);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_CLOSED_EARLY), 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), FRAMES * FRAME_ROWS);
}

/* The writer waits for another process, 5 s; closing does not. */
static void test_a_writer_that_does_not_come_back(void **state)
{
    (void)state;
    static MetricsStore *left; /* its memory stays */
    int other = open(fixture_path(root, "metrics.ids"), O_RDWR | O_CREAT, 0600);
    assert_int_equal(file_lock_try(other, "test"), FILE_LOCK_HELD);
    MetricsStore *store = left = impatient_store(true);
    metrics_store_destroy(&store);
    assert_null(store);
    assert_int_equal(fixture_log_count(LOG_METRICS_CLOSED_EARLY), 1);
    assert_true(strstr(fixture_log_text(LOG_METRICS_CLOSED_EARLY), "does not answer") != NULL);
    MetricsStatus status;
    metrics_store_status(left, &status); /* a late call */
    close(other);
    store = fixture_store(root);
    assert_true(metrics_store_begin_run(store, "e", "n") != 0);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_call_that_stands_still, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_store_is_closed_under_a_call, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_more_than_there_is_time_for, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_writer_that_does_not_come_back, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
