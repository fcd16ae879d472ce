/* shell/tray.c: the jobs as a drawer on the right: whose they are, how far, for how long, and a way
 * to end them. With the keyboard: arrows choose, Delete cancels or clears, Escape leaves. Frame
 * thread; what jobs say is read without a lock. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "jobs/jobs.h"
#include "shell/shell_impl.h"

#define TRAY_HEAD 58.0f
#define ROW_H     92.0f
#define MARGIN    16.0f
#define BUTTON    24.0f

struct Tray {
    uint64_t ids[JOBS_MAX];
    uint32_t count;
    uint64_t chosen; /* by the keyboard; 0: none */
    bool focus;      /* takes the keyboard in the next frame */
    bool has_keys;
    bool show_chosen; /* scroll to it */
};

Tray *tray_create(void)
{
    Tray *tray = calloc(1, sizeof *tray);
    if (tray == NULL)
        log_item(OUT_OF_MEMORY, "tray_create", (unsigned long long)sizeof *tray);
    return tray;
}

void tray_destroy(Tray **tray)
{
    if (tray == NULL)
        return;
    free(*tray);
    *tray = NULL;
}

void tray_toggle(Shell *shell)
{
    shell->tray_open = !shell->tray_open;
    shell->tray->focus = shell->tray_open;
    shell->tray->has_keys = shell->tray_open;
    shell->tray->chosen = 0;
    for (uint32_t i = 0; !shell->tray_open && i < shell->panel_count; i++) {
        if (shell->panels[i].applet == shell->focused_applet)
            shell->panels[i].focus = true;
    }
}

/* ---- Words ---- */

static void time_text(double seconds, char *out, size_t out_bytes)
{
    unsigned whole = seconds < 1e9 ? (unsigned)seconds : 1000000000u;
    if (whole < 60)
        snprintf(out, out_bytes, "%u s", whole);
    else if (whole < 3600)
        snprintf(out, out_bytes, "%u:%02u", whole / 60, whole % 60);
    else
        snprintf(out, out_bytes, "%u:%02u:%02u", whole / 3600, whole / 60 % 60, whole % 60);
}

typedef struct Owner {
    const char *name;
    bool lives; /* its applet is open or closing */
} Owner;

static Owner owner_of(const Shell *shell, const JobView *job)
{
    AppletView view;
    if (job->owner == 0)
        return (Owner){.name = "Caliper", .lives = true};
    for (uint32_t i = 0; i < host_applet_count(shell->host); i++) {
        if (host_applet(shell->host, i, &view) && view.serial == job->owner)
            return (Owner){.name = view.name,
                           .lives = view.state == APPLET_STATE_RUNNING ||
                                    view.state == APPLET_STATE_CLOSING};
    }
    return (Owner){.name = caller_name(job->owner), .lives = false};
}

/* What is worth saying before the job's own words; NULL: nothing. */
static const char *state_words(const JobView *job, bool owner_lives)
{
    if (!job->running)
        return job->cancelled ? "Cancelled" : "Finished";
    if (!owner_lives)
        return "Still running after its applet was closed";
    return job->cancelled ? "Cancelling" : NULL;
}

static uint32_t state_color(const JobView *job, bool owner_lives)
{
    if (!job->running)
        return ui_theme_color(job->cancelled ? CALIPER_THEME_TEXT_DIM : CALIPER_THEME_GOOD);
    if (!owner_lives || job->cancelled)
        return ui_theme_color(CALIPER_THEME_WARN);
    return ui_theme_color(CALIPER_THEME_ACCENT);
}

/* ---- A row ---- */

