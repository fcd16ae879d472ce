/* tensorscope/panel_slice.c: which axes run, and where the others stand. Frame thread. */
#include <inttypes.h>
#include <stdio.h>

#include "app.h"
#include "text.h"

typedef struct AxisNames {
    char text[ARRAY_RANK_MAX + 1][48];
    const char *items[ARRAY_RANK_MAX + 1];
} AxisNames;

/* "none", then "axis 0 (60000)", ... */
static void name_axes(const SourceArray *array, AxisNames *names)
{
    snprintf(names->text[0], sizeof(names->text[0]), "none");
    names->items[0] = names->text[0];
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        snprintf(names->text[axis + 1], sizeof(names->text[0]), "axis %u (%" PRIu64 ")",
                 (unsigned)axis, array->shape[axis]);
        names->items[axis + 1] = names->text[axis + 1];
    }
}

typedef bool (*SetAxis)(const SourceArray *array, AxisChoice *axes, int axis);

static bool choose(App *app, const char *label, const AxisNames *names, int current, SetAxis set)
{
    const SourceArray *array = session_array(&app->session);
    int32_t index = current + 1; /* ARRAY_AXIS_NONE is -1 */
    return app->ui->combo(label, &index, names->items, (int32_t)array->rank + 1, 0) &&
           set(array, &app->session.axes, index - 1);
}

static bool any_colour(const SourceArray *array)
{
    for (int axis = 0; axis < (int)array->rank; axis++) {
        if (axes_can_be_colour(array, axis)) {
            return true;
        }
    }
    return false;
}

static bool draw_tile_count(App *app)
{
    Session *session = &app->session;
    uint64_t extent = session_array(session)->shape[session->axes.tile];
    int64_t count = (int64_t)session_tile_count(session);
    int64_t most = extent < TILES_MAX ? (int64_t)extent : TILES_MAX;
    if (!app->ui->slider_int("slices", &count, 1, most, NULL, CALIPER_NUMBER_LOG)) {
        return false;
    }
    session->tiles_wanted = (uint32_t)count;
    return true;
}

static void draw_roles(App *app)
{
    const SourceArray *array = session_array(&app->session);
    AxisChoice *axes = &app->session.axes;
    AxisNames names;
    bool changed = false;
    name_axes(array, &names);
    app->ui->push_width(-70.0f);
    changed |= choose(app, "rows", &names, axes->row, axes_set_row);
    changed |= choose(app, "columns", &names, axes->col, axes_set_col);
    if (array->rank >= 3 && any_colour(array)) {
        changed |= choose(app, "colour", &names, axes->colour, axes_set_colour);
        app->ui->tooltip("An axis of 1 to 4 entries as grey, grey + alpha, RGB or RGBA");
    }
    if (array->rank >= 3) {
        changed |=
            choose(app, "grid", &names, axes->tiled ? axes->tile : ARRAY_AXIS_NONE, axes_set_tile);
        app->ui->tooltip("The slices along an axis side by side");
        if (axes->tiled) {
            changed |= draw_tile_count(app);
        }
    }
    app->ui->end(CALIPER_SCOPE_WIDTH);
    if (changed) {
        session_axes_changed(&app->session, true);
    }
}

static void draw_slider(App *app, uint32_t number, int axis)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SourceArray *array = session_array(&app->session);
    AxisChoice *axes = &app->session.axes;
    char label[32], last[96];
    int64_t value = (int64_t)axes->index[axis];
    bool first = axes->tiled && axis == axes->tile;
    if (first) {
        snprintf(label, sizeof(label), "first");
    } else {
        snprintf(label, sizeof(label), "axis %d", axis);
    }
    ui->push_id_int((uint64_t)axis);
    if (ui->button("-", 24.0f, 0.0f, CALIPER_BUTTON_REPEAT)) {
        session_step(&app->session, number, -1);
    }
    ui->same_line(0.0f, 4.0f);
    ui->next_width(-102.0f);
    if (ui->slider_int("##at", &value, 0, (int64_t)array->shape[axis] - 1, NULL, 0)) {
        axes->index[axis] = (uint64_t)value;
        session_axes_changed(&app->session, false);
    }
    snprintf(last, sizeof(last), "%s0 to %" PRIu64 "%s", first ? "the first of the grid, " : "",
             array->shape[axis] - 1,
             number == 0   ? ", left and right keys step"
             : number == 1 ? ", up and down keys step"
                           : "");
    ui->tooltip(last);
    ui->same_line(0.0f, 4.0f);
    if (ui->button("+", 24.0f, 0.0f, CALIPER_BUTTON_REPEAT)) {
        session_step(&app->session, number, 1);
    }
    ui->same_line(0.0f, 8.0f);
    ui->text_ex(label, -1, 0, CALIPER_TEXT_DIM);
    ui->end(CALIPER_SCOPE_ID);
}

void panel_slice(App *app)
{
    const SourceArray *array = session_array(&app->session);
    int axes[ARRAY_RANK_MAX];
    if (array->rank < 2) {
        return;
    }
    app->ui->separator("Slice");
    draw_roles(app);
    uint32_t count = axes_sliders(array, &app->session.axes, axes);
    for (uint32_t i = 0; i < count; i++) {
        draw_slider(app, i, axes[i]);
    }
}
