/* tensorscope/app.c: descriptor and life of the applet. Frame thread. */
#include "app.h"
#include "formats/printable.h"

#include <stdio.h>
#include <stdlib.h>

static void *app_create(void)
{
    App *app = calloc(1, sizeof(*app));
    if (app != NULL) {
        app->bar_colormap = -1;
        app->log_counts = true;
    }
    return app;
}

static void app_destroy(void *self)
{
    free(self);
}

static bool app_initialize(void *self, const CaliperHost *host)
{
    App *app = self;
    app->log = CALIPER_SERVICE(host, CaliperLogV1, CALIPER_LOG_V1);
    app->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    app->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    app->plot = CALIPER_SERVICE(host, CaliperPlotV1, CALIPER_PLOT_V1);
    app->read = CALIPER_SERVICE(host, CaliperTextureReadV1, CALIPER_TEXTURE_READ_V1);
    app->device = caliper_device_snapshot(host);
    if (app->bridge == NULL || app->ui == NULL) {
        caliper_log(host, CALIPER_LOG_ERROR,
                    "TensorScope needs " CALIPER_TENSOR_BRIDGE_V1 " and " CALIPER_WIDGETS_V1);
        return false;
    }
    app->save = save_create();
    if (app->save == NULL || !session_start(&app->session, app->bridge, app->log)) {
        caliper_log(host, CALIPER_LOG_ERROR, "TensorScope cannot start its loader's thread");
        save_destroy(&app->save);
        return false;
    }
    return true;
}

static const double said_sec = 4.0;

/* What was saved is told in the line below the picture and in the log. */
static void update_save(App *app)
{
    if (app->session.repeatable) {
        save_wait(app->save, 0.2);
    }
    if (!save_update(app->save)) {
        return;
    }
    if (save_state(app->save) == SAVE_STATE_DONE) {
        char path[sizeof(app->said) - 8];
        snprintf(app->said, sizeof(app->said), "saved %s",
                 printable_text(save_path(app->save), path, sizeof(path)));
        app->said_for_sec = said_sec;
        app->save_finished = true;
    }
    if (CALIPER_HAS(app->log, CaliperLogV1, log)) {
        bool done = save_state(app->save) == SAVE_STATE_DONE;
        app->log->log(done ? CALIPER_LOG_INFO : CALIPER_LOG_WARN,
                      done ? app->said : save_error(app->save)->message);
    }
}

static void app_frame(void *self, const CaliperFrameInfo *info)
{
    App *app = self;
    const char *path;
    app->dpi_scale = info->dpi_scale > 0.0f ? info->dpi_scale : 1.0f;
    /* The first of several is shown; the others wait in the list of files. */
    for (int32_t i = 0; (path = app->ui->dropped(i)) != NULL; i++) {
        if (i == 0) {
            session_open(&app->session, path);
        } else {
            session_offer(&app->session, path);
        }
    }
    session_update(&app->session, info->time_sec, info->delta_sec);
    update_save(app);
    app->said_for_sec -= info->delta_sec;
    panel_draw(app);
}

static void app_cleanup(void *self)
{
    App *app = self;
    save_destroy(&app->save);
    session_stop(&app->session);
    name_filter_finish(&app->filter);
    if (app->bar_texture != 0) {
        app->bridge->release_texture(app->bar_texture);
        app->bar_texture = 0;
    }
}

static const char *const required[] = {CALIPER_LOG_V1, CALIPER_TENSOR_BRIDGE_V1, CALIPER_WIDGETS_V1,
                                       NULL};

static const CaliperAppletDescriptor descriptor = {
    .struct_size = sizeof(CaliperAppletDescriptor),
    .abi_epoch = CALIPER_ABI_EPOCH,
    .id = "org.caliper.tensorscope",
    .version = "0.1.0",
    .name = "TensorScope",
    .summary = "Opens .npy, .npz, safetensors, IDX, PNG and raw bytes; shows a live field.",
    .tag = "viewer",
    .required_services = required,
    .api = {.struct_size = sizeof(CaliperAppletAPI),
            .create = app_create,
            .destroy = app_destroy,
            .initialize = app_initialize,
            .frame = app_frame,
            .cleanup = app_cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
