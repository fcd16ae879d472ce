/* tensorscope/panel_image.c: the picture of one slice, or of the live field, between what other
 * files draw around it. Frame thread. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

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
        double *in = app->seen;
        int64_t col, row;
        draw_samples(app, whole, (double)down, (double)across);
        draw_samples(app, &session->view.detail, (double)down, (double)across);
        cover_overhang(app, (double)cols, (double)rows, (double)down, (double)across);
        ui->visible(&in[0], &in[1], &in[2], &in[3]);
        app->seen_width = width;
        if (in[2] > in[0]) {
            double px = (double)(width * app->dpi_scale) / (in[2] - in[0]);
            session_look(session, in[1] / (double)down, in[0] / (double)across,
                         in[3] / (double)down, in[2] / (double)across, px * (double)down,
                         px * (double)across);
            panel_nan(app, axes_rows(array, &session->axes), axes_cols(array, &session->axes),
                      (double)down, (double)across);
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
        panel_take_copy(app);
    }
    ui->end(CALIPER_SCOPE_IMAGE);
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
    const float bar_width =
        panel_bar_width(app, height, (double)whole->range.low, (double)whole->range.high);
    bool bar = whole->channels == 0 && width > 3.0f * bar_width;
    float room = bar ? width - bar_width : width;
    if (whole->data->tiles.count > 0) {
        panel_tiles(app, room, height);
    } else {
        draw_slice_view(app, room, height);
    }
    if (bar) {
        bool marked = app->hover.inside && app->hover.known;
        panel_bar(app, bar_width, height, whole->colormap, (double)whole->range.low,
                  (double)whole->range.high, marked,
                  marked ? (double)panel_hovered_value(app) : 0.0);
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
    const float bar_width = panel_bar_width(app, height, 0.0, 1.0);
    bool bar = width > 3.0f * bar_width, marked = false;
    int64_t side = demo_side(session->demo), col = 0, row = 0;
    float value = 0.0f;
    float room = bar ? width - bar_width : width;
    if (ui->image_view("live", session->demo_texture, side, side, room, height, session->demo_view3,
                       app->grid ? CALIPER_IMAGE_GRID : 0)) {
        ui->visible(&app->seen[0], &app->seen[1], &app->seen[2], &app->seen[3]);
        app->seen_width = room;
        marked = ui->texel(&col, &row);
        value = marked ? demo_values(session->demo)[row * side + col] : 0.0f;
    }
    ui->end(CALIPER_SCOPE_IMAGE);
    if (bar) {
        panel_bar(app, bar_width, height, CALIPER_CMAP_VIRIDIS, 0.0, 1.0, marked, (double)value);
    }
    char text[TEXT_BYTES], number[ARRAY_TEXT_BYTES];
    snprintf(text, sizeof(text), "[%" PRId64 ", %" PRId64 "] = %s", row, col,
             array_value_text(ARRAY_DTYPE_F32, &value, number));
    if (marked) {
        ui->text_ex(text, -1, 0, CALIPER_TEXT_MONO);
    } else {
        ui->text_ex("a new field each frame; point at it to read a value", -1, 0, CALIPER_TEXT_DIM);
    }
}

/* The picture's size in cells, as its view has them. */
static void draw_tools(App *app)
{
    Session *session = &app->session;
    const SourceArray *array = session_array(session);
    const SliceData *data = session->view.whole.data;
    uint64_t down, across;
    if (session->shows_demo) {
        int64_t side = session->demo != NULL ? demo_side(session->demo) : 1;
        panel_tools(app, session->demo_view3, side, side);
    } else if (data != NULL && data->tiles.count > 0) {
        panel_tools(app, session->view3, (int64_t)data->width, (int64_t)data->height);
    } else if (array != NULL) {
        session_stretch(session, &down, &across);
        panel_tools(app, session->view3, (int64_t)(axes_cols(array, &session->axes) * across),
                    (int64_t)(axes_rows(array, &session->axes) * down));
    }
}

void panel_image(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    float width = 0.0f, height = 0.0f;
    memset(&app->hover, 0, sizeof(app->hover));
    panel_title(app);
    draw_tools(app);
    ui->remaining(&width, &height);
    height -= ui->metric(CALIPER_METRIC_CONTROL) + ui->metric(CALIPER_METRIC_GAP_Y) + 2.0f;
    if (height < 24.0f) {
        height = 24.0f;
    }
    if (app->session.shows_demo) {
        draw_demo(app, width, height);
    } else {
        draw_file(app, width, height);
        panel_foot(app);
    }
}
