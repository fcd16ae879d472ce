/* tests/unit/runs_test.c: the dashboard's arithmetic. The smoothed numbers were computed by a
 * Python loop over TensorBoard's formula, row by row; the rest is worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shell/runs/curve.h"
#include "shell/runs/parameters.h"
#include "shell/runs/run_text.h"

/* ---- Curves ---- */

static CurvePoint row(double x, double value)
{
    bool gap = !isfinite(value);
    double shown = gap ? (double)NAN : value;
    return (CurvePoint){.first_x = x,
                        .last_x = x,
                        .mean = shown,
                        .least = shown,
                        .greatest = shown,
                        .rows = 1,
                        .gaps = gap};
}

static void close_to(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-14 * fmax(1.0, fabs(wanted))))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void smoothing_is_tensorboards(void **unused)
{
    static const double values[] = {1.0, 0.5, NAN, 0.25, 2.0, INFINITY, -1.0};
    static const double wanted[] = {
        1.0, 0.6875, NAN, 0.46428571428571425, 1.1700367647058822, NAN, 0.22883414295628024};
    CurvePoint points[7];
    double out[7];
    (void)unused;
    for (int i = 0; i < 7; i++)
        points[i] = row(i, values[i]);
    curve_smooth(points, 7, 0.6, out);
    for (int i = 0; i < 7; i++) {
        if (isnan(wanted[i]))
            assert_true(isnan(out[i]));
        else
            close_to(out[i], wanted[i]);
    }
}

static void no_weight_is_the_curve_itself_and_all_weight_its_mean(void **unused)
{
    static const double values[] = {4.0, 8.0, NAN, 3.0};
    CurvePoint points[4];
    double out[4];
    (void)unused;
    for (int i = 0; i < 4; i++)
        points[i] = row(i, values[i]);
    double none[] = {0.0, (double)NAN, -1.0};
    for (int k = 0; k < 3; k++) {
        curve_smooth(points, 4, none[k], out);
        assert_true(out[0] == 4.0 && out[1] == 8.0 && isnan(out[2]) && out[3] == 3.0);
    }
    curve_smooth(points, 4, 1.0, out);
    assert_true(out[0] == 4.0 && out[1] == 6.0 && isnan(out[2]) && out[3] == 5.0);
}

static void a_constant_curve_stays_exactly_what_it_is(void **unused)
{
    CurvePoint points[3] = {row(0, 0.1), row(1, NAN), row(2, 0.1)};
    double out[3];
    (void)unused;
    curve_smooth(points, 3, 0.9, out);
    assert_true(out[0] == 0.1 && isnan(out[1]) && out[2] == 0.1);
}

static void a_point_of_several_rows_counts_as_that_many(void **unused)
{
    /* Rows 1, 2, 2, 2, 5 one by one, at weight 0.5: the fourth and fifth as Python gives them. */
    CurvePoint points[3] = {
        row(0, 1.0),
        {.first_x = 1, .last_x = 3, .mean = 2, .least = 2, .greatest = 2, .rows = 4, .gaps = 1},
        row(4, 5.0)};
    double out[3];
    (void)unused;
    curve_smooth(points, 3, 0.5, out);
    close_to(out[0], 1.0);
    close_to(out[1], 1.9333333333333333);
    close_to(out[2], 3.5161290322580645);
}

static void neighbours_join_into_bands_that_lose_no_extreme(void **unused)
{
    static const double values[] = {3, -7, 5, NAN, INFINITY, 11, 2};
    Curve curve = {0};
    (void)unused;
    for (int i = 0; i < 7; i++) {
        CurvePoint point = row(10.0 * i, values[i]);
        assert_true(curve_add(&curve, &point));
    }
    curve_thin(&curve, 4); /* pairs: (3,-7) (5,nan) (inf,11) (2) */
    assert_int_equal(curve.count, 4);
    assert_true(curve.points[0].least == -7 && curve.points[0].greatest == 3);
    assert_true(curve.points[0].mean == -2 && curve.points[0].rows == 2);
    assert_true(curve.points[1].mean == 5 && curve.points[1].gaps == 1);
    assert_true(curve.points[2].mean == 11 && curve.points[2].least == 11);
    assert_true(curve.points[3].first_x == 60 && curve.points[3].rows == 1);
    curve_thin(&curve, 1);
    assert_int_equal(curve.count, 1);
    assert_true(curve.points[0].least == -7 && curve.points[0].greatest == 11);
    assert_true(curve.points[0].first_x == 0 && curve.points[0].last_x == 60);
    assert_int_equal(curve.points[0].rows, 7);
    assert_int_equal(curve.points[0].gaps, 2);
    close_to(curve.points[0].mean, (3 - 7 + 5 + 11 + 2) / 5.0);
    curve_free(&curve);
}

