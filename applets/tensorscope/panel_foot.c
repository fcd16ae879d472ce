/* tensorscope/panel_foot.c: the line below the picture: the exact value under the pointer, what the
 * picture is made of, and what was just copied or saved. Frame thread. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

float panel_hovered_value(const App *app)
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

/* "[17, 3, 14]": the element under the pointer, in the file's own order of axes. */
static void name_place(const App *app, char *text, size_t size)
{
    const SliceData *data = app->session.view.whole.data;
    const AxisChoice *axes = &data->request.axes;
    uint64_t index[ARRAY_RANK_MAX];
    const SourceArray *array = session_array(&app->session);
    axes_element(array->rank, axes, app->hover.row, app->hover.col, 0, index);
    if (data->tiles.count > 0) {
        index[axes->tile] += app->hover.tile;
    }
    text_index(array, index, text, size);
}

/* "0.25", or all channels: "10, 11, 255". */
static void name_value(const App *app, char *text, size_t size)
{
    const Hover *hover = &app->hover;
    char value[ARRAY_TEXT_BYTES];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; hover->known && i < hover->count && used < size; i++) {
        array_value_text(app->session.view.whole.data->dtype, &hover->elements[i], value);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", value);
    }
}

void panel_take_copy(App *app)
{
    double x, y;
    uint32_t pointer = app->ui->pointer(&x, &y, NULL);
    app->copies |= (pointer & (CALIPER_POINTER_PRESSED << 1)) != 0;
}

/* The value to the clipboard, and a line that says so. */
static void copy_value(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char place[TEXT_BYTES], value[TEXT_BYTES];
    bool asked = ui->shortcut('C', 0) || ui->shortcut(CALIPER_MOD_MAIN | 'C', 0) || app->copies;
    app->copies = false;
    if (!asked || !app->hover.inside || !app->hover.known) {
        return;
    }
    name_place(app, place, sizeof(place));
    name_value(app, value, sizeof(value));
    ui->set_clipboard(value);
    snprintf(app->said, sizeof(app->said), "copied %s = %s", place, value);
    app->said_for_sec = 0.8; /* the values that follow are wanted again soon */
    if (CALIPER_HAS(app->log, CaliperLogV1, log)) {
        app->log->log(CALIPER_LOG_INFO, app->said);
    }
}

/* "[17, 3, 14] = 0.25  colour 63 of 255" */
static void draw_value(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceTexture *whole = &app->session.view.whole;
    const Hover *hover = &app->hover;
    char text[2 * TEXT_BYTES + 8], place[TEXT_BYTES], value[TEXT_BYTES];
    name_place(app, place, sizeof(place));
    name_value(app, value, sizeof(value));
    snprintf(text, sizeof(text), "%s = %s", place, value);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_MONO);
    if (!hover->known) {
        ui->same_line(0.0f, 0.0f);
        ui->text_ex("reading\u2026", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    ui->same_line(0.0f, 14.0f);
    if (whole->channels == 0) {
        snprintf(text, sizeof(text), "colour %d of 255",
                 range_entry(panel_hovered_value(app), whole->range.low, whole->range.high));
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
    const Tiles *tiles = &whole->data->tiles;
    uint64_t down, across;
    if (tiles->count > 0) {
        size_t used =
            (size_t)snprintf(text, size, "%u slices of %" PRIu64 " \u00d7 %" PRIu64 " cells",
                             (unsigned)tiles->count, tiles->rows, tiles->cols);
        if ((area->row_step > 1 || area->col_step > 1) && used < size) {
            snprintf(text + used, size - used, ", 1 row in %" PRIu64 ", 1 column in %" PRIu64,
                     area->row_step, area->col_step);
        }
        return;
    }
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

void panel_foot(App *app)
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
    copy_value(app);
    if (app->said_for_sec > 0.0) {
        ui->text_ex(app->said, -1, ui->color(CALIPER_THEME_GOOD), 0);
        return;
    }
    if (app->hover.inside) {
        draw_value(app);
        return;
    }
    describe(session, text, sizeof(text));
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
}