/* A job that has not said how far it is gets a piece that wanders. */
static void draw_bar(const Shell *shell, const JobView *job, Rect bar, uint32_t rgba)
{
    float from = 0.0f, to = job->progress;
    if (job->running && job->progress <= 0.0f) {
        float phase = (float)fmod(shell->info.time_sec * 0.5, 1.0);
        from = fmaxf(0.0f, phase * 1.3f - 0.3f);
        to = fminf(1.0f, phase * 1.3f);
    }
    ui_rect(bar.x, bar.y, bar.w, bar.h, bar.h / 2, ui_theme_color(CALIPER_THEME_CONTROL));
    if (to > from)
        ui_rect(bar.x + bar.w * from, bar.y, fmaxf(bar.h, bar.w * (to - from)), bar.h, bar.h / 2,
                job->running ? rgba : ui_fade(rgba, 0.55f));
}

/* A cross: cancel, or take the finished one off the list. True when it was clicked. */
static bool draw_cross(const JobView *job, float x, float y, bool row_hovered)
{
    char id[32];
    bool can = !job->running || !job->cancelled;
    snprintf(id, sizeof id, "##end%llu", (unsigned long long)job->id);
    uint32_t hit = ui_hit(id, x, y, BUTTON, BUTTON, can);
    ui_hit_tooltip(!job->running    ? "Take it off the list"
                   : job->cancelled ? "It was asked to end"
                                    : "Cancel");
    bool hovered = can && (hit & UI_HIT_HOVERED) != 0;
    if (hovered)
        ui_rect(x, y, BUTTON, BUTTON, 6, ui_theme_color(CALIPER_THEME_CONTROL));
    uint32_t ink = ui_fade(ui_theme_color(hovered ? CALIPER_THEME_TEXT : CALIPER_THEME_TEXT_DIM),
                           !can                     ? 0.3f
                           : hovered || row_hovered ? 1.0f
                                                    : 0.7f);
    float cx = x + BUTTON / 2, cy = y + BUTTON / 2;
    ui_line(cx - 4, cy - 4, cx + 4, cy + 4, 1.5f, ink);
    ui_line(cx + 4, cy - 4, cx - 4, cy + 4, 1.5f, ink);
    return can && (hit & UI_HIT_CLICKED) != 0;
}

static void end_job(const JobView *job)
{
    if (job->running)
        jobs_request_cancel(job->id);
    else
        jobs_clear(job->id);
}

/* The state's words if there are any, then the job's own. */
static void draw_words(const JobView *job, bool owner_lives, float x, float y, float w)
{
    const char *words = state_words(job, owner_lives);
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    if (words != NULL) {
        float used = ui_text_at(UI_FONT_SMALL, x, y, w, state_color(job, owner_lives), words) + 8;
        x += used;
        w -= used;
    }
    if (w > 24.0f && job->message[0] != '\0')
        ui_text_at(UI_FONT_SMALL, x, y, w, dim, job->message);
}

static void draw_row(Shell *shell, const JobView *job, Rect row)
{
    char text[48];
    Tray *tray = shell->tray;
    Owner owner = owner_of(shell, job);
    uint32_t rgba = state_color(job, owner.lives);
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    float x = row.x + MARGIN, w = row.w - 2 * MARGIN, right = row.x + row.w - MARGIN;
    bool chosen = tray->has_keys && job->id == tray->chosen;
    if (chosen)
        ui_frame_rect(row.x + 6.5f, row.y + 4.5f, row.w - 13, row.h - 9, 8, 1,
                      ui_theme_color(CALIPER_THEME_ACCENT));
    ui_disc(x + 4, row.y + 23, 4, rgba);
    time_text(job->seconds, text, sizeof text);
    float time_w = ui_text_width(UI_FONT_SMALL, text);
    float time_x = right - BUTTON - 8 - time_w;
    ui_text_at(UI_FONT_SMALL, time_x, row.y + 16, 0, dim, text);
    ui_text_at(UI_FONT_STRONG, x + 18, row.y + 14, time_x - x - 30,
               job->running ? ui_theme_color(CALIPER_THEME_TEXT) : dim,
               job->label[0] != '\0' ? job->label : "(job)");
    if (draw_cross(job, right - BUTTON + 4, row.y + 11, chosen))
        end_job(job);
    /* Never 100 before the end; the half of a thousandth is for what binary cannot hold. */
    snprintf(text, sizeof text, "%.0f %%", floor((double)job->progress * 100.0 + 5e-4));
    float percent_w = ui_text_width(UI_FONT_SMALL, "100 %");
    if (job->progress > 0.0f)
        ui_text_at(UI_FONT_SMALL, right - ui_text_width(UI_FONT_SMALL, text), row.y + 37, 0, dim,
                   text);
    ui_text_at(UI_FONT_SMALL, x + 18, row.y + 37, w - 18 - percent_w - 8, dim, owner.name);
    draw_bar(shell, job, (Rect){x, row.y + 58, w, 4}, rgba);
    draw_words(job, owner.lives, x, row.y + 67, w);
    ui_line(x, row.y + row.h - 0.5f, right, row.y + row.h - 0.5f, 1,
            ui_fade(ui_theme_color(CALIPER_THEME_BORDER), 0.6f));
}

