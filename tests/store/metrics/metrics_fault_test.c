/* Every call that can fail, failing in turn, once and for a while: nothing is lost, nothing comes
 * twice, nobody waits long, and it recovers. Then a disk that really is full. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/sanitized.h"
#include "metrics_fixture.h"
#include "metrics_life.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

/* Which calls of a site fail: the first ones; under sanitizers, where a life takes seconds, one. */
#if SANITIZED_ADDRESS || SANITIZED_THREAD
static const int most = 1;
#else
static const int most = 2;
#endif

static const char *const owner_sites[] = {
    "metrics.begin",
    "metrics.append",
    "metrics.flush",
    "metrics.appender",
    "metrics.commit",
    "metrics.committed",
    "metrics.rollback",
    "metrics.run",
    "metrics.schema",
    "metrics.select",
    "metrics.prepare",
    "metrics.ids.read",
    "metrics.ids.write",
    "metrics.ids.sync",
    "metrics.ids.open",
    "metrics.ids.lock",
    "metrics.checkpoint",
    "metrics.snapshot",
    "owner",
    "store.database.open",
    "store.database.connect",
    "metrics.spool.list",
    "metrics.interrupted",
    "store.database.configure",
    "store.database.sync",
    "store.lock.alloc",
};

/* A failure once. metrics.committed: a COMMIT that fails although its rows are there. */
static void test_owner_sites_once(void **state)
{
    (void)state;
    int lives = 0;
    for (size_t i = 0; i < sizeof owner_sites / sizeof owner_sites[0]; i++)
        for (int nth = 1; nth <= most; nth++) {
            char plan[64];
            snprintf(plan, sizeof plan, "%s:%d", owner_sites[i], nth);
            fault_set_plan(plan);
            MetricsStore *store = fixture_store(root);
            life_log(store);
            metrics_store_destroy(&store);
            fault_set_plan(NULL);
            lives++;
            if (nth == most) /* opened once more: what a failed end left behind */
                life_check(root, lives, plan);
        }
}

/* The same for a process beside the owner, and then for the owner that takes over. */
static void test_spool_sites_once(void **state)
{
    (void)state;
    static const char *const sites[] = {
        "metrics.session.sync",   "metrics.session.open", "metrics.session.lock",
        "metrics.session.rename", "metrics.spool.open",   "metrics.spool.write",
        "metrics.spool.sync",     "metrics.spool.read",   "metrics.spool.commit",
        "metrics.spool.unlink",   "metrics.spool.forget", "metrics.spool.list",
        "metrics.spool.alloc",    "metrics.session.look", "metrics.commit",
        "metrics.committed",      "metrics.begin"};
    int lives = 0;
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
        for (int nth = 1; nth <= most; nth++) {
            char plan[64];
            pid_t owner = fixture_owner_start(root);
            snprintf(plan, sizeof plan, "%s:%d", sites[i], nth);
            fault_set_plan(plan);
            MetricsStore *store = fixture_store(root);
            life_log(store);
            MetricsStatus status;
            metrics_store_status(store, &status);
            assert_int_equal(status.mode, METRICS_MODE_SPOOL);
            fixture_owner_end(owner);
            metrics_store_destroy(&store); /* becomes the owner and takes its own rows over */
            fault_set_plan(NULL);
            lives++;
            store = fixture_store(root); /* and whoever comes next, what is left */
            metrics_store_begin_run(store, "last", "");
            metrics_store_flush(store, 120000);
            metrics_store_destroy(&store);
            fixture_run(root, "DELETE FROM interrupted_runs; DELETE FROM runs WHERE experiment = "
                              "'last'");
            if (nth == most)
                life_check(root, lives, plan);
        }
}

/* Writing fails for a while: the state says so, calls stay quick, and then everything is there. */
static void test_failing_for_a_while(void **state)
{
    (void)state;
    static const char *const sites[] = {"metrics.commit:1+", "metrics.append:1+",
                                        "metrics.begin:1+", "store.database.open:1+"};
    for (size_t i = 0; i < 4; i++) {
        fault_set_plan(sites[i]);
        MetricsStore *store = fixture_store(root);
        life_log(store);
        MetricsStatus status;
        for (int wait = 0; wait < 120000; wait++) {
            metrics_store_status(store, &status);
            if (status.state != METRICS_STATE_FINE)
                break;
            usleep(1000);
        }
        assert_int_equal(status.state, METRICS_STATE_FAILING);
        assert_true(strstr(status.text, "injected") != NULL);
        assert_int_equal(status.rows_committed, 0);
        assert_int_equal(fixture_log_count(LOG_METRICS_WRITING_FAILS), 1);
        fault_set_plan(NULL);
        assert_true(metrics_store_flush(store, 120000));
        metrics_store_status(store, &status);
        assert_int_equal(status.state, METRICS_STATE_FINE);
        assert_int_equal(status.recovered, 1);
        assert_string_equal(status.text, "");
        assert_int_equal(fixture_log_count(LOG_METRICS_WRITING_AGAIN), 1);
        metrics_store_destroy(&store);
        life_check(root, (int)i + 1, sites[i]);
        fixture_log_start();
    }
}

