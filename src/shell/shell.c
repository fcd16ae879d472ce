/* shell/shell.c: start, loop, picture, end. Frame thread. */
#include "shell/shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/applet_place.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/paths.h"
#include "formats/array_write.h"
#include "services/bridge_services.h"
#include "shell/shell_impl.h"

/* Screenshots repeat when every frame is this long. */
static const char headless_delta_sec[] = "0.0166666667";

static void choose_size(Shell *shell)
{
    float scale = shell->params->scale > 0.0f ? shell->params->scale : 1.0f;
    shell->width_px =
        shell->params->width_px > 0 ? shell->params->width_px : (int32_t)lroundf(1280.0f * scale);
    shell->height_px =
        shell->params->height_px > 0 ? shell->params->height_px : (int32_t)lroundf(800.0f * scale);
}

static bool make_window(Shell *shell)
{
    shell->window = window_create(&(WindowParams){.title = "Caliper",
                                                  .width_px = shell->params->width_px,
                                                  .height_px = shell->params->height_px,
                                                  .scale = shell->params->scale});
    return shell->window != NULL;
}

static bool is_welcome(const Host *host)
{
    char *path = paths_join(host_data_dir(host), "welcomed");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    if (file != NULL)
        fclose(file);
    free(path);
    return file == NULL;
}

/* ---- Named applets ---- */

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 3 && strcmp(name + length - 3, ".so") == 0) ||
           place_has_suffix(name, ".toml") || place_has_suffix(name, PLACE_BUNDLE_SUFFIX);
}

/* An id, or the last word of exactly one: `hello` is org.caliper.hello. */
static int32_t find_applet(const Shell *shell, const char *name)
{
    int32_t found = host_find(shell->host, name);
    for (uint32_t i = 0; found < 0 && i < host_applet_count(shell->host); i++) {
        AppletView view;
        if (!host_applet(shell->host, i, &view))
            continue;
        const char *last = strrchr(view.id, '.');
        if (last != NULL && strcmp(last + 1, name) == 0)
            found = (int32_t)i;
    }
    return found;
}

/* Before the folders are looked through: of two applets with one id the first found wins, and that
 * is the one that somebody named. Fills `indices`, -1 for what is refused or no path. */
static void add_named_paths(const Shell *shell, int32_t *indices)
{
    const char *const *names = shell->params->applets;
    for (uint32_t i = 0; names != NULL && i < SHELL_NAMES_MAX && names[i] != NULL; i++) {
        if (shell->params->dev)
            indices[i] = host_add_followed(shell->host, names[i]);
        else
            indices[i] = is_path(names[i]) ? host_add(shell->host, names[i]) : -1;
    }
}

static void open_named(Shell *shell, const int32_t *indices)
{
    const char *const *names = shell->params->applets;
    for (uint32_t i = 0; names != NULL && i < SHELL_NAMES_MAX && names[i] != NULL; i++) {
        AppletView view;
        int32_t index =
            is_path(names[i]) || indices[i] >= 0 ? indices[i] : find_applet(shell, names[i]);
        if (index < 0) {
            if (!is_path(names[i]))
                log_item(APPLET_UNKNOWN, names[i], host_applet_count(shell->host));
            shell->failed = true;
        } else if (!panels_open(shell, (uint32_t)index)) {
            shell->failed = true;
            if (host_applet(shell->host, (uint32_t)index, &view) && !view.followed)
                log_item(APPLET_NOT_OPENED, view.id, view.reason);
        }
    }
}

/* ---- The picture ---- */

typedef enum PictureResult { PICTURE_WRITTEN, PICTURE_REFUSED, PICTURE_UNREADABLE } PictureResult;

/* UNREADABLE is without a line: another frame may do. */
static PictureResult write_picture(Shell *shell)
{
    ArrayError error;
    PictureResult result = PICTURE_REFUSED;
    uint64_t bytes = (uint64_t)shell->width_px * (uint64_t)shell->height_px * 4;
    uint8_t *pixels = malloc(bytes > 0 ? bytes : 1);
    if (pixels == NULL)
        log_item(OUT_OF_MEMORY, "screenshot", (unsigned long long)bytes);
    else if (!renderer_frame_read(shell->renderer, pixels, bytes))
        result = PICTURE_UNREADABLE;
    else if (!array_write_png_rgba8(shell->params->screenshot, (uint32_t)shell->width_px,
                                    (uint32_t)shell->height_px, 0, pixels, &error))
        log_item(SCREENSHOT_FAILED, shell->params->screenshot, error.message);
    else
        result = PICTURE_WRITTEN;
    free(pixels);
    return result;
}

/* The last frame, if it is whole and can be read; else the next one that is: a renderer lost in it
 * or in reading it is replaced, and applets fill their textures again. */
