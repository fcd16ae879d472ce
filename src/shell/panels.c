/* shell/panels.c: applets side by side: opening, tiling, their frames, closing. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/trace.h"
#include "services/metrics_service.h"
#include "shell/shell_impl.h"

#define PANEL_HEADER 34.0f
#define PANEL_GAP    8.0f

static const char viewer_id[] = "org.caliper.tensorscope";

int32_t panels_viewer(const Shell *shell)
{
    return host_find(shell->host, viewer_id);
}

/* An applet whose first texture met a renderer that was just then lost gets a second chance. */
static bool open_applet(Shell *shell, uint32_t applet)
{
    if (renderer_lost(shell->renderer) && !shell_replace_renderer(shell))
        return false;
    if (host_open(shell->host, applet))
        return true;
    return renderer_lost(shell->renderer) && shell_replace_renderer(shell) &&
           host_reload(shell->host, applet) && host_open(shell->host, applet);
}

bool panels_open(Shell *shell, uint32_t applet)
{
    AppletView view;
    for (uint32_t i = 0; i < shell->panel_count; i++) {
        if (shell->panels[i].applet == applet) {
            shell->panels[i].focus = true;
            shell->at_home = false;
            return true;
        }
    }
    if (shell->panel_count == SHELL_PANELS_MAX) {
        log_item(PANELS_FULL, (unsigned)SHELL_PANELS_MAX);
        return false;
    }
    if (!host_applet(shell->host, applet, &view))
        return false;
    bool running = view.state == APPLET_STATE_RUNNING;
    if (!running && (!view.followed || view.state == APPLET_STATE_READY))
        running = open_applet(shell, applet);
    if (!running && !view.followed)
        return false;
    shell->panels[shell->panel_count++] = (Panel){.applet = applet, .focus = true};
    shell->at_home = false;
    return running;
}

static bool is_runs(const Shell *shell, uint32_t panel)
{
    return shell->panels[panel].applet == SHELL_RUNS;
}

bool panels_open_runs(Shell *shell)
{
    MetricsStore *store = metrics_service_store();
    for (uint32_t i = 0; i < shell->panel_count; i++) {
        if (is_runs(shell, i)) {
            shell->panels[i].focus = true;
            shell->panels[i].closing = false;
            shell->at_home = false;
            return true;
        }
    }
    if (shell->panel_count == SHELL_PANELS_MAX) {
        log_item(PANELS_FULL, (unsigned)SHELL_PANELS_MAX);
        return false;
    }
    if (store == NULL)
        return false;
    if (shell->runs == NULL)
        shell->runs = runs_create(store, shell->bridge, shell->ui, host_data_dir(shell->host),
                                  shell->params->runs_state != NULL);
    if (shell->runs == NULL)
        return false;
    shell->panels[shell->panel_count++] = (Panel){.applet = SHELL_RUNS, .focus = true};
    shell->at_home = false;
    return true;
}

void panels_destroy_runs(Shell *shell)
{
    runs_destroy(&shell->runs);
}

void panels_close(Shell *shell, uint32_t panel)
{
    AppletView view;
    if (panel >= shell->panel_count)
        return;
    if (host_applet(shell->host, shell->panels[panel].applet, &view) &&
        view.state == APPLET_STATE_RUNNING)
        host_close(shell->host, shell->panels[panel].applet);
    shell->panels[panel].closing = true;
}

void panels_view_drops(Shell *shell)
{
    int32_t viewer = panels_viewer(shell);
    if (viewer < 0)
        log_item(VIEWER_MISSING, viewer_id, shell->drops[0]);
    else if (panels_open(shell, (uint32_t)viewer))
        shell->drops_for = viewer;
}

/* ---- Tiling ---- */

/* Columns and rows that keep panels about as wide as high, filling row by row. */
static void place(Shell *shell, Rect area)
{
    uint32_t count = shell->panel_count;
    uint32_t columns = 1;
    while (columns * columns < count)
        columns++;
    if (area.w < area.h)
        columns = (count + columns - 1) / columns;
    uint32_t rows = (count + columns - 1) / columns;
    float h = (area.h - PANEL_GAP * (float)(rows - 1)) / (float)rows;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = i / columns;
        uint32_t in_row = row + 1 < rows ? columns : count - row * columns;
        float w = (area.w - PANEL_GAP * (float)(in_row - 1)) / (float)in_row;
        Panel *panel = &shell->panels[i];
        panel->x = floorf(area.x + (w + PANEL_GAP) * (float)(i % columns));
        panel->y = floorf(area.y + (h + PANEL_GAP) * (float)row);
        panel->w = floorf(w);
        panel->h = floorf(h);
    }
}

