/* tests/e2e/widgets_limits_test.c: long lists, full regions, the first frame of a menu bar, focus
 * that comes back, tables out of sight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui_bench.h"

static UiBench bench;

static int setup(void **unused)
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

static void click(float x, float y, void (*draw)(UiBench *, void *))
{
    bench_move(&bench, x, y);
    bench_frame(&bench, draw, NULL);
    bench_button(&bench, 0, true);
    bench_frame(&bench, draw, NULL);
    bench_button(&bench, 0, false);
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw, NULL);
}

/* ---- A combo of 100 000 ---- */

enum { ENTRIES = 100000 };
static char entry_texts[ENTRIES][8];
static const char *entries[ENTRIES];
static int32_t chosen;

static void draw_combo(UiBench *b, void *user)
{
    (void)user;
    b->w->combo("many", &chosen, entries, ENTRIES, 0);
}

static void a_long_combo_draws_what_is_in_sight(void **unused)
{
    (void)unused;
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(entry_texts[i], sizeof entry_texts[i], "e%05d", i);
        entries[i] = entry_texts[i];
    }
    chosen = 50000;
    bench_frame(&bench, draw_combo, NULL);
    bench_frame(&bench, draw_combo, NULL);
    assert_int_equal(bench_item_count(&bench, "combo"), 1);
    const UiItem *first = bench_item(&bench, "combo", NULL, 0);
    click(first->x + 20, first->y + 5, draw_combo);
    uint32_t drawn = bench_item_count(&bench, "entry");
    assert_true(drawn > 2 && drawn < 40);
    first = bench_item(&bench, "entry", NULL, 0);
    assert_true(atoi(first->label + 1) > 49960); /* opened where the chosen one is */
    bench_type(&bench, "99998");                 /* the filter line has the keyboard */
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_combo, NULL);
    assert_int_equal(bench_item_count(&bench, "entry"), 1);
    first = bench_item(&bench, "entry", NULL, 0);
    assert_string_equal(first->label, "e99998");
    bench_key(&bench, CALIPER_KEY_ENTER, 0);
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_combo, NULL);
    assert_int_equal(chosen, 99998);
    assert_int_equal(bench_item_count(&bench, "entry"), 0);
    assert_int_equal(bench.refused, 0);
}

/* ---- A full region ---- */

static void draw_too_much(UiBench *b, void *user)
{
    (void)user;
    if (b->w->canvas("full", 300, 200, 0)) {
        for (int i = 0; i < 400000; i++)
            b->w->draw_line(i % 290, 0, i % 280, 190, 0, 1);
    }
    b->w->end(CALIPER_SCOPE_CANVAS);
    b->w->button("after", 0, 0, 0);
}

static void a_full_region_says_so_once_and_draws_what_fits(void **unused)
{
    (void)unused;
    bench_frame(&bench, draw_too_much, NULL);
    bench_frame(&bench, draw_too_much, NULL);
    assert_int_equal(bench.refused, 1);
    assert_non_null(strstr(bench.last, "2^20"));
}

/* ---- Menu bars ---- */

static float button_y[3];
static int menu_frame;

static void draw_menu(UiBench *b, void *user)
{
    (void)user;
    if (b->w->menu_bar())
        b->w->menu("File");
    b->w->end(CALIPER_SCOPE_MENU);
    b->w->end(CALIPER_SCOPE_MENU_BAR);
    b->w->button("below", 0, 0, 0);
    uint32_t count = 0;
    const UiItem *items = ui_items(b->ui, &count);
    if (menu_frame < 3 && count > 0)
        button_y[menu_frame++] = items[count - 1].y;
}

static void a_menu_bar_is_there_in_its_first_frame(void **unused)
{
    (void)unused;
    menu_frame = 0;
    for (int i = 0; i < 3; i++) {
        bench_frame(&bench, draw_menu, NULL);
        assert_int_equal(bench_item_count(&bench, "menu"), 1);
    }
    assert_true(button_y[0] == button_y[1] && button_y[1] == button_y[2]);
    assert_true(button_y[0] > 30.0f); /* below the bar */
}

/* ---- Focus ---- */

static bool window_open, heard;

static void draw_window(UiBench *b, void *user)
{
    (void)user;
    heard |= b->w->shortcut('K', 0);
    b->w->window("over", 200, 100, &window_open, 0);
    b->w->button("inside", 0, 0, 0);
    b->w->end(CALIPER_SCOPE_WINDOW);
}

