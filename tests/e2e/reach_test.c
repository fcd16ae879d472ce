/* tests/e2e/reach_test.c: everything that a panel shows is reached once by the keyboard alone and
 * once by the pointer, from the list that the toolkit layer itself gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ui_bench.h"

static UiBench bench;
static int pressed, ticked;
static bool off, on = true;
static double value = 0.5, triple[3] = {1, 2, 3}, low = 0, high = 1;
static int64_t whole = 3;
static int32_t choice;
static char name[16] = "name";
static uint32_t rgba = 0xff336699u;
static float half = 100;

static void draw(UiBench *b, void *user)
{
    static const char *const items[] = {"one", "two"};
    static const double y[] = {1, 2, 3};
    const CaliperWidgetsV1 *w = b->w;
    CaliperPlotData data = {.struct_size = sizeof data, .y = y, .count = 3};
    (void)user;
    pressed += w->button("button", 0, 0, 0);
    w->same_line(0, 0);
    ticked += w->checkbox("check", &off);
    w->same_line(0, 0);
    w->radio("radio", &choice, 1);
    w->disabled(true);
    w->same_line(0, 0);
    w->button("grey", 0, 0, 0);
    w->end(CALIPER_SCOPE_DISABLED);
    w->push_width(120);
    w->slider("slider", &value, 0, 1, 2, NULL, 0);
    w->drag("drag", triple, 3, 0, 0, 0, 2, NULL, 0);
    w->input_int("int", &whole, 1, 0);
    w->input_text("text", NULL, name, sizeof name, 0, 0);
    w->combo("combo", &choice, items, 2, 0);
    w->color_edit("colour", &rgba, CALIPER_COLOR_SWATCH);
    w->end(CALIPER_SCOPE_WIDTH);
    w->same_line(0, 0);
    w->selectable("row", false, 100, 0, 0);
    w->tree("tree", 0);
    w->end(CALIPER_SCOPE_TREE);
    if (w->tab_bar("tabs", 0)) {
        w->tab("tab one", NULL, 0);
        w->end(CALIPER_SCOPE_TAB);
        w->tab("tab two", NULL, 0);
        w->end(CALIPER_SCOPE_TAB);
    }
    w->end(CALIPER_SCOPE_TAB_BAR);
    if (b->plot->plot("plot", 200, 90, 0))
        b->plot->line("series", &data, 0);
    b->plot->end();
    b->plot->color_bar("bar", CALIPER_CMAP_VIRIDIS, &low, &high, 100, 0, CALIPER_SERIES_DRAG);
    (void)on;
}

/* What is in regions of its own. */
static void draw_regions(UiBench *b, void *user)
{
    const CaliperWidgetsV1 *w = b->w;
    (void)user;
    if (w->child("child", 90, 30, CALIPER_CHILD_BORDER))
        w->button("in child", 0, 0, 0);
    w->end(CALIPER_SCOPE_CHILD);
    w->same_line(0, 0);
    if (w->table("table", 1, 90, 60, CALIPER_TABLE_SCROLL)) {
        w->table_column("c", 0, 0);
        w->table_row(0, 0);
        w->table_cell(0, 0);
        w->button("in table", 0, 0, 0);
    }
    w->end(CALIPER_SCOPE_TABLE);
    w->split("split", CALIPER_SPLIT_LEFT_RIGHT, &half, 60, 60);
    w->button("first", 0, 0, 0);
    w->split_next();
    w->image_view("picture", 0, 8, 8, 0, 0, NULL, 0);
    w->end(CALIPER_SCOPE_IMAGE);
    w->end(CALIPER_SCOPE_SPLIT);
}

static int setup(void **unused)
{
    (void)unused;
    pressed = ticked = 0;
    off = false;
    return bench_start_listening(&bench, 1.0f, BENCH_W, BENCH_H) ? 0 : -1;
}

static int teardown(void **unused)
{
    (void)unused;
    bench_stop(&bench);
    return 0;
}

static void (*drawn)(UiBench *b, void *user) = draw;

static void frame(void)
{
    bench_frame(&bench, drawn, NULL);
}

static void press(uint32_t key, uint32_t modifiers)
{
    bench_key(&bench, key, modifiers);
    for (int i = 0; i < 4; i++)
        frame();
}

typedef struct Reached {
    char text[120];
    uint32_t id;
    bool enabled, by_key, by_pointer;
} Reached;

static Reached reached[128];
static uint32_t reached_count;

static void remember(void)
{
    uint32_t count = 0;
    const UiItem *items = ui_items(bench.ui, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        char text[120];
        snprintf(text, sizeof text, "%s %s", items[i].kind, items[i].label);
        while (k < reached_count &&
               !(reached[k].id == items[i].id && strcmp(reached[k].text, text) == 0))
            k++;
        if (k == reached_count) {
            assert_true(reached_count < 128);
            reached[reached_count++] = (Reached){.id = items[i].id, .enabled = items[i].enabled};
            memcpy(reached[k].text, text, sizeof text);
        }
        reached[k].by_key |= items[i].focused;
    }
}

