/* tests/e2e/plot_wheel_test.c: what the wheel turns over a plot, with scripted input: the page that
 * the plot stands in, or the plot. What else the pointer does to a plot: plot_test.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ui_bench.h"

static UiBench bench;

static int setup(void **unused)
{
    (void)unused;
    return bench_start(&bench, 1.0f) ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    bench_stop(&bench);
    return 0;
}

/* 0 to 10 in x. */
static const double zigzag[] = {0, 4, 1, 5, 2, 6, 3, 7, 4, 8, 5};

typedef struct Page {
    double view_x[3][2]; /* of each chart */
    float space;         /* below them: 0, all is in sight */
    uint32_t child_flags;
    float scroll, most;
} Page;

static void draw_page(UiBench *b, void *user)
{
    Page *page = user;
    if (b->w->child("##page", 0, 0, page->child_flags)) {
        for (int i = 0; i < 3; i++) {
            b->w->push_id_int((uint64_t)i);
            if (b->plot->plot("##chart", 340, 80, 0)) {
                CaliperPlotData data = {.struct_size = sizeof data, .y = zigzag, .count = 11};
                b->plot->line("first", &data, 0);
                b->plot->view(CALIPER_AXIS_X1, &page->view_x[i][0], &page->view_x[i][1]);
            }
            b->plot->end();
            b->w->end(CALIPER_SCOPE_ID);
        }
        if (page->space > 0)
            b->w->space(1, page->space);
        b->w->scroll(&page->scroll, &page->most);
    }
    b->w->end(CALIPER_SCOPE_CHILD);
}

static void page_frames(Page *page, int count)
{
    for (int i = 0; i < count; i++)
        bench_frame(&bench, draw_page, page);
}

static Page page_of(float space)
{
    Page page = {.space = space};
    bench_move(&bench, 390, 295);
    page_frames(&page, 3);
    return page;
}

static void turn(Page *page, float notches)
{
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_WHEEL, .y = notches});
    page_frames(page, 3);
}

static double width_of(const Page *page, int chart)
{
    return page->view_x[chart][1] - page->view_x[chart][0];
}

static void assert_no_zoom(const Page *page)
{
    for (int i = 0; i < 3; i++)
        assert_true(width_of(page, i) == 10.0);
}

static void the_wheel_scrolls_a_page_over_its_plots(void **unused)
{
    (void)unused;
    Page page = page_of(2000);
    assert_true(page.most > 1000);
    bench_move(&bench, 200, 50); /* in the first plot, then whatever comes under the pointer */
    page_frames(&page, 2);
    float before = page.scroll;
    for (int i = 0; i < 4; i++) {
        turn(&page, -1);
        assert_true(page.scroll > before);
        before = page.scroll;
        assert_no_zoom(&page);
    }
    turn(&page, 20);
    assert_true(page.scroll == 0.0f);
    turn(&page, 1); /* at its end it does not zoom either */
    assert_no_zoom(&page);
}

static void a_click_or_ctrl_gives_a_plot_the_wheel(void **unused)
{
    (void)unused;
    Page page = page_of(2000);
    bench_move(&bench, 200, 50);
    page_frames(&page, 2);
    bench_button(&bench, 0, true);
    page_frames(&page, 1);
    bench_button(&bench, 0, false);
    page_frames(&page, 2);
    turn(&page, 2);
    assert_true(width_of(&page, 0) < 9.0 && width_of(&page, 1) == 10.0);
    assert_true(page.scroll == 0.0f);
    turn(&page, -2);
    assert_true(fabs(width_of(&page, 0) - 10.0) < 1e-6 && page.scroll == 0.0f);
    /* Left and entered again it is one of the page's. */
    double width = width_of(&page, 0);
    bench_move(&bench, 390, 295);
    page_frames(&page, 2);
    bench_move(&bench, 200, 50);
    page_frames(&page, 2);
    turn(&page, -1);
    assert_true(page.scroll > 0.0f && width_of(&page, 0) == width);
    turn(&page, 20);
    assert_true(page.scroll == 0.0f);
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_KEY, .modifiers = UI_MODIFIER_CTRL});
    page_frames(&page, 2);
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_WHEEL, .y = 2, .modifiers = UI_MODIFIER_CTRL});
    page_frames(&page, 3);
    assert_true(width_of(&page, 0) < 9.0 && page.scroll == 0.0f);
}

static void a_page_that_does_not_scroll_zooms_at_once(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) { /* all is in sight; or it is out of sight for good */
        Page page = page_of(0);
        page.space = i == 0 ? 0 : 2000;
        page.child_flags = i == 0 ? 0 : CALIPER_CHILD_NO_SCROLL;
        page_frames(&page, 3);
        bench_move(&bench, 200, 50);
        page_frames(&page, 2);
        turn(&page, 2);
        assert_true(width_of(&page, 0) < 9.0);
        assert_true(page.scroll == 0.0f);
        bench_key(&bench, 0, 0);
        for (int k = 0; k < 2; k++) { /* fits again, for the next round */
            bench_button(&bench, 0, true);
            page_frames(&page, 1);
            bench_button(&bench, 0, false);
            page_frames(&page, 1);
        }
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(the_wheel_scrolls_a_page_over_its_plots),
        WITH(a_click_or_ctrl_gives_a_plot_the_wheel),
        WITH(a_page_that_does_not_scroll_zooms_at_once),
    };
    return cmocka_run_group_tests_name("plot wheel", tests, NULL, NULL);
}
