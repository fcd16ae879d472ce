/* services/widgets_tree.cpp: trees, tabs, menus, popups, tooltips. Frame thread. */
#include "services/widgets_table.h"

#include <cstdio>
#include <cstring>

bool widgets_slot_tree(const char *label, uint32_t flags)
{
    if (!widgets_enter_scope("tree", CALIPER_SCOPE_TREE, label))
        return false;
    widgets_unknown_flags("tree", flags, 63);
    const bool header = (flags & CALIPER_TREE_HEADER) != 0;
    ImGuiTreeNodeFlags own = 0;
    if (header)
        own |= ImGuiTreeNodeFlags_CollapsingHeader;
    if ((flags & CALIPER_TREE_LEAF) != 0)
        own |= ImGuiTreeNodeFlags_Leaf;
    if ((flags & CALIPER_TREE_OPEN) != 0)
        own |= ImGuiTreeNodeFlags_DefaultOpen;
    if ((flags & CALIPER_TREE_SELECTED) != 0)
        own |= ImGuiTreeNodeFlags_Selected;
    if ((flags & CALIPER_TREE_ARROW_ONLY) != 0)
        own |= ImGuiTreeNodeFlags_OpenOnArrow | ImGuiTreeNodeFlags_OpenOnDoubleClick;
    own |= (flags & CALIPER_TREE_ALL_COLUMNS) != 0 ? ImGuiTreeNodeFlags_SpanFullWidth
                                                   : ImGuiTreeNodeFlags_SpanAvailWidth;
    const char *const shown = widgets_label(label);
    if (widgets.next.has_open)
        ImGui::SetNextItemOpen(widgets.next.open, widgets.next.open_when == CALIPER_WHEN_ALWAYS
                                                      ? ImGuiCond_Always
                                                      : ImGuiCond_Once);
    widgets_item(0.0f);
    const bool open = ImGui::TreeNodeEx(shown, own);
    widgets_listed("tree", shown);
    if (open && header)
        ImGui::PushID(shown);
    widgets_push(CALIPER_SCOPE_TREE, open, label)->flags = flags;
    return open;
}

bool widgets_slot_tab_bar(const char *id, uint32_t flags)
{
    if (!widgets_enter_scope("tab_bar", CALIPER_SCOPE_TAB_BAR, id))
        return false;
    widgets_unknown_flags("tab_bar", flags, CALIPER_TAB_REORDER);
    const char *const shown = widgets_label(id);
    widgets_item_done();
    const bool live = ImGui::BeginTabBar(
        shown, ImGuiTabBarFlags_FittingPolicyScroll |
                   ((flags & CALIPER_TAB_REORDER) != 0 ? ImGuiTabBarFlags_Reorderable : 0));
    widgets_push(CALIPER_SCOPE_TAB_BAR, live, id);
    return live;
}

bool widgets_slot_tab(const char *label, bool *open, uint32_t flags)
{
    if (!widgets_enter_scope("tab", CALIPER_SCOPE_TAB, label))
        return false;
    widgets_unknown_flags("tab", flags, CALIPER_TAB_UNSAVED | CALIPER_TAB_SELECT);
    if (widgets_top()->kind != CALIPER_SCOPE_TAB_BAR) {
        widgets_refuse("tab", "a tab outside a tab bar", "a tab directly in a tab_bar");
        widgets_push(CALIPER_SCOPE_TAB, false, label);
        return false;
    }
    bool stays = open == nullptr || *open;
    if (!stays) {
        widgets_push(CALIPER_SCOPE_TAB, false, label);
        return false;
    }
    const char *const shown = widgets_label(label);
    widgets_item_done();
    const bool current = ImGui::BeginTabItem(
        shown, open != nullptr ? &stays : nullptr,
        ((flags & CALIPER_TAB_UNSAVED) != 0 ? ImGuiTabItemFlags_UnsavedDocument : 0) |
            ((flags & CALIPER_TAB_SELECT) != 0 ? ImGuiTabItemFlags_SetSelected : 0));
    widgets_listed("tab", shown);
    widgets_push(CALIPER_SCOPE_TAB, current, label);
    if (open != nullptr && !stays)
        *open = false;
    return current;
}

/* ---- Menus ---- */

/* The first frame with a menu bar: the toolkit wanted to know of it before the panel was filled. As
 * long as nothing lies in the panel all of it moves down. */
