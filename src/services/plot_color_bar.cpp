/* services/plot_color_bar.cpp: the colour bar and a value's colour.
 * Frame thread. */
#include "services/plot_internal.h"
#include "services/widgets_table.h"

#include <cstdio>
#include <cstring>

static uint32_t entry_rgba(const uint8_t (*table)[4], int index)
{
    const uint8_t *const e = table[index];
    return static_cast<uint32_t>(e[0]) | static_cast<uint32_t>(e[1]) << 8 |
           static_cast<uint32_t>(e[2]) << 16 | static_cast<uint32_t>(e[3]) << 24;
}

uint32_t plot_slot_colormap(int32_t colormap, float v, float vmin, float vmax)
{
    const uint8_t(*const table)[4] = colormap_table(colormap);
    const float range = vmax - vmin;
    const float size = std::fabs(range);
    if (table == nullptr)
        return 0;
    /* The bridge's bounds: equal ends, or 2^-90 <= |range| <= 2^126. */
    if (vmin != vmax &&
        !(std::isfinite(vmin) && std::isfinite(vmax) && size >= 0x1p-90f && size <= 0x1p126f))
        return 0;
    const float inv = vmin == vmax ? 0.0f : 1.0f / range;
    uint8_t rgba[4];
    kernel_variants()[0].colormap(&v, rgba, 1, table, vmin, inv);
    uint32_t result;
    std::memcpy(&result, rgba, sizeof result);
    return result;
}

struct Bar {
    ImRect box;
    bool upright;
    bool reversed; /* vmin > vmax: entry 0 is at the far end */
};

static void draw_bar(ImDrawList *list, const Bar *bar, const uint8_t (*table)[4])
{
    constexpr int steps = 64; /* gradients between: the tables are smooth */
    const ImRect &box = bar->box;
    for (int i = 0; i < steps; i++) {
        const float from = static_cast<float>(i) / steps, to = static_cast<float>(i + 1) / steps;
        int a = i * 255 / steps, b = (i + 1) * 255 / steps;
        if (bar->reversed) {
            a = 255 - a;
            b = 255 - b;
        }
        const uint32_t low = entry_rgba(table, a), high = entry_rgba(table, b);
        if (bar->upright)
            list->AddRectFilledMultiColor(ImVec2(box.Min.x, box.Max.y - to * box.GetHeight()),
                                          ImVec2(box.Max.x, box.Max.y - from * box.GetHeight()),
                                          high, high, low, low);
        else
            list->AddRectFilledMultiColor(ImVec2(box.Min.x + from * box.GetWidth(), box.Min.y),
                                          ImVec2(box.Min.x + to * box.GetWidth(), box.Max.y), low,
                                          high, high, low);
    }
    list->AddRect(box.Min, box.Max, ui_theme_color(CALIPER_THEME_BORDER));
}

static void mark_text(double value, char *text, size_t text_bytes)
{
    std::snprintf(text, text_bytes, "%.5g", value);
}

static float mark_width(double value)
{
    char text[32];
    mark_text(value, text, sizeof text);
    return std::ceil(plot_text_size(text, 0.0f).x);
}

static void draw_mark(const Bar *bar, float share, double value, float align, float below)
{
    char text[32];
    mark_text(value, text, sizeof text);
    ImDrawList *const list = ImGui::GetWindowDrawList();
    const ImFont *const font = widgets_font(CALIPER_TEXT_SMALL);
    const float size = widgets_font_size(font);
    const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0.0f, text);
    const uint32_t color = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    const ImRect &box = bar->box;
    if (bar->upright) {
        const float y = box.Max.y - share * box.GetHeight();
        list->AddText(font, size, ImVec2(box.Max.x + 6.0f, y - extent.y * (1.0f - align)), color,
                      text);
    } else {
        const float x = box.Min.x + share * box.GetWidth();
        list->AddText(font, size, ImVec2(x - extent.x * align, box.Max.y + 3.0f + below), color,
                      text);
    }
}

