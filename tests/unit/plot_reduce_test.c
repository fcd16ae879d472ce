/* tests/unit/plot_reduce_test.c: the index and the reduction against a plain loop over all
 * elements, written here; and the reading and printing of elements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services/plot_cache.h"
#include "services/plot_reduce.h"

static uint64_t state = 1;

static uint32_t rnd(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

static double uniform(void)
{
    return (double)rnd(1u << 24) / (double)(1u << 24);
}

static PlotData checked(const CaliperPlotData *given)
{
    PlotData data;
    PlotDataWrong wrong;
    assert_true(plot_data_check(given, given->y2 != NULL, &data, &wrong));
    return data;
}

/* ---- Elements ---- */

static void every_type_is_read_and_printed_exactly(void **unused)
{
    static const double f64[] = {0.1, (double)NAN, 1e-310};
    static const float f32[] = {0.1f, -INFINITY, 16777217.0f};
    static const int64_t i64[] = {INT64_C(9007199254740993), INT64_MIN, -1};
    static const int32_t i32[] = {2147483647, -5, 0};
    static const uint8_t u8[] = {255, 0, 7};
    static const struct {
        uint32_t type;
        const void *y;
        const char *texts[3];
    } cases[] = {
        {CALIPER_PLOT_TYPE_F64, f64, {"0.1", "nan", "1e-310"}},
        {CALIPER_PLOT_TYPE_F32, f32, {"0.1", "-inf", "16777216"}},
        {CALIPER_PLOT_TYPE_I64, i64, {"9007199254740993", "-9223372036854775808", "-1"}},
        {CALIPER_PLOT_TYPE_I32, i32, {"2147483647", "-5", "0"}},
        {CALIPER_PLOT_TYPE_U8, u8, {"255", "0", "7"}},
    };
    (void)unused;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CaliperPlotData given = {
            .struct_size = sizeof given, .y = cases[k].y, .y_type = cases[k].type, .count = 3};
        PlotData data = checked(&given);
        for (int64_t i = 0; i < 3; i++) {
            char text[48];
            plot_data_print(&data, PLOT_COLUMN_Y, i, text, sizeof text);
            assert_string_equal(text, cases[k].texts[i]);
        }
    }
}

static void rings_strides_and_counted_x(void **unused)
{
    static const struct {
        char pad[3];
        float value;
    } items[] = {{"", 10}, {"", 11}, {"", 12}, {"", 13}};
    CaliperPlotData given = {.struct_size = sizeof given,
                             .y = &items[0].value,
                             .y_type = CALIPER_PLOT_TYPE_F32,
                             .y_stride = sizeof items[0],
                             .count = 4,
                             .first = 7,
                             .x0 = 5.0,
                             .dx = -0.5};
    PlotData data = checked(&given);
    (void)unused;
    assert_true(plot_data_y(&data, 0) == 13.0); /* 7 % 4 */
    assert_true(plot_data_y(&data, 1) == 10.0);
    assert_true(plot_data_x(&data, 3) == 3.5);
    given.first = -1;
    data = checked(&given);
    assert_true(plot_data_y(&data, 0) == 13.0);
    given.y = &items[3].value;
    given.y_stride = -(int64_t)sizeof items[0];
    given.first = 0;
    data = checked(&given);
    assert_true(plot_data_y(&data, 1) == 12.0);
}

static void bad_data_is_refused(void **unused)
{
    double y = 0.0;
    PlotData data;
    PlotDataWrong wrong;
    CaliperPlotData good = {.struct_size = sizeof good, .y = &y, .count = 1}, bad = good;
    (void)unused;
    assert_false(plot_data_check(NULL, false, &data, &wrong));
    bad.struct_size = 8;
    assert_false(plot_data_check(&bad, false, &data, &wrong));
    bad = good;
    bad.y_type = 5;
    assert_false(plot_data_check(&bad, false, &data, &wrong));
    bad = good;
    bad.y = NULL;
    assert_false(plot_data_check(&bad, false, &data, &wrong));
    assert_false(plot_data_check(&good, true, &data, &wrong)); /* no y2 */
    bad = good;
    bad.count = INT64_MAX;
    assert_false(plot_data_check(&bad, false, &data, &wrong));
    bad = good;
    bad.count = -5;
    assert_true(plot_data_check(&bad, false, &data, &wrong));
    assert_int_equal(data.count, 0);
}

