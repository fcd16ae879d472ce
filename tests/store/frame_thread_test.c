/* The thread that draws waits for no other process and no other thread: each store refuses there,
 * with one line that says what to do, what it waits for elsewhere. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/frame_thread.h"
#include "core/mutex_wait.h"
#include "metrics_fixture.h"
#include "store/artifacts/artifact_store.h"
#include "store/file_lock.h"
#include "store/metrics/store_impl.h"

static char *const root = fixture_folder;

/* Holds the lock of a file as another process would: it is the open file's. */
static int hold(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_lock_try(fd, "test"), FILE_LOCK_HELD);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    return fd;
}

static bool says(LogItem item, const char *words)
{
    return strstr(fixture_log_text(item), words) != NULL;
}

static void test_a_run_has_no_number_yet(void **state)
{
    (void)state;
    int other = hold(fixture_path(root, "metrics.ids"));
    MetricsStore *store = fixture_store(root);
    frame_thread_enter();
    assert_int_equal(metrics_store_begin_run(store, "e", "n"), 0);
    assert_int_equal(fixture_log_count(LOG_METRICS_NO_RUN), 1);
    assert_true(says(LOG_METRICS_NO_RUN, "try again"));
    /* The writer waits for that lock, too: the database is not open yet. */
    struct ArrowArrayStream stream;
    assert_false(metrics_store_query(store, "SELECT 1", &stream));
    assert_int_equal(fixture_log_count(LOG_METRICS_QUERY_REFUSED), 1);
    assert_true(says(LOG_METRICS_QUERY_REFUSED, "busy; do it in a job"));
    assert_non_null(strstr(metrics_store_last_error(), "busy; do it in a job"));
    close(other);
    uint64_t run = 0;
    for (int i = 0; run == 0 && i < 400; i++)
        run = metrics_store_begin_run(store, "e", "n");
    assert_true(run != 0);
    frame_thread_leave();
    assert_true(metrics_store_flush(store, 120000));
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 1);
    metrics_store_destroy(&store);
}

static void test_rows_are_not_written_yet(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_true(metrics_store_flush(store, 120000));
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 1);
    /* Both blocks of numbers are spent; for the next one the writer waits as it writes nothing. */
    int other = hold(fixture_path(root, "metrics.ids"));
    frame_thread_enter();
    while (metrics_store_begin_run(store, "e", "n") != 0) {
    }
    metrics_store_scalar(store, run, "x", 1, 1.0);
    assert_false(metrics_store_query(store, "SELECT 1", &stream));
    metrics_store_end_run(store, run);
    assert_true(says(LOG_METRICS_QUERY_REFUSED, "busy; do it in a job"));
    frame_thread_leave();
    close(other);
    assert_true(metrics_store_flush(store, 120000));
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 1);
    metrics_store_destroy(&store);
}

static void test_another_process_puts_an_artifact(void **state)
{
    (void)state;
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    char path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactStore *store = artifact_store_open(root);
    assert_true(artifact_store_put(store, "first", "1", 1, 0, digest));
    int other = hold(fixture_path(root, "artifacts/index.lock"));
    frame_thread_enter();
    assert_false(artifact_store_put(store, "second", "2", 1, 0, digest));
    assert_int_equal(fixture_log_count(LOG_ARTIFACT_FAILED), 1);
    assert_true(says(LOG_ARTIFACT_FAILED, "busy; do it in a job"));
    assert_true(artifact_store_find(store, "first", path)); /* waits for no put */
    /* An index that is lost is made anew under that lock: the store cannot be opened now. */
    artifact_store_close(&store);
    assert_int_equal(unlink(fixture_path(root, "artifacts/index.log")), 0);
    assert_null(artifact_store_open(root));
    assert_int_equal(fixture_log_count(LOG_ARTIFACT_FAILED), 2);
    close(other);
    store = artifact_store_open(root);
    assert_non_null(store);
    assert_true(artifact_store_put(store, "second", "2", 1, 0, digest));
    frame_thread_leave();
    artifact_store_close(&store);
}