static void the_keyboard_comes_back_from_a_window_that_is_gone(void **unused)
{
    (void)unused;
    window_open = true;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_window, NULL);
    click(120, 110, draw_window); /* into the window */
    window_open = false;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_window, NULL);
    heard = false;
    bench_key(&bench, 'K', 0);
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_window, NULL);
    assert_true(heard);
}

/* ---- Tables out of sight ---- */

static void draw_nested(UiBench *b, void *user)
{
    (void)user;
    b->w->table("outer", 3, 100, 60, CALIPER_TABLE_SCROLL | CALIPER_TABLE_SCROLL_X);
    b->w->table_column("a", 300, 0);
    b->w->table_column("b", 300, 0);
    b->w->table_column("c", 300, 0);
    for (int32_t column = 0; column < 3; column++) {
        b->w->table_cell(column, 0); /* the answer is ignored: that only costs time */
        b->w->push_id_int((uint64_t)column);
        b->w->table("inner", 2, 0, 40, column % 2 ? CALIPER_TABLE_SCROLL : 0);
        b->w->table_cell(0, 0);
        b->w->text("x");
        b->w->end(CALIPER_SCOPE_TABLE);
        b->w->end(CALIPER_SCOPE_ID);
    }
    b->w->end(CALIPER_SCOPE_TABLE);
    b->w->set_cursor(0, 5000);
    b->w->table("far below", 2, 0, 40, CALIPER_TABLE_SCROLL);
    b->w->table_cell(0, 0);
    b->w->end(CALIPER_SCOPE_TABLE);
}

static void tables_out_of_sight_cost_nothing_but_time(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        bench_frame(&bench, draw_nested, NULL);
    assert_int_equal(bench.refused, 0);
}

/* ---- Long texts ---- */

enum { LONG_BYTES = 1 << 16 };
static char long_text[LONG_BYTES + 1];
static float long_wrap_w, long_h, long_wanted_h;
static int long_kind;

static void draw_long_text(UiBench *b, void *user)
{
    float top = 0.0f, x = 0.0f, y = 0.0f;
    (void)user;
    b->w->child("##long", 0, 0, 0);
    b->w->remaining(&long_wrap_w, NULL);
    b->w->cursor(&x, &top);
    if (long_kind == 0) {
        b->w->text_ex(long_text, -1, 0, CALIPER_TEXT_WRAP);
    } else if (long_kind == 1) {
        b->w->field("long", long_text);
    } else if (long_kind == 2) {
        b->w->push_text(0, CALIPER_TEXT_WRAP);
        b->w->text(long_text);
        b->w->end(CALIPER_SCOPE_TEXT);
    } else if (long_kind == 3) {
        b->w->button("under the pointer", 400, 300, 0);
        b->w->tooltip(long_text);
    } else {
        b->w->text(long_text);
    }
    b->w->cursor(&x, &y);
    long_h = y - top;
    b->w->text_size(long_text, -1, long_wrap_w, 0, NULL, &long_wanted_h);
    b->w->end(CALIPER_SCOPE_CHILD);
}

/* More glyphs than a draw list has room for between two commands. Wrapped by hand or by Dear ImGui,
 * a text has the same height. */
static void texts_of_any_length_are_drawn(void **unused)
{
    static const char words[] = "word, \xc3\xa9 and others  ";
    (void)unused;
    for (int shape = 0; shape < 3; shape++) {
        for (size_t i = 0; i < LONG_BYTES; i++)
            long_text[i] = shape == 2 ? 'x' : words[i % (sizeof words - 1)];
        for (size_t i = 97; shape == 1 && i < LONG_BYTES; i += 97)
            long_text[i] = '\n';
        long_text[LONG_BYTES] = '\0';
        for (long_kind = 0; long_kind < 5; long_kind++) {
            bench_move(&bench, 40.0f, 40.0f);
            for (int i = 0; i < (long_kind == 3 ? 40 : 3); i++)
                bench_frame(&bench, draw_long_text, NULL);
            if (long_kind == 0 || long_kind == 2)
                assert_true(long_h >= long_wanted_h && long_h < long_wanted_h + 40.0f);
        }
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(a_long_combo_draws_what_is_in_sight),
        WITH(a_full_region_says_so_once_and_draws_what_fits),
        WITH(a_menu_bar_is_there_in_its_first_frame),
        WITH(the_keyboard_comes_back_from_a_window_that_is_gone),
        WITH(tables_out_of_sight_cost_nothing_but_time),
        WITH(texts_of_any_length_are_drawn),
    };
    return cmocka_run_group_tests_name("widgets_limits", tests, NULL, NULL);
}