/* ---- The index ---- */

static PlotRange plain_range(const PlotData *data, int64_t from, int64_t to, bool positive,
                             int64_t *dropped)
{
    PlotRange range = plot_range_empty();
    for (int64_t place = from; place < to; place++) {
        double value = plot_data_at(data, PLOT_COLUMN_Y, place);
        if (!isfinite(value) || (positive && !(value > 0.0))) {
            (*dropped)++;
            continue;
        }
        range.min = value < range.min ? value : range.min;
        range.max = value > range.max ? value : range.max;
    }
    return range;
}

static void fill(float *y, int64_t count, uint32_t holes)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = holes > 0 && rnd(holes) == 0 ? (rnd(2)   ? NAN
                                               : rnd(2) ? INFINITY
                                                        : -INFINITY)
                                            : (float)(uniform() * 20.0 - 10.0);
}

static void the_index_answers_as_a_loop_does(void **unused)
{
    enum { COUNT = 40000 };
    float *y = malloc(COUNT * sizeof *y);
    (void)unused;
    for (int round = 0; round < 6; round++) {
        bool positive = round % 2 == 1;
        fill(y, COUNT, round < 2 ? 0 : round < 4 ? 3 : 100);
        if (round == 5) /* whole blocks without a value */
            memset(y + 5000, 0xff, 20000 * sizeof *y);
        CaliperPlotData given = {
            .struct_size = sizeof given, .revision = 1, .y = y, .y_type = CALIPER_PLOT_TYPE_F32};
        PlotIndex *index = plot_index_create(&(PlotIndexParams){PLOT_COLUMN_Y, positive, true});
        /* Appended in odd portions, with a budget that cuts them once more. */
        for (given.count = 1; given.count <= COUNT; given.count += 1 + rnd(3000)) {
            PlotData data = checked(&given);
            int64_t budget = 1 + rnd(2000);
            assert_true(plot_index_extend(index, &data, &budget));
            assert_true(budget >= 0);
            int64_t known = plot_index_known(index), dropped = 0;
            PlotRange whole = plain_range(&data, 0, known, positive, &dropped);
            PlotRange answered = plot_index_whole(index);
            assert_true(answered.min == whole.min && answered.max == whole.max);
            assert_int_equal(plot_index_dropped(index), dropped);
            for (int k = 0; k < 20; k++) {
                int64_t from = rnd((uint32_t)known + 1), to = rnd((uint32_t)known + 1);
                uint64_t read = 0;
                if (from > to) {
                    int64_t swap = from;
                    from = to;
                    to = swap;
                }
                PlotRange wanted = plain_range(&data, from, to, positive, &dropped);
                PlotRange found = plot_index_range(index, &data, from, to, &read);
                assert_true(found.min == wanted.min && found.max == wanted.max);
                assert_true(read <= 2 * PLOT_BLOCK);
            }
        }
        plot_index_destroy(&index);
    }
    free(y);
}

static void x_ascends_or_not(void **unused)
{
    double x[200], y[200] = {0};
    CaliperPlotData given = {
        .struct_size = sizeof given, .revision = 1, .x = x, .y = y, .count = 200};
    (void)unused;
    for (int kind = 0; kind < 5; kind++) {
        for (int i = 0; i < 200; i++)
            x[i] = i < 50 ? i + 150 : i - 50; /* a ring that begins at place 50 */
        given.first = 50;
        if (kind == 1)
            given.first = 0;
        if (kind == 2)
            x[120] = (double)NAN;
        if (kind == 3)
            x[120] = x[121] + 1.0;
        if (kind == 4)
            x[0] = x[199] - 1.0; /* the ring's second part begins below the first one's end */
        PlotData data = checked(&given);
        PlotIndex *index = plot_index_create(&(PlotIndexParams){PLOT_COLUMN_Y, false, true});
        int64_t budget = 1000;
        assert_true(plot_index_extend(index, &data, &budget));
        assert_int_equal(plot_index_x_ascends(index, &data), kind == 0);
        plot_index_destroy(&index);
    }
}

