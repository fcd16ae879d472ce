/* tests/e2e/widgets_calls.c: see widgets_calls.h. */
#include "widgets_calls.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define rnd calls_random

static const char *a_text(void)
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

static double a_double(void)
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

static float a_float(void)
{
    static const float values[] = {0,      1,        -1,        20,   100, -40,    1e30f, NAN,
                                   -1e30f, INFINITY, -INFINITY, 0.5f, 300, 1e-30f, 8,     50};
    return values[rnd(sizeof values / sizeof values[0])];
}

static int64_t an_int(void)
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

static uint32_t some_flags(void)
{
    return rnd(3) == 0 ? 0 : rnd(8) == 0 ? 0xffffffffu : rnd(1024);
}

static double numbers[8];
static int64_t integers[8];
static float floats[4];
static bool bools[4];
static char text_buffer[64];
static CaliperTextureId textures[4];

void calls_start(UiBench *bench)
{
    static float pixel = 1.0f;
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = &pixel,
                            .ndim = 2,
                            .shape = {1, 1},
                            .strides = {1, 1}};
    memset(numbers, 0, sizeof numbers);
    memset(integers, 0, sizeof integers);
    memset(floats, 0, sizeof floats);
    memset(bools, 0, sizeof bools);
    memset(text_buffer, 0, sizeof text_buffer);
    textures[0] = 0;
    textures[1] = bridge_texture_from_tensor_mapped(bench->bridge, &tensor, 0, 0, 1, 0);
    textures[2] = UINT64_C(0xffffffffffffffff);
    textures[3] = textures[1] + 1;
}

