/* What a person sees of MLScope: settings at the left; kernels, feature maps and curves at the
 * right. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "mlscope.h"

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

static void draw_settings(MlScope *app, const TrainerView *view)
{
    static const char *const sets[] = {"MNIST", "Fashion-MNIST", "a folder"};
    static const char *const devices[] = {"CPU", "CUDA"};
    const CaliperWidgetsV1 *ui = app->ui;
    bool training = mlscope_is_training(app);
    ui->text_ex("MLScope", -1, 0, CALIPER_TEXT_HEADING);
    ui->text_ex("A small network learns, and you watch.", -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
    ui->push_width(150);
    ui->separator("Data");
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
    ui->push_width(150);
    ui->disabled(training);
    ui->separator("Training");
    ui->combo("device", &app->device, devices, app->has_cuda ? 2 : 1, 0);
    ui->input_int("seed", &app->seed, 1, 0);
    ui->input_number("learning rate", &app->learning_rate, 0, 0, "", 0);
    ui->slider_int("batch", &app->batch, 16, 1024, "", 0);
    ui->slider_int("epochs", &app->epochs, 1, 20, "", 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->end(CALIPER_SCOPE_WIDTH);
    ui->space(0, 6);
    if (training) {
        if (ui->button("Cancel", 0, 0, 0))
            mlscope_cancel(app);
    } else if (ui->button("Train", 0, 0, CALIPER_BUTTON_PRIMARY)) {
        app->wants_start = true;
    }
    if (view->steps > 0) {
        char text[64];
        snprintf(text, sizeof text, "step %lld of %lld", (long long)view->step,
                 (long long)view->steps);
        ui->progress((double)view->step / (double)view->steps, text, -1, 0);
    }
    bool failed = view->state == TRAINER_STATE_FAILED;
    if (view->status[0] != '\0')
        ui->text_ex(view->status, -1, failed ? ui->color(CALIPER_THEME_BAD) : 0, CALIPER_TEXT_WRAP);
    if (app->metrics == NULL)
        ui->text_ex("No metrics service here: the run is not kept.", -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
}

/* ---- Pictures ---- */

static void draw_kernels(MlScope *app, float side)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[96];
    ui->group();
    ui->text_ex("conv1: eight kernels", -1, 0, CALIPER_TEXT_HEADING);
    for (int i = 0; i < MODEL_KERNELS; i++) {
        if (i % 4 != 0)
            ui->same_line(0, 6);
        ui->image(app->views.kernels[i], side, side, CALIPER_IMAGE_BORDER);
    }
    snprintf(text, sizeof text, "red to blue, -%.3f to %.3f, pinned at the first snapshot",
             (double)app->views.kernel_range, (double)app->views.kernel_range);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    ui->end(CALIPER_SCOPE_GROUP);
}

static void draw_maps(MlScope *app, float side)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const ModelSnapshot *shown = app->views.shown;
    char text[96], names[2][16];
    ui->group();
    ui->text_ex("the first test image, and what conv1 makes of it", -1, 0, CALIPER_TEXT_HEADING);
    ui->group();
    ui->image(app->views.digit, side * 2 + 6, side * 2 + 6, CALIPER_IMAGE_BORDER);
    bool right = shown->predicted == shown->truth;
    snprintf(text, sizeof text, "pred %s / true %s",
             mlscope_class_name(app, shown->predicted, names[0], sizeof names[0]),
             mlscope_class_name(app, shown->truth, names[1], sizeof names[1]));
    ui->text_ex(text, -1, ui->color(right ? CALIPER_THEME_GOOD : CALIPER_THEME_BAD), 0);
    ui->end(CALIPER_SCOPE_GROUP);
    ui->same_line(0, 10);
    ui->group();
    for (int i = 0; i < MODEL_KERNELS; i++) {
        if (i % 4 != 0)
            ui->same_line(0, 6);
        ui->image(app->views.maps[i], side, side, CALIPER_IMAGE_BORDER);
    }
    ui->end(CALIPER_SCOPE_GROUP);
    ui->end(CALIPER_SCOPE_GROUP);
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
    float width = 0, height = 0;
    ui->remaining(&width, &height);
    float side = width / 16;
    side = side < 24 ? 24 : side > 84 ? 84 : side;
    if (app->views.has_any && app->views.shown != NULL) {
        draw_kernels(app, side);
        ui->same_line(0, 28);
        draw_maps(app, side);
    } else {
        ui->text_ex(app->views.refused ? "The renderer refused the pictures: see the log."
                                       : "Press Train: the kernels appear with the first snapshot.",
                    -1, app->views.refused ? ui->color(CALIPER_THEME_BAD) : 0,
                    app->views.refused ? 0 : CALIPER_TEXT_DIM);
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
    TrainerView view;
    char text[160];
    trainer_view(app->trainer, &view);
    if (ui->split("settings", 0, &left, 200, 300)) {
        draw_settings(app, &view);
        if (app->views.has_any) {
            snprintf(text, sizeof text, "pictures: %s",
                     app->views.on_device ? "from CUDA memory, in place" : "from host memory");
            ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
        }
    }
    ui->split_next();
    if (ui->tab_bar("pages", 0)) {
        if (ui->tab("Learning", NULL, 0))
            draw_learning(app, &view);
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
