/* tests/e2e/widgets_test.c: what the slots of the widgets table promise, on the cpu renderer with
 * scripted input. Expected colours are entries of matplotlib's published viridis table. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* ---- Buttons and ids ---- */

typedef struct Pressed {
    int first, second;
    float x, y, w, h;
} Pressed;

static void two_equal_buttons(UiBench *b, void *user)
{
    Pressed *pressed = user;
    pressed->first += b->w->button("same", 100, 30, 0);
    pressed->second += b->w->button("same", 100, 30, 0);
    b->w->item_rect(&pressed->x, &pressed->y, &pressed->w, &pressed->h);
}

static void click(float x, float y, void (*draw)(UiBench *, void *), void *user)
{
    bench_move(&bench, x, y);
    bench_frame(&bench, draw, user);
    bench_button(&bench, 0, true);
    bench_frame(&bench, draw, user);
    bench_button(&bench, 0, false);
    bench_frame(&bench, draw, user);
    bench_frame(&bench, draw, user);
}

static void equal_labels_are_two_buttons(void **unused)
{
    Pressed pressed = {0};
    (void)unused;
    bench_frame(&bench, two_equal_buttons, &pressed);
    assert_int_equal(bench.refused, 1); /* the advice, once */
    assert_non_null(strstr(bench.last, "push_id_int"));
    /* The second lies below the first: panel padding 12, 10; 30 high, 6 between. */
    click(40, 10 + 36 + 15, two_equal_buttons, &pressed);
    assert_int_equal(pressed.first, 0);
    assert_int_equal(pressed.second, 1);
    click(40, 10 + 15, two_equal_buttons, &pressed);
    assert_int_equal(pressed.first, 1);
    assert_int_equal(pressed.second, 1);
    assert_int_equal(bench.refused, 1);
}

static void press_and_release_at_once(UiBench *b, void *user)
{
    *(int *)user += b->w->button("go", 100, 30, 0);
}

static void a_click_within_one_frame_is_not_lost(void **unused)
{
    int pressed = 0;
    (void)unused;
    bench_move(&bench, 40, 25);
    bench_frame(&bench, press_and_release_at_once, &pressed);
    bench_button(&bench, 0, true);
    bench_button(&bench, 0, false);
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, press_and_release_at_once, &pressed);
    assert_int_equal(pressed, 1);
}

/* ---- Scopes ---- */

static void leaves_all_open(UiBench *b, void *user)
{
    (void)user;
    b->w->push_id("a");
    b->w->child("c", 100, 100, 0);
    b->w->disabled(true);
    b->w->table("t", 3, 0, 0, 0);
    b->w->tree("node", CALIPER_TREE_OPEN);
    b->w->tab_bar("bar", 0);
}

static void draws_nothing(UiBench *b, void *user)
{
    (void)b;
    (void)user;
}

static void scopes_left_open_are_closed_and_named(void **unused)
{
    Pressed pressed = {0};
    (void)unused;
    bench_frame(&bench, leaves_all_open, NULL);
    assert_true(bench.refused >= 6);
    uint32_t said = bench.refused;
    bench_frame(&bench, leaves_all_open, NULL);
    assert_int_equal(bench.refused, said); /* one line per place, not per frame */
    bench_frame(&bench, draws_nothing, NULL);
    click(40, 25, two_equal_buttons, &pressed); /* not disabled any more */
    assert_int_equal(pressed.first, 1);
}

static void ends_too_much(UiBench *b, void *user)
{
    *(bool *)user = b->w->tab("lost", NULL, 0);
    *(bool *)user |= b->w->button("under a false scope", 0, 0, 0);
    b->w->end(CALIPER_SCOPE_TAB);
    b->w->end(CALIPER_SCOPE_TAB);
    b->w->end(99);
    b->w->table_row(0, 0);
    b->w->split_next();
}

static void wrong_parents_and_surplus_ends_are_refused(void **unused)
{
    bool shown = true;
    (void)unused;
    bench_frame(&bench, ends_too_much, &shown);
    assert_false(shown);
    assert_int_equal(bench.refused, 5);
}