/* ---- The reduction ---- */

/* What a plain loop finds in each column, and what the samples give. */
static void check_columns(const PlotSeries *series, const PlotScale *x, int32_t columns,
                          const PlotSamples *out)
{
    PlotRange *wanted = malloc((size_t)columns * sizeof *wanted);
    PlotRange *found = malloc((size_t)columns * sizeof *found);
    int *drawn = calloc((size_t)columns, sizeof *drawn);
    for (int32_t c = 0; c < columns; c++)
        wanted[c] = found[c] = plot_range_empty();
    for (int64_t i = 0; i < series->count; i++) {
        double px = floor(plot_scale_to_px(x, plot_data_x(series->data, i)));
        if (px >= 0.0 && px < columns)
            plot_range_add(&wanted[(int32_t)px], series->positive_only,
                           plot_data_y(series->data, i));
    }
    /* The first and the last element of each column are samples, where the line comes in and goes
     * on. Elements come in the order of columns, so that a column is a run. */
    int64_t next = 0;
    double before = (double)NAN;
    for (int64_t i = 0; i <= series->count; i++) {
        double px = i < series->count ? floor(plot_scale_to_px(x, plot_data_x(series->data, i)))
                                      : (double)NAN;
        if (px == before)
            continue;
        for (int64_t end = i - 1; end <= i && end < series->count; end++) {
            double at =
                end < 0 ? (double)NAN : floor(plot_scale_to_px(x, plot_data_x(series->data, end)));
            if (!(at >= 0.0 && at < columns) || !isfinite(plot_data_y(series->data, end)))
                continue;
            int64_t k = next;
            while (k < out->count && out->items[k].index != end)
                k++;
            assert_true(k < out->count);
            assert_true(out->items[k].y == plot_data_y(series->data, end));
            next = k;
        }
        before = px;
    }
    for (int64_t k = 0; k < out->count; k++) {
        const PlotSample *sample = &out->items[k];
        double px = floor(plot_scale_to_px(x, sample->x));
        if (!(px >= 0.0 && px < columns) || isnan(sample->y))
            continue;
        drawn[(int32_t)px]++;
        plot_range_add(&found[(int32_t)px], false, sample->y);
    }
    for (int32_t c = 0; c < columns; c++) {
        assert_true(wanted[c].min == found[c].min && wanted[c].max == found[c].max);
        assert_true(drawn[c] <= 4);
    }
    free(wanted);
    free(found);
    free(drawn);
}

static void each_column_keeps_its_extremes(void **unused)
{
    enum { COUNT = 50000 };
    float *y = malloc(COUNT * sizeof *y);
    double *x = malloc(COUNT * sizeof *x);
    PlotSamples out = {0};
    (void)unused;
    for (int round = 0; round < 60; round++) {
        CaliperPlotData given = {.struct_size = sizeof given,
                                 .revision = 1,
                                 .y = y,
                                 .y_type = CALIPER_PLOT_TYPE_F32,
                                 .count = round < 10 ? 1 + (int64_t)rnd(200) : COUNT};
        bool log_x = round % 5 == 4;
        double at = 0.01;
        fill(y, given.count, round % 3 == 0 ? 0 : 5);
        for (int64_t i = 0; i < given.count; i++) /* steps of very different sizes, some of 0 */
            x[i] = at += rnd(3) == 0 ? 0.0 : pow(uniform(), 8.0);
        given.x = round % 2 == 0 ? NULL : x;
        given.x0 = 0.5;
        given.dx = round % 4 == 0 ? 0.001 : -0.001;
        given.first = given.x == NULL && round % 8 == 0 ? (int64_t)rnd((uint32_t)given.count) : 0;
        PlotData data = checked(&given);
        PlotIndex *index = plot_index_create(&(PlotIndexParams){PLOT_COLUMN_Y, false, true});
        int64_t budget = COUNT;
        assert_true(plot_index_extend(index, &data, &budget));
        double low = plot_data_x(&data, 0), high = plot_data_x(&data, given.count - 1);
        PlotRange range = {fmin(low, high), fmax(low, high)};
        double width = range.max - range.min;
        PlotRange view = {range.min + width * (uniform() - 0.3),
                          range.max + width * (uniform() - 0.7)};
        view = plot_range_repair(view, log_x);
        int32_t columns = 1 + (int32_t)rnd(900);
        PlotScale scale = {log_x, view, round % 7 == 6 ? columns : 0, round % 7 == 6 ? 0 : columns};
        for (int with = 0; with < 2; with++) {
            PlotSeries series = {.data = &data, .index = with ? index : NULL, .count = given.count};
            uint64_t read = 0;
            out.count = 0;
            assert_true(plot_reduce_line(&series, &scale, columns, &out, &read));
            check_columns(&series, &scale, columns, &out);
        }
        plot_index_destroy(&index);
    }
    plot_samples_free(&out);
    free(x);
    free(y);
}

