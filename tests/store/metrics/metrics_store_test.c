/* The store as its callers see it: what is kept, in which order, and what is refused. */
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

static void test_order_and_duplicates(void **state)
{
    (void)state;
    static const int64_t steps[] = {5, 5, 3, 9, 3, -7, INT64_MAX, INT64_MIN, 0};
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "exp", "one");
    assert_int_equal(run, 1);
    for (int i = 0; i < 9; i++)
        metrics_store_scalar(store, run, "loss", steps[i], i);
    metrics_store_end_run(store, run);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 9);
    assert_string_equal(
        fixture_text(root, "SELECT string_agg(step::VARCHAR, ' ' ORDER BY seq) FROM scalars"),
        "5 5 3 9 3 -7 9223372036854775807 -9223372036854775808 0");
    /* The values were 0 to 8 in the order of the calls, and a number is given out once. */
    assert_string_equal(
        fixture_text(root, "SELECT string_agg(value::INTEGER::VARCHAR, '' ORDER BY seq) FROM "
                           "scalars"),
        "012345678");
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT seq) FROM scalars"), 9);
}

static void test_special_values_are_kept(void **state)
{
    (void)state;
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0, DBL_MAX, DBL_TRUE_MIN};
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, NULL, NULL);
    for (int i = 0; i < 6; i++)
        metrics_store_scalar(store, run, "v", i, values[i]);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT experiment || '|' || name FROM runs"), "|");
    assert_true(isnan(fixture_real(root, "SELECT value FROM scalars WHERE step = 0")));
    for (int i = 1; i < 6; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "SELECT value FROM scalars WHERE step = %d", i);
        double got = fixture_real(root, sql);
        assert_memory_equal(&got, &values[i], sizeof got);
    }
}

static void test_unknown_runs(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int i = 0; i < 10; i++) {
        metrics_store_scalar(store, 777, "x", i, 1.0);
        metrics_store_scalar(store, 0, "x", i, 1.0);
        metrics_store_histogram(store, 777, "x", i, NULL, 0);
        metrics_store_image(store, 777, "x", i, NULL);
        metrics_store_hparams(store, 777, "{}");
        metrics_store_end_run(store, UINT64_MAX);
    }
    assert_int_equal(fixture_log_count(LOG_METRICS_UNKNOWN_RUN), 3);
    metrics_store_scalar(store, run, "x", 1, 1.0);
    for (uint64_t id = 1000; id < 4000; id++)
        metrics_store_scalar(store, id, "x", 0, 0.0);
    assert_int_equal(fixture_log_count(LOG_METRICS_UNKNOWN_RUN), 1024);
    assert_int_equal(fixture_log_count(LOG_METRICS_UNKNOWN_RUNS_MUTED), 1);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 1);
}

static void test_hparams(void **state)
{
    (void)state;
    static const char verbatim[] =
        " {\"lr\": 1e-3,\n\t\"layers\": [64, 64], \"name\": \"\\u00e4\" } ";
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_hparams(store, run, "{\"old\": true}");
    metrics_store_hparams(store, run, verbatim);
    metrics_store_hparams(store, run, "{\"lr\": 1,}");
    metrics_store_hparams(store, run, NULL);
    metrics_store_hparams(store, run, "");
    assert_int_equal(fixture_log_count(LOG_METRICS_HPARAMS_REFUSED), 3);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT hparams FROM runs"), verbatim);
}

