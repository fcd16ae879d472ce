/* What a person sees of MLScope: settings at the left; kernels, feature maps and curves, or what
 * the net gets wrong, at the right. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "mlscope.h"

static const char *const clothes[MODEL_CLASSES] = {
    "t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

/* "7" for a digit, "sneaker" for clothes. */
static const char *class_name(const MlScope *app, int32_t class, char *text, size_t text_bytes)
{
    if (app->run_data == 1 && class >= 0 && class < MODEL_CLASSES)
        return clothes[class];
    snprintf(text, text_bytes, "%d", (int)class);
    return text;
}

/* ---- Settings ---- */

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
    if ((app->data == 0 && !app->has_mnist) || (app->data == 1 && !app->has_fashion))
        ui->text_ex(app->data == 0 ? "Put MNIST's four IDX files into datasets/mnist of the data "
                                     "folder, or name their folder in CALIPER_MNIST_DIR."
                                   : "Install dataset-fashion-mnist.",
                    -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
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
             class_name(app, shown->predicted, names[0], sizeof names[0]),
             class_name(app, shown->truth, names[1], sizeof names[1]));
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

/* ---- What it gets wrong ---- */

static void draw_confusion(MlScope *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[64], name[16];
    ui->text_ex("rows: what it is; columns: what the net says", -1, 0, CALIPER_TEXT_DIM);
    if (ui->table("confusion", MODEL_CLASSES + 1, 0, 0, 0)) {
        ui->table_column("", 0, 0);
        for (int32_t c = 0; c < MODEL_CLASSES; c++)
            ui->table_column(class_name(app, c, name, sizeof name), 0, 0);
        for (int32_t truth = 0; truth < MODEL_CLASSES; truth++) {
            int64_t sum = 0;
            for (int32_t c = 0; c < MODEL_CLASSES; c++)
                sum += app->score.confusion[truth][c];
            ui->table_row(0, 0);
            if (ui->table_cell(0, 0))
                ui->text(class_name(app, truth, name, sizeof name));
            for (int32_t c = 0; c < MODEL_CLASSES; c++) {
                int64_t count = app->score.confusion[truth][c];
                float share = sum > 0 ? (float)count / (float)sum : 0.0f;
                uint32_t rgba = app->plot->colormap(CALIPER_CMAP_VIRIDIS, share, 0.0f, 1.0f);
                if (ui->table_cell(c + 1, count > 0 ? (rgba & 0xffffffu) | 0x90000000u : 0)) {
                    snprintf(text, sizeof text, "%lld", (long long)count);
                    ui->text(text);
                }
            }
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

static void draw_wrong(MlScope *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[128], names[2][16];
    uint8_t label = 0;
    if (app->score.wrong_count == 0) {
        ui->text_ex("Nothing yet.", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    if (app->wrong >= app->score.wrong_count)
        app->wrong = app->score.wrong_count - 1;
    snprintf(text, sizeof text, "%lld of %lld test images are wrong; the first %d are here",
             (long long)(app->score.seen - app->score.right), (long long)app->score.seen,
             (int)app->score.wrong_count);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    ui->next_width(320);
    ui->slider_int("image", &app->wrong, 0, app->score.wrong_count - 1, "", 0);
    if (ui->shortcut(CALIPER_KEY_LEFT, CALIPER_SHORTCUT_REPEAT) && app->wrong > 0)
        app->wrong--;
    if (ui->shortcut(CALIPER_KEY_RIGHT, CALIPER_SHORTCUT_REPEAT) &&
        app->wrong + 1 < app->score.wrong_count)
        app->wrong++;
    if (!views_show_wrong(app, app->wrong))
        return;
    trainer_test_image(app->trainer, app->score.wrong_index[app->wrong], &label);
    ui->image(app->views.wrong, 280, 280, CALIPER_IMAGE_BORDER);
    snprintf(text, sizeof text, "t10k[%d]: pred %s / true %s",
             (int)app->score.wrong_index[app->wrong],
             class_name(app, app->score.wrong_predicted[app->wrong], names[0], sizeof names[0]),
             class_name(app, label, names[1], sizeof names[1]));
    ui->text_ex(text, -1, ui->color(CALIPER_THEME_BAD), 0);
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
            draw_confusion(app);
        ui->end(CALIPER_SCOPE_TAB);
        if (ui->tab("Misclassified", NULL, 0))
            draw_wrong(app);
        ui->end(CALIPER_SCOPE_TAB);
    }
    ui->end(CALIPER_SCOPE_TAB_BAR);
    ui->end(CALIPER_SCOPE_SPLIT);
}