/* Frames 0, 1: a modal and, in its first frame, a new window. 2: nobody draws the modal any more,
 * and another window appears. */
static void modal_and_windows(UiBench *b, void *user)
{
    int frame = *(int *)user;
    if (frame == 0)
        b->w->popup_open("sure?");
    if (frame < 2) {
        b->w->popup("sure?", CALIPER_POPUP_MODAL);
        b->w->end(CALIPER_SCOPE_POPUP);
        b->w->window("first", 100, 80, NULL, 0);
        b->w->end(CALIPER_SCOPE_WINDOW);
    } else {
        b->w->window("second", 100, 80, NULL, 0);
        b->w->end(CALIPER_SCOPE_WINDOW);
    }
}

static void an_abandoned_modal_blocks_nobody(void **unused)
{
    Pressed pressed = {0};
    (void)unused;
    for (int frame = 0; frame < 5; frame++)
        bench_frame(&bench, modal_and_windows, &frame);
    assert_int_equal(bench.refused, 0);
    bench_frame(&bench, draws_nothing, NULL);
    click(40, 25, two_equal_buttons, &pressed);
    assert_int_equal(pressed.first, 1);
}

/* ---- Numbers ---- */

typedef struct Number {
    double value;
    bool changed;
} Number;

static void one_slider(UiBench *b, void *user)
{
    Number *number = user;
    b->w->next_width(200);
    number->changed |= b->w->slider("s", &number->value, 0.0, 10.0, 3, "%s", 0);
}

static void a_slider_writes_only_what_the_person_did(void **unused)
{
    Number number = {.value = 25.0};
    (void)unused;
    bench_frame(&bench, one_slider, &number);
    bench_frame(&bench, one_slider, &number);
    assert_false(number.changed);
    assert_true(number.value == 25.0); /* out of range, and left alone */
    click(12 + 199, 20, one_slider, &number);
    assert_true(number.changed);
    assert_true(number.value == 10.0);
    number = (Number){.value = (double)NAN};
    bench_move(&bench, 300, 200);
    bench_frame(&bench, one_slider, &number);
    assert_false(number.changed);
    assert_true(isnan(number.value));
}

static void typed_number(UiBench *b, void *user)
{
    Number *number = user;
    b->w->next_width(200);
    b->w->next_focus();
    number->changed |= b->w->input_number("n", &number->value, 0, 0, NULL, 0);
}

static void typed_numbers_may_be_infinite(void **unused)
{
    Number number = {.value = 1.0};
    (void)unused;
    bench_frame(&bench, typed_number, &number);
    bench_frame(&bench, typed_number, &number);
    bench_frame(&bench, typed_number, &number);
    bench_key(&bench, 'A', UI_MODIFIER_CTRL);
    bench_frame(&bench, typed_number, &number);
    bench_frame(&bench, typed_number, &number);
    bench_type(&bench, "-inf");
    bench_frame(&bench, typed_number, &number);
    bench_frame(&bench, typed_number, &number);
    assert_true(number.changed);
    assert_true(isinf(number.value) && number.value < 0.0);
}

/* ---- Text ---- */

typedef struct Field {
    char text[8];
    uint64_t bytes;
    bool fired;
} Field;

static void one_field(UiBench *b, void *user)
{
    Field *field = user;
    b->w->next_focus();
    field->fired |= b->w->input_text("f", "hint", field->text, field->bytes, 0, 0);
}

static void a_full_field_is_cut_at_a_code_point(void **unused)
{
    Field field = {.text = "ab", .bytes = sizeof field.text};
    (void)unused;
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, one_field, &field);
    bench_key(&bench, CALIPER_KEY_END, 0);
    bench_frame(&bench, one_field, &field);
    bench_frame(&bench, one_field, &field);
    /* U+20AC has three bytes: "ab" and one of them are five, a second makes eight with its NUL past
     * the end. */
    for (int i = 0; i < 3; i++)
        ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_TEXT, .code = 0x20ac});
    bench_frame(&bench, one_field, &field);
    bench_frame(&bench, one_field, &field);
    assert_true(field.fired);
    assert_string_equal(field.text, "ab\xe2\x82\xac");
}

