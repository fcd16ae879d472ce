/* services/ui_context.cpp: caliper.ui.v1: a Dear ImGui context of its own for each applet that
 * asks, shown inside that applet's panel. An applet cannot leave the shell's context broken, and
 * its windows stay in its panel. Frame thread; a call from another thread answers NULL. */
#include <caliper/services/ui_v1.h>

#include "services/ui_internal.h"

#include <pthread.h>

static pthread_t frame_thread;

static UiContext *find_context(Ui *ui, CallerId owner)
{
    for (uint32_t i = 0; i < ui->context_count; i++) {
        if (ui->contexts[i].owner == owner)
            return &ui->contexts[i];
    }
    return nullptr;
}

static UiContext *make_context(Ui *ui, CallerId owner)
{
    if (ui->context_count == UI_CONTEXTS_MAX) {
        log_item(UI_CONTEXTS_FULL, static_cast<unsigned>(UI_CONTEXTS_MAX));
        return nullptr;
    }
    ImGuiContext *const before = ImGui::GetCurrentContext();
    UiContext *const context = &ui->contexts[ui->context_count];
    *context = UiContext();
    context->owner = owner;
    context->imgui = ImGui::CreateContext(ui->atlas);
    ui->context_count++;
    ImGui::SetCurrentContext(context->imgui);
    ui_context_setup(ui);
    ImGui::SetCurrentContext(before);
    return context;
}

/* The context takes pointer and keys only while its panel has them. */
static void feed_input(const Ui *ui, const UiContext *context, bool hovered, bool focused)
{
    const ImGuiIO &from = ui->imgui->IO;
    ImGuiIO &io = context->imgui->IO;
    io.DisplaySize = context->size;
    io.DeltaTime = from.DeltaTime;
    const bool held = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
    if (hovered || held)
        io.MousePos =
            ImVec2(from.MousePos.x - context->origin.x, from.MousePos.y - context->origin.y);
    else
        io.MousePos = ImVec2(-FLT_MAX, -FLT_MAX);
    for (int i = 0; i < 3; i++)
        io.MouseDown[i] = from.MouseDown[i] && (hovered || io.MouseDown[i]);
    io.MouseWheel = hovered ? from.MouseWheel : 0.0f;
    io.MouseWheelH = hovered ? from.MouseWheelH : 0.0f;
    io.KeyCtrl = from.KeyCtrl;
    io.KeyShift = from.KeyShift;
    io.KeyAlt = from.KeyAlt;
    io.KeySuper = from.KeySuper;
    for (int i = 0; i < UI_KEYS_MAX; i++)
        io.KeysDown[i] = focused && from.KeysDown[i];
    if (focused) {
        for (const ImWchar c : from.InputQueueCharacters)
            io.InputQueueCharacters.push_back(c);
    }
}

void ui_context_frame_begin(Ui *ui, CallerId owner)
{
    UiContext *const context = find_context(ui, owner);
    if (context == nullptr)
        return;
    ImGuiWindow *const panel = ImGui::GetCurrentWindow();
    context->origin = panel->Pos;
    context->size = panel->Size;
    context->anchor = panel->DrawList;
    feed_input(ui, context, ImGui::IsWindowHovered(), ImGui::IsWindowFocused());
    ImGui::SetCurrentContext(context->imgui);
    context->imgui->IO.FontGlobalScale = 1.0f / ui->scale;
    ImGui::NewFrame();
    context->in_frame = true;
    /* What the applet draws outside of a window of its own fills the panel. */
    ImGui::SetNextWindowPos(ImVec2(0, 0));
    ImGui::SetNextWindowSize(context->size);
    ImGui::Begin("##panel", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoBackground);
    ImGui::SetCurrentContext(ui->imgui);
}

static void drop_context(Ui *ui, UiContext *context)
{
    ImGuiContext *const before = ImGui::GetCurrentContext();
    ImGuiContext *const gone = context->imgui;
    context->imgui = nullptr;
    *context = ui->contexts[ui->context_count - 1];
    ui->context_count--;
    ImGui::DestroyContext(gone);
    ImGui::SetCurrentContext(before == gone ? ui->imgui : before);
}

void ui_context_frame_end(Ui *ui, CallerId owner, bool faulted)
{
    ImGui::SetCurrentContext(ui->imgui);
    UiContext *const context = find_context(ui, owner);
    if (context == nullptr || !context->in_frame)
        return;
    context->in_frame = false;
    /* A faulted applet's context is dropped by ui_reclaim; nothing of it is drawn any more. */
    if (faulted)
        return;
    ImGui::SetCurrentContext(context->imgui);
    if (context->imgui->WithinFrameScope) {
        ImGui::ErrorCheckEndFrameRecover(nullptr, nullptr);
        if (context->imgui->CurrentWindowStack.Size > 1)
            ImGui::End();
        ImGui::Render();
        context->ended = true;
    }
    ImGui::SetCurrentContext(ui->imgui);
}

void ui_reclaim(Ui *ui, CallerId owner)
{
    UiContext *const context = find_context(ui, owner);
    if (context != nullptr)
        drop_context(ui, context);
    for (UiPanelState &state : ui->panels) {
        if (state.owner == owner)
            state = UiPanelState();
    }
}

/* ---- The table ---- */

static bool may_answer(const char *call)
{
    if (ui_current == nullptr || pthread_equal(pthread_self(), frame_thread) == 0) {
        log_item(UI_WRONG_THREAD, call);
        return false;
    }
    return true;
}

static struct ImGuiContext *slot_imgui_context(void)
{
    if (!may_answer("ui.v1 imgui_context"))
        return nullptr;
    const CallerId owner = caller_current();
    if (owner == 0)
        return ui_current->imgui;
    UiContext *context = find_context(ui_current, owner);
    if (context == nullptr) {
        context = make_context(ui_current, owner);
        if (ui_current->in_frame && ui_current->panel_owner == owner)
            ui_context_frame_begin(ui_current, owner);
    }
    return context != nullptr ? context->imgui : nullptr;
}

static struct ImPlotContext *slot_implot_context(void)
{
    return nullptr;
}

static struct ImPlot3DContext *slot_implot3d_context(void)
{
    return nullptr;
}

static void slot_imgui_allocators(CaliperImGuiAllocFn *out_alloc, CaliperImGuiFreeFn *out_free,
                                  void **out_user)
{
    ImGuiMemAllocFunc alloc = nullptr;
    ImGuiMemFreeFunc release = nullptr;
    void *user = nullptr;
    ImGui::GetAllocatorFunctions(&alloc, &release, &user);
    if (out_alloc != nullptr)
        *out_alloc = alloc;
    if (out_free != nullptr)
        *out_free = release;
    if (out_user != nullptr)
        *out_user = user;
}

const void *ui_v1_table(void)
{
    static const CaliperUiV1 table = {sizeof(CaliperUiV1), slot_imgui_context, slot_implot_context,
                                      slot_implot3d_context, slot_imgui_allocators};
    frame_thread = pthread_self();
    return &table;
}
