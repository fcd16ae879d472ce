/* services/widgets_layout.cpp: slots that place items, ask for room, and show text. Frame thread.
 */
#include "services/widgets_table.h"

#include <cstring>

/* The content corner of the region, moving with its scroll. */
static ImVec2 region_corner(void)
{
    return ImGui::GetCurrentWindow()->DC.CursorStartPos;
}

void widgets_slot_same_line(float x, float gap)
{
    if (!widgets_enter("same_line"))
        return;
    const ImGuiWindow *const window = ImGui::GetCurrentWindow();
    const float spacing = gap == 0.0f || !std::isfinite(gap) ? -1.0f : gap < 0.0f ? 0.0f : gap;
    if (!std::isfinite(x) || x <= 0.0f) {
        ImGui::SameLine(0.0f, spacing);
        return;
    }
    const float corner = region_corner().x - window->Pos.x + window->Scroll.x;
    ImGui::SameLine(corner + ImMin(x, 32768.0f), spacing < 0.0f ? 0.0f : spacing);
}

void widgets_slot_separator(const char *title)
{
    if (!widgets_enter("separator"))
        return;
    const char *const end = title != nullptr ? widgets_text_end(&title, -1) : title;
    if (title == nullptr || end == title) {
        ImGui::Separator();
        return;
    }
    ImGui::Spacing();
    ImGui::PushFont(ui_current->fonts[UI_FONT_SMALL]);
    ImGui::PushStyleColor(ImGuiCol_Text, ui_theme_color(CALIPER_THEME_TEXT_DIM));
    ImGui::TextUnformatted(title, end);
    ImGui::PopStyleColor();
    ImGui::PopFont();
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float right = ImGui::GetCurrentWindow()->WorkRect.Max.x;
    const float y = ImFloor((low.y + high.y) * 0.5f) + 0.5f;
    if (right > high.x + 10.0f)
        ImGui::GetWindowDrawList()->AddLine(ImVec2(high.x + 10.0f, y), ImVec2(right, y),
                                            ui_theme_color(CALIPER_THEME_BORDER));
}

void widgets_slot_space(float w, float h)
{
    if (!widgets_enter("space"))
        return;
    const float width = widgets_size_or(w, 0.0f), height = widgets_size_or(h, 0.0f);
    if (width == 0.0f && height == 0.0f)
        ImGui::Spacing();
    else
        ImGui::Dummy(ImVec2(ImMax(width, 0.0f), ImMax(height, 0.0f)));
}

void widgets_slot_remaining(float *out_w, float *out_h)
{
    ImVec2 room(0, 0);
    if (widgets_enter("remaining"))
        room = ImGui::GetContentRegionAvail();
    if (out_w != nullptr)
        *out_w = ImMax(room.x, 0.0f);
    if (out_h != nullptr)
        *out_h = ImMax(room.y, 0.0f);
}

void widgets_slot_cursor(float *out_x, float *out_y)
{
    ImVec2 at(0, 0);
    if (widgets_enter("cursor")) {
        const ImVec2 corner = region_corner(), cursor = ImGui::GetCursorScreenPos();
        at = ImVec2(cursor.x - corner.x, cursor.y - corner.y);
    }
    if (out_x != nullptr)
        *out_x = at.x;
    if (out_y != nullptr)
        *out_y = at.y;
}

void widgets_slot_set_cursor(float x, float y)
{
    if (!widgets_enter("set_cursor") || !std::isfinite(x) || !std::isfinite(y))
        return;
    constexpr float far = 16777216.0f;
    const ImVec2 corner = region_corner();
    ImGui::SetCursorScreenPos(
        ImVec2(corner.x + ImClamp(x, -far, far), corner.y + ImClamp(y, -far, far)));
}

void widgets_slot_scroll(float *out_y, float *out_max_y)
{
    const bool live = widgets_enter("scroll");
    if (out_y != nullptr)
        *out_y = live ? ImGui::GetScrollY() : 0.0f;
    if (out_max_y != nullptr)
        *out_max_y = live ? ImGui::GetScrollMaxY() : 0.0f;
}

void widgets_slot_set_scroll(float y)
{
    if (widgets_enter("set_scroll") && !std::isnan(y))
        ImGui::SetScrollY(ImClamp(y, 0.0f, 16777216.0f));
}

void widgets_slot_scroll_here(float ratio)
{
    if (widgets_enter("scroll_here"))
        ImGui::SetScrollHereY(std::isfinite(ratio) ? ImClamp(ratio, 0.0f, 1.0f) : 0.5f);
}

