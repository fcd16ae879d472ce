/* Reading back: runs and their states, tags, curves in windows and buckets, histograms, images. The
 * numbers expected are worked out here, from what was logged. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include <stdlib.h>
#include <string.h>

#include "store/metrics/metrics_read.h"

static char root[256];
static MetricsStore *store;
static MetricsReader *reader;

static int set_up(void **state)
{
    (void)state;
    fixture_root(root);
    fixture_log_start();
    store = fixture_store(root);
    reader = metrics_reader_create(store);
    return reader != NULL ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    metrics_reader_destroy(&reader);
    metrics_store_destroy(&store);
    fixture_log_stop();
    store_folder_remove(root);
    return 0;
}

static void test_runs(void **state)
{
    (void)state;
    uint64_t done = metrics_store_begin_run_at(store, "e1", "done", 5000000);
    metrics_store_hparams(store, done, "{\"lr\": 1}");
    metrics_store_end_run_at(store, done, 7000000);
    uint64_t running = metrics_store_begin_run(store, "e2", "running");
    assert_true(metrics_store_flush(store, 120000));
    assert_true(metrics_store_set_note(store, done, "a \"note\"; it's long"));
    assert_true(metrics_store_set_note(store, done, "better"));
    assert_true(metrics_store_set_deleted(store, running, true));
    MetricsRuns runs;
    assert_true(metrics_read_runs(reader, &runs));
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.items[0].id, done);
    assert_string_equal(runs.items[0].experiment, "e1");
    assert_string_equal(runs.items[0].name, "done");
    assert_string_equal(runs.items[0].hparams, "{\"lr\": 1}");
    assert_string_equal(runs.items[0].note, "better");
    assert_int_equal(runs.items[0].state, METRICS_RUN_STATE_DONE);
    assert_int_equal(runs.items[0].started_us, 5000000);
    assert_int_equal(runs.items[0].ended_us, 7000000);
    assert_false(runs.items[0].deleted);
    assert_int_equal(runs.items[1].state, METRICS_RUN_STATE_RUNNING);
    assert_null(runs.items[1].hparams);
    assert_string_equal(runs.items[1].note, "");
    assert_int_equal(runs.items[1].ended_us, 0);
    assert_true(runs.items[1].deleted);
    metrics_runs_free(&runs);
    assert_true(metrics_store_set_deleted(store, running, false));
    assert_true(metrics_read_runs(reader, &runs));
    assert_false(runs.items[1].deleted);
    metrics_runs_free(&runs);
}

static void test_tags(void **state)
{
    (void)state;
    static const float values[2] = {1, 2};
    uint64_t a = metrics_store_begin_run(store, "e", "a");
    uint64_t b = metrics_store_begin_run(store, "e", "b");
    for (int i = 0; i < 5; i++)
        metrics_store_scalar(store, a, "loss", 10 - i, i);
    metrics_store_scalar(store, b, "loss", 3, 1);
    metrics_store_histogram(store, b, "w", 4, values, 2);
    assert_true(metrics_store_flush(store, 120000));
    MetricsTags tags;
    assert_true(metrics_read_tags(reader, 0, &tags));
    assert_int_equal(tags.count, 3);
    assert_int_equal(tags.items[0].run, a);
    assert_string_equal(tags.items[0].tag, "loss");
    assert_int_equal(tags.items[0].rows, 5);
    assert_int_equal(tags.items[0].first_step, 6);
    assert_int_equal(tags.items[0].last_step, 10);
    assert_int_equal(tags.items[1].run, b);
    assert_int_equal(tags.items[2].kind, METRICS_KIND_HISTOGRAM);
    metrics_tags_free(&tags);
    assert_true(metrics_read_tags(reader, b, &tags));
    assert_int_equal(tags.count, 2);
    metrics_tags_free(&tags);
}

static void test_few_rows_come_one_by_one(void **state)
{
    (void)state;
    static const int64_t steps[] = {1, 3, 2, 2};
    static const double values[] = {1.0, NAN, INFINITY, -4.0};
    uint64_t run = metrics_store_begin_run_at(store, "e", "n", 1000000);
    for (int i = 0; i < 4; i++)
        metrics_store_scalar_at(store, run, "x", steps[i], values[i], 2000000 + i * 500000);
    metrics_store_scalar(store, run, "other", 1, 1);
    assert_true(metrics_store_flush(store, 120000));
    MetricsWindow window = {.runs = &run, .run_count = 1, .tag = "x", .buckets = 100};
    MetricsScalars scalars;
    assert_true(metrics_read_scalars(reader, &window, &scalars));
    assert_int_equal(scalars.count, 4); /* steps 1 2 2 3: rows 0, 2, 3, 1 */
    assert_true(scalars.items[0].last == 1.0 && scalars.items[0].first_x == 1.0);
    assert_true(isinf(scalars.items[1].last) && scalars.items[1].gaps == 1);
    assert_true(isnan(scalars.items[1].least));
    assert_true(scalars.items[2].last == -4.0 && scalars.items[2].last_x == 2.0);
    assert_true(isnan(scalars.items[3].last) && scalars.items[3].rows == 1);
    metrics_scalars_free(&scalars);
    window.axis = METRICS_AXIS_RELATIVE; /* 1.0 1.5 2.0 2.5 seconds after the beginning */
    window.has_range = true;
    window.from = 1.5;
    window.to = 2.0;
    assert_true(metrics_read_scalars(reader, &window, &scalars));
    assert_int_equal(scalars.count, 2);
    assert_true(scalars.items[0].first_x == 1.5 && scalars.items[1].first_x == 2.0);
    assert_int_equal(scalars.items[1].last_wall_us, 3000000);
    metrics_scalars_free(&scalars);
    window.axis = METRICS_AXIS_ARRIVAL;
    window.has_range = false;
    window.after_seq = 2;
    assert_true(metrics_read_scalars(reader, &window, &scalars));
    assert_int_equal(scalars.count, 2);
    assert_int_equal(scalars.items[0].last_seq, 3);
    metrics_scalars_free(&scalars);
}

