/* tests/e2e/plot_test.c: what the slots of the plot table promise, with scripted input: where
 * values lie, what the pointer names, what panning and zooming do. Positions are worked out from
 * the ranges that the test itself sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services/plot_cache.h"
#include "ui_bench.h"

static UiBench bench;

static int setup(void **unused)
{
    (void)unused;
    return bench_start(&bench, 1.0f) ? 0 : -1;
}

static int setup_scaled(void **unused)
{
    (void)unused;
    return bench_start(&bench, 1.5f) ? 0 : -1;
}

static int setup_listening(void **unused)
{
    (void)unused;
    return bench_start_listening(&bench, 1.0f, BENCH_W, BENCH_H) ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    bench_stop(&bench);
    return 0;
}

/* One plot over most of the panel, and what it said. */
typedef struct Shown {
    const double *x, *y, *other;
    int64_t count;
    uint32_t revision, scale_x, flags;
    double range_x[2], range_y[2]; /* asked for, once; equal: not */
    double line;
    bool line_moved, shown, selected, near;
    double view_x[2], view_y[2], area[4], pointer[2], selection[4];
    int32_t series;
    int64_t index;
} Shown;

static CaliperPlotData data_of(const double *x, const double *y, int64_t count)
{
    CaliperPlotData data = {.struct_size = sizeof data, .x = x, .y = y, .count = count};
    return data;
}

static void draw(UiBench *b, void *user)
{
    Shown *s = user;
    const CaliperPlotV1 *plot = b->plot;
    if (plot->plot("##plot", 376, 280, s->flags)) {
        CaliperPlotData data = data_of(s->x, s->y, s->count);
        data.revision = s->revision;
        plot->axis(CALIPER_AXIS_X1, NULL, s->scale_x, 0);
        if (s->range_x[0] != s->range_x[1])
            plot->axis_range(CALIPER_AXIS_X1, s->range_x[0], s->range_x[1], CALIPER_WHEN_ONCE);
        if (s->range_y[0] != s->range_y[1])
            plot->axis_range(CALIPER_AXIS_Y1, s->range_y[0], s->range_y[1], CALIPER_WHEN_ONCE);
        s->shown = plot->line("first", &data, 0);
        if (s->other != NULL) {
            CaliperPlotData other = data_of(s->x, s->other, s->count);
            plot->line("second", &other, 0);
        }
        if (isfinite(s->line) && s->line != 0.0)
            s->line_moved = plot->ref_line("line", CALIPER_AXIS_X1, &s->line, CALIPER_SERIES_DRAG);
        s->near = plot->nearest(&s->series, &s->index);
        if (plot->selection(&s->selection[0], &s->selection[1], &s->selection[2], &s->selection[3]))
            s->selected = true;
        plot->view(CALIPER_AXIS_X1, &s->view_x[0], &s->view_x[1]);
        plot->view(CALIPER_AXIS_Y1, &s->view_y[0], &s->view_y[1]);
        b->w->visible(&s->area[0], &s->area[1], &s->area[2], &s->area[3]);
        b->w->pointer(&s->pointer[0], &s->pointer[1], NULL);
    }
    plot->end();
}

static void frame(Shown *s)
{
    bench_frame(&bench, draw, s);
}

/* The window's position of a value, found by asking the plot for the values under two positions. */
static void place_of(Shown *s, double x, double y, float *out_x, float *out_y)
{
    double a[2], b[2];
    bench_move(&bench, 150, 100);
    frame(s);
    memcpy(a, s->pointer, sizeof a);
    bench_move(&bench, 250, 200);
    frame(s);
    memcpy(b, s->pointer, sizeof b);
    bool log = s->scale_x == CALIPER_SCALE_LOG10;
    double ax = log ? log10(a[0]) : a[0], bx = log ? log10(b[0]) : b[0], at = log ? log10(x) : x;
    /* Pointers have whole units. */
    *out_x = roundf((float)(150 + 100 * (at - ax) / (bx - ax)));
    *out_y = roundf((float)(100 + 100 * (y - a[1]) / (b[1] - a[1])));
}

