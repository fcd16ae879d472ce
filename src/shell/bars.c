/* shell/bars.c: the bar on top (where one is, what is open) and the status bar below (what draws
 * and how). Frame thread. */
#include <caliper/services/device_v1.h>
#include <stdio.h>
#include <string.h>

#include "jobs/jobs.h"
#include "services/device_service.h"
#include "services/metrics_service.h"
#include "shell/shell_impl.h"

/* Nine cells of the colormap: the mark beside the name. */
static void draw_mark(float x, float y, float side)
{
    float cell = side / 3.0f;
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            float value = (float)(column * 2 + (2 - row) * 2 + (row == column)) / 9.0f;
            uint32_t rgba = plot_table()->colormap(CALIPER_CMAP_VIRIDIS, value, 0.0f, 1.0f);
            ui_rect(x + cell * (float)column, y + cell * (float)row, cell - 1.0f, cell - 1.0f, 1.5f,
                    rgba);
        }
    }
}

/* A flat button of the top bar; returns its width. */
static float bar_button(const char *id, const char *text, float x, float right, bool on,
                        bool *out_clicked)
{
    float w = ui_text_width(UI_FONT_BODY, text) + 24.0f;
    float h = 30.0f, y = (SHELL_TOP - h) / 2;
    if (right > 0.0f)
        x = right - w;
    uint32_t hit = ui_hit(id, x, y, w, h, true);
    uint32_t control = ui_theme_color(CALIPER_THEME_CONTROL);
    if (on || (hit & UI_HIT_HOVERED) != 0)
        ui_rect(x, y, w, h, 6, on ? control : ui_fade(control, 0.6f));
    ui_text_at(on ? UI_FONT_STRONG : UI_FONT_BODY, x + 12.0f,
               y + (h - ui_text_height(UI_FONT_BODY)) / 2, 0,
               ui_theme_color(on ? CALIPER_THEME_TEXT : CALIPER_THEME_TEXT_DIM), text);
    *out_clicked = (hit & UI_HIT_CLICKED) != 0;
    return w;
}

static void draw_panel_buttons(Shell *shell, float x)
{
    for (uint32_t i = 0; i < shell->panel_count; i++) {
        AppletView view;
        char id[32];
        bool clicked = false;
        if (shell->panels[i].applet == SHELL_RUNS)
            view = (AppletView){.name = "Runs"};
        else if (!host_applet(shell->host, shell->panels[i].applet, &view))
            continue;
        snprintf(id, sizeof id, "##open%u", (unsigned)shell->panels[i].applet);
        x += bar_button(id, view.name, x, 0, !shell->at_home, &clicked) + 4.0f;
        if (clicked) {
            shell->at_home = false;
            shell->panels[i].focus = true;
        }
    }
}

void bars_draw_top(Shell *shell)
{
    bool clicked = false;
    float right = shell->width - 12.0f;
    char text[48];
    ui_region_begin("##top", 0, 0, shell->width, SHELL_TOP, 0);
    ui_rect(0, 0, shell->width, SHELL_TOP, 0,
            ui_fade(ui_theme_color(CALIPER_THEME_BACKGROUND), shell->at_home ? 0.55f : 1.0f));
    ui_line(0, SHELL_TOP - 0.5f, shell->width, SHELL_TOP - 0.5f, 1,
            ui_fade(ui_theme_color(CALIPER_THEME_BORDER), 0.8f));
    if ((ui_hit("##home", 0, 0, 118, SHELL_TOP, true) & UI_HIT_CLICKED) != 0)
        shell->at_home = true;
    draw_mark(18, (SHELL_TOP - 18) / 2, 18);
    ui_text_at(UI_FONT_STRONG, 44, (SHELL_TOP - ui_text_height(UI_FONT_STRONG)) / 2, 0,
               ui_theme_color(CALIPER_THEME_TEXT), "Caliper");
    float x = 124.0f + bar_button("##homebutton", "Home", 120, 0, shell->at_home, &clicked);
    if (clicked)
        shell->at_home = true;
    draw_panel_buttons(shell, x);

    uint32_t alerts = console_alerts(shell->console);
    if (alerts > 0 && !shell->console_open)
        snprintf(text, sizeof text, "Console (%u)", alerts);
    else
        snprintf(text, sizeof text, "Console");
    right -= bar_button("##console", text, 0, right, shell->console_open, &clicked) + 4.0f;
    ui_hit_tooltip("What was logged (F12)");
    if (clicked)
        shell->console_open = !shell->console_open;
    uint32_t running = jobs_counts().running;
    if (running > 0)
        snprintf(text, sizeof text, "Jobs (%u)", running);
    else
        snprintf(text, sizeof text, "Jobs");
    right -= bar_button("##jobs", text, 0, right, shell->tray_open, &clicked) + 4.0f;
    ui_hit_tooltip("What runs in the background (F10)");
    if (clicked)
        tray_toggle(shell);
    bar_button("##theme", ui_light(shell->ui) ? "Dark" : "Light", 0, right, false, &clicked);
    if (clicked)
        ui_set_light(shell->ui, !ui_light(shell->ui));
    ui_region_end();
}

