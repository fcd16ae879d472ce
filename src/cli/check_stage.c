/* The host that checks run on; see check_stage.h. First thread; the log's ear is for any. */
#include "cli/check_stage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bridge/bridge.h"
#include "core/host.h"
#include "core/log.h"
#include "render/renderer.h"
#include "services/bridge_services.h"
#include "services/device_service.h"
#include "services/ui.h"
#include "services/widgets.h"
#include "shell/services_known.h"

/* More pixels than this are not drawn: the applet is told the size all the same. */
static const int64_t drawn_pixels_max = 7680 * 4320;

static struct {
    CheckRun *run;
    Host *host;
    Renderer *renderer;
    Bridge *bridge;
    Ui *ui;
    bool widgets;
    uint32_t applet;
    int32_t width_px, height_px;
    double slowest_sec;
    uint32_t warnings;
    char first_warning[CHECK_DETAIL_BYTES];
    char refused[CHECK_DETAIL_BYTES]; /* why the host would not take the applet */
} stage;

/* Of a line that names the applet's path, what comes after it. */
static const char *after_path(const char *text)
{
    const char *library = strstr(text, stage.run->place->library);
    return library != NULL ? library + strlen(stage.run->place->library) + strlen(": ") : text;
}

/* Sinks are called one at a time. */
static void listen(void *user, const LogEntry *entry)
{
    CheckShared *shared = stage.run->shared;
    bool own = strcmp(entry->module, "applet") == 0;
    (void)user;
    if (entry->level < LOG_LEVEL_WARN && !own)
        return;
    int length = snprintf(shared->log + shared->log_bytes, sizeof shared->log - shared->log_bytes,
                          "%s %s: %s\n", log_level_name(entry->level), entry->module, entry->text);
    if (length > 0 && (uint32_t)length < sizeof shared->log - shared->log_bytes)
        shared->log_bytes += (uint32_t)length;
    shared->log[shared->log_bytes] = '\0';
    if (entry->item == LOG_APPLET_REFUSED || entry->item == LOG_APPLET_FAULT)
        snprintf(stage.refused, sizeof stage.refused, "%s", after_path(entry->text));
    else if (entry->item == LOG_BRIDGE_LEAK)
        check_say(stage.run, CHECK_RESULT_FAIL, "%s", entry->text);
    else if (!own && entry->applet[0] != '\0' && entry->item != LOG_APPLET_SLOW &&
             stage.warnings++ == 0)
        snprintf(stage.first_warning, sizeof stage.first_warning, "%s", entry->text);
}

/* Any thread of the applet: no lock. */
static const void *filter(void *user, const char *id, const void *table)
{
    CheckShared *shared = stage.run->shared;
    const char *hidden = stage.run->hidden;
    (void)user;
    uint32_t at = atomic_fetch_add(&shared->asked_count, 1);
    if (at < CHECK_SERVICES_MAX)
        snprintf(shared->asked[at], sizeof shared->asked[at], "%s", id);
    if (hidden != NULL && (hidden[0] == '\0' || strcmp(hidden, id) == 0))
        return NULL;
    return table;
}

static void reclaim_context(void *user, CallerId owner, bool leaked)
{
    (void)user;
    (void)leaked;
    ui_reclaim(stage.ui, owner);
}

static Renderer *make_renderer(char *why, size_t why_bytes)
{
    const RendererBackend *backend = renderer_backends;
    while (backend->name != NULL && strcmp(backend->name, "cpu") != 0)
        backend++;
    if (backend->name == NULL) {
        snprintf(why, why_bytes, "this build has no cpu renderer");
        return NULL;
    }
    return backend->create(
        RENDERER_PARAMS(.label = "check", .width_px = stage.width_px, .height_px = stage.height_px),
        why, why_bytes);
}

static bool make_host(char *why, size_t why_bytes)
{
    CheckRun *run = stage.run;
    float scale = run->scale > 0.0f ? run->scale : 1.0f;
    stage.width_px = run->width_px > 0 ? run->width_px : (int32_t)(800.0f * scale);
    stage.height_px = run->height_px > 0 ? run->height_px : (int32_t)(600.0f * scale);
    stage.host = host_create(&(HostParams){.struct_size = sizeof(HostParams),
                                           .data_dir = run->data_dir,
                                           .builtin_applet_dir = "/nonexistent"});
    stage.ui = ui_create(&(UiParams){.scale = scale});
    if (stage.host == NULL || stage.ui == NULL ||
        !device_service_detect(run->device != NULL ? run->device : "cpu"))
        return false;
    stage.renderer = make_renderer(why, why_bytes);
    stage.bridge = stage.renderer != NULL ? bridge_create(stage.renderer) : NULL;
    if (stage.bridge == NULL || !ui_textures_create(stage.ui, stage.renderer))
        return false;
    widgets_start(stage.bridge);
    stage.widgets = true;
    host_filter_services(stage.host, filter, NULL);
    return services_register_known(stage.host, stage.bridge) &&
           host_on_reclaim(stage.host, reclaim_context, NULL);
}

static const AppletPlace *place(void)
{
    return stage.run->place;
}

static AppletView view_now(void)
{
    AppletView view = {0};
    host_applet(stage.host, stage.applet, &view);
    return view;
}

