/* tests/unit/plot_axis_test.c: scales, ticks and bins against values worked out by hand, by `date`
 * and by NumPy 1.24 (numpy.histogram). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "services/plot_bins.h"
#include "services/plot_ticks.h"

/* ---- Scales ---- */

static void a_value_lies_where_its_share_puts_it(void **unused)
{
    PlotScale plain = {false, {0.0, 10.0}, 100.0, 300.0};
    PlotScale turned = {false, {-1.0, 1.0}, 300.0, 100.0};
    PlotScale decades = {true, {1e-2, 1e2}, 0.0, 400.0};
    (void)unused;
    assert_true(plot_scale_to_px(&plain, 2.5) == 150.0);
    assert_true(plot_scale_from_px(&plain, 250.0) == 7.5);
    assert_true(plot_scale_to_px(&turned, 0.5) == 150.0);
    assert_true(fabs(plot_scale_to_px(&decades, 1.0) - 200.0) < 1e-9);
    assert_true(fabs(plot_scale_from_px(&decades, 300.0) - 10.0) < 1e-12);
    assert_true(isnan(plot_scale_to_px(&decades, 0.0)));
    assert_true(isnan(plot_scale_to_px(&decades, -3.0)));
    assert_true(isnan(plot_scale_to_px(&plain, (double)INFINITY)));
    assert_true(isnan(plot_scale_to_px(&plain, (double)NAN)));
}

static void any_two_numbers_become_a_range(void **unused)
{
    static const double values[] = {
        0.0,    1.0,   -1.0,   1e300, -1e300,           1e-320,
        8e307,  1e308, -1e308, 1e9,   (double)INFINITY, -(double)INFINITY,
        1e-300, 5e-324};
    enum { COUNT = sizeof values / sizeof values[0] };
    (void)unused;
    for (int a = 0; a < COUNT; a++) {
        for (int b = 0; b < COUNT; b++) {
            for (int log = 0; log < 2; log++) {
                PlotRange range = plot_range_repair((PlotRange){values[a], values[b]}, log != 0);
                PlotScale scale = {log != 0, range, 0.0, 100.0};
                assert_true(isfinite(range.min) && isfinite(range.max) && range.min < range.max);
                assert_true(isfinite(range.max - range.min));
                if (log != 0)
                    assert_true(range.min > 0.0);
                assert_true(fabs(plot_scale_to_px(&scale, range.max) - 100.0) < 1e-6);
                assert_true(plot_scale_from_px(&scale, 0.0) < plot_scale_from_px(&scale, 100.0));
                /* A value far outside has a place outside: a line to it is cut at the edge. */
                for (int far = 0; log == 0 && far < 2; far++) {
                    double px = plot_scale_to_px(&scale, far == 0 ? -1.7e308 : 1.7e308);
                    assert_true(far == 0 ? px < 0.0 : px > 100.0);
                    assert_true(isfinite(px) || range.max - range.min < 1e300);
                }
            }
        }
    }
    PlotRange nan = plot_range_repair((PlotRange){(double)NAN, 3.0}, false);
    assert_true(nan.min == 0.0 && nan.max == 1.0);
    PlotRange swapped = plot_range_repair((PlotRange){5.0, 2.0}, false);
    assert_true(swapped.min == 2.0 && swapped.max == 5.0);
    PlotRange equal = plot_range_repair((PlotRange){4.0, 4.0}, false);
    assert_true(fabs(equal.min - 3.6) < 1e-12 && fabs(equal.max - 4.4) < 1e-12);
}

static void panning_and_zooming_keep_what_they_promise(void **unused)
{
    PlotRange range = {2.0, 6.0};
    (void)unused;
    PlotRange moved = plot_range_pan(range, false, 0.25);
    assert_true(moved.min == 3.0 && moved.max == 7.0);
    PlotRange near = plot_range_zoom(range, false, 0.5, 3.0);
    assert_true(near.min == 2.5 && near.max == 4.5); /* 3 stays a quarter of the way */
    PlotRange decades = plot_range_pan((PlotRange){1.0, 100.0}, true, 0.5);
    assert_true(fabs(decades.min - 10.0) < 1e-9 && fabs(decades.max - 1000.0) < 1e-6);
    /* A zoom past what doubles can tell apart does nothing. */
    PlotRange deep = {1.0, 2.0};
    for (int i = 0; i < 500; i++)
        deep = plot_range_zoom(deep, false, 0.5, 1.5);
    assert_true(deep.min < deep.max);
    for (int i = 0; i < 5000; i++)
        deep = plot_range_zoom(deep, false, 2.0, 1.5);
    assert_true(isfinite(deep.max - deep.min));
    PlotRange padded = plot_range_pad(range, false, 0.0, 0.5);
    assert_true(padded.min == 2.0 && padded.max == 8.0);
}

