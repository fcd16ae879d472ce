/* services/widgets_control.cpp: buttons, ticks, choices, colours, progress. Frame thread. */
#include "services/widgets_table.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static ImVec4 to_vec4(uint32_t rgba)
{
    return ImGui::ColorConvertU32ToFloat4(rgba);
}

static uint32_t contrast_text(uint32_t on)
{
    const uint32_t luma = (on & 0xffu) * 3 + (on >> 8 & 0xffu) * 6 + (on >> 16 & 0xffu);
    return luma > 1400 ? 0xff16110eu : 0xffffffffu;
}

/* Colours of a button's kind; returns how many were pushed. */
static int push_button_colors(uint32_t flags)
{
    if ((flags & (CALIPER_BUTTON_PRIMARY | CALIPER_BUTTON_DANGER)) != 0) {
        const uint32_t base = ui_theme_color(
            (flags & CALIPER_BUTTON_DANGER) != 0 ? CALIPER_THEME_BAD : CALIPER_THEME_ACCENT);
        ImGui::PushStyleColor(ImGuiCol_Button, to_vec4(base));
        ImGui::PushStyleColor(ImGuiCol_ButtonHovered, to_vec4(ui_mix(base, 0xffffffffu, 0.15f)));
        ImGui::PushStyleColor(ImGuiCol_ButtonActive, to_vec4(ui_mix(base, 0xff000000u, 0.12f)));
        ImGui::PushStyleColor(ImGuiCol_Text, to_vec4(contrast_text(base)));
        return 4;
    }
    if ((flags & CALIPER_BUTTON_FLAT) != 0) {
        ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
        return 1;
    }
    return 0;
}

bool widgets_slot_button(const char *label, float w, float h, uint32_t flags)
{
    if (!widgets_enter("button"))
        return false;
    widgets_unknown_flags("button", flags, 31);
    const char *const shown = widgets_label(label);
    const int colors = push_button_colors(flags);
    const bool small = (flags & CALIPER_BUTTON_SMALL) != 0;
    if (small)
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(7, 1));
    if ((flags & CALIPER_BUTTON_REPEAT) != 0)
        ImGui::PushButtonRepeat(true);
    widgets_item(0.0f);
    const bool pressed =
        ImGui::Button(shown, ImVec2(widgets_size_or(w, 0.0f), widgets_size_or(h, 0.0f)));
    widgets_listed("button", shown);
    if ((flags & CALIPER_BUTTON_REPEAT) != 0)
        ImGui::PopButtonRepeat();
    if (small)
        ImGui::PopStyleVar();
    ImGui::PopStyleColor(colors);
    return pressed;
}

bool widgets_slot_checkbox(const char *label, bool *v)
{
    if (!widgets_enter("checkbox") || v == nullptr)
        return false;
    bool value = *v;
    const char *const shown = widgets_label(label);
    widgets_item(0.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(4, 3));
    const bool changed = ImGui::Checkbox(shown, &value);
    widgets_listed("checkbox", shown);
    ImGui::PopStyleVar();
    if (changed)
        *v = value;
    return changed;
}

bool widgets_slot_radio(const char *label, int32_t *v, int32_t value)
{
    if (!widgets_enter("radio") || v == nullptr)
        return false;
    const bool on = *v == value;
    const char *const shown = widgets_label(label);
    widgets_item(0.0f);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(4, 3));
    const bool pressed = ImGui::RadioButton(shown, on);
    widgets_listed("radio", shown);
    ImGui::PopStyleVar();
    if (!pressed || on)
        return false;
    *v = value;
    return true;
}

bool widgets_slot_selectable(const char *label, bool selected, float w, float h, uint32_t flags)
{
    if (!widgets_enter("selectable"))
        return false;
    widgets_unknown_flags("selectable", flags, 7);
    const char *const shown = widgets_label(label);
    ImGuiSelectableFlags own = 0;
    /* In a table, but outside of its cells, there is nothing to span. */
    const ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if ((flags & CALIPER_SELECT_ALL_COLUMNS) != 0 &&
        (table == nullptr || table->CurrentColumn >= 0))
        own |= ImGuiSelectableFlags_SpanAllColumns;
    if ((flags & CALIPER_SELECT_KEEP_POPUP) != 0)
        own |= ImGuiSelectableFlags_DontClosePopups;
    if ((flags & CALIPER_SELECT_OVERLAP) != 0)
        own |= ImGuiSelectableFlags_AllowItemOverlap;
    widgets_item(0.0f);
    const bool pressed = ImGui::Selectable(
        shown, selected, own,
        ImVec2(ImMax(widgets_size_or(w, 0.0f), 0.0f), ImMax(widgets_size_or(h, 0.0f), 0.0f)));
    widgets_listed("selectable", shown);
    return pressed;
}

/* ---- Choices ---- */

static bool contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && std::tolower(static_cast<unsigned char>(text[i])) ==
                                      std::tolower(static_cast<unsigned char>(part[i])))
            i++;
        if (part[i] == '\0')
            return true;
    }
    return part[0] == '\0';
}