/* Equal as far as a pointer of whole units can tell, on an axis that shows ten. */
static bool near_to(double a, double b)
{
    return fabs(a - b) <= 10.0 / 300.0;
}

static const double ramp[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const double zigzag[] = {0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 5};

/* ---- Fitting ---- */

static void the_first_frame_fits_already(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11};
    (void)unused;
    frame(&s);
    assert_true(s.shown);
    assert_true(s.view_x[0] == 0.0 && s.view_x[1] == 10.0);
    assert_true(s.view_y[0] < 0.0 && s.view_y[0] > -1.0 && s.view_y[1] > 8.0 && s.view_y[1] < 9.0);
    frame(&s);
    assert_true(s.view_x[0] == 0.0 && s.view_x[1] == 10.0);
    assert_true(s.area[0] == s.view_x[0] && s.area[2] == s.view_x[1]); /* visible() agrees */
}

static void an_asked_range_is_taken_and_then_the_persons(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11, .range_x = {2, 6}, .range_y = {-1, 9}};
    (void)unused;
    frame(&s);
    frame(&s);
    assert_true(s.view_x[0] == 2.0 && s.view_x[1] == 6.0);
    assert_true(s.view_y[0] == -1.0 && s.view_y[1] == 9.0);
    /* Dragged by a quarter of the area's width: one unit of four. */
    float x0, x1, y;
    place_of(&s, 3, 4, &x0, &y);
    place_of(&s, 4, 4, &x1, &y);
    bench_move(&bench, x1, y);
    frame(&s);
    bench_button(&bench, 0, true);
    frame(&s);
    bench_move(&bench, x0, y);
    frame(&s);
    bench_button(&bench, 0, false);
    frame(&s);
    frame(&s);
    assert_true(near_to(s.view_x[0], 3.0) && near_to(s.view_x[1], 7.0));
    assert_true(s.view_y[0] == -1.0);
}

static void the_wheel_zooms_at_the_pointer_and_a_double_click_fits(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11};
    float x, y;
    (void)unused;
    place_of(&s, 2.5, 4, &x, &y);
    bench_move(&bench, x, y);
    frame(&s);
    double before = s.pointer[0];
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_WHEEL, .y = 3});
    frame(&s);
    frame(&s);
    assert_true(s.view_x[1] - s.view_x[0] < 6.0);
    assert_true(fabs(s.pointer[0] - before) < 0.2); /* the margin of new labels moved it */
    for (int i = 0; i < 2; i++) {
        bench_button(&bench, 0, true);
        frame(&s);
        bench_button(&bench, 0, false);
        frame(&s);
    }
    frame(&s);
    assert_true(s.view_x[0] == 0.0 && s.view_x[1] == 10.0);
}

static void drag(Shown *s, uint32_t button, float x0, float y0, float x1, float y1)
{
    bench_move(&bench, x0, y0);
    frame(s);
    bench_button(&bench, button, true);
    frame(s);
    bench_move(&bench, x1, y1);
    frame(s);
    frame(s);
    bench_button(&bench, button, false);
    frame(s);
    frame(s);
}

static void a_right_drag_zooms_to_its_box(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11};
    float x0, y0, x1, y1;
    (void)unused;
    place_of(&s, 2, 2, &x0, &y0);
    place_of(&s, 8, 6, &x1, &y1);
    drag(&s, 1, roundf(x0), roundf(y0), roundf(x1), roundf(y1));
    assert_true(fabs(s.view_x[0] - 2.0) < 0.05 && fabs(s.view_x[1] - 8.0) < 0.05);
    assert_true(fabs(s.view_y[0] - 2.0) < 0.05 && fabs(s.view_y[1] - 6.0) < 0.05);
    assert_false(s.selected);
}

