/* tensorscope/panel.c: the panel's layout and its keys. Frame thread. */
#include "app.h"

static const float narrow_below = 640.0f; /* then the controls go under the picture */
static const float side_first = 306.0f;

static void take_keys(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    if (ui->shortcut(CALIPER_KEY_RIGHT, CALIPER_SHORTCUT_REPEAT)) {
        session_step(session, 0, 1);
    }
    if (ui->shortcut(CALIPER_KEY_LEFT, CALIPER_SHORTCUT_REPEAT)) {
        session_step(session, 0, -1);
    }
    if (ui->shortcut(CALIPER_KEY_DOWN, CALIPER_SHORTCUT_REPEAT)) {
        session_step(session, 1, 1);
    }
    if (ui->shortcut(CALIPER_KEY_UP, CALIPER_SHORTCUT_REPEAT)) {
        session_step(session, 1, -1);
    }
    if (ui->shortcut('G', 0)) {
        app->grid = !app->grid;
    }
    if (ui->shortcut('M', 0) && !session->shows_demo) {
        session_set_colormap(session, (session->colormap + 1) % 3);
    }
    if (ui->shortcut(' ', 0) && session->shows_demo) {
        session->demo_paused = !session->demo_paused;
    }
    if (ui->shortcut(CALIPER_MOD_MAIN | 'R', 0) && session->source != NULL) {
        session_open(session, session->source->path);
    }
}

static void draw_controls(App *app)
{
    const SourceArray *array = session_array(&app->session);
    panel_failure(app);
    panel_source(app);
    if (app->session.shows_demo) {
        panel_demo(app);
        return;
    }
    if (array == NULL || array->problem != NULL || array->element_count == 0) {
        return;
    }
    panel_slice(app);
    panel_display(app);
    panel_histogram(app);
    panel_values(app);
}

void panel_draw(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    float width = 0.0f, height = 0.0f;
    take_keys(app);
    ui->remaining(&width, &height);
    if (width >= narrow_below) {
        if (!(app->side > 0.0f)) {
            app->side = side_first;
        }
        ui->split("scope", CALIPER_SPLIT_LEFT_RIGHT, &app->side, 220.0f, 260.0f);
        ui->child("controls", -6.0f, 0.0f, 0);
        draw_controls(app);
        ui->end(CALIPER_SCOPE_CHILD);
        ui->split_next();
        ui->indent(6.0f);
        panel_image(app);
        ui->end(CALIPER_SCOPE_INDENT);
    } else {
        if (!(app->narrow > 0.0f)) {
            app->narrow = height * 0.56f;
        }
        ui->split("stack", CALIPER_SPLIT_TOP_BOTTOM, &app->narrow, 120.0f, 80.0f);
        panel_image(app);
        ui->split_next();
        ui->child("controls", 0.0f, 0.0f, 0);
        draw_controls(app);
        ui->end(CALIPER_SCOPE_CHILD);
    }
    ui->end(CALIPER_SCOPE_SPLIT);
}
