/* What a person sees of MLScope: settings at the left; kernels, feature maps and curves at the
 * right. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mlscope.h"

/* Logical units. */
enum { FIELD_WIDTH = 146, GAP = 6, SIDE_MIN = 24 };

/* ---- Settings ---- */

static void draw_advice(MlScope *app, const char *words)
{
    app->ui->text_ex(words, -1, app->ui->color(CALIPER_THEME_WARN),
                     CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
}

/* MNIST is not here: it comes when it is asked for, and not before. */
static void draw_fetch(MlScope *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    FetcherView view;
    char text[96];
    fetcher_view(app->fetcher, &view);
    if (view.state == FETCHER_STATE_RUNNING) {
        snprintf(text, sizeof text, "%.1f of %.1f MB", (double)view.got_bytes * 1e-6,
                 (double)view.total_bytes * 1e-6);
        ui->progress(view.total_bytes > 0 ? (double)view.got_bytes / (double)view.total_bytes : 0.0,
                     text, -1, 0);
        if (ui->button("Stop fetching", 0, 0, 0))
            mlscope_cancel_fetch(app);
        return;
    }
    draw_advice(app, "MNIST is not in the data folder.");
    if (ui->button("Fetch (11.6 MB)", 0, 0, 0))
        mlscope_fetch(app);
    if (view.state == FETCHER_STATE_FAILED)
        ui->text_ex(view.words, -1, ui->color(CALIPER_THEME_BAD),
                    CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
}

static void draw_data(MlScope *app, bool training)
{
    static const char *const sets[] = {"MNIST", "Fashion-MNIST", "a folder"};
    const CaliperWidgetsV1 *ui = app->ui;
    ui->separator("Data");
    ui->push_width(FIELD_WIDTH);
    ui->disabled(training);
    ui->combo("data", &app->data, sets, 3, 0);
    if (app->data == 2)
        ui->input_text("folder", "with the four IDX files", app->folder, sizeof app->folder, 0, 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->end(CALIPER_SCOPE_WIDTH);
    if (app->data == 0 && !app->has_mnist)
        draw_fetch(app);
    else if (app->data == 1 && !app->has_fashion)
        draw_advice(app, "It comes with a package: apt-get install dataset-fashion-mnist");
}

static void draw_training(MlScope *app, bool training)
{
    static const char *const devices[] = {"CPU", "CUDA"};
    const CaliperWidgetsV1 *ui = app->ui;
    ui->separator("Training");
    ui->push_width(FIELD_WIDTH);
    ui->disabled(training);
    ui->combo("device", &app->device, devices, app->has_cuda ? 2 : 1, 0);
    if (app->lacks_cuda)
        draw_advice(app, "There is a CUDA device, but this libtorch is without CUDA.");
    ui->input_int("seed", &app->seed, 1, 0);
    ui->input_number("learning rate", &app->learning_rate, 0, 0, "", 0);
    ui->slider_int("batch", &app->batch, 16, 1024, "", 0);
    ui->slider_int("epochs", &app->epochs, 1, 20, "", 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->end(CALIPER_SCOPE_WIDTH);
}

/* How the run is, or how the last one ended. */
static void draw_state(MlScope *app, const TrainerView *view)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[96];
    if (view->steps > 0) {
        snprintf(text, sizeof text, "step %lld of %lld", (long long)view->step,
                 (long long)view->steps);
        ui->progress((double)view->step / (double)view->steps, text, -1, 0);
    }
    if (view->lost_step > 0) {
        snprintf(text, sizeof text, "The loss is no number from step %lld on: learn more slowly.",
                 (long long)view->lost_step);
        draw_advice(app, text);
    }
    bool failed = view->state == TRAINER_STATE_FAILED;
    if (view->status[0] != '\0')
        ui->text_ex(view->status, -1, failed ? ui->color(CALIPER_THEME_BAD) : 0, CALIPER_TEXT_WRAP);
    if (app->metrics == NULL)
        ui->text_ex("No metrics service here: the run is not kept.", -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    if (app->views.has_any) {
        snprintf(text, sizeof text, "pictures: %s",
                 app->views.on_device ? "from CUDA memory, in place" : "from host memory");
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
    }
}

static void draw_settings(MlScope *app, const TrainerView *view)
{
    const CaliperWidgetsV1 *ui = app->ui;
    bool training = mlscope_is_training(app);
    ui->text_ex("MLScope", -1, 0, CALIPER_TEXT_HEADING);
    ui->text_ex("A small network learns, and you watch.", -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
    draw_data(app, training);
    draw_training(app, training);
    ui->space(0, 6);
    if (training) {
        if (ui->button("Cancel", 0, 0, 0))
            mlscope_cancel(app);
    } else if (ui->button("Train", 0, 0, CALIPER_BUTTON_PRIMARY)) {
        app->wants_start = true;
    }
    draw_state(app, view);
}

/* ---- Pictures ---- */

/* Eight in two rows of four. */
static void draw_eight(MlScope *app, const CaliperTextureId pictures[MODEL_KERNELS], float side)
{
    const CaliperWidgetsV1 *ui = app->ui;
    ui->group();
    for (int i = 0; i < MODEL_KERNELS; i++) {
        if (i % 4 != 0)
            ui->same_line(0, GAP);
        ui->image(pictures[i], side, side, CALIPER_IMAGE_BORDER);
    }
    ui->end(CALIPER_SCOPE_GROUP);
}

static void name_range(const MlScope *app, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "red to blue, -%.3f to %.3f, pinned at the first snapshot",
             (double)app->views.kernel_range, (double)app->views.kernel_range);
}

static void draw_kernels(MlScope *app, float side)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[96];
    ui->group();
    ui->text_ex("conv1: eight kernels", -1, 0, CALIPER_TEXT_HEADING | CALIPER_TEXT_WRAP);
    draw_eight(app, app->views.kernels, side);
    name_range(app, text, sizeof text);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
    ui->end(CALIPER_SCOPE_GROUP);
}

static void draw_caption(MlScope *app)
{
    const ModelSnapshot *shown = app->views.shown;
    char text[96], names[2][16];
    bool right = shown->predicted == shown->truth;
    snprintf(text, sizeof text, "pred %s / true %s",
             mlscope_class_name(app, shown->predicted, names[0], sizeof names[0]),
             mlscope_class_name(app, shown->truth, names[1], sizeof names[1]));
    app->ui->text_ex(text, -1, app->ui->color(right ? CALIPER_THEME_GOOD : CALIPER_THEME_BAD),
                     CALIPER_TEXT_WRAP);
}

/* `is_wide`: the caption is between the digit and the maps, else below both. */
static void draw_maps(MlScope *app, float side, bool is_wide)
{
    const CaliperWidgetsV1 *ui = app->ui;
    ui->group();
    ui->text_ex("the first test image, and what conv1 makes of it", -1, 0,
                CALIPER_TEXT_HEADING | CALIPER_TEXT_WRAP);
    ui->group();
    ui->image(app->views.digit, side * 2 + GAP, side * 2 + GAP, CALIPER_IMAGE_BORDER);
    if (is_wide)
        draw_caption(app);
    ui->end(CALIPER_SCOPE_GROUP);
    ui->same_line(0, 10);
    draw_eight(app, app->views.maps, side);
    if (!is_wide)
        draw_caption(app);
    ui->end(CALIPER_SCOPE_GROUP);
}

/* The kernels and the maps, side by side or one above the other, whichever all of it fits. */
static void draw_pictures(MlScope *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[96];
    float width = 0, range = 0, caption = 0;
    ui->remaining(&width, NULL);
    name_range(app, text, sizeof text);
    ui->text_size(text, -1, 0, CALIPER_TEXT_SMALL, &range, NULL);
    ui->text_size("pred pullover / true pullover", -1, 0, 0, &caption, NULL);
    float side = fminf(fmaxf(width / 16, SIDE_MIN), 84);
    float eight = 4 * side + 3 * GAP, digit = fmaxf(2 * side + GAP, caption);
    if (fmaxf(eight, range) + 28 + digit + 10 + eight <= width) {
        draw_kernels(app, side);
        ui->same_line(0, 28);
        draw_maps(app, side, true);
        return;
    }
    side = fminf(fmaxf((width - 4 * GAP - 10) / 6, SIDE_MIN), 44);
    draw_kernels(app, side);
    draw_maps(app, side, false);
}

/* ---- Curves ---- */

static void draw_curves(MlScope *app, const TrainerView *view, float height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const CaliperPlotV1 *plot = app->plot;
    float width = 0;
    ui->remaining(&width, NULL);
    float half = (width - 12) / 2;
    CaliperPlotData losses = {.struct_size = sizeof losses,
                              .y = view->losses,
                              .y_type = CALIPER_PLOT_TYPE_F32,
                              .count = view->loss_count,
                              .x0 = 1,
                              .dx = 1};
    CaliperPlotData scores = {.struct_size = sizeof scores,
                              .x = view->accuracy_steps,
                              .x_type = CALIPER_PLOT_TYPE_F32,
                              .y = view->accuracies,
                              .y_type = CALIPER_PLOT_TYPE_F32,
                              .count = view->accuracy_count};
    plot->plot("train/loss", half, height, CALIPER_PLOT_NO_LEGEND);
    plot->axis(CALIPER_AXIS_X1, "step", CALIPER_SCALE_LINEAR,
               CALIPER_AXIS_FIT | CALIPER_AXIS_INTEGER);
    plot->axis(CALIPER_AXIS_Y1, NULL, CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
    if (view->loss_count > 0)
        plot->line("loss", &losses, 0);
    plot->end();
    ui->same_line(0, 12);
    plot->plot("test/accuracy", half, height, CALIPER_PLOT_NO_LEGEND);
    plot->axis(CALIPER_AXIS_X1, "step", CALIPER_SCALE_LINEAR,
               CALIPER_AXIS_FIT | CALIPER_AXIS_INTEGER);
    plot->axis(CALIPER_AXIS_Y1, NULL, CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
    plot->style(ui->color(CALIPER_THEME_GOOD), 1.5f, CALIPER_MARKER_CIRCLE, 4);
    if (view->accuracy_count > 0)
        plot->line("accuracy", &scores, 0);
    plot->end();
}

static void draw_learning(MlScope *app, const TrainerView *view)
{
    const CaliperWidgetsV1 *ui = app->ui;
    float height = 0;
    if (app->views.has_any && app->views.shown != NULL) {
        draw_pictures(app);
    } else {
        ui->text_ex(app->views.refused ? "The renderer refused the pictures: see the log."
                                       : "Press Train: the kernels appear with the first snapshot.",
                    -1, app->views.refused ? ui->color(CALIPER_THEME_BAD) : 0,
                    CALIPER_TEXT_WRAP | (app->views.refused ? 0 : CALIPER_TEXT_DIM));
    }
    ui->space(0, 6);
    ui->remaining(NULL, &height);
    if (view->steps > 0)
        draw_curves(app, view, height > 180 ? height - 4 : 180);
}

void panel_draw(MlScope *app)
{
    static float left = 250;
    const CaliperWidgetsV1 *ui = app->ui;
    const TrainerView *view = &app->run;
    if (ui->split("settings", 0, &left, 200, 300))
        draw_settings(app, view);
    ui->split_next();
    if (ui->tab_bar("pages", 0)) {
        if (ui->tab("Learning", NULL, 0))
            draw_learning(app, view);
        ui->end(CALIPER_SCOPE_TAB);
        if (ui->tab("Confusion", NULL, 0))
            panel_draw_confusion(app);
        ui->end(CALIPER_SCOPE_TAB);
        if (ui->tab("Misclassified", NULL, 0))
            panel_draw_wrong(app);
        ui->end(CALIPER_SCOPE_TAB);
    }
    ui->end(CALIPER_SCOPE_TAB_BAR);
    ui->end(CALIPER_SCOPE_SPLIT);
}
