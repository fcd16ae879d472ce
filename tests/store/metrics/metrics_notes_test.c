/* What no row in the queue tells of: rows that were dropped and ends that found no room. Each is
 * recorded once, whatever call fails on the way, in a spool file and in the database. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/metrics/row.h"
#include "store/metrics/spool.h"

static char *const root = fixture_folder;

enum { RUNS = 3 };

typedef struct Logged {
    uint64_t runs[RUNS], dropped[RUNS];
} Logged;

/* Runs that drop rows and end while nothing can be written: `plan` fails all of that. */
static MetricsStore *overflow(const char *plan, Logged *out)
{
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .queue_bytes = 1 << 14});
    assert_non_null(store);
    for (int i = 0; i < RUNS; i++) {
        out->runs[i] = metrics_store_begin_run(store, "e", "n");
        assert_true(out->runs[i] != 0);
    }
    assert_true(metrics_store_flush(store, 120000));
    fault_set_plan(plan);
    for (int i = 0; i < RUNS; i++) {
        MetricsStatus before;
        MetricsStatus after;
        for (int row = 0; row < (i == 0 ? 1000 : 5 + i); row++) {
            metrics_store_status(store, &before);
            metrics_store_scalar(store, out->runs[i], "x", row, 1.0);
            metrics_store_status(store, &after);
            out->dropped[i] += after.rows_dropped - before.rows_dropped;
        }
        assert_true(out->dropped[i] > 0);
    }
    while (metrics_store_begin_run(store, "filler", "") != 0) {
    }
    for (int i = 0; i < RUNS; i++)
        metrics_store_end_run(store, out->runs[i]);
    return store;
}

/* Rows of the spool files that tell of `run`, counted by hand. */
static void count_spooled(uint64_t run, uint64_t *drops, uint64_t *ends)
{
    SpoolList list;
    *drops = *ends = 0;
    assert_true(spool_list(fixture_path(root, "spool"), &list));
    for (uint32_t i = 0; i < list.count; i++) {
        char name[SPOOL_NAME_BYTES];
        SpoolReader reader;
        if (list.entries[i].number == 0)
            continue;
        spool_file_name(&list.entries[i], name);
        assert_true(spool_reader_open(&reader, fixture_path(root, "spool"), name, 0));
        while (spool_reader_next(&reader) == SPOOL_READ_FRAME) {
            for (uint64_t at = 0, size = 0; at < reader.rows_bytes; at += size) {
                const Row *row = (const Row *)(const void *)(reader.rows + at);
                assert_true(row_check(row, reader.rows_bytes - at, &size));
                if (row->run == run && row->kind == ROW_KIND_DROPPED)
                    *drops += (uint64_t)row->value.count;
                if (row->run == run && row->kind == ROW_KIND_END)
                    ++*ends;
            }
        }
        assert_false(spool_reader_has_rest(&reader));
        spool_reader_close(&reader);
    }
    spool_list_finish(&list);
}

/* One question for all: opening a database takes its time. */
static void check_database(const Logged *logged, int count)
{
    char sql[RUNS * 16 * 96] = "SELECT format('ended {}', count(*)) FROM (VALUES (0, 0)";
    size_t length = strlen(sql);
    for (int i = 0; i < count * RUNS; i++)
        length += (size_t)snprintf(sql + length, sizeof sql - length, ", (%llu, %llu)",
                                   (unsigned long long)logged[i / RUNS].runs[i % RUNS],
                                   (unsigned long long)logged[i / RUNS].dropped[i % RUNS]);
    snprintf(sql + length, sizeof sql - length,
             ") w(run, dropped) JOIN runs r ON r.id = w.run AND r.done JOIN (SELECT run, "
             "sum(count)::BIGINT AS n FROM dropped_rows GROUP BY run) d ON d.run = w.run AND d.n = "
             "w.dropped");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "ended %d", count * RUNS);
    assert_string_equal(fixture_text(root, sql), wanted);
}

static void wait_for_notes(void)
{
    for (int wait = 0; wait < 120000; wait++) {
        if (fixture_log_count(LOG_METRICS_DROPS_RECORDED) >= RUNS)
            break;
        usleep(1000);
    }
    assert_int_equal(fixture_log_count(LOG_METRICS_DROPS_RECORDED), RUNS);
}

