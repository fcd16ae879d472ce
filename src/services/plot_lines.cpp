/* services/plot_lines.cpp: the slots whose points follow each other along x: line and band.
 * Frame thread. */
#include "services/plot_series.h"
#include "services/widgets_table.h"

#include <cmath>
#include <cstdio>

void plot_slot_style(uint32_t rgba, float width, uint32_t marker, float marker_size)
{
    PlotFrame *const frame = plot_enter("style");
    if (frame != nullptr)
        frame->style = PlotStyle{rgba, marker, width, marker_size};
}

/* Elements in a stretch of pixels around the pointer, if they are few enough to be looked at. */
static bool few_around(const PlotCall *call, double reach, int64_t *out_from, int64_t *out_to)
{
    enum { LOOKED_AT_MAX = 65536 };
    const PlotScale *const x = &call->frame->axes[CALIPER_AXIS_X1].px;
    const double at = static_cast<double>(ImGui::GetIO().MousePos.x);
    int64_t from = plot_find(&call->series, x, at - reach);
    int64_t to = plot_find(&call->series, x, at + reach);
    if (from > to)
        ImSwap(from, to);
    *out_from = from;
    *out_to = to;
    return to - from <= LOOKED_AT_MAX;
}

static int64_t nearest_of(PlotCall *call, int64_t from, int64_t to, bool in_x_only)
{
    const PlotScale *const x = &call->frame->axes[CALIPER_AXIS_X1].px;
    const PlotScale *const y = &call->frame->axes[call->axis_y].px;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    double nearest = HUGE_VAL;
    int64_t best = -1;
    for (int64_t i = from < 0 ? 0 : from; i < to && i < call->series.count; i++) {
        const double dx =
            plot_scale_to_px(x, plot_data_x(&call->data, i)) - static_cast<double>(pointer.x);
        const double dy =
            plot_scale_to_px(y, plot_data_y(&call->data, i)) - static_cast<double>(pointer.y);
        const double away = in_x_only ? std::fabs(dx) : std::hypot(dx, dy);
        if (!std::isnan(dy) && away < nearest) {
            nearest = away;
            best = i;
        }
    }
    plot_counters.read += static_cast<uint64_t>(to > from ? to - from : 0);
    return best;
}

/* The element whose point lies nearest to the pointer: of those within a few pixels, or in its
 * pixel column, the nearest by both, where they are few; else the nearest in x. */
static int64_t element_at_pointer(PlotCall *call)
{
    const double column = 0.5 / static_cast<double>(ui_current->scale);
    int64_t from = 0, to = 0;
    if (few_around(call, 3.0, &from, &to) || few_around(call, column, &from, &to)) {
        const int64_t best = nearest_of(call, from, to, false);
        if (best >= 0)
            return best;
    }
    const int64_t i = plot_find(&call->series, &call->frame->axes[CALIPER_AXIS_X1].px,
                                static_cast<double>(ImGui::GetIO().MousePos.x));
    return nearest_of(call, i - 2, i + 2, true);
}

/* The nearest of all, for data in any order. */
static int64_t element_by_search(PlotCall *call, const PlotItem *item)
{
    const PlotFrame *const frame = call->frame;
    const PlotScale *const x = &frame->axes[CALIPER_AXIS_X1].px;
    const PlotScale *const y = &frame->axes[call->axis_y].px;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    double nearest = HUGE_VAL;
    int64_t best = -1;
    for (int64_t i = 0; i < item->count; i++) {
        const PlotSample *const sample = &frame->samples.items[item->first + i];
        const double away =
            std::hypot(plot_scale_to_px(x, sample->x) - static_cast<double>(pointer.x),
                       plot_scale_to_px(y, sample->y) - static_cast<double>(pointer.y));
        if (away < nearest && sample->index >= 0) {
            nearest = away;
            best = sample->index;
        }
    }
    return best;
}

static void look_up(PlotCall *call, const PlotItem *item)
{
    const int64_t index = call->ascends ? element_at_pointer(call) : element_by_search(call, item);
    if (index >= 0 && plot_offer(call, index, plot_data_x(&call->data, index),
                                 plot_data_y(&call->data, index), 1e9))
        plot_name_element(call, index);
}