/* ---- The drawer ---- */

static void draw_head(Shell *shell, Rect area)
{
    char text[64];
    JobCounts counts = jobs_counts();
    float x = area.x + MARGIN, right = area.x + area.w - MARGIN + 4;
    ui_text_at(UI_FONT_HEADING, x, area.y + 10, 120, ui_theme_color(CALIPER_THEME_TEXT), "Jobs");
    snprintf(text, sizeof text, "%u running, %u finished", counts.running, counts.finished);
    ui_text_at(UI_FONT_SMALL, x, area.y + 33, 180, ui_theme_color(CALIPER_THEME_TEXT_DIM), text);
    uint32_t hit = ui_hit("##closetray", right - BUTTON, area.y + 16, BUTTON, BUTTON, true);
    ui_hit_tooltip("Close (F10)");
    bool hovered = (hit & UI_HIT_HOVERED) != 0;
    if (hovered)
        ui_rect(right - BUTTON, area.y + 16, BUTTON, BUTTON, 6,
                ui_theme_color(CALIPER_THEME_CONTROL));
    uint32_t ink = ui_theme_color(hovered ? CALIPER_THEME_TEXT : CALIPER_THEME_TEXT_DIM);
    float cx = right - BUTTON / 2, cy = area.y + 16 + BUTTON / 2;
    ui_line(cx - 4, cy - 4, cx + 4, cy + 4, 1.5f, ink);
    ui_line(cx + 4, cy - 4, cx - 4, cy + 4, 1.5f, ink);
    bool close = (hit & UI_HIT_CLICKED) != 0;
    if (counts.finished > 0) {
        const char *word = "Clear finished";
        float w = ui_text_width(UI_FONT_BODY, word) + 20;
        right -= BUTTON + 8;
        hit = ui_hit("##clear", right - w, area.y + 14, w, 28, true);
        uint32_t accent = ui_theme_color(CALIPER_THEME_ACCENT);
        if ((hit & UI_HIT_HOVERED) != 0)
            ui_rect(right - w, area.y + 14, w, 28, 6, ui_fade(accent, 0.16f));
        ui_text_at(UI_FONT_BODY, right - w + 10,
                   area.y + 14 + (28 - ui_text_height(UI_FONT_BODY)) / 2, 0, accent, word);
        if ((hit & UI_HIT_CLICKED) != 0)
            jobs_clear(0);
    }
    ui_line(area.x + 0.5f, area.y, area.x + 0.5f, area.y + area.h, 1,
            ui_theme_color(CALIPER_THEME_BORDER));
    ui_line(area.x, area.y + TRAY_HEAD - 0.5f, area.x + area.w, area.y + TRAY_HEAD - 0.5f, 1,
            ui_fade(ui_theme_color(CALIPER_THEME_BORDER), 0.8f));
    if (close)
        tray_toggle(shell);
}

/* Where the chosen one stands; count: nowhere. */
static uint32_t chosen_index(const Tray *tray)
{
    uint32_t at = 0;
    while (at < tray->count && tray->ids[at] != tray->chosen)
        at++;
    return at;
}

