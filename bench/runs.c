/* bench/runs.c: the Runs dashboard over many runs while one writes.
 *
 * Usage: bench_runs FOLDER [RUNS STEPS TAGS SECONDS [--check]]
 *
 * Makes RUNS runs of STEPS scalars under TAGS tags in FOLDER unless they are there (1000 x 1000 x
 * 10), chooses all of them, and draws frames of 1400 x 880 on the cpu renderer for SECONDS while a
 * thread logs 10 000 rows a second into one more run. Says what the frame thread spends in the
 * dashboard, how old the newest row is when a frame shows it, and what the frame thread read, wrote
 * and asked.
 * --check: status 1 unless every logged row was shown in the end, also those that came one by one,
 * and the frame thread did no I/O.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bridge/bridge.h"
#include "core/log.h"
#include "render/renderer.h"
#include "services/ui.h"
#include "services/widgets.h"
#include "shell/runs/runs_impl.h"

enum { WIDTH = 1400, HEIGHT = 880, FRAMES_MAX = 100000, RATE = 10000, LIVE_MAX = 4000000 };

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Data ---- */

static void make_runs(MetricsStore *store, int runs, int steps, int tags)
{
    for (int r = 0; r < runs; r++) {
        char name[32], tag[32], json[64];
        snprintf(name, sizeof name, "run_%04d", r);
        uint64_t run = metrics_store_begin_run(store, "many", name);
        snprintf(json, sizeof json, "{\"lr\": %.6g, \"seed\": %d}", 0.1 / (1 + r % 7), r);
        metrics_store_hparams(store, run, json);
        for (int s = 0; s < steps; s++) {
            for (int t = 0; t < tags; t++) {
                snprintf(tag, sizeof tag, "tag_%02d", t);
                metrics_store_scalar(store, run, tag, s,
                                     (2.0 + t) * exp(-s / (100.0 + r % 50)) +
                                         0.01 * ((s * 7) % 13));
            }
        }
        metrics_store_end_run(store, run);
        if (r % 8 == 7 && !metrics_store_flush(store, 60000))
            fprintf(stderr, "rows wait for the disk\n");
    }
    metrics_store_flush(store, 60000);
}

/* ---- The run that is written meanwhile ---- */

static _Atomic(double) logged_sec[LIVE_MAX]; /* when each step was logged */
static atomic_int logged;
static atomic_bool stop;
static atomic_ullong live_run;

