/* shell/frame.c: one frame: input, pages, applets; and going on with another renderer when one is
 * lost. What is drawn of it is present.c's. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/trace.h"
#include "jobs/jobs.h"
#include "shell/shell_impl.h"

/* Frames after which a loss is news, and not the last one going on. */
enum { RENDERER_LASTS_FRAMES = 600 };

#define TRAY_WIDTH 380.0f

/* Starts the next renderer and lets the one before go: textures move over in between, while both
 * are there. */
static bool take_renderer(Shell *shell, const char *wanted, const char *skip_through)
{
    if (shell->window != NULL)
        shell->renderer_params.window = window_renderer_next(shell->window);
    Renderer *next = renderer_choose(&shell->renderer_params, wanted, skip_through);
    if (next == NULL)
        return false;
    if (shell->bridge != NULL)
        bridge_set_renderer(shell->bridge, next);
    if (shell->renderer != NULL) {
        ui_textures_destroy(shell->ui, shell->renderer);
        renderer_destroy(&shell->renderer);
    }
    if (shell->window != NULL)
        window_renderer_settled(shell->window);
    shell->renderer = next;
    return true;
}

bool shell_start_renderer(Shell *shell, const char *wanted)
{
    return take_renderer(shell, wanted, NULL) &&
           (ui_textures_create(shell->ui, shell->renderer) || shell_replace_renderer(shell));
}

/* Ends: the same renderer is started again once at most, and the list of the others is short. */
bool shell_replace_renderer(Shell *shell)
{
    const RendererInfo *info = renderer_info(shell->renderer);
    const char *name = info->name; /* a literal: it outlives the renderer */
    bool lost = renderer_lost(shell->renderer);
    /* A device may come back. One that is lost again so soon does not. */
    bool again = lost && (info->caps & RENDERER_CAP_RECOVERS) != 0 &&
                 (shell->losses == 0 || shell->frame - shell->lost_frame > RENDERER_LASTS_FRAMES);
    shell->losses++;
    shell->lost_frame = shell->frame;
    shell->is_whole = false;
    if (!take_renderer(shell, again ? name : NULL, again ? NULL : name))
        return false;
    const char *next = renderer_info(shell->renderer)->name;
    log_item(RENDERER_REPLACED, name, lost ? "is lost" : "cannot hold the interface", next,
             strcmp(next, name) == 0 ? ", started again" : "");
    return ui_textures_create(shell->ui, shell->renderer) || shell_replace_renderer(shell);
}

/* ---- Input ---- */

static void take_input(Shell *shell)
{
    shell->drop_count = 0;
    shell->drops_for = -1;
    if (shell->window != NULL) {
        const char *const *paths = NULL;
        window_poll(shell->window, shell->ui);
        uint32_t count = window_drops(shell->window, &paths, &shell->drop_x, &shell->drop_y);
        for (uint32_t i = 0; i < count && i < SHELL_DROPS_MAX; i++)
            shell->drops[shell->drop_count++] = paths[i];
    }
    if (shell->script != NULL) {
        float x = 0.0f, y = 0.0f;
        uint32_t count =
            script_play(shell->script, shell->frame, shell->ui, shell->drops + shell->drop_count,
                        SHELL_DROPS_MAX - shell->drop_count, &x, &y);
        if (count > 0) {
            shell->drop_count += count;
            shell->drop_x = x;
            shell->drop_y = y;
        }
    }
    const char *const *files = shell->params->files;
    if (shell->frame == 1 && files != NULL && files[0] != NULL) {
        for (uint32_t i = 0; files[i] != NULL && shell->drop_count < SHELL_DROPS_MAX; i++)
            shell->drops[shell->drop_count++] = files[i];
        if (shell->panel_count > 0)
            shell->drops_for = (int32_t)shell->panels[0].applet;
    }
}