static void a_shift_drag_selects_and_moves_nothing(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11};
    float x0, y0, x1, y1;
    (void)unused;
    place_of(&s, 7, 5, &x0, &y0);
    place_of(&s, 3, 1, &x1, &y1);
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_KEY, .modifiers = UI_MODIFIER_SHIFT});
    bench_move(&bench, x0, y0);
    frame(&s);
    ui_event(bench.ui,
             &(UiEvent){.kind = UI_EVENT_BUTTON, .down = true, .modifiers = UI_MODIFIER_SHIFT});
    frame(&s);
    bench_move(&bench, x1, y1);
    frame(&s);
    frame(&s);
    bench_button(&bench, 0, false);
    frame(&s);
    frame(&s);
    assert_true(s.selected);
    assert_true(near_to(s.selection[0], 3.0) && near_to(s.selection[2], 7.0));
    assert_true(near_to(s.selection[1], 1.0) && near_to(s.selection[3], 5.0));
    assert_true(s.view_x[0] == 0.0 && s.view_x[1] == 10.0);
    s.selected = false;
    frame(&s);
    assert_false(s.selected); /* once */
}

static void a_line_across_follows_the_pointer(void **unused)
{
    Shown s = {.x = ramp, .y = zigzag, .count = 11, .line = 4.0};
    float x0, y0, x1, y1;
    (void)unused;
    place_of(&s, 4, 3, &x0, &y0);
    place_of(&s, 6, 3, &x1, &y1);
    bench_move(&bench, x0, y0);
    frame(&s);
    bench_button(&bench, 0, true);
    frame(&s);
    bench_move(&bench, x1, y1);
    frame(&s);
    assert_true(s.line_moved);
    assert_true(near_to(s.line, 6.0));
    bench_button(&bench, 0, false);
    frame(&s);
    frame(&s);
    assert_false(s.line_moved);
    assert_true(s.view_x[0] == 0.0 && s.view_x[1] == 10.0); /* it did not pan */
}

/* On a logarithmic axis the fit begins at the least x that it can show, however far below the end
 * that is. */