/* 10 000 rows in ten buckets: each bucket against a loop over its thousand. */
static void test_many_rows_come_in_buckets(void **state)
{
    (void)state;
    enum { ROWS = 10000, BUCKETS = 10, EACH = ROWS / BUCKETS };
    static double values[ROWS];
    uint64_t runs[2] = {metrics_store_begin_run(store, "e", "a"),
                        metrics_store_begin_run(store, "e", "b")};
    for (int i = 0; i < ROWS; i++) {
        values[i] = sin(i * 0.37) * i;
        if (i % 1500 == 7)
            values[i] = NAN;
        metrics_store_scalar(store, runs[0], "x", i, values[i]);
    }
    metrics_store_scalar(store, runs[1], "x", 5000, 42.0);
    assert_true(metrics_store_flush(store, 120000));
    /* Half-open parts of 0..10000, so that the bounds fall between the steps. */
    MetricsWindow window = {.runs = runs,
                            .run_count = 2,
                            .tag = "x",
                            .buckets = BUCKETS,
                            .has_range = true,
                            .from = 0,
                            .to = ROWS};
    MetricsScalars scalars;
    assert_true(metrics_read_scalars(reader, &window, &scalars));
    assert_int_equal(scalars.count, BUCKETS + 1);
    for (int b = 0; b < BUCKETS; b++) {
        const MetricsBucket *bucket = &scalars.items[b];
        double least = INFINITY;
        double greatest = -INFINITY;
        double sum = 0;
        uint64_t gaps = 0;
        for (int i = b * EACH; i < (b + 1) * EACH; i++) {
            gaps += isnan(values[i]) ? 1 : 0;
            if (isnan(values[i]))
                continue;
            least = fmin(least, values[i]);
            greatest = fmax(greatest, values[i]);
            sum += values[i];
        }
        assert_int_equal(bucket->run, runs[0]);
        assert_int_equal(bucket->rows, EACH);
        assert_int_equal(bucket->gaps, gaps);
        assert_true(bucket->first_x == b * EACH && bucket->last_x == (b + 1) * EACH - 1);
        assert_true(bucket->least == least && bucket->greatest == greatest);
        assert_true(fabs(bucket->mean - sum / (double)(EACH - gaps)) < 1e-9 * ROWS);
        assert_true(bucket->first == values[b * EACH]);
        assert_true(bucket->last == values[(b + 1) * EACH - 1]);
        assert_int_equal(bucket->last_step, (b + 1) * EACH - 1);
    }
    assert_int_equal(scalars.items[BUCKETS].run, runs[1]);
    assert_true(scalars.items[BUCKETS].last == 42.0);
    metrics_scalars_free(&scalars);
    /* Without a range the ends are those of the rows, and nothing is left out. */
    window.has_range = false;
    assert_true(metrics_read_scalars(reader, &window, &scalars));
    uint64_t rows = 0;
    for (uint32_t i = 0; i < scalars.count; i++)
        rows += scalars.items[i].rows;
    assert_int_equal(rows, ROWS + 1);
    assert_int_equal(scalars.count, BUCKETS + 1);
    metrics_scalars_free(&scalars);
}