float widgets_slot_metric(uint32_t which)
{
    if (!widgets_may_call("metric"))
        return 0.0f;
    const ImGuiStyle &style = ImGui::GetStyle();
    switch (which) {
    case CALIPER_METRIC_DPI_SCALE:
        return ui_current->scale;
    case CALIPER_METRIC_FONT:
        return ImGui::GetFontSize();
    case CALIPER_METRIC_LINE:
        return ImGui::GetTextLineHeightWithSpacing();
    case CALIPER_METRIC_CONTROL:
        return ImGui::GetFrameHeight();
    case CALIPER_METRIC_MONO_CHAR:
        return ui_text_width(UI_FONT_MONO, "0");
    case CALIPER_METRIC_GAP_X:
        return style.ItemSpacing.x;
    case CALIPER_METRIC_GAP_Y:
        return style.ItemSpacing.y;
    case CALIPER_METRIC_INDENT:
        return style.IndentSpacing;
    default:
        return 0.0f;
    }
}

uint32_t widgets_slot_color(uint32_t which)
{
    return widgets_may_call("color") ? ui_theme_color(which) : 0;
}

void widgets_slot_text_size(const char *text, int64_t len, float wrap_w, uint32_t flags,
                            float *out_w, float *out_h)
{
    ImVec2 size(0, 0);
    if (widgets_may_call("text_size")) {
        const char *const end = widgets_text_end(&text, len);
        const ImFont *const font = widgets_font(flags);
        const float wrap = std::isfinite(wrap_w) && wrap_w > 0.0f ? wrap_w : 0.0f;
        size = font->CalcTextSizeA(widgets_font_size(font), FLT_MAX, wrap, text, end);
    }
    if (out_w != nullptr)
        *out_w = size.x;
    if (out_h != nullptr)
        *out_h = size.y;
}

/* ---- Text ---- */

/* Where the line that begins at `text` ends; at least one character, if there is one. */
static const char *wrapped_line(const ImFont *font, float scale, const char *text, const char *end,
                                float wrap)
{
    const char *stop = font->CalcWordWrapPositionA(scale, text, end, wrap);
    if (stop > text || text == end)
        return stop;
    do
        stop++;
    while (stop < end && (static_cast<unsigned char>(*stop) & 0xc0) == 0x80);
    return stop;
}

static void wrapped_lines(const char *text, const char *end, float wrap_at)
{
    ImGuiWindow *const window = ImGui::GetCurrentWindow();
    const ImFont *const font = ImGui::GetFont();
    const float size = ImGui::GetFontSize(), scale = size / font->FontSize;
    const ImVec2 start(window->DC.CursorPos.x,
                       window->DC.CursorPos.y + window->DC.CurrLineTextBaseOffset);
    const float wrap = ImGui::CalcWrapWidthForPos(window->DC.CursorPos, wrap_at);
    const ImU32 color = ImGui::GetColorU32(ImGuiCol_Text);
    float y = start.y, width = 0.0f;
    while (text < end) {
        const void *const found = std::memchr(text, '\n', static_cast<size_t>(end - text));
        const char *const line_end = found != nullptr ? static_cast<const char *>(found) : end;
        const char *const stop = wrapped_line(font, scale, text, line_end, wrap);
        if (y + size >= window->ClipRect.Min.y && y <= window->ClipRect.Max.y) {
            width = ImMax(width, font->CalcTextSizeA(size, FLT_MAX, 0.0f, text, stop).x);
            window->DrawList->AddText(font, size, ImVec2(start.x, y), color, text, stop);
        }
        y += size;
        /* Blanks that a line breaks at are not drawn, nor is the end of a line. */
        for (text = stop; text < line_end && ImCharIsBlankA(*text);)
            text++;
        if (text == line_end && text < end)
            text++;
    }
    const ImVec2 extent(width, y - start.y);
    ImGui::ItemSize(extent, 0.0f);
    ImGui::ItemAdd(ImRect(start, ImVec2(start.x + extent.x, start.y + extent.y)), 0);
}

void widgets_flow(const char *text, const char *end)
{
    constexpr ptrdiff_t whole_bytes = 8192;
    const float wrap_at = ImGui::GetCurrentWindow()->DC.TextWrapPos;
    if (end - text <= whole_bytes || wrap_at < 0.0f)
        ImGui::TextUnformatted(text, end);
    else if (!ImGui::GetCurrentWindow()->SkipItems)
        wrapped_lines(text, end, wrap_at);
}