static void steps_that_go_back_lie_where_they_belong_in_order_of_arrival(void **unused)
{
    /* By arrival: steps 5, 1, 5, 3, 1. By step: 1 1' 3 5 5'. */
    static const double steps[] = {5, 1, 5, 3, 1};
    static const double wanted_x[] = {1, 1, 3, 5, 5}, wanted[] = {2, 5, 4, 1, 3};
    Curve curve = {0};
    (void)unused;
    for (int i = 0; i < 5; i++) {
        CurvePoint point = row(steps[i], i + 1.0);
        assert_true(curve_add(&curve, &point));
    }
    for (int i = 0; i < 5; i++) {
        assert_true(curve.points[i].first_x == wanted_x[i]);
        assert_true(curve.points[i].mean == wanted[i]);
    }
    /* Into a point that spans it: counted there. */
    curve_thin(&curve, 3);
    CurvePoint late = row(4, 100);
    assert_true(curve_add(&curve, &late)); /* 3..5 spans 4 */
    assert_int_equal(curve.count, 3);
    assert_true(curve.points[1].greatest == 100 && curve.points[1].rows == 3);
    curve_free(&curve);
}

static void outliers_are_the_ends_by_nearest_rank(void **unused)
{
    double values[23], low = 0, high = 0;
    (void)unused;
    for (int i = 0; i < 20; i++)
        values[i] = (i * 7) % 20; /* 0..19 in another order */
    values[20] = NAN;
    values[21] = INFINITY;
    values[22] = -INFINITY;
    assert_true(curve_range(values, 23, 0.05, &low, &high));
    assert_true(low == 1 && high == 18);
    assert_false(curve_range(values, 0, 0.05, &low, &high));
}

/* ---- Hyper-parameters ---- */

static const ParametersRow *find(const Parameters *all, const char *name)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->rows[i].name, name) == 0)
            return &all->rows[i];
    }
    fail_msg("no row %s", name);
    return NULL;
}

static void differences_are_marked_and_come_first(void **unused)
{
    static const char *const json[] = {
        "{\"lr\": 1e-3, \"opt\": {\"name\": \"sgd\", \"betas\": [0.9, 0.99]}, \"layers\": 3}",
        " { \"layers\" : 3 , \"lr\":0.001,\"opt\":{\"name\":\"adam\",\"betas\":[0.9,0.999]},"
        "\"seed\":null}",
    };
    Parameters all;
    (void)unused;
    assert_true(parameters_compare(json, 2, &all));
    assert_int_equal(all.count, 6);
    assert_int_equal(all.differing, 3);
    assert_string_equal(all.rows[0].name, "opt.betas[1]");
    assert_string_equal(all.rows[1].name, "opt.name");
    assert_string_equal(all.rows[2].name, "seed");
    assert_null(all.rows[2].values[0]);
    assert_string_equal(all.rows[2].values[1], "null");
    assert_false(find(&all, "lr")->differs); /* one number, written twice */
    assert_string_equal(find(&all, "lr")->values[0], "1e-3");
    assert_string_equal(find(&all, "opt.name")->values[0], "\"sgd\"");
    assert_false(find(&all, "layers")->differs);
    parameters_free(&all);
}

static void equal_means_the_same_value(void **unused)
{
    (void)unused;
    assert_true(parameters_equal("1.0", "1"));
    assert_true(parameters_equal("-2.5E1", "-25.0"));
    assert_false(parameters_equal("9007199254740993", "9007199254740992"));
    assert_false(parameters_equal("\"1\"", "1"));
    assert_false(parameters_equal("true", "false"));
}

static void runs_without_parameters_and_other_bytes_are_no_rows(void **unused)
{
    static const char *const json[] = {NULL, "{}", "{\"a\":[]}", "{\"a\"", "[[[", "", "{\"a\":1,}"};
    Parameters all;
    (void)unused;
    assert_true(parameters_compare(json, 7, &all));
    assert_int_equal(all.count, 2); /* "" of {} and a of the third */
    assert_string_equal(find(&all, "a")->values[2], "[]");
    assert_null(find(&all, "a")->values[3]);
    parameters_free(&all);
    char deep[400];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    const char *const one[] = {deep};
    assert_true(parameters_compare(one, 1, &all));
    assert_int_equal(all.count, 0);
    parameters_free(&all);
}

/* ---- Words ---- */

static void durations_in_words(void **unused)
{
    static const struct {
        int64_t micros;
        const char *words;
    } cases[] = {{-5, "0 ms"},
                 {999999, "999 ms"},
                 {1000000, "1.0 s"},
                 {59999999, "59.9 s"},
                 {60000000, "1 min 00 s"},
                 {3599000000, "59 min 59 s"},
                 {3600000000, "1 h 00 min"},
                 {90000000000, "1 d 01 h"}};
    char text[64];
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_text_duration(cases[i].micros, text, sizeof text);
        assert_string_equal(text, cases[i].words);
    }
    run_text_time(1796194499000000, text, sizeof text); /* date -u -d @1796194499 */
    assert_string_equal(text, "2026-12-02 06:54:59");
}