static void test_windows_that_are_none(void **state)
{
    (void)state;
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    MetricsScalars scalars;
    MetricsWindow good = {.runs = &run, .run_count = 1, .tag = "x", .buckets = 10};
    for (int i = 0; i < 6; i++) {
        MetricsWindow window = good;
        switch (i) {
        case 0:
            window.run_count = 0;
            break;
        case 1:
            window.tag = NULL;
            break;
        case 2:
            window.buckets = 0;
            break;
        case 3:
            window.buckets = METRICS_BUCKETS_MAX + 1;
            break;
        case 4:
            window.has_range = true;
            window.from = 2;
            window.to = 1;
            break;
        default:
            window.has_range = true;
            window.from = NAN;
            break;
        }
        assert_false(metrics_read_scalars(reader, &window, &scalars));
        assert_int_equal(scalars.count, 0);
        assert_true(strlen(metrics_reader_error(reader)) > 0);
    }
    assert_int_equal(fixture_log_count(LOG_METRICS_READ_FAILED), 6);
    assert_true(metrics_read_scalars(reader, &good, &scalars));
    assert_int_equal(scalars.count, 0);
    metrics_scalars_free(&scalars);
    fault_set_plan("metrics.read.alloc:1,store.session:1");
    MetricsRuns runs;
    while (!metrics_read_runs(reader, &runs))
        assert_true(fault_injected() > 0);
    metrics_runs_free(&runs);
}

static void test_histograms_and_images(void **state)
{
    (void)state;
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int step = 0; step < 100; step++) {
        float values[3] = {(float)step, 1, 2};
        metrics_store_histogram(store, run, "w", step, values, 3);
    }
    metrics_store_histogram(store, run, "w", 100, NULL, 0);
    uint8_t pixels[6] = {1, 2, 3, 4, 5, 6};
    CaliperTensor picture = {.struct_size = sizeof picture,
                             .data = pixels,
                             .dtype = CALIPER_DT_U8,
                             .ndim = 3,
                             .shape = {1, 2, 3},
                             .strides = {6, 3, 1}};
    metrics_store_image(store, run, "p", 8, &picture);
    metrics_store_image(store, run, "p", 4, &picture);
    assert_true(metrics_store_flush(store, 120000));
    MetricsHistograms histograms;
    assert_true(metrics_read_histograms(reader, run, "w", 0, 1000, 11, &histograms));
    assert_int_equal(histograms.rows, 101);
    assert_int_equal(histograms.count, 11);
    assert_int_equal(histograms.items[0].step, 0);
    assert_int_equal(histograms.items[10].step, 100);
    assert_int_equal(histograms.items[10].count, 0);
    assert_int_equal(histograms.items[5].count, 3);
    assert_true(histograms.items[5].values[0] == (float)histograms.items[5].step);
    metrics_histograms_free(&histograms);
    assert_true(metrics_read_histograms(reader, run, "w", 10, 19, 100, &histograms));
    assert_int_equal(histograms.count, 10);
    metrics_histograms_free(&histograms);
    MetricsImages images;
    assert_true(metrics_read_image_list(reader, run, "p", &images));
    assert_int_equal(images.count, 2);
    assert_int_equal(images.items[0].step, 4);
    assert_int_equal(images.items[0].width, 2);
    assert_null(images.items[0].bytes);
    int64_t seq = images.items[1].seq;
    metrics_images_free(&images);
    assert_true(metrics_read_image(reader, run, seq, &images));
    assert_int_equal(images.count, 1);
    assert_int_equal(images.items[0].step, 8);
    assert_memory_equal(images.items[0].bytes, pixels, 6);
    metrics_images_free(&images);
    assert_true(metrics_read_image(reader, run, 999999, &images));
    assert_int_equal(images.count, 0);
    metrics_images_free(&images);
}

