/* services/ui_items.cpp: the list of what the person can reach in a frame, for scripts and tests.
 * Frame thread. */
#include "services/ui_internal.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { ITEMS_MAX = 16384 };

void ui_items_listen(Ui *ui, bool on)
{
    ui->lists_items = on;
    if (!on)
        ui->item_count = 0;
}

const UiItem *ui_items(const Ui *ui, uint32_t *out_count)
{
    *out_count = ui->item_count;
    return ui->items;
}

static UiItem *add(Ui *ui)
{
    if (ui->item_count == ui->item_capacity) {
        const uint32_t wanted = ui->item_capacity * 2 + 256;
        UiItem *const bigger =
            wanted > ITEMS_MAX
                ? nullptr
                : static_cast<UiItem *>(std::realloc(ui->items, sizeof(UiItem) * wanted));
        if (bigger == nullptr)
            return nullptr;
        ui->items = bigger;
        ui->item_capacity = wanted;
    }
    return &ui->items[ui->item_count++];
}

/* What is made of several items (a colour, a number with buttons) has no id of its own. */
static bool holds_focus(const ImRect &box)
{
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    const ImGuiWindow *const window = ImGui::GetCurrentWindow();
    if (context->NavWindow != window || context->NavId == 0)
        return false;
    const ImRect &rel = window->NavRectRel[context->NavLayer];
    const ImVec2 middle = rel.GetCenter();
    return box.Contains(ImVec2(middle.x + window->Pos.x, middle.y + window->Pos.y));
}

/* The text of a label that is shown; where none is, its id, which says what the item is for. */
static void name_item(UiItem *item, const char *label)
{
    const char *end = ImGui::FindRenderedTextEnd(label);
    if (end == label) {
        while (*label == '#')
            label++;
        end = ImGui::FindRenderedTextEnd(label);
    }
    std::snprintf(item->label, sizeof item->label, "%.*s",
                  static_cast<int>(ImMin<ptrdiff_t>(end - label, sizeof item->label - 1)), label);
}

void ui_items_note(const char *kind, const char *label)
{
    Ui *const ui = ui_current;
    if (!ui->lists_items || ui->panel_hidden)
        return;
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    const ImGuiLastItemData &last = context->LastItemData;
    ImRect seen = last.Rect;
    seen.ClipWithFull(ImGui::GetCurrentWindow()->ClipRect);
    UiItem *const item = add(ui);
    if (item == nullptr)
        return;
    *item = UiItem();
    std::snprintf(item->kind, sizeof item->kind, "%s", kind);
    name_item(item, label);
    item->owner = ui->panel_owner;
    item->id = last.ID;
    item->x = seen.Min.x;
    item->y = seen.Min.y;
    item->w = seen.GetWidth();
    item->h = seen.GetHeight();
    item->enabled = (last.InFlags & ImGuiItemFlags_Disabled) == 0;
    item->in_sight = seen.GetWidth() > 0.0f && seen.GetHeight() > 0.0f;
    const bool shown = !context->NavDisableHighlight || context->ActiveId != 0;
    item->focused = shown && (last.ID != 0 ? context->NavId == last.ID : holds_focus(last.Rect));
}