enum { FILTER_FROM = 13 }; /* entries that get a filter line */

/* Of the one combo that is open: what was typed, and which entries hold it. */
struct OpenCombo {
    char filter[64], looked_for[64];
    const char *const *items;
    int32_t count, match_count, capacity;
    int32_t *matches;
    uint32_t frames;
    float widest; /* of the entries seen so far */
};
static OpenCombo combo;

static const char *entry_text(const char *const *items, int32_t i)
{
    const char *text = items[i];
    widgets_text_end(&text, -1); /* a bad pointer faults here */
    return text;
}

/* Looks through all entries when something changed, and now and then, since the applet may give
 * other texts at the same place. */
static void find_matches(const char *const *items, int32_t count)
{
    enum { LOOK_AGAIN_FRAMES = 30 };
    if (combo.items == items && combo.count == count && combo.frames++ % LOOK_AGAIN_FRAMES != 0 &&
        std::strcmp(combo.filter, combo.looked_for) == 0)
        return;
    if (count > combo.capacity) {
        int32_t *const bigger = static_cast<int32_t *>(
            std::realloc(combo.matches, sizeof(int32_t) * static_cast<size_t>(count)));
        if (bigger == nullptr) {
            log_item(OUT_OF_MEMORY, "combo", sizeof(int32_t) * 1ull * static_cast<size_t>(count));
            return;
        }
        combo.matches = bigger;
        combo.capacity = count;
    }
    combo.items = items;
    combo.count = count;
    std::memcpy(combo.looked_for, combo.filter, sizeof combo.filter);
    combo.match_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (contains(entry_text(items, i), combo.filter))
            combo.matches[combo.match_count++] = i;
    }
}

/* One row; true when it was chosen. */
static bool combo_entry(const char *text, int32_t i, bool chosen)
{
    ImGui::PushID(i);
    const bool pressed = ImGui::Selectable("##item", chosen);
    widgets_listed("entry", text);
    ImGui::SameLine(0.0f, 0.0f);
    ImGui::TextUnformatted(text);
    combo.widest = ImMax(combo.widest, ImGui::GetItemRectSize().x);
    ImGui::PopID();
    return pressed;
}

/* The entries in sight of those that match. Answers the chosen one, or -1. */
static int32_t combo_entries(const char *const *items, int32_t count, int32_t chosen)
{
    const bool filtered = count >= FILTER_FROM && combo.filter[0] != '\0';
    int32_t picked = -1;
    if (filtered)
        find_matches(items, count);
    const int64_t rows = filtered ? combo.match_count : count;
    int64_t first = 0, end = 0;
    while (widgets_slot_rows(rows, 0, &first, &end)) {
        for (int64_t row = first; row < end; row++) {
            const int32_t i = filtered ? combo.matches[row] : static_cast<int32_t>(row);
            if (combo_entry(entry_text(items, i), i, i == chosen))
                picked = i;
        }
    }
    return picked;
}

/* A line to type in; Enter takes the first match. */
static int32_t combo_filter(const char *const *items, int32_t count, bool appearing)
{
    if (appearing)
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-FLT_MIN);
    const bool entered =
        ImGui::InputTextWithHint("##filter", "filter", combo.filter, sizeof combo.filter,
                                 ImGuiInputTextFlags_EnterReturnsTrue);
    widgets_listed("input_text", "filter");
    if (!entered || combo.filter[0] == '\0')
        return -1;
    find_matches(items, count);
    if (combo.match_count == 0)
        return -1;
    ImGui::CloseCurrentPopup();
    return combo.matches[0];
}

bool widgets_slot_combo(const char *label, int32_t *index, const char *const *items, int32_t count,
                        uint32_t flags)
{
    if (!widgets_enter("combo") || index == nullptr)
        return false;
    if (widgets.depth + 2 > WIDGETS_SCOPES_MAX) {
        widgets_refuse("combo", "more than 256 nested scopes", "fewer; the rest is not drawn");
        return false;
    }
    widgets_unknown_flags("combo", flags, 0);
    const int32_t total = items != nullptr && count > 0 ? count : 0;
    const int32_t chosen = *index;
    const char *const preview = chosen >= 0 && chosen < total ? entry_text(items, chosen) : "";
    const char *const shown = widgets_label(label);
    widgets_item(0.0f);
    const bool open = ImGui::BeginCombo(shown, preview, ImGuiComboFlags_HeightLarge);
    if (!open) {
        widgets_listed("combo", shown);
        return false;
    }
    widgets_push(CALIPER_SCOPE_COMBO, true, label); /* closed also when an entry faults */
    const bool appearing = ImGui::IsWindowAppearing();
    if (appearing) {
        combo.filter[0] = '\0';
        combo.items = nullptr;
        combo.widest = ImGui::GetWindowContentRegionMax().x;
    }
    int32_t picked = -1;
    const float row = ImGui::GetTextLineHeightWithSpacing();
    const bool long_list = total >= FILTER_FROM;
    if (long_list) { /* below the filter line, in a region that scrolls by itself */
        picked = combo_filter(items, total, appearing);
        const float width = ImMax(combo.widest + 24.0f, 160.0f);
        ImGui::BeginChild("##list", ImVec2(width, row * ImMin(16.0f, static_cast<float>(total))),
                          false, ImGuiWindowFlags_NavFlattened);
        widgets_push(CALIPER_SCOPE_CHILD, true, label);
    }
    if (appearing && chosen > 0 && chosen < total)
        ImGui::SetScrollY(ImMax((static_cast<float>(chosen) - 6.0f) * row, 0.0f));
    const int32_t clicked = combo_entries(items, total, chosen);
    if (long_list) {
        const bool done = clicked >= 0;
        widgets_end_scope(CALIPER_SCOPE_CHILD);
        if (done) /* a row closes only the region that it lies in */
            ImGui::CloseCurrentPopup();
    }
    picked = clicked >= 0 ? clicked : picked;
    widgets_end_scope(CALIPER_SCOPE_COMBO);
    if (picked < 0 || picked == chosen)
        return false;
    *index = picked;
    return true;
}

