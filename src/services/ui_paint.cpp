/* services/ui_paint.cpp: shapes, texts and hit areas for the shell's pages. Frame thread. */
#include "services/ui_paint.h"

#include <caliper/services/widgets_v1.h>

#include "services/ui_internal.h"

#include <cmath>
#include <cstring>

static ImDrawList *list(void)
{
    return ImGui::GetWindowDrawList();
}

void ui_region_begin(const char *name, float x, float y, float w, float h, uint32_t flags)
{
    ImGuiWindowFlags window_flags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                    ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                                    ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus |
                                    ImGuiWindowFlags_NoFocusOnAppearing; /* panels keep the keys */
    if ((flags & UI_REGION_FILLED) == 0)
        window_flags |= ImGuiWindowFlags_NoBackground;
    if ((flags & UI_REGION_SCROLL) == 0)
        window_flags |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    if ((flags & UI_REGION_BEHIND) != 0)
        window_flags |= ImGuiWindowFlags_NoInputs;
    if ((flags & UI_REGION_FOCUS) != 0)
        ImGui::SetNextWindowFocus();
    ImGui::SetNextWindowPos(ImVec2(x, y));
    ImGui::SetNextWindowSize(ImVec2(w > 1 ? w : 1, h > 1 ? h : 1));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
    if ((flags & UI_REGION_PADDED) == 0)
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_theme_color(CALIPER_THEME_BACKGROUND));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
    ImGui::Begin(name, nullptr, window_flags);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::PopStyleVar((flags & UI_REGION_PADDED) == 0 ? 3 : 2);
    if ((flags & UI_REGION_BEHIND) != 0)
        ui_current->behind = ImGui::GetCurrentWindow();
    ui_focus_stops_begin();
}

void ui_region_end(void)
{
    ui_focus_stops_end();
    ImGui::End();
}

bool ui_region_focused(void)
{
    return ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
}

void ui_region_set_scroll(float y)
{
    ImGui::SetScrollY(y);
}

float ui_region_scroll(void)
{
    return ImGui::GetScrollY();
}

void ui_region_content(float height)
{
    const ImGuiWindow *const window = ImGui::GetCurrentWindow();
    ImGui::SetCursorScreenPos(ImVec2(window->Pos.x, window->Pos.y - window->Scroll.y + height));
    ImGui::Dummy(ImVec2(1, 0));
}

void ui_rect(float x, float y, float w, float h, float rounding, uint32_t rgba)
{
    list()->AddRectFilled(ImVec2(x, y), ImVec2(x + w, y + h), rgba, rounding);
}

void ui_frame_rect(float x, float y, float w, float h, float rounding, float width, uint32_t rgba)
{
    list()->AddRect(ImVec2(x, y), ImVec2(x + w, y + h), rgba, rounding, 0, width);
}

void ui_gradient(float x, float y, float w, float h, uint32_t top_rgba, uint32_t bottom_rgba)
{
    list()->AddRectFilledMultiColor(ImVec2(x, y), ImVec2(x + w, y + h), top_rgba, top_rgba,
                                    bottom_rgba, bottom_rgba);
}

void ui_line(float x0, float y0, float x1, float y1, float width, uint32_t rgba)
{
    list()->AddLine(ImVec2(x0, y0), ImVec2(x1, y1), rgba, width);
}

void ui_disc(float x, float y, float radius, uint32_t rgba)
{
    list()->AddCircleFilled(ImVec2(x, y), radius, rgba, 0);
}

void ui_shadow(float x, float y, float w, float h, float rounding, float spread, uint32_t rgba)
{
    enum { STEPS = 6 };
    const uint32_t alpha = (rgba >> 24) / STEPS;
    const uint32_t step_rgba = (rgba & 0x00ffffffu) | alpha << 24;
    for (int i = 0; i < STEPS; i++) {
        const float grow = spread * static_cast<float>(i + 1) / STEPS;
        ui_rect(x - grow, y - grow + spread * 0.4f, w + 2 * grow, h + 2 * grow, rounding + grow,
                step_rgba);
    }
}

