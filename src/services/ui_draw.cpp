/* services/ui_draw.cpp: Dear ImGui's draw lists become the renderer's plain arrays. Vertices and
 * indices are handed over where they lie; only commands are translated, into arrays that are kept.
 * Frame thread. */
#include "services/ui_internal.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>

static_assert(sizeof(UiVertex) == sizeof(ImDrawVert), "one layout");
static_assert(offsetof(UiVertex, x) == offsetof(ImDrawVert, pos), "one layout");
static_assert(offsetof(UiVertex, u) == offsetof(ImDrawVert, uv), "one layout");
static_assert(offsetof(UiVertex, rgba) == offsetof(ImDrawVert, col), "one layout");
static_assert(sizeof(ImDrawIdx) == sizeof(uint16_t), "one layout");

struct Target {
    Ui *ui;
    Renderer *renderer;
    Bridge *bridge;
    int32_t width_px, height_px;
    bool ok;
};

/* The rectangle that a run of lists may touch, and how it is shifted. */
struct Placement {
    ImVec2 origin; /* of the lists, in the window's units */
    ImVec4 clip;   /* in the window's units */
};

template <typename T> static bool grow(T **array, uint32_t *capacity, uint32_t wanted)
{
    if (wanted <= *capacity)
        return true;
    const uint32_t next = wanted + wanted / 2 + 64;
    T *const bigger = static_cast<T *>(std::realloc(*array, sizeof(T) * next));
    if (bigger == nullptr) {
        log_item(OUT_OF_MEMORY, "ui_frame_draw", static_cast<unsigned long long>(sizeof(T) * next));
        return false;
    }
    *array = bigger;
    *capacity = next;
    return true;
}

/* Text was rasterised at physical size: its quads go onto whole pixels, so that linear filtering
 * reads one texel each. A quad is text when its corners differ in the atlas; a filled shape's do
 * not. */
static void snap_text(ImDrawList *list, const ImDrawCmd *command, float scale)
{
    const ImDrawIdx *const index = list->IdxBuffer.Data + command->IdxOffset;
    ImDrawVert *const vertices = list->VtxBuffer.Data + command->VtxOffset;
    const float unit = 1.0f / scale;
    for (uint32_t i = 0; i + 6 <= command->ElemCount;) {
        const uint32_t n = index[i];
        if (index[i + 1] != n + 1 || index[i + 2] != n + 2 || index[i + 3] != n ||
            index[i + 4] != n + 2 || index[i + 5] != n + 3) {
            i += 3;
            continue;
        }
        ImDrawVert *const v = vertices + n;
        i += 6;
        if (v[0].uv.x == v[2].uv.x || v[0].uv.y == v[2].uv.y || v[0].uv.y != v[1].uv.y)
            continue;
        const float dx = std::floor(v[0].pos.x * scale + 0.5f) * unit - v[0].pos.x;
        const float dy = std::floor(v[0].pos.y * scale + 0.5f) * unit - v[0].pos.y;
        for (int k = 0; k < 4; k++) {
            v[k].pos.x += dx;
            v[k].pos.y += dy;
        }
    }
}

static int32_t to_pixel(float position, float scale, int32_t limit_px)
{
    const float value = std::floor(position * scale + 0.5f);
    if (!(value > 0.0f))
        return 0;
    return value > static_cast<float>(limit_px) ? limit_px : static_cast<int32_t>(value);
}

static bool fill_command(const Target *target, const Placement *placement, const ImDrawCmd *from,
                         UiCommand *to)
{
    const float scale = target->ui->scale;
    const ImVec4 &c = from->ClipRect;
    const ImVec4 &limit = placement->clip;
    to->clip_x0 = to_pixel(ImMax(c.x + placement->origin.x, limit.x), scale, target->width_px);
    to->clip_y0 = to_pixel(ImMax(c.y + placement->origin.y, limit.y), scale, target->height_px);
    to->clip_x1 = to_pixel(ImMin(c.z + placement->origin.x, limit.z), scale, target->width_px);
    to->clip_y1 = to_pixel(ImMin(c.w + placement->origin.y, limit.w), scale, target->height_px);
    if (to->clip_x1 <= to->clip_x0 || to->clip_y1 <= to->clip_y0 || from->ElemCount == 0)
        return false;
    const uint64_t bits = reinterpret_cast<uintptr_t>(from->GetTexID());
    to->filter = UI_FILTER_LINEAR;
    if (bits == UI_FONT_TEXTURE) {
        to->texture = target->ui->font_texture;
    } else {
        to->texture = bridge_texture_for_draw(target->bridge, bits & ~UI_NEAREST_BIT);
        if ((bits & UI_NEAREST_BIT) != 0 || to->texture == nullptr)
            to->filter = UI_FILTER_NEAREST;
        if (to->texture == nullptr)
            to->texture = target->ui->placeholder_texture;
    }
    to->index_first = from->IdxOffset;
    to->index_count = from->ElemCount;
    to->vertex_first = from->VtxOffset;
    return true;
}