static void call_scope(const CaliperWidgetsV1 *w)
{
    switch (rnd(18)) {
    case 0:
        w->window(a_text(), a_float(), a_float(), rnd(2) ? &bools[0] : NULL, some_flags());
        break;
    case 1:
        w->child(a_text(), a_float(), a_float(), some_flags());
        break;
    case 2:
        w->split(a_text(), rnd(3), rnd(3) ? &floats[0] : NULL, a_float(), a_float());
        break;
    case 3:
        w->split_next();
        break;
    case 4:
        w->group();
        break;
    case 5:
        w->indent(a_float());
        break;
    case 6:
        w->push_id(a_text());
        break;
    case 7:
        w->push_id_int((uint64_t)an_int());
        break;
    case 8:
        w->push_width(a_float());
        break;
    case 9:
        w->push_text(rnd(2) ? 0 : 0xff00ff00u, some_flags());
        break;
    case 10:
        w->disabled(rnd(2) != 0);
        break;
    case 11:
        w->next_id((uint64_t)an_int());
        break;
    case 12:
        w->next_width(a_float());
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
        w->same_line(a_float(), a_float());
        break;
    case 1:
        w->separator(a_text());
        break;
    case 2:
        w->space(a_float(), a_float());
        break;
    case 3:
        w->remaining(&x, rnd(2) ? &y : NULL);
        break;
    case 4:
        w->cursor(&x, NULL);
        break;
    case 5:
        w->set_cursor(a_float(), a_float());
        break;
    case 6:
        w->scroll(&x, &y);
        break;
    case 7:
        w->set_scroll(a_float());
        break;
    case 8:
        w->scroll_here(a_float());
        break;
    case 9:
        w->metric(rnd(12));
        break;
    case 10:
        w->color(rnd(40));
        break;
    case 11:
        w->text_size(length < 0 ? a_text() : "a\0c", length, a_float(), some_flags(), &x, &y);
        break;
    case 12:
        w->text(a_text());
        break;
    case 13:
        w->text_ex(length < 0 ? a_text() : "a\0c", length, rnd(2), some_flags());
        break;
    case 14:
        w->field(a_text(), a_text());
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
        w->button(a_text(), a_float(), a_float(), some_flags());
        break;
    case 1:
        w->checkbox(a_text(), rnd(4) ? &bools[1] : NULL);
        break;
    case 2:
        w->radio(a_text(), rnd(4) ? &index : NULL, (int32_t)rnd(4));
        break;
    case 3:
        w->selectable(a_text(), rnd(2) != 0, a_float(), a_float(), some_flags());
        break;
    case 4:
        w->slider(a_text(), rnd(4) ? &numbers[0] : NULL, a_double(), a_double(), (int32_t)an_int(),
                  a_text(), some_flags());
        break;
    case 5:
        w->slider_int(a_text(), &integers[0], an_int(), an_int(), a_text(), some_flags());
        break;
    case 6:
        w->drag(a_text(), rnd(4) ? &numbers[2] : NULL, (int32_t)rnd(6), a_double(), a_double(),
                a_double(), (int32_t)an_int(), a_text(), some_flags());
        break;
    case 7:
        w->drag_int(a_text(), &integers[2], (int32_t)rnd(6), a_double(), an_int(), an_int(),
                    a_text(), some_flags());
        break;
    case 8:
        w->drag_range(a_text(), &numbers[0], rnd(4) ? &numbers[1] : NULL, a_double(), a_double(),
                      a_double(), (int32_t)rnd(20), a_text(), some_flags());
        break;
    case 9:
        w->input_number(a_text(), &numbers[3], a_double(), (int32_t)an_int(), a_text(),
                        some_flags());
        break;
    case 10:
        w->input_int(a_text(), &integers[4], an_int(), some_flags());
        break;
    case 11:
        w->input_text(a_text(), a_text(), rnd(6) ? text_buffer : NULL,
                      rnd(6) ? sizeof text_buffer : rnd(3), a_float(), some_flags());
        break;
    case 12:
        w->combo(a_text(), &index, rnd(4) ? items : NULL, (int32_t)rnd(5), some_flags());
        break;
    case 13:
        w->combo_list(a_text(), a_text(), some_flags());
        break;
    case 14:
        w->color_edit(a_text(), rnd(4) ? &rgba : NULL, some_flags());
        break;
    case 15:
        w->progress(a_double(), a_text(), a_float(), a_float());
        break;
    default:
        w->end(rnd(24));
        break;
    }
    numbers[rnd(8)] = a_double();
    integers[rnd(8)] = an_int();
    floats[0] = a_float();
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
        w->tree(a_text(), some_flags());
        break;
    case 1:
        w->tab_bar(a_text(), some_flags());
        break;
    case 2:
    case 3:
        w->tab(a_text(), rnd(2) ? &bools[2] : NULL, some_flags());
        break;
    case 4:
        w->menu_bar();
        break;
    case 5:
        w->menu(a_text());
        break;
    case 6:
        w->menu_item(a_text(), rnd(0x200000), rnd(2) ? &bools[3] : NULL);
        break;
    case 7:
        w->popup_open(a_text());
        break;
    case 8:
        w->popup(a_text(), some_flags());
        break;
    case 9:
        w->popup_close();
        break;
    case 10:
        w->tooltip(a_text());
        break;
    case 11:
        w->tooltip_box();
        break;
    case 12:
        w->table(a_text(), (int32_t)rnd(70) - 2, a_float(), a_float(), some_flags());
        break;
    case 13:
        w->table_column(a_text(), a_float(), some_flags());
        break;
    case 14:
        w->table_sort(&column, &bools[1]);
        break;
    case 15:
        w->table_row(a_float(), rnd(2));
        break;
    case 16:
    case 17:
        w->table_cell((int32_t)rnd(70) - 3, rnd(2));
        break;
    case 18:
        if (w->rows(an_int(), a_float(), &first, &end))
            assert(end > first && first >= 0);
        break;
    default:
        w->end(rnd(24));
        break;
    }
    bools[2] = rnd(4) != 0;
}

