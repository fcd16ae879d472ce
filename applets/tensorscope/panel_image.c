/* tensorscope/panel_image.c: the picture, its title and tools, the colour bar beside it and the
 * exact value under the pointer below it. Frame thread. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

static const float bar_width = 74.0f; /* with its labels */
static const float bar_strip = 16.0f;
static const float bar_margin = 10.0f; /* above and below the strip, for half a label */

/* ---- The line above ---- */

static void draw_tools(App *app, double view3[3], int64_t width, int64_t height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    if (ui->button("Grid", 0.0f, 0.0f,
                   CALIPER_BUTTON_SMALL | (app->grid ? CALIPER_BUTTON_PRIMARY : 0))) {
        app->grid = !app->grid;
    }
    ui->tooltip("Lines between cells when they are large enough (G)");
    ui->same_line(0.0f, 4.0f);
    if (ui->button("Fit", 0.0f, 0.0f, CALIPER_BUTTON_SMALL) || ui->shortcut('F', 0)) {
        view3[0] = view3[1] = view3[2] = 0.0;
    }
    ui->tooltip("The whole picture (F, or a double click)");
    ui->same_line(0.0f, 4.0f);
    if (ui->button("1:1", 0.0f, 0.0f, CALIPER_BUTTON_SMALL) || ui->shortcut('1', 0)) {
        view3[0] = (double)width / 2.0;
        view3[1] = (double)height / 2.0;
        view3[2] = 1.0 / (double)app->dpi_scale;
    }
    ui->tooltip("One cell on one pixel of the screen (1)");
}

static void draw_title(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Session *session = &app->session;
    const SourceArray *array = session_array(session);
    char name[TEXT_BYTES], slice[TEXT_BYTES];
    if (session->shows_demo && session->opening[0] != '\0') {
        ui->text(source_file_name(session->opening));
        return;
    }
    if (session->shows_demo || array == NULL) {
        ui->text_ex("Live demo", -1, 0, 0);
        ui->same_line(0.0f, 8.0f);
        ui->text_ex("interfering waves", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    snprintf(name, sizeof(name), "%.240s%s%.240s", source_file_name(session->source->path),
             array->name[0] != '\0' ? " / " : "", array->name);
    ui->text(name);
    ui->same_line(0.0f, 8.0f);
    ui->text_ex(text_slice(array, &session->axes, slice, sizeof(slice)), -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_MONO);
}

/* ---- The colour bar ---- */

static void make_bar_texture(App *app, int32_t colormap)
{
    float entries[256];
    if (app->bar_texture != 0 && app->bar_colormap == colormap) {
        return;
    }
    if (app->bar_texture != 0) {
        app->bridge->release_texture(app->bar_texture);
    }
    for (int i = 0; i < 256; i++) {
        entries[i] = (float)(255 - i);
    }
    CaliperTensor tensor = caliper_tensor_f32_2d(entries, 256, 1);
    app->bar_texture = app->bridge->texture_from_tensor_mapped(&tensor, colormap, 0.0f, 255.0f, 0);
    app->bar_colormap = colormap;
}

static void draw_ticks(const App *app, double low, double high, double top, double bottom)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const double room = fmax((bottom - top) / 44.0, 2.0);
    const double least = fmin(low, high), most = fmax(low, high);
    const double step = text_nice_step((most - least) / room);
    const uint32_t ink = ui->color(CALIPER_THEME_TEXT_DIM);
    char text[32];
    double first = ceil(least / step - 1e-9);
    for (int i = 0; i < 64; i++) {
        double value = (first + i) * step;
        if (!(value <= most + step * 1e-9)) {
            break;
        }
        double y = bottom - (value - low) / (high - low) * (bottom - top);
        snprintf(text, sizeof(text), "%.6g", value == 0.0 ? 0.0 : value);
        ui->draw_line((double)bar_strip, y, (double)bar_strip + 3.0, y, ink, 1.0f);
        ui->draw_text((double)bar_strip + 9.0, y - (double)ui->metric(CALIPER_METRIC_FONT) * 0.45,
                      text, -1, ink, CALIPER_TEXT_SMALL);
    }
}

/* The strip from low (bottom) to high (top), with the value under the pointer marked. */
static void draw_bar(App *app, float height, int32_t colormap, double low, double high, bool marked,
                     double mark)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const double top = (double)bar_margin, bottom = (double)height - (double)bar_margin;
    make_bar_texture(app, colormap);
    ui->same_line(0.0f, 8.0f);
    if (ui->canvas("bar", bar_width - 8.0f, height, 0) && bottom > top + 8.0) {
        ui->draw_image(app->bar_texture, 0.0, top, (double)bar_strip, bottom, 0);
        ui->draw_rect(0.0, top, (double)bar_strip, bottom, ui->color(CALIPER_THEME_BORDER), 1.0f);
        if (high != low) {
            draw_ticks(app, low, high, top, bottom);
        }
        if (marked && high != low && !isnan(mark)) {
            double share = fmin(fmax((mark - low) / (high - low), 0.0), 1.0);
            double y = bottom - share * (bottom - top);
            ui->draw_line(-2.0, y, (double)bar_strip + 3.0, y, ui->color(CALIPER_THEME_TEXT), 2.0f);
        }
    }
    ui->end(CALIPER_SCOPE_CANVAS);
}

