/* tests/e2e/widgets_calls.c: see widgets_calls.h. */
#include "widgets_calls_impl.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *calls_text(void)
{
    static const char *const texts[] = {
        NULL,         "",
        "a",          "a",
        "b",          "##",
        "x##y",       "###",
        "same###id",  "\xff\xfe\xc3",
        "%s%n%d",     "a long label that goes on and on and on and on and on and on and on",
        "two\nlines", "\xf0\x9f\x98\x80 smile",
        "z",          "q"};
    return texts[rnd(sizeof texts / sizeof texts[0])];
}

double calls_double(void)
{
    static const double values[] = {0,
                                    1,
                                    -1,
                                    0.5,
                                    10,
                                    100,
                                    -100,
                                    1e300,
                                    -1e300,
                                    1e-300,
                                    8e307,
                                    (double)NAN,
                                    (double)INFINITY,
                                    -(double)INFINITY,
                                    1e308,
                                    255};
    return values[rnd(sizeof values / sizeof values[0])];
}

float calls_float(void)
{
    static const float values[] = {0,      1,        -1,        20,   100, -40,    1e30f, NAN,
                                   -1e30f, INFINITY, -INFINITY, 0.5f, 300, 1e-30f, 8,     50};
    return values[rnd(sizeof values / sizeof values[0])];
}

int64_t calls_int(void)
{
    static const int64_t values[] = {0,
                                     1,
                                     -1,
                                     3,
                                     64,
                                     65,
                                     100,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_C(1) << 53,
                                     INT64_C(1) << 62,
                                     12,
                                     7,
                                     2};
    return values[rnd(sizeof values / sizeof values[0])];
}

uint32_t calls_flags(void)
{
    return rnd(3) == 0 ? 0 : rnd(8) == 0 ? 0xffffffffu : rnd(1024);
}

double calls_numbers[8];
static int64_t integers[8];
static float floats[4];
static bool bools[4];
static char text_buffer[64];
CaliperTextureId calls_textures[4];

void calls_start(UiBench *bench)
{
    static float pixel = 1.0f;
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = &pixel,
                            .ndim = 2,
                            .shape = {1, 1},
                            .strides = {1, 1}};
    memset(calls_numbers, 0, sizeof calls_numbers);
    memset(integers, 0, sizeof integers);
    memset(floats, 0, sizeof floats);
    memset(bools, 0, sizeof bools);
    memset(text_buffer, 0, sizeof text_buffer);
    calls_textures[0] = 0;
    calls_textures[1] = bridge_texture_from_tensor_mapped(bench->bridge, &tensor, 0, 0, 1, 0);
    calls_textures[2] = UINT64_C(0xffffffffffffffff);
    calls_textures[3] = calls_textures[1] + 1;
}

static void call_scope(const CaliperWidgetsV1 *w)
{
    switch (rnd(18)) {
    case 0:
        w->window(calls_text(), calls_float(), calls_float(), rnd(2) ? &bools[0] : NULL,
                  calls_flags());
        break;
    case 1:
        w->child(calls_text(), calls_float(), calls_float(), calls_flags());
        break;
    case 2:
        w->split(calls_text(), rnd(3), rnd(3) ? &floats[0] : NULL, calls_float(), calls_float());
        break;
    case 3:
        w->split_next();
        break;
    case 4:
        w->group();
        break;
    case 5:
        w->indent(calls_float());
        break;
    case 6:
        w->push_id(calls_text());
        break;
    case 7:
        w->push_id_int((uint64_t)calls_int());
        break;
    case 8:
        w->push_width(calls_float());
        break;
    case 9:
        w->push_text(rnd(2) ? 0 : 0xff00ff00u, calls_flags());
        break;
    case 10:
        w->disabled(rnd(2) != 0);
        break;
    case 11:
        w->next_id((uint64_t)calls_int());
        break;
    case 12:
        w->next_width(calls_float());
        break;
    case 13:
        w->next_open(rnd(2) != 0, rnd(3));
        break;
    case 14:
        w->next_focus();
        break;
    default:
        w->end(rnd(24));
        break;
    }
}