static void bad_utf8_becomes_the_replacement_mark(void **unused)
{
    Field field = {.text = "a\xff", .bytes = sizeof field.text};
    (void)unused;
    bench_frame(&bench, one_field, &field);
    assert_string_equal(field.text, "a\xef\xbf\xbd");
}

static void a_buffer_without_an_end_is_refused(void **unused)
{
    Field field = {.bytes = sizeof field.text};
    (void)unused;
    memset(field.text, 'x', sizeof field.text);
    bench_frame(&bench, one_field, &field);
    assert_false(field.fired);
    assert_int_equal(bench.refused, 1);
}

/* ---- Rows ---- */

typedef struct Rows {
    int64_t count, first, end, loops;
    bool to_end;
} Rows;

static void many_rows(UiBench *b, void *user)
{
    Rows *rows = user;
    int64_t first = 0, end = 0;
    rows->loops = 0;
    if (b->w->child("list", 0, 0, 0)) {
        while (b->w->rows(rows->count, 0, &first, &end)) {
            rows->loops++;
            rows->first = first;
            rows->end = end;
            for (int64_t i = first; i < end; i++)
                b->w->text("row");
        }
        if (rows->to_end)
            b->w->set_scroll(1e30f);
    }
    b->w->end(CALIPER_SCOPE_CHILD);
}

static void rows_show_only_what_is_in_sight(void **unused)
{
    static const int64_t counts[] = {3, 1000, 1000000, INT64_C(100000000000), INT64_C(1) << 53};
    (void)unused;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        Rows rows = {.count = counts[i]};
        for (int frame = 0; frame < 3; frame++)
            bench_frame(&bench, many_rows, &rows);
        rows.to_end = true;
        for (int frame = 0; frame < 4; frame++)
            bench_frame(&bench, many_rows, &rows);
        assert_int_equal(rows.loops, 1);
        assert_int_equal(rows.end, counts[i]);
        /* 280 units are 11.7 lines of 24; one more may be cut at each edge. */
        assert_true(rows.end - rows.first <= 14);
        assert_true(rows.end - rows.first >= (counts[i] < 11 ? counts[i] : 11));
        bench_frame(&bench, draws_nothing, NULL);
    }
}

/* ---- Images ---- */

typedef struct Grid {
    CaliperTextureId texture;
    int64_t side;
    double view[3];
    int64_t column, row;
    bool inside;
} Grid;

static void one_view(UiBench *b, void *user)
{
    Grid *grid = user;
    grid->inside = false;
    if (b->w->image_view("v", grid->texture, grid->side, grid->side, 160, 160, grid->view, 0))
        grid->inside = b->w->texel(&grid->column, &grid->row);
    b->w->end(CALIPER_SCOPE_IMAGE);
}

static CaliperTextureId make_texture(const float *values, int64_t h, int64_t w)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = (void *)(uintptr_t)values,
                            .dtype = CALIPER_DT_F32,
                            .ndim = 2,
                            .shape = {h, w},
                            .strides = {w, 1}};
    return bridge_texture_from_tensor_mapped(bench.bridge, &tensor, CALIPER_CMAP_VIRIDIS, 0, 1, 0);
}

static void every_cell_is_named_by_the_pointer(void **unused)
{
    static float values[64];
    Grid grid = {.texture = make_texture(values, 8, 8), .side = 8};
    (void)unused;
    /* 160 units for 8 texels: 20 each, from the panel's corner at 12, 10. */
    for (int row = 0; row < 8; row++) {
        for (int column = 0; column < 8; column++) {
            for (int edge = 0; edge < 2; edge++) {
                float inset = edge ? 0.25f : 10.0f;
                bench_move(&bench, 12.0f + 20.0f * (float)column + inset,
                           10.0f + 20.0f * (float)row + inset);
                bench_frame(&bench, one_view, &grid);
                bench_frame(&bench, one_view, &grid);
                assert_true(grid.inside);
                assert_int_equal(grid.column, column);
                assert_int_equal(grid.row, row);
            }
        }
    }
    bench_move(&bench, 12 + 161, 20);
    bench_frame(&bench, one_view, &grid);
    bench_frame(&bench, one_view, &grid);
    assert_false(grid.inside);
}