static void two_runs_of_one_name_are_told_apart(void **unused)
{
    char text[64];
    (void)unused;
    run_text_label("mnist", "first", 7, true, text, sizeof text);
    assert_string_equal(text, "mnist / first #7");
    run_text_label("mnist", "first", 7, false, text, sizeof text);
    assert_string_equal(text, "mnist / first");
    run_text_label("", "", 7, true, text, sizeof text);
    assert_string_equal(text, "run 7");
    run_text_label("only", "", 7, false, text, sizeof text);
    assert_string_equal(text, "only");
}

/* Whatever is in a name: one line, valid to its end, with its number when it is cut. */
static void names_become_one_line(void **unused)
{
    char text[64], other[64], name[10001];
    (void)unused;
    run_text_label("", "new\nline\t\x01\x7f", 7, false, text, sizeof text);
    assert_string_equal(text, "new line   ");
    for (size_t i = 0; i < 10000; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[10000] = '\0';
    for (size_t room = 30; room <= sizeof text; room++) {
        run_text_label("", name, 7, false, text, room);
        run_text_label("", name, 8, true, other, room);
        assert_true(strlen(text) < room && strlen(text) + 4 > room);
        assert_string_not_equal(text, other);
        size_t cut = strlen(text) - strlen("\xe2\x80\xa6 #7");
        assert_int_equal(cut % 2, 0);
        assert_string_equal(text + cut, "\xe2\x80\xa6 #7");
    }
    run_text_label(name, "short", 18446744073709551615u, true, text, sizeof text);
    assert_non_null(strstr(text, " #18446744073709551615"));
    run_text_line("", text, sizeof text);
    assert_string_equal(text, "");
    run_text_line("abcdef", text, 7);
    assert_string_equal(text, "abcdef");
    run_text_line("abcdefg", text, 7);
    assert_string_equal(text, "abc\xe2\x80\xa6");
    run_text_line("abc", text, 1);
    assert_string_equal(text, "");
}

static void a_search_finds_all_its_words_in_any_case(void **unused)
{
    (void)unused;
    assert_true(run_text_matches("MNIST / lr 0.1 done", "  mnist  DONE "));
    assert_true(run_text_matches("anything", ""));
    assert_false(run_text_matches("mnist", "mnist lr"));
    assert_false(run_text_matches("mn", "mnist"));
}

static void a_runs_colour_never_changes_and_neighbours_differ(void **unused)
{
    uint32_t theme[10];
    (void)unused;
    for (uint32_t i = 0; i < 10; i++)
        theme[i] = 0xff000000u | i;
    assert_int_equal(run_text_color(1, theme), theme[0]);
    assert_int_equal(run_text_color(10, theme), theme[9]);
    for (uint64_t id = 11; id < 200; id++) {
        uint32_t one = run_text_color(id, theme), next = run_text_color(id + 1, theme);
        int far = 0;
        for (int k = 0; k < 24; k += 8)
            far += abs((int)(one >> k & 255u) - (int)(next >> k & 255u));
        assert_int_equal(one >> 24, 255);
        assert_true(far > 90);
    }
}

static void sizes_in_binary_steps(void **unused)
{
    static const struct {
        uint64_t bytes;
        const char *words;
    } known[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1536, "1.5 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048575, "1.0 MiB"}, /* 1024.0 KiB, rounded */
                 {1048576, "1.0 MiB"},
                 {UINT64_C(5) << 30, "5.0 GiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    char text[32];
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        run_text_size(known[i].bytes, text, sizeof text);
        assert_string_equal(text, known[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smoothing_is_tensorboards),
        cmocka_unit_test(no_weight_is_the_curve_itself_and_all_weight_its_mean),
        cmocka_unit_test(a_constant_curve_stays_exactly_what_it_is),
        cmocka_unit_test(a_point_of_several_rows_counts_as_that_many),
        cmocka_unit_test(neighbours_join_into_bands_that_lose_no_extreme),
        cmocka_unit_test(steps_that_go_back_lie_where_they_belong_in_order_of_arrival),
        cmocka_unit_test(outliers_are_the_ends_by_nearest_rank),
        cmocka_unit_test(differences_are_marked_and_come_first),
        cmocka_unit_test(equal_means_the_same_value),
        cmocka_unit_test(runs_without_parameters_and_other_bytes_are_no_rows),
        cmocka_unit_test(durations_in_words),
        cmocka_unit_test(two_runs_of_one_name_are_told_apart),
        cmocka_unit_test(names_become_one_line),
        cmocka_unit_test(a_search_finds_all_its_words_in_any_case),
        cmocka_unit_test(a_runs_colour_never_changes_and_neighbours_differ),
        cmocka_unit_test(sizes_in_binary_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