static void test_histograms(void **state)
{
    (void)state;
    float values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = (float)i * 0.25f;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_histogram(store, run, "w", 1, values, 1000);
    metrics_store_histogram(store, run, "w", 2, values, 0);
    metrics_store_histogram(store, run, "w", 3, NULL, 0);
    metrics_store_histogram(store, run, "w", 4, values, -1);
    metrics_store_histogram(store, run, "w", 5, NULL, 1);
    assert_int_equal(fixture_log_count(LOG_METRICS_HISTOGRAM_REFUSED), 2);
    metrics_store_histogram(store, run, "w", 6, values, INT64_MAX);
    metrics_store_histogram(store, run, "w", 7, values, INT64_MAX / 4);
    assert_int_equal(fixture_log_count(LOG_METRICS_TOO_LARGE), 2);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT string_agg(step || ':' || count || ':' || "
                                           "octet_length(data), ' ' ORDER BY seq) FROM histograms"),
                        "1:1000:4000 2:0:0 3:0:0");
    /* 0.25f is 3e800000, little-endian 00 00 80 3e. */
    assert_string_equal(fixture_text(root, "SELECT hex(data[5:8]) FROM histograms WHERE step = 1"),
                        "0000803E");
}

static CaliperTensor picture(uint8_t *bytes, int64_t height, int64_t width, int64_t channels)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = bytes,
                            .dtype = CALIPER_DT_U8,
                            .ndim = 3,
                            .shape = {height, width, channels},
                            .strides = {width * channels, channels, 1},
                            .device = CALIPER_DEV_CPU};
    return tensor;
}

static void test_images(void **state)
{
    (void)state;
    uint8_t bytes[3 * 5 * 4];
    for (int i = 0; i < 60; i++)
        bytes[i] = (uint8_t)(i * 4);
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int64_t channels = 1; channels <= 4; channels++) {
        CaliperTensor tensor = picture(bytes, 3, 5, channels);
        metrics_store_image(store, run, "i", channels, &tensor);
    }
    CaliperTensor odd = picture(bytes, 1, 5, 1);
    odd.strides[0] = -12345; /* of an extent of 1: not compared */
    metrics_store_image(store, run, "i", 5, &odd);
    metrics_store_image(store, run, "i", 9, NULL);
    for (int i = 0; i < 12; i++) {
        CaliperTensor bad = picture(bytes, 3, 5, 3);
        switch (i) {
        case 0:
            bad.struct_size = 8;
            break;
        case 1:
            bad.data = NULL;
            break;
        case 2:
            bad.dtype = CALIPER_DT_F32;
            break;
        case 3:
            bad.device = CALIPER_DEV_CUDA;
            break;
        case 4:
            bad.ndim = 2;
            break;
        case 5:
            bad.shape[2] = 5;
            bad.strides[1] = 5;
            bad.strides[0] = 25;
            break;
        case 6:
            bad.shape[0] = 0;
            break;
        case 7:
            bad.shape[1] = -1;
            break;
        case 8:
            bad.strides[0] = 16;
            break;
        case 9:
            bad.strides[2] = 2;
            break;
        case 10:
            bad.shape[0] = INT64_MAX;
            break;
        default:
            bad.ndim = 4;
            break;
        }
        metrics_store_image(store, run, "i", 10 + i, &bad);
    }
    assert_int_equal(fixture_log_count(LOG_METRICS_IMAGE_REFUSED), 13);
    CaliperTensor huge = picture(bytes, INT32_MAX, INT32_MAX, 4);
    metrics_store_image(store, run, "i", 90, &huge);
    assert_int_equal(fixture_log_count(LOG_METRICS_TOO_LARGE), 1);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT string_agg(w || 'x' || h || 'x' || c || ':' || "
                                           "octet_length(data), ' ' ORDER BY seq) FROM images"),
                        "5x3x1:15 5x3x2:30 5x3x3:45 5x3x4:60 5x1x1:5");
    assert_string_equal(fixture_text(root, "SELECT hex(data[1:4]) FROM images WHERE step = 3"),
                        "0004080C");
}