void ui_picture(CaliperTextureId texture, float x, float y, float w, float h, bool linear,
                uint32_t tint_rgba)
{
    list()->AddImage(ui_texture_id(texture, linear), ImVec2(x, y), ImVec2(x + w, y + h),
                     ImVec2(0, 0), ImVec2(1, 1), tint_rgba);
}

/* ---- Text ---- */

static const ImFont *font_of(UiFont font)
{
    return ui_current->fonts[font < UI_FONT_COUNT ? font : UI_FONT_BODY];
}

static float size_of(UiFont font)
{
    return font_of(font)->FontSize / ui_current->scale;
}

float ui_text_width(UiFont font, const char *text)
{
    return font_of(font)->CalcTextSizeA(size_of(font), FLT_MAX, 0.0f, text).x;
}

float ui_text_height(UiFont font)
{
    return size_of(font);
}

float ui_text_at(UiFont font, float x, float y, float max_w, uint32_t rgba, const char *text)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    const ImFont *const face = font_of(font);
    const float size = size_of(font);
    const char *const end = text + std::strlen(text);
    const float width = face->CalcTextSizeA(size, FLT_MAX, 0.0f, text, end).x;
    if (max_w <= 0.0f || width <= max_w) {
        list()->AddText(face, size, ImVec2(x, y), rgba, text, end);
        return width;
    }
    const float ellipsis_width = face->CalcTextSizeA(size, FLT_MAX, 0.0f, ellipsis).x;
    const char *cut = text;
    const float kept =
        face->CalcTextSizeA(size, ImMax(max_w - ellipsis_width, 1.0f), 0.0f, text, end, &cut).x;
    list()->AddText(face, size, ImVec2(x, y), rgba, text, cut);
    list()->AddText(face, size, ImVec2(x + kept, y), rgba, ellipsis);
    return kept + ellipsis_width;
}

float ui_text_block(UiFont font, float x, float y, float max_w, int32_t max_lines, uint32_t rgba,
                    const char *text)
{
    const ImFont *const face = font_of(font);
    const float size = size_of(font);
    const float line_height = std::ceil(size * 1.35f);
    const char *const end = text + std::strlen(text);
    float used = 0.0f;
    for (int32_t line = 0; line < max_lines && text < end; line++) {
        const char *stop = face->CalcWordWrapPositionA(size / face->FontSize, text, end, max_w);
        if (stop == text)
            stop++;
        if (line == max_lines - 1 && stop < end) {
            ui_text_at(font, x, y + used, max_w, rgba, text);
            return used + line_height;
        }
        list()->AddText(face, size, ImVec2(x, y + used), rgba, text, stop);
        used += line_height;
        text = stop;
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
    }
    return used;
}

/* ---- Hits ---- */

uint32_t ui_hit(const char *id, float x, float y, float w, float h, bool hand)
{
    const ImVec2 before = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos(ImVec2(x, y));
    const bool clicked = ImGui::InvisibleButton(id, ImVec2(w > 1 ? w : 1, h > 1 ? h : 1));
    ui_items_note("button", id);
    ImGui::RenderNavHighlight(ImRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax()),
                              ImGui::GetItemID());
    uint32_t bits = clicked ? UI_HIT_CLICKED : UI_HIT_NONE;
    if (ImGui::IsItemHovered()) {
        bits |= UI_HIT_HOVERED;
        if (hand)
            ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    }
    if (ImGui::IsItemActive())
        bits |= UI_HIT_HELD;
    ImGui::SetCursorScreenPos(before);
    return bits;
}

void ui_hit_tooltip(const char *text)
{
    if (!ImGui::IsItemHovered())
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(360.0f);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

/* ---- Colours ---- */

uint32_t ui_mix(uint32_t a, uint32_t b, float t)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        const float from = static_cast<float>(a >> shift & 0xffu);
        const float to = static_cast<float>(b >> shift & 0xffu);
        mixed |= static_cast<uint32_t>(from + (to - from) * t + 0.5f) << shift;
    }
    return mixed;
}

uint32_t ui_fade(uint32_t rgba, float alpha)
{
    const float own = static_cast<float>(rgba >> 24);
    return (rgba & 0x00ffffffu) | static_cast<uint32_t>(own * alpha + 0.5f) << 24;
}
