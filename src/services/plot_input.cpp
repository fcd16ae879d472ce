/* services/plot_input.cpp: what the pointer and the keys do to a plot's ranges. It works on the
 * last frame's area and ranges, which are what the person sees. Frame thread. */
#include "services/plot_internal.h"

#include <cmath>

static constexpr uint32_t y_axes = 1u << CALIPER_AXIS_Y1 | 1u << CALIPER_AXIS_Y2;

static bool is_log(const PlotAxisState *axis)
{
    return axis->scale == CALIPER_SCALE_LOG10;
}

static PlotScale scale_of(const PlotState *state, uint32_t number)
{
    const PlotAxisState *const axis = &state->axes[number];
    const ImRect &area = state->area;
    PlotScale scale = PlotScale();
    scale.log10 = is_log(axis);
    scale.range = axis->range;
    scale.from = static_cast<double>(number == CALIPER_AXIS_X1 ? area.Min.x : area.Max.y);
    scale.to = static_cast<double>(number == CALIPER_AXIS_X1 ? area.Max.x : area.Min.y);
    if ((axis->flags & CALIPER_AXIS_INVERT) != 0)
        ImSwap(scale.from, scale.to);
    return scale;
}

/* Which axes a place belongs to: all of them inside the area, one beside it. */
static uint32_t axes_at(const PlotState *state, ImVec2 at)
{
    const ImRect &area = state->area;
    if (area.Contains(at))
        return 7;
    if (at.y >= area.Max.y && at.x >= area.Min.x && at.x <= area.Max.x)
        return 1u << CALIPER_AXIS_X1;
    if (at.x < area.Min.x && at.y >= area.Min.y && at.y <= area.Max.y)
        return 1u << CALIPER_AXIS_Y1;
    if (at.x > area.Max.x && at.y >= area.Min.y && at.y <= area.Max.y)
        return 1u << CALIPER_AXIS_Y2;
    return 0;
}

static void set_range(PlotState *state, uint32_t number, PlotRange range)
{
    PlotAxisState *const axis = &state->axes[number];
    if (!axis->valid || (axis->flags & CALIPER_AXIS_LOCK) != 0)
        return;
    axis->range = plot_range_repair(range, is_log(axis));
    axis->moved = true;
    axis->moved_now = true;
}

static void fit(PlotState *state, uint32_t mask)
{
    for (uint32_t i = 0; i < PLOT_AXES; i++) {
        if ((mask >> i & 1u) == 0 || (state->axes[i].flags & CALIPER_AXIS_LOCK) != 0)
            continue;
        state->axes[i].valid = false;
        state->axes[i].moved = false;
        state->axes[i].moved_now = true;
    }
}

static void zoom(PlotState *state, uint32_t mask, double factor, ImVec2 at)
{
    for (uint32_t i = 0; i < PLOT_AXES; i++) {
        if ((mask >> i & 1u) == 0)
            continue;
        const PlotScale scale = scale_of(state, i);
        const float px = i == CALIPER_AXIS_X1 ? at.x : at.y;
        set_range(state, i,
                  plot_range_zoom(scale.range, scale.log10, factor,
                                  plot_scale_from_px(&scale, static_cast<double>(px))));
    }
}

static void pan(PlotState *state, uint32_t mask, ImVec2 by)
{
    for (uint32_t i = 0; i < PLOT_AXES; i++) {
        const double moved = static_cast<double>(i == CALIPER_AXIS_X1 ? by.x : by.y);
        if ((mask >> i & 1u) == 0 || moved == 0.0)
            continue;
        const PlotScale scale = scale_of(state, i);
        set_range(state, i,
                  plot_range_pan(scale.range, scale.log10, -moved / (scale.to - scale.from)));
    }
}

/* The part of an axis between two places, in order. */
static PlotRange between(const PlotState *state, uint32_t number, float a, float b)
{
    const PlotScale scale = scale_of(state, number);
    const double low = ImMin(scale.from, scale.to), high = ImMax(scale.from, scale.to);
    const double first = plot_scale_from_px(&scale, ImClamp(static_cast<double>(a), low, high));
    const double second = plot_scale_from_px(&scale, ImClamp(static_cast<double>(b), low, high));
    return PlotRange{ImMin(first, second), ImMax(first, second)};
}

static constexpr float least_box = 5.0f; /* of a box that is meant */

