/* See kit_applet.h. It uses the SDK alone. */
#include "kit_applet.h"

#include <stdlib.h>

const char *kit_applet_last_dir;
static volatile uintptr_t nowhere = 8; /* no compiler can know it */

static void work(void *user, const CaliperJobControl *control)
{
    KitApplet *applet = user;
    control->progress(control, 0.5f, "half");
    if (control->cancelled(control))
        return;
    applet->metrics->scalar(applet->run, "job/done", 7, 0.25);
    control->progress(control, 1.0f, "done");
}

static void *create(void)
{
    return calloc(1, sizeof(KitApplet));
}

static bool initialize(void *self, const CaliperHost *host)
{
    static const int64_t shape[] = {2, 2, 4};
    KitApplet *applet = self;
    applet->host = host;
    kit_applet_last_dir = host->applet_data_dir;
    applet->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    applet->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    applet->jobs = CALIPER_SERVICE(host, CaliperJobsV1, CALIPER_JOBS_V1);
    applet->metrics = CALIPER_SERVICE(host, CaliperMetricsV1, CALIPER_METRICS_V1);
    for (int i = 0; i < 6; i++)
        applet->cells[i / 3][i % 3] = (float)(i / 3);
    CaliperTensor tensor = caliper_tensor_f32_2d(&applet->cells[0][0], 2, 3);
    applet->texture =
        applet->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
    if (applet->texture == 0) {
        caliper_log(host, CALIPER_LOG_ERROR, "no texture, no applet");
        return false;
    }
    if (!applet->bridge->alloc_shared(CALIPER_DT_U8, 3, shape, &applet->shared_tensor,
                                      &applet->shared))
        return false;
    if (applet->metrics != NULL) {
        applet->run = applet->metrics->begin_run("kit", "first");
        applet->metrics->hparams_json(applet->run, "{\"lr\": 0.1}");
    }
    if (applet->jobs != NULL && applet->metrics != NULL)
        applet->job = applet->jobs->submit("work", work, applet);
    return true;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    KitApplet *applet = self;
    applet->frames++;
    applet->time_sec = info->time_sec;
    applet->delta_sec = info->delta_sec;
    applet->fb_width = info->fb_width;
    applet->fb_height = info->fb_height;
    applet->dpi_scale = info->dpi_scale;
    if (applet->faults_in > 0 && --applet->faults_in == 0)
        applet->frames += *(volatile int *)nowhere;
    uint8_t *shared = applet->shared_tensor.data;
    for (int i = 0; i < 16; i++)
        shared[i] = (uint8_t)(i * 10 + applet->frames);
    if (applet->metrics != NULL)
        applet->metrics->scalar(applet->run, "frame", applet->frames, applet->time_sec);
    caliper_logf(applet->host, CALIPER_LOG_INFO, "frame %d", applet->frames);
    if (applet->ui == NULL)
        return;
    if (applet->ui->button("Press", 200, 60, 0))
        applet->clicks++;
    applet->ui->image(applet->texture, 90, 60, 0);
    if (applet->wants_text)
        applet->ui->next_focus();
    applet->wants_text = false;
    applet->ui->input_text("words", NULL, applet->typed, sizeof applet->typed, 0, 0);
}

static void cleanup(void *self)
{
    KitApplet *applet = self;
    if (applet->metrics != NULL)
        applet->metrics->end_run(applet->run);
    if (applet->keeps)
        return;
    applet->bridge->release_texture(applet->texture);
    applet->bridge->free_shared(applet->shared);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.test.kit",
        .version = "1.2.3",
        .name = "Kit",
        .summary = "One of everything.",
        .tag = "test",
        .required_services = services,
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = free,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
