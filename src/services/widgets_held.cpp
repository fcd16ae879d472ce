/* services/widgets_held.cpp: items that the arrows steer once they are held: with the focus on such
 * an item Enter or Space takes hold; Enter, Space, Escape or going elsewhere lets go. Frame thread.
 */
#include <caliper/services/widgets_v1.h>

#include "services/widgets_internal.h"

/* Pressed now or again, unless a shortcut had it; nothing else gets it in this frame. */
bool widgets_key(uint32_t key, bool repeats)
{
    UiKeyState *const state = &ui_current->keys[key];
    if (state->taken || ui_current->modifiers != 0 ||
        !ImGui::IsKeyPressed(static_cast<int>(key), repeats))
        return false;
    state->taken = true;
    return true;
}

bool widgets_held(ImGuiID id)
{
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    const bool focused = context->NavId == id && ui_focus_is_seen();
    if (widgets.held == id && (!focused || widgets_key(CALIPER_KEY_ESCAPE, false)))
        widgets.held = 0;
    else if (focused && (widgets_key(CALIPER_KEY_ENTER, false) || widgets_key(' ', false)))
        widgets.held = widgets.held == id ? 0 : id;
    return widgets.held == id;
}

void widgets_hold(ImGuiID id, const ImRect &shown)
{
    ImGuiContext *const context = ImGui::GetCurrentContext();
    ImGui::SetActiveID(id, ImGui::GetCurrentWindow());
    context->ActiveIdSource = ImGuiInputSource_Nav; /* no mouse button is waited for */
    context->ActiveIdUsingNavDirMask = ~0u;
    context->ActiveIdUsingKeyInputMask |= static_cast<ImU64>(1) << ImGuiKey_Escape;
    ImGui::GetWindowDrawList()->AddRect(shown.Min, shown.Max, ui_theme_color(CALIPER_THEME_ACCENT),
                                        0.0f, 0, 2.0f);
}