static const char *device_word(CaliperDeviceKind kind)
{
    return kind == CALIPER_DEV_CUDA ? "CUDA" : kind == CALIPER_DEV_METAL ? "Metal" : "CPU";
}

/* Cut off before `right`. */
static float status_item(float x, float y, float right, uint32_t rgba, const char *text)
{
    if (right - x < 40.0f)
        return x;
    return x + ui_text_at(UI_FONT_SMALL, x, y, right - x, rgba, text) + 16.0f;
}

/* "4.2 MB"; at most four digits. */
static void bytes_text(uint64_t bytes, char *out, size_t out_bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 999.5 && unit < 6; unit++)
        value /= 1000.0;
    snprintf(out, out_bytes, unit > 0 && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* Numbers that change with every frame cannot be read, and would have every frame drawn: in a
 * window they are taken twice a second. Headless it is the picture of one frame that counts. */
static const StatusNumbers *status_numbers(Shell *shell)
{
    const double every_sec = 0.5;
    StatusNumbers *numbers = &shell->status;
    double age_sec = shell->info.time_sec - numbers->taken_sec;
    if (numbers->has_any && shell->window != NULL && age_sec >= 0.0 && age_sec < every_sec)
        return numbers;
    numbers->has_any = true;
    numbers->taken_sec = shell->info.time_sec;
    numbers->frame_ms = shell->frame_ms;
    renderer_frame_counters(shell->renderer, &numbers->frame);
    renderer_counters(shell->renderer, &numbers->all);
    numbers->has_metrics = metrics_service_status(&numbers->metrics);
    return numbers;
}

/* What the last frame did with bytes, in a few words, and everything since the start as a tooltip.
 */
static void status_counters(const StatusNumbers *numbers, char *text, size_t text_bytes, char *tip,
                            size_t tip_bytes)
{
    const RendererCounters frame = numbers->frame, all = numbers->all;
    char staged[24], copied[24], all_staged[24], all_copied[24], live[24];
    bytes_text(frame.staged_bytes, staged, sizeof staged);
    bytes_text(frame.device_copied_bytes, copied, sizeof copied);
    bytes_text(all.staged_bytes, all_staged, sizeof all_staged);
    bytes_text(all.device_copied_bytes, all_copied, sizeof all_copied);
    bytes_text(all.texture_bytes, live, sizeof live);
    snprintf(text, text_bytes, "staged %s   copied %s", staged, copied);
    snprintf(tip, tip_bytes,
             "The last frame, and since the start\n"
             "staged by the CPU: %s, %s\n"
             "copied in device memory: %s, %s\n"
             "updates: %llu, %llu\n"
             "GPU passes: %llu, %llu\n"
             "waits for the device: %llu, %llu\n"
             "hand-overs between APIs: %llu, %llu\n"
             "updates coalesced: %llu, %llu\n"
             "live: %llu textures with %s, %llu imported allocations",
             staged, all_staged, copied, all_copied, (unsigned long long)frame.updates,
             (unsigned long long)all.updates, (unsigned long long)frame.passes,
             (unsigned long long)all.passes, (unsigned long long)frame.waits,
             (unsigned long long)all.waits, (unsigned long long)frame.hand_overs,
             (unsigned long long)all.hand_overs, (unsigned long long)frame.coalesced,
             (unsigned long long)all.coalesced, (unsigned long long)all.textures, live,
             (unsigned long long)all.allocations);
}

/* "950", "12.3 k", "4.5 M". */
static void count_text(uint64_t count, char *out, size_t out_bytes)
{
    if (count < 1000)
        snprintf(out, out_bytes, "%llu", (unsigned long long)count);
    else if (count < 999950)
        snprintf(out, out_bytes, "%.1f k", (double)count / 1e3);
    else
        snprintf(out, out_bytes, "%.1f M", (double)count / 1e6);
}

static bool metrics_are_bad(const MetricsStatus *status)
{
    return status->rows_dropped > 0 || status->state != METRICS_STATE_FINE;
}

static void metrics_words(const MetricsStatus *status, char *text, size_t text_bytes, char *tip,
                          size_t tip_bytes)
{
    char rows[24], queued[24], dropped[24];
    const char *where = status->state == METRICS_STATE_FULL      ? "disk full, "
                        : status->state == METRICS_STATE_FAILING ? "cannot write, "
                                                                 : "";
    double used = status->queue_bytes > 0
                      ? (double)status->queue_used_bytes / (double)status->queue_bytes
                      : 0.0;
    count_text(status->rows_accepted, rows, sizeof rows);
    count_text(status->rows_accepted - status->rows_committed, queued, sizeof queued);
    count_text(status->rows_dropped, dropped, sizeof dropped);
    if (status->rows_dropped > 0)
        snprintf(text, text_bytes, "%s%s rows dropped", where, dropped);
    else if (where[0] != '\0')
        snprintf(text, text_bytes, "%s%s rows wait", where, queued);
    else
        snprintf(text, text_bytes, "%s rows logged, lag %.0f ms", rows, status->last_lag_ms);
    snprintf(tip, tip_bytes,
             "What applets log\n%s%srows: %s\nwaiting: %s, the oldest for %.0f ms\n"
             "queue: %.0f %% full\nlast commit: %.1f ms\ndropped: %s",
             status->text, status->text[0] != '\0' ? "\n" : "", rows, queued, status->lag_ms,
             used * 100.0, status->commit_ms, dropped);
}

/* Quiet while all is well, a badge when rows wait for a disk or are lost: that one is drawn however
 * little room there is. Returns where the next item begins. */
static float status_metrics(const MetricsStatus *status, float x, float y, float y0, float right)
{
    char text[160], tip[640];
    bool bad = metrics_are_bad(status);
    metrics_words(status, text, sizeof text, tip, sizeof tip);
    uint32_t rgba = ui_theme_color(status->rows_dropped > 0 ? CALIPER_THEME_BAD
                                   : bad                    ? CALIPER_THEME_WARN
                                                            : CALIPER_THEME_TEXT_DIM);
    float w = ui_text_width(UI_FONT_SMALL, text);
    float pad = bad ? 8.0f : 0.0f;
    if (!bad && right - x < w + 24)
        return x;
    if (bad)
        ui_rect(x, y0 + 4, w + 2 * pad, SHELL_STATUS - 8, (SHELL_STATUS - 8) / 2,
                ui_fade(rgba, 0.2f));
    ui_text_at(UI_FONT_SMALL, x + pad, y, 0, rgba, text);
    ui_hit("##metrics", x, y0, w + 2 * pad, SHELL_STATUS, false);
    ui_hit_tooltip(tip);
    return x + w + 2 * pad + 16.0f;
}

void bars_draw_status(Shell *shell)
{
    char text[256];
    const StatusNumbers *numbers = status_numbers(shell);
    const RendererInfo *renderer = renderer_info(shell->renderer);
    const CaliperDeviceV1 *device = device_service_table();
    const char *path = renderer_path(shell->renderer);
    float y0 = shell->height - SHELL_STATUS;
    float y = y0 + (SHELL_STATUS - ui_text_height(UI_FONT_SMALL)) / 2;
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    bool resident = strncmp(path, "GPU-resident", 12) == 0;
    ui_region_begin("##status", 0, y0, shell->width, SHELL_STATUS, 0);
    ui_rect(0, y0, shell->width, SHELL_STATUS, 0,
            ui_fade(ui_theme_color(CALIPER_THEME_BACKGROUND), shell->at_home ? 0.7f : 1.0f));
    ui_line(0, y0 + 0.5f, shell->width, y0 + 0.5f, 1,
            ui_fade(ui_theme_color(CALIPER_THEME_BORDER), 0.8f));
    ui_disc(19, y0 + SHELL_STATUS / 2, 4,
            ui_theme_color(resident ? CALIPER_THEME_GOOD : CALIPER_THEME_ACCENT));
    BridgeStats stats;
    bridge_stats(shell->bridge, &stats);
    snprintf(text, sizeof text, "%u live texture%s   %.1f ms", stats.textures,
             stats.textures == 1 ? "" : "s", numbers->frame_ms);
    float right = shell->width - 16 - ui_text_width(UI_FONT_SMALL, text);
    ui_text_at(UI_FONT_SMALL, right, y, 0, dim, text);
    right -= 20;
    char tip[640];
    status_counters(numbers, text, sizeof text, tip, sizeof tip);
    float counters_width = ui_text_width(UI_FONT_SMALL, text);
    if (right - counters_width > 300.0f) { /* a narrow window keeps the path */
        right -= counters_width;
        ui_text_at(UI_FONT_SMALL, right, y, 0, dim, text);
        ui_hit("##counters", right, y0, counters_width, SHELL_STATUS, false);
        ui_hit_tooltip(tip);
        right -= 20;
    }
    const MetricsStatus *metrics = &numbers->metrics;
    bool has_metrics =
        numbers->has_metrics && (metrics->rows_accepted > 0 || metrics_are_bad(metrics));
    bool bad = has_metrics && metrics_are_bad(metrics);
    float x = bad ? status_metrics(metrics, 30, y, y0, right) : 30;
    x = status_item(x, y, right, ui_theme_color(CALIPER_THEME_TEXT), path);
    if (has_metrics && !bad)
        x = status_metrics(metrics, x, y, y0, right);
    snprintf(text, sizeof text, "%s on %s", renderer->name, renderer->device_name);
    x = status_item(x, y, right, dim, text);
    snprintf(text, sizeof text, "compute: %s %s", device_word(device->kind()), device->name());
    status_item(x, y, right, dim, text);
    ui_region_end();
}