static void bands_keep_both_edges(void **unused)
{
    enum { COUNT = 3000, COLUMNS = 100 };
    double low[COUNT], high[COUNT];
    PlotSamples out = {0};
    uint64_t read = 0;
    (void)unused;
    for (int i = 0; i < COUNT; i++) {
        low[i] = uniform();
        high[i] = 2.0 + uniform();
    }
    low[1500] = -7.0;
    high[1700] = 9.0;
    CaliperPlotData given = {.struct_size = sizeof given, .y = low, .y2 = high, .count = COUNT};
    PlotData data = checked(&given);
    PlotSeries series = {.data = &data, .count = COUNT};
    PlotScale x = {false, {0.0, COUNT}, 0.0, COLUMNS};
    assert_true(plot_reduce_band(&series, &x, COLUMNS, &out, &read));
    assert_int_equal(out.count, 2 * COLUMNS);
    assert_true(out.items[2 * 50].y == -7.0);
    assert_true(out.items[2 * 56 + 1].y == 9.0);
    plot_samples_free(&out);
}

static void points_on_the_last_pixel_are_left_out(void **unused)
{
    static const double x[] = {5.2, 5.4, 5.9, 2.0, 5.1, 5.1}, y[] = {1.1, 1.2, 1.8, 4.0, NAN, 1.0};
    static const int64_t wanted[] = {0, 3, 4, 5};
    PlotSamples out = {0};
    uint64_t read = 0;
    (void)unused;
    CaliperPlotData given = {.struct_size = sizeof given, .x = x, .y = y, .count = 6};
    PlotData data = checked(&given);
    PlotSeries series = {.data = &data, .count = 6};
    PlotScale pixels = {false, {0.0, 10.0}, 0.0, 10.0};
    assert_true(plot_reduce_unordered(&series, &pixels, &pixels, 100, &out, &read));
    assert_int_equal(out.count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out.items[i].index, wanted[i]);
    assert_true(isnan(out.items[2].y));
    out.count = 0;
    assert_false(plot_reduce_unordered(&series, &pixels, &pixels, 2, &out, &read));
    assert_int_equal(out.count, 2);
    plot_samples_free(&out);
}

/* ---- The cache ---- */

