/* tests/e2e/mlscope_stage.c: see mlscope_stage.h. */
#include "mlscope_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/host.h"
#include "jobs/jobs.h"
#include "mlscope_counting.h"
#include "services/services.h"

enum { FIRST_RANGE = 100, TABLE = 256 };

Stage stage = {.root = "/tmp/mlscope_stage_XXXXXX"};

static uint8_t rdbu[TABLE][3];
static Host *host;
static CaliperWidgetsV1 watched; /* the host's table, its pictures looked at on the way */
static int sink;

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

/* ---- What the host is, and what is seen of it ---- */

static CaliperDeviceKind kind_cuda(void)
{
    return CALIPER_DEV_CUDA;
}

static void count_line(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level < LOG_LEVEL_WARN || strcmp(entry->module, "applet") != 0)
        return;
    stage.told_count++;
    snprintf(stage.told, sizeof stage.told, "%s", entry->text);
}

static void measure(float width)
{
    float room = 0;
    widgets_table()->remaining(&room, NULL);
    stage.too_wide += width > room + 0.5f ? 1 : 0;
}

static void watch_image(CaliperTextureId texture, float width, float height, uint32_t flags)
{
    stage.images++;
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
    if (line < 0 && rgba >> 24 > stage.strongest)
        stage.strongest = rgba >> 24;
    widgets_table()->draw_rect(x0, y0, x1, y1, rgba, line);
}

static void watch_text(const char *text, int64_t length, uint32_t rgba, uint32_t flags)
{
    stage.refusals_shown += strstr(text, "refused the pictures") != NULL ? 1 : 0;
    widgets_table()->text_ex(text, length, rgba, flags);
}

static const void *get_service(const CaliperHost *unused, const char *id)
{
    static const CaliperDeviceV1 cuda = {.struct_size = sizeof cuda, .kind = kind_cuda};
    (void)unused;
    if (stage.absent != NULL && strcmp(id, stage.absent) == 0)
        return NULL;
    if (strcmp(id, CALIPER_DEVICE_V1) == 0 && stage.offers_cuda)
        return &cuda;
    if (strcmp(id, CALIPER_WIDGETS_V1) == 0)
        return &watched;
    if (strcmp(id, CALIPER_PLOT_V1) == 0)
        return plot_table();
    return strcmp(id, CALIPER_METRICS_V1) == 0 ? NULL : host_service(host, id);
}

/* ---- Start and end ---- */

