/* services/ui.cpp: the one Ui: its contexts, its frames, its panels, its textures. Frame thread. */
#include "services/plot_cache.h"
#include "services/ui_internal.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

Ui *ui_current = nullptr;

void ui_context_setup(Ui *ui)
{
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_HasMouseCursors;
    io.BackendPlatformName = "caliper";
    io.BackendRendererName = "caliper";
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.FontGlobalScale = 1.0f / ui->scale;
    io.DisplayFramebufferScale = ImVec2(ui->scale, ui->scale);
    ui_input_connect(&io);
    ui_theme_apply(ui, &ImGui::GetStyle());
}

static float clamp_scale(float scale)
{
    if (!std::isfinite(scale) || scale <= 0.0f)
        return 1.0f;
    return scale < 0.5f ? 0.5f : scale > 8.0f ? 8.0f : scale;
}

Ui *ui_create(const UiParams *params)
{
    Ui *ui = new (std::nothrow) Ui();
    if (ui == nullptr) {
        log_item(OUT_OF_MEMORY, "ui_create", static_cast<unsigned long long>(sizeof(Ui)));
        return nullptr;
    }
    ui->scale = clamp_scale(params != nullptr ? params->scale : 1.0f);
    ui->light = params != nullptr && params->light;
    ui->pointer = ImVec2(-FLT_MAX, -FLT_MAX);
    ui->atlas = IM_NEW(ImFontAtlas)();
    ui_fonts_build(ui);
    ui->imgui = ImGui::CreateContext(ui->atlas);
    ImGui::SetCurrentContext(ui->imgui);
    ui_current = ui;
    ui_context_setup(ui);
    return ui;
}

void ui_destroy(Ui **ui)
{
    if (ui == nullptr || *ui == nullptr)
        return;
    Ui *const own = *ui;
    while (own->context_count > 0)
        ui_reclaim(own, own->contexts[own->context_count - 1].owner);
    ImGui::SetCurrentContext(own->imgui);
    ImGui::DestroyContext(own->imgui);
    ImGui::SetCurrentContext(nullptr);
    IM_DELETE(own->atlas);
    std::free(own->items);
    std::free(own->lists);
    std::free(own->commands);
    std::free(own->draws);
    std::free(own->clipboard_text);
    ui_current = nullptr;
    delete own;
    *ui = nullptr;
}

void ui_restart(Ui *ui)
{
    while (ui->context_count > 0)
        ui_reclaim(ui, ui->contexts[ui->context_count - 1].owner);
    ImGui::SetCurrentContext(ui->imgui);
    ImGui::DestroyContext(ui->imgui);
    ui->imgui = ImGui::CreateContext(ui->atlas);
    ImGui::SetCurrentContext(ui->imgui);
    ui_context_setup(ui);
    ui->event_first = ui->event_count = ui->modifiers = ui->item_count = 0;
    std::memset(ui->keys, 0, sizeof ui->keys);
    std::memset(ui->buttons, 0, sizeof ui->buttons);
    std::memset(ui->panels, 0, sizeof ui->panels);
    ui->pointer = ImVec2(-FLT_MAX, -FLT_MAX);
    ui->behind = nullptr;
    ui->tab_asked = false;
}

void ui_set_scale(Ui *ui, float scale)
{
    scale = clamp_scale(scale);
    if (scale == ui->scale)
        return;
    ui->scale = scale;
    ui->atlas->Clear();
    ui_fonts_build(ui);
    ImGuiIO &io = ImGui::GetIO();
    io.FontGlobalScale = 1.0f / scale;
    io.DisplayFramebufferScale = ImVec2(scale, scale);
}

float ui_scale(const Ui *ui)
{
    return ui->scale;
}

void ui_set_light(Ui *ui, bool light)
{
    ui->light = light;
    ui_theme_apply(ui, &ImGui::GetStyle());
    ImGuiContext *const before = ImGui::GetCurrentContext();
    for (uint32_t i = 0; i < ui->context_count; i++) {
        ImGui::SetCurrentContext(ui->contexts[i].imgui);
        ui_theme_apply(ui, &ImGui::GetStyle());
    }
    ImGui::SetCurrentContext(before);
}

bool ui_light(const Ui *ui)
{
    return ui->light;
}

/* ---- Textures ---- */