/* Kept to the byte, zeros inside too; what is no UTF-8 becomes U+FFFD; the first characters of a
 * long one, never half of one. */
static void test_texts(void **state)
{
    (void)state;
    static const char words[] = "naive\0 and \xc3\xa9\n", broken[] = "a\xff"
                                                                     "b";
    MetricsTexts texts;
    MetricsTags tags;
    size_t long_bytes = 200001;
    char *given = malloc(long_bytes);
    assert_non_null(given);
    given[0] = 'x';
    for (size_t i = 1; i < long_bytes; i += 2)
        memcpy(given + i, "\xc3\xa9", 2);
    uint64_t run = metrics_store_begin_run(store, "e", "texts");
    metrics_store_text_at(store, run, "said", 9, words, sizeof words - 1, 5000000);
    metrics_store_text_at(store, run, "said", 4, broken, sizeof broken - 1, 6000000);
    metrics_store_text_at(store, run, "said", 9, given, long_bytes, 7000000);
    metrics_store_text_at(store, run, "said", -1, NULL, 0, 8000000);
    metrics_store_text_at(store, run + 1, "said", 1, "none", 4, 8000000);
    metrics_store_end_run(store, run);
    assert_int_equal(fixture_log_count(LOG_METRICS_UNKNOWN_RUN), 1);
    assert_true(metrics_read_tags(reader, run, &tags));
    assert_int_equal(tags.count, 1);
    assert_int_equal(tags.items[0].kind, METRICS_KIND_TEXT);
    assert_true(tags.items[0].rows == 4 && tags.items[0].first_step == -1 &&
                tags.items[0].last_step == 9);
    metrics_tags_free(&tags);
    assert_true(metrics_read_news(reader, 3, &tags));
    assert_int_equal(tags.count, 1);
    assert_int_equal(tags.items[0].rows, 1);
    metrics_tags_free(&tags);
    static const struct {
        int64_t step, wall_us;
        uint64_t bytes;
        const char *value;
        uint64_t value_bytes;
    } wanted[] = {{-1, 8000000, 0, "", 0},
                  {4, 6000000, 5,
                   "a\xef\xbf\xbd"
                   "b",
                   5},
                  {9, 5000000, sizeof words - 1, words, sizeof words - 1},
                  {9, 7000000, 200001,
                   "x\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                   "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                   "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                   39}};
    assert_true(metrics_read_text_list(reader, run, "said", &texts));
    assert_int_equal(texts.count, 4);
    for (uint32_t i = 0; i < texts.count; i++) {
        MetricsTexts one;
        assert_null(texts.items[i].value);
        assert_int_equal(texts.items[i].bytes, wanted[i].bytes);
        assert_true(metrics_read_text(reader, run, texts.items[i].seq, 20, &one));
        assert_int_equal(one.count, 1);
        assert_true(one.items[0].step == wanted[i].step &&
                    one.items[0].wall_us == wanted[i].wall_us);
        assert_int_equal(one.items[0].value_bytes, wanted[i].value_bytes);
        assert_memory_equal(one.items[0].value, wanted[i].value, wanted[i].value_bytes + 1);
        metrics_texts_free(&one);
    }
    metrics_texts_free(&texts);
    assert_true(metrics_read_text(reader, run, 999999, 20, &texts));
    assert_int_equal(texts.count, 0);
    metrics_texts_free(&texts);
    free(given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tags, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_few_rows_come_one_by_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_rows_come_in_buckets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_windows_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_histograms_and_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