static void finish_box(PlotState *state, ImVec2 at)
{
    const ImVec2 from = state->drag_from;
    const bool wide = std::fabs(at.x - from.x) >= least_box;
    const bool high = std::fabs(at.y - from.y) >= least_box;
    PlotRange ranges[PLOT_AXES];
    for (uint32_t i = 0; i < PLOT_AXES; i++)
        ranges[i] = i == CALIPER_AXIS_X1 ? between(state, i, from.x, at.x)
                                         : between(state, i, from.y, at.y);
    if (wide)
        set_range(state, CALIPER_AXIS_X1, ranges[CALIPER_AXIS_X1]);
    if (high) {
        set_range(state, CALIPER_AXIS_Y1, ranges[CALIPER_AXIS_Y1]);
        set_range(state, CALIPER_AXIS_Y2, ranges[CALIPER_AXIS_Y2]);
    }
}

static void finish_selection(PlotState *state, ImVec2 at)
{
    const ImVec2 from = state->drag_from;
    if (std::fabs(at.x - from.x) < least_box && std::fabs(at.y - from.y) < least_box)
        return;
    const PlotRange x = between(state, CALIPER_AXIS_X1, from.x, at.x);
    const PlotRange y = between(state, CALIPER_AXIS_Y1, from.y, at.y);
    state->selected = true;
    state->selection[0] = x.min;
    state->selection[1] = y.min;
    state->selection[2] = x.max;
    state->selection[3] = y.max;
}

/* A line that can be dragged, under the pointer. */
static ImGuiID ref_at(const PlotState *state, ImVec2 at)
{
    for (int32_t i = 0; i < state->ref_count; i++) {
        const float away = (state->refs[i].upright ? at.x : at.y) - state->refs[i].at;
        if (std::fabs(away) <= 5.0f)
            return state->refs[i].id;
    }
    return 0;
}

static void begin_drag(PlotFrame *frame, ImVec2 at)
{
    PlotState *const state = frame->state;
    const ImGuiIO &io = ImGui::GetIO();
    const bool inside = state->area.Contains(at);
    state->drag_from = at;
    state->drag_axes = axes_at(state, at);
    state->drag_ref = inside && io.MouseDown[0] ? ref_at(state, at) : 0;
    if (state->drag_ref != 0)
        state->drag = PLOT_DRAG_REF;
    else if ((frame->flags & CALIPER_PLOT_NO_INPUT) != 0)
        state->drag = PLOT_DRAG_NONE;
    else if (io.MouseDown[1])
        state->drag = inside ? PLOT_DRAG_BOX : PLOT_DRAG_NONE;
    else if (io.KeyShift && inside)
        state->drag = PLOT_DRAG_SELECT;
    else
        state->drag = PLOT_DRAG_PAN;
}

static void end_drag(PlotState *state, ImVec2 at)
{
    if (state->drag == PLOT_DRAG_BOX)
        finish_box(state, at);
    else if (state->drag == PLOT_DRAG_SELECT)
        finish_selection(state, at);
    state->drag = PLOT_DRAG_NONE;
    state->drag_ref = 0;
}

/* ---- Keys ---- */

/* Once the plot is held; see widgets_held.cpp. */
static void steer_by_keys(PlotFrame *frame)
{
    PlotState *const state = frame->state;
    const ImVec2 step(state->area.GetWidth() * 0.1f, state->area.GetHeight() * 0.1f);
    const ImVec2 middle = state->area.GetCenter();
    ImVec2 by(0.0f, 0.0f);
    by.x += widgets_key(CALIPER_KEY_LEFT, true) ? step.x : 0.0f;
    by.x -= widgets_key(CALIPER_KEY_RIGHT, true) ? step.x : 0.0f;
    by.y += widgets_key(CALIPER_KEY_UP, true) ? step.y : 0.0f;
    by.y -= widgets_key(CALIPER_KEY_DOWN, true) ? step.y : 0.0f;
    pan(state, 7, by);
    if (widgets_key('+', true) || widgets_key('=', true))
        zoom(state, 7, 0.8, middle);
    if (widgets_key('-', true))
        zoom(state, 7, 1.25, middle);
    if (widgets_key(CALIPER_KEY_HOME, false))
        fit(state, 7);
}

/* ---- The wheel ---- */