/* ---- One panel ---- */

static float badge(float x, float y, uint32_t rgba, const char *text)
{
    float w = ui_text_width(UI_FONT_SMALL, text) + 14.0f;
    ui_rect(x, y, w, 20, 10, ui_fade(rgba, 0.18f));
    ui_text_at(UI_FONT_SMALL, x + 7, y + 3, 0, rgba, text);
    return w;
}

/* What its header shows. */
static const AppletView runs_view = {
    .name = "Runs", .version = "", .state = APPLET_STATE_RUNNING, .reason = ""};

static void draw_header(Shell *shell, uint32_t index, const AppletView *view)
{
    const Panel *panel = &shell->panels[index];
    char id[32];
    float x = panel->x, y = panel->y, w = panel->w;
    snprintf(id, sizeof id, "##header%u", (unsigned)panel->applet);
    ui_region_begin(id, x, y, w, PANEL_HEADER, 0);
    ui_rect(x, y, w, PANEL_HEADER, 0, ui_theme_color(CALIPER_THEME_BACKGROUND));
    float text_y = y + (PANEL_HEADER - ui_text_height(UI_FONT_STRONG)) / 2;
    float at = x + 4 +
               ui_text_at(UI_FONT_STRONG, x + 4, text_y, w * 0.5f,
                          ui_theme_color(CALIPER_THEME_TEXT), view->name) +
               10;
    at += ui_text_at(UI_FONT_SMALL, at, text_y + 2, 0, ui_theme_color(CALIPER_THEME_TEXT_DIM),
                     view->version) +
          10;
    if (view->slow)
        badge(at, y + 7, ui_theme_color(CALIPER_THEME_WARN), "slow: move work to jobs");
    if (view->state != APPLET_STATE_RUNNING)
        badge(at, y + 7, applet_state_color(view->state), applet_state_word(view->state));
    uint32_t hit = ui_hit("close", x + w - 30, y + 4, 26, 26, true);
    if ((hit & UI_HIT_HOVERED) != 0)
        ui_rect(x + w - 30, y + 4, 26, 26, 6, ui_theme_color(CALIPER_THEME_CONTROL));
    uint32_t ink =
        ui_theme_color((hit & UI_HIT_HOVERED) != 0 ? CALIPER_THEME_TEXT : CALIPER_THEME_TEXT_DIM);
    float cx = x + w - 17, cy = y + 17;
    ui_line(cx - 4, cy - 4, cx + 4, cy + 4, 1.5f, ink);
    ui_line(cx + 4, cy - 4, cx - 4, cy + 4, 1.5f, ink);
    ui_hit_tooltip("Close");
    ui_region_end();
    if ((hit & UI_HIT_CLICKED) != 0)
        panels_close(shell, index);
}

/* What stands in the panel of an applet that no longer runs. */
static void draw_stopped(Shell *shell, uint32_t index, const AppletView *view)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    Panel *panel = &shell->panels[index];
    bool reload = false, close = false;
    ui_panel_begin(shell->ui, view->serial, panel->x, panel->y + PANEL_HEADER, panel->w,
                   panel->h - PANEL_HEADER, false);
    widgets_begin(0);
    if (view->state == APPLET_STATE_CLOSING) {
        ui->text_ex("Closing: waiting for its jobs to end.", -1, 0, CALIPER_TEXT_DIM);
        ui->progress((double)NAN, "", 240, 6);
    } else {
        ui->text_ex(view->state == APPLET_STATE_QUARANTINED ? "This applet crashed and was stopped."
                                                            : "This applet could not run.",
                    -1, 0, CALIPER_TEXT_HEADING);
        ui->text_ex(view->reason, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
        if (view->followed) {
            ui->text_ex(view->path, -1, 0, CALIPER_TEXT_MONO | CALIPER_TEXT_WRAP);
            ui->text_ex("It is tried again when its files change.", -1, 0, CALIPER_TEXT_DIM);
        }
        ui->space(0, 6);
        reload = ui->button("Load it again", 0, 0, CALIPER_BUTTON_PRIMARY);
        ui->same_line(0, 0);
        close = ui->button("Close", 0, 0, 0);
    }
    widgets_end();
    ui_panel_end(shell->ui);
    if (reload && host_reload(shell->host, panel->applet) && host_open(shell->host, panel->applet))
        panel->focus = true;
    if (close)
        panel->closing = true;
}

