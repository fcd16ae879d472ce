/* services/plot_legend.cpp: the legend, whose entries hide their series, and the read-out at the
 * point under the pointer. Frame thread. */
#include "services/plot_internal.h"

#include <cmath>
#include <cstdio>
#include <cstring>

static constexpr float swatch = 16.0f, inset = 8.0f;

bool plot_is_hidden(const PlotState *state, ImGuiID id)
{
    for (int32_t i = 0; i < state->hidden_count; i++) {
        if (state->hidden[i] == id)
            return true;
    }
    return false;
}

void plot_set_hidden(PlotState *state, ImGuiID id, bool hidden)
{
    for (int32_t i = 0; i < state->hidden_count; i++) {
        if (state->hidden[i] != id)
            continue;
        if (!hidden)
            state->hidden[i] = state->hidden[--state->hidden_count];
        return;
    }
    if (!hidden)
        return;
    if (state->hidden_count == PLOT_HIDDEN_MAX) { /* the one hidden first comes back */
        std::memmove(state->hidden, state->hidden + 1,
                     sizeof state->hidden[0] * (PLOT_HIDDEN_MAX - 1));
        state->hidden_count--;
    }
    state->hidden[state->hidden_count++] = id;
}

static bool has_legend(const PlotFrame *frame)
{
    return (frame->flags & (CALIPER_PLOT_NO_LEGEND | CALIPER_PLOT_SPARK)) == 0;
}

/* Its width is wanted before the series come: what the last frame's labels needed. */
static ImGuiID width_id(const PlotFrame *frame)
{
    return ImHashStr("legend width", 0, frame->state->id);
}

float plot_legend_outside(const PlotFrame *frame, float room)
{
    if (!has_legend(frame) || (frame->flags & CALIPER_PLOT_LEGEND_OUTSIDE) == 0)
        return 0.0f;
    const float wanted = ImGui::GetStateStorage()->GetFloat(width_id(frame), 96.0f);
    return ImMin(wanted, ImMax(room * 0.5f, 0.0f));
}

static float widest_entry(const PlotFrame *frame)
{
    float widest = 0.0f;
    for (int32_t i = 0; i < frame->entry_count; i++)
        widest = ImMax(widest, plot_text_size(frame->entries[i].label, 0.0f).x);
    return widest;
}

/* Hidden or shown by a click, or by Enter where the keyboard is. */
static void entry_input(PlotFrame *frame, const PlotEntry *entry, const ImRect &box)
{
    ImGuiWindow *const window = ImGui::GetCurrentWindow();
    bool hovered = false, held = false;
    const ImGuiID id = ImHashStr("legend", 0, entry->id);
    if (!ImGui::ItemAdd(box, id))
        return;
    const bool pressed = ImGui::ButtonBehavior(box, id, &hovered, &held);
    widgets_listed("legend", entry->label);
    ImGui::RenderNavHighlight(box, id);
    if (hovered)
        window->DrawList->AddRectFilled(
            box.Min, box.Max, ui_fade(ui_theme_color(CALIPER_THEME_TEXT_DIM), 0.15f), 3.0f);
    if (pressed)
        plot_set_hidden(frame->state, entry->id, entry->shown);
}

static void draw_entry(const PlotEntry *entry, ImVec2 at, float line, float text_width)
{
    ImDrawList *const list = ImGui::GetWindowDrawList();
    const uint32_t color = entry->shown ? entry->color : ui_fade(entry->color, 0.3f);
    const uint32_t ink = entry->shown ? ui_theme_color(CALIPER_THEME_TEXT)
                                      : ui_fade(ui_theme_color(CALIPER_THEME_TEXT_DIM), 0.6f);
    const float middle = ImFloor(at.y + line * 0.5f);
    if (entry->look == PlotEntry::MARK)
        plot_draw_mark(list, entry->marker, ImVec2(at.x + swatch * 0.5f, middle), 7.0f, color);
    else if (entry->look == PlotEntry::SWATCH)
        list->AddRectFilled(ImVec2(at.x + 3.0f, middle - 4.0f), ImVec2(at.x + 12.0f, middle + 5.0f),
                            color, 2.0f);
    else
        list->AddLine(ImVec2(at.x, middle + 0.5f), ImVec2(at.x + swatch, middle + 0.5f), color,
                      2.0f);
    ui_text_at(UI_FONT_SMALL, at.x + swatch + 6.0f, at.y, text_width, ink, entry->label);
}

static ImVec2 corner_at(const PlotFrame *frame, int32_t corner, ImVec2 size)
{
    const ImRect &area = frame->area;
    return ImVec2(corner % 2 == 1 ? area.Max.x - size.x - inset : area.Min.x + inset,
                  corner <= 2 ? area.Min.y + inset : area.Max.y - size.y - inset);
}

