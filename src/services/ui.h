/* services/ui.h: the toolkit layer: Dear ImGui's contexts, fonts, theme, input and draw lists as C.
 *
 * services/ui* and services/widgets* are the only files that know Dear ImGui; the shell drives them
 * through this header, ui_paint.h and widgets.h and sees no C++. There is one Ui in a process, used
 * on the frame thread. All coordinates are logical units, colours 0xAABBGGRR. */
#ifndef CALIPER_SERVICES_UI_H
#define CALIPER_SERVICES_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "core/caller.h"
#include "render/renderer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ui Ui;

typedef struct UiParams {
    float scale; /* physical pixels per logical unit; 0: 1 */
    bool light;  /* the light theme */
} UiParams;

/* NULL and one line when there is no memory for the font atlas. */
Ui *ui_create(const UiParams *params);
void ui_destroy(Ui **ui);
/* Forgets windows, focus, input and applets' contexts; fonts, theme and textures stay. Between
 * frames; for tests that need many fresh ones. */
void ui_restart(Ui *ui);

/* ---- Looks ---- */

/* Builds the fonts again for another scale; the textures have to be made again afterwards. Only
 * between frames. Scales outside 0.5..8 are clamped. */
void ui_set_scale(Ui *ui, float scale);
float ui_scale(const Ui *ui);
void ui_set_light(Ui *ui, bool light);
bool ui_light(const Ui *ui);

/* The theme's colours: CALIPER_THEME_* of the widgets table; unknown: the text's. */
uint32_t ui_theme_color(uint32_t which);

/* A file that the fonts are made from, with what people call it. */
typedef struct UiFontFile {
    const char *name, *file;
    bool found;     /* else Dear ImGui's embedded font serves in its place */
    char path[512]; /* where it was found, or looked for last */
} UiFontFile;

/* The files from 0 on; false past the last. Any thread, with or without a Ui. */
bool ui_font_file(uint32_t index, UiFontFile *out);

/* ---- Textures of the toolkit itself ---- */

/* The font atlas and the placeholder that marks a bad texture id. Called again after the renderer
 * or the scale changed, with ui_textures_destroy on the old renderer before. */
bool ui_textures_create(Ui *ui, Renderer *renderer);
void ui_textures_destroy(Ui *ui, Renderer *renderer);

/* ---- Input ---- */

typedef enum UiEventKind {
    UI_EVENT_POINTER = 0, /* x, y */
    UI_EVENT_LEAVE,       /* the pointer left the window */
    UI_EVENT_BUTTON,      /* code 0 left, 1 right, 2 middle; down */
    UI_EVENT_WHEEL,       /* x, y in notches */
    UI_EVENT_KEY,         /* code: CALIPER_KEY_* or an ASCII code; down; modifiers */
    UI_EVENT_TEXT,        /* code: a code point */
    UI_EVENT_FOCUS        /* down: the window has the keyboard */
} UiEventKind;

enum { /* bits of UiEvent.modifiers */
       UI_MODIFIER_CTRL = 1,
       UI_MODIFIER_SHIFT = 2,
       UI_MODIFIER_ALT = 4,
       UI_MODIFIER_SUPER = 8
};

typedef struct UiEvent {
    UiEventKind kind;
    float x, y;
    uint32_t code;
    uint32_t modifiers;
    bool down;
} UiEvent;

/* Queues an event. A press and its release are never merged into one frame: what does not fit into
 * this frame waits for the next. A full queue drops the oldest pointer movement first. */
void ui_event(Ui *ui, const UiEvent *event);

/* True in the frame in which the chord (CALIPER_KEY_* and CALIPER_MOD_*) was pressed; takes it, so
 * that no applet sees it. After ui_frame_begin. */
bool ui_take_chord(Ui *ui, uint32_t chord);

/* Where text goes on copy; NULL members: a clipboard inside the process. `get` answers a string
 * that lives until the next call, or NULL. */
typedef struct UiClipboard {
    void *user;
    const char *(*get)(void *user);
    void (*set)(void *user, const char *text);
} UiClipboard;
void ui_set_clipboard(Ui *ui, const UiClipboard *clipboard);
const char *ui_clipboard_get(void);
void ui_clipboard_set(const char *text);

typedef enum UiCursor {
    UI_CURSOR_ARROW = 0,
    UI_CURSOR_TEXT,
    UI_CURSOR_RESIZE_X,
    UI_CURSOR_RESIZE_Y,
    UI_CURSOR_RESIZE_BOTH,
    UI_CURSOR_HAND,
    UI_CURSOR_NONE
} UiCursor;
UiCursor ui_cursor(const Ui *ui);

bool ui_wants_text(const Ui *ui); /* a text field has the keys */

/* ---- Frames ---- */

/* Sizes in logical units; delta_sec <= 0 counts as a sixtieth. */
void ui_frame_begin(Ui *ui, float width, float height, double delta_sec);
/* Ends the frame; its draw lists stay until the next ui_frame_begin. */
void ui_frame_end(Ui *ui);
/* What the ended frame draws: good until the next ui_frame_begin or ui_frame_draws. Fills the
 * shared textures that are in sight. May be called again with another renderer when the first was
 * lost. */
bool ui_frame_draws(Ui *ui, Bridge *bridge, int32_t width_px, int32_t height_px,
                    const UiDraw **out_draws, uint32_t *out_count);
/* Hands the same to a renderer whose frame has begun. */
bool ui_frame_draw(Ui *ui, Renderer *renderer, Bridge *bridge, int32_t width_px, int32_t height_px);

/* ---- What the person can reach ---- */

typedef struct UiItem {
    char kind[16];    /* the slot that made it: "button", "slider", ... */
    char label[96];   /* as shown, cut; the id behind ## where nothing is shown */
    CallerId owner;   /* 0: the shell's own */
    uint32_t id;      /* 0: made of several items */
    float x, y, w, h; /* the part in sight, in the window's units */
    bool enabled, in_sight;
    bool focused; /* has the keyboard */
} UiItem;

/* While on, every frame lists its items, in the order in which they were drawn. */
void ui_items_listen(Ui *ui, bool on);
/* Those of this frame so far; after ui_frame_end those of the whole frame, until the next begins.
 */
const UiItem *ui_items(const Ui *ui, uint32_t *out_count);

/* ---- Panels: one region of the window that an applet fills ---- */

/* Opens the panel's region; a panel_end always follows. `focus` gives it the keyboard. */
void ui_panel_begin(Ui *ui, CallerId owner, float x, float y, float w, float h, bool focus);
void ui_panel_end(Ui *ui);
/* After ui_panel_begin: the panel is out of sight in this frame. Its applet draws as ever; nothing
 * of it appears, nothing of it can be reached, and its popups close. */
void ui_panel_hide(Ui *ui);

/* An applet's own Dear ImGui context exists from its first imgui_context() on; called inside its
 * panel, around frame(). Nothing happens for an applet without one. */
void ui_context_frame_begin(Ui *ui, CallerId owner);
void ui_context_frame_end(Ui *ui, CallerId owner, bool faulted);
/* The applet's life ended: drops its context. */
void ui_reclaim(Ui *ui, CallerId owner);

/* The table of caliper.ui.v1. */
const void *ui_v1_table(void);

#ifdef __cplusplus
}
#endif

#endif