static void test_times_and_ends(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t done = metrics_store_begin_run_at(store, "e", "done", 1000000);
    metrics_store_scalar_at(store, done, "x", 1, 2.0, 1500000);
    metrics_store_end_run_at(store, done, 2000000);
    metrics_store_end_run_at(store, done, 9000000);             /* the first one counts */
    metrics_store_scalar_at(store, done, "x", 2, 3.0, 2500000); /* late, and kept */
    uint64_t open = metrics_store_begin_run(store, "e", "open");
    assert_true(open > done);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT string_agg(id || ':' || done || ':' || "
                                           "coalesce(epoch_us(ended_at)::VARCHAR, '-'), ' ' ORDER "
                                           "BY id) FROM runs"),
                        "1:true:2000000 2:false:-");
    assert_int_equal(fixture_number(root, "SELECT epoch_us(started_at) FROM runs WHERE id = 1"),
                     1000000);
    assert_int_equal(fixture_number(root, "SELECT sum(epoch_us(wall_time))::BIGINT FROM scalars"),
                     4000000);
    assert_int_equal(fixture_number(root, "SELECT run FROM interrupted_runs"), (int64_t)open);
}

static void test_numbers_go_on(void **state)
{
    (void)state;
    for (uint64_t life = 0; life < 3; life++) {
        MetricsStore *store = fixture_store(root);
        for (uint64_t i = 1; i <= 100; i++)
            assert_int_equal(metrics_store_begin_run(store, "e", "n"), life * 100 + i);
        metrics_store_destroy(&store);
    }
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 300);
    /* The file that counts is lost: the numbers still grow. */
    assert_int_equal(remove(fixture_path(root, "metrics.ids")), 0);
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "later");
    assert_true(run > 300);
    metrics_store_destroy(&store);
    /* It is back, but from a backup: older than the tables. */
    assert_int_equal(remove(fixture_path(root, "metrics.ids")), 0);
    store = fixture_store(root);
    uint64_t later = metrics_store_begin_run(store, "e", "later");
    assert_true(later > run);
    metrics_store_destroy(&store);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT id) FROM runs"), 302);
}

static void test_text_that_is_not_utf8(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "a\xff", "\xc3\xa4");
    metrics_store_scalar(store, run, "t\xe2\x28", 1, 1.0);
    metrics_store_scalar(store, run, NULL, 2, 1.0);
    metrics_store_destroy(&store);
    assert_string_equal(fixture_text(root, "SELECT experiment || name FROM runs"),
                        "a\xef\xbf\xbd\xc3\xa4");
    assert_string_equal(fixture_text(root, "SELECT tag FROM scalars WHERE step = 1"),
                        "t\xef\xbf\xbd(");
    assert_string_equal(fixture_text(root, "SELECT '<' || tag || '>' FROM scalars WHERE step = 2"),
                        "<>");
}

static void test_query_sees_all_before_it(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int i = 1; i <= 50; i++) {
        metrics_store_scalar(store, run, "x", i, 1.0);
        assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), i);
    }
    struct ArrowArrayStream kept;
    struct ArrowArrayStream untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    struct ArrowArrayStream before = untouched;
    assert_true(metrics_store_query(store, "SELECT step FROM scalars ORDER BY step", &kept));
    assert_string_equal(metrics_store_last_error(), "");
    assert_false(metrics_store_query(store, "DELETE FROM scalars", &untouched));
    assert_true(strlen(metrics_store_last_error()) > 0);
    assert_false(metrics_store_query(store, "SELECT 1; SELECT 2", &untouched));
    assert_false(metrics_store_query(store, NULL, &untouched));
    assert_false(metrics_store_query(store, "SELECT 1", NULL));
    assert_memory_equal(&untouched, &before, sizeof before);
    assert_int_equal(fixture_log_count(LOG_METRICS_QUERY_REFUSED), 4);
    /* Later writes do not disturb a stream, and refused statements not the writer. */
    for (int i = 51; i <= 60; i++)
        metrics_store_scalar(store, run, "x", i, 1.0);
    metrics_store_end_run(store, run);
    int64_t rows = 0;
    struct ArrowArray batch;
    while (kept.get_next(&kept, &batch) == 0 && batch.release != NULL) {
        rows += batch.length;
        batch.release(&batch);
    }
    kept.release(&kept);
    assert_int_equal(rows, 50);
    assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars"), 60);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_int_equal(status.mode, METRICS_MODE_OWNER);
    assert_int_equal(status.state, METRICS_STATE_FINE);
    assert_int_equal(status.rows_accepted, 62);
    assert_int_equal(status.rows_committed, 62);
    assert_string_equal(status.text, "");
    metrics_store_destroy(&store);
}