static RendererTexture *make_texture(Renderer *renderer, const char *label, int32_t width_px,
                                     int32_t height_px, const uint8_t *rgba)
{
    RendererTextureParams params = {};
    params.struct_size = sizeof params;
    params.label = label;
    params.width_px = width_px;
    params.height_px = height_px;
    params.pass.kind = RENDERER_PASS_EXPAND;
    params.pass.channels = 4;
    RendererTexture *texture = renderer_texture_create(renderer, &params);
    if (texture != nullptr && !renderer_texture_write(renderer, texture, rgba))
        renderer_texture_destroy(renderer, &texture);
    return texture;
}

bool ui_textures_create(Ui *ui, Renderer *renderer)
{
    enum { MARK_PX = 16, MARK_CELL_PX = 4 };
    static uint8_t mark[MARK_PX * MARK_PX * 4];
    for (int y = 0; y < MARK_PX; y++) {
        for (int x = 0; x < MARK_PX; x++) {
            const bool on = ((x / MARK_CELL_PX) + (y / MARK_CELL_PX)) % 2 == 0;
            uint8_t *pixel = &mark[(y * MARK_PX + x) * 4];
            pixel[0] = on ? 255 : 0;
            pixel[1] = 0;
            pixel[2] = on ? 255 : 0;
            pixel[3] = 255;
        }
    }
    unsigned char *pixels = nullptr;
    int width_px = 0, height_px = 0;
    ui->atlas->GetTexDataAsRGBA32(&pixels, &width_px, &height_px);
    ui->font_texture = make_texture(renderer, "fonts", width_px, height_px, pixels);
    ui->placeholder_texture = make_texture(renderer, "placeholder", MARK_PX, MARK_PX, mark);
    if (ui->font_texture != nullptr && ui->placeholder_texture != nullptr)
        return true;
    ui_textures_destroy(ui, renderer);
    return false;
}

void ui_textures_destroy(Ui *ui, Renderer *renderer)
{
    if (ui->font_texture != nullptr)
        renderer_texture_destroy(renderer, &ui->font_texture);
    if (ui->placeholder_texture != nullptr)
        renderer_texture_destroy(renderer, &ui->placeholder_texture);
}

/* ---- Frames ---- */

/* A popup that nobody drew in the last frame (its applet crashed, closed, or forgot it) is over: an
 * abandoned modal would block all others, and the toolkit asserts that there is none. */
static void close_abandoned_popups(void)
{
    const ImVector<ImGuiPopupData> &open = ImGui::GetCurrentContext()->OpenPopupStack;
    for (int i = 0; i < open.Size; i++) {
        if (open[i].Window != nullptr && !open[i].Window->WasActive) {
            ImGui::ClosePopupToLevel(i, false);
            return;
        }
    }
}

/* The panel that a window was begun in, through any number of others. */
static ImGuiWindow *panel_of(ImGuiWindow *window)
{
    while (window != nullptr && std::strncmp(window->Name, "##panel", 7) != 0)
        window = window->ParentWindowInBeginStack;
    return window;
}

/* The keyboard of a window that is gone goes back to its panel; the toolkit would hand it to
 * whatever lies on top. */
static void return_focus(ImGuiWindow *before)
{
    ImGuiWindow *const panel = panel_of(before);
    if (before == nullptr || before->WasActive || panel == nullptr || panel == before ||
        !panel->WasActive || ImGui::GetTopMostPopupModal() != nullptr)
        return;
    ImGui::FocusWindow(panel);
}

void ui_frame_begin(Ui *ui, float width, float height, double delta_sec)
{
    ImGui::SetCurrentContext(ui->imgui);
    ImGuiIO &io = ImGui::GetIO();
    io.DisplaySize = ImVec2(width > 1.0f ? width : 1.0f, height > 1.0f ? height : 1.0f);
    io.DeltaTime = delta_sec > 1e-6 ? static_cast<float>(delta_sec) : 1.0f / 60.0f;
    ui_input_apply(ui, io.DeltaTime);
    ui->item_count = 0;
    plot_cache_frame();
    for (uint32_t i = 0; i < ui->context_count; i++)
        ui->contexts[i].ended = false;
    ImGuiWindow *const focused = ImGui::GetCurrentContext()->NavWindow;
    ImGui::NewFrame();
    close_abandoned_popups();
    return_focus(focused);
    ui_focus_turn(ui);
    ui->in_frame = true;
}