static void take_keys(Shell *shell)
{
    JobView job;
    Tray *tray = shell->tray;
    uint32_t at = chosen_index(tray);
    if (ui_take_chord(shell->ui, CALIPER_KEY_ESCAPE)) {
        tray_toggle(shell);
        return;
    }
    if (tray->count == 0)
        return;
    uint32_t before = at;
    if (ui_take_chord(shell->ui, CALIPER_KEY_DOWN))
        at = at == tray->count ? 0 : at + 1 < tray->count ? at + 1 : at;
    if (ui_take_chord(shell->ui, CALIPER_KEY_UP))
        at = at == tray->count ? tray->count - 1 : at > 0 ? at - 1 : 0;
    tray->show_chosen = at != before;
    if (at < tray->count)
        tray->chosen = tray->ids[at];
    if (ui_take_chord(shell->ui, CALIPER_KEY_DELETE) && at < tray->count &&
        jobs_view(tray->chosen, &job)) {
        end_job(&job);
        if (!job.running) /* the next one moves up */
            tray->chosen = tray->ids[at + 1 < tray->count ? at + 1 : at > 0 ? at - 1 : 0];
    }
}

static void draw_nothing(Rect area)
{
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    ui_text_at(UI_FONT_STRONG, area.x + MARGIN, area.y + 24, area.w - 2 * MARGIN,
               ui_theme_color(CALIPER_THEME_TEXT), "Nothing runs in the background");
    ui_text_block(UI_FONT_BODY, area.x + MARGIN, area.y + 48, area.w - 2 * MARGIN, 4, dim,
                  "What an applet does away from its frames appears here, with its progress and a "
                  "way to end it.");
}

/* Scrolls just far enough. */
static void show_chosen(Tray *tray, float height)
{
    float row_y = (float)chosen_index(tray) * ROW_H;
    float scroll = ui_region_scroll();
    if (row_y < scroll)
        ui_region_set_scroll(row_y);
    else if (row_y + ROW_H > scroll + height)
        ui_region_set_scroll(row_y + ROW_H - height);
    tray->show_chosen = false;
}

static void draw_rows(Shell *shell, Rect area)
{
    Tray *tray = shell->tray;
    float scroll = ui_region_scroll();
    uint32_t first = (uint32_t)(scroll / ROW_H);
    for (uint32_t i = first; i < tray->count; i++) {
        JobView job;
        Rect row = {area.x, area.y + (float)i * ROW_H - scroll, area.w, ROW_H};
        if (row.y > area.y + area.h)
            break;
        if (jobs_view(tray->ids[i], &job))
            draw_row(shell, &job, row);
    }
    if (tray->show_chosen)
        show_chosen(tray, area.h);
    ui_region_content((float)tray->count * ROW_H);
}

void tray_draw(Shell *shell, Rect area)
{
    Tray *tray = shell->tray;
    tray->count = jobs_list(tray->ids, JOBS_MAX);
    if (tray->has_keys && !tray->focus)
        take_keys(shell);
    Rect list = {area.x + 1, area.y + TRAY_HEAD, area.w - 1, area.h - TRAY_HEAD};
    ui_region_begin("##trayhead", area.x, area.y, area.w, TRAY_HEAD, UI_REGION_FILLED);
    draw_head(shell, area);
    bool focused = ui_region_focused();
    ui_region_end();
    ui_region_begin("##tray", area.x, list.y, area.w, list.h,
                    UI_REGION_SCROLL | UI_REGION_FILLED | (tray->focus ? UI_REGION_FOCUS : 0u));
    if (tray->count == 0)
        draw_nothing(list);
    else
        draw_rows(shell, list);
    ui_line(area.x + 0.5f, area.y, area.x + 0.5f, area.y + area.h, 1,
            ui_theme_color(CALIPER_THEME_BORDER));
    tray->has_keys = ui_region_focused() || focused || tray->focus;
    tray->focus = false;
    ui_region_end();
}