static void test_end_run_is_durable(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int i = 0; i < 5000; i++)
        metrics_store_scalar(store, run, "x", i, 1.0);
    metrics_store_end_run(store, run);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_int_equal(status.rows_committed, 5002);
    assert_true(status.last_lag_ms > 0.0);
    metrics_store_destroy(&store);
}

static void test_nothing_is_touched_without_need(void **state)
{
    (void)state;
    MetricsStore *store = fixture_store(root);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_int_equal(status.mode, METRICS_MODE_IDLE);
    assert_true(metrics_store_flush(store, 1000));
    metrics_store_destroy(&store);
    metrics_store_destroy(&store);
    metrics_store_destroy(NULL);
    assert_int_equal(store_folder_count(root, ""), 0);
}

/* Beside an owner rows count as durable when the spool file was flushed, not when it was written;
 * and what is written again after a flush that failed is there once, in order. */
static void test_spooled_rows_wait_for_the_flush(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    pid_t owner = fixture_owner_start(root);
    MetricsStatus status;
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    metrics_store_scalar(store, run, "x", 0, 0.0);
    assert_true(metrics_store_flush(store, 120000));
    metrics_store_status(store, &status);
    assert_int_equal(status.mode, METRICS_MODE_SPOOL);
    assert_true(fault_set_plan("metrics.spool.sync:1+"));
    for (int i = 1; i <= ROWS; i++) {
        metrics_store_scalar(store, run, "x", i, i);
        if (i % (ROWS / 4) == 0)
            assert_false(metrics_store_flush(store, 200));
    }
    metrics_store_status(store, &status);
    assert_int_not_equal(status.state, METRICS_STATE_FINE);
    assert_true(fault_set_plan(NULL));
    assert_true(metrics_store_flush(store, 120000));
    metrics_store_status(store, &status);
    assert_int_equal(status.state, METRICS_STATE_FINE);
    assert_int_equal(status.rows_dropped, 0);
    fixture_owner_end(owner);
    metrics_store_destroy(&store); /* the owner now, and takes its own rows over */
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), ROWS + 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM (SELECT step, lag(step, 1, -1) "
                                          "OVER (ORDER BY seq) AS b FROM scalars) WHERE step <> b "
                                          "+ 1"),
                     0);
}

/* Two stores of one process on one data root: the second waits for the first to end, and each row
 * is there once. */
static void test_two_stores_of_one_process(void **state)
{
    (void)state;
    MetricsStatus status;
    MetricsStore *first = fixture_store(root);
    uint64_t run = metrics_store_begin_run(first, "e", "first");
    metrics_store_scalar(first, run, "x", 0, 0.0);
    assert_true(metrics_store_flush(first, 120000));
    MetricsStore *second = fixture_store(root);
    uint64_t other = metrics_store_begin_run(second, "e", "second");
    assert_int_not_equal(other, run);
    for (int i = 0; i < 100; i++)
        metrics_store_scalar(second, other, "y", i, i);
    assert_false(metrics_store_flush(second, 300));
    metrics_store_status(second, &status);
    assert_non_null(strstr(status.text, "open in this process already"));
    for (int i = 1; i < 100; i++)
        metrics_store_scalar(first, run, "x", i, i);
    assert_true(metrics_store_flush(first, 120000));
    metrics_store_destroy(&first);
    assert_true(metrics_store_flush(second, 120000));
    metrics_store_destroy(&second);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 200);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT (run, step)) FROM scalars"), 200);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT seq) FROM scalars"), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_and_duplicates, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_special_values_are_kept, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_runs, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_hparams, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_histograms, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_images, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_times_and_ends, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_go_on, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_text_that_is_not_utf8, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_query_sees_all_before_it, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_end_run_is_durable, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_touched_without_need, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_spooled_rows_wait_for_the_flush, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_two_stores_of_one_process, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