void ui_frame_end(Ui *ui)
{
    if (!ui->in_frame)
        return;
    ImGui::SetCurrentContext(ui->imgui);
    /* Only now: a region that is new in this frame was put below all others. */
    if (ui->behind != nullptr)
        ImGui::BringWindowToDisplayBack(ui->behind);
    ui->behind = nullptr;
    ImGui::Render();
    ui->in_frame = false;
}

UiCursor ui_cursor(const Ui *)
{
    switch (ImGui::GetMouseCursor()) {
    case ImGuiMouseCursor_None:
        return UI_CURSOR_NONE;
    case ImGuiMouseCursor_TextInput:
        return UI_CURSOR_TEXT;
    case ImGuiMouseCursor_ResizeEW:
        return UI_CURSOR_RESIZE_X;
    case ImGuiMouseCursor_ResizeNS:
        return UI_CURSOR_RESIZE_Y;
    case ImGuiMouseCursor_ResizeAll:
    case ImGuiMouseCursor_ResizeNESW:
    case ImGuiMouseCursor_ResizeNWSE:
        return UI_CURSOR_RESIZE_BOTH;
    case ImGuiMouseCursor_Hand:
        return UI_CURSOR_HAND;
    default:
        return UI_CURSOR_ARROW;
    }
}

bool ui_wants_text(const Ui *)
{
    return ImGui::GetIO().WantTextInput;
}

/* ---- Panels ---- */

void ui_panel_begin(Ui *ui, CallerId owner, float x, float y, float w, float h, bool focus)
{
    char name[32];
    std::snprintf(name, sizeof name, "##panel%u", static_cast<unsigned>(owner));
    ui->panel_pos = ImVec2(x, y);
    ui->panel_size = ImVec2(w > 8.0f ? w : 8.0f, h > 8.0f ? h : 8.0f);
    ui->panel_owner = owner;
    ui->panel_hidden = false;
    ImGui::SetNextWindowPos(ui->panel_pos);
    ImGui::SetNextWindowSize(ui->panel_size);
    if (focus)
        ImGui::SetNextWindowFocus();
    /* Dear ImGui has to know of a menu bar before the panel is filled: it is there in the frames
     * after one in which the applet asked for it. */
    UiPanelState *const state = ui_panel_state(ui, owner);
    const bool menu = state != nullptr && state->menu_asked;
    if (state != nullptr)
        state->menu_asked = false;
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus |
                     (menu ? ImGuiWindowFlags_MenuBar : 0));
}

UiPanelState *ui_panel_state(Ui *ui, CallerId owner)
{
    UiPanelState *unused = nullptr;
    for (UiPanelState &state : ui->panels) {
        if (state.owner == owner && owner != 0)
            return &state;
        if (state.owner == 0 && unused == nullptr)
            unused = &state;
    }
    if (unused != nullptr)
        unused->owner = owner;
    return unused;
}

void ui_panel_hide(Ui *ui)
{
    ui->panel_hidden = true;
}

/* Hidden windows are neither drawn nor found by the pointer; the next Begin shows them again. A
 * popup would keep the person from what is in sight. */
static void hide_windows_of(const ImGuiWindow *panel)
{
    const ImGuiContext *const context = ImGui::GetCurrentContext();
    for (ImGuiWindow *const window : context->Windows) {
        if (window->Active && panel_of(window) == panel)
            window->Hidden = true;
    }
    for (int i = 0; i < context->OpenPopupStack.Size; i++) {
        ImGuiWindow *const popup = context->OpenPopupStack[i].Window;
        if (popup != nullptr && panel_of(popup) == panel) {
            ImGui::ClosePopupToLevel(i, false);
            return;
        }
    }
}

void ui_panel_end(Ui *ui)
{
    /* The second net: widgets.cpp has closed what the applet left open. */
    ImGui::ErrorCheckEndWindowRecover(nullptr, nullptr);
    const ImGuiWindow *const panel = panel_of(ImGui::GetCurrentWindow());
    ImGui::End();
    if (ui->panel_hidden)
        hide_windows_of(panel);
    ui->panel_owner = 0;
    ui->panel_hidden = false;
}