/* ---- The picture ---- */

static void draw_samples(const App *app, const SliceTexture *picture, double down, double across)
{
    if (picture->texture == 0) {
        return;
    }
    const SliceArea *area = &picture->data->request.area;
    double x = (double)area->col_begin * across, y = (double)area->row_begin * down;
    app->ui->draw_image(
        picture->texture, x, y, x + (double)(area->col_count * area->col_step) * across,
        y + (double)(area->row_count * area->row_step) * down, CALIPER_IMAGE_CHECKER);
}

/* The last sample of a step may stand for cells past the end: those are covered again. */
static void cover_overhang(const App *app, double width, double height, double down, double across)
{
    const SliceArea *area = &app->session.view.whole.data->request.area;
    const uint32_t ground = app->ui->color(CALIPER_THEME_BACKGROUND);
    double x = (double)(area->col_count * area->col_step) * across;
    double y = (double)(area->row_count * area->row_step) * down;
    if (x > width) {
        app->ui->draw_rect(width, -down, x + across, y + down, ground, -1.0f);
    }
    if (y > height) {
        app->ui->draw_rect(-across, height, x + across, y + down, ground, -1.0f);
    }
}

/* Lines between cells of at least 8 units; over the samples, where image_view's own would be under
 * them. */
static void draw_grid(const App *app, const double seen[4], float width, double rows, double cols,
                      double down, double across)
{
    const uint32_t ink = 0x70808080u; /* shows on dark and on light */
    double unit = (double)width / (seen[2] - seen[0]);
    double x0 = fmax(seen[0], 0.0), x1 = fmin(seen[2], cols);
    double y0 = fmax(seen[1], 0.0), y1 = fmin(seen[3], rows);
    if (unit * across >= 8.0) {
        for (double x = ceil(x0 / across) * across; x <= x1; x += across) {
            app->ui->draw_line(x, y0, x, y1, ink, 1.0f);
        }
    }
    if (unit * down >= 8.0) {
        for (double y = ceil(y0 / down) * down; y <= y1; y += down) {
            app->ui->draw_line(x0, y, x1, y, ink, 1.0f);
        }
    }
}

static void draw_slice_view(App *app, float width, float height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    const SliceTexture *whole = &session->view.whole;
    const SourceArray *array = session_array(session);
    uint64_t down, across;
    session_stretch(session, &down, &across);
    uint64_t rows = axes_rows(array, &session->axes) * down;
    uint64_t cols = axes_cols(array, &session->axes) * across;
    bool seen = ui->image_view("picture", 0, (int64_t)cols, (int64_t)rows, width, height,
                               session->view3, 0);
    if (seen) {
        double in[4]; /* x0, y0, x1, y1 in sight */
        int64_t col, row;
        draw_samples(app, whole, (double)down, (double)across);
        draw_samples(app, &session->view.detail, (double)down, (double)across);
        cover_overhang(app, (double)cols, (double)rows, (double)down, (double)across);
        ui->visible(&in[0], &in[1], &in[2], &in[3]);
        if (in[2] > in[0]) {
            double px = (double)(width * app->dpi_scale) / (in[2] - in[0]);
            session_look(session, in[1] / (double)down, in[0] / (double)across,
                         in[3] / (double)down, in[2] / (double)across, px * (double)down,
                         px * (double)across);
            if (app->grid) {
                draw_grid(app, in, width, (double)rows, (double)cols, (double)down, (double)across);
            }
        }
        if (ui->texel(&col, &row)) {
            uint64_t at_row = (uint64_t)row / down, at_col = (uint64_t)col / across;
            app->hover = session_hover(session, at_row, at_col);
            ui->draw_rect((double)(at_col * across), (double)(at_row * down),
                          (double)((at_col + 1) * across), (double)((at_row + 1) * down),
                          ui->color(CALIPER_THEME_TEXT), 1.0f);
        }
    }
    ui->end(CALIPER_SCOPE_IMAGE);
}