/* Beside an owner: each write and each flush fails in turn while rows and notes are written out. */
static void test_spooled_notes_are_there_once(void **state)
{
    (void)state;
    /* A frame is two writes; the rows come first, then the notes, each with a flush. */
    enum { PLANS = 6 };
    static const char *const plans[PLANS] = {"metrics.spool.sync:1",  "metrics.spool.sync:2",
                                             "metrics.spool.write:1", "metrics.spool.write:2",
                                             "metrics.spool.write:3", "metrics.spool.write:4"};
    static Logged logged[PLANS];
    int failed = 0;
    memset(logged, 0, sizeof logged);
    pid_t owner = fixture_owner_start(root);
    for (int i = 0; i < PLANS; i++) {
        fixture_log_start();
        MetricsStore *store = overflow("metrics.spool:1+", &logged[i]);
        fault_set_plan(plans[i]);
        assert_true(metrics_store_flush(store, 120000));
        wait_for_notes();
        failed += fault_injected() > 0;
        fault_set_plan(NULL);
        for (int run = 0; run < RUNS; run++) {
            uint64_t drops = 0;
            uint64_t ends = 0;
            count_spooled(logged[i].runs[run], &drops, &ends);
            if (drops != logged[i].dropped[run] || ends != 1)
                fail_msg("%s: run %d: %llu drops, wanted %llu; %llu ends", plans[i], run,
                         (unsigned long long)drops, (unsigned long long)logged[i].dropped[run],
                         (unsigned long long)ends);
        }
        metrics_store_destroy(&store);
    }
    assert_int_equal(failed, PLANS);
    fixture_owner_end(owner);
    MetricsStore *store = fixture_store(root); /* the owner now: takes the rows over */
    assert_true(metrics_store_begin_run(store, "e", "last") != 0);
    metrics_store_destroy(&store);
    check_database(logged, PLANS);
}

/* An owner: the transaction with the notes in it fails at every call. */
static void test_committed_notes_are_there_once(void **state)
{
    (void)state;
    enum { PLANS = 4 };
    static const char *const plans[PLANS] = {"metrics.begin:1", "metrics.run:2", "metrics.commit:1",
                                             "metrics.committed:1"};
    static Logged logged[PLANS];
    memset(logged, 0, sizeof logged);
    for (int i = 0; i < PLANS; i++) {
        fixture_log_start();
        MetricsStore *store = overflow("metrics.begin:1+", &logged[i]);
        fault_set_plan(plans[i]);
        assert_true(metrics_store_flush(store, 120000));
        wait_for_notes();
        fault_set_plan(NULL);
        metrics_store_destroy(&store);
    }
    check_database(logged, PLANS);
}

/* More runs than are told of at once. */
static void test_many_runs_are_all_told_of(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static uint64_t runs[MANY];
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams),
        .data_root = root,
        .queue_bytes = 1 << 14,
        .close_wait_ms = 120000}); /* a busy machine takes longer than the usual 5 s */
    for (int i = 0; i < MANY; i++) {
        runs[i] = metrics_store_begin_run(store, "e", "n");
        assert_true(runs[i] != 0);
        if (i % 50 == 0)
            assert_true(metrics_store_flush(store, 120000));
    }
    assert_true(metrics_store_flush(store, 120000));
    fault_set_plan("metrics.begin:1+");
    for (int i = 0; i < 1000; i++)
        metrics_store_scalar(store, runs[0], "x", i, 1.0);
    for (int i = 1; i < MANY; i++)
        metrics_store_scalar(store, runs[i], "x", i, 1.0);
    while (metrics_store_begin_run(store, "filler", "") != 0) {
    }
    for (int i = 0; i < MANY; i++)
        metrics_store_end_run(store, runs[i]);
    fault_set_plan(NULL);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE done"), MANY);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT run) FROM dropped_rows"), MANY);
    assert_int_equal(
        fixture_number(root, "SELECT count(*) FROM dropped_rows WHERE run > 1 AND count <> 1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_spooled_notes_are_there_once, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_committed_notes_are_there_once, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_many_runs_are_all_told_of, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