typedef struct Holder {
    pthread_mutex_t *mutex;
    atomic_bool held, done;
} Holder;

static void *hold_mutex(void *user)
{
    Holder *holder = user;
    pthread_mutex_lock(holder->mutex);
    atomic_store(&holder->held, true);
    while (!atomic_load(&holder->done))
        usleep(1000);
    pthread_mutex_unlock(holder->mutex);
    return NULL;
}

static void test_another_thread_has_a_lock(void **state)
{
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Holder holder = {.mutex = &mutex};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, hold_mutex, &holder), 0);
    while (!atomic_load(&holder.held))
        usleep(1000);
    frame_thread_enter();
    frame_thread_enter();
    frame_thread_leave(); /* one host of two ended */
    assert_true(frame_thread_is_current());
    assert_false(frame_thread_lock(&mutex));
    atomic_store(&holder.done, true);
    pthread_join(thread, NULL);
    assert_true(frame_thread_lock(&mutex));
    pthread_mutex_unlock(&mutex);
    frame_thread_leave();
    assert_false(frame_thread_is_current());
    assert_true(frame_thread_lock(&mutex));
    pthread_mutex_unlock(&mutex);
}

/* By the clock that nobody sets: a wait is over no sooner than that clock says. */
static void test_a_wait_has_an_end(void **state)
{
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Holder holder = {.mutex = &mutex};
    pthread_t thread;
    assert_int_equal(frame_thread_until_ns(), INT64_MAX);
    assert_int_equal(pthread_create(&thread, NULL, hold_mutex, &holder), 0);
    while (!atomic_load(&holder.held))
        usleep(1000);
    for (int64_t wait_ms = -1000; wait_ms <= 20; wait_ms += 510) {
        int64_t until_ns = mutex_wait_now_ns() + wait_ms * 1000000;
        assert_false(mutex_wait_until(&mutex, until_ns));
        assert_true(mutex_wait_now_ns() >= until_ns);
    }
    atomic_store(&holder.done, true);
    pthread_join(thread, NULL);
    assert_true(mutex_wait_until(&mutex, 0)); /* free, however late */
    pthread_mutex_unlock(&mutex);
}

/* A condition that nobody meets. */
static void test_a_condition_has_an_end(void **state)
{
    (void)state;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    assert_true(mutex_wait_condition_init(&condition));
    pthread_mutex_lock(&mutex);
    for (int64_t wait_ms = -1000; wait_ms <= 20; wait_ms += 510) {
        int64_t until_ns = mutex_wait_now_ns() + wait_ms * 1000000;
        while (mutex_wait_condition(&condition, &mutex, until_ns))
            ;
        assert_true(mutex_wait_now_ns() >= until_ns);
    }
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&condition);
}

/* As when it opens another process's snapshot on a disk that does not answer. */
static void test_another_thread_opens_the_database(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 1);
    Holder holder = {.mutex = &store->database_mutex};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, hold_mutex, &holder), 0);
    while (!atomic_load(&holder.held))
        usleep(1000);
    frame_thread_enter();
    assert_false(metrics_store_query(store, "SELECT 1", &stream));
    assert_true(says(LOG_METRICS_QUERY_REFUSED, "busy; do it in a job"));
    assert_false(metrics_store_set_note(store, run, "later"));
    assert_true(says(LOG_METRICS_CHANGE_FAILED, "busy; do it in a job"));
    atomic_store(&holder.done, true);
    pthread_join(thread, NULL);
    assert_true(metrics_store_set_note(store, run, "now"));
    frame_thread_leave();
    metrics_store_destroy(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_run_has_no_number_yet, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_rows_are_not_written_yet, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_another_process_puts_an_artifact, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test(test_another_thread_has_a_lock),
        cmocka_unit_test(test_a_wait_has_an_end),
        cmocka_unit_test(test_a_condition_has_an_end),
        cmocka_unit_test_setup_teardown(test_another_thread_opens_the_database, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