/* "R G B" a line, as published. */
static void read_table(void)
{
    char path[512];
    int red = 0, green = 0, blue = 0, i = 0;
    snprintf(path, sizeof path, "%s/rdbu.txt", stage.lut_folder);
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

int stage_set_up(void **state)
{
    (void)state;
    if (mkdtemp(stage.root) == NULL)
        return 1;
    snprintf(stage.data, sizeof stage.data, "%s/idx", stage.root);
    char command[128];
    snprintf(command, sizeof command, "mkdir %s", stage.data);
    if (system(command) != 0)
        return 1;
    counting_write_all(stage.data);
    setenv("CALIPER_DATASET", stage.data, 1);
    read_table();
    if (!bench_start_listening(&stage.bench, 1.0f, 1000.0f, 700.0f))
        return 1;
    host = host_create(&(HostParams){.struct_size = sizeof(HostParams), .data_dir = stage.root});
    if (host == NULL || !services_register_all(host, stage.bench.bridge))
        return 1;
    watched = *widgets_table();
    watched.image = watch_image;
    watched.text_ex = watch_text;
    watched.canvas = watch_canvas;
    watched.draw_rect = watch_draw_rect;
    sink = log_sink_add(count_line, NULL);
    stage.applet = caliper_applet_descriptor();
    stage.given = (CaliperHost){.struct_size = sizeof stage.given,
                                .abi_epoch = CALIPER_ABI_EPOCH,
                                .get_service = get_service,
                                .applet_data_dir = stage.root};
    stage.app = stage.applet->api.create();
    if (stage.app == NULL || !stage.applet->api.initialize(stage.app, &stage.given))
        return 1;
    stage.app->batch = 10;
    stage.app->epochs = STAGE_SHORT;
    return stage.app->data != 2;
}

int stage_tear_down(void **state)
{
    (void)state;
    stage.applet->api.cleanup(stage.app);
    stage_wait_for_job();
    BridgeStats stats;
    bridge_stats(stage.bench.bridge, &stats);
    bool good = stats.textures == 0;
    good = good && jobs_end() == 0;
    stage.applet->api.destroy(stage.app);
    good = good && atomic_load(&counting_models) == 0 && atomic_load(&counting_snapshots) == 0;
    host_destroy(&host);
    log_sink_remove(sink);
    bench_stop(&stage.bench);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", stage.root);
    return good && system(command) == 0 ? 0 : 1;
}

/* ---- Frames ---- */

static void draw(UiBench *unused, void *user)
{
    CaliperFrameInfo info = {.struct_size = sizeof info};
    (void)unused;
    (void)user;
    stage.applet->api.frame(stage.app, &info);
}

void stage_frame(void)
{
    bench_frame(&stage.bench, draw, NULL);
}

int stage_check_pictures(void)
{
    uint8_t pixels[9 * 4];
    assert_true(stage.app->views.has_any && stage.app->views.shown != NULL);
    assert_true(stage.app->views.kernel_range == (float)FIRST_RANGE);
    int step = stage.app->views.shown->predicted;
    float value = (float)(step % COUNTING_VALUES);
    /* docs/explanation/exactness.md: (v - low) * (1 / (high - low)) * 255 + 0.5, cut off */
    float share = (value + (float)FIRST_RANGE) * (1.0f / (2.0f * (float)FIRST_RANGE));
    share = share > 1.0f ? 1.0f : share;
    const uint8_t *wanted = rdbu[(int)(share * 255.0f + 0.5f)];
    for (int i = 0; i < MODEL_KERNELS; i++) {
        assert_true(bridge_texture_read_rgba8(stage.bench.bridge, stage.app->views.kernels[i],
                                              pixels, sizeof pixels));
        for (int at = 0; at < 9; at++) {
            if (memcmp(pixels + 4 * at, wanted, 3) != 0)
                fail_msg("kernel %d, element %d: %d %d %d at step %d", i, at, pixels[4 * at],
                         pixels[4 * at + 1], pixels[4 * at + 2], step);
        }
    }
    return step;
}

void stage_wait_for_job(void)
{
    for (int i = 0; i < 20000 && mlscope_is_training(stage.app); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_false(mlscope_is_training(stage.app));
}

void stage_run_whole(void)
{
    stage.app->wants_start = true;
    stage_frame();
    stage_wait_for_job();
    stage_frame();
}

/* ---- A person's hands ---- */

void stage_press(uint32_t key)
{
    bench_key(&stage.bench, key, 0);
    for (int i = 0; i < 4; i++)
        stage_frame();
}

void stage_click(const char *kind, const char *label)
{
    stage_frame();
    const UiItem *item = bench_item(&stage.bench, kind, label, 0);
    if (item == NULL || item->x + item->w / 2 <= 0)
        fail_msg("there is no %s \"%s\"", kind, label);
    bench_move(&stage.bench, item->x + item->w / 2, item->y + item->h / 2);
    stage_frame();
    bench_button(&stage.bench, 0, true);
    stage_frame();
    bench_button(&stage.bench, 0, false);
    stage_frame();
    stage_frame();
}

void stage_go_to(const char *kind, const char *label)
{
    for (int i = 0; i < 40; i++) {
        stage_press(CALIPER_KEY_TAB);
        if (bench_has_focus(&stage.bench, kind, label))
            return;
    }
    fail_msg("%s \"%s\" is not reached", kind, label);
}