static void the_wheel_keeps_the_texel_under_the_pointer(void **unused)
{
    static float values[64];
    Grid grid = {.texture = make_texture(values, 8, 8), .side = 8};
    (void)unused;
    bench_move(&bench, 12 + 130, 10 + 50); /* column 6.5, row 2.5 */
    bench_frame(&bench, one_view, &grid);
    for (int i = 0; i < 12; i++) {
        ui_event(bench.ui, &(UiEvent){.kind = UI_EVENT_WHEEL, .y = 1});
        bench_frame(&bench, one_view, &grid);
        assert_true(grid.inside);
        assert_int_equal(grid.column, 6);
        assert_int_equal(grid.row, 2);
    }
    assert_true(grid.view[2] > 200.0); /* 20 * 1.25^12 = 291 units a texel */
    double at = grid.view[0] + (130.0 - 80.0) / grid.view[2];
    assert_true(fabs(at - 6.5) < 1e-9);
}

static void pixels_of_a_view_are_the_tensor(void **unused)
{
    static const float values[4] = {0.0f, 1.0f, 1.0f, 0.0f};
    static uint8_t frame[BENCH_W * BENCH_H * 4];
    /* viridis: entry 0 is 68, 1, 84, entry 255 is 253, 231, 36. */
    static const uint8_t low[4] = {68, 1, 84, 255}, high[4] = {253, 231, 36, 255};
    Grid grid = {.texture = make_texture(values, 2, 2), .side = 2};
    (void)unused;
    bench_frame(&bench, one_view, &grid);
    assert_true(renderer_frame_read(bench.renderer, frame, sizeof frame));
    for (int y = 0; y < 160; y++) {
        for (int x = 0; x < 160; x++) {
            const uint8_t *pixel = &frame[((size_t)(10 + y) * BENCH_W + (size_t)(12 + x)) * 4];
            assert_memory_equal(pixel, (x < 80) == (y < 80) ? low : high, 4);
        }
    }
}

static void bad_image(UiBench *b, void *user)
{
    b->w->image(*(CaliperTextureId *)user, 64, 64, 0);
}

static void a_stale_id_draws_the_marked_placeholder(void **unused)
{
    static uint8_t frame[BENCH_W * BENCH_H * 4];
    static float value;
    (void)unused;
    CaliperTextureId id = make_texture(&value, 1, 1);
    bridge_release_texture(bench.bridge, id);
    bench_frame(&bench, draws_nothing, NULL);
    bench_frame(&bench, bad_image, &id);
    assert_true(renderer_frame_read(bench.renderer, frame, sizeof frame));
    int magenta = 0, black = 0;
    for (int y = 0; y < 64; y++) {
        for (int x = 0; x < 64; x++) {
            const uint8_t *p = &frame[((size_t)(10 + y) * BENCH_W + (size_t)(12 + x)) * 4];
            magenta += p[0] == 255 && p[1] == 0 && p[2] == 255;
            black += p[0] == 0 && p[1] == 0 && p[2] == 0;
        }
    }
    assert_int_equal(magenta, 2048);
    assert_int_equal(black, 2048);
}

static void colours_are_the_published_ones(void **unused)
{
    (void)unused;
    assert_int_equal(bench.plot->colormap(CALIPER_CMAP_VIRIDIS, 0.0f, 0.0f, 1.0f), 0xff540144u);
    assert_int_equal(bench.plot->colormap(CALIPER_CMAP_VIRIDIS, 2.0f, 0.0f, 1.0f), 0xff24e7fdu);
    assert_int_equal(bench.plot->colormap(CALIPER_CMAP_VIRIDIS, NAN, 0.0f, 1.0f), 0xff540144u);
    assert_int_equal(bench.plot->colormap(CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0.0f), 0xff24e7fdu);
    assert_int_equal(bench.plot->colormap(CALIPER_CMAP_VIRIDIS, 5.0f, 3.0f, 3.0f), 0xff540144u);
    assert_int_equal(bench.plot->colormap(7, 0.0f, 0.0f, 1.0f), 0);
    assert_int_equal(bench.plot->colormap(0, 0.0f, 0.0f, INFINITY), 0);
}

