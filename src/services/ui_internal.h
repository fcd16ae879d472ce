/* services/ui_internal.h: what the files of the toolkit layer share. C++; included by services/ui*
 * and services/widgets* only. Frame thread. */
#ifndef CALIPER_SERVICES_UI_INTERNAL_H
#define CALIPER_SERVICES_UI_INTERNAL_H

#include "services/ui_c.h"

#include <imgui.h>
#include <imgui_internal.h>

#include "services/ui.h"
#include "services/ui_paint.h"

/* Bit 63 of an ImTextureID asks for nearest filtering; texture ids keep it clear. */
constexpr uint64_t UI_NEAREST_BIT = UINT64_C(1) << 63;
/* The font atlas. No texture id has all bits of its index set. */
constexpr uint64_t UI_FONT_TEXTURE = UINT64_C(0x7fffffffffffffff);

/* Icons are glyphs of the fonts from here on, in the order of CALIPER_ICON_*. */
constexpr unsigned UI_ICON_FIRST = 0xe000;

inline ImTextureID ui_texture_id(CaliperTextureId texture, bool linear)
{
    const uint64_t bits = (texture & ~UI_NEAREST_BIT) | (linear ? 0 : UI_NEAREST_BIT);
    return reinterpret_cast<ImTextureID>(static_cast<uintptr_t>(bits));
}

enum {
    UI_EVENTS_MAX = 1024,
    UI_CONTEXTS_MAX = 16,
    UI_PANELS_MAX = 64,
    UI_KEYS_MAX = 0x12c,
    UI_ICONS = 25
};

struct UiKeyState {
    bool down, was_down;
    bool pressed; /* this frame */
    bool taken;   /* a shortcut already used it in this frame */
    float held_sec, held_before_sec;
};

/* A Dear ImGui context of one ui.v1 applet, shown inside its panel. */
struct UiContext {
    CallerId owner;
    ImGuiContext *imgui;
    ImVec2 origin, size;      /* of the panel, in the window's units */
    const ImDrawList *anchor; /* the panel's list: what comes after it lies above */
    bool ended;               /* has draw data for this frame */
    bool in_frame;
};

struct UiPanelState { /* what a panel keeps between frames */
    CallerId owner;   /* 0: unused */
    bool menu_asked;
};

struct Ui {
    ImGuiContext *imgui;
    ImFontAtlas *atlas;
    ImFont *fonts[UI_FONT_COUNT];
    int icon_rects[UI_FONT_COUNT][UI_ICONS]; /* in the atlas; -1: none */
    float scale;
    bool light;
    bool in_frame;

    RendererTexture *font_texture, *placeholder_texture;

    UiEvent events[UI_EVENTS_MAX];
    uint32_t event_first, event_count;
    UiKeyState keys[UI_KEYS_MAX];
    bool enter_presses; /* the Enter that is down went down where an item had the keyboard */
    uint32_t modifiers;
    ImVec2 pointer;
    bool buttons[3];
    UiClipboard clipboard;
    char *clipboard_text; /* the process's own */

    UiContext contexts[UI_CONTEXTS_MAX];
    uint32_t context_count;
    UiPanelState panels[UI_PANELS_MAX];
    ImGuiWindow *behind; /* this frame's lowest region, or nullptr */
    ImVec2 panel_pos, panel_size;
    CallerId panel_owner;
    bool panel_hidden;

    bool tab_asked; /* in the last frame */
    bool lists_items;
    UiItem *items; /* of this frame */
    uint32_t item_count, item_capacity;

    UiList *lists;
    uint32_t list_count, list_capacity;
    UiCommand *commands;
    uint32_t command_count, command_capacity;
    UiDraw *draws;
    uint32_t draw_count, draw_capacity;
};

extern Ui *ui_current; /* the one Ui, or nullptr */

/* The kept state of an applet's panel; nullptr when all are used. */
UiPanelState *ui_panel_state(Ui *ui, CallerId owner);

/* Which file does what. */
void ui_fonts_build(Ui *ui);                           /* ui_fonts.cpp */
void ui_icons_reserve(Ui *ui);                         /* ui_icons.cpp: before the atlas is built */
void ui_icons_draw(Ui *ui);                            /* ui_icons.cpp: after */
void ui_theme_apply(const Ui *ui, ImGuiStyle *);       /* ui_theme.cpp */
void ui_input_apply(Ui *ui, float delta_sec);          /* ui_input.cpp */
bool ui_modifiers_match(const Ui *ui, uint32_t chord); /* exactly those held now */
void ui_input_connect(ImGuiIO *io);                    /* ui_input.cpp: key map, clipboard */
void ui_context_setup(Ui *ui); /* ui.cpp: io and style of the current context */
/* ui_focus.cpp: whether an item shows that it has the keyboard, which then has Space and Enter; and
 * whether the toolkit has the arrows. Tab and F6. */
bool ui_focus_is_seen(void);
bool ui_focus_takes_arrows(void);
void ui_focus_turn(Ui *ui);
/* From here to the end every item can be reached by Tab. */
void ui_focus_stops_begin(void);
void ui_focus_stops_end(void);
/* ui_items.cpp: the item submitted last, in the list; `label` by the ## rule. */
void ui_items_note(const char *kind, const char *label);

#endif