static void a_logarithmic_fit_begins_at_the_least_positive_x(void **unused)
{
    static const double xs[] = {-3, 0, 0, 2, 5, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    (void)unused;
    for (uint32_t revision = 0; revision < 2; revision++) { /* read, or by an index */
        Shown s = {.x = xs,
                   .y = zigzag,
                   .count = 11,
                   .revision = revision,
                   .scale_x = CALIPER_SCALE_LOG10,
                   .flags = CALIPER_PLOT_NO_LEGEND};
        bench_stop(&bench);
        assert_true(bench_start(&bench, 1.0f));
        frame(&s);
        assert_true(fabs(s.view_x[0] - 2.0) < 1e-9);
        assert_true(fabs(s.view_x[1] - 1e7) < 1e-2);
    }
}

/* ---- The point under the pointer ---- */

static void the_pointer_names_each_element(void **state)
{
    static const double xs[] = {0.01, 0.1, 0.5, 1, 2, 10, 20, 100, 300, 700, 1000};
    (void)state;
    for (int log = 0; log < 2; log++) {
        Shown s = {.x = log ? xs : ramp,
                   .y = zigzag,
                   .count = 11,
                   .scale_x = log ? CALIPER_SCALE_LOG10 : CALIPER_SCALE_LINEAR,
                   .flags = CALIPER_PLOT_NO_LEGEND};
        bench_stop(&bench); /* another plot, from the start */
        assert_true(bench_start(&bench, 1.0f));
        frame(&s);
        for (int64_t i = 1; i < 10; i++) {
            float x, y;
            place_of(&s, s.x[i], s.y[i], &x, &y);
            bench_move(&bench, x, y);
            frame(&s);
            assert_true(s.near);
            assert_int_equal(s.series, 0);
            assert_int_equal(s.index, i);
        }
        bench_move(&bench, 395, 295); /* outside */
        frame(&s);
        assert_false(s.near);
    }
}

static void one_sample_in_a_million_is_found(void **unused)
{
    enum { COUNT = 1000000 };
    double *y = calloc(COUNT, sizeof *y);
    (void)unused;
    y[123457] = 9.0;
    y[123460] = -5.0;
    Shown s = {.y = y, .count = COUNT, .revision = 1, .flags = CALIPER_PLOT_NO_LEGEND};
    float x, y_px;
    frame(&s);
    assert_true(s.view_y[1] > 9.0 && s.view_y[0] < -5.0); /* the fit saw them */
    place_of(&s, 123457, 9.0, &x, &y_px);
    bench_move(&bench, x, y_px);
    frame(&s);
    assert_true(s.near);
    assert_int_equal(s.index, 123457);
    bench_move(&bench, x, 250);
    frame(&s);
    assert_int_equal(s.index, 123460);
    free(y);
}

static void of_two_lines_the_nearer_is_named_unless_it_is_hidden(void **unused)
{
    double other[11];
    Shown s = {
        .x = ramp, .y = zigzag, .other = other, .count = 11, .flags = CALIPER_PLOT_NO_LEGEND};
    float x, y;
    (void)unused;
    for (int i = 0; i < 11; i++)
        other[i] = zigzag[i] + 10.0;
    place_of(&s, 5, 16, &x, &y);
    bench_move(&bench, x, y);
    frame(&s);
    assert_true(s.near && s.series == 1 && s.index == 5);
    place_of(&s, 5, 7, &x, &y);
    bench_move(&bench, x, y);
    frame(&s);
    assert_true(s.near && s.series == 0 && s.index == 5);
}

/* ---- The legend ---- */

static bool hide_wanted;
static bool legend_answers[2];

static void draw_legend(UiBench *b, void *user)
{
    const CaliperPlotV1 *plot = b->plot;
    CaliperPlotData data = data_of(ramp, zigzag, 11);
    (void)user;
    if (plot->plot("##plot", 376, 280, 0)) {
        if (hide_wanted)
            plot->shown("a", 0);
        legend_answers[0] = plot->line("a", &data, 0);
        legend_answers[1] = plot->shown("a", -1);
        plot->line("b", &data, 0);
    }
    plot->end();
}

static void a_legend_entry_hides_its_series(void **unused)
{
    (void)unused;
    hide_wanted = false;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_legend, NULL);
    assert_true(legend_answers[0] && legend_answers[1]);
    const UiItem *entry = bench_item(&bench, "legend", "a", 0);
    assert_non_null(entry);
    bench_move(&bench, entry->x + entry->w / 2, entry->y + entry->h / 2);
    bench_frame(&bench, draw_legend, NULL);
    bench_frame(&bench, draw_legend, NULL);
    bench_button(&bench, 0, true);
    bench_frame(&bench, draw_legend, NULL);
    bench_button(&bench, 0, false);
    bench_frame(&bench, draw_legend, NULL);
    bench_frame(&bench, draw_legend, NULL);
    assert_false(legend_answers[0]);
    assert_false(legend_answers[1]);
    hide_wanted = true;
    bench_frame(&bench, draw_legend, NULL);
    assert_false(legend_answers[0]);
    assert_int_equal(bench.refused, 0);
}

/* ---- Linked axes, errors ---- */

static double linked[2];
static double views[2][2];

static void draw_linked(UiBench *b, void *user)
{
    const CaliperPlotV1 *plot = b->plot;
    CaliperPlotData data = data_of(ramp, zigzag, 11);
    (void)user;
    for (int i = 0; i < 2; i++) {
        if (plot->plot(i == 0 ? "##one" : "##two", 376, 130, CALIPER_PLOT_ALIGN)) {
            plot->axis_link(CALIPER_AXIS_X1, &linked[0], &linked[1]);
            plot->line("a", &data, 0);
            plot->view(CALIPER_AXIS_X1, &views[i][0], &views[i][1]);
        }
        plot->end();
    }
}