static void call_layout(const CaliperWidgetsV1 *w)
{
    float x = 0, y = 0;
    int64_t length = (int64_t)rnd(4) - 1;
    switch (rnd(17)) {
    case 0:
        w->same_line(calls_float(), calls_float());
        break;
    case 1:
        w->separator(calls_text());
        break;
    case 2:
        w->space(calls_float(), calls_float());
        break;
    case 3:
        w->remaining(&x, rnd(2) ? &y : NULL);
        break;
    case 4:
        w->cursor(&x, NULL);
        break;
    case 5:
        w->set_cursor(calls_float(), calls_float());
        break;
    case 6:
        w->scroll(&x, &y);
        break;
    case 7:
        w->set_scroll(calls_float());
        break;
    case 8:
        w->scroll_here(calls_float());
        break;
    case 9:
        w->metric(rnd(12));
        break;
    case 10:
        w->color(rnd(40));
        break;
    case 11:
        w->text_size(length < 0 ? calls_text() : "a\0c", length, calls_float(), calls_flags(), &x,
                     &y);
        break;
    case 12:
        w->text(calls_text());
        break;
    case 13:
        w->text_ex(length < 0 ? calls_text() : "a\0c", length, rnd(2), calls_flags());
        break;
    case 14:
        w->field(calls_text(), calls_text());
        break;
    case 15:
        w->icon(rnd(40));
        break;
    default:
        w->end(rnd(24));
        break;
    }
}

static void call_control(const CaliperWidgetsV1 *w)
{
    static const char *const items[] = {"one", NULL, "three", "four"};
    static int32_t index;
    static uint32_t rgba = 0xff112233u;
    switch (rnd(18)) {
    case 0:
        w->button(calls_text(), calls_float(), calls_float(), calls_flags());
        break;
    case 1:
        w->checkbox(calls_text(), rnd(4) ? &bools[1] : NULL);
        break;
    case 2:
        w->radio(calls_text(), rnd(4) ? &index : NULL, (int32_t)rnd(4));
        break;
    case 3:
        w->selectable(calls_text(), rnd(2) != 0, calls_float(), calls_float(), calls_flags());
        break;
    case 4:
        w->slider(calls_text(), rnd(4) ? &calls_numbers[0] : NULL, calls_double(), calls_double(),
                  (int32_t)calls_int(), calls_text(), calls_flags());
        break;
    case 5:
        w->slider_int(calls_text(), &integers[0], calls_int(), calls_int(), calls_text(),
                      calls_flags());
        break;
    case 6:
        w->drag(calls_text(), rnd(4) ? &calls_numbers[2] : NULL, (int32_t)rnd(6), calls_double(),
                calls_double(), calls_double(), (int32_t)calls_int(), calls_text(), calls_flags());
        break;
    case 7:
        w->drag_int(calls_text(), &integers[2], (int32_t)rnd(6), calls_double(), calls_int(),
                    calls_int(), calls_text(), calls_flags());
        break;
    case 8:
        w->drag_range(calls_text(), &calls_numbers[0], rnd(4) ? &calls_numbers[1] : NULL,
                      calls_double(), calls_double(), calls_double(), (int32_t)rnd(20),
                      calls_text(), calls_flags());
        break;
    case 9:
        w->input_number(calls_text(), &calls_numbers[3], calls_double(), (int32_t)calls_int(),
                        calls_text(), calls_flags());
        break;
    case 10:
        w->input_int(calls_text(), &integers[4], calls_int(), calls_flags());
        break;
    case 11:
        w->input_text(calls_text(), calls_text(), rnd(6) ? text_buffer : NULL,
                      rnd(6) ? sizeof text_buffer : rnd(3), calls_float(), calls_flags());
        break;
    case 12:
        w->combo(calls_text(), &index, rnd(4) ? items : NULL, (int32_t)rnd(5), calls_flags());
        break;
    case 13:
        w->combo_list(calls_text(), calls_text(), calls_flags());
        break;
    case 14:
        w->color_edit(calls_text(), rnd(4) ? &rgba : NULL, calls_flags());
        break;
    case 15:
        w->progress(calls_double(), calls_text(), calls_float(), calls_float());
        break;
    default:
        w->end(rnd(24));
        break;
    }
    calls_numbers[rnd(8)] = calls_double();
    integers[rnd(8)] = calls_int();
    floats[0] = calls_float();
    bools[0] = rnd(4) != 0;
    index = (int32_t)rnd(6) - 1;
    if (rnd(50) == 0) {
        memset(text_buffer, (int)rnd(256), sizeof text_buffer);
        text_buffer[rnd(sizeof text_buffer)] = '\0';
    }
}

