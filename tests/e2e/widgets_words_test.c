/* tests/e2e/widgets_words_test.c: what numbers, rows of values and lists of items say: digits that
 * tell numbers apart and are taken back, numbers that are never broken, names of items without a
 * label, and a closed tree that is asked about. One thread. */
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

static void frames(void (*draw)(UiBench *, void *), int count)
{
    for (int i = 0; i < count; i++)
        bench_frame(&bench, draw, NULL);
}

static void click(float x, float y, void (*draw)(UiBench *, void *))
{
    bench_move(&bench, x, y);
    frames(draw, 1);
    bench_button(&bench, 0, true);
    frames(draw, 1);
    bench_button(&bench, 0, false);
    frames(draw, 2);
}

/* ---- Digits ---- */

static double ends[2];
static char text[64];
static float ends_width = 360;

static void draw_range(UiBench *b, void *user)
{
    (void)user;
    b->w->push_width(ends_width);
    b->w->drag_range("ends", &ends[0], &ends[1], 1e-9, 0, 0, 0, NULL, 0);
    b->w->end(CALIPER_SCOPE_WIDTH);
    snprintf(text, sizeof text, "%s", b->w->clipboard());
}

/* What a field shows, by its own edit line, which is left with the same text typed again. */
static const char *shown_in(uint32_t nth)
{
    static char shown[64];
    frames(draw_range, 2);
    const UiItem *field = bench_item(&bench, "drag", NULL, nth);
    assert_non_null(field);
    const float x = field->x + field->w / 2, y = field->y + field->h / 2;
    click(x, y, draw_range); /* twice: to type */
    click(x, y, draw_range);
    bench_key(&bench, 'A', UI_MODIFIER_CTRL);
    frames(draw_range, 2);
    bench_key(&bench, 'C', UI_MODIFIER_CTRL);
    frames(draw_range, 2);
    snprintf(shown, sizeof shown, "%s", text);
    bench_type(&bench, shown);
    frames(draw_range, 2);
    bench_key(&bench, CALIPER_KEY_ENTER, 0);
    frames(draw_range, 2);
    bench_move(&bench, 5, 200);
    frames(draw_range, 60); /* no third click of a double one */
    return shown;
}