/* Whiskers of every point, or of every column's outermost where points are dense. */
void plot_add_whiskers(PlotCall *call)
{
    enum { WHISKERS_MAX = 4096 };
    PlotFrame *const frame = call->frame;
    PlotItem *const item = plot_item_add(call, PLOT_ITEM_WHISKERS);
    const int64_t count = call->series.count;
    const PlotScale *const x = &frame->axes[CALIPER_AXIS_X1].px;
    const double low = ImMin(x->from, x->to), high = ImMax(x->from, x->to);
    double last_px = static_cast<double>(NAN);
    if (item == nullptr)
        return;
    for (int64_t i = 0; i < count; i++) {
        const double at = plot_data_x(&call->data, i);
        const double px = plot_scale_to_px(x, at);
        const double middle = plot_data_y(&call->data, i);
        const double half = std::fabs(plot_data_y2(&call->data, i));
        if (!(px >= low && px <= high) || !std::isfinite(middle) || !std::isfinite(half))
            continue;
        const bool same_column = std::floor(px) == std::floor(last_px);
        if (same_column && frame->samples.count - item->first >= 2) {
            PlotSample *const pair = &frame->samples.items[frame->samples.count - 2];
            pair[0].y = ImMin(pair[0].y, middle - half);
            pair[1].y = ImMax(pair[1].y, middle + half);
            continue;
        }
        if (frame->samples.count - item->first >= 2 * WHISKERS_MAX ||
            !plot_samples_reserve(&frame->samples, 2))
            break;
        last_px = px;
        frame->samples.items[frame->samples.count++] = PlotSample{at, middle - half, i};
        frame->samples.items[frame->samples.count++] = PlotSample{at, middle + half, i};
    }
    plot_counters.read += static_cast<uint64_t>(count);
    plot_item_done(call, item);
}

/* With errors the whiskers' ends count too. */
PlotRange plot_range_with_errors(PlotCall *call)
{
    PlotRange range = plot_range_empty();
    for (int64_t i = 0; i < call->series.count; i++) {
        const double y = plot_data_y(&call->data, i);
        const double half = std::fabs(plot_data_y2(&call->data, i));
        plot_range_add(&range, call->series.positive_only, y);
        plot_range_add(&range, call->series.positive_only, y - half);
        plot_range_add(&range, call->series.positive_only, y + half);
    }
    plot_counters.read += static_cast<uint64_t>(call->series.count);
    return range;
}

static void extend_line(PlotCall *call)
{
    const bool errors = (call->flags & CALIPER_SERIES_ERRORS) != 0;
    PlotRange y = errors ? plot_range_with_errors(call) : plot_call_y(call, PLOT_COLUMN_Y);
    const bool to_zero = (call->flags & (CALIPER_SERIES_FILL | CALIPER_SERIES_STEM)) != 0;
    double low = 0.06, high = 0.06;
    if (to_zero && !plot_range_is_empty(y) && !call->series.positive_only) {
        low = y.min >= 0.0 ? 0.0 : low;
        high = y.max <= 0.0 ? 0.0 : high;
        plot_range_add(&y, false, 0.0);
    }
    plot_call_extend_x(call, call->x, 0.0);
    plot_call_extend_y(call, y, low, high);
}

bool plot_slot_line(const char *label, const CaliperPlotData *data, uint32_t flags)
{
    PlotCall call;
    constexpr uint32_t known = CALIPER_SERIES_STEP | CALIPER_SERIES_FILL | CALIPER_SERIES_STEM |
                               CALIPER_SERIES_ERRORS | CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND;
    if (!plot_call_begin(&call, "line", label, data, flags, known))
        return false;
    PlotFrame *const frame = call.frame;
    plot_call_index(&call, false);
    extend_line(&call);
    plot_call_place(&call);
    int32_t columns = 0;
    const PlotScale x = plot_columns(frame, &columns);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_LINE);
    bool whole;
    if (call.ascends)
        whole = plot_reduce_line(&call.series, &x, columns, &frame->samples, &plot_counters.read);
    else
        whole = plot_reduce_unordered(&call.series, &frame->axes[CALIPER_AXIS_X1].px,
                                      &frame->axes[call.axis_y].px, PLOT_UNORDERED_MAX,
                                      &frame->samples, &plot_counters.read);
    if (!whole)
        widgets_refuse("line", "more than 100000 points that do not ascend in x",
                       "fewer, or an ascending x; the rest is not drawn");
    plot_item_done(&call, item);
    if ((flags & CALIPER_SERIES_ERRORS) != 0)
        plot_add_whiskers(&call);
    if (plot_asks(&call))
        look_up(&call, item);
    return true;
}

bool plot_slot_band(const char *label, const CaliperPlotData *data, uint32_t flags)
{
    PlotCall call;
    if (!plot_call_begin(&call, "band", label, data, flags,
                         CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND))
        return false;
    PlotFrame *const frame = call.frame;
    if (call.entry != nullptr)
        call.entry->look = PlotEntry::SWATCH;
    plot_call_index(&call, true);
    if (!call.ascends) {
        widgets_refuse("band", "an x that does not ascend", "an ascending x");
        return false;
    }
    plot_call_extend_x(&call, call.x, 0.0);
    plot_call_extend_y(
        &call,
        plot_range_union(plot_call_y(&call, PLOT_COLUMN_Y), plot_call_y(&call, PLOT_COLUMN_Y2)),
        0.06, 0.06);
    plot_call_place(&call);
    int32_t columns = 0;
    const PlotScale x = plot_columns(frame, &columns);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_BAND);
    if (!plot_reduce_band(&call.series, &x, columns, &frame->samples, &plot_counters.read))
        log_item(OUT_OF_MEMORY, "band", 0ull);
    plot_item_done(&call, item);
    return true;
}
