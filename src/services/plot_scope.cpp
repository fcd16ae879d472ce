/* services/plot_scope.cpp: the plot as a scope, its kept states, and the slots about axes.
 * Frame thread. */
#include "services/plot_internal.h"
#include "services/widgets_table.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static PlotFrame frames[PLOT_NESTED_MAX];
static int32_t open_count;

/* ---- States ---- */

static PlotState **states;
static int32_t state_count, state_capacity;
static ImGuiStorage state_places; /* id -> place + 1 */

static void drop_state(int32_t place)
{
    state_places.SetInt(states[place]->id, 0);
    std::free(states[place]);
    states[place] = states[--state_count];
    if (place < state_count)
        state_places.SetInt(states[place]->id, place + 1);
}

static void drop_oldest(void)
{
    int32_t oldest = 0;
    for (int32_t i = 1; i < state_count; i++) {
        if (states[i]->frame < states[oldest]->frame)
            oldest = i;
    }
    drop_state(oldest);
}

PlotState *plot_state(ImGuiID id)
{
    const int place = state_places.GetInt(id, 0);
    if (place > 0)
        return states[place - 1];
    if (state_count == PLOT_STATES_MAX)
        drop_oldest();
    if (state_count == state_capacity) {
        const int32_t wanted = state_capacity == 0 ? 16 : state_capacity * 2;
        PlotState **const bigger = static_cast<PlotState **>(
            std::realloc(states, sizeof(PlotState *) * static_cast<size_t>(wanted)));
        if (bigger == nullptr)
            return nullptr;
        states = bigger;
        state_capacity = wanted;
    }
    PlotState *const state = static_cast<PlotState *>(std::calloc(1, sizeof(PlotState)));
    if (state == nullptr)
        return nullptr;
    state->id = id;
    states[state_count++] = state;
    state_places.SetInt(id, state_count);
    return state;
}

void plot_stop(void)
{
    while (state_count > 0)
        drop_state(state_count - 1);
    std::free(states);
    states = nullptr;
    state_capacity = 0;
    state_places.Clear();
    for (PlotFrame &frame : frames) {
        plot_samples_free(&frame.samples);
        frame.colors.clear();
    }
    open_count = 0;
    plot_cache_clear();
}

void plot_abandon(void)
{
    open_count = 0;
}

/* ---- The scope ---- */

PlotFrame *plot_current(void)
{
    return open_count > 0 ? &frames[open_count - 1] : nullptr;
}

static void begin_frame(PlotFrame *frame, PlotState *state, uint32_t flags)
{
    frame->state = state;
    frame->flags = flags;
    frame->prepared = frame->settled = frame->incomplete = false;
    frame->fit_asked = 0;
    frame->item_count = frame->entry_count = frame->series_count = 0;
    frame->colors_used = 0;
    frame->style = PlotStyle();
    frame->near = PlotNear();
    frame->samples.count = 0;
    frame->colors.resize(0);
    frame->legend_width = 0.0f;
    for (PlotAxis &axis : frame->axes) {
        axis.used = axis.fit_min = axis.fit_max = axis.fixed_min = axis.fixed_max = false;
        axis.custom = axis.asked = axis.asked_always = false;
        axis.label[0] = '\0';
        axis.scale = axis.flags = 0;
        axis.extent = plot_range_empty();
        axis.pad_low = axis.pad_high = 0.0;
        axis.link_min = axis.link_max = nullptr;
        axis.ticks.count = 0;
        axis.ticks.context[0] = '\0';
    }
    frame->axes[CALIPER_AXIS_X1].used = true;
    frame->axes[CALIPER_AXIS_Y1].used = true;
}

static ImVec2 plot_size(float w, float h, uint32_t flags)
{
    const ImVec2 room = ImGui::GetContentRegionAvail();
    float width = widgets_size_or(w, 0.0f), height = widgets_size_or(h, 0.0f);
    width = ImMax(width > 0.0f ? width : room.x + width, 4.0f);
    if (height < 0.0f)
        height = ImMax(room.y + height, 4.0f);
    if (height == 0.0f)
        height = (flags & CALIPER_PLOT_SPARK) != 0 ? ImGui::GetTextLineHeight()
                                                   : ImMin(240.0f, width * 9.0f / 16.0f);
    return ImVec2(width, ImMax(height, 4.0f));
}