/* ---- Ticks ---- */

static PlotTicks made;

static void make_ticks(double min, double max, uint32_t scale, int most)
{
    PlotTickParams params = {.range = {min, max}, .scale = scale, .most = most};
    plot_ticks(&params, &made);
}

/* `wanted`: the labels, separated by spaces; "_" stands for a space in one. */
static void check_labels(const char *wanted)
{
    char found[4096] = "";
    for (int32_t i = 0; i < made.count; i++) {
        if (made.items[i].minor)
            continue;
        if (found[0] != '\0')
            strcat(found, " ");
        size_t from = strlen(found);
        strcat(found, made.items[i].text);
        for (; found[from] != '\0'; from++)
            found[from] = found[from] == ' ' ? '_' : found[from];
    }
    assert_string_equal(found, wanted);
}

static void plain_ticks_are_round_numbers(void **unused)
{
    (void)unused;
    make_ticks(0.0, 1.0, CALIPER_SCALE_LINEAR, 5);
    check_labels("0 0.2 0.4 0.6 0.8 1.0");
    assert_true(made.items[3].at == 0.6); /* not 0.2 + 0.2 + 0.2 */
    make_ticks(-3.0, 11.0, CALIPER_SCALE_LINEAR, 4);
    check_labels("0 5 10");
    make_ticks(0.0, 12345.0, CALIPER_SCALE_LINEAR, 3);
    check_labels("0 5000 10000");
    make_ticks(1e8, 4e8, CALIPER_SCALE_LINEAR, 3);
    check_labels("1e8 2e8 3e8 4e8");
    make_ticks(0.0, 3e-9, CALIPER_SCALE_LINEAR, 3);
    check_labels("0 1e-9 2e-9 3e-9");
    make_ticks(-2.5e18, 0.0, CALIPER_SCALE_LINEAR, 5);
    check_labels("-2.5e18 -2.0e18 -1.5e18 -1.0e18 -5e17 0");
    make_ticks(0.9999, 1.0001, CALIPER_SCALE_LINEAR, 4);
    check_labels("0.99990 0.99995 1.00000 1.00005 1.00010");
}

static void whole_numbers_have_no_fractions(void **unused)
{
    PlotTickParams params = {.range = {0.0, 3.0}, .integer = true, .most = 10};
    (void)unused;
    plot_ticks(&params, &made);
    check_labels("0 1 2 3");
    params.range = (PlotRange){0.0, 2e7};
    params.most = 4;
    plot_ticks(&params, &made);
    check_labels("0 5000000 10000000 15000000 20000000");
}

static void a_common_beginning_is_told_once(void **unused)
{
    PlotTickParams params = {.range = {1e9, 1e9 + 0.0401}, .may_offset = true, .most = 5};
    (void)unused;
    plot_ticks(&params, &made);
    check_labels("0 0.01 0.02 0.03 0.04");
    assert_string_equal(made.context, "+1000000000");
    assert_true(made.items[2].at == 1e9 + 0.02);
    params.range = (PlotRange){-5.0, 5.0};
    plot_ticks(&params, &made);
    assert_string_equal(made.context, "");
}

static void logarithmic_ticks_are_powers_of_ten(void **unused)
{
    (void)unused;
    make_ticks(0.01, 1000.0, CALIPER_SCALE_LOG10, 8);
    check_labels("0.01 0.1 1 10 100 1000");
    int minor = 0;
    for (int32_t i = 0; i < made.count; i++)
        minor += made.items[i].minor;
    assert_int_equal(minor, 5 * 8); /* 2 to 9 in each of five decades */
    make_ticks(1e-12, 1e12, CALIPER_SCALE_LOG10, 5);
    check_labels("1e-10 1e-5 1 100000 1e10");
    make_ticks(3.0, 40.0, CALIPER_SCALE_LOG10, 8);
    check_labels("5 10 20");
    make_ticks(2.0, 4.0, CALIPER_SCALE_LOG10, 5);
    check_labels("2.0 2.5 3.0 3.5 4.0");
}