bool stage_begin(CheckRun *run)
{
    char why[CHECK_DETAIL_BYTES] = "see the log";
    memset(&stage, 0, sizeof stage);
    stage.run = run;
    log_stderr_enable(false);
    log_sink_add(listen, NULL);
    snprintf(run->shared->doing, sizeof run->shared->doing, "starting the host");
    if (!make_host(why, sizeof why)) {
        check_say(run, CHECK_RESULT_FAIL, "the host does not start: %s", why);
        return false;
    }
    snprintf(run->shared->doing, sizeof run->shared->doing, "opening the library");
    int32_t index =
        host_add(stage.host, place()->manifest != NULL ? place()->manifest : place()->library);
    if (index < 0) {
        check_say(run, CHECK_RESULT_FAIL, "%s", stage.refused);
        return false;
    }
    stage.applet = (uint32_t)index;
    AppletView view = view_now();
    snprintf(run->shared->id, sizeof run->shared->id, "%s", view.id);
    snprintf(run->shared->version, sizeof run->shared->version, "%s", view.version);
    if (view.state != APPLET_STATE_READY) {
        check_say(run, CHECK_RESULT_FAIL, "%s", view.reason);
        return false;
    }
    return true;
}

void stage_end(void)
{
    snprintf(stage.run->shared->doing, sizeof stage.run->shared->doing, "ending the host");
    host_destroy(&stage.host);
    if (stage.widgets)
        widgets_stop();
    bridge_services_bind(NULL);
    bridge_destroy(&stage.bridge);
    if (stage.renderer != NULL && stage.ui != NULL)
        ui_textures_destroy(stage.ui, stage.renderer);
    renderer_destroy(&stage.renderer);
    ui_destroy(&stage.ui);
}

StageOpened stage_open(void)
{
    snprintf(stage.run->shared->doing, sizeof stage.run->shared->doing, "create and initialize");
    if (host_open(stage.host, stage.applet))
        return STAGE_OPENED_RUNNING;
    AppletView view = view_now();
    if (view.state == APPLET_STATE_FAILED &&
        strcmp(view.reason, "initialize() answered false") == 0)
        return STAGE_OPENED_REFUSED;
    check_say(stage.run, CHECK_RESULT_FAIL, "%s", view.reason);
    return STAGE_OPENED_BROKEN;
}

bool stage_try_create(void)
{
    snprintf(stage.run->shared->doing, sizeof stage.run->shared->doing, "create and destroy");
    if (host_try_create(stage.host, stage.applet))
        return true;
    check_say(stage.run, CHECK_RESULT_FAIL, "%s", view_now().reason);
    return false;
}

static bool run_frame(void)
{
    CaliperFrameInfo info;
    float scale = ui_scale(stage.ui);
    float width = (float)stage.width_px / scale, height = (float)stage.height_px / scale;
    AppletView view = view_now();
    host_clock_tick(stage.host, stage.width_px, stage.height_px, scale, &info);
    ui_frame_begin(stage.ui, width, height, info.delta_sec);
    ui_panel_begin(stage.ui, view.serial, 0, 0, width, height, view.frames == 0);
    widgets_begin(view.serial);
    ui_context_frame_begin(stage.ui, view.serial);
    bool alive = host_frame(stage.host, stage.applet, &info);
    ui_context_frame_end(stage.ui, view.serial, !alive);
    widgets_end();
    ui_panel_end(stage.ui);
    ui_frame_end(stage.ui);
    return alive;
}

static bool draw(void)
{
    if ((int64_t)stage.width_px * stage.height_px > drawn_pixels_max)
        return true;
    return renderer_frame_begin(stage.renderer, stage.width_px, stage.height_px,
                                ui_theme_color(CALIPER_THEME_BACKGROUND)) &&
           ui_frame_draw(stage.ui, stage.renderer, stage.bridge, stage.width_px, stage.height_px) &&
           renderer_frame_end(stage.renderer);
}

bool stage_frames(int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        snprintf(stage.run->shared->doing, sizeof stage.run->shared->doing, "frame %d", (int)i + 1);
        bool alive = run_frame();
        bool drawn = draw();
        bridge_frame_end(stage.bridge);
        host_end_frame(stage.host);
        AppletView view = view_now();
        if (view.last_frame_sec > stage.slowest_sec)
            stage.slowest_sec = view.last_frame_sec;
        if (!alive || !drawn) {
            check_say(stage.run, CHECK_RESULT_FAIL, "%s",
                      alive ? "the frame was not drawn" : view.reason);
            return false;
        }
    }
    return true;
}

bool stage_close(void)
{
    snprintf(stage.run->shared->doing, sizeof stage.run->shared->doing, "cleanup and destroy");
    host_close(stage.host, stage.applet);
    for (host_end_frame(stage.host); view_now().state == APPLET_STATE_CLOSING;
         host_end_frame(stage.host))
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    AppletView view = view_now();
    if (view.state == APPLET_STATE_READY && view.reason[0] == '\0')
        return true;
    check_say(stage.run, CHECK_RESULT_FAIL, "%s", view.reason);
    return view.state == APPLET_STATE_READY;
}

double stage_slowest_sec(void)
{
    return stage.slowest_sec;
}

uint32_t stage_warnings(void)
{
    return stage.warnings;
}

const char *stage_first_warning(void)
{
    return stage.first_warning;
}