static void call_drawing(UiBench *bench)
{
    const CaliperWidgetsV1 *w = bench->w;
    double view[3] = {a_double(), a_double(), a_double()}, xy[8], x = 0, y = 0;
    float wheel = 0, one = 0;
    int64_t column = 0, row = 0;
    uint32_t rgba = rnd(2) ? 0 : 0x80ff00ffu;
    CaliperTextureId texture = textures[rnd(4)];
    for (int i = 0; i < 8; i++)
        xy[i] = a_double();
    switch (rnd(20)) {
    case 0:
        w->image(texture, a_float(), a_float(), some_flags());
        break;
    case 1:
        w->image_view(a_text(), texture, an_int(), an_int(), a_float(), a_float(),
                      rnd(3) ? view : NULL, some_flags());
        break;
    case 2:
        w->canvas(a_text(), a_float(), a_float(), some_flags());
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
        w->draw_line(xy[0], xy[1], xy[2], xy[3], rgba, a_float());
        break;
    case 7:
        w->draw_rect(xy[0], xy[1], xy[2], xy[3], rgba, a_float());
        break;
    case 8:
        w->draw_circle(xy[0], xy[1], a_float(), rgba, a_float());
        break;
    case 9:
        w->draw_path(rnd(8) ? xy : NULL, (int64_t)rnd(6) - 1, rgba, a_float(), some_flags());
        break;
    case 10:
        w->draw_text(xy[0], xy[1], a_text(), -1, rgba, some_flags());
        break;
    case 11:
        w->draw_image(texture, xy[0], xy[1], xy[2], xy[3], some_flags());
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
        w->shortcut(rnd(0x200000), some_flags());
        break;
    case 16:
        w->key_down(rnd(0x200));
        break;
    case 17:
        w->dropped((int32_t)rnd(3) - 1);
        break;
    case 18:
        w->clipboard();
        w->set_clipboard(a_text());
        break;
    default:
        w->end(rnd(24));
        break;
    }
}

/* ---- Plots ---- */

enum { POINTS = 5000, MANY = 1 << 20 };
static double points[POINTS], others[POINTS];
static float many[MANY]; /* zeros, with some others among them */
static bool many_used;
static uint32_t point_rgba[POINTS];

static CaliperPlotData some_data(void)
{
    static const int64_t counts[] = {0, 1, 2, 7, 100, POINTS / 8, -3, INT64_MAX};
    CaliperPlotData data = {.struct_size = sizeof data};
    uint32_t type = rnd(12) == 0 ? 5 + rnd(9) : rnd(5);
    for (int i = 0; i < 20; i++) {
        points[rnd(POINTS)] = a_double();
        others[rnd(POINTS)] = (double)rnd(1000);
    }
    data.revision = rnd(2) ? 0 : rnd(3);
    data.x_type = rnd(4) ? 0 : type;
    data.y_type = type;
    data.x = rnd(2) ? NULL : rnd(2) ? points : others;
    data.y = rnd(20) ? (rnd(2) ? points : others) : NULL;
    data.y2 = rnd(2) ? NULL : others;
    data.rgba = rnd(4) ? NULL : point_rgba;
    data.count = counts[rnd(sizeof counts / sizeof counts[0])];
    data.first = rnd(3) ? 0 : an_int();
    data.x_stride = rnd(4) ? 0 : 8 * (int64_t)rnd(9);
    data.y_stride = rnd(4) ? 0 : 8 * (int64_t)rnd(9);
    data.x0 = a_double();
    data.dx = a_double();
    if (rnd(30) == 0)
        data.struct_size = rnd(96);
    if (rnd(60) == 0) {
        many[rnd(MANY)] = a_float();
        many_used = true;
        data.y = data.x = many;
        data.y_type = data.x_type = CALIPER_PLOT_TYPE_F32;
        data.x_stride = data.y_stride = 0;
        data.x = rnd(2) ? NULL : many;
        data.y2 = NULL;
        data.rgba = NULL;
        data.count = MANY;
    }
    return data;
}