static void reach_all(uint32_t least)
{
    reached_count = 0;
    for (int i = 0; i < 3; i++)
        frame();
    remember();
    assert_true(reached_count >= least);
    for (int i = 0; i < 80; i++) {
        press(CALIPER_KEY_TAB, 0);
        remember();
    }
    for (uint32_t i = 0; i < reached_count; i++) {
        if (reached[i].enabled != reached[i].by_key)
            print_message("%s: enabled %d, reached %d\n", reached[i].text, reached[i].enabled,
                          reached[i].by_key);
        assert_int_equal(reached[i].by_key, reached[i].enabled);
    }
}

static void all_is_listed_and_reached_by_tab(void **unused)
{
    (void)unused;
    reach_all(18);
    assert_int_equal(pressed, 0); /* going past presses nothing */
    assert_int_equal(ticked, 0);
}

/* A child, a table that scrolls, both sides of a split and its handle. */
static void tab_goes_into_regions(void **unused)
{
    (void)unused;
    drawn = draw_regions;
    reach_all(5);
    drawn = draw;
}

/* Tab until an item has the keyboard. */
static void go_to(const char *kind)
{
    for (int i = 0; i < 80; i++) {
        if (bench_has_focus(&bench, kind, NULL))
            return;
        press(CALIPER_KEY_TAB, 0);
    }
    fail();
}

/* Space and Enter; a combo's list is opened, gone through and closed by them alone. */
static void space_and_enter_press_what_has_the_keyboard(void **unused)
{
    static const uint32_t keys[] = {' ', CALIPER_KEY_ENTER};
    (void)unused;
    for (int i = 0; i < 3; i++)
        frame();
    for (int k = 0; k < 2; k++) {
        int before = pressed, ticks = ticked;
        bool was_on = off;
        go_to("button");
        press(keys[k], 0);
        assert_int_equal(pressed, before + 1);
        go_to("checkbox");
        press(keys[k], 0);
        assert_int_equal(ticked, ticks + 1);
        assert_true(off != was_on);
        choice = 0;
        go_to("combo");
        press(keys[k], 0);
        press(CALIPER_KEY_DOWN, 0);
        press(keys[k], 0);
        assert_int_equal(choice, 1);
        press(CALIPER_KEY_TAB, 0);
        go_to("radio");
        choice = 0;
        press(keys[k], 0);
        assert_int_equal(choice, 1);
    }
}

/* The Enter that ends a text does no more, however long it is held. */
static void enter_ends_a_text(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        frame();
    go_to("input_text");
    press(CALIPER_KEY_ENTER, 0);
    bool edited = ui_wants_text(bench.ui);
    if (!edited) { /* Tab already began it */
        press(CALIPER_KEY_ENTER, 0);
        edited = ui_wants_text(bench.ui);
    }
    assert_true(edited);
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_KEY, .code = CALIPER_KEY_ENTER, .down = true});
    for (int i = 0; i < 5; i++)
        frame();
    assert_false(ui_wants_text(bench.ui));
    ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_KEY, .code = CALIPER_KEY_ENTER});
    frame();
    assert_false(ui_wants_text(bench.ui));
}

static void the_pointer_reaches_all_of_them(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        frame();
    uint32_t count = 0;
    const UiItem *items = ui_items(bench.ui, &count);
    for (uint32_t i = 0; i < count; i++) {
        float x = items[i].x + items[i].w / 2, y = items[i].y + items[i].h / 2;
        if (!items[i].enabled || !items[i].in_sight)
            continue;
        assert_true(x > 0 && x < BENCH_W && y > 0 && y < BENCH_H);
        if (strcmp(items[i].kind, "button") == 0 && strcmp(items[i].label, "button") == 0) {
            bench_move(&bench, x, y);
            frame();
            bench_button(&bench, 0, true);
            bench_button(&bench, 0, false);
            for (int k = 0; k < 4; k++)
                frame();
        }
        items = ui_items(bench.ui, &count);
    }
    assert_int_equal(pressed, 1);
}

/* ---- What is steered once it is held ---- */

static double view[3];
static float side = 120;
static bool equals_pressed;

static void draw_picture(UiBench *b, void *user)
{
    (void)user;
    b->w->button("button", 0, 0, 0);
    b->w->image_view("picture", 0, 100, 50, 100, 100, view, 0);
    b->w->end(CALIPER_SCOPE_IMAGE);
    equals_pressed |= b->w->shortcut('=', 0);
}

static void draw_halves(UiBench *b, void *user)
{
    (void)user;
    b->w->split("halves", CALIPER_SPLIT_LEFT_RIGHT, &side, 50, 50);
    b->w->button("button", 0, 0, 0);
    b->w->end(CALIPER_SCOPE_SPLIT);
}

static void (*draw_steered)(UiBench *b, void *user);

static void steer(uint32_t key)
{
    bench_key(&bench, key, 0);
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_steered, NULL);
}