static bool take_screenshot(Shell *shell)
{
    enum { FRAMES_MORE_MAX = 4 };
    for (int more = 0;; more++) {
        PictureResult result = PICTURE_UNREADABLE;
        if (shell->is_whole || (more == FRAMES_MORE_MAX && !renderer_lost(shell->renderer)))
            result = write_picture(shell);
        if (result != PICTURE_UNREADABLE)
            return result == PICTURE_WRITTEN;
        if (more == FRAMES_MORE_MAX ||
            (renderer_lost(shell->renderer) && !shell_replace_renderer(shell)) ||
            !shell_frame(shell))
            break;
    }
    log_item(SCREENSHOT_FAILED, shell->params->screenshot, "no frame can be read");
    return false;
}

/* ---- Life ---- */

static bool start(Shell *shell)
{
    const ShellParams *params = shell->params;
    const char *renderer = params->renderer;
    if (renderer == NULL || renderer[0] == '\0')
        renderer = getenv("CALIPER_RENDERER");
    const char *validate = getenv("CALIPER_VALIDATE");
    choose_size(shell);
    if (params->input != NULL && (shell->script = script_read(params->input)) == NULL)
        return false;
    shell->host = host_create(&(HostParams){.struct_size = sizeof(HostParams),
                                            .data_dir = params->data_dir,
                                            .applet_dirs = params->applet_dirs});
    if (shell->host == NULL || (!params->headless && !make_window(shell)))
        return false;
    float scale = params->scale;
    shell->ui = ui_create(&(UiParams){.scale = scale, .light = params->light});
    shell->console = console_create();
    shell->tray = tray_create();
    if (shell->ui == NULL || shell->console == NULL || shell->tray == NULL)
        return false;
    if (shell->window != NULL) {
        UiClipboard clipboard = window_clipboard(shell->window);
        ui_set_clipboard(shell->ui, &clipboard);
    }
    shell->renderer_params = (RendererParams){
        .struct_size = sizeof(RendererParams),
        .label = "shell",
        .width_px = shell->width_px,
        .height_px = shell->height_px,
        .validate = validate != NULL && validate[0] == '1',
    };
    if (!shell_device_choose(shell) || !shell_start_renderer(shell, renderer))
        return false;
    shell->bridge = bridge_create(shell->renderer);
    if (shell->bridge == NULL)
        return false;
    widgets_start(shell->bridge);
    shell->backdrop = backdrop_create();
    return shell_services_register(shell);
}

static void stop(Shell *shell)
{
    backdrop_destroy(&shell->backdrop, shell->bridge);
    panels_destroy_runs(shell);
    host_destroy(&shell->host);
    widgets_stop();
    bridge_services_bind(NULL);
    bridge_destroy(&shell->bridge);
    if (shell->renderer != NULL && shell->ui != NULL)
        ui_textures_destroy(shell->ui, shell->renderer);
    renderer_destroy(&shell->renderer);
    console_destroy(&shell->console);
    tray_destroy(&shell->tray);
    ui_destroy(&shell->ui);
    window_destroy(&shell->window);
    script_destroy(&shell->script);
}

static bool is_done(const Shell *shell, int64_t frames)
{
    if (frames > 0 && (int64_t)shell->frame >= frames)
        return true;
    return shell->quit || interrupt_signal() != 0 ||
           (shell->window != NULL && window_should_close(shell->window));
}

/* What failed on the way has been mended since, or not. */
static bool runs_at_the_end(const Shell *shell)
{
    AppletView view;
    return host_applet(shell->host, 0, &view) && view.followed &&
           view.state == APPLET_STATE_RUNNING;
}

int shell_run(const ShellParams *params)
{
    static Shell shell;
    int64_t frames = params->frames;
    memset(&shell, 0, sizeof shell);
    shell.params = params;
    shell.at_home = true;
    if (params->headless && frames <= 0)
        frames = 60;
    if (params->headless && getenv("CALIPER_FIXED_CLOCK") == NULL)
        setenv("CALIPER_FIXED_CLOCK", headless_delta_sec, 1);
    interrupt_take();
    shell.redraw = shell_redraw_wanted();
    shell.fixed_clock = getenv("CALIPER_FIXED_CLOCK") != NULL;
    bool good = start(&shell);
    if (good) {
        int32_t named[SHELL_NAMES_MAX];
        add_named_paths(&shell, named);
        host_scan(shell.host);
        shell.welcome = is_welcome(shell.host);
        open_named(&shell, named);
        if (params->runs && !panels_open_runs(&shell))
            shell.failed = true;
        while (good && !is_done(&shell, frames)) {
            good = shell_frame(&shell);
            if (params->headless && shell.runs != NULL)
                runs_settle(shell.runs); /* what a script does is shown by its next frame */
        }
        if (interrupt_signal() != 0)
            log_item(INTERRUPTED, interrupt_name(interrupt_signal()));
        else if (good && params->screenshot != NULL)
            good = take_screenshot(&shell);
        if (good && params->runs_state != NULL && shell.runs != NULL)
            good = runs_write_state(shell.runs, params->runs_state);
    }
    good = good && (params->dev ? runs_at_the_end(&shell) : !shell.failed);
    stop(&shell);
    return good ? 0 : 1;
}
