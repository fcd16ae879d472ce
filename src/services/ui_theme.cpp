/* services/ui_theme.cpp: the colours and measures of Caliper's dark and light themes.
 * Frame thread. */
#include "services/ui_internal.h"

#include <caliper/services/widgets_v1.h>

struct Theme {
    uint32_t text, text_dim, background, panel, popup, control, control_hover, control_active;
    uint32_t accent, border, good, warn, bad;
};

static constexpr uint32_t rgb(uint32_t value)
{
    return 0xff000000u | (value & 0x00ff00u) | (value & 0xffu) << 16 | (value >> 16 & 0xffu);
}

/* Text on panel has a contrast of at least 4.5 : 1 in both, dim text included. */
static const Theme dark = {
    rgb(0xe7eaf0), rgb(0x98a2b3), rgb(0x0e1116), rgb(0x151a21), rgb(0x1b212a),
    rgb(0x222a35), rgb(0x2b3543), rgb(0x344052), rgb(0x63b3f2), rgb(0x29313d),
    rgb(0x5cc98d), rgb(0xe8b75a), rgb(0xf07575),
};
static const Theme light = {
    rgb(0x1a1f27), rgb(0x5a6474), rgb(0xeef1f5), rgb(0xffffff), rgb(0xffffff),
    rgb(0xe6eaf0), rgb(0xd9dfe8), rgb(0xcbd4e0), rgb(0x1c6fc4), rgb(0xd3dae3),
    rgb(0x1f8a52), rgb(0x94640a), rgb(0xc43636),
};

/* Ten hues that stay apart for most kinds of colour vision, of like lightness. */
static const uint32_t series_dark[10] = {
    rgb(0x63b3f2), rgb(0xf2a65a), rgb(0x6fd08c), rgb(0xe77f9b), rgb(0xb59bf0),
    rgb(0xd9c75b), rgb(0x5fd0cb), rgb(0xf08a6c), rgb(0x9bb7d4), rgb(0xd59ad6),
};
static const uint32_t series_light[10] = {
    rgb(0x1c6fc4), rgb(0xc26a10), rgb(0x23854a), rgb(0xbf3a62), rgb(0x6d4bc4),
    rgb(0x8a7610), rgb(0x12807c), rgb(0xc04a28), rgb(0x4a6787), rgb(0x96429a),
};

static const Theme *current_theme(void)
{
    return ui_current != nullptr && ui_current->light ? &light : &dark;
}

uint32_t ui_theme_color(uint32_t which)
{
    const Theme *const theme = current_theme();
    switch (which) {
    case CALIPER_THEME_TEXT_DIM:
        return theme->text_dim;
    case CALIPER_THEME_BACKGROUND:
        return theme->background;
    case CALIPER_THEME_CONTROL:
        return theme->control;
    case CALIPER_THEME_ACCENT:
        return theme->accent;
    case CALIPER_THEME_BORDER:
        return theme->border;
    case CALIPER_THEME_GOOD:
        return theme->good;
    case CALIPER_THEME_WARN:
        return theme->warn;
    case CALIPER_THEME_BAD:
        return theme->bad;
    default:
        break;
    }
    if (which >= CALIPER_THEME_SERIES && which < CALIPER_THEME_SERIES + 10u)
        return (theme == &light ? series_light : series_dark)[which - CALIPER_THEME_SERIES];
    return theme->text;
}

static void apply_measures(ImGuiStyle *style)
{
    style->WindowPadding = ImVec2(12, 10);
    style->FramePadding = ImVec2(10, 4);
    style->CellPadding = ImVec2(8, 3);
    style->ItemSpacing = ImVec2(8, 6);
    style->ItemInnerSpacing = ImVec2(8, 5);
    style->IndentSpacing = 18;
    style->ScrollbarSize = 11;
    style->GrabMinSize = 12;
    style->WindowRounding = 8;
    style->ChildRounding = 6;
    style->FrameRounding = 5;
    style->PopupRounding = 6;
    style->ScrollbarRounding = 6;
    style->GrabRounding = 4;
    style->TabRounding = 5;
    style->WindowBorderSize = 1;
    style->ChildBorderSize = 1;
    style->PopupBorderSize = 1;
    style->FrameBorderSize = 0;
    style->WindowTitleAlign = ImVec2(0.0f, 0.5f);
    style->SelectableTextAlign = ImVec2(0.0f, 0.5f);
    style->DisabledAlpha = 0.45f;
    style->AntiAliasedLinesUseTex = false;
}

static ImVec4 color(uint32_t rgba, float alpha = 1.0f)
{
    ImVec4 value = ImGui::ColorConvertU32ToFloat4(rgba);
    value.w *= alpha;
    return value;
}