static bool takes_drops(const Shell *shell, uint32_t index)
{
    const Panel *panel = &shell->panels[index];
    if (shell->drop_count == 0)
        return false;
    if (shell->drops_for >= 0)
        return (int32_t)panel->applet == shell->drops_for;
    return shell->drop_x >= panel->x && shell->drop_x < panel->x + panel->w &&
           shell->drop_y >= panel->y && shell->drop_y < panel->y + panel->h;
}

static void draw_applet(Shell *shell, uint32_t index, const AppletView *view)
{
    Panel *panel = &shell->panels[index];
    ui_panel_begin(shell->ui, view->serial, panel->x, panel->y + PANEL_HEADER, panel->w,
                   panel->h - PANEL_HEADER, panel->focus && !shell->at_home);
    if (shell->at_home)
        ui_panel_hide(shell->ui);
    panel->focus = false;
    if (ui_region_focused())
        shell->focused_applet = panel->applet;
    if (takes_drops(shell, index))
        widgets_set_dropped(shell->drops, (int32_t)shell->drop_count);
    widgets_begin(view->serial);
    ui_context_frame_begin(shell->ui, view->serial);
    uint64_t started_ns = trace_begin();
    bool alive = host_frame(shell->host, panel->applet, &shell->info);
    trace_span(started_ns,
               &(TraceEvent){.category = "applet", .name = "frame()", .label = view->id});
    ui_context_frame_end(shell->ui, view->serial, !alive);
    widgets_end();
    ui_panel_end(shell->ui);
    if (!alive)
        shell->failed = true;
}

static void draw_runs(Shell *shell, uint32_t index)
{
    Panel *panel = &shell->panels[index];
    uint64_t started_ns = trace_begin();
    draw_header(shell, index, &runs_view);
    ui_panel_begin(shell->ui, 0, panel->x, panel->y + PANEL_HEADER, panel->w,
                   panel->h - PANEL_HEADER, panel->focus);
    panel->focus = false;
    widgets_begin(0);
    runs_draw(shell->runs);
    widgets_end();
    ui_panel_end(shell->ui);
    trace_span(started_ns, &(TraceEvent){.category = "shell", .name = "runs"});
}

void panels_draw(Shell *shell, Rect area)
{
    for (uint32_t i = 0; i < shell->panel_count;) {
        AppletView view;
        if (is_runs(shell, i) && !shell->panels[i].closing) {
            i++;
            continue;
        }
        bool known = host_applet(shell->host, shell->panels[i].applet, &view);
        if (known && (!shell->panels[i].closing || view.state == APPLET_STATE_CLOSING ||
                      view.state == APPLET_STATE_RUNNING)) {
            i++;
            continue;
        }
        memmove(&shell->panels[i], &shell->panels[i + 1],
                (shell->panel_count - i - 1) * sizeof shell->panels[0]);
        shell->panel_count--;
    }
    if (shell->panel_count == 0) {
        shell->at_home = true;
        return;
    }
    place(shell, area);
    for (uint32_t i = 0; i < shell->panel_count; i++) {
        AppletView view;
        if (is_runs(shell, i))
            draw_runs(shell, i);
        if (!host_applet(shell->host, shell->panels[i].applet, &view))
            continue;
        /* Under the home page applets go on, so that nothing is stale when they come back. */
        if (!shell->at_home)
            draw_header(shell, i, &view);
        if (view.state == APPLET_STATE_RUNNING)
            draw_applet(shell, i, &view);
        else if (!shell->at_home)
            draw_stopped(shell, i, &view);
    }
}