static void go_to_steered(const char *kind)
{
    for (int i = 0; i < 20; i++) {
        if (bench_has_focus(&bench, kind, NULL))
            return;
        steer(CALIPER_KEY_TAB);
    }
    fail();
}

/* 100 x 50 texels in 100 x 100 units: one unit a texel when the picture fits. A step is a tenth of
 * what is in sight. */
static void a_picture_is_steered_by_keys(void **unused)
{
    (void)unused;
    memset(view, 0, sizeof view);
    draw_steered = draw_picture;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_steered, NULL);
    go_to_steered("area");
    steer('='); /* not held yet: a shortcut like any other */
    assert_true(equals_pressed && view[2] == 0);
    steer(CALIPER_KEY_ENTER);
    steer(CALIPER_KEY_RIGHT);
    assert_true(view[0] == 60 && view[1] == 25 && view[2] == 1);
    steer(CALIPER_KEY_DOWN);
    assert_true(view[0] == 60 && view[1] == 35 && view[2] == 1);
    equals_pressed = false;
    steer('=');
    assert_true(view[0] == 60 && view[1] == 35 && view[2] == 1.25);
    assert_false(equals_pressed); /* one key does one thing */
    steer(CALIPER_KEY_LEFT);
    assert_true(view[0] == 52 && view[2] == 1.25);
    steer('-');
    assert_true(view[2] == 1);
    steer(CALIPER_KEY_UP);
    assert_true(view[1] == 25);
    steer(CALIPER_KEY_HOME);
    assert_true(view[0] == 0 && view[1] == 0 && view[2] == 0);
    steer(CALIPER_KEY_ESCAPE);
    steer(CALIPER_KEY_RIGHT);
    assert_true(view[2] == 0);
    go_to_steered("area");
    steer(' ');
    steer(CALIPER_KEY_TAB); /* lets go and goes on */
    steer('=');
    assert_true(view[2] == 0);
}

static void a_handle_is_moved_by_keys(void **unused)
{
    (void)unused;
    side = 120;
    draw_steered = draw_halves;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_steered, NULL);
    go_to_steered("splitter");
    steer(CALIPER_KEY_ENTER);
    steer(CALIPER_KEY_RIGHT);
    assert_true(side == 128);
    for (int i = 0; i < 12; i++)
        steer(CALIPER_KEY_LEFT);
    assert_true(side == 50); /* the least that was asked for */
    steer(CALIPER_KEY_UP);   /* not its axis */
    steer(CALIPER_KEY_ENTER);
    steer(CALIPER_KEY_RIGHT);
    assert_true(side == 50);
}

static double seen_low, seen_high;

static void draw_plot(UiBench *b, void *user)
{
    static const double y[] = {0, 1, 0, 1, 0};
    CaliperPlotData data = {.struct_size = sizeof data, .y = y, .count = 5};
    (void)user;
    if (b->plot->plot("plot", 300, 200, 0)) {
        b->plot->line("series", &data, 0);
        b->plot->view(CALIPER_AXIS_X1, &seen_low, &seen_high);
    }
    b->plot->end();
}

/* The arrows pan, - and + zoom about the middle, Home is the view of the beginning; Escape lets
 * go. */
static void a_plot_is_steered_by_keys(void **unused)
{
    (void)unused;
    draw_steered = draw_plot;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_steered, NULL);
    go_to_steered("plot");
    const double low_before = seen_low, width = seen_high - seen_low;
    steer(CALIPER_KEY_ENTER);
    steer(CALIPER_KEY_RIGHT);
    assert_true(seen_low > low_before && seen_high - seen_low < width * 1.001);
    steer('-');
    assert_true(seen_high - seen_low > width * 1.1);
    steer('=');
    assert_true(seen_high - seen_low < width * 1.001);
    steer(CALIPER_KEY_HOME);
    assert_true(seen_low == low_before);
    steer(CALIPER_KEY_ESCAPE);
    steer(CALIPER_KEY_RIGHT);
    assert_true(seen_low == low_before);
}

static bool left;

static void draw_arrows(UiBench *b, void *user)
{
    draw(b, user);
    left |= b->w->shortcut(CALIPER_KEY_LEFT, 0);
}

static void arrows_are_shortcuts_until_there_is_a_focus(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_arrows, NULL);
    left = false;
    bench_key(&bench, CALIPER_KEY_LEFT, 0);
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_arrows, NULL);
    assert_true(left);
    press(CALIPER_KEY_TAB, 0);
    left = false;
    bench_key(&bench, CALIPER_KEY_LEFT, 0);
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_arrows, NULL);
    assert_false(left);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(all_is_listed_and_reached_by_tab),
        WITH(tab_goes_into_regions),
        WITH(space_and_enter_press_what_has_the_keyboard),
        WITH(enter_ends_a_text),
        WITH(the_pointer_reaches_all_of_them),
        WITH(a_picture_is_steered_by_keys),
        WITH(a_handle_is_moved_by_keys),
        WITH(a_plot_is_steered_by_keys),
        WITH(arrows_are_shortcuts_until_there_is_a_focus),
    };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