/* False: nothing can be drawn any more. */
static bool take_size(Shell *shell)
{
    float scale = shell->params->scale > 0.0f ? shell->params->scale : 1.0f;
    if (shell->window != NULL)
        window_size(shell->window, &shell->width_px, &shell->height_px, &scale);
    if (fabsf(scale - ui_scale(shell->ui)) > 1e-3f) {
        ui_textures_destroy(shell->ui, shell->renderer);
        ui_set_scale(shell->ui, scale);
        if (!ui_textures_create(shell->ui, shell->renderer) && !shell_replace_renderer(shell))
            return false;
    }
    shell->width = (float)shell->width_px / ui_scale(shell->ui);
    shell->height = (float)shell->height_px / ui_scale(shell->ui);
    return true;
}

/* ---- Pages ---- */

static void draw_pages(Shell *shell)
{
    Rect area = {0, SHELL_TOP, shell->width, shell->height - SHELL_TOP - SHELL_STATUS};
    if (shell->drop_count > 0 && shell->drops_for < 0 &&
        (shell->at_home || shell->panel_count == 0))
        panels_view_drops(shell);
    float drawer = shell->console_open ? fminf(240.0f, area.h * 0.5f) : 0.0f;
    float tray = shell->tray_open ? fminf(TRAY_WIDTH, area.w * 0.5f) : 0.0f;
    Rect body = {area.x, area.y, area.w - tray, area.h - drawer};
    backdrop_draw(shell->backdrop, shell);
    panels_draw(shell, (Rect){body.x + 8, body.y + 4, body.w - 16, body.h - 12});
    if (shell->at_home)
        home_draw(shell, body);
    shell->was_home = shell->at_home;
    if (shell->tray_open)
        tray_draw(shell, (Rect){body.x + body.w, body.y, tray, body.h});
    if (shell->console_open)
        console_draw(shell->console, (Rect){area.x, body.y + body.h, area.w, drawer});
    bars_draw_top(shell);
    bars_draw_status(shell);
}

bool shell_frame(Shell *shell)
{
    double started = shell_now_sec();
    uint64_t started_ns = trace_begin();
    shell->frame++;
    shell->is_whole = true;
    take_input(shell);
    if (!take_size(shell))
        return false;
    if (shell->width_px <= 0 || shell->height_px <= 0) { /* minimised */
        window_wait(shell->window, 0.1);
        shell->frame--;
        shell->is_whole = false;
        return true;
    }
    host_clock_tick(shell->host, shell->width_px, shell->height_px, ui_scale(shell->ui),
                    &shell->info);
    ui_frame_begin(shell->ui, shell->width, shell->height, shell->info.delta_sec);
    if (ui_take_chord(shell->ui, CALIPER_MOD_MAIN | 'Q'))
        shell->quit = true;
    if (ui_take_chord(shell->ui, CALIPER_KEY_F1 + 11u))
        shell->console_open = !shell->console_open;
    if (ui_take_chord(shell->ui, CALIPER_KEY_F1 + 9u))
        tray_toggle(shell);
    if (ui_take_chord(shell->ui, CALIPER_KEY_F1 + 8u))
        (void)panels_open_runs(shell);
    draw_pages(shell);
    ui_frame_end(shell->ui);
    if (shell->script != NULL)
        script_write_lists(shell->script, shell->ui);
    if (shell->window != NULL)
        window_set_cursor(shell->window, ui_cursor(shell->ui));
    RendererShown shown = RENDERER_SHOWN_NOT;
    bool good = shell_present(shell, &shown);
    bridge_frame_end(shell->bridge);
    host_end_frame(shell->host);
    jobs_frame();
    if (shell->window != NULL && shell->drop_count > 0)
        window_drops_clear(shell->window);
    trace_span(started_ns, &(TraceEvent){.category = "shell",
                                         .name = "frame",
                                         .values = {{"number", shell->frame},
                                                    {"drawn", shown == RENDERER_SHOWN_DRAWN}},
                                         .value_count = 2});
    double spent_ms = (shell_now_sec() - started) * 1e3;
    if (shell->fixed_clock)
        spent_ms = shell->info.delta_sec * 1e3;
    if (shell->frame == 1)
        shell->frame_ms = spent_ms;
    else if (shown != RENDERER_SHOWN_ALREADY) /* what a picture costs, not what none costs */
        shell->frame_ms = shell->frame_ms * 0.9 + spent_ms * 0.1;
    shell_pace(shell, started, shown);
    return good;
}
