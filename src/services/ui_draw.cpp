/* services/ui_draw.cpp: Dear ImGui's draw lists become the renderer's plain arrays. Vertices and
 * indices are handed over where they lie; only commands are translated, into arrays that are kept
 * and hold the whole frame.
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
    Bridge *bridge;
    int32_t width_px, height_px;
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

static const ImDrawData *draw_data_of(const UiContext *context)
{
    ImGuiContext *const before = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(context->imgui);
    const ImDrawData *const data = ImGui::GetDrawData();
    ImGui::SetCurrentContext(before);
    return data;
}

/* Room for every list, command and draw of the frame, so that nothing moves while it is filled. */
static bool make_room(Ui *ui, const ImDrawData *data)
{
    uint32_t lists = 0, commands = 0;
    const auto count = [&](const ImDrawData *of) {
        for (int i = 0; of != nullptr && i < of->CmdListsCount; i++) {
            lists++;
            commands += static_cast<uint32_t>(of->CmdLists[i]->CmdBuffer.Size);
        }
    };
    count(data);
    for (uint32_t k = 0; k < ui->context_count; k++)
        count(draw_data_of(&ui->contexts[k]));
    ui->list_count = ui->command_count = ui->draw_count = 0;
    return grow(&ui->lists, &ui->list_capacity, lists) &&
           grow(&ui->commands, &ui->command_capacity, commands) &&
           grow(&ui->draws, &ui->draw_capacity, 2 * ui->context_count + 1);
}

/* Translates lists first..end of one context into one draw. */
static void add_run(const Target *target, const Placement *placement, ImDrawList *const *lists,
                    int first, int end)
{
    Ui *const ui = target->ui;
    const uint32_t list_first = ui->list_count;
    for (int i = first; i < end; i++) {
        ImDrawList *const list = lists[i];
        const uint32_t command_first = ui->command_count;
        for (const ImDrawCmd &command : list->CmdBuffer) {
            UiCommand *const out = &ui->commands[ui->command_count];
            /* Callbacks come only from an applet's own code and are not run outside its guard. */
            if (command.UserCallback != nullptr || !fill_command(target, placement, &command, out))
                continue;
            if (out->texture == ui->font_texture)
                snap_text(list, &command, ui->scale);
            ui->command_count++;
        }
        if (ui->command_count == command_first)
            continue;
        UiList *const out = &ui->lists[ui->list_count++];
        out->vertices = reinterpret_cast<const UiVertex *>(list->VtxBuffer.Data);
        out->vertex_count = static_cast<uint32_t>(list->VtxBuffer.Size);
        out->indices = list->IdxBuffer.Data;
        out->index_count = static_cast<uint32_t>(list->IdxBuffer.Size);
        out->commands = &ui->commands[command_first];
        out->command_count = ui->command_count - command_first;
    }
    if (ui->list_count == list_first)
        return;
    UiDraw *const draw = &ui->draws[ui->draw_count++];
    draw->lists = &ui->lists[list_first];
    draw->list_count = ui->list_count - list_first;
    draw->origin_x = -placement->origin.x;
    draw->origin_y = -placement->origin.y;
    draw->scale = ui->scale;
}

static void add_context(const Target *target, const UiContext *context)
{
    const ImDrawData *const data = draw_data_of(context);
    if (data == nullptr)
        return;
    const Placement placement = {context->origin, ImVec4(context->origin.x, context->origin.y,
                                                         context->origin.x + context->size.x,
                                                         context->origin.y + context->size.y)};
    add_run(target, &placement, data->CmdLists, 0, data->CmdListsCount);
}

bool ui_frame_draws(Ui *ui, Bridge *bridge, int32_t width_px, int32_t height_px,
                    const UiDraw **out_draws, uint32_t *out_count)
{
    const Target target = {ui, bridge, width_px, height_px};
    const ImDrawData *const data = ImGui::GetDrawData();
    if (data == nullptr || ui->font_texture == nullptr || ui->placeholder_texture == nullptr ||
        !make_room(ui, data))
        return false;
    const Placement whole = {ImVec2(0, 0), ImVec4(0, 0, FLT_MAX, FLT_MAX)};
    int first = 0;
    for (int i = 0; i < data->CmdListsCount; i++) {
        for (uint32_t k = 0; k < ui->context_count; k++) {
            const UiContext *const context = &ui->contexts[k];
            if (!context->ended || context->anchor != data->CmdLists[i])
                continue;
            add_run(&target, &whole, data->CmdLists, first, i + 1);
            first = i + 1;
            add_context(&target, context);
        }
    }
    add_run(&target, &whole, data->CmdLists, first, data->CmdListsCount);
    *out_draws = ui->draws;
    *out_count = ui->draw_count;
    return true;
}

bool ui_frame_draw(Ui *ui, Renderer *renderer, Bridge *bridge, int32_t width_px, int32_t height_px)
{
    const UiDraw *draws = nullptr;
    uint32_t count = 0;
    bool good = ui_frame_draws(ui, bridge, width_px, height_px, &draws, &count);
    for (uint32_t i = 0; i < count; i++)
        good = renderer_draw_ui(renderer, &draws[i]) && good;
    return good;
}
