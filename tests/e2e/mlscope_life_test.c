/* MLScope in the host's own frames, over a network that only counts: cancelled and started again at
 * random moments, its pictures read back and compared with the snapshot that they are said to be
 * of; what the frame thread does meanwhile; textures that are refused. Without torch, so that ASan
 * and TSan see the trainer, the views and the panel.
 *
 * Usage: e2e_mlscope_life LUT_FOLDER */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/bridge_impl.h" /* its limits are made smaller */
#include "core/fault.h"
#include "core/host.h"
#include "jobs/jobs.h"
#include "mlscope.h"
#include "mlscope_counting.h"
#include "services/services.h"
#include "ui_bench.h"

/* Of LONG epochs none comes to its end while a test looks, of SHORT ones each does. */
enum { FIRST_RANGE = 100, TABLE = 256, ROUNDS = 20, LOOKS = 200, LONG = 40000, SHORT = 20 };

static const char *lut_folder;
static uint8_t rdbu[TABLE][3];
static char root[] = "/tmp/mlscope_life_XXXXXX";
static char data[64];
static UiBench bench;
static Host *host;
static const CaliperAppletDescriptor *applet;
static MlScope *app;
static bool offers_cuda; /* the device service does */
static char told[512];   /* the last error or warning of the applet */
static int told_count;
/* The host's table, its pictures looked at on the way. */
static CaliperWidgetsV1 watched;
static int images, too_wide; /* drawn so far; of them and of canvases: past the region's edge */
static uint32_t strongest;   /* the largest alpha of a filled rectangle */
static CaliperHost given;
static const char *absent; /* a service that the host is without; NULL: none */
static int refusals_shown; /* how often the panel said that pictures are refused */
static int sink;

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

static CaliperDeviceKind kind_cuda(void)
{
    return CALIPER_DEV_CUDA;
}

static void count_line(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level < LOG_LEVEL_WARN || strcmp(entry->module, "applet") != 0)
        return;
    told_count++;
    snprintf(told, sizeof told, "%s", entry->text);
}

static void measure(float width)
{
    float room = 0;
    widgets_table()->remaining(&room, NULL);
    too_wide += width > room + 0.5f ? 1 : 0;
}

static void watch_image(CaliperTextureId texture, float width, float height, uint32_t flags)
{
    images++;
    measure(width);
    widgets_table()->image(texture, width, height, flags);
}

static bool watch_canvas(const char *id, float width, float height, uint32_t flags)
{
    measure(width);
    return widgets_table()->canvas(id, width, height, flags);
}

static void watch_draw_rect(double x0, double y0, double x1, double y1, uint32_t rgba, float line)
{
    if (line < 0 && rgba >> 24 > strongest)
        strongest = rgba >> 24;
    widgets_table()->draw_rect(x0, y0, x1, y1, rgba, line);
}

static void watch_text(const char *text, int64_t length, uint32_t rgba, uint32_t flags)
{
    refusals_shown += strstr(text, "refused the pictures") != NULL ? 1 : 0;
    widgets_table()->text_ex(text, length, rgba, flags);
}

static const void *get_service(const CaliperHost *unused, const char *id)
{
    static const CaliperDeviceV1 cuda = {.struct_size = sizeof cuda, .kind = kind_cuda};
    (void)unused;
    if (absent != NULL && strcmp(id, absent) == 0)
        return NULL;
    if (strcmp(id, CALIPER_DEVICE_V1) == 0 && offers_cuda)
        return &cuda;
    if (strcmp(id, CALIPER_WIDGETS_V1) == 0)
        return &watched;
    if (strcmp(id, CALIPER_PLOT_V1) == 0)
        return plot_table();
    return strcmp(id, CALIPER_METRICS_V1) == 0 ? NULL : host_service(host, id);
}