static void time_ticks_follow_the_calendar(void **unused)
{
    (void)unused;
    /* 2026-12-02 00:00 UTC, by date(1). */
    make_ticks(1796169600.0, 1796169600.0 + 86400.0, CALIPER_SCALE_TIME, 5);
    check_labels("2_Dec 06:00 12:00 18:00 3_Dec");
    assert_string_equal(made.context, "2 Dec 2026 UTC");
    assert_true(made.items[1].at == 1796191200.0);
    make_ticks(1709164800.0 - 86400.0, 1709251200.0 + 43200.0, CALIPER_SCALE_TIME, 3);
    check_labels("28_Feb 29_Feb 1_Mar"); /* 2024 is a leap year */
    make_ticks(951782400.0, 4102444800.0, CALIPER_SCALE_TIME, 6);
    check_labels("2020 2040 2060 2080 2100");
    make_ticks(1790000000.0, 1790000001.0, CALIPER_SCALE_TIME, 5);
    check_labels("20.0 20.2 20.4 20.6 20.8 21.0");
    assert_string_equal(made.context, "21 Sep 2026 14:13 UTC");
    make_ticks(1790035200.0, 1798761600.0, CALIPER_SCALE_TIME, 5);
    check_labels("Oct Nov Dec 2027");
    make_ticks(1790000000.0, 1790000120.0, CALIPER_SCALE_TIME, 5);
    check_labels("14:13:30 14:14:00 14:14:30 14:15:00");
}

static void local_days_have_23_hours_when_summer_begins(void **unused)
{
    (void)unused;
    setenv("TZ", "Europe/Zurich", 1);
    tzset();
    struct tm probe;
    time_t at = 1774738800; /* 2026-03-29 00:00 in Zurich, by date(1) */
    localtime_r(&at, &probe);
    if (probe.tm_hour == 0) { /* else the zone is not installed */
        PlotTickParams params = {.range = {1774738800.0, 1774821600.0},
                                 .scale = CALIPER_SCALE_TIME,
                                 .local_time = true,
                                 .most = 3};
        plot_ticks(&params, &made);
        assert_string_equal(made.items[0].text, "29 Mar");
        assert_string_equal(made.items[made.count - 1].text, "30 Mar");
        assert_true(made.items[made.count - 1].at == 1774821600.0);
        assert_string_equal(made.context, "29 Mar 2026 CET");
    }
    unsetenv("TZ");
    tzset();
}

static void every_range_has_ticks_that_ascend_inside(void **unused)
{
    (void)unused;
    srand(7);
    for (int i = 0; i < 20000; i++) {
        double a = ldexp((double)rand() / RAND_MAX - 0.5, rand() % 200 - 100);
        double b = ldexp((double)rand() / RAND_MAX - 0.5, rand() % 200 - 100);
        uint32_t scale = (uint32_t)rand() % 3;
        PlotRange range = plot_range_repair((PlotRange){a, b}, scale == CALIPER_SCALE_LOG10);
        PlotTickParams params = {.range = range,
                                 .scale = scale,
                                 .integer = rand() % 4 == 0,
                                 .may_offset = rand() % 2 == 0,
                                 .most = 2 + rand() % 18};
        plot_ticks(&params, &made);
        double slack = (range.max - range.min) * 1e-6 + fabs(range.max) * 1e-12;
        for (int32_t k = 0; k < made.count; k++) {
            assert_true(made.items[k].at >= range.min - slack);
            assert_true(made.items[k].at <= range.max + slack);
            if (k > 0)
                assert_true(made.items[k].at >= made.items[k - 1].at);
        }
    }
}

/* ---- Bins ---- */

static PlotData values_of(const double *y, int64_t count)
{
    PlotData data;
    PlotDataWrong wrong;
    CaliperPlotData given = {.struct_size = sizeof given, .y = y, .count = count};
    assert_true(plot_data_check(&given, false, &data, &wrong));
    return data;
}