/* By the store's own book: `threads` waited in each of `periods` full ones for 50 ms at most. */
static void check_waited(MetricsStore *store, uint64_t periods, uint64_t threads)
{
    MetricsStatus status;
    metrics_store_status(store, &status);
    print_message("%llu rows dropped, %.3f ms waited, %llu times full\n",
                  (unsigned long long)status.rows_dropped, (double)status.waited_ns * 1e-6,
                  (unsigned long long)status.full_periods);
    assert_int_equal(status.full_periods, periods);
    assert_true(status.waited_ns > 0);
    assert_true(status.waited_ns <= periods * threads * METRICS_FULL_WAIT_MS * 1000000);
}

/* The queue fills up: at most 50 ms are waited in total, the rest is dropped and recorded. */
static void test_a_full_queue_drops_and_counts(void **state)
{
    (void)state;
    fault_set_plan("metrics.commit:1+");
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .queue_bytes = 1 << 16});
    uint64_t first = metrics_store_begin_run(store, "e", "first");
    uint64_t second = metrics_store_begin_run(store, "e", "second");
    for (int i = 0; i < 5000; i++)
        metrics_store_scalar(store, first, "x", i, i);
    for (int i = 0; i < 7; i++)
        metrics_store_scalar(store, second, "x", i, i);
    check_waited(store, 1, 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_DROPPING), 2);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_true(status.rows_dropped > 3000);
    uint64_t dropped = status.rows_dropped;
    /* A run may still begin and end. */
    uint64_t third = metrics_store_begin_run(store, "e", "third");
    assert_true(third != 0);
    metrics_store_end_run(store, third);
    fault_set_plan(NULL);
    assert_true(metrics_store_flush(store, 120000));
    metrics_store_end_run(store, first);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT sum(count)::BIGINT FROM dropped_rows"),
                     (int64_t)dropped);
    assert_int_equal(fixture_number(root, "SELECT sum(count)::BIGINT FROM dropped_rows WHERE run = "
                                          "2"),
                     7);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"),
                     (int64_t)(5007 - dropped));
    assert_int_equal(fixture_log_count(LOG_METRICS_DROPS_RECORDED), 2);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE done"), 2);
}

enum { WAITERS = 16, WAITERS_ROWS = 500 };

typedef struct Waiter {
    MetricsStore *store;
    uint64_t run;
} Waiter;

static void *log_into_full(void *user)
{
    Waiter *waiter = user;
    for (int i = 0; i < WAITERS_ROWS; i++)
        metrics_store_scalar(waiter->store, waiter->run, "x", i, i);
    return NULL;
}

/* 16 threads and one queue that stays full: nobody waits longer than one thread alone would, and
 * each run's dropped rows are its own. */
static void test_threads_and_a_full_queue(void **state)
{
    (void)state;
    pthread_t threads[WAITERS];
    Waiter waiters[WAITERS];
    fault_set_plan("metrics.commit:1+");
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .queue_bytes = 1 << 16});
    for (int i = 0; i < WAITERS; i++)
        waiters[i] = (Waiter){store, metrics_store_begin_run(store, "e", "n")};
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_into_full, &waiters[i]), 0);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    check_waited(store, 1, WAITERS);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_true(status.rows_dropped > 0);
    fault_set_plan(NULL);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT sum(count)::BIGINT FROM dropped_rows"),
                     (int64_t)status.rows_dropped);
    assert_int_equal(
        fixture_number(root,
                       "SELECT count(*) FROM runs r WHERE (SELECT count(*) FROM scalars s WHERE "
                       "s.run = r.id) + (SELECT coalesce(sum(d.count), 0) FROM dropped_rows d "
                       "WHERE d.run = r.id) = 500"),
        WAITERS);
}

static void test_a_disk_that_never_works(void **state)
{
    (void)state;
    fault_set_plan("metrics.commit:1+");
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .close_wait_ms = 300});
    life_log(store);
    metrics_store_destroy(&store); /* comes back */
    assert_int_equal(fixture_log_count(LOG_METRICS_LOST), 1);
    fault_set_plan("metrics.thread:1");
    store = fixture_store(root);
    assert_int_equal(metrics_store_begin_run(store, "e", "n"), 0);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_NO_THREAD), 1);
    for (int nth = 1; nth <= 6; nth++) {
        char plan[64];
        snprintf(plan, sizeof plan, "metrics.alloc:%d,metrics.queue.alloc:%d,metrics.runs.alloc:%d",
                 nth, nth, nth);
        fault_set_plan(plan);
        store = metrics_store_create(
            &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
        metrics_store_destroy(&store);
    }
}

/* ---- A small file system ---- */