static void make_room(ImGuiWindow *window)
{
    const ImVec2 start = window->DC.CursorStartPos;
    if ((window->Flags & ImGuiWindowFlags_MenuBar) != 0 || window->DC.CursorPos.y != start.y ||
        window->DC.CursorMaxPos.y > start.y)
        return; /* there already, or too late: from the next frame on */
    window->Flags |= ImGuiWindowFlags_MenuBar;
    const float height = window->MenuBarHeight();
    const ImRect bar = window->MenuBarRect();
    window->DrawList->AddRectFilled(bar.Min, bar.Max, ImGui::GetColorU32(ImGuiCol_MenuBarBg));
    float *const tops[] = {
        &window->InnerRect.Min.y,         &window->InnerClipRect.Min.y, &window->WorkRect.Min.y,
        &window->ContentRegionRect.Min.y, &window->DC.CursorStartPos.y, &window->DC.CursorPos.y,
        &window->DC.CursorPosPrevLine.y,  &window->DC.CursorMaxPos.y,   &window->DC.IdealMaxPos.y};
    for (float *const top : tops)
        *top += height;
}

bool widgets_slot_menu_bar(void)
{
    if (!widgets_enter_scope("menu_bar", CALIPER_SCOPE_MENU_BAR, ""))
        return false;
    const Scope *const top = widgets_top();
    const bool in_window = top->kind == CALIPER_SCOPE_WINDOW;
    const bool in_panel = ImGui::GetCurrentWindow() == widgets.panel;
    const bool appending = ImGui::GetCurrentWindow()->DC.MenuBarAppending;
    if ((!in_window && !in_panel) || appending ||
        (in_window && (top->flags & CALIPER_WINDOW_MENU) == 0)) {
        widgets_refuse("menu_bar",
                       "a menu bar in a child, in another, or in a window without WINDOW_MENU",
                       "the panel, or a window with WINDOW_MENU");
        widgets_push(CALIPER_SCOPE_MENU_BAR, false, "");
        return false;
    }
    if (in_panel) {
        UiPanelState *const state = ui_panel_state(ui_current, widgets.owner);
        if (state != nullptr)
            state->menu_asked = true;
        make_room(ImGui::GetCurrentWindow());
    }
    const bool live =
        (ImGui::GetCurrentWindow()->Flags & ImGuiWindowFlags_MenuBar) != 0 && ImGui::BeginMenuBar();
    widgets_push(CALIPER_SCOPE_MENU_BAR, live, "");
    return live;
}

static bool in_menu_parent(void)
{
    return widgets_parent(CALIPER_SCOPE_MENU_BAR) != nullptr ||
           widgets_parent(CALIPER_SCOPE_MENU) != nullptr ||
           widgets_parent(CALIPER_SCOPE_POPUP) != nullptr;
}

bool widgets_slot_menu(const char *label)
{
    if (!widgets_enter_scope("menu", CALIPER_SCOPE_MENU, label))
        return false;
    if (!in_menu_parent()) {
        widgets_refuse("menu", "a menu outside", "a menu in a menu bar, popup or menu");
        widgets_push(CALIPER_SCOPE_MENU, false, label);
        return false;
    }
    const char *const shown = widgets_label(label);
    widgets_item_done();
    const bool open = ImGui::BeginMenu(shown);
    if (!open)
        widgets_listed("menu", shown);
    widgets_push(CALIPER_SCOPE_MENU, open, label);
    return open;
}

static void append(char *text, size_t text_bytes, const char *part)
{
    const size_t used = std::strlen(text);
    std::snprintf(text + used, text_bytes - used, "%s", part);
}

/* "Ctrl+Shift+R" */
static void chord_text(uint32_t chord, char *text, size_t text_bytes)
{
    static const char *const named[] = {"Esc",  "Enter", "Tab",   "Backspace", "Insert",
                                        "Del",  "Left",  "Right", "Up",        "Down",
                                        "PgUp", "PgDn",  "Home",  "End"};
    const uint32_t key = chord & 0xffffu;
    char one[8];
    text[0] = '\0';
    if ((chord & (CALIPER_MOD_CTRL | CALIPER_MOD_MAIN)) != 0)
        append(text, text_bytes, "Ctrl+");
    if ((chord & CALIPER_MOD_ALT) != 0)
        append(text, text_bytes, "Alt+");
    if ((chord & CALIPER_MOD_SHIFT) != 0)
        append(text, text_bytes, "Shift+");
    if ((chord & CALIPER_MOD_SUPER) != 0)
        append(text, text_bytes, "Super+");
    if (key >= CALIPER_KEY_ESCAPE && key <= CALIPER_KEY_END) {
        append(text, text_bytes, named[key - CALIPER_KEY_ESCAPE]);
    } else if (key >= CALIPER_KEY_F1 && key < CALIPER_KEY_F1 + 12u) {
        std::snprintf(one, sizeof one, "F%u", key - CALIPER_KEY_F1 + 1u);
        append(text, text_bytes, one);
    } else if (key == ' ') {
        append(text, text_bytes, "Space");
    } else if (key > ' ' && key < 0x7f) {
        std::snprintf(one, sizeof one, "%c", static_cast<char>(key));
        append(text, text_bytes, one);
    }
}