/* "R G B" a line, as published. */
static void read_table(void)
{
    char path[512];
    int red = 0, green = 0, blue = 0, i = 0;
    snprintf(path, sizeof path, "%s/rdbu.txt", lut_folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[128];
    while (i < TABLE && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%d %d %d", &red, &green, &blue) == 3) {
            rdbu[i][0] = (uint8_t)red;
            rdbu[i][1] = (uint8_t)green;
            rdbu[i++][2] = (uint8_t)blue;
        }
    }
    fclose(file);
    assert_int_equal(i, TABLE);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(data, sizeof data, "%s/idx", root);
    char command[128];
    snprintf(command, sizeof command, "mkdir %s", data);
    if (system(command) != 0)
        return 1;
    counting_write_all(data);
    setenv("CALIPER_DATASET", data, 1);
    read_table();
    if (!bench_start_sized(&bench, 1.0f, 1000.0f, 700.0f))
        return 1;
    host = host_create(&(HostParams){.struct_size = sizeof(HostParams), .data_dir = root});
    if (host == NULL || !services_register_all(host, bench.bridge))
        return 1;
    watched = *widgets_table();
    watched.image = watch_image;
    watched.text_ex = watch_text;
    watched.canvas = watch_canvas;
    watched.draw_rect = watch_draw_rect;
    sink = log_sink_add(count_line, NULL);
    applet = caliper_applet_descriptor();
    given = (CaliperHost){.struct_size = sizeof given,
                          .abi_epoch = CALIPER_ABI_EPOCH,
                          .get_service = get_service,
                          .applet_data_dir = root};
    app = applet->api.create();
    if (app == NULL || !applet->api.initialize(app, &given))
        return 1;
    app->batch = 10;
    app->epochs = SHORT; /* 100 steps */
    return app->data != 2;
}

static bool is_busy(void)
{
    return mlscope_is_training(app);
}

