/* The textures of MLScope: made once, updated from snapshots; device tensors first, on the CPU when
 * the bridge refuses them. Frame thread. */
#include "mlscope.h"

/* Makes or updates one; false: the bridge refused. */
static bool put(MlScope *app, CaliperTextureId *texture, const CaliperTensor *tensor,
                int32_t colormap, float low, float high)
{
    if (*texture != 0)
        return app->bridge->update_texture(*texture, tensor);
    *texture = app->bridge->texture_from_tensor_mapped(tensor, colormap, low, high, 0);
    return *texture != 0;
}

static bool put_all(MlScope *app, const ModelSnapshot *snapshot)
{
    Views *views = &app->views;
    TrainerView run;
    trainer_view(app->trainer, &run);
    views->kernel_range = run.kernel_range;
    for (int i = 0; i < MODEL_KERNELS; i++) {
        if (!put(app, &views->kernels[i], &snapshot->kernels[i], CALIPER_CMAP_RDBU,
                 -run.kernel_range, run.kernel_range) ||
            !put(app, &views->maps[i], &snapshot->maps[i], CALIPER_CMAP_VIRIDIS, run.map_min,
                 run.map_max))
            return false;
    }
    return put(app, &views->digit, &snapshot->digit, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f);
}

static void release(MlScope *app, CaliperTextureId *texture)
{
    if (*texture != 0)
        app->bridge->release_texture(*texture);
    *texture = 0;
}

static void release_pictures(MlScope *app)
{
    Views *views = &app->views;
    for (int i = 0; i < MODEL_KERNELS; i++) {
        release(app, &views->kernels[i]);
        release(app, &views->maps[i]);
    }
    release(app, &views->digit);
    model_snapshot_free(&views->shown);
    views->has_any = false;
}

/* True: there was a new one. */
static bool take_snapshot(MlScope *app)
{
    Views *views = &app->views;
    ModelSnapshot *taken = trainer_take(app->trainer);
    if (taken == NULL)
        return false;
    views->refused = !put_all(app, taken);
    if (views->refused) {
        /* Some are of this snapshot and some of the one before: neither is what was learnt. */
        if (taken->on_device)
            trainer_want_cpu(app->trainer); /* the next snapshot comes through the CPU */
        release_pictures(app);
        model_snapshot_free(&taken);
        return true;
    }
    views->has_any = true;
    views->on_device = taken->on_device;
    /* The one before was read by updates that are behind us on its stream. */
    model_snapshot_free(&views->shown);
    views->shown = taken;
    return true;
}

void views_update(MlScope *app, double time_sec)
{
    const double read_every_sec = 0.25;
    TrainerView now;
    bool is_due = take_snapshot(app) || app->steps_max > 0; /* that one keeps step with frames */
    double age_sec = time_sec - app->run_read_sec;
    trainer_view(app->trainer, &now);
    is_due = is_due || now.state != app->run.state || now.steps != app->run.steps ||
             now.score_serial != app->run.score_serial || age_sec < 0 || age_sec >= read_every_sec;
    if (!is_due)
        return;
    app->run = now;
    app->run_read_sec = time_sec;
}

bool views_show_wrong(MlScope *app, int32_t slot, int64_t number)
{
    Views *views = &app->views;
    uint8_t label = 0;
    if (number < 0 || number >= app->score.wrong_count)
        return false;
    int64_t index = app->score.wrong_index[number];
    const uint8_t *image = trainer_test_image(app->trainer, index, &label);
    if (image == NULL)
        return false;
    if (views->wrong_index[slot] == index && views->wrong[slot] != 0)
        return true;
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = (void *)(uintptr_t)image,
                            .dtype = CALIPER_DT_U8,
                            .ndim = 3,
                            .shape = {MODEL_DIGIT_SIDE, MODEL_DIGIT_SIDE, 1},
                            .strides = {MODEL_DIGIT_SIDE, 1, 1},
                            .device = CALIPER_DEV_CPU};
    CaliperTextureId *texture = &views->wrong[slot];
    bool good = *texture != 0 ? app->bridge->update_texture(*texture, &tensor)
                              : (*texture = app->bridge->texture_from_tensor(&tensor, 0)) != 0;
    views->wrong_index[slot] = good ? index : -1;
    return good;
}

void views_forget_wrong(MlScope *app)
{
    for (int i = 0; i < MLSCOPE_PAGE; i++)
        app->views.wrong_index[i] = -1;
}

void views_release(MlScope *app)
{
    release_pictures(app);
    for (int i = 0; i < MLSCOPE_PAGE; i++)
        release(app, &app->views.wrong[i]);
    views_forget_wrong(app);
    app->views.refused = false;
}