bool widgets_slot_menu_item(const char *label, uint32_t chord, bool *selected)
{
    if (!widgets_enter("menu_item"))
        return false;
    if (!in_menu_parent()) {
        widgets_refuse("menu_item", "an item outside", "an item in a menu or popup");
        return false;
    }
    const bool on = selected != nullptr && *selected;
    char keys[48] = "";
    if (chord != 0)
        chord_text(chord, keys, sizeof keys);
    const char *const shown = widgets_label(label);
    widgets_item_done();
    const bool pressed = ImGui::MenuItem(shown, keys[0] != '\0' ? keys : nullptr, on);
    widgets_listed("menu_item", shown);
    if (pressed && selected != nullptr)
        *selected = !on;
    return pressed;
}

/* ---- Popups ---- */

void widgets_slot_popup_open(const char *id)
{
    if (widgets_enter("popup_open"))
        ImGui::OpenPopup(widgets_plain_label(id));
}

bool widgets_slot_popup(const char *id, uint32_t flags)
{
    if (!widgets_enter_scope("popup", CALIPER_SCOPE_POPUP, id))
        return false;
    widgets_unknown_flags("popup", flags, 7);
    const char *const shown = widgets_plain_label(id);
    widgets_item_done();
    bool open;
    if ((flags & CALIPER_POPUP_MODAL) != 0) {
        open = ImGui::BeginPopupModal(
            shown, nullptr, ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
        /* A window that appears after a modal in the modal's first frame would meet an assert,
         * which looks for a modal that was there in the frame before. */
        ImGuiWindow *const modal = ImGui::GetTopMostPopupModal();
        if (modal != nullptr && modal->Active)
            modal->WasActive = true;
    } else if ((flags & CALIPER_POPUP_ON_ITEM) != 0) {
        if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup) &&
            ImGui::IsMouseReleased(ImGuiMouseButton_Right))
            ImGui::OpenPopup(shown);
        open = ImGui::BeginPopup(shown);
    } else if ((flags & CALIPER_POPUP_ON_PANEL) != 0) {
        if (ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup) &&
            !ImGui::IsAnyItemHovered() && ImGui::IsMouseReleased(ImGuiMouseButton_Right))
            ImGui::OpenPopup(shown);
        open = ImGui::BeginPopup(shown);
    } else {
        open = ImGui::BeginPopup(shown);
    }
    widgets_push(CALIPER_SCOPE_POPUP, open, id);
    return open;
}

void widgets_slot_popup_close(void)
{
    if (!widgets_enter("popup_close"))
        return;
    for (int32_t i = widgets.depth - 1; i >= 0; i--) {
        if (widgets.scopes[i].kind == CALIPER_SCOPE_POPUP) {
            ImGui::CloseCurrentPopup();
            return;
        }
    }
    widgets_refuse("popup_close", "a call outside a popup", "a call while a popup is drawn");
}

/* ---- Tooltips ---- */

static bool tooltip_due(void)
{
    const Scope *const drawing = widgets_drawing();
    if (drawing != nullptr)
        return drawing->space.hovered;
    return ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled);
}

void widgets_slot_tooltip(const char *text)
{
    if (!widgets_enter_asking("tooltip"))
        return;
    const char *const end = widgets_text_end(&text, -1);
    if (!tooltip_due() || end == text)
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(420.0f);
    widgets_flow(text, end);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

bool widgets_slot_tooltip_box(void)
{
    if (!widgets_enter_scope("tooltip_box", CALIPER_SCOPE_TOOLTIP, ""))
        return false;
    const bool due = tooltip_due();
    if (due)
        ImGui::BeginTooltip();
    widgets_push(CALIPER_SCOPE_TOOLTIP, due, "");
    return due;
}
