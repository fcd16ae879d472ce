/* A thread that faulted in the middle of the store's own lock, and a rescue that is made to leave:
 * every later call comes back, refused with one line for the store, or works as ever. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/sanitized.h"
#include "metrics_fixture.h"
#include "store/metrics/store_impl.h"

static char *const root = fixture_folder;

static atomic_bool held;

/* It stands still for ever, as one that faulted does. */
static void *fault_inside(void *user)
{
    MetricsStore *store = user;
    pthread_mutex_lock(&store->mutex);
    atomic_store(&held, true);
    for (;;)
        pause();
    return NULL;
}

static int64_t deadline_in(int64_t ms)
{
    return metrics_monotonic_ns() + ms * 1000000;
}

static void test_a_lost_store_refuses(void **state)
{
    (void)state;
    static MetricsStore *kept; /* its memory stays: the writer waits in it for ever */
    struct ArrowArrayStream stream;
    MetricsStatus status;
    pthread_t thread;
    /* Beside an owner: the engine's memory, which the leak checker cannot follow, is not in use. */
    pid_t owner = fixture_owner_start(root);
    MetricsStore *store = kept = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_true(metrics_store_flush(store, 20000));
    assert_int_equal(pthread_create(&thread, NULL, fault_inside, store), 0);
    pthread_detach(thread);
    while (!atomic_load(&held))
        usleep(1000);
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_rescue(store, (uint64_t)deadline_in(300)); /* has an end */
    assert_false(metrics_store_flush(store, 20000));
    assert_int_equal(fixture_log_count(LOG_METRICS_STORE_LOST), 1);
    assert_int_equal(metrics_store_begin_run(store, "e", "n"), 0);
    assert_int_equal(fixture_log_count(LOG_METRICS_NO_RUN), 1);
    assert_false(metrics_store_query(store, "SELECT 1", &stream));
    assert_int_equal(fixture_log_count(LOG_METRICS_QUERY_REFUSED), 1);
    assert_true(strstr(metrics_store_last_error(), "faulted") != NULL);
    for (int i = 0; i < 100000; i++)
        metrics_store_scalar(store, run, "x", i, 1.0);
    metrics_store_status(store, &status);
    assert_int_equal(status.state, METRICS_STATE_FAILING);
    assert_true(strstr(status.text, "faulted") != NULL);
    metrics_store_end_run(store, run);
    metrics_store_destroy(&store);
    assert_null(store);
    assert_non_null(kept);
    assert_int_equal(fixture_log_count(LOG_METRICS_STORE_LOST), 1);
    fixture_owner_end(owner);
}

/* ---- A rescue that is left ---- */

static sigjmp_buf escape;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(escape, 1);
}

static void *rescue_and_leave(void *user)
{
    if (sigsetjmp(escape, 1) == 0) {
        atomic_store(&held, true);
        metrics_store_rescue(user, (uint64_t)deadline_in(60000));
    }
    atomic_store(&held, false);
    return NULL;
}

static void test_a_rescue_is_left(void **state)
{
    (void)state;
#if SANITIZED_THREAD
    skip(); /* it does not know of jumps out of handlers */
#endif
    signal(SIGUSR1, leave);
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_true(metrics_store_flush(store, 20000));
    fault_set_plan("metrics.begin:1+"); /* the rescue has to wait */
    metrics_store_scalar(store, run, "x", 0, 1.0);
    for (int i = 1; i <= 20; i++) {
        pthread_t thread;
        atomic_store(&held, false);
        assert_int_equal(pthread_create(&thread, NULL, rescue_and_leave, store), 0);
        while (!atomic_load(&held))
            usleep(100);
        usleep((useconds_t)(i * 300 + 2000)); /* it waits by now */
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        metrics_store_scalar(store, run, "x", i, 1.0);
    }
    fault_set_plan(NULL);
    assert_true(metrics_store_flush(store, 20000));
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_STORE_LOST), 0);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_lost_store_refuses, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_rescue_is_left, fixture_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
