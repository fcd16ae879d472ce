/* shell/home.c: the home page: what Caliper is, how to begin, and a card per applet. Frame thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/paths.h"
#include "shell/shell_impl.h"

#define MARGIN     40.0f
#define CARD_GAP   16.0f
#define CARD_MIN_W 280.0f
#define CARD_H     150.0f

uint32_t applet_state_color(AppletState state)
{
    switch (state) {
    case APPLET_STATE_RUNNING:
        return ui_theme_color(CALIPER_THEME_GOOD);
    case APPLET_STATE_UNAVAILABLE:
    case APPLET_STATE_CLOSING:
        return ui_theme_color(CALIPER_THEME_WARN);
    case APPLET_STATE_FAILED:
    case APPLET_STATE_QUARANTINED:
        return ui_theme_color(CALIPER_THEME_BAD);
    default:
        return ui_theme_color(CALIPER_THEME_ACCENT);
    }
}

const char *applet_state_word(AppletState state)
{
    static const char *const words[] = {"Ready",   "Unavailable", "Running",
                                        "Closing", "Failed",      "Crashed"};
    return (unsigned)state < sizeof words / sizeof words[0] ? words[state] : "Unknown";
}

/* ---- Cards ---- */

static void draw_tag(float right, float y, const char *tag)
{
    if (tag == NULL || tag[0] == '\0')
        return;
    float w = fminf(ui_text_width(UI_FONT_SMALL, tag), 110.0f) + 16.0f;
    ui_rect(right - w, y, w, 22, 11, ui_fade(ui_theme_color(CALIPER_THEME_ACCENT), 0.16f));
    ui_text_at(UI_FONT_SMALL, right - w + 8, y + 3, 95, ui_theme_color(CALIPER_THEME_ACCENT), tag);
}

static void draw_card(Shell *shell, uint32_t applet, const AppletView *view, Rect card)
{
    char id[32];
    bool can_open = view->state == APPLET_STATE_READY || view->state == APPLET_STATE_RUNNING;
    bool can_reload = view->state == APPLET_STATE_FAILED || view->state == APPLET_STATE_QUARANTINED;
    uint32_t text = ui_theme_color(CALIPER_THEME_TEXT);
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    uint32_t face = ui_theme_color(CALIPER_THEME_CONTROL);
    uint32_t state = applet_state_color(view->state);
    snprintf(id, sizeof id, "##card%u", (unsigned)applet);
    uint32_t hit = ui_hit(id, card.x, card.y, card.w, card.h, can_open || can_reload);
    bool hovered = (hit & UI_HIT_HOVERED) != 0 && (can_open || can_reload);
    bool light = ui_light(shell->ui);
    ui_shadow(card.x, card.y, card.w, card.h, 10, hovered ? 14 : 8,
              ui_fade(0xff000000u, light ? 0.10f : 0.28f));
    ui_rect(card.x, card.y, card.w, card.h, 10,
            light ? ui_fade(0xffffffffu, hovered ? 0.95f : 0.8f)
                  : ui_mix(ui_theme_color(CALIPER_THEME_BACKGROUND), face, hovered ? 0.85f : 0.6f));
    ui_frame_rect(card.x + 0.5f, card.y + 0.5f, card.w - 1, card.h - 1, 10, 1,
                  hovered ? ui_fade(ui_theme_color(CALIPER_THEME_ACCENT), 0.8f)
                          : ui_theme_color(CALIPER_THEME_BORDER));
    float x = card.x + 20, w = card.w - 40;
    bool stopped = view->reason != NULL && view->reason[0] != '\0';
    float name_w = view->tag != NULL && view->tag[0] != '\0' ? w - 130 : w;
    ui_text_at(UI_FONT_HEADING, x, card.y + 18, name_w, can_open ? text : dim, view->name);
    draw_tag(card.x + card.w - 20, card.y + 19, view->tag);
    if (stopped) /* what it would do matters less than why it does not */
        ui_text_block(UI_FONT_SMALL, x, card.y + 50, w, 3, text, view->reason);
    else
        ui_text_block(UI_FONT_BODY, x, card.y + 50, w, 2, dim, view->summary);

    float y = card.y + card.h - 34;
    ui_disc(x + 4, y + 8, 4, state);
    ui_text_at(UI_FONT_SMALL, x + 16, y, 0, state, applet_state_word(view->state));
    if (hovered) {
        const char *word = view->state == APPLET_STATE_RUNNING ? "Show"
                           : can_reload                        ? "Load it again"
                                                               : "Open";
        float word_w = ui_text_width(UI_FONT_SMALL, word);
        ui_text_at(UI_FONT_SMALL, card.x + card.w - 20 - word_w, y, 0,
                   ui_theme_color(CALIPER_THEME_ACCENT), word);
    } else {
        float version_w = ui_text_width(UI_FONT_SMALL, view->version);
        ui_text_at(UI_FONT_SMALL, card.x + card.w - 20 - version_w, y, 0, ui_fade(dim, 0.8f),
                   view->version);
    }
    if ((hit & UI_HIT_CLICKED) != 0 && can_open)
        panels_open(shell, applet);
    else if ((hit & UI_HIT_CLICKED) != 0 && can_reload && host_reload(shell->host, applet))
        panels_open(shell, applet);
}