static void call_tree(const CaliperWidgetsV1 *w)
{
    int64_t first = 0, end = 0;
    int32_t column = 0;
    switch (rnd(20)) {
    case 0:
        w->tree(calls_text(), calls_flags());
        break;
    case 1:
        w->tab_bar(calls_text(), calls_flags());
        break;
    case 2:
    case 3:
        w->tab(calls_text(), rnd(2) ? &bools[2] : NULL, calls_flags());
        break;
    case 4:
        w->menu_bar();
        break;
    case 5:
        w->menu(calls_text());
        break;
    case 6:
        w->menu_item(calls_text(), rnd(0x200000), rnd(2) ? &bools[3] : NULL);
        break;
    case 7:
        w->popup_open(calls_text());
        break;
    case 8:
        w->popup(calls_text(), calls_flags());
        break;
    case 9:
        w->popup_close();
        break;
    case 10:
        w->tooltip(calls_text());
        break;
    case 11:
        w->tooltip_box();
        break;
    case 12:
        w->table(calls_text(), (int32_t)rnd(70) - 2, calls_float(), calls_float(), calls_flags());
        break;
    case 13:
        w->table_column(calls_text(), calls_float(), calls_flags());
        break;
    case 14:
        w->table_sort(&column, &bools[1]);
        break;
    case 15:
        w->table_row(calls_float(), rnd(2));
        break;
    case 16:
    case 17:
        w->table_cell((int32_t)rnd(70) - 3, rnd(2));
        break;
    case 18:
        if (w->rows(calls_int(), calls_float(), &first, &end))
            assert(end > first && first >= 0);
        break;
    default:
        w->end(rnd(24));
        break;
    }
    bools[2] = rnd(4) != 0;
}

void calls_drawing(UiBench *bench)
{
    const CaliperWidgetsV1 *w = bench->w;
    double view[3] = {calls_double(), calls_double(), calls_double()}, xy[8], x = 0, y = 0;
    float wheel = 0, one = 0;
    int64_t column = 0, row = 0;
    uint32_t rgba = rnd(2) ? 0 : 0x80ff00ffu;
    CaliperTextureId texture = calls_textures[rnd(4)];
    for (int i = 0; i < 8; i++)
        xy[i] = calls_double();
    switch (rnd(20)) {
    case 0:
        w->image(texture, calls_float(), calls_float(), calls_flags());
        break;
    case 1:
        w->image_view(calls_text(), texture, calls_int(), calls_int(), calls_float(), calls_float(),
                      rnd(3) ? view : NULL, calls_flags());
        break;
    case 2:
        w->canvas(calls_text(), calls_float(), calls_float(), calls_flags());
        break;
    case 3:
        w->texel(&column, &row);
        break;
    case 4:
        w->visible(&x, &y, NULL, NULL);
        break;
    case 5:
        w->pointer(&x, &y, &wheel);
        break;
    case 6:
        w->draw_line(xy[0], xy[1], xy[2], xy[3], rgba, calls_float());
        break;
    case 7:
        w->draw_rect(xy[0], xy[1], xy[2], xy[3], rgba, calls_float());
        break;
    case 8:
        w->draw_circle(xy[0], xy[1], calls_float(), rgba, calls_float());
        break;
    case 9:
        w->draw_path(rnd(8) ? xy : NULL, (int64_t)rnd(6) - 1, rgba, calls_float(), calls_flags());
        break;
    case 10:
        w->draw_text(xy[0], xy[1], calls_text(), -1, rgba, calls_flags());
        break;
    case 11:
        w->draw_image(texture, xy[0], xy[1], xy[2], xy[3], calls_flags());
        break;
    case 12:
        w->item();
        break;
    case 13:
        w->item_rect(&one, NULL, NULL, &wheel);
        break;
    case 14:
        w->panel(&one, &wheel);
        break;
    case 15:
        w->shortcut(rnd(0x200000), calls_flags());
        break;
    case 16:
        w->key_down(rnd(0x200));
        break;
    case 17:
        w->dropped((int32_t)rnd(3) - 1);
        break;
    case 18:
        w->clipboard();
        w->set_clipboard(calls_text());
        break;
    default:
        w->end(rnd(24));
        break;
    }
}

void calls_stop(UiBench *bench)
{
    bridge_release_texture(bench->bridge, calls_textures[1]);
    calls_plot_stop();
}

void calls_draw(UiBench *bench, void *user)
{
    int calls = *(const int *)user;
    for (int i = 0; i < calls && !calls_over(); i++) {
        switch (rnd(7)) {
        case 0:
            call_scope(bench->w);
            break;
        case 1:
            call_layout(bench->w);
            break;
        case 2:
            call_control(bench->w);
            break;
        case 3:
        case 4:
            call_tree(bench->w);
            break;
        case 5:
            calls_plot(bench);
            break;
        default:
            calls_drawing(bench);
            break;
        }
    }
}

void calls_input(UiBench *bench)
{
    ui_event(bench->ui, &(UiEvent){.kind = (UiEventKind)rnd(7),
                                   .x = (float)rnd(BENCH_W + 40) - 20,
                                   .y = (float)rnd(BENCH_H + 40) - 20,
                                   .code = rnd(3) ? rnd(3) : rnd(0x130),
                                   .modifiers = rnd(16),
                                   .down = rnd(2) != 0});
}