/* ---- Keys ---- */

typedef struct Keys {
    int exact, other, second;
} Keys;

static void ask_keys(UiBench *b, void *user)
{
    Keys *keys = user;
    keys->other += b->w->shortcut('R', 0);
    keys->exact += b->w->shortcut(CALIPER_MOD_MAIN | 'R', 0);
    keys->second += b->w->shortcut(CALIPER_MOD_CTRL | 'R', 0);
}

static void shortcuts_want_exact_modifiers_and_go_to_the_first(void **unused)
{
    Keys keys = {0};
    (void)unused;
    click(200, 200, ask_keys, &keys);
    bench_key(&bench, 'R', UI_MODIFIER_CTRL);
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, ask_keys, &keys);
    assert_int_equal(keys.other, 0);
    assert_int_equal(keys.exact, 1);
    assert_int_equal(keys.second, 0);
    bench_key(&bench, 'R', UI_MODIFIER_CTRL | UI_MODIFIER_SHIFT);
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, ask_keys, &keys);
    assert_int_equal(keys.exact, 1);
}

/* ---- Threads ---- */

static void *call_from_elsewhere(void *user)
{
    const CaliperWidgetsV1 *w = user;
    bool value = false;
    w->text("no");
    w->end(CALIPER_SCOPE_GROUP);
    bool drew = w->button("no", 0, 0, 0) || w->checkbox("no", &value) || w->child("no", 0, 0, 0);
    return drew ? user : NULL;
}

static void another_thread_is_refused_once(void **unused)
{
    pthread_t thread;
    void *drew = NULL;
    (void)unused;
    assert_int_equal(pthread_create(&thread, NULL, call_from_elsewhere, (void *)(uintptr_t)bench.w),
                     0);
    pthread_join(thread, &drew);
    assert_null(drew);
    assert_int_equal(bench.wrong_thread, 1);
}

static void outside_a_frame_is_refused(void **unused)
{
    (void)unused;
    assert_false(bench.w->button("no", 0, 0, 0));
    bench.w->end(CALIPER_SCOPE_GROUP);
    assert_int_equal(bench.refused, 2);
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(equal_labels_are_two_buttons),
        WITH_BENCH(a_click_within_one_frame_is_not_lost),
        WITH_BENCH(scopes_left_open_are_closed_and_named),
        WITH_BENCH(wrong_parents_and_surplus_ends_are_refused),
        WITH_BENCH(an_abandoned_modal_blocks_nobody),
        WITH_BENCH(a_slider_writes_only_what_the_person_did),
        WITH_BENCH(typed_numbers_may_be_infinite),
        WITH_BENCH(a_full_field_is_cut_at_a_code_point),
        WITH_BENCH(bad_utf8_becomes_the_replacement_mark),
        WITH_BENCH(a_buffer_without_an_end_is_refused),
        WITH_BENCH(rows_show_only_what_is_in_sight),
        WITH_BENCH(every_cell_is_named_by_the_pointer),
        WITH_BENCH(the_wheel_keeps_the_texel_under_the_pointer),
        WITH_BENCH(pixels_of_a_view_are_the_tensor),
        WITH_BENCH(a_stale_id_draws_the_marked_placeholder),
        WITH_BENCH(colours_are_the_published_ones),
        WITH_BENCH(shortcuts_want_exact_modifiers_and_go_to_the_first),
        WITH_BENCH(another_thread_is_refused_once),
        WITH_BENCH(outside_a_frame_is_refused),
    };
    return cmocka_run_group_tests_name("widgets", tests, NULL, NULL);
}
