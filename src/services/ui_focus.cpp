/* services/ui_focus.cpp: the keyboard reaches everything: Tab goes from item to item, F6 from
 * region to region, and while the focus is seen the arrows, Space, Enter and Escape are its own.
 * Frame thread. */
#include <caliper/services/widgets_v1.h>

#include "services/ui_internal.h"

bool ui_focus_is_seen(void)
{
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    return !context->NavDisableHighlight && context->NavId != 0;
}

bool ui_focus_takes_arrows(void)
{
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    return ui_focus_is_seen() || context->ActiveId != 0 || context->OpenPopupStack.Size > 0 ||
           context->IO.WantTextInput;
}

static bool is_region(const ImGuiWindow *window)
{
    constexpr ImGuiWindowFlags others = ImGuiWindowFlags_ChildWindow | ImGuiWindowFlags_Popup |
                                        ImGuiWindowFlags_Tooltip | ImGuiWindowFlags_NoNavInputs |
                                        ImGuiWindowFlags_NoMouseInputs;
    return window->WasActive && (window->Flags & others) == 0;
}

/* Without an active item the toolkit's Tab begins with the first one again, and shows no focus. */
static void mend_tab(Ui *ui)
{
    ImGuiContext *const context = ImGui::GetCurrentContext();
    const bool asked =
        (context->NavMoveFlags & ImGuiNavMoveFlags_Tabbing) != 0 && context->NavMoveScoringItems;
    if (asked) {
        if (context->NavTabbingDir == 0 && context->NavId != 0)
            context->NavTabbingDir = 1;
        ui->tab_asked = true;
        return;
    }
    if (ui->tab_asked && context->NavId != 0) { /* the frame after: the move was made */
        context->NavDisableHighlight = false;
        context->NavDisableMouseHover = true;
    }
    ui->tab_asked = false;
}

void ui_focus_turn(Ui *ui)
{
    mend_tab(ui);
    if (!ui->keys[CALIPER_KEY_F1 + 5].pressed || ImGui::GetTopMostPopupModal() != nullptr)
        return;
    ImGuiContext *const context = ImGui::GetCurrentContext();
    const ImVector<ImGuiWindow *> &windows = context->Windows;
    const ImGuiWindow *const now =
        context->NavWindow != nullptr ? context->NavWindow->RootWindow : nullptr;
    int at = -1;
    for (int i = 0; i < windows.Size; i++) {
        if (windows[i] == now)
            at = i;
    }
    const int step = (ui->modifiers & UI_MODIFIER_SHIFT) != 0 ? windows.Size - 1 : 1;
    for (int k = 1; k <= windows.Size; k++) {
        ImGuiWindow *const next = windows[(at + windows.Size + k * step) % windows.Size];
        if (!is_region(next))
            continue;
        ImGui::ClosePopupsOverWindow(next, false);
        ImGui::FocusWindow(next);
        ImGui::NavInitWindow(next, true);
        context->NavDisableHighlight = false;
        ui->keys[CALIPER_KEY_F1 + 5].taken = true;
        return;
    }
}

void ui_focus_stops_begin(void)
{
    /* The toolkit goes by Tab to what can be typed into; for anything else the same flag means that
     * the focus stops there, and no more. */
    ImGui::PushItemFlag(ImGuiItemFlags_Inputable, true);
}

void ui_focus_stops_end(void)
{
    ImGui::PopItemFlag();
}