static void linked_plots_move_together(void **unused)
{
    (void)unused;
    linked[0] = linked[1] = 0.0;
    bench_frame(&bench, draw_linked, NULL);
    assert_true(linked[0] == 0.0 && linked[1] == 10.0); /* fitted first */
    bench_move(&bench, 200, 60);
    bench_frame(&bench, draw_linked, NULL);
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_WHEEL, .y = 2});
    bench_frame(&bench, draw_linked, NULL);
    bench_frame(&bench, draw_linked, NULL);
    assert_true(linked[1] - linked[0] < 9.0);
    for (int i = 0; i < 2; i++)
        assert_true(views[i][0] == linked[0] && views[i][1] == linked[1]);
    linked[0] = -3.0; /* the applet's own wish */
    linked[1] = 4.0;
    bench_frame(&bench, draw_linked, NULL);
    assert_true(views[0][0] == -3.0 && views[1][1] == 4.0);
}

static void draw_wrong(UiBench *b, void *user)
{
    const CaliperPlotV1 *plot = b->plot;
    CaliperPlotData data = data_of(ramp, zigzag, 11);
    (void)user;
    plot->line("outside", &data, 0); /* 1 */
    plot->end();                     /* 2 */
    if (plot->plot("p", 300, 100, 0)) {
        plot->line("a", NULL, 0); /* 3 */
        data.struct_size = 4;
        plot->line("b", &data, 0); /* 4 */
        data.struct_size = sizeof data;
        plot->axis(CALIPER_AXIS_X1, "late", 0, 0); /* 5 */
        plot->band("c", &data, 0);                 /* 6: no y2 */
        plot->line("d", &data, CALIPER_SERIES_Y2); /* 7: not named */
        data.y_type = 77;
        plot->scatter("e", &data, 0);          /* 8 */
        plot->ref_line("f", 9, &linked[0], 0); /* 9 */
    }
    plot->end();
}

static void each_misuse_is_one_line(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_wrong, NULL);
    assert_int_equal(bench.refused, 9);
}

/* ---- Ten million ---- */

static void ten_million_points_pan_without_a_scan(void **unused)
{
    enum { COUNT = 10000000 };
    double *y = malloc(COUNT * sizeof *y);
    (void)unused;
    assert_non_null(y);
    for (int64_t i = 0; i < COUNT; i++)
        y[i] = sin((double)i * 1e-5) + (double)(i * 7919 % 1000) * 1e-4;
    Shown s = {.y = y, .count = COUNT, .revision = 1, .flags = CALIPER_PLOT_NO_LEGEND};
    uint64_t before = plot_counters.indexed;
    for (int i = 0; i < 4; i++)
        frame(&s);
    uint64_t indexed = plot_counters.indexed;
    assert_int_equal(indexed - before, COUNT);
    bench_move(&bench, 200, 100);
    frame(&s);
    bench_button(&bench, 0, true);
    frame(&s);
    for (int i = 1; i <= 20; i++) {
        uint64_t read = plot_counters.read, drawn = plot_counters.drawn;
        bench_move(&bench, 200 - (float)i * 3, 100);
        frame(&s);
        assert_true(plot_counters.drawn - drawn <= 4 * 376 + 2);
        assert_true(plot_counters.read - read < COUNT / 50);
    }
    bench_button(&bench, 0, false);
    frame(&s);
    assert_int_equal(plot_counters.indexed, indexed);
    assert_true(s.view_x[0] > 0.1 * COUNT); /* it did pan */
    free(y);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(the_first_frame_fits_already),
        WITH(an_asked_range_is_taken_and_then_the_persons),
        WITH(the_wheel_zooms_at_the_pointer_and_a_double_click_fits),
        WITH(a_right_drag_zooms_to_its_box),
        WITH(a_shift_drag_selects_and_moves_nothing),
        WITH(a_line_across_follows_the_pointer),
        WITH(a_logarithmic_fit_begins_at_the_least_positive_x),
        WITH(the_pointer_names_each_element),
        cmocka_unit_test_setup_teardown(one_sample_in_a_million_is_found, setup_scaled, teardown),
        WITH(one_sample_in_a_million_is_found),
        WITH(of_two_lines_the_nearer_is_named_unless_it_is_hidden),
        cmocka_unit_test_setup_teardown(a_legend_entry_hides_its_series, setup_listening, teardown),
        WITH(linked_plots_move_together),
        WITH(each_misuse_is_one_line),
        WITH(ten_million_points_pan_without_a_scan),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
