/* services/plot_marks.cpp: the slots that put a picture, a line across or a span into a plot, and
 * those that ask. Frame thread. */
#include "services/plot_series.h"
#include "services/widgets_table.h"

#include <cmath>
#include <cstdio>

bool plot_slot_image(const char *label, CaliperTextureId tex, double x0, double y0, double x1,
                     double y1, uint32_t flags)
{
    PlotCall call;
    if (!plot_call_plain(&call, "image", label, flags,
                         CALIPER_SERIES_LINEAR | CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND))
        return false;
    if (!std::isfinite(x0 + x1) || !std::isfinite(y0 + y1) || x0 == x1 || y0 == y1) {
        widgets_refuse("image", "corners that are not finite, or no size",
                       "two corners that are apart");
        return false;
    }
    if (call.entry != nullptr)
        call.entry->look = PlotEntry::SWATCH;
    plot_call_extend_x(&call, PlotRange{ImMin(x0, x1), ImMax(x0, x1)}, 0.0);
    plot_call_extend_y(&call, PlotRange{ImMin(y0, y1), ImMax(y0, y1)}, 0.0, 0.0);
    plot_call_place(&call);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_IMAGE);
    item->texture = tex;
    const double corners[4] = {x0, y0, x1, y1};
    for (int i = 0; i < 4; i++)
        item->values[i] = corners[i];
    plot_item_done(&call, item);
    return true;
}

/* Lines across and spans take none of the series' colours. */
static void default_color(uint32_t theme)
{
    PlotFrame *const frame = plot_current();
    if (frame != nullptr && frame->style.rgba == 0)
        frame->style.rgba = ui_theme_color(theme);
}

/* The person holds this line: where the pointer is. */
static bool drag_line(PlotCall *call, const PlotAxis *axis, bool upright, double *at)
{
    PlotState *const state = call->frame->state;
    if (state->drag != PLOT_DRAG_REF || state->drag_ref != call->id)
        return false;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    const double low = ImMin(axis->px.from, axis->px.to), high = ImMax(axis->px.from, axis->px.to);
    const double px = ImClamp(static_cast<double>(upright ? pointer.x : pointer.y), low, high);
    const double moved = plot_scale_from_px(&axis->px, px);
    if (!std::isfinite(moved) || moved == *at)
        return false;
    *at = moved;
    return true;
}

bool plot_slot_ref_line(const char *label, uint32_t axis, double *at, uint32_t flags)
{
    PlotCall call;
    if (!widgets_enter("ref_line") || at == nullptr)
        return false;
    double place = *at;
    default_color(CALIPER_THEME_WARN);
    if (!plot_call_plain(&call, "ref_line", label, flags,
                         CALIPER_SERIES_DRAG | CALIPER_SERIES_NO_LEGEND))
        return false;
    if (axis >= PLOT_AXES) {
        widgets_refuse("ref_line", "an unknown axis", "CALIPER_AXIS_X1, Y1 or Y2");
        return false;
    }
    const bool upright = axis == CALIPER_AXIS_X1;
    const PlotAxis *const own = &call.frame->axes[axis];
    const bool drags = (flags & CALIPER_SERIES_DRAG) != 0;
    const bool changed = drags && drag_line(&call, own, upright, &place);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_REF);
    item->axis = axis;
    item->values[0] = place;
    item->lit = drags && call.frame->state->drag_ref == call.id;
    const double px = plot_scale_to_px(&own->px, place);
    PlotState *const state = call.frame->state;
    if (drags && std::isfinite(px) && state->ref_count < PLOT_REFS_MAX) {
        auto *const ref = &state->refs[state->ref_count++];
        ref->id = call.id;
        ref->at = static_cast<float>(px);
        ref->upright = upright;
        const ImVec2 pointer = ImGui::GetIO().MousePos;
        if (plot_pointer_in(call.frame) && state->drag == PLOT_DRAG_NONE &&
            std::fabs((upright ? pointer.x : pointer.y) - ref->at) <= 5.0f) {
            item->lit = true;
            ImGui::SetMouseCursor(upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
        }
    }
    plot_item_done(&call, item);
    if (!changed)
        return false;
    *at = place;
    return true;
}

void plot_slot_ref_span(const char *label, uint32_t axis, double lo, double hi)
{
    PlotCall call;
    default_color(CALIPER_THEME_TEXT_DIM);
    if (!plot_call_plain(&call, "ref_span", label, CALIPER_SERIES_NO_LEGEND, ~0u))
        return;
    if (axis >= PLOT_AXES || std::isnan(lo) || std::isnan(hi)) {
        widgets_refuse("ref_span", "an unknown axis, or NaN", "CALIPER_AXIS_* and two ends");
        return;
    }
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_SPAN);
    item->axis = axis;
    item->values[0] = ImMin(lo, hi);
    item->values[1] = ImMax(lo, hi);
    plot_item_done(&call, item);
}

/* ---- Asking ---- */

bool plot_slot_shown(const char *label, int32_t set)
{
    PlotFrame *const frame = plot_enter("shown");
    if (frame == nullptr)
        return false;
    /* As plot_call_plain makes it, but without the rule for a label that comes twice. */
    ImGui::PushID(static_cast<int>(frame->state->id));
    const ImGuiID id = ImGui::GetID(widgets_plain_label(label));
    ImGui::PopID();
    widgets_item_done();
    if (set == 0 || set == 1)
        plot_set_hidden(frame->state, id, set == 0);
    return !plot_is_hidden(frame->state, id);
}

bool plot_slot_nearest(int32_t *out_series, int64_t *out_index)
{
    PlotFrame *const frame = plot_enter("nearest");
    if (frame == nullptr || !frame->near.found)
        return false;
    if (out_series != nullptr)
        *out_series = frame->near.series;
    if (out_index != nullptr)
        *out_index = frame->near.index;
    return true;
}

bool plot_slot_selection(double *out_x0, double *out_y0, double *out_x1, double *out_y1)
{
    PlotFrame *const frame = plot_enter("selection");
    if (frame == nullptr || !frame->state->selected)
        return false;
    double *const outs[4] = {out_x0, out_y0, out_x1, out_y1};
    for (int i = 0; i < 4; i++) {
        if (outs[i] != nullptr)
            *outs[i] = frame->state->selection[i];
    }
    frame->state->selected = false;
    return true;
}
