/* Older, newer and damaged files, the lock of another program, a machine without the library, and
 * a reader beside the owner. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/metrics/metrics_read.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

static void test_an_older_file_is_migrated(void **state)
{
    (void)state;
    fixture_run(root,
                "CREATE TABLE runs(id BIGINT, experiment VARCHAR, name VARCHAR, hparams VARCHAR);"
                "CREATE TABLE scalars(run BIGINT, tag VARCHAR, step INTEGER, value FLOAT);"
                "CREATE TABLE images(run BIGINT, tag VARCHAR, step BIGINT, w INTEGER, h INTEGER, "
                "c INTEGER, data BLOB, seq BIGINT);"
                "INSERT INTO runs VALUES (7, 'e', 'seven', '{}'), (9, 'e', 'nine', NULL);"
                "INSERT INTO scalars VALUES (7, 'x', 3, 0.5), (7, 'x', 1, 0.25), (9, 'x', 2, NULL);"
                "INSERT INTO images VALUES (7, 'i', 1, 1, 1, 1, '\\x05'::BLOB, 41);");
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "new");
    assert_true(run == 1 || run > 9);
    metrics_store_flush(store, 120000);
    run = metrics_store_begin_run(store, "e", "after");
    metrics_store_scalar(store, run, "x", 5, 1.0);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_MIGRATED), 1);
    assert_int_equal(fixture_number(root, "SELECT version::BIGINT FROM schema_version"), 2);
    assert_string_equal(fixture_text(root,
                                     "SELECT string_agg(step || '=' || coalesce(value::VARCHAR,"
                                     " '-'), ' ' ORDER BY seq) FROM scalars WHERE run IN "
                                     "(7, 9)"),
                        "3=0.5 1=0.25 2=-");
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE id IN (7, 9) AND done"),
                     2);
    assert_int_equal(fixture_number(root, "SELECT seq FROM images"), 41);
    /* New rows come after the old ones, the images' numbers included. */
    assert_int_equal(fixture_number(root, "SELECT min(seq) FROM scalars WHERE step = 5"), 42);
}

/* A file of version 1 has no texts: it gets the table, and loses nothing. Beside an owner that made
 * its copy of one, tags are read without. */
static void test_version_1_gets_texts(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_destroy(&store);
    fixture_run(root, "DROP TABLE texts; UPDATE schema_version SET version = 1");
    char command[600];
    snprintf(command, sizeof command, "cp %s/metrics.duckdb %s/metrics.snapshot.duckdb", root,
             root);
    assert_int_equal(system(command), 0);
    pid_t owner = fixture_owner_start(root);
    store = fixture_store(root);
    MetricsReader *reader = metrics_reader_create(store);
    MetricsTags tags;
    assert_true(metrics_read_tags(reader, 0, &tags));
    assert_int_equal(tags.count, 1);
    assert_true(metrics_reader_snapshot_us(reader) > 0);
    metrics_tags_free(&tags);
    assert_true(metrics_read_news(reader, 0, &tags));
    assert_int_equal(tags.count, 1);
    metrics_tags_free(&tags);
    metrics_reader_destroy(&reader);
    metrics_store_destroy(&store);
    fixture_owner_end(owner);
    store = fixture_store(root);
    run = metrics_store_begin_run(store, "e", "later");
    metrics_store_text_at(store, run, "said", 3, "words", 5, 1);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_MIGRATED), 1);
    assert_int_equal(fixture_number(root, "SELECT version::BIGINT FROM schema_version"), 2);
    assert_string_equal(fixture_text(root, "SELECT value FROM texts WHERE tag = 'said'"), "words");
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 1);
    assert_int_equal(fixture_number(root, "SELECT seq FROM texts"), 2);
}

/* A data root that may not be written: its owner's newest copy is shown, with one line, and nothing
 * is changed. When it may be written it is owned. */
static void test_a_root_that_may_not_be_written(void **state)
{
    (void)state;
    MetricsStatus status;
    MetricsRuns runs;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_end_run(store, run);
    metrics_store_destroy(&store);
    fault_set_plan("owner.denied:1+");
    store = fixture_store(root);
    MetricsReader *reader = metrics_reader_create(store);
    for (int i = 0; i < 3; i++) {
        assert_true(metrics_read_runs(reader, &runs));
        assert_int_equal(runs.count, 1);
        assert_true(metrics_reader_snapshot_us(reader) > 0);
        metrics_runs_free(&runs);
        usleep(700000);
    }
    assert_false(metrics_store_set_deleted(store, run, true));
    assert_int_equal(fixture_log_count(LOG_OWNER_LOCK_FAILED), 1);
    metrics_store_status(store, &status);
    assert_int_equal(status.mode, METRICS_MODE_SPOOL);
    fault_set_plan(NULL);
    for (int wait = 0; wait < 4000 && status.mode != METRICS_MODE_OWNER; wait++) {
        usleep(5000);
        metrics_store_status(store, &status);
    }
    assert_int_equal(status.mode, METRICS_MODE_OWNER);
    assert_true(metrics_store_set_deleted(store, run, true));
    metrics_reader_destroy(&reader);
    metrics_store_destroy(&store);
}

