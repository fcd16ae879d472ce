/* services/widgets_ask.cpp: questions about the last item, the panel, keys, and the desktop.
 * Frame thread. */
#include "services/widgets_table.h"

#include <cstring>

uint32_t widgets_slot_item(void)
{
    if (!widgets_enter_asking("item"))
        return 0;
    const bool hovered = ImGui::IsItemHovered();
    uint32_t bits = 0;
    bits |= hovered ? CALIPER_ITEM_HOVERED : 0;
    bits |= ImGui::IsItemActive() ? CALIPER_ITEM_ACTIVE : 0;
    bits |= ImGui::IsItemFocused() ? CALIPER_ITEM_FOCUSED : 0;
    bits |= ImGui::IsItemClicked(ImGuiMouseButton_Left) ? CALIPER_ITEM_CLICKED : 0;
    bits |= ImGui::IsItemClicked(ImGuiMouseButton_Right) ? CALIPER_ITEM_CLICKED_RIGHT : 0;
    bits |= hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)
                ? CALIPER_ITEM_CLICKED_TWICE
                : 0;
    bits |= ImGui::IsItemEdited() ? CALIPER_ITEM_EDITED : 0;
    bits |= ImGui::IsItemDeactivatedAfterEdit() ? CALIPER_ITEM_EDIT_DONE : 0;
    bits |= ImGui::IsItemVisible() ? CALIPER_ITEM_VISIBLE : 0;
    bits |= ImGui::IsItemToggledOpen() ? CALIPER_ITEM_TOGGLED : 0;
    return bits;
}

void widgets_slot_item_rect(float *out_x, float *out_y, float *out_w, float *out_h)
{
    float values[4] = {0, 0, 0, 0};
    if (widgets_enter_asking("item_rect")) {
        const ImVec2 corner = ImGui::GetCurrentWindow()->DC.CursorStartPos;
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        values[0] = low.x - corner.x;
        values[1] = low.y - corner.y;
        values[2] = high.x - low.x;
        values[3] = high.y - low.y;
    }
    float *const outs[4] = {out_x, out_y, out_w, out_h};
    for (int i = 0; i < 4; i++) {
        if (outs[i] != nullptr)
            *outs[i] = values[i];
    }
}

/* The window that the current region belongs to: a widgets window, or the panel. */
static ImGuiWindow *own_window(void)
{
    ImGuiWindow *window = ImGui::GetCurrentWindow();
    while ((window->Flags & ImGuiWindowFlags_ChildWindow) != 0 &&
           (window->Flags & ImGuiWindowFlags_Popup) == 0 && window->ParentWindow != nullptr)
        window = window->ParentWindow;
    return window;
}

/* Whether the keyboard belongs to this applet: its panel, or a window or popup begun in it. */
static bool has_focus(void)
{
    const ImGuiWindow *window = ImGui::GetCurrentContext()->NavWindow;
    while (window != nullptr) {
        if (window == widgets.panel)
            return true;
        window = window->ParentWindowInBeginStack;
    }
    return false;
}

uint32_t widgets_slot_panel(float *out_w, float *out_h)
{
    ImVec2 size(0, 0);
    uint32_t bits = 0;
    if (widgets_enter("panel")) {
        size = own_window()->Size;
        bits |= has_focus() ? CALIPER_PANEL_FOCUSED : 0;
        bits |= ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows)
                    ? CALIPER_PANEL_HOVERED
                    : 0;
        bits |= own_window()->Appearing ? CALIPER_PANEL_APPEARING : 0;
        bits |= ImGui::GetIO().WantTextInput ? CALIPER_PANEL_TYPING : 0;
    }
    if (out_w != nullptr)
        *out_w = size.x;
    if (out_h != nullptr)
        *out_h = size.y;
    return bits;
}

/* ---- Keys ---- */

static UiKeyState *key_state(const char *slot, uint32_t chord)
{
    uint32_t key = chord & 0xffffu;
    if (key >= 'a' && key <= 'z')
        key -= 'a' - 'A';
    if (key == 0 || key >= UI_KEYS_MAX) {
        widgets_refuse(slot, "an unknown key", "CALIPER_KEY_* or an ASCII code");
        return nullptr;
    }
    return &ui_current->keys[key];
}

static bool repeats(const UiKeyState *key)
{
    const ImGuiIO &io = ImGui::GetIO();
    return ImGui::CalcTypematicRepeatAmount(key->held_before_sec, key->held_sec, io.KeyRepeatDelay,
                                            io.KeyRepeatRate) > 0;
}

/* What moves and presses the focus, where there is one. */
static bool is_focus_key(uint32_t chord)
{
    const uint32_t key = chord & 0xffffu;
    const bool in_popup = ImGui::GetCurrentContext()->OpenPopupStack.Size > 0;
    return chord == key && !(in_popup && key == CALIPER_KEY_ESCAPE) &&
           (key == ' ' || key == CALIPER_KEY_ENTER || key == CALIPER_KEY_TAB ||
            key == CALIPER_KEY_ESCAPE || (key >= CALIPER_KEY_LEFT && key <= CALIPER_KEY_DOWN));
}

bool widgets_slot_shortcut(uint32_t chord, uint32_t flags)
{
    if (!widgets_enter("shortcut"))
        return false;
    widgets_unknown_flags("shortcut", flags, 3);
    UiKeyState *const key = key_state("shortcut", chord);
    if (key == nullptr || key->taken || !has_focus() || !ui_modifiers_match(ui_current, chord))
        return false;
    if (ImGui::GetIO().WantTextInput && (flags & CALIPER_SHORTCUT_WHILE_TYPING) == 0)
        return false;
    if (is_focus_key(chord) && ui_focus_is_seen())
        return false;
    const bool again = (flags & CALIPER_SHORTCUT_REPEAT) != 0 && key->down && repeats(key);
    if (!key->pressed && !again)
        return false;
    key->taken = true;
    return true;
}

bool widgets_slot_key_down(uint32_t key)
{
    if (!widgets_enter("key_down"))
        return false;
    const UiKeyState *const state = key_state("key_down", key);
    return state != nullptr && state->down && has_focus() && !ImGui::GetIO().WantTextInput;
}

/* ---- Desktop ---- */

const char *widgets_slot_dropped(int32_t index)
{
    if (!widgets_may_call("dropped"))
        return nullptr;
    return index >= 0 && index < widgets.dropped_count ? widgets.dropped[index] : nullptr;
}

const char *widgets_slot_clipboard(void)
{
    return widgets_may_call("clipboard") ? ui_clipboard_get() : "";
}

void widgets_slot_set_clipboard(const char *text)
{
    if (!widgets_enter("set_clipboard") || text == nullptr)
        return;
    widgets_text_end(&text, -1);
    ui_clipboard_set(text);
}