/* ---- Hints ---- */

static float draw_hint(float x, float y, float w, const char *head, const char *words)
{
    ui_text_at(UI_FONT_STRONG, x, y, w, ui_theme_color(CALIPER_THEME_TEXT), head);
    return ui_text_block(UI_FONT_BODY, x, y + 24, w, 4, ui_theme_color(CALIPER_THEME_TEXT_DIM),
                         words) +
           24;
}

static void forget_welcome(Shell *shell)
{
    char *path = paths_join(host_data_dir(shell->host), "welcomed");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL)
        fclose(file);
    free(path);
    shell->welcome = false;
}

/* The first time: three things to do, side by side. */
static float draw_welcome(Shell *shell, float x, float y, float w)
{
    const float column = (w - 48) / 3;
    const float h = column < 340.0f ? 182.0f : 150.0f; /* for words of four lines, or of two */
    ui_rect(x, y, w, h, 10, ui_fade(ui_theme_color(CALIPER_THEME_BACKGROUND), 0.55f));
    ui_frame_rect(x + 0.5f, y + 0.5f, w - 1, h - 1, 10, 1,
                  ui_fade(ui_theme_color(CALIPER_THEME_ACCENT), 0.45f));
    draw_hint(x + 24, y + 22, column - 24, "Look at a tensor",
              "Drop a .npy, .npz, safetensors, IDX or PNG file here, or run: caliper view FILE");
    draw_hint(x + 24 + column, y + 22, column - 24, "Open an applet",
              "Click a card below. Several stand side by side; the bar on top brings them back.");
    draw_hint(x + 24 + 2 * column, y + 22, column - 24, "Write your own",
              "One C file against the SDK: begin with applets/hello, then: caliper run ./mine.so");
    const char *word = "Got it";
    float word_w = ui_text_width(UI_FONT_BODY, word);
    uint32_t hit = ui_hit("##gotit", x + w - word_w - 44, y + h - 40, word_w + 28, 30, true);
    uint32_t accent = ui_theme_color(CALIPER_THEME_ACCENT);
    if ((hit & UI_HIT_HOVERED) != 0)
        ui_rect(x + w - word_w - 44, y + h - 40, word_w + 28, 30, 6, ui_fade(accent, 0.16f));
    ui_text_at(UI_FONT_BODY, x + w - word_w - 30, y + h - 33, 0, accent, word);
    if ((hit & UI_HIT_CLICKED) != 0)
        forget_welcome(shell);
    return h + 28;
}

static void draw_empty(const Shell *shell, float x, float y, float w)
{
    char words[1200];
    snprintf(
        words, sizeof words,
        "Caliper looks for applets, each with its manifest, in the folders of --applet-dir, in "
        "%s/applets, and beside the installed program in lib/caliper/applets.",
        host_data_dir(shell->host));
    ui_text_at(UI_FONT_HEADING, x, y, w, ui_theme_color(CALIPER_THEME_TEXT), "No applets here yet");
    ui_text_block(UI_FONT_BODY, x, y + 32, fminf(w, 640), 4, ui_theme_color(CALIPER_THEME_TEXT_DIM),
                  words);
}