bool plot_slot_plot(const char *title, float w, float h, uint32_t flags)
{
    if (!widgets_enter_scope("plot", CALIPER_SCOPE_PLOT, title))
        return false;
    widgets_unknown_flags("plot", flags, 255);
    if (open_count == PLOT_NESTED_MAX) {
        widgets_refuse("plot", "more than four plots inside each other", "fewer");
        widgets_push(CALIPER_SCOPE_PLOT, false, title);
        return false;
    }
    const char *const shown = widgets_label(title);
    const ImVec2 size = plot_size(w, h, flags);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool focus = widgets.next.focus;
    widgets_item_done();
    if (focus)
        ImGui::SetKeyboardFocusHere();
    ImGui::InvisibleButton(shown, size,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    ImGui::SetItemAllowOverlap();
    widgets_listed("plot", shown);
    ImGui::RenderNavHighlight(ImRect(at.x, at.y, at.x + size.x, at.y + size.y), ImGui::GetItemID());
    PlotState *const state = ImGui::IsItemVisible() ? plot_state(ImGui::GetItemID()) : nullptr;
    if (state == nullptr) {
        widgets_push(CALIPER_SCOPE_PLOT, false, title);
        return false;
    }
    PlotFrame *const frame = &frames[open_count++];
    begin_frame(frame, state, flags);
    frame->scope = widgets_push(CALIPER_SCOPE_PLOT, true, title);
    const char *const end = ImGui::FindRenderedTextEnd(shown);
    std::snprintf(frame->title, sizeof frame->title, "%.*s",
                  static_cast<int>(ImMin<ptrdiff_t>(end - shown, PLOT_LABEL_BYTES - 1)), shown);
    frame->box = ImRect(at.x, at.y, at.x + size.x, at.y + size.y);
    frame->hovered = ImGui::IsItemHovered();
    frame->active = ImGui::IsItemActive();
    frame->focused = ImGui::IsItemFocused();
    plot_steer(frame);
    state->ref_count = 0;
    ImGui::PushClipRect(frame->box.Min, frame->box.Max, true);
    return true;
}

void plot_close(Scope *scope)
{
    PlotFrame *const frame = plot_current();
    if (frame == nullptr || frame->scope != scope)
        return;
    plot_settle(frame);
    ImGui::PopClipRect(); /* of the area */
    plot_draw_drag(frame);
    plot_draw_legend(frame);
    ImGui::PopClipRect(); /* of the box */
    plot_draw_readout(frame);
    frame->state->frame = static_cast<uint64_t>(ImGui::GetFrameCount());
    for (PlotAxisState &axis : frame->state->axes)
        axis.moved_now = false;
    open_count--;
}

void plot_slot_end(void)
{
    if (widgets_may_call("plot end"))
        widgets_end_scope(CALIPER_SCOPE_PLOT);
}

/* The scopes that may lie between a plot and what belongs to it keep the region. */
PlotFrame *plot_enter(const char *slot)
{
    if (!widgets_enter(slot))
        return nullptr;
    PlotFrame *const frame = plot_current();
    if (frame == nullptr || widgets_parent(CALIPER_SCOPE_PLOT) != frame->scope) {
        widgets_refuse(slot, "a call outside a plot", "a call directly in a plot");
        return nullptr;
    }
    return frame;
}

PlotFrame *plot_enter_axis(const char *slot, uint32_t axis)
{
    PlotFrame *const frame = plot_enter(slot);
    if (frame == nullptr)
        return nullptr;
    if (axis >= PLOT_AXES) {
        widgets_refuse(slot, "an unknown axis", "CALIPER_AXIS_X1, Y1 or Y2");
        return nullptr;
    }
    if (frame->prepared) {
        widgets_refuse(slot, "a call after the first series", "axis calls before the series");
        return nullptr;
    }
    return frame;
}

void plot_settle(PlotFrame *frame)
{
    if (frame->settled)
        return;
    plot_prepare(frame);
    plot_finish_ranges(frame);
    frame->settled = true;
    frame->state->area = frame->area;
    plot_draw_axes(frame);
    ImGui::PushClipRect(frame->area.Min, frame->area.Max, true);
    for (int32_t i = 0; i < frame->item_count; i++)
        plot_draw_item(frame, &frame->items[i]);
    DrawingSpace *const space = &frame->scope->space;
    const PlotAxis &x = frame->axes[CALIPER_AXIS_X1], &y = frame->axes[CALIPER_AXIS_Y1];
    space->area = frame->area;
    space->log_x = x.px.log10;
    space->log_y = y.px.log10;
    space->base_x = x.px.log10 ? std::log10(x.range.min) : x.range.min;
    space->base_y = y.px.log10 ? std::log10(y.range.min) : y.range.min;
    const double width =
        x.px.log10 ? std::log10(x.range.max / x.range.min) : x.range.max - x.range.min;
    const double height =
        y.px.log10 ? std::log10(y.range.max / y.range.min) : y.range.max - y.range.min;
    space->origin_x = x.px.from;
    space->origin_y = y.px.from;
    space->scale_x = (x.px.to - x.px.from) / width;
    space->scale_y = (y.px.to - y.px.from) / height;
    space->hovered = plot_pointer_in(frame);
    space->active = frame->active;
}

/* ---- Axes ---- */

void plot_slot_axis(uint32_t axis, const char *label, uint32_t scale, uint32_t flags)
{
    PlotFrame *const frame = plot_enter_axis("axis", axis);
    if (frame == nullptr)
        return;
    widgets_unknown_flags("axis", flags, 127);
    if (scale > CALIPER_SCALE_TIME) {
        widgets_refuse("axis", "an unknown scale", "CALIPER_SCALE_*");
        scale = CALIPER_SCALE_LINEAR;
    }
    PlotAxis *const own = &frame->axes[axis];
    own->used = true;
    own->scale = scale;
    own->flags = flags;
    widgets_copy_text(own->label, sizeof own->label, label);
}

void plot_slot_axis_range(uint32_t axis, double min, double max, uint32_t when)
{
    PlotFrame *const frame = plot_enter_axis("axis_range", axis);
    if (frame == nullptr)
        return;
    if (min > max)
        ImSwap(min, max);
    PlotAxis *const own = &frame->axes[axis];
    own->used = true;
    own->asked = true;
    own->asked_always = when == CALIPER_WHEN_ALWAYS;
    own->asked_min = min;
    own->asked_max = max;
}

void plot_slot_axis_link(uint32_t axis, double *min, double *max)
{
    PlotFrame *const frame = plot_enter_axis("axis_link", axis);
    if (frame == nullptr || min == nullptr || max == nullptr)
        return;
    PlotAxis *const own = &frame->axes[axis];
    own->used = true;
    own->link_min = min;
    own->link_max = max;
    own->range.min = *min; /* a bad pointer faults here */
    own->range.max = *max;
}

void plot_slot_axis_ticks(uint32_t axis, const double *at, const char *const *labels, int32_t count)
{
    PlotFrame *const frame = plot_enter_axis("axis_ticks", axis);
    if (frame == nullptr)
        return;
    if (count < 0 || count > PLOT_TICKS_MAX || (count > 0 && at == nullptr)) {
        widgets_refuse("axis_ticks", "no places, or more than 256", "0 to 256 ticks");
        return;
    }
    PlotAxis *const own = &frame->axes[axis];
    own->used = true;
    own->custom = true;
    own->ticks.count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!std::isfinite(at[i]))
            continue;
        PlotTick *const tick = plot_ticks_add(&own->ticks, at[i], false);
        if (labels != nullptr)
            widgets_copy_text(tick->text, sizeof tick->text, labels[i]);
        else
            plot_number_print(at[i], tick->text, sizeof tick->text);
    }
}

void plot_slot_axis_fit(uint32_t axis_mask)
{
    PlotFrame *const frame = plot_enter("axis_fit");
    if (frame == nullptr)
        return;
    if (frame->prepared) { /* the series were taken for another range */
        widgets_refuse("axis_fit", "a call after the first series", "axis calls before the series");
        return;
    }
    frame->fit_asked |= axis_mask == 0 ? 7u : axis_mask & 7u;
}

void plot_slot_view(uint32_t axis, double *out_min, double *out_max)
{
    PlotRange range = {0.0, 0.0};
    PlotFrame *const frame = plot_enter("view");
    if (frame != nullptr && axis < PLOT_AXES) {
        if (frame->series_count > 0)
            plot_settle(frame);
        const PlotAxisState &kept = frame->state->axes[axis];
        if (frame->settled)
            range = frame->axes[axis].range;
        else if (kept.valid)
            range = kept.range;
    } else if (frame != nullptr) {
        widgets_refuse("view", "an unknown axis", "CALIPER_AXIS_X1, Y1 or Y2");
    }
    if (out_min != nullptr)
        *out_min = range.min;
    if (out_max != nullptr)
        *out_max = range.max;
}