void ui_theme_apply(const Ui *ui, ImGuiStyle *style)
{
    const Theme *const theme = ui->light ? &light : &dark;
    apply_measures(style);
    ImVec4 *const c = style->Colors;
    c[ImGuiCol_Text] = color(theme->text);
    c[ImGuiCol_TextDisabled] = color(theme->text_dim);
    c[ImGuiCol_WindowBg] = color(theme->panel);
    c[ImGuiCol_ChildBg] = color(theme->panel, 0.0f);
    c[ImGuiCol_PopupBg] = color(theme->popup);
    c[ImGuiCol_Border] = color(theme->border);
    c[ImGuiCol_BorderShadow] = ImVec4(0, 0, 0, 0);
    c[ImGuiCol_FrameBg] = color(theme->control);
    c[ImGuiCol_FrameBgHovered] = color(theme->control_hover);
    c[ImGuiCol_FrameBgActive] = color(theme->control_active);
    c[ImGuiCol_TitleBg] = color(theme->background);
    c[ImGuiCol_TitleBgActive] = color(theme->control);
    c[ImGuiCol_TitleBgCollapsed] = color(theme->background);
    c[ImGuiCol_MenuBarBg] = color(theme->background, 0.6f);
    c[ImGuiCol_ScrollbarBg] = ImVec4(0, 0, 0, 0);
    c[ImGuiCol_ScrollbarGrab] = color(theme->text_dim, 0.28f);
    c[ImGuiCol_ScrollbarGrabHovered] = color(theme->text_dim, 0.5f);
    c[ImGuiCol_ScrollbarGrabActive] = color(theme->text_dim, 0.7f);
    c[ImGuiCol_CheckMark] = color(theme->accent);
    c[ImGuiCol_SliderGrab] = color(theme->accent, 0.94f); /* 4.5 : 1 to the panel's colour */
    c[ImGuiCol_SliderGrabActive] = color(theme->accent);
    c[ImGuiCol_Button] = color(theme->control);
    c[ImGuiCol_ButtonHovered] = color(theme->control_hover);
    c[ImGuiCol_ButtonActive] = color(theme->control_active);
    c[ImGuiCol_Header] = color(theme->accent, 0.20f);
    c[ImGuiCol_HeaderHovered] = color(theme->accent, 0.14f);
    c[ImGuiCol_HeaderActive] = color(theme->accent, 0.28f);
    c[ImGuiCol_Separator] = color(theme->border);
    c[ImGuiCol_SeparatorHovered] = color(theme->accent, 0.6f);
    c[ImGuiCol_SeparatorActive] = color(theme->accent);
    c[ImGuiCol_ResizeGrip] = color(theme->text_dim, 0.2f);
    c[ImGuiCol_ResizeGripHovered] = color(theme->accent, 0.5f);
    c[ImGuiCol_ResizeGripActive] = color(theme->accent, 0.9f);
    c[ImGuiCol_Tab] = color(theme->control, 0.6f);
    c[ImGuiCol_TabHovered] = color(theme->control_hover);
    c[ImGuiCol_TabActive] = color(theme->control_active);
    c[ImGuiCol_TabUnfocused] = color(theme->control, 0.6f);
    c[ImGuiCol_TabUnfocusedActive] = color(theme->control_active);
    c[ImGuiCol_PlotLines] = color(theme->accent);
    c[ImGuiCol_PlotLinesHovered] = color(theme->warn);
    c[ImGuiCol_PlotHistogram] = color(theme->accent, 0.75f);
    c[ImGuiCol_PlotHistogramHovered] = color(theme->accent);
    c[ImGuiCol_TableHeaderBg] = color(theme->control, 0.7f);
    c[ImGuiCol_TableBorderStrong] = color(theme->border);
    c[ImGuiCol_TableBorderLight] = color(theme->border, 0.7f);
    c[ImGuiCol_TableRowBg] = ImVec4(0, 0, 0, 0);
    c[ImGuiCol_TableRowBgAlt] = color(theme->text_dim, 0.06f);
    c[ImGuiCol_TextSelectedBg] = color(theme->accent, 0.35f);
    c[ImGuiCol_DragDropTarget] = color(theme->accent);
    c[ImGuiCol_NavHighlight] = color(theme->accent);
    c[ImGuiCol_NavWindowingHighlight] = color(theme->accent, 0.7f);
    c[ImGuiCol_NavWindowingDimBg] = color(theme->background, 0.5f);
    c[ImGuiCol_ModalWindowDimBg] = color(theme->background, 0.6f);
}