static void ten_million_points_are_read_once(void **unused)
{
    enum { COUNT = 10000000, COLUMNS = 1200 };
    float *y = malloc((size_t)COUNT * sizeof *y);
    PlotSamples out = {0};
    (void)unused;
    assert_non_null(y);
    fill(y, COUNT, 1000);
    y[7654321] = 1e6f;
    CaliperPlotData given = {.struct_size = sizeof given,
                             .revision = 3,
                             .y = y,
                             .y_type = CALIPER_PLOT_TYPE_F32,
                             .count = COUNT};
    PlotData data = checked(&given);
    int frames = 0;
    PlotCacheEntry *entry;
    do {
        uint64_t before = plot_counters.indexed;
        plot_cache_frame();
        entry = plot_cache_get(99, &data, false);
        assert_non_null(entry);
        plot_cache_index(entry, &data, false);
        assert_true(plot_counters.indexed - before <= PLOT_INDEX_PER_FRAME);
        frames++;
    } while (plot_index_known(entry->index) < COUNT);
    assert_int_equal(frames, (COUNT + PLOT_INDEX_PER_FRAME - 1) / PLOT_INDEX_PER_FRAME);
    uint64_t indexed = plot_counters.indexed;
    assert_int_equal(indexed, COUNT);
    for (int pan = 0; pan < 20; pan++) {
        uint64_t read = 0;
        plot_cache_frame();
        entry = plot_cache_get(99, &data, false);
        assert_int_equal(plot_cache_index(entry, &data, false), COUNT);
        PlotSeries series = {.data = &data, .index = entry->index, .count = COUNT};
        PlotScale x = {false, {pan * 1e4, 9.5e6 + pan * 1e4}, 0.0, COLUMNS};
        out.count = 0;
        assert_true(plot_reduce_line(&series, &x, COLUMNS, &out, &read));
        assert_true(read <= (uint64_t)COLUMNS * (2 * PLOT_BLOCK + 4)); /* 1.6 % of the data */
        assert_true(out.count <= 4 * COLUMNS + 2);
        if (pan == 0)
            check_columns(&series, &x, COLUMNS, &out);
    }
    assert_int_equal(plot_counters.indexed, indexed); /* never again */
    for (int i = 0; i <= PLOT_CACHE_FRAMES; i++)
        plot_cache_frame();
    assert_int_equal(plot_counters.entries, 0); /* not drawn for 60 frames */
    plot_samples_free(&out);
    plot_cache_clear();
    free(y);
}

static void another_revision_is_other_data(void **unused)
{
    float y[300];
    (void)unused;
    for (int i = 0; i < 300; i++)
        y[i] = (float)i;
    CaliperPlotData given = {.struct_size = sizeof given,
                             .revision = 1,
                             .y = y,
                             .y_type = CALIPER_PLOT_TYPE_F32,
                             .count = 200};
    PlotData data = checked(&given);
    plot_cache_frame();
    PlotCacheEntry *entry = plot_cache_get(5, &data, false);
    assert_int_equal(plot_cache_index(entry, &data, false), 200);
    assert_true(plot_index_whole(entry->index).max == 199.0);
    given.count = 300; /* appended */
    data = checked(&given);
    uint64_t before = plot_counters.indexed;
    entry = plot_cache_get(5, &data, false);
    assert_int_equal(plot_cache_index(entry, &data, false), 300);
    assert_int_equal(plot_counters.indexed - before, 100);
    y[0] = 1000.0f;
    given.revision = 2;
    data = checked(&given);
    entry = plot_cache_get(5, &data, false);
    assert_int_equal(plot_cache_index(entry, &data, false), 300);
    assert_true(plot_index_whole(entry->index).max == 1000.0);
    given.count = 10; /* fewer: cannot be the same */
    data = checked(&given);
    entry = plot_cache_get(5, &data, false);
    assert_int_equal(plot_cache_index(entry, &data, false), 10);
    given.revision = 0;
    data = checked(&given);
    assert_null(plot_cache_get(5, &data, false));
    plot_cache_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_and_printed_exactly),
        cmocka_unit_test(rings_strides_and_counted_x),
        cmocka_unit_test(bad_data_is_refused),
        cmocka_unit_test(the_index_answers_as_a_loop_does),
        cmocka_unit_test(x_ascends_or_not),
        cmocka_unit_test(each_column_keeps_its_extremes),
        cmocka_unit_test(bands_keep_both_edges),
        cmocka_unit_test(points_on_the_last_pixel_are_left_out),
        cmocka_unit_test(ten_million_points_are_read_once),
        cmocka_unit_test(another_revision_is_other_data),
    };
    return cmocka_run_group_tests_name("plot_reduce", tests, NULL, NULL);
}