static void numbers_are_told_apart_and_taken_back(void **unused)
{
    (void)unused;
    static const struct {
        double low, high;
        const char *low_text, *high_text;
    } cases[] = {
        {0, 1, "0", "1"},
        {-0.5, 0.25, "-0.5", "0.25"},
        {1000000, 1000000.5, "1000000", "1000000.5"},
        {16777215, 16777216, "16777215", "16777216"},
        {(double)0.1f, (double)0.2f, "0.1", "0.2"},
        {1, 1.0000001192092896, "1", "1.0000001"},          /* neighbours in binary32 */
        {1, 1.0000000000000002, "1", "1.0000000000000002"}, /* in binary64 */
        {9007199254740992.0, 9007199254740994.0, "9007199254740992", "9007199254740994"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < 2 * count; i++) {
        ends_width = i < count ? 360 : 100; /* too narrow for most: what is typed is whole */
        for (uint32_t nth = 0; nth < 2; nth++) {
            ends[0] = cases[i % count].low;
            ends[1] = cases[i % count].high;
            assert_string_equal(shown_in(nth),
                                nth == 0 ? cases[i % count].low_text : cases[i % count].high_text);
            const double given = nth == 0 ? cases[i % count].low : cases[i % count].high;
            assert_true((float)ends[nth] == (float)given && ends[0] < ends[1]);
        }
    }
}

/* ---- Numbers wider than their field ---- */

static double shown_number;
static int64_t shown_integer;
static float field_width;
static uint8_t pictures[2][BENCH_W * BENCH_H * 4];

static void draw_narrow(UiBench *b, void *user)
{
    double number = shown_number, three[3] = {number, 0, number};
    int64_t integer = shown_integer;
    (void)user;
    b->w->push_width(field_width);
    b->w->drag("##one", &number, 1, 1, 0, 0, 0, NULL, 0);
    b->w->slider("##slider", &number, -8e307, 8e307, 0, "m%", CALIPER_NUMBER_NO_CLAMP);
    b->w->slider("##places", &number, -8e307, 8e307, 3, NULL, CALIPER_NUMBER_NO_CLAMP);
    b->w->drag_int("##whole", &integer, 1, 1, 0, 0, "px", 0);
    b->w->slider_int("##steps", &integer, -(INT64_C(1) << 62), (INT64_C(1) << 62) - 1, NULL, 0);
    b->w->next_width(3 * field_width);
    b->w->drag("##three", three, 3, 1, 0, 0, 0, "m", 0);
    b->w->end(CALIPER_SCOPE_WIDTH);
}

/* The rows of the picture in which two numbers are shown differently. */
static bool rows_differ(float y, float height)
{
    const size_t row = (size_t)BENCH_W * 4, from = (size_t)y * row;
    return memcmp(pictures[0] + from, pictures[1] + from, (size_t)height * row) != 0;
}

/* Numbers that are alike but for their ends are shown differently in every field that has room for
 * one digit and an exponent. */
static void no_number_is_cut(void **unused)
{
    (void)unused;
    static const struct {
        double numbers[2];
        int64_t integers[2];
    } cases[] = {
        {{-1.2345678e-12, -1.2345678e-1}, {123456789012, 12345678901}},
        {{4.2535296e+37, 4.2535296e+3}, {-9007199254740993, -900719925474099}},
        {{1.0000001e-30, 1.0000001e+30}, {100000000000, 1000000000000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (field_width = 70; field_width < 130; field_width += 7) {
            for (int which = 0; which < 2; which++) {
                shown_number = cases[i].numbers[which];
                shown_integer = cases[i].integers[which];
                bench_move(&bench, 390, 290);
                frames(draw_narrow, 3);
                assert_true(
                    renderer_frame_read(bench.renderer, pictures[which], sizeof pictures[which]));
            }
            uint32_t count = 0, fields = 0;
            const UiItem *items = ui_items(bench.ui, &count);
            for (uint32_t n = 0; n < count; n++) {
                fields += items[n].w > 0;
                if (!rows_differ(items[n].y, items[n].h))
                    fail_msg("case %zu: %s %s, %.0f wide, shows both alike", i, items[n].kind,
                             items[n].label, (double)field_width);
            }
            assert_int_equal(fields, 8);
        }
    }
}

/* ---- Fields ---- */

static const char *const numbers[] = {"-1.7976931348623157e+308", "5e-324", "-9223372036854775808",
                                      "18446744073709551615", "two words of a value"};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
static float panel_width;
static float line_heights[NUMBERS], text_height, widths[NUMBERS];

static void draw_fields(UiBench *b, void *user)
{
    float unused;
    (void)user;
    b->w->text_size("x", -1, 0, 0, &unused, &text_height);
    b->w->child("room", panel_width, 0, 0);
    for (int i = 0; i < NUMBERS; i++) {
        b->w->field("minimum", numbers[i]);
        b->w->item_rect(&unused, &unused, &widths[i], &line_heights[i]);
    }
    b->w->end(CALIPER_SCOPE_CHILD);
}

/* At every width that holds a number at all, it stands on one line: its label's or its own. */
static void no_number_is_broken(void **unused)
{
    (void)unused;
    float wide, unused_height;
    int below = 0;
    for (panel_width = 215; panel_width < 415; panel_width += 5) {
        frames(draw_fields, 2);
        for (int i = 0; i + 1 < NUMBERS; i++) {
            bench.w->text_size(numbers[i], -1, 0, 0, &wide, &unused_height);
            below += line_heights[i] > text_height * 1.5f;
            if (line_heights[i] > text_height * 2.6f || widths[i] > panel_width)
                fail_msg("%s in %.0f units takes %.0f x %.0f", numbers[i], (double)panel_width,
                         (double)widths[i], (double)line_heights[i]);
        }
    }
    assert_true(below > 10); /* some did not fit beside their label */
    panel_width = 140;       /* words are still broken at their spaces */
    frames(draw_fields, 2);
    assert_true(line_heights[NUMBERS - 1] > text_height * 1.5f);
}

/* ---- Lists ---- */

static char typed[16];

static void draw_unlabelled(UiBench *b, void *user)
{
    int64_t whole = 3;
    (void)user;
    b->w->input_text("##path", NULL, typed, sizeof typed, 0, 0);
    b->w->slider_int("##at", &whole, 0, 9, NULL, 0);
    b->w->combo_list("##recent", "a", 0);
    b->w->end(CALIPER_SCOPE_COMBO);
    b->w->button("shown##hidden", 0, 0, 0);
    b->w->button("one###two", 0, 0, 0);
}

static void every_item_of_a_list_has_a_name(void **unused)
{
    (void)unused;
    static const char *const wanted[] = {"path", "at", "recent", "shown", "one"};
    uint32_t count = 0, found = 0;
    frames(draw_unlabelled, 2);
    const UiItem *items = ui_items(bench.ui, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].owner == 0)
            continue;
        assert_true(items[i].label[0] != '\0');
        found += found < 5 && strcmp(items[i].label, wanted[found]) == 0;
    }
    assert_int_equal(found, 5);
}

/* ---- A closed tree ---- */

static uint32_t asked;
static float asked_height;
static bool opened;

static void draw_tree(UiBench *b, void *user)
{
    float unused, inner_height = 0;
    (void)user;
    opened = b->w->tree("branch", 0);
    asked = b->w->item();
    b->w->item_rect(&unused, &unused, &unused, &asked_height);
    b->w->text("leaf");
    b->w->child("within", 0, 20, 0); /* in it nothing is asked about but what is drawn there */
    if (!opened) {
        assert_int_equal(b->w->item(), 0);
        b->w->item_rect(&unused, &unused, &unused, &inner_height);
        assert_true(inner_height == 0);
    }
    b->w->end(CALIPER_SCOPE_CHILD);
    b->w->end(CALIPER_SCOPE_TREE);
}

static void a_closed_tree_answers_for_itself(void **unused)
{
    (void)unused;
    frames(draw_tree, 3);
    assert_false(opened);
    assert_true((asked & CALIPER_ITEM_VISIBLE) != 0 && asked_height > 0);
    const UiItem *tree = bench_item(&bench, "tree", NULL, 0);
    assert_non_null(tree);
    const float x = tree->x + 20, y = tree->y + tree->h / 2;
    bench_move(&bench, x, y);
    frames(draw_tree, 2);
    assert_true((asked & CALIPER_ITEM_HOVERED) != 0);
    int toggles = 0;
    for (int press = 0; press < 2; press++) { /* open, and closed again: both are told */
        for (int step = 0; step < 2; step++) {
            bench_button(&bench, 0, step == 0);
            for (int i = 0; i < 2; i++) {
                frames(draw_tree, 1);
                toggles += (asked & CALIPER_ITEM_TOGGLED) != 0;
            }
        }
        assert_true(opened == (press == 0));
        assert_int_equal(toggles, press + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_are_told_apart_and_taken_back, setup, teardown),
        cmocka_unit_test_setup_teardown(no_number_is_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(no_number_is_broken, setup, teardown),
        cmocka_unit_test_setup_teardown(every_item_of_a_list_has_a_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closed_tree_answers_for_itself, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