/* Drags the nearer end: the value moves by the share of the bar that the pointer moves. */
static bool drag_ends(const Bar *bar, double *low, double *high)
{
    if (!ImGui::IsItemActive())
        return false;
    const ImGuiIO &io = ImGui::GetIO();
    const float length = bar->upright ? bar->box.GetHeight() : bar->box.GetWidth();
    const float moved = bar->upright ? -io.MouseDelta.y : io.MouseDelta.x;
    const ImVec2 start = io.MouseClickedPos[0];
    const float share =
        bar->upright ? (bar->box.Max.y - start.y) / length : (start.x - bar->box.Min.x) / length;
    if (moved == 0.0f || length < 1.0f)
        return false;
    double width = std::fabs(*high - *low);
    if (width == 0.0)
        width = *low != 0.0 ? std::fabs(*low) : 1.0;
    const double step = width * static_cast<double>(moved / length);
    double *const end = (share < 0.5f) != bar->reversed ? low : high;
    if (!std::isfinite(*end + step))
        return false;
    *end += step;
    return true;
}

bool plot_slot_color_bar(const char *label, int32_t colormap, double *vmin, double *vmax, float w,
                         float h, uint32_t flags)
{
    if (!widgets_enter("color_bar") || vmin == nullptr || vmax == nullptr)
        return false;
    widgets_unknown_flags("color_bar", flags, CALIPER_SERIES_DRAG | CALIPER_SERIES_VERTICAL);
    double low = *vmin, high = *vmax;
    const uint8_t(*const table)[4] = colormap_table(colormap);
    if (table == nullptr || !std::isfinite(low) || !std::isfinite(high)) {
        widgets_refuse("color_bar", "an unknown colormap, or an end that is not finite",
                       "CALIPER_CMAP_* and two finite ends");
        return false;
    }
    const char *const shown = widgets_label(label);
    const bool upright = (flags & CALIPER_SERIES_VERTICAL) != 0;
    const float line = ui_text_height(UI_FONT_SMALL) + 4.0f;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float thick = ImGui::GetTextLineHeight();
    float width = widgets_size_or(w, upright ? thick : room.x);
    float height = widgets_size_or(h, upright ? room.y : thick);
    width = ImMax(width < 0.0f ? room.x + width : width, 4.0f);
    height = ImMax(height < 0.0f ? room.y + height : height, 4.0f);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    Bar bar = {ImRect(at.x, at.y, at.x + width, at.y + height), upright, low > high};
    widgets_item_done();
    ImGui::BeginGroup();
    ImGui::InvisibleButton(shown, ImVec2(width, height));
    widgets_listed("color_bar", shown);
    bool changed = false;
    if ((flags & CALIPER_SERIES_DRAG) != 0) {
        if (ImGui::IsItemHovered() || ImGui::IsItemActive())
            ImGui::SetMouseCursor(upright ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
        changed = drag_ends(&bar, &low, &high);
    }
    draw_bar(ImGui::GetWindowDrawList(), &bar, table);
    /* Left (below) is always the smaller number; the colours turn instead. */
    const float least_w = mark_width(ImMin(low, high)), most_w = mark_width(ImMax(low, high));
    /* Where two numbers do not fit beside each other the second goes below, from the left. */
    const bool stacked = !upright && least_w + most_w + 8.0f > width;
    draw_mark(&bar, 0.0f, ImMin(low, high), 0.0f, 0.0f);
    if (stacked)
        draw_mark(&bar, 0.0f, ImMax(low, high), 0.0f, line);
    else
        draw_mark(&bar, 1.0f, ImMax(low, high), 1.0f, 0.0f);
    if (upright)
        ImGui::SameLine(0.0f, 6.0f);
    ImGui::Dummy(upright
                     ? ImVec2(ImMax(least_w, most_w), height)
                     : ImVec2(ImMax(width, stacked ? ImMax(least_w, most_w) : 0.0f),
                              (stacked ? 2.0f * line : line) - ImGui::GetStyle().ItemSpacing.y));
    ImGui::EndGroup();
    if (!changed)
        return false;
    *vmin = low;
    *vmax = high;
    return true;
}