static float hovered_value(const App *app)
{
    float value = NAN;
    array_convert_to_f32(app->session.view.whole.data->dtype, &app->hover.elements[0], &value, 1);
    return value;
}

static void describe_steps(const Session *session, char *text, size_t size)
{
    const SliceArea *whole = &session->view.whole.data->request.area;
    const SliceArea *detail =
        session->view.detail.data != NULL ? &session->view.detail.data->request.area : NULL;
    size_t used =
        (size_t)snprintf(text, size, "overview: 1 row in %" PRIu64 ", 1 column in %" PRIu64,
                         whole->row_step, whole->col_step);
    if (detail != NULL && used < size) {
        if (detail->row_step == 1 && detail->col_step == 1) {
            snprintf(text + used, size - used, "; in sight: every element");
        } else {
            snprintf(text + used, size - used, "; in sight: 1 in %" PRIu64 " and 1 in %" PRIu64,
                     detail->row_step, detail->col_step);
        }
    }
}

/* "[17, 3, 14] = 0.25  colour 63 of 255" */
static void draw_value(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceTexture *whole = &app->session.view.whole;
    const SourceArray *array = session_array(&app->session);
    const Hover *hover = &app->hover;
    uint64_t index[ARRAY_RANK_MAX];
    char text[TEXT_BYTES], place[TEXT_BYTES], value[ARRAY_TEXT_BYTES];
    axes_element(array->rank, &whole->data->request.axes, hover->row, hover->col, 0, index);
    const AxisChoice *axes = &whole->data->request.axes;
    if (axes->colour != ARRAY_AXIS_NONE) {
        index[axes->colour] = 0;
    }
    text_index(array, index, place, sizeof(place));
    size_t used = (size_t)snprintf(text, sizeof(text), "%.400s = ", place);
    for (uint32_t i = 0; hover->known && i < hover->count && used < sizeof(text); i++) {
        array_value_text(whole->data->dtype, &hover->elements[i], value);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? ", " : "", value);
    }
    ui->text_ex(text, -1, 0, CALIPER_TEXT_MONO);
    if (!hover->known) {
        ui->same_line(0.0f, 0.0f);
        ui->text_ex("reading\u2026", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    ui->same_line(0.0f, 14.0f);
    if (whole->channels == 0) {
        snprintf(text, sizeof(text), "colour %d of 255",
                 range_entry(hovered_value(app), whole->range.low, whole->range.high));
    } else {
        snprintf(text, sizeof(text), "%u channel%s", (unsigned)hover->count,
                 hover->count == 1 ? "" : "s");
    }
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    const SliceArea *area = &whole->data->request.area;
    if (area->row_step > 1 || area->col_step > 1) {
        describe_steps(&app->session, text, sizeof(text));
        ui->same_line(0.0f, 14.0f);
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    }
}

/* What is shown, while the pointer is elsewhere. */
static void describe(const Session *session, char *text, size_t size)
{
    const SliceTexture *whole = &session->view.whole;
    const SliceArea *area = &whole->data->request.area;
    uint64_t down, across;
    if (area->row_step > 1 || area->col_step > 1) {
        describe_steps(session, text, size);
        return;
    }
    session_stretch(session, &down, &across);
    if (down > 1 || across > 1) {
        snprintf(text, size, "%" PRIu64 " \u00d7 %" PRIu64 " cells, drawn %" PRIu64 " times %s",
                 whole->rows, whole->cols, down > 1 ? down : across, down > 1 ? "taller" : "wider");
    } else {
        snprintf(text, size, "%" PRIu64 " \u00d7 %" PRIu64 " cells, every element", whole->rows,
                 whole->cols);
    }
}

/* The line below: the value under the pointer, else what is shown. */
static void draw_foot(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    char text[TEXT_BYTES];
    if (loader_is_busy(session->loader, LOADER_KIND_SLICE)) {
        ui->progress(loader_progress(session->loader), "reading", 180.0f, 0.0f);
        if (session->view.whole.data != NULL) {
            ui->same_line(0.0f, 10.0f);
        }
    }
    if (session->view.whole.data == NULL) {
        return;
    }
    if (app->hover.inside) {
        draw_value(app);
        return;
    }
    describe(session, text, sizeof(text));
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
}

static void draw_nothing(App *app, float height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Session *session = &app->session;
    ui->canvas("nothing", 0.0f, height, 0);
    double x0, y0, x1, y1;
    ui->visible(&x0, &y0, &x1, &y1);
    const char *text = session->opening[0] != '\0'                          ? "opening\u2026"
                       : loader_is_busy(session->loader, LOADER_KIND_SLICE) ? "reading\u2026"
                       : session->slice_failed                              ? "not readable"
                                                                            : "nothing to show";
    ui->draw_text(x1 / 2.0, y1 / 2.0, text, -1, ui->color(CALIPER_THEME_TEXT_DIM),
                  CALIPER_TEXT_CENTER);
    ui->end(CALIPER_SCOPE_CANVAS);
}

static void draw_file(App *app, float width, float height)
{
    const SliceTexture *whole = &app->session.view.whole;
    if (whole->data == NULL || whole->texture == 0) {
        draw_nothing(app, height);
        return;
    }
    bool bar = whole->channels == 0 && width > 3.0f * bar_width;
    draw_slice_view(app, bar ? width - bar_width : width, height);
    if (bar) {
        bool marked = app->hover.inside && app->hover.known;
        draw_bar(app, height, whole->colormap, (double)whole->range.low, (double)whole->range.high,
                 marked, marked ? (double)hovered_value(app) : 0.0);
    }
}

static void draw_demo(App *app, float width, float height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    if (session->demo_texture == 0) {
        draw_nothing(app, height);
        return;
    }
    bool bar = width > 3.0f * bar_width, marked = false;
    int64_t side = demo_side(session->demo), col = 0, row = 0;
    float value = 0.0f;
    if (ui->image_view("live", session->demo_texture, side, side, bar ? width - bar_width : width,
                       height, session->demo_view3, app->grid ? CALIPER_IMAGE_GRID : 0) &&
        ui->texel(&col, &row)) {
        marked = true;
        value = demo_values(session->demo)[row * side + col];
    }
    ui->end(CALIPER_SCOPE_IMAGE);
    if (bar) {
        draw_bar(app, height, CALIPER_CMAP_VIRIDIS, 0.0, 1.0, marked, (double)value);
    }
    char text[TEXT_BYTES];
    snprintf(text, sizeof(text), "[%" PRId64 ", %" PRId64 "] = %.9g", row, col, (double)value);
    if (marked) {
        ui->text_ex(text, -1, 0, CALIPER_TEXT_MONO);
    } else {
        ui->text_ex("a new field each frame; point at it to read a value", -1, 0, CALIPER_TEXT_DIM);
    }
}

void panel_image(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    float width = 0.0f, height = 0.0f;
    memset(&app->hover, 0, sizeof(app->hover));
    draw_title(app);
    ui->remaining(&width, &height);
    ui->same_line(width > 190.0f ? width - 116.0f : 0.0f, 0.0f);
    if (session->shows_demo) {
        int64_t side = session->demo != NULL ? demo_side(session->demo) : 1;
        draw_tools(app, session->demo_view3, side, side);
    } else if (session_array(session) != NULL) {
        uint64_t down, across;
        session_stretch(session, &down, &across);
        draw_tools(app, session->view3,
                   (int64_t)(axes_cols(session_array(session), &session->axes) * across),
                   (int64_t)(axes_rows(session_array(session), &session->axes) * down));
    }
    ui->remaining(&width, &height);
    height -= ui->metric(CALIPER_METRIC_CONTROL) + ui->metric(CALIPER_METRIC_GAP_Y) + 2.0f;
    if (height < 24.0f) {
        height = 24.0f;
    }
    if (session->shows_demo) {
        draw_demo(app, width, height);
    } else {
        draw_file(app, width, height);
        draw_foot(app);
    }
}
