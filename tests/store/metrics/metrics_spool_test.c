/* Spool files that cannot be taken over whole: one line, the rest is taken over, and the file
 * stays. What was made in a data root is durable by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/metrics/row.h"
#include "store/metrics/spool.h"

static char *const root = fixture_folder;

static void wait_for(LogItem item, uint32_t count)
{
    for (int i = 0; i < 30000 && fixture_log_count(item) < count; i++)
        usleep(1000);
    assert_int_equal(fixture_log_count(item), count);
}

static void write_begin(SpoolWriter *spool, uint64_t run)
{
    Row row = {.kind = ROW_KIND_BEGIN, .run = run, .wall_us = 1};
    atomic_init(&row.size_and_state, (uint64_t)sizeof row << ROW_STATE_BITS | ROW_STATE_READY);
    assert_true(spool_write(spool, &row, sizeof row));
    assert_true(spool_sync(spool));
}

static void write_strange(SpoolWriter *spool)
{
    static const char bytes[ROW_HEADER_BYTES];
    assert_true(spool_write(spool, bytes, sizeof bytes));
    assert_true(spool_sync(spool));
}

static int files(const char *ending)
{
    char command[600];
    snprintf(command, sizeof command, "exit $(ls %s | grep -c '%s$')", fixture_path(root, "spool"),
             ending);
    int status = system(command);
    return status >> 8;
}

static uint64_t taken_over(MetricsStore *store)
{
    MetricsStatus status;
    metrics_store_status(store, &status);
    return status.rows_taken_over;
}

static void wait_for_rows(MetricsStore *store, uint64_t rows)
{
    for (int i = 0; i < 30000 && taken_over(store) < rows; i++)
        usleep(1000);
    assert_int_equal(taken_over(store), rows);
}

/* A frame that there is never memory for. */
static void test_a_frame_without_room_is_passed_over(void **state)
{
    (void)state;
    SpoolWriter spool;
    assert_true(spool_writer_init(&spool, root, "0123456789abcdef0123456789abcdef"));
    for (uint64_t run = 101; run <= 103; run++)
        write_begin(&spool, run);
    spool_writer_finish(&spool);
    fault_set_plan("metrics.spool.room:1+");
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .start_now = true});
    wait_for(LOG_METRICS_SPOOL_FRAME_PASSED, 1);
    fault_set_plan(NULL);
    wait_for_rows(store, 2);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_FRAME_PASSED), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_DAMAGED), 1);
    assert_int_equal(fixture_number(root, "SELECT sum(id)::BIGINT FROM runs"), 102 + 103);
    assert_int_equal(files(".spool"), 0);
    assert_int_equal(files(".spool.damaged"), 1);
}

/* Damage that was passed over long before the file ends; `plan` fails the keeping of it once. */
static void keep_damage(const char *plan)
{
    SpoolWriter spool;
    MetricsStore *store = fixture_store(root);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 0);
    assert_true(spool_writer_init(&spool, root, "0123456789abcdef0123456789abcdef"));
    write_begin(&spool, 101);
    fault_set_plan(plan);
    write_strange(&spool);
    wait_for(LOG_METRICS_SPOOL_DAMAGED, 1);
    fault_set_plan(NULL);
    write_begin(&spool, 102);
    wait_for_rows(store, 2);
    assert_int_equal(files(".spool"), 1);
    spool_writer_finish(&spool);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_FRAME_DAMAGED), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_DAMAGED), 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 2);
    assert_int_equal(files(".spool"), 0);
    assert_int_equal(files(".spool.damaged"), 1);
}

static void test_damage_in_a_file_that_grows_is_kept(void **state)
{
    (void)state;
    keep_damage(NULL);
}

static void test_damage_is_kept_before_it_is_passed_over(void **state)
{
    (void)state;
    keep_damage("metrics.spool.aside:1");
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_UNREADABLE), 1);
}

/* A file system without second names, as FAT is: the damage is known to whoever ends the file, and
 * nothing that lies at the name is written over. */
static void keep_damage_without_links(const char *lies_there)
{
    SpoolWriter spool;
    char command[1400];
    MetricsStore *store = fixture_store(root);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 0);
    assert_true(spool_writer_init(&spool, root, "0123456789abcdef0123456789abcdef"));
    write_begin(&spool, 101);
    wait_for_rows(store, 1);
    const char *folder = fixture_path(root, "spool");
    snprintf(command, sizeof command,
             "cd %s && f=$(ls *.spool) && if [ -n '%s' ]; then echo '%s' > $f.damaged; fi", folder,
             lies_there, lies_there);
    assert_int_equal(system(command), 0);
    fault_set_plan("metrics.spool.link:1+");
    write_strange(&spool);
    wait_for(LOG_METRICS_SPOOL_FRAME_DAMAGED, 1);
    fault_set_plan(NULL);
    write_begin(&spool, 102);
    wait_for_rows(store, 2);
    metrics_store_destroy(&store); /* what it had in memory is gone; the file's writer lives */
    snprintf(command, sizeof command, "cp %s/*.spool %s/whole", folder, root);
    assert_int_equal(system(command), 0);
    spool_writer_finish(&spool);
    store = fixture_store(root);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM runs"), 2);
    metrics_store_destroy(&store);
    assert_int_equal(files(".spool"), 0);
    snprintf(command, sizeof command, "cmp %s/whole %s/*.spool.damaged%s", root, folder,
             *lies_there != '\0' ? "-1" : "");
    assert_int_equal(system(command), 0);
    if (*lies_there == '\0')
        return;
    snprintf(command, sizeof command, "test \"$(cat %s/*.spool.damaged)\" = '%s'", folder,
             lies_there);
    assert_int_equal(system(command), 0);
}

static void test_damage_is_kept_without_second_names(void **state)
{
    (void)state;
    keep_damage_without_links("");
    assert_int_equal(fixture_log_count(LOG_METRICS_SPOOL_DAMAGED), 1);
}

static void test_what_lies_at_the_name_stays(void **state)
{
    (void)state;
    keep_damage_without_links("of somebody else");
}

/* Each flush of the data root that fails is seen, and made good by the next try. */
static void test_new_names_are_flushed(void **state)
{
    (void)state;
    fault_set_plan("store.database.sync:1");
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    assert_true(run != 0);
    assert_true(metrics_store_flush(store, 20000));
    assert_int_equal(fault_injected(), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_WRITING_FAILS), 1);
    metrics_store_destroy(&store);
    pid_t owner = fixture_owner_start(root);
    fault_set_plan("metrics.session.sync:1");
    store = fixture_store(root);
    assert_true(metrics_store_begin_run(store, "e", "n") > run);
    assert_true(metrics_store_flush(store, 20000));
    assert_int_equal(fault_injected(), 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_WRITING_FAILS), 2);
    fixture_owner_end(owner);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_frame_without_room_is_passed_over, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damage_in_a_file_that_grows_is_kept, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_kept_before_it_is_passed_over,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damage_is_kept_without_second_names, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_what_lies_at_the_name_stays, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_new_names_are_flushed, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