static void call_axis(const CaliperPlotV1 *plot)
{
    static const double at[] = {0, 1, (double)NAN, 2, 1e300};
    static const char *const names[] = {"a", NULL, "\xff", "two\nlines", ""};
    static double links[2];
    double low = 0, high = 0;
    switch (rnd(7)) {
    case 0:
        plot->axis(rnd(4), a_text(), rnd(4), some_flags());
        break;
    case 1:
        plot->axis_range(rnd(4), a_double(), a_double(), rnd(3));
        break;
    case 2:
        links[rnd(2)] = a_double();
        plot->axis_link(rnd(4), rnd(5) ? &links[0] : NULL, &links[1]);
        break;
    case 3:
        plot->axis_ticks(rnd(4), rnd(5) ? at : NULL, rnd(2) ? names : NULL, (int32_t)rnd(7) - 1);
        break;
    case 4:
        plot->axis_fit(rnd(10));
        break;
    case 5:
        plot->view(rnd(4), &low, rnd(2) ? &high : NULL);
        break;
    default:
        plot->style(rnd(2) ? 0 : 0xff00ff00u, a_float(), rnd(8), a_float());
        break;
    }
}

static void call_series(const CaliperPlotV1 *plot)
{
    CaliperPlotData data = some_data();
    const CaliperPlotData *given = rnd(30) ? &data : NULL;
    double x0 = a_double(), y0 = a_double(), x1 = 0, y1 = 0;
    int32_t series = 0;
    int64_t index = 0;
    switch (rnd(12)) {
    case 0:
    case 1:
        plot->line(a_text(), given, some_flags());
        break;
    case 2:
        plot->scatter(a_text(), given, some_flags());
        break;
    case 3:
        plot->bars(a_text(), given, a_double(), some_flags());
        break;
    case 4:
        plot->band(a_text(), given, some_flags());
        break;
    case 5:
        plot->histogram(a_text(), given, (int32_t)rnd(70) - 3, a_double(), a_double(),
                        some_flags());
        break;
    case 6:
        plot->image(a_text(), textures[rnd(4)], x0, y0, a_double(), a_double(), some_flags());
        break;
    case 7:
        plot->ref_line(a_text(), rnd(4), rnd(6) ? &numbers[4] : NULL, some_flags());
        break;
    case 8:
        plot->ref_span(a_text(), rnd(4), x0, y0);
        break;
    case 9:
        plot->shown(a_text(), (int32_t)rnd(4) - 1);
        break;
    case 10:
        if (plot->nearest(&series, &index))
            assert(series >= 0 && index >= 0);
        break;
    default:
        plot->selection(&x0, &y0, &x1, rnd(2) ? &y1 : NULL);
        break;
    }
}

/* Whole plots too, so that what only comes in them is met often. */
static void call_plot(UiBench *bench)
{
    const CaliperPlotV1 *plot = bench->plot;
    switch (rnd(6)) {
    case 0:
        plot->plot(a_text(), a_float(), a_float(), some_flags());
        break;
    case 1:
        plot->end();
        break;
    case 2:
        plot->color_bar(a_text(), (int32_t)rnd(5) - 1, &numbers[0], &numbers[1], a_float(),
                        a_float(), some_flags());
        plot->colormap((int32_t)rnd(5) - 1, a_float(), a_float(), a_float());
        break;
    case 3:
        call_axis(plot);
        call_series(plot);
        break;
    default:
        if (plot->plot(a_text(), a_float(), a_float(), some_flags())) {
            for (uint32_t i = rnd(4); i > 0; i--)
                call_axis(plot);
            for (uint32_t i = rnd(5); i > 0; i--)
                call_series(plot);
            if (rnd(3) == 0)
                call_drawing(bench);
        }
        plot->end();
        break;
    }
}

void calls_stop(UiBench *bench)
{
    bridge_release_texture(bench->bridge, textures[1]);
    memset(points, 0, sizeof points);
    memset(others, 0, sizeof others);
    if (many_used)
        memset(many, 0, sizeof many);
    many_used = false;
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
            call_plot(bench);
            break;
        default:
            call_drawing(bench);
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