static void fill_disk(const char *folder)
{
    static uint8_t block[1 << 16];
    FILE *file = fopen(fixture_path(folder, "filler"), "wb");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    for (size_t bytes = sizeof block; bytes > 0; bytes /= 2)
        while (fwrite(block, 1, bytes, file) == bytes) {
        }
    fclose(file);
}

static void full_disk_round(int round)
{
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_true(run != 0);
    for (int i = 0; i < 1000; i++)
        metrics_store_scalar(store, run, "x", i, i);
    assert_true(metrics_store_flush(store, 120000));
    fill_disk(root);
    MetricsStatus status;
    int step = 1000;
    for (int wait = 0; wait < 24000; wait++) {
        for (int i = 0; i < 100; i++, step++)
            metrics_store_scalar(store, run, "x", step, step);
        usleep(5000);
        metrics_store_status(store, &status);
        if (status.state != METRICS_STATE_FINE && wait > 100)
            break;
    }
    assert_int_equal(status.state, METRICS_STATE_FULL);
    assert_true(strstr(status.text, "full") != NULL);
    metrics_store_end_run(store, run); /* does not wait for a disk that is full */
    assert_int_equal(unlink(fixture_path(root, "filler")), 0);
    assert_true(metrics_store_flush(store, 120000));
    metrics_store_status(store, &status);
    assert_int_equal(status.state, METRICS_STATE_FINE);
    assert_true(status.recovered >= 1);
    assert_int_equal(status.rows_dropped, 0);
    assert_int_equal(status.waited_ns, 0); /* 64 MiB were never full */
    metrics_store_destroy(&store);
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM scalars WHERE run = %d", round);
    assert_int_equal(fixture_number(root, sql), step);
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT step) FROM scalars WHERE run = %d", round);
    assert_int_equal(fixture_number(root, sql), step);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM runs WHERE done AND id = %d", round);
    assert_int_equal(fixture_number(root, sql), 1);
}

/* A training loop on a full disk with a small queue: it waits 50 ms in all, what is dropped is
 * counted, and recorded when there is room; what was accepted is there in order. */
static void full_disk_drops(void)
{
    enum { STEPS = 20000 };
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .queue_bytes = 1 << 17});
    uint64_t run = metrics_store_begin_run(store, "e", "trained on");
    assert_true(run != 0);
    assert_true(metrics_store_flush(store, 120000));
    fill_disk(root);
    MetricsStatus status;
    metrics_store_status(store, &status);
    int step = 0;
    while (status.state == METRICS_STATE_FINE) { /* until the writer has met the full disk */
        for (int i = 0; i < 100; i++, step++)
            metrics_store_scalar(store, run, "x", step, step);
        usleep(2000);
        metrics_store_status(store, &status);
    }
    assert_int_equal(status.state, METRICS_STATE_FULL);
    for (int i = 0; i < STEPS; i++, step++)
        metrics_store_scalar(store, run, "x", step, step);
    metrics_store_status(store, &status);
    assert_true(status.rows_dropped > STEPS / 2);
    check_waited(store, status.full_periods, 1);
    assert_int_equal(unlink(fixture_path(root, "filler")), 0);
    assert_true(metrics_store_flush(store, 120000));
    metrics_store_scalar(store, run, "x", step, step); /* and on */
    metrics_store_end_run(store, run);
    uint64_t dropped = status.rows_dropped;
    metrics_store_status(store, &status);
    assert_int_equal(status.state, METRICS_STATE_FINE);
    assert_int_equal(status.rows_dropped, dropped);
    metrics_store_destroy(&store);
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT sum(count)::BIGINT FROM dropped_rows WHERE run = %llu",
             (unsigned long long)run);
    assert_int_equal(fixture_number(root, sql), (int64_t)dropped);
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT step) FROM scalars WHERE run = %llu",
             (unsigned long long)run);
    assert_int_equal(fixture_number(root, sql), step + 1 - (int64_t)dropped);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT step - lag(step) OVER (ORDER BY seq) AS d FROM scalars "
             "WHERE run = %llu) WHERE d < 1",
             (unsigned long long)run);
    assert_int_equal(fixture_number(root, sql), 0);
}

static void test_a_full_disk(void **state)
{
    (void)state;
    if (mount("tmpfs", root, "tmpfs", 0, "size=24m") != 0) {
        print_message("skipped: a small file system needs root: %s\n", strerror(errno));
        skip();
    }
    for (int round = 1; round <= 3; round++)
        full_disk_round(round);
    full_disk_drops();
    umount2(root, MNT_DETACH);
}

/* An argument: only the tests that it matches. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_owner_sites_once),
        TEST(test_spool_sites_once),
        TEST(test_failing_for_a_while),
        TEST(test_a_full_queue_drops_and_counts),
        TEST(test_threads_and_a_full_queue),
        TEST(test_a_disk_that_never_works),
        TEST(test_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