/* Translates lists first..end of one context and draws them as one run. */
static void draw_run(Target *target, const Placement *placement, ImDrawList *const *lists,
                     int first, int end)
{
    Ui *const ui = target->ui;
    uint32_t command_total = 0, list_count = 0, command_count = 0;
    for (int i = first; i < end; i++)
        command_total += static_cast<uint32_t>(lists[i]->CmdBuffer.Size);
    if (first >= end || command_total == 0)
        return;
    if (!grow(&ui->lists, &ui->list_capacity, static_cast<uint32_t>(end - first)) ||
        !grow(&ui->commands, &ui->command_capacity, command_total)) {
        target->ok = false;
        return;
    }
    for (int i = first; i < end; i++) {
        ImDrawList *const list = lists[i];
        const uint32_t list_first = command_count;
        for (const ImDrawCmd &command : list->CmdBuffer) {
            /* Callbacks come only from an applet's own code and are not run outside its guard. */
            if (command.UserCallback != nullptr)
                continue;
            if (!fill_command(target, placement, &command, &ui->commands[command_count]))
                continue;
            if (ui->commands[command_count].texture == ui->font_texture)
                snap_text(list, &command, ui->scale);
            command_count++;
        }
        UiList *const out = &ui->lists[list_count];
        out->vertices = reinterpret_cast<const UiVertex *>(list->VtxBuffer.Data);
        out->vertex_count = static_cast<uint32_t>(list->VtxBuffer.Size);
        out->indices = list->IdxBuffer.Data;
        out->index_count = static_cast<uint32_t>(list->IdxBuffer.Size);
        out->commands = &ui->commands[list_first];
        out->command_count = command_count - list_first;
        if (out->command_count > 0)
            list_count++;
    }
    if (list_count == 0)
        return;
    UiDraw draw = {};
    draw.lists = ui->lists;
    draw.list_count = list_count;
    draw.origin_x = -placement->origin.x;
    draw.origin_y = -placement->origin.y;
    draw.scale = ui->scale;
    if (!renderer_draw_ui(target->renderer, &draw))
        target->ok = false;
}

static void draw_context(Target *target, const UiContext *context)
{
    ImGuiContext *const before = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(context->imgui);
    const ImDrawData *const data = ImGui::GetDrawData();
    ImGui::SetCurrentContext(before);
    if (data == nullptr)
        return;
    const Placement placement = {context->origin, ImVec4(context->origin.x, context->origin.y,
                                                         context->origin.x + context->size.x,
                                                         context->origin.y + context->size.y)};
    draw_run(target, &placement, data->CmdLists, 0, data->CmdListsCount);
}

bool ui_frame_draw(Ui *ui, Renderer *renderer, Bridge *bridge, int32_t width_px, int32_t height_px)
{
    Target target = {ui, renderer, bridge, width_px, height_px, true};
    const ImDrawData *const data = ImGui::GetDrawData();
    if (data == nullptr || ui->font_texture == nullptr || ui->placeholder_texture == nullptr)
        return false;
    const Placement whole = {ImVec2(0, 0), ImVec4(0, 0, FLT_MAX, FLT_MAX)};
    int first = 0;
    for (int i = 0; i < data->CmdListsCount; i++) {
        for (uint32_t k = 0; k < ui->context_count; k++) {
            const UiContext *const context = &ui->contexts[k];
            if (!context->ended || context->anchor != data->CmdLists[i])
                continue;
            draw_run(&target, &whole, data->CmdLists, first, i + 1);
            first = i + 1;
            draw_context(&target, context);
        }
    }
    draw_run(&target, &whole, data->CmdLists, first, data->CmdListsCount);
    return target.ok;
}