static void bins_count_as_numpy_does(void **unused)
{
    static const double y[] = {-1.0, 0.0, 0.1, 0.2, 0.30000000000000004, 0.3,
                               0.7,  0.9, 1.0, 1.5, (double)NAN,         (double)INFINITY,
                               0.5,  0.5, 0.25};
    static const int64_t wanted[] = {1, 1, 3, 1, 0, 2, 1, 0, 0, 2};
    static const int64_t wanted_squares[] = {378, 156, 120, 102, 89, 80, 75};
    int64_t counts[16];
    double squares[1000];
    (void)unused;
    PlotData data = values_of(y, 15);
    PlotBins bins = plot_bins_choose(&data, 10, 0.0, 1.0);
    plot_bins_count(&bins, &data, counts);
    assert_memory_equal(counts, wanted, sizeof wanted);
    assert_int_equal(bins.inside, 11);
    assert_int_equal(bins.outside, 2);
    assert_int_equal(bins.not_finite, 2);
    for (int i = 0; i < 1000; i++) {
        double w = (double)((i * 7919) % 1000) / 1000.0;
        squares[i] = w * w;
    }
    data = values_of(squares, 1000);
    bins = plot_bins_choose(&data, 7, (double)NAN, (double)NAN);
    plot_bins_count(&bins, &data, counts);
    assert_memory_equal(counts, wanted_squares, sizeof wanted_squares);
    assert_true(bins.lo == 0.0 && fabs(bins.hi - 0.998001) < 1e-15);
}

static void bins_are_chosen_by_the_data(void **unused)
{
    static const double same[] = {5.0, 5.0};
    static const double none[] = {(double)NAN, (double)INFINITY};
    static const uint8_t bytes[] = {3, 3, 4, 7};
    static double roots[10000];
    int64_t counts[PLOT_BINS_AUTO_MAX];
    (void)unused;
    PlotData data = values_of(same, 2);
    PlotBins bins = plot_bins_choose(&data, 3, (double)NAN, (double)NAN);
    plot_bins_count(&bins, &data, counts);
    assert_true(bins.lo == 4.5 && bins.hi == 5.5); /* NumPy's answer too */
    assert_int_equal(counts[1], 2);
    data = values_of(none, 2);
    bins = plot_bins_choose(&data, 0, (double)NAN, (double)NAN);
    plot_bins_count(&bins, &data, counts);
    assert_int_equal(bins.count, 1);
    assert_int_equal(bins.not_finite, 2);
    for (int i = 0; i < 10000; i++)
        roots[i] = sqrt(i + 1.0);
    data = values_of(roots, 10000);
    bins = plot_bins_choose(&data, 0, (double)NAN, (double)NAN);
    assert_int_equal(bins.count, 26); /* numpy.histogram(x, bins="scott") */
    CaliperPlotData given = {
        .struct_size = sizeof given, .y = bytes, .y_type = CALIPER_PLOT_TYPE_U8, .count = 4};
    PlotDataWrong wrong;
    assert_true(plot_data_check(&given, false, &data, &wrong));
    bins = plot_bins_choose(&data, 0, (double)NAN, (double)NAN);
    plot_bins_count(&bins, &data, counts);
    assert_int_equal(bins.count, 5); /* 3, 4, 5, 6, 7: a bin each */
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[4], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_lies_where_its_share_puts_it),
        cmocka_unit_test(any_two_numbers_become_a_range),
        cmocka_unit_test(panning_and_zooming_keep_what_they_promise),
        cmocka_unit_test(plain_ticks_are_round_numbers),
        cmocka_unit_test(whole_numbers_have_no_fractions),
        cmocka_unit_test(a_common_beginning_is_told_once),
        cmocka_unit_test(logarithmic_ticks_are_powers_of_ten),
        cmocka_unit_test(time_ticks_follow_the_calendar),
        cmocka_unit_test(local_days_have_23_hours_when_summer_begins),
        cmocka_unit_test(every_range_has_ticks_that_ascend_inside),
        cmocka_unit_test(bins_count_as_numpy_does),
        cmocka_unit_test(bins_are_chosen_by_the_data),
    };
    return cmocka_run_group_tests_name("plot_axis", tests, NULL, NULL);
}