static void wait_for_job(void)
{
    for (int i = 0; i < 20000 && is_busy(); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_false(is_busy());
}

static int tear_down(void **state)
{
    (void)state;
    applet->api.cleanup(app);
    wait_for_job();
    BridgeStats stats;
    bridge_stats(bench.bridge, &stats);
    bool good = stats.textures == 0;
    good = good && jobs_end() == 0;
    applet->api.destroy(app);
    good = good && atomic_load(&counting_models) == 0 && atomic_load(&counting_snapshots) == 0;
    host_destroy(&host);
    log_sink_remove(sink);
    bench_stop(&bench);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return good && system(command) == 0 ? 0 : 1;
}

static void draw(UiBench *unused, void *user)
{
    CaliperFrameInfo info = {.struct_size = sizeof info};
    (void)unused;
    (void)user;
    applet->api.frame(app, &info);
}

static void frame(void)
{
    bench_frame(&bench, draw, NULL);
}

/* The kernels' textures are, to the pixel, of the snapshot that is shown. Answers its step. */
static int check_pictures(void)
{
    uint8_t pixels[9 * 4];
    assert_true(app->views.has_any && app->views.shown != NULL);
    assert_true(app->views.kernel_range == (float)FIRST_RANGE);
    int step = app->views.shown->predicted;
    float value = (float)(step % COUNTING_VALUES);
    /* docs/explanation/exactness.md: (v - low) * (1 / (high - low)) * 255 + 0.5, cut off */
    float share = (value + (float)FIRST_RANGE) * (1.0f / (2.0f * (float)FIRST_RANGE));
    share = share > 1.0f ? 1.0f : share;
    const uint8_t *wanted = rdbu[(int)(share * 255.0f + 0.5f)];
    for (int i = 0; i < MODEL_KERNELS; i++) {
        assert_true(
            bridge_texture_read_rgba8(bench.bridge, app->views.kernels[i], pixels, sizeof pixels));
        for (int at = 0; at < 9; at++) {
            if (memcmp(pixels + 4 * at, wanted, 3) != 0)
                fail_msg("kernel %d, element %d: %d %d %d at step %d", i, at, pixels[4 * at],
                         pixels[4 * at + 1], pixels[4 * at + 2], step);
        }
    }
    return step;
}

static void test_cancel_and_start_again(void **state)
{
    unsigned random = 11;
    int ended = 0, kept = 0;
    (void)state;
    bench.unseen = true; /* moments are frames: they are to be short ones */
    for (int round = 0; round < ROUNDS; round++) {
        app->epochs = round % 5 == 4 ? SHORT : LONG;
        app->wants_start = true;
        frame();
        assert_true(app->job != 0);
        random = random * 1103515245u + 12345u;
        int moment = (int)(random >> 16) % 40;
        for (int i = 0; i < moment; i++) {
            frame();
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            if (app->views.has_any)
                check_pictures();
        }
        bool had_any = app->views.has_any;
        int step = had_any ? check_pictures() : -1;
        mlscope_cancel(app);
        wait_for_job();
        TrainerView view;
        trainer_view(app->trainer, &view);
        assert_true(view.state == TRAINER_STATE_CANCELLED || view.state == TRAINER_STATE_DONE);
        ended += view.state == TRAINER_STATE_DONE ? 1 : 0;
        /* What was shown last stays, or is the newer one that the worker had made. */
        for (int i = 0; i < 5; i++)
            frame();
        if (had_any) {
            assert_true(check_pictures() >= step);
            kept++;
        }
    }
    if (kept < ROUNDS / 2)
        fail_msg("only %d of %d rounds had a picture to keep", kept, ROUNDS);
    if (ended > ROUNDS / 2)
        fail_msg("%d of %d rounds came to their end before they were cancelled", ended, ROUNDS);
    bench.unseen = false;
}

typedef struct Io {
    unsigned long long reads, writes;
} Io;

/* Of the calling thread; its own reading is in it, the same each time. */
static Io thread_io(void)
{
    Io io = {0, 0};
    char line[128];
    FILE *file = fopen("/proc/thread-self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "syscr: %llu", &io.reads);
        (void)sscanf(line, "syscw: %llu", &io.writes);
    }
    if (file != NULL)
        fclose(file);
    return io;
}

/* While a run goes on the frame thread reads no file, writes none, and waits for no device. */
static void test_frame_thread(void **state)
{
    RendererCounters before, after;
    (void)state;
    app->epochs = LONG;
    app->wants_start = true;
    frame();
    for (int i = 0; i < 20000 && !app->views.has_any; i++)
        frame();
    Io first = thread_io(), second = thread_io();
    unsigned long long own = second.reads - first.reads;
    if (own == 0) {
        mlscope_cancel(app);
        wait_for_job();
        print_message("skipped: this kernel does not count a thread's reads\n");
        skip();
    }
    uint64_t serial = app->score_serial;
    int64_t updates = 0;
    renderer_counters(bench.renderer, &before);
    first = thread_io();
    for (int i = 0; i < LOOKS; i++) {
        const ModelSnapshot *shown = app->views.shown;
        frame();
        updates += app->views.shown != shown ? 1 : 0;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    second = thread_io();
    renderer_counters(bench.renderer, &after);
    assert_true(is_busy());
    mlscope_cancel(app);
    wait_for_job();
    if (second.reads - first.reads != own || second.writes != first.writes)
        fail_msg("%llu reads, %llu writes on the frame thread", second.reads - first.reads - own,
                 second.writes - first.writes);
    assert_int_equal(after.waits, before.waits);
    assert_true(updates > 0 && app->score_serial > serial);
    assert_true(after.updates >= before.updates + (uint64_t)updates * 17);
    app->epochs = SHORT;
}

/* No texture can be made: the panel says so, the run goes on, and nothing is half shown. */
static void test_refused(void **state)
{
    (void)state;
    views_release(app);
    assert_true(fault_set_plan("cpu.texture:1+"));
    app->wants_start = true;
    frame();
    for (int i = 0; i < 20000 && is_busy(); i++) {
        frame();
        assert_false(app->views.has_any);
    }
    frame();
    TrainerView view;
    trainer_view(app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_DONE);
    assert_true(app->views.refused && app->views.shown == NULL);
    /* The ninth, a kernel after its maps, is refused: those before it are not left behind, and the
     * next snapshot is shown whole. */
    assert_true(fault_set_plan("cpu.texture:9"));
    app->epochs = LONG;
    app->wants_start = true;
    bool was_refused = false;
    for (int i = 0; i < 20000 && !app->views.has_any; i++) {
        frame();
        was_refused = was_refused || app->views.refused;
    }
    assert_true(was_refused && !app->views.refused);
    check_pictures();
    mlscope_cancel(app);
    wait_for_job();
    app->epochs = SHORT;
    assert_true(fault_set_plan(""));
}

static void expect_refused(const char *words)
{
    uint64_t job = app->job;
    int lines = told_count, step = check_pictures();
    TrainerView view;
    app->wants_start = true;
    frame();
    assert_int_equal(told_count, lines + 1); /* once, and what was meant */
    assert_non_null(strstr(told, words));
    trainer_view(app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    assert_non_null(strstr(view.status, words));
    assert_true(app->job == job); /* none was started */
    frame();
    assert_int_equal(told_count, lines + 1);
    assert_int_equal(check_pictures(), step); /* the last run's */
}

static void test_bad_settings(void **state)
{
    (void)state;
    app->wants_start = true;
    frame();
    wait_for_job();
    frame();
    app->seed = -1;
    expect_refused("the seed must be 0 or more");
    app->seed = 1;
    app->learning_rate = 0.0;
    expect_refused("the learning rate must be more than 0");
    app->learning_rate = -1e-3;
    expect_refused("the learning rate must be more than 0");
    app->learning_rate = 1.0 / 0.0;
    expect_refused("the learning rate must be more than 0");
    app->learning_rate = 0.0 / 0.0;
    expect_refused("the learning rate must be more than 0");
    app->learning_rate = 1e-3;
    static const int64_t wrong[] = {0, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        app->batch = wrong[i];
        expect_refused("batch and epochs must be 1 or more");
        app->batch = 10;
        app->epochs = wrong[i];
        expect_refused("batch and epochs must be 1 or more");
        app->epochs = SHORT;
    }
    app->wants_start = true;
    frame();
    wait_for_job();
    frame();
    check_pictures();
}

/* A run that cannot begin is told once, on the panel and in the log. */
static void test_failures_are_told(void **state)
{
    int lines = told_count;
    TrainerView view;
    (void)state;
    app->data = 2;
    snprintf(app->folder, sizeof app->folder, "%s/nowhere", root);
    app->wants_start = true;
    frame();
    wait_for_job();
    frame();
    frame();
    trainer_view(app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    assert_int_equal(told_count, lines + 1);
    assert_non_null(strstr(told, "nowhere: there is no train-images-idx3-ubyte.gz"));
    snprintf(app->folder, sizeof app->folder, "%s", data);
}

static void run_whole(void)
{
    app->wants_start = true;
    frame();
    wait_for_job();
    frame();
}

/* The loss is lost at step 3: the panel knows it, and draws what there is. */
static void test_learning_too_fast(void **state)
{
    TrainerView view;
    (void)state;
    app->learning_rate = COUNTING_TOO_FAST;
    run_whole();
    trainer_view(app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_DONE);
    assert_int_equal(view.lost_step, 3);
    frame();
    app->learning_rate = 1e-3;
    run_whole();
    trainer_view(app->trainer, &view);
    assert_int_equal(view.lost_step, 0);
}

static void click(const char *kind, const char *label)
{
    uint32_t count = 0;
    float x = -1, y = -1;
    ui_items_listen(bench.ui, true);
    frame();
    const UiItem *items = ui_items(bench.ui, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(items[i].kind, kind) == 0 && strcmp(items[i].label, label) == 0) {
            x = items[i].x + items[i].w / 2;
            y = items[i].y + items[i].h / 2;
        }
    }
    ui_items_listen(bench.ui, false);
    if (x <= 0)
        fail_msg("there is no %s \"%s\"", kind, label);
    bench_move(&bench, x, y);
    frame();
    bench_button(&bench, 0, true);
    frame();
    bench_button(&bench, 0, false);
    frame();
    frame();
}

/* Whatever the window's width, no picture leaves its region; of digits and of clothes, whose names
 * are longer. Where all of a row of the matrix is wrong, its cell has the strongest colour. */
static void test_all_of_it_fits(void **state)
{
    static const char *const tabs[] = {"Learning", "Confusion", "Misclassified"};
    float width = bench.width, height = bench.height;
    (void)state;
    run_whole();
    bench.unseen = true; /* where things are is known without pixels */
    for (int tab = 0; tab < 3; tab++) {
        click("tab", tabs[tab]);
        for (int clothes = 0; clothes < 2; clothes++) {
            app->run_data = clothes == 1 ? 1 : 2;
            for (bench.width = 610; bench.width < 1700; bench.width += 30) {
                bench.height = 400 + (float)((int)bench.width % 7) * 90;
                frame(); /* regions are laid out anew */
                images = too_wide = 0;
                strongest = 0;
                frame();
                if (too_wide != 0 || images != (tab == 0 ? 17 : tab == 1 ? 0 : 1))
                    fail_msg("%s, %g wide: %d of %d too wide", tabs[tab], (double)bench.width,
                             too_wide, images);
                if (tab == 1)
                    assert_int_equal(strongest, 255);
            }
            bench.width = width;
            bench.height = height;
        }
    }
    bench.unseen = false;
    click("tab", "Learning");
    app->run_data = 2;
}

static void press(uint32_t key)
{
    bench_key(&bench, key, 0);
    for (int i = 0; i < 4; i++)
        frame();
}

/* By Tab alone. */
static void go_to(const char *kind, const char *label)
{
    ui_items_listen(bench.ui, true);
    for (int i = 0; i < 40; i++) {
        uint32_t count = 0;
        press(CALIPER_KEY_TAB);
        const UiItem *items = ui_items(bench.ui, &count);
        for (uint32_t k = 0; k < count; k++) {
            if (items[k].focused && strcmp(items[k].kind, kind) == 0 &&
                strcmp(items[k].label, label) == 0) {
                ui_items_listen(bench.ui, false);
                return;
            }
        }
    }
    fail_msg("%s \"%s\" is not reached", kind, label);
}

/* One pair of the matrix is chosen by a list, too, which the keyboard reaches. */
static void test_a_pair_is_chosen(void **state)
{
    (void)state;
    run_whole();
    click("tab", "Misclassified");
    app->wrong_page = 0;
    go_to("combo", "show");
    press(' ');
    press(CALIPER_KEY_DOWN);
    press(' ');
    assert_true(app->has_filter && app->filter_truth == 4 && app->filter_said == 0);
    images = 0;
    frame();
    assert_int_equal(images, 1); /* the one that is kept */
    app->filter_said = 7;        /* a pair that is over stays chosen, and shows nothing */
    images = 0;
    frame();
    assert_true(images == 0 && app->has_filter && app->filter_said == 7);
    app->has_filter = false;
    click("tab", "Learning");
}

/* A CUDA device and a network that cannot use it: said in the log and on the panel. */
static void test_cuda_that_is_of_no_use(void **state)
{
    MlScope *first = app;
    int lines = told_count;
    (void)state;
    offers_cuda = true;
    app = applet->api.create();
    assert_non_null(app);
    assert_true(applet->api.initialize(app, &given));
    offers_cuda = false;
    assert_int_equal(told_count, lines + 1);
    assert_non_null(strstr(told, "training on the CPU"));
    assert_true(app->lacks_cuda && !app->has_cuda && app->device == 0);
    app->batch = 10;
    app->epochs = SHORT;
    run_whole();
    check_pictures();
    applet->api.cleanup(app);
    applet->api.destroy(app);
    app = first;
}

/* A host without one of the services: it is named once, and destroy follows, as the host has it. */
static void test_a_service_is_absent(void **state)
{
    static const char *const needed[] = {CALIPER_TENSOR_BRIDGE_V1_1, CALIPER_WIDGETS_V1,
                                         CALIPER_PLOT_V1, CALIPER_JOBS_V1};
    (void)state;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        int lines = told_count;
        void *other = applet->api.create();
        assert_non_null(other);
        absent = needed[i];
        assert_false(applet->api.initialize(other, &given));
        absent = NULL;
        assert_int_equal(told_count, lines + 1);
        assert_non_null(strstr(told, needed[i]));
        applet->api.destroy(other);
    }
}

/* A renderer whose largest texture is smaller than a kernel, than a map, than the digit: words in
 * place of pictures, the run goes to its end; and pictures again from a renderer that takes them.
 */
static void test_tiny_textures(void **state)
{
    static const int32_t sides[] = {1, 2, 25, 27};
    int32_t side = bench.bridge->limits.max_texture_px;
    TrainerView view;
    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        views_release(app); /* no picture of a run before is there to be updated */
        bench.bridge->limits.max_texture_px = sides[i];
        run_whole();
        refusals_shown = 0;
        frame();
        bench.bridge->limits.max_texture_px = side;
        trainer_view(app->trainer, &view);
        assert_int_equal(view.state, TRAINER_STATE_DONE);
        assert_true(app->views.refused && !app->views.has_any);
        assert_int_equal(refusals_shown, 1);
    }
    run_whole();
    check_pictures();
}

/* A count of steps that is none is refused in one line, and no run begins by itself. */
static void test_steps_that_are_no_number(void **state)
{
    static const char *const wrong[] = {"abc", "-1", "10x", " ", "99999999999999999999", "0x10"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int lines = told_count;
        MlScope *other = applet->api.create();
        assert_non_null(other);
        setenv("CALIPER_MLSCOPE_STEPS", wrong[i], 1);
        assert_true(applet->api.initialize(other, &given));
        unsetenv("CALIPER_MLSCOPE_STEPS");
        assert_int_equal(told_count, lines + 1);
        assert_non_null(strstr(told, "CALIPER_MLSCOPE_STEPS is"));
        assert_non_null(strstr(told, wrong[i]));
        assert_true(other->steps_max == 0 && !other->wants_start);
        applet->api.destroy(other);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_and_start_again),
        cmocka_unit_test(test_frame_thread),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_learning_too_fast),
        cmocka_unit_test(test_all_of_it_fits),
        cmocka_unit_test(test_a_pair_is_chosen),
        cmocka_unit_test(test_cuda_that_is_of_no_use),
        cmocka_unit_test(test_a_service_is_absent),
        cmocka_unit_test(test_tiny_textures),
        cmocka_unit_test(test_steps_that_are_no_number),
    };
    if (argc != 2)
        return 2;
    lut_folder = argv[1];
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