/* The corner with the fewest samples, once for a plot: a legend that wanders would be worse. */
static int32_t choose_corner(PlotFrame *frame, ImVec2 size)
{
    PlotState *const state = frame->state;
    if (state->legend_corner != 0 || frame->samples.count == 0)
        return state->legend_corner != 0 ? state->legend_corner : 1;
    int64_t fewest = INT64_MAX;
    for (int32_t corner = 1; corner <= 4; corner++) {
        ImRect box(corner_at(frame, corner, size), ImVec2());
        box.Max = ImVec2(box.Min.x + size.x, box.Min.y + size.y);
        box.Expand(4.0f);
        int64_t inside = 0;
        for (int32_t i = 0; i < frame->item_count; i++) {
            const PlotItem *const item = &frame->items[i];
            for (int64_t k = item->first; k < item->first + item->count; k++) {
                const PlotSample *const sample = &frame->samples.items[k];
                const double px = plot_scale_to_px(&frame->axes[CALIPER_AXIS_X1].px, sample->x);
                const double py = plot_scale_to_px(&frame->axes[item->axis_y].px, sample->y);
                inside += std::isfinite(px + py) &&
                          box.Contains(ImVec2(static_cast<float>(px), static_cast<float>(py)));
            }
        }
        if (inside < fewest) {
            fewest = inside;
            state->legend_corner = corner;
        }
    }
    return state->legend_corner;
}

void plot_draw_legend(PlotFrame *frame)
{
    if (!has_legend(frame) || frame->entry_count == 0)
        return;
    const bool outside = (frame->flags & CALIPER_PLOT_LEGEND_OUTSIDE) != 0;
    const float line = plot_text_size("0", 0.0f).y + 3.0f;
    const float wanted = widest_entry(frame) + swatch + 6.0f + 2.0f * inset;
    if (outside)
        ImGui::GetStateStorage()->SetFloat(width_id(frame), wanted + 6.0f);
    const float width = outside ? ImMax(frame->legend_width - 6.0f, 0.0f)
                                : ImMin(wanted, frame->area.GetWidth() * 0.6f);
    const float room =
        outside ? frame->box.Max.y - frame->area.Min.y : frame->area.GetHeight() - 2.0f * inset;
    const int32_t most = static_cast<int32_t>((room - 8.0f) / line);
    const int32_t shown = ImMin(frame->entry_count, ImMax(most, 1));
    if (width < swatch + 2.0f * inset || most < 1)
        return;
    const ImVec2 size(width, static_cast<float>(shown) * line + 7.0f);
    const ImVec2 low = outside ? ImVec2(frame->box.Max.x - width, frame->area.Min.y)
                               : corner_at(frame, choose_corner(frame, size), size);
    const ImRect box(low.x, low.y, low.x + size.x, low.y + size.y);
    ImDrawList *const list = ImGui::GetWindowDrawList();
    if (!outside) {
        list->AddRectFilled(box.Min, box.Max,
                            ui_fade(ImGui::GetColorU32(ImGuiCol_PopupBg) | 0xff000000u, 0.86f),
                            4.0f);
        list->AddRect(box.Min, box.Max, ui_theme_color(CALIPER_THEME_BORDER), 4.0f);
    }
    for (int32_t i = 0; i < shown; i++) {
        const PlotEntry *const entry = &frame->entries[i];
        const ImVec2 at(box.Min.x + inset, box.Min.y + 4.0f + static_cast<float>(i) * line);
        if ((frame->flags & CALIPER_PLOT_NO_INPUT) == 0)
            entry_input(frame, entry,
                        ImRect(box.Min.x + 3.0f, at.y, box.Max.x - 3.0f, at.y + line));
        draw_entry(entry, at, line, width - swatch - 6.0f - 2.0f * inset);
    }
}

/* ---- Read-out ---- */

static void draw_crosshair(const PlotFrame *frame)
{
    if ((frame->flags & CALIPER_PLOT_CROSSHAIR) == 0 || !plot_pointer_in(frame))
        return;
    const ImVec2 at = ImGui::GetIO().MousePos;
    const uint32_t ink = ui_fade(ui_theme_color(CALIPER_THEME_TEXT_DIM), 0.5f);
    ImDrawList *const list = ImGui::GetWindowDrawList();
    list->AddLine(ImVec2(at.x, frame->area.Min.y), ImVec2(at.x, frame->area.Max.y), ink);
    list->AddLine(ImVec2(frame->area.Min.x, at.y), ImVec2(frame->area.Max.x, at.y), ink);
}

void plot_draw_readout(const PlotFrame *frame)
{
    const PlotNear *const near = &frame->near;
    draw_crosshair(frame);
    if (!near->found || ImGui::GetDragDropPayload() != nullptr)
        return;
    if (near->ring) {
        const double px = plot_scale_to_px(&frame->axes[CALIPER_AXIS_X1].px, near->x);
        const double py = plot_scale_to_px(&frame->axes[near->axis_y].px, near->y);
        const ImVec2 at(static_cast<float>(px), static_cast<float>(py));
        if (std::isfinite(px + py) && frame->area.Contains(at)) {
            ImDrawList *const list = ImGui::GetWindowDrawList();
            list->AddCircleFilled(at, 4.5f, ui_theme_color(CALIPER_THEME_BACKGROUND));
            list->AddCircle(at, 4.5f, near->color, 0, 2.0f);
        }
    }
    ImGui::BeginTooltip();
    if (near->title[0] != '\0') {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float line = ImGui::GetTextLineHeight();
        ImGui::GetWindowDrawList()->AddCircleFilled(ImVec2(at.x + 4.0f, at.y + line * 0.5f), 4.0f,
                                                    near->color);
        ImGui::SetCursorScreenPos(ImVec2(at.x + 14.0f, at.y));
        ImGui::TextUnformatted(near->title);
    }
    for (const char *const text : near->lines) {
        if (text[0] != '\0')
            ImGui::TextUnformatted(text);
    }
    ImGui::EndTooltip();
}
