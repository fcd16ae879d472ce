/* MLScope: a small network learns, and one watches: its eight kernels sharpening from noise, the
 * feature maps of a fixed digit, loss and accuracy, what it still gets wrong. This file is the
 * applet's life. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlscope.h"

enum {
    WAIT_MS = 100, /* below what the host calls a slow frame */
    WAIT_MS_MAX = 3600000,
    EPOCHS_MAX = 1000000
};

static void *create(void)
{
    MlScope *app = calloc(1, sizeof *app);
    if (app == NULL)
        return NULL;
    app->seed = 1;
    app->batch = 256;
    app->epochs = 3;
    app->learning_rate = 1e-3;
    views_forget_wrong(app);
    return app;
}

static void destroy(void *self)
{
    MlScope *app = self;
    /* A job that did not end in time still uses it: rather kept than pulled away. */
    if (app->jobs == NULL || (!mlscope_is_training(app) && !mlscope_is_fetching(app))) {
        trainer_destroy(&app->trainer);
        fetcher_destroy(&app->fetcher);
        free(app);
    }
}

/* The data root, two above the applet's own folder, as short as it can be said. */
static void name_data_root(const MlScope *app, char out[DATASETS_PATH_BYTES])
{
    char longer[DATASETS_PATH_BYTES];
    snprintf(longer, sizeof longer, "%s/../..", app->host->applet_data_dir);
    char *real = realpath(longer, NULL);
    snprintf(out, DATASETS_PATH_BYTES, "%s", real != NULL ? real : longer);
    free(real);
}

/* Where data sets are looked for, and which are there; what was asked for, or the first of them. */
static void find_data(MlScope *app)
{
    char root[DATASETS_PATH_BYTES];
    const char *given = getenv("CALIPER_MNIST_DIR"), *wanted = getenv("CALIPER_DATASET");
    name_data_root(app, root);
    if (given != NULL && given[0] != '\0')
        snprintf(app->mnist_folder, sizeof app->mnist_folder, "%s", given);
    else
        datasets_folder(root, datasets_mnist.name, app->mnist_folder);
    app->has_mnist = datasets_found(&datasets_mnist, app->mnist_folder);
    app->has_fashion = datasets_found(&datasets_mnist, datasets_fashion_folder); /* same names */
    app->data = app->has_mnist || !app->has_fashion ? 0 : 1;
    if (wanted == NULL || wanted[0] == '\0')
        return;
    app->data = strcmp(wanted, "mnist") == 0 ? 0 : strcmp(wanted, "fashion") == 0 ? 1 : 2;
    if (app->data == 2)
        snprintf(app->folder, sizeof app->folder, "%s", wanted);
}

/* What the variable says, 0 to `most`; `otherwise` where it is not set, and where it is no such
 * number, which is told. */
static int64_t read_number(const MlScope *app, const char *name, int64_t most, int64_t otherwise)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (text == NULL || text[0] == '\0')
        return otherwise;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && value >= 0 && value <= most)
        return value;
    caliper_logf(app->host, CALIPER_LOG_ERROR, "%s is \"%.64s\": wanted a number from 0 to %lld",
                 name, text, (long long)most);
    return otherwise;
}

static bool initialize(void *self, const CaliperHost *host)
{
    MlScope *app = self;
    app->host = host;
    app->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1_1, CALIPER_TENSOR_BRIDGE_V1_1);
    app->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    app->plot = CALIPER_SERVICE(host, CaliperPlotV1, CALIPER_PLOT_V1);
    app->jobs = CALIPER_SERVICE(host, CaliperJobsV1, CALIPER_JOBS_V1);
    app->metrics = CALIPER_SERVICE(host, CaliperMetricsV1, CALIPER_METRICS_V1);
    if (app->bridge == NULL || app->ui == NULL || app->plot == NULL || app->jobs == NULL) {
        caliper_logf(host, CALIPER_LOG_ERROR, "this host does not offer %s, which MLScope needs",
                     app->bridge == NULL ? CALIPER_TENSOR_BRIDGE_V1_1
                     : app->ui == NULL   ? CALIPER_WIDGETS_V1
                     : app->plot == NULL ? CALIPER_PLOT_V1
                                         : CALIPER_JOBS_V1);
        return false;
    }
    if (app->trainer == NULL)
        app->trainer = trainer_create();
    if (app->fetcher == NULL)
        app->fetcher = fetcher_create();
    if (app->trainer == NULL || app->fetcher == NULL)
        return false;
    const CaliperDeviceV1 *device = CALIPER_SERVICE(host, CaliperDeviceV1, CALIPER_DEVICE_V1);
    bool wants_cuda = device != NULL && device->kind() == CALIPER_DEV_CUDA;
    app->has_cuda = wants_cuda && model_has_cuda();
    app->lacks_cuda = wants_cuda && !app->has_cuda;
    if (app->lacks_cuda)
        caliper_logf(host, CALIPER_LOG_WARN,
                     "there is a CUDA device, and a libtorch without CUDA: training on the CPU");
    app->device = app->has_cuda ? 1 : 0;
    find_data(app);
    app->steps_max = read_number(app, "CALIPER_MLSCOPE_STEPS", INT64_MAX, 0);
    app->wait_ms = (int32_t)read_number(app, "CALIPER_MLSCOPE_WAIT_MS", WAIT_MS_MAX, WAIT_MS);
    app->wants_start = app->steps_max > 0;
    return true;
}

