/* tensorscope/panel_tools.c: the line above the picture: what it is, and the tools, which keys do
 * too: zoom, pan, fit, lines between cells, save. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

static const double zoom_step = 1.25;
static const double pan_share = 0.1;     /* of what is in sight */
static const float tools_width = 168.0f; /* with the Save button */
static const float save_width = 52.0f;

/* A fitted view has no numbers of its own yet: it gets those that were drawn. */
static void grab(const App *app, double view3[3])
{
    const double *in = app->seen;
    if (view3[2] > 0.0 || !(in[2] > in[0])) {
        return;
    }
    view3[0] = (in[0] + in[2]) / 2.0;
    view3[1] = (in[1] + in[3]) / 2.0;
    view3[2] = (double)app->seen_width / (in[2] - in[0]);
}

static void zoom(const App *app, double view3[3], double by)
{
    grab(app, view3);
    view3[2] *= by;
}

static void pan(const App *app, double view3[3], double across, double down)
{
    grab(app, view3);
    view3[0] += across * pan_share * (app->seen[2] - app->seen[0]);
    view3[1] += down * pan_share * (app->seen[3] - app->seen[1]);
}

static void take_keys(App *app, double view3[3])
{
    const CaliperWidgetsV1 *ui = app->ui;
    if (ui->shortcut('=', CALIPER_SHORTCUT_REPEAT) ||
        ui->shortcut(CALIPER_MOD_SHIFT | '=', CALIPER_SHORTCUT_REPEAT)) {
        zoom(app, view3, zoom_step);
    }
    if (ui->shortcut('-', CALIPER_SHORTCUT_REPEAT)) {
        zoom(app, view3, 1.0 / zoom_step);
    }
    if (ui->shortcut(CALIPER_MOD_SHIFT | CALIPER_KEY_LEFT, CALIPER_SHORTCUT_REPEAT)) {
        pan(app, view3, -1.0, 0.0);
    }
    if (ui->shortcut(CALIPER_MOD_SHIFT | CALIPER_KEY_RIGHT, CALIPER_SHORTCUT_REPEAT)) {
        pan(app, view3, 1.0, 0.0);
    }
    if (ui->shortcut(CALIPER_MOD_SHIFT | CALIPER_KEY_UP, CALIPER_SHORTCUT_REPEAT)) {
        pan(app, view3, 0.0, -1.0);
    }
    if (ui->shortcut(CALIPER_MOD_SHIFT | CALIPER_KEY_DOWN, CALIPER_SHORTCUT_REPEAT)) {
        pan(app, view3, 0.0, 1.0);
    }
}

void panel_tools(App *app, double view3[3], int64_t width, int64_t height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    float room = 0.0f, unused;
    float tools = app->session.shows_demo ? tools_width - save_width : tools_width;
    ui->remaining(&room, &unused);
    ui->same_line(room > tools + 74.0f ? room - tools : 0.0f, 0.0f);
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
    ui->tooltip("One cell on one pixel of the screen (1); + and - zoom, Shift and arrows pan");
    take_keys(app, view3);
    if (app->session.shows_demo) {
        return;
    }
    ui->same_line(0.0f, 4.0f);
    panel_save(app);
}

void panel_title(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Session *session = &app->session;
    const SourceArray *array = session_array(session);
    char file[TEXT_BYTES / 2], within[TEXT_BYTES / 2], name[TEXT_BYTES + 4], slice[TEXT_BYTES];
    if (session->shows_demo && session->opening[0] != '\0') {
        ui->text(text_name(source_file_name(session->opening), file, sizeof(file)));
        return;
    }
    if (session->shows_demo || array == NULL) {
        ui->text_ex("Live demo", -1, 0, 0);
        ui->same_line(0.0f, 8.0f);
        ui->text_ex("interfering waves", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    snprintf(name, sizeof(name), "%s%s%s",
             text_name(source_file_name(session->source->path), file, sizeof(file)),
             array->name[0] != '\0' ? " / " : "", text_name(array->name, within, sizeof(within)));
    text_slice(array, &session->axes, slice, sizeof(slice));
    const uint32_t slice_flags = CALIPER_TEXT_DIM | CALIPER_TEXT_MONO;
    char whole[sizeof(name)];
    memcpy(whole, name, sizeof(name));
    float room = 0.0f, slice_width = 0.0f, unused;
    ui->remaining(&room, &unused);
    room -= tools_width + 74.0f + 16.0f; /* where panel_tools begins, and the gap before it */
    panel_fit_text(ui, slice, room * 0.5f, slice_flags);
    ui->text_size(slice, -1, 0.0f, slice_flags, &slice_width, &unused);
    panel_fit_text(ui, name, room - slice_width - 8.0f, 0);
    ui->text(name);
    if (strcmp(name, whole) != 0) {
        ui->tooltip(whole);
    }
    ui->same_line(0.0f, 8.0f);
    ui->text_ex(slice, -1, 0, slice_flags);
}
