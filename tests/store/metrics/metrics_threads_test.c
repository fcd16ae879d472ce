/* Many threads of one process on one store, with readers beside them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "metrics_fixture.h"
#include "store/metrics/metrics_read.h"

enum { THREADS = 16, ROWS = 1500 };

static char root[256];
static MetricsStore *store;
static uint64_t shared_run;
static atomic_bool over;

static void *log_much(void *user)
{
    int64_t number = (int64_t)(intptr_t)user;
    char name[32];
    snprintf(name, sizeof name, "thread %d", (int)number);
    uint64_t run = metrics_store_begin_run(store, "threads", name);
    float values[2] = {(float)number, 2.0f};
    for (int64_t i = 0; i < ROWS; i++) {
        metrics_store_scalar(store, run, "own", i, (double)i);
        metrics_store_scalar(store, shared_run, "shared", number, (double)i);
        if (i % 100 == 0)
            metrics_store_histogram(store, run, "h", i, values, 2);
    }
    metrics_store_hparams(store, run, "{\"a\": 1}");
    metrics_store_end_run(store, run);
    return (void *)(uintptr_t)run;
}

static void *read_much(void *user)
{
    (void)user;
    MetricsReader *reader = metrics_reader_create(store);
    while (!atomic_load(&over)) {
        MetricsStatus status;
        MetricsRuns runs;
        metrics_store_status(store, &status);
        if (metrics_read_runs(reader, &runs))
            metrics_runs_free(&runs);
        MetricsWindow window = {
            .runs = &shared_run, .run_count = 1, .tag = "shared", .buckets = 50};
        MetricsScalars scalars;
        if (metrics_read_scalars(reader, &window, &scalars))
            metrics_scalars_free(&scalars);
        usleep(2000);
    }
    metrics_reader_destroy(&reader);
    return NULL;
}

static void test_16_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    pthread_t reader;
    uint64_t ids[THREADS];
    fixture_root(root);
    fixture_log_start();
    store = fixture_store(root);
    shared_run = metrics_store_begin_run(store, "threads", "shared");
    assert_int_equal(pthread_create(&reader, NULL, read_much, NULL), 0);
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_much, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *id = NULL;
        pthread_join(threads[i], &id);
        ids[i] = (uint64_t)(uintptr_t)id;
        assert_true(ids[i] > shared_run);
        for (int k = 0; k < i; k++)
            assert_true(ids[k] != ids[i]);
    }
    atomic_store(&over, true);
    pthread_join(reader, NULL);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE done"), THREADS);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars WHERE tag = 'own'"),
                     THREADS * ROWS);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM histograms"), THREADS * 15);
    /* Each thread's rows are in its own order, in its run and in the one that all share. */
    assert_int_equal(
        fixture_number(root,
                       "SELECT count(*) FROM (SELECT step, row_number() OVER (PARTITION BY "
                       "run ORDER BY seq) - 1 AS i FROM scalars WHERE tag = 'own') WHERE i <> "
                       "step"),
        0);
    assert_int_equal(
        fixture_number(root, "SELECT count(*) FROM (SELECT value, row_number() OVER (PARTITION BY "
                             "step ORDER BY seq) - 1 AS i FROM scalars WHERE tag = 'shared') WHERE "
                             "i <> value"),
        0);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars WHERE tag = 'shared'"),
                     THREADS * ROWS);
    fixture_log_stop();
    store_folder_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_16_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