const char *mlscope_class_name(const MlScope *app, int32_t number, char *text, size_t text_bytes)
{
    static const char *const clothes[MODEL_CLASSES] = {"t-shirt", "trouser", "pullover", "dress",
                                                       "coat",    "sandal",  "shirt",    "sneaker",
                                                       "bag",     "boot"};
    if (app->run_data == 1 && number >= 0 && number < MODEL_CLASSES)
        return clothes[number];
    snprintf(text, text_bytes, "%d", (int)number);
    return text;
}

bool mlscope_is_training(const MlScope *app)
{
    return app->job != 0 && app->jobs->is_running(app->job);
}

/* A learning rate that Adam takes, a seed that is no other than the one that is shown, steps. */
static const char *find_fault(const MlScope *app)
{
    if (!(app->learning_rate > 0) || !isfinite(app->learning_rate))
        return "the learning rate must be more than 0";
    if (app->seed < 0)
        return "the seed must be 0 or more";
    if (app->batch < 1 || app->batch > INT32_MAX || app->epochs < 1 || app->epochs > EPOCHS_MAX)
        return "batch and epochs must be 1 or more, and no more than a million epochs";
    return NULL;
}

static void start(MlScope *app)
{
    static const char *const names[] = {"MNIST", "Fashion-MNIST", NULL};
    const char *folders[] = {app->mnist_folder, datasets_fashion_folder, app->folder};
    const char *fault = find_fault(app);
    if (mlscope_is_training(app))
        return;
    app->has_told_training = false;
    app->run_read_sec = -1.0; /* whatever comes of it is news in this very frame */
    if (fault != NULL) {      /* what the last run showed stays */
        trainer_refuse(app->trainer, fault);
        return;
    }
    TrainerParams params = {.seed = (uint64_t)app->seed,
                            .learning_rate = app->learning_rate,
                            .batch = (int32_t)app->batch,
                            .epochs = (int32_t)app->epochs,
                            .steps_max = app->steps_max,
                            .on_cuda = app->device == 1,
                            .bridge_caps = app->bridge->caps(),
                            .metrics = app->metrics};
    snprintf(params.folder, sizeof params.folder, "%s", folders[app->data]);
    const char *last_slash = strrchr(app->folder, '/');
    const char *folder_name =
        last_slash != NULL && last_slash[1] != '\0' ? last_slash + 1 : app->folder;
    snprintf(params.data_name, sizeof params.data_name, "%.63s",
             app->data < 2 ? names[app->data] : folder_name);
    const char *weights = getenv("CALIPER_MLSCOPE_WEIGHTS");
    snprintf(params.weights_path, sizeof params.weights_path, "%s", weights != NULL ? weights : "");
    views_release(app); /* ranges are pinned anew */
    memset(&app->score, 0, sizeof app->score);
    app->score_serial = 0;
    app->wrong_page = 0;
    app->has_filter = false;
    trainer_prepare(app->trainer, &params);
    trainer_view(app->trainer, &app->run); /* the arrays of the last run are gone */
    app->run_data = app->data;
    app->awaited = 0;
    app->job = app->jobs->submit("MLScope: training", trainer_run, app->trainer);
    if (app->job == 0)
        trainer_refuse(app->trainer, "no job could be started: see the log");
}

void mlscope_cancel(MlScope *app)
{
    app->jobs->request_cancel(app->job);
}

void mlscope_cancel_fetch(MlScope *app)
{
    app->jobs->request_cancel(app->fetch_job);
}

bool mlscope_is_fetching(const MlScope *app)
{
    return app->fetch_job != 0 && app->jobs->is_running(app->fetch_job);
}

void mlscope_fetch(MlScope *app)
{
    if (mlscope_is_fetching(app))
        return;
    app->has_told_fetch = false;
    fetcher_prepare(app->fetcher, app->mnist_folder);
    app->fetch_job = app->jobs->submit("MLScope: fetching MNIST", fetcher_run, app->fetcher);
    if (app->fetch_job == 0)
        fetcher_refuse(app->fetcher, "no job could be started: see the log");
}

/* What failed is in the log too, once: nobody may be looking at the panel. */
static void tell_failures(MlScope *app, const TrainerView *trained, const FetcherView *fetched)
{
    if (trained->state == TRAINER_STATE_FAILED && !app->has_told_training) {
        caliper_logf(app->host, CALIPER_LOG_ERROR, "training: %s", trained->status);
        app->has_told_training = true;
    }
    if (fetched->state == FETCHER_STATE_FAILED && !app->has_told_fetch) {
        caliper_logf(app->host, CALIPER_LOG_ERROR, "fetching: %s", fetched->words);
        app->has_told_fetch = true;
    }
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    MlScope *app = self;
    FetcherView fetched;
    if (app->wants_start)
        start(app);
    app->wants_start = false;
    fetcher_view(app->fetcher, &fetched);
    if (fetched.state == FETCHER_STATE_DONE)
        app->has_mnist = true;
    if (app->steps_max > 0) /* nobody watches: frames keep step with the training */
        trainer_wait(app->trainer, ++app->awaited, app->wait_ms);
    views_update(app, info->time_sec);
    tell_failures(app, &app->run, &fetched);
    if (app->run.score_serial != app->score_serial) {
        trainer_score(app->trainer, &app->score);
        app->score_serial = app->run.score_serial;
    }
    panel_draw(app);
}

static void cleanup(void *self)
{
    MlScope *app = self;
    mlscope_cancel(app);
    mlscope_cancel_fetch(app);
    views_release(app);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1_1, CALIPER_WIDGETS_V1,
                                           CALIPER_PLOT_V1, CALIPER_JOBS_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.mlscope",
        .version = "0.1.0",
        .name = "MLScope",
        .summary = "Watch a small network learn: its kernels, its feature maps, loss and accuracy, "
                   "live.",
        .tag = "training",
        .required_services = services,
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = destroy,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