/* Whether the wheel would scroll what the plot stands in. */
static bool page_scrolls()
{
    const ImGuiWindow *window = ImGui::GetCurrentWindowRead();
    for (; window != nullptr; window = window->ParentWindow) {
        if (window->ScrollMax.y > 0.0f && (window->Flags & ImGuiWindowFlags_NoScrollWithMouse) == 0)
            return true;
        if ((window->Flags & ImGuiWindowFlags_ChildWindow) == 0)
            break;
    }
    return false;
}

/* A page that scrolls goes on scrolling over its plots: there the wheel zooms one that the person
 * has chosen, by a click while the pointer stays, by the keyboard, or with Ctrl. */
static void steer_by_wheel(PlotState *state, uint32_t axes, bool hovered)
{
    const ImGuiIO &io = ImGui::GetIO();
    if (hovered && (ImGui::IsMouseClicked(0) || ImGui::IsMouseClicked(1)))
        state->clicked = true;
    else if (!hovered && !ImGui::IsItemActive())
        state->clicked = false;
    const bool alone = !page_scrolls();
    const bool chosen = alone || state->clicked || io.KeyCtrl || widgets_held(state->id);
    const bool took = state->takes_wheel;
    state->takes_wheel = hovered && chosen;
    if (!state->takes_wheel)
        return;
    ImGui::SetItemUsingMouseWheel();
    /* The page has scrolled by this turn already when the plot is chosen only now. */
    if (io.MouseWheel != 0.0f && axes != 0 && (alone || took))
        zoom(state, axes, std::pow(1.2, static_cast<double>(ImClamp(-io.MouseWheel, -8.0f, 8.0f))),
             io.MousePos);
}

/* ---- All of it ---- */

void plot_steer(PlotFrame *frame)
{
    PlotState *const state = frame->state;
    const ImGuiIO &io = ImGui::GetIO();
    const bool seen = state->frame != 0 && state->area.GetWidth() >= 1.0f;
    const bool inert = (frame->flags & CALIPER_PLOT_NO_INPUT) != 0;
    if (!seen) {
        state->drag = PLOT_DRAG_NONE;
        return;
    }
    if (ImGui::IsItemActivated() && (io.MouseDown[0] || io.MouseDown[1]))
        begin_drag(frame, io.MousePos);
    if (state->drag != PLOT_DRAG_NONE && !frame->active)
        end_drag(state, io.MousePos);
    if (inert)
        return;
    if (state->drag == PLOT_DRAG_PAN && ImGui::IsMouseDragging(0, 0.0f))
        pan(state, state->drag_axes, io.MouseDelta);
    const uint32_t axes = axes_at(state, io.MousePos);
    if ((frame->flags & CALIPER_PLOT_SPARK) == 0)
        steer_by_wheel(state, axes, frame->hovered);
    if (frame->hovered && (frame->flags & CALIPER_PLOT_SPARK) == 0) {
        if (ImGui::IsMouseDoubleClicked(0) && axes != 0)
            fit(state, axes == 7 ? 7u : axes);
        if (axes != 7 && axes != 0)
            ImGui::SetMouseCursor((axes & y_axes) != 0 ? ImGuiMouseCursor_ResizeNS
                                                       : ImGuiMouseCursor_ResizeEW);
    }
    if (widgets_held(state->id)) {
        steer_by_keys(frame);
        widgets_hold(state->id, frame->box);
    }
}

bool plot_pointer_in(const PlotFrame *frame)
{
    return frame->hovered && ImGui::IsMousePosValid() &&
           frame->area.Contains(ImGui::GetIO().MousePos);
}

void plot_draw_drag(const PlotFrame *frame)
{
    const PlotState *const state = frame->state;
    if (state->drag != PLOT_DRAG_BOX && state->drag != PLOT_DRAG_SELECT)
        return;
    const ImVec2 at = ImGui::GetIO().MousePos;
    const bool box = state->drag == PLOT_DRAG_BOX;
    const uint32_t color = ui_theme_color(box ? CALIPER_THEME_TEXT_DIM : CALIPER_THEME_ACCENT);
    ImVec2 low(ImMin(at.x, state->drag_from.x), ImMin(at.y, state->drag_from.y));
    ImVec2 high(ImMax(at.x, state->drag_from.x), ImMax(at.y, state->drag_from.y));
    low = ImMax(low, frame->area.Min);
    high = ImMin(high, frame->area.Max);
    if (low.x > high.x || low.y > high.y)
        return;
    ImDrawList *const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(low, high, ui_fade(color, 0.15f));
    list->AddRect(low, high, ui_fade(color, 0.8f));
}