static void test_a_newer_file_is_only_read(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_destroy(&store);
    fixture_run(root, "UPDATE schema_version SET version = 3");
    store = fixture_store(root);
    uint64_t later = metrics_store_begin_run(store, "e", "later");
    assert_true(later > run);
    metrics_store_scalar(store, later, "x", 1, 1.0);
    metrics_store_end_run(store, later);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 1);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_int_equal(status.mode, METRICS_MODE_WITHOUT);
    assert_false(metrics_store_set_note(store, run, "no"));
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_NEWER), 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 1);
    /* The newer Caliper, played by the file's old version, takes the rows over. */
    fixture_run(root, "UPDATE schema_version SET version = 2");
    store = fixture_store(root);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 2);
    metrics_store_destroy(&store);
}

static void test_a_damaged_file_is_moved_aside(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    metrics_store_end_run(store, metrics_store_begin_run(store, "e", "lost"));
    metrics_store_destroy(&store);
    char garbage[8192];
    memset(garbage, 'z', sizeof garbage);
    fixture_write(root, "metrics.duckdb", garbage, sizeof garbage);
    store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "kept");
    assert_int_equal(run, 2);
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_end_run(store, run);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_DATABASE_DAMAGED), 1);
    assert_int_equal(store_folder_count(root, "metrics.duckdb.damaged-"), 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 1);
}

static void test_snapshots_for_other_processes(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_destroy(&store);
    assert_true(fixture_exists(root, "metrics.snapshot.duckdb"));
    /* What an owner that was killed left running. */
    fixture_run(root, "DELETE FROM interrupted_runs");
    unlink(fixture_path(root, "metrics.snapshot.duckdb"));
    char command[600];
    snprintf(command, sizeof command, "cp %s/metrics.duckdb %s/metrics.snapshot.duckdb", root,
             root);
    assert_int_equal(system(command), 0);
    pid_t owner = fixture_owner_start(root);
    store = fixture_store(root);
    uint64_t beside = metrics_store_begin_run(store, "e", "beside");
    metrics_store_scalar(store, beside, "x", 1, 1.0);
    metrics_store_end_run(store, beside);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 1);
    MetricsReader *reader = metrics_reader_create(store);
    MetricsRuns runs;
    assert_true(metrics_read_runs(reader, &runs));
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.items[0].state, METRICS_RUN_STATE_RUNNING);
    assert_true(metrics_reader_snapshot_us(reader) > 0);
    metrics_runs_free(&runs);
    assert_false(metrics_store_set_deleted(store, run, true));
    assert_int_equal(fixture_log_count(LOG_METRICS_CHANGE_FAILED), 1);
    fixture_owner_end(owner);
    /* It takes the place, takes its own rows over, and then reads live. */
    for (int wait = 0; wait < 24000; wait++) {
        MetricsStatus status;
        metrics_store_status(store, &status);
        if (status.mode == METRICS_MODE_OWNER)
            break;
        usleep(5000);
    }
    metrics_store_scalar(store, beside, "x", 2, 1.0);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 3);
    assert_true(metrics_read_runs(reader, &runs));
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.items[0].state, METRICS_RUN_STATE_INTERRUPTED);
    assert_int_equal(metrics_reader_snapshot_us(reader), 0);
    metrics_runs_free(&runs);
    metrics_reader_destroy(&reader);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOLING), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_OWNS), 1);
}

static void test_damaged_spool_files_are_kept(void **state)
{
    (void)state;
    pid_t owner = fixture_owner_start(root);
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 1, 1.0);
    metrics_store_flush(store, 120000);
    metrics_store_scalar(store, run, "x", 2, 2.0);
    metrics_store_flush(store, 120000);
    metrics_store_scalar(store, run, "x", 3, 3.0);
    metrics_store_destroy(&store);
    fixture_owner_end(owner);
    const char *spool = fixture_path(root, "spool");
    char command[600];
    /* One byte in the second frame's row: begin and first scalar make the first one or two. */
    snprintf(
        command, sizeof command,
        "f=$(ls %s/*.spool) && printf '\\377' | dd of=\"$f\" bs=1 seek=$(($(stat -c %%s \"$f\") "
        "- 150)) conv=notrunc status=none",
        spool);
    assert_int_equal(system(command), 0);
    store = fixture_store(root);
    int64_t rows = fixture_query(store, "SELECT count(*) FROM scalars");
    assert_int_equal(rows, 2);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars WHERE value = 3"), 1);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_FRAME_DAMAGED), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_DAMAGED), 1);
    snprintf(command, sizeof command, "test 1 = $(ls %s/*.spool.damaged | wc -l)", spool);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_older_file_is_migrated, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_root_that_may_not_be_written, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_version_1_gets_texts, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_newer_file_is_only_read, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_damaged_file_is_moved_aside, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_snapshots_for_other_processes, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_spool_files_are_kept, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