static float draw_cards(Shell *shell, float x, float y, float w)
{
    uint32_t count = host_applet_count(shell->host);
    uint32_t columns = (uint32_t)fmaxf(1.0f, floorf((w + CARD_GAP) / (CARD_MIN_W + CARD_GAP)));
    if (columns > 4)
        columns = 4;
    float card_w = floorf((w - CARD_GAP * (float)(columns - 1)) / (float)columns);
    for (uint32_t i = 0; i < count; i++) {
        AppletView view;
        if (!host_applet(shell->host, i, &view))
            continue;
        Rect card = {x + (card_w + CARD_GAP) * (float)(i % columns),
                     y + (CARD_H + CARD_GAP) * (float)(i / columns), card_w, CARD_H};
        draw_card(shell, i, &view, card);
    }
    return (CARD_H + CARD_GAP) * (float)((count + columns - 1) / columns);
}

/* What is always there: the way to what was logged. */
static void draw_runs_card(Shell *shell, float x, float y, float w, float h)
{
    uint32_t hit = ui_hit("##runs", x, y, w, h, true);
    bool hovered = (hit & UI_HIT_HOVERED) != 0;
    uint32_t accent = ui_theme_color(CALIPER_THEME_ACCENT);
    uint32_t dim = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    ui_rect(x, y, w, h, 10,
            ui_light(shell->ui)
                ? ui_fade(0xffffffffu, hovered ? 0.95f : 0.8f)
                : ui_mix(ui_theme_color(CALIPER_THEME_BACKGROUND),
                         ui_theme_color(CALIPER_THEME_CONTROL), hovered ? 0.85f : 0.6f));
    ui_frame_rect(x + 0.5f, y + 0.5f, w - 1, h - 1, 10, 1,
                  hovered ? ui_fade(accent, 0.8f) : ui_theme_color(CALIPER_THEME_BORDER));
    for (int i = 0; i < 12; i++) { /* a curve that falls */
        float from = 30.0f * expf(-0.28f * (float)i), to = 30.0f * expf(-0.28f * (float)(i + 1));
        ui_line(x + 18 + 4.0f * (float)i, y + 50 - from, x + 22 + 4.0f * (float)i, y + 50 - to, 2,
                accent);
    }
    ui_text_at(UI_FONT_HEADING, x + 82, y + 12, w - 140, ui_theme_color(CALIPER_THEME_TEXT),
               "Runs");
    ui_text_at(UI_FONT_SMALL, x + 82, y + 40, w - 96, dim, "Curves, settings, images: compared");
    float key_w = ui_text_width(UI_FONT_SMALL, "F9");
    ui_text_at(UI_FONT_SMALL, x + w - 16 - key_w, y + 16, 0, dim, "F9");
    if ((hit & UI_HIT_CLICKED) != 0)
        (void)panels_open_runs(shell);
}

void home_draw(Shell *shell, Rect area)
{
    ui_region_begin("##homepage", area.x, area.y, area.w, area.h,
                    UI_REGION_SCROLL | (shell->was_home ? 0u : UI_REGION_FOCUS));
    float top = area.y - ui_region_scroll();
    float w = fminf(area.w - 2 * MARGIN, 1240.0f);
    float x = floorf(area.x + (area.w - w) / 2);
    float y = top + 44;
    bool wide = w >= 860.0f; /* the way to the runs stands beside the title, else below */
    if (wide)
        draw_runs_card(shell, x + w - 320, y - 4, 320, 68);
    ui_text_at(UI_FONT_TITLE, x, y, w, ui_theme_color(CALIPER_THEME_TEXT), "Tensors, live.");
    y += 46;
    ui_text_at(UI_FONT_BODY, x, y, w, ui_theme_color(CALIPER_THEME_TEXT_DIM),
               "Train, look, compare and keep: every tensor is a texture in this frame.");
    y += 44;
    if (shell->welcome)
        y += draw_welcome(shell, x, y, w);
    if (host_applet_count(shell->host) == 0) {
        draw_empty(shell, x, y, w);
        y += 160;
    } else {
        ui_text_at(UI_FONT_STRONG, x, y, w, ui_theme_color(CALIPER_THEME_TEXT_DIM), "Applets");
        y += 30;
        y += draw_cards(shell, x, y, w);
    }
    if (!wide) {
        draw_runs_card(shell, x, y + 8, fminf(w, 320), 68);
        y += 92;
    }
    ui_region_content(y - top + 24);
    ui_region_end();
}