void widgets_control_stop(void)
{
    std::free(combo.matches);
    combo = OpenCombo();
}

bool widgets_slot_combo_list(const char *label, const char *preview, uint32_t flags)
{
    if (!widgets_enter_scope("combo_list", CALIPER_SCOPE_COMBO, label))
        return false;
    widgets_unknown_flags("combo_list", flags, 0);
    widgets_text_end(&preview, -1);
    const char *const shown = widgets_label(label);
    widgets_item(0.0f);
    const bool open = ImGui::BeginCombo(shown, preview, ImGuiComboFlags_HeightLarge);
    if (!open)
        widgets_listed("combo_list", shown);
    widgets_push(CALIPER_SCOPE_COMBO, open, label);
    return open;
}

bool widgets_slot_color_edit(const char *label, uint32_t *rgba, uint32_t flags)
{
    if (!widgets_enter("color_edit") || rgba == nullptr)
        return false;
    widgets_unknown_flags("color_edit", flags, 3);
    const uint32_t before = *rgba;
    ImVec4 value = to_vec4(before);
    const char *const shown = widgets_label(label);
    ImGuiColorEditFlags own = ImGuiColorEditFlags_AlphaPreviewHalf;
    own |= (flags & CALIPER_COLOR_NO_ALPHA) != 0 ? ImGuiColorEditFlags_NoAlpha
                                                 : ImGuiColorEditFlags_AlphaBar;
    if ((flags & CALIPER_COLOR_SWATCH) != 0)
        own |= ImGuiColorEditFlags_NoInputs;
    widgets_item(0.0f);
    const bool edited = ImGui::ColorEdit4(shown, &value.x, own);
    widgets_listed("color_edit", shown);
    if (!edited)
        return false;
    uint32_t after = ImGui::ColorConvertFloat4ToU32(value);
    if ((flags & CALIPER_COLOR_NO_ALPHA) != 0)
        after = (after & 0x00ffffffu) | (before & 0xff000000u);
    if (after == before)
        return false;
    *rgba = after;
    return true;
}

/* A band that runs along the bar: something goes on, nobody knows how long. */
static void busy_bar(ImVec2 size, const char *overlay)
{
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    ImDrawList *const list = ImGui::GetWindowDrawList();
    const float rounding = ImGui::GetStyle().FrameRounding;
    const ImVec2 end(at.x + size.x, at.y + size.y);
    list->AddRectFilled(at, end, ImGui::GetColorU32(ImGuiCol_FrameBg), rounding);
    const double turn = ImGui::GetTime() * 0.6;
    const float share = static_cast<float>(turn - std::floor(turn));
    const float from = at.x + size.x * (share * 1.3f - 0.3f);
    list->AddRectFilled(ImVec2(ImMax(from, at.x), at.y),
                        ImVec2(ImMin(from + size.x * 0.3f, end.x), end.y),
                        ImGui::GetColorU32(ImGuiCol_PlotHistogram), rounding);
    if (overlay != nullptr) {
        const ImVec2 text = ImGui::CalcTextSize(overlay);
        list->AddText(ImVec2(at.x + (size.x - text.x) / 2, at.y + (size.y - text.y) / 2),
                      ImGui::GetColorU32(ImGuiCol_Text), overlay);
    }
}

void widgets_slot_progress(double fraction, const char *overlay, float w, float h)
{
    if (!widgets_enter("progress"))
        return;
    if (overlay != nullptr)
        widgets_text_end(&overlay, -1);
    const ImVec2 size =
        ImGui::CalcItemSize(ImVec2(widgets_size_or(w, -FLT_MIN), widgets_size_or(h, 0.0f)),
                            ImGui::CalcItemWidth(), ImGui::GetFrameHeight());
    widgets_item_done();
    if (std::isnan(fraction))
        busy_bar(size, overlay);
    else
        ImGui::ProgressBar(static_cast<float>(ImClamp(fraction, 0.0, 1.0)), size, overlay);
}