void widgets_slot_text(const char *text)
{
    if (!widgets_enter("text"))
        return;
    const char *const end = widgets_text_end(&text, -1);
    widgets_flow(text, end);
}

/* Each line on its own, at the right edge or in the middle of what is left. */
static void aligned_lines(const char *text, const char *end, float share)
{
    const float room = ImGui::GetContentRegionAvail().x;
    while (text <= end) {
        const void *const found =
            text < end ? std::memchr(text, '\n', static_cast<size_t>(end - text)) : nullptr;
        const char *const stop = found != nullptr ? static_cast<const char *>(found) : end;
        const float width = ImGui::CalcTextSize(text, stop).x;
        if (room > width)
            ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (room - width) * share);
        ImGui::TextUnformatted(text, stop);
        text = stop + 1;
    }
}

void widgets_slot_text_ex(const char *text, int64_t len, uint32_t rgba, uint32_t flags)
{
    if (!widgets_enter("text_ex"))
        return;
    widgets_unknown_flags("text_ex", flags, 255);
    const char *const end = widgets_text_end(&text, len);
    constexpr uint32_t faces = CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL | CALIPER_TEXT_HEADING;
    const bool colored = rgba != 0 || (flags & CALIPER_TEXT_DIM) != 0;
    if (colored)
        ImGui::PushStyleColor(ImGuiCol_Text, widgets_color_or(rgba, CALIPER_THEME_TEXT_DIM));
    if ((flags & faces) != 0)
        ImGui::PushFont(const_cast<ImFont *>(widgets_font(flags)));
    if ((flags & CALIPER_TEXT_BULLET) != 0)
        ImGui::Bullet();
    if ((flags & CALIPER_TEXT_WRAP) != 0) {
        ImGui::PushTextWrapPos(0.0f);
        widgets_flow(text, end);
        ImGui::PopTextWrapPos();
    } else if ((flags & (CALIPER_TEXT_RIGHT | CALIPER_TEXT_CENTER)) != 0) {
        aligned_lines(text, end, (flags & CALIPER_TEXT_RIGHT) != 0 ? 1.0f : 0.5f);
    } else {
        widgets_flow(text, end);
    }
    if ((flags & faces) != 0)
        ImGui::PopFont();
    if (colored)
        ImGui::PopStyleColor();
}

/* The widest piece of a text that no space parts: it is never broken. */
static float widest_word(const char *text, const char *end)
{
    float widest = 0.0f;
    while (text < end) {
        const char *stop = text;
        while (stop < end && *stop != ' ' && *stop != '\n')
            stop++;
        widest = ImMax(widest, ImGui::CalcTextSize(text, stop).x);
        text = stop + 1;
    }
    return widest;
}

void widgets_slot_field(const char *label, const char *value)
{
    if (!widgets_enter("field"))
        return;
    const char *const label_end = widgets_text_end(&label, -1);
    const char *const value_end = widgets_text_end(&value, -1);
    const float room = ImGui::GetContentRegionAvail().x;
    const float start = ImGui::GetCursorPosX();
    ImGui::BeginGroup();
    ImGui::PushStyleColor(ImGuiCol_Text, ui_theme_color(CALIPER_THEME_TEXT_DIM));
    widgets_flow(label, label_end);
    ImGui::PopStyleColor();
    const float column = ImMax(ImMin(room * 0.4f, 140.0f), 60.0f);
    /* A long text is no number: it is only wrapped. */
    const float word = value_end - value <= 64 ? widest_word(value, value_end) : 0.0f;
    if (word <= room - column) {
        ImGui::SameLine(start + column, 0.0f);
        ImGui::PushTextWrapPos(0.0f);
        widgets_flow(value, value_end);
        ImGui::PopTextWrapPos();
    } else { /* a long number goes below its label, as far to the right as its end allows */
        ImGui::SetCursorPosX(start + ImMax(ImMin(column, room - word), 0.0f));
        ImGui::PushTextWrapPos(0.0f);
        widgets_flow(value, value_end);
        ImGui::PopTextWrapPos();
    }
    ImGui::EndGroup();
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Right))
        ui_clipboard_set(value);
    widgets_item_done();
}

const char *widgets_slot_icon(uint32_t which)
{
    static char text[UI_ICONS][4];
    if (which >= UI_ICONS || !widgets_may_call("icon"))
        return "";
    /* A code point of three bytes. */
    const unsigned code = UI_ICON_FIRST + which;
    text[which][0] = static_cast<char>(0xe0 | code >> 12);
    text[which][1] = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text[which][2] = static_cast<char>(0x80 | (code & 0x3f));
    return text[which];
}