static void *log_rows(void *user)
{
    MetricsStore *store = user;
    uint64_t run = metrics_store_begin_run(store, "many", "live");
    atomic_store(&live_run, run);
    double started = now_sec();
    int step = 0;
    while (!atomic_load(&stop) && step < LIVE_MAX) {
        int due = (int)((now_sec() - started) * RATE);
        for (; step < due && step < LIVE_MAX; step++) {
            atomic_store_explicit(&logged_sec[step], now_sec(), memory_order_relaxed);
            metrics_store_scalar(store, run, "tag_00", step, sin(step * 1e-4));
            atomic_store(&logged, step + 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

/* ---- Frames ---- */

typedef struct Stage {
    Renderer *renderer;
    Bridge *bridge;
    Ui *ui;
    Runs *runs;
} Stage;

typedef struct Io {
    unsigned long long read_calls, write_calls;
} Io;

/* Of the calling thread; its own reading is in it, twice the same each time. */
static Io thread_io(void)
{
    Io io = {0};
    char line[128];
    FILE *file = fopen("/proc/thread-self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "syscr: %llu", &io.read_calls);
        (void)sscanf(line, "syscw: %llu", &io.write_calls);
    }
    if (file != NULL)
        fclose(file);
    return io;
}

static double draw_frame(Stage *stage, double *out_runs_sec)
{
    double started = now_sec();
    ui_frame_begin(stage->ui, WIDTH, HEIGHT, 1.0 / 60.0);
    ui_panel_begin(stage->ui, 0, 0, 0, WIDTH, HEIGHT, true);
    widgets_begin(0);
    double before = now_sec();
    runs_draw(stage->runs);
    *out_runs_sec = now_sec() - before;
    widgets_end();
    ui_panel_end(stage->ui);
    ui_frame_end(stage->ui);
    renderer_frame_begin(stage->renderer, WIDTH, HEIGHT, 0xff000000u);
    ui_frame_draw(stage->ui, stage->renderer, stage->bridge, WIDTH, HEIGHT);
    renderer_frame_end(stage->renderer);
    bridge_frame_end(stage->bridge);
    return now_sec() - started;
}

/* The live run's curve in the picture; NULL: it is not there. */
static const RunsSeries *shown_series(const Runs *runs)
{
    const RunsChart *chart = runs_chart(runs, "tag_00");
    for (uint32_t i = 0; chart != NULL && i < chart->count; i++) {
        if (chart->series[i].run == atomic_load(&live_run))
            return &chart->series[i];
    }
    return NULL;
}

/* The newest step of it; -1: none. */
static int64_t shown_step(const Runs *runs)
{
    const RunsSeries *series = shown_series(runs);
    return series != NULL ? series->last_step : -1;
}

/* Each row that comes alone is drawn before the next is logged, without anybody asking for it; the
 * first of them after the charts were read anew, by arrival. */
static bool shows_single_rows(Stage *stage, MetricsStore *store)
{
    enum { ROWS = 8, WAIT_SEC = 60 };
    double spent = 0;
    runs_settle(stage->runs);
    stage->runs->axis = METRICS_AXIS_ARRIVAL;
    for (int i = 0; i < 2; i++) {
        draw_frame(stage, &spent);
        runs_settle(stage->runs);
    }
    for (int i = 0; i < ROWS; i++) {
        int step = atomic_fetch_add(&logged, 1);
        double started = now_sec();
        metrics_store_scalar(store, atomic_load(&live_run), "tag_00", step, 0.5);
        do {
            draw_frame(stage, &spent);
        } while (shown_step(stage->runs) != step && now_sec() - started < WAIT_SEC);
        if (shown_step(stage->runs) != step)
            return false;
    }
    return true;
}

static bool stage_start(Stage *stage, MetricsStore *store, const char *data_root)
{
    stage->renderer =
        renderer_choose(RENDERER_PARAMS(.width_px = WIDTH, .height_px = HEIGHT), "cpu", NULL);
    stage->bridge = stage->renderer != NULL ? bridge_create(stage->renderer) : NULL;
    stage->ui = ui_create(&(UiParams){.scale = 1.0f});
    if (stage->bridge == NULL || stage->ui == NULL ||
        !ui_textures_create(stage->ui, stage->renderer))
        return false;
    widgets_start(stage->bridge);
    stage->runs = runs_create(store, stage->bridge, stage->ui, data_root, false);
    return stage->runs != NULL;
}

static void stage_stop(Stage *stage)
{
    runs_destroy(&stage->runs);
    widgets_stop();
    if (stage->ui != NULL && stage->renderer != NULL)
        ui_textures_destroy(stage->ui, stage->renderer);
    bridge_destroy(&stage->bridge);
    ui_destroy(&stage->ui);
    renderer_destroy(&stage->renderer);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(const char *what, double *values, int count, double factor, const char *unit)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    printf("%-34s median %8.2f, 99 %% %8.2f, most %8.2f %s\n", what, values[count / 2] * factor,
           values[(int)(count * 0.99)] * factor, values[count - 1] * factor, unit);
}

static double in_runs[FRAMES_MAX], in_frame[FRAMES_MAX], age[FRAMES_MAX];

static bool measure(Stage *stage, MetricsStore *store, double seconds)
{
    pthread_t thread;
    double spent = 0;
    int frames = 0, ages = 0;
    for (int i = 0; i < 4; i++) { /* until the first charts are there */
        draw_frame(stage, &spent);
        runs_settle(stage->runs);
    }
    runs_choose_rows(stage->runs, true);
    double loading = now_sec();
    for (int i = 0; i < 3; i++) {
        draw_frame(stage, &spent);
        runs_settle(stage->runs);
    }
    printf("%u runs chosen, %u charts, loaded in %.2f s\n", stage->runs->chosen_count,
           stage->runs->chart_total, now_sec() - loading);
    if (pthread_create(&thread, NULL, log_rows, store) != 0)
        return false;
    while (shown_step(stage->runs) < 0 && now_sec() - loading < 120)
        draw_frame(stage, &spent);
    RunsReaderCounters counters;
    Io io = thread_io(), again = thread_io();
    unsigned long long own = again.read_calls - io.read_calls;
    double started = now_sec();
    io = thread_io();
    while (now_sec() - started < seconds && frames < FRAMES_MAX) {
        double frame = draw_frame(stage, &in_runs[frames]);
        int64_t step = shown_step(stage->runs);
        /* How long ago the oldest row was logged that is not in this picture. */
        if (step >= 0 && step + 1 < atomic_load(&logged))
            age[ages++] =
                now_sec() - atomic_load_explicit(&logged_sec[step + 1], memory_order_relaxed);
        in_frame[frames++] = frame;
        if (frame < 1.0 / 60.0)
            nanosleep(&(struct timespec){.tv_nsec = (long)((1.0 / 60.0 - frame) * 1e9)}, NULL);
    }
    again = thread_io();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    bool singly = shows_single_rows(stage, store);
    metrics_store_end_run(store, atomic_load(&live_run));
    runs_settle(stage->runs);
    draw_frame(stage, &spent);
    runs_reader_counters(stage->runs->reader, &counters);
    say("the dashboard in a frame", in_runs, frames, 1e3, "ms");
    say("a whole frame, drawn on the CPU", in_frame, frames, 1e3, "ms");
    if (ages > 0)
        say("oldest row not yet shown", age, ages, 1e3, "ms");
    printf("%d frames; frame thread: %llu reads, %llu writes, %llu queries; reader: %llu queries\n",
           frames, again.read_calls - io.read_calls - own, again.write_calls - io.write_calls,
           (unsigned long long)counters.frame_queries, (unsigned long long)counters.queries);
    int64_t step = shown_step(stage->runs);
    const RunsSeries *series = shown_series(stage->runs);
    int64_t rows = series != NULL ? (int64_t)series->rows : 0;
    printf("rows logged %d, shown %lld, counted %lld\n", atomic_load(&logged), (long long)step + 1,
           (long long)rows);
    return singly && step + 1 == atomic_load(&logged) && rows == step + 1 &&
           counters.frame_queries == 0 && own > 0 && again.read_calls - io.read_calls == own &&
           again.write_calls == io.write_calls;
}

int main(int argc, char **argv)
{
    bool check = argc > 1 && strcmp(argv[argc - 1], "--check") == 0;
    int words = check ? argc - 1 : argc;
    if (words != 2 && words != 6) {
        fprintf(stderr, "usage: bench_runs FOLDER [RUNS STEPS TAGS SECONDS [--check]]\n");
        return 2;
    }
    int runs = words == 6 ? atoi(argv[2]) : 1000, steps = words == 6 ? atoi(argv[3]) : 1000;
    int tags = words == 6 ? atoi(argv[4]) : 10;
    double seconds = words == 6 ? atof(argv[5]) : 20;
    char path[4096];
    struct stat status;
    log_set_threshold("warn");
    mkdir(argv[1], 0777);
    snprintf(path, sizeof path, "%s/metrics.duckdb", argv[1]);
    bool made = stat(path, &status) == 0;
    MetricsStore *store = metrics_store_create(
        &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = argv[1]});
    if (store == NULL)
        return 1;
    double started = now_sec();
    if (!made) {
        make_runs(store, runs, steps, tags);
        printf("%d rows made in %.1f s\n", runs * steps * tags, now_sec() - started);
    }
    Stage stage = {0};
    bool good = stage_start(&stage, store, argv[1]) && measure(&stage, store, seconds);
    stage_stop(&stage);
    metrics_store_destroy(&store);
    return good || !check ? 0 : 1;
}
