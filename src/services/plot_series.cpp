/* services/plot_series.cpp: see plot_series.h. Frame thread. */
#include "services/plot_series.h"

#include <cmath>
#include <cstdio>
#include <cstring>

/* ---- Opening ---- */

static uint32_t next_color(PlotFrame *frame)
{
    return ui_theme_color(CALIPER_THEME_SERIES + frame->colors_used++ % 10);
}

static PlotEntry *add_entry(PlotFrame *frame, ImGuiID id, const char *label, uint32_t color,
                            bool hidden)
{
    if (frame->entry_count == PLOT_ITEMS_MAX)
        return nullptr;
    PlotEntry *const entry = &frame->entries[frame->entry_count++];
    const char *const end = ImGui::FindRenderedTextEnd(label);
    *entry = PlotEntry();
    entry->id = id;
    std::snprintf(entry->label, sizeof entry->label, "%.*s",
                  static_cast<int>(ImMin<ptrdiff_t>(end - label, PLOT_LABEL_BYTES - 1)), label);
    entry->color = color;
    entry->shown = !hidden;
    return entry;
}

bool plot_call_plain(PlotCall *call, const char *slot, const char *label, uint32_t flags,
                     uint32_t known_flags)
{
    *call = PlotCall();
    PlotFrame *const frame = plot_enter(slot);
    if (frame == nullptr)
        return false;
    widgets_unknown_flags(slot, flags, known_flags);
    plot_prepare(frame);
    call->frame = frame;
    call->flags = flags;
    call->ordinal = frame->series_count++;
    call->axis_y = (flags & CALIPER_SERIES_Y2) != 0 ? CALIPER_AXIS_Y2 : CALIPER_AXIS_Y1;
    if (call->axis_y == CALIPER_AXIS_Y2 && !frame->axes[CALIPER_AXIS_Y2].used) {
        widgets_refuse(slot, "a series on y2, which was not named", "axis(CALIPER_AXIS_Y2, ...)");
        call->axis_y = CALIPER_AXIS_Y1;
    }
    call->style = frame->style;
    frame->style = PlotStyle();
    ImGui::PushID(static_cast<int>(frame->state->id));
    const char *const shown = widgets_label(label);
    call->id = ImGui::GetID(shown);
    ImGui::PopID();
    widgets_item_done();
    if (call->style.rgba == 0)
        call->style.rgba = next_color(frame);
    const bool hidden = plot_is_hidden(frame->state, call->id);
    const bool unnamed = std::strncmp(shown, "##", 2) == 0;
    if ((flags & CALIPER_SERIES_NO_LEGEND) == 0 && !unnamed)
        call->entry = add_entry(frame, call->id, shown, call->style.rgba, hidden);
    if (frame->item_count + 3 > PLOT_ITEMS_MAX) {
        widgets_refuse(slot, "more than some 250 series in a plot", "fewer; the rest is not drawn");
        return false;
    }
    return !hidden;
}

bool plot_call_begin(PlotCall *call, const char *slot, const char *label,
                     const CaliperPlotData *given, uint32_t flags, uint32_t known_flags)
{
    PlotDataWrong wrong = {nullptr, nullptr};
    PlotData data = PlotData();
    const bool needs_y2 = (flags & CALIPER_SERIES_ERRORS) != 0 || std::strcmp(slot, "band") == 0;
    const bool good = plot_data_check(given, needs_y2, &data, &wrong);
    if (!plot_call_plain(call, slot, label, flags, known_flags))
        return false;
    if (!good) {
        widgets_refuse(slot, wrong.given, wrong.wanted);
        return false;
    }
    call->data = data;
    return true;
}

/* ---- Index and extents ---- */

/* x of data that has no index: read. */
static void scan_x(PlotCall *call)
{
    const PlotData *const data = &call->data;
    PlotRange range = plot_range_empty();
    bool ascends = true;
    double last = -HUGE_VAL;
    for (int64_t i = 0; i < data->count; i++) {
        const double x = plot_data_x(data, i);
        plot_range_add(&range, false, x);
        ascends = ascends && std::isfinite(x) && x >= last;
        last = x;
    }
    plot_counters.read += static_cast<uint64_t>(data->count);
    call->ascends = ascends;
    call->x = range;
}

static void range_of_counted_x(PlotCall *call)
{
    const int64_t count = call->series.count;
    call->ascends = true;
    call->x = plot_range_empty();
    if (count == 0)
        return;
    plot_range_add(&call->x, false, plot_data_x(&call->data, 0));
    plot_range_add(&call->x, false, plot_data_x(&call->data, count - 1));
}

void plot_call_index(PlotCall *call, bool with_y2)
{
    PlotFrame *const frame = call->frame;
    const bool log_y = frame->axes[call->axis_y].scale == CALIPER_SCALE_LOG10;
    call->series = PlotSeries();
    call->series.data = &call->data;
    call->series.count = call->data.count;
    call->series.positive_only = log_y;
    const uint64_t key = static_cast<uint64_t>(frame->state->id) << 32 | call->id;
    call->cache = plot_cache_get(key, &call->data, log_y);
    if (call->cache != nullptr) {
        const int64_t count = plot_cache_index(call->cache, &call->data, with_y2);
        if (call->cache->index == nullptr)
            call->cache = nullptr; /* no memory: read as if without a revision */
        else
            call->series.count = count;
    }
    if (call->cache != nullptr) {
        call->series.index = call->cache->index;
        call->series.index2 = call->cache->index2;
        frame->incomplete |= call->series.count < call->data.count;
    }
    if (call->data.columns[PLOT_COLUMN_X] == nullptr) {
        range_of_counted_x(call);
    } else if (call->cache != nullptr) {
        call->ascends = plot_index_x_ascends(call->cache->index, &call->data);
        call->x = plot_index_x(call->cache->index);
    } else {
        scan_x(call);
    }
}

PlotRange plot_call_y(PlotCall *call, PlotColumn column)
{
    const PlotIndex *const index =
        column == PLOT_COLUMN_Y ? call->series.index : call->series.index2;
    if (index != nullptr)
        return plot_index_whole(index);
    plot_counters.read += static_cast<uint64_t>(call->data.count);
    return plot_scan(&call->data, column, 0, call->data.count, call->series.positive_only).range;
}

static void extend(PlotAxis *axis, PlotRange range, double pad_low, double pad_high)
{
    if (plot_range_is_empty(range))
        return;
    if (axis->scale == CALIPER_SCALE_LOG10 && range.min <= 0.0) {
        if (range.max <= 0.0)
            return;
        range.min = range.max * 1e-3;
    }
    if (range.min < axis->extent.min)
        axis->pad_low = pad_low;
    if (range.max > axis->extent.max)
        axis->pad_high = pad_high;
    axis->extent = plot_range_union(axis->extent, range);
}

/* The least x above 0 of those that ascend; 0: there is none, or they do not. */
static double least_positive_x(const PlotCall *call)
{
    const int64_t count = call->series.count;
    int64_t low = 0, high = count;
    while (call->ascends && low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (plot_data_x(&call->data, middle) > 0.0)
            high = middle;
        else
            low = middle + 1;
    }
    return call->ascends && low < count ? plot_data_x(&call->data, low) : 0.0;
}

void plot_call_extend_x(PlotCall *call, PlotRange range, double pad)
{
    const PlotAxis *const x = &call->frame->axes[CALIPER_AXIS_X1];
    const bool of_points = range.min == call->x.min && range.max == call->x.max;
    if (x->scale == CALIPER_SCALE_LOG10 && range.min <= 0.0 && range.max > 0.0 && of_points) {
        const double least = least_positive_x(call);
        if (least > 0.0)
            range.min = least;
    }
    extend(&call->frame->axes[CALIPER_AXIS_X1], range, pad, pad);
}

void plot_call_extend_y(PlotCall *call, PlotRange range, double pad_low, double pad_high)
{
    extend(&call->frame->axes[call->axis_y], range, pad_low, pad_high);
}

void plot_call_place(PlotCall *call)
{
    PlotFrame *const frame = call->frame;
    bool fits = false;
    for (const PlotAxis &axis : frame->axes)
        fits |= axis.used && (axis.fit_min || axis.fit_max);
    if (fits && !frame->settled)
        plot_layout(frame);
}

PlotScale plot_columns(const PlotFrame *frame, int32_t *out_columns)
{
    PlotScale scale = frame->axes[CALIPER_AXIS_X1].px;
    const double width_px = static_cast<double>(frame->area.GetWidth() * ui_current->scale);
    const double columns = ImClamp(std::ceil(width_px), 1.0, 32768.0);
    const bool turned = scale.to < scale.from;
    scale.from = turned ? columns : 0.0;
    scale.to = turned ? 0.0 : columns;
    *out_columns = static_cast<int32_t>(columns);
    return scale;
}

/* ---- Things to draw ---- */

PlotItem *plot_item_add(PlotCall *call, PlotItemKind kind)
{
    PlotFrame *const frame = call->frame;
    if (frame->item_count == PLOT_ITEMS_MAX)
        return nullptr;
    PlotItem *const item = &frame->items[frame->item_count++];
    *item = PlotItem();
    item->kind = kind;
    item->axis_y = call->axis_y;
    item->color = call->style.rgba;
    item->flags = call->flags;
    const float width = call->style.width;
    item->width = std::isfinite(width) && width > 0.0f ? ImMin(width, 64.0f) : 1.5f;
    const float size = call->style.marker_size;
    item->marker_size = std::isfinite(size) && size > 0.0f ? ImMin(size, 256.0f) : 4.0f;
    item->marker = call->style.marker <= CALIPER_MARKER_PLUS
                       ? call->style.marker
                       : static_cast<uint32_t>(CALIPER_MARKER_CIRCLE);
    item->first = frame->samples.count;
    item->colors_first = -1;
    return item;
}

void plot_item_done(PlotCall *call, PlotItem *item)
{
    PlotFrame *const frame = call->frame;
    item->count = frame->samples.count - item->first;
    plot_counters.drawn += static_cast<uint64_t>(item->count);
    if (frame->settled)
        plot_draw_item(frame, item);
}

/* ---- The point under the pointer ---- */

bool plot_asks(const PlotCall *call)
{
    const PlotFrame *const frame = call->frame;
    return (frame->flags & CALIPER_PLOT_NO_HOVER) == 0 && plot_pointer_in(frame) &&
           frame->state->drag == PLOT_DRAG_NONE;
}

bool plot_offer(PlotCall *call, int64_t index, double x, double y, double most)
{
    PlotFrame *const frame = call->frame;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    const double px = plot_scale_to_px(&frame->axes[CALIPER_AXIS_X1].px, x);
    const double py = plot_scale_to_px(&frame->axes[call->axis_y].px, y);
    if (std::isnan(px) || std::isnan(py))
        return false;
    const double distance =
        std::hypot(px - static_cast<double>(pointer.x), py - static_cast<double>(pointer.y));
    PlotNear *const near = &frame->near;
    if (distance > most || (near->found && distance >= near->distance))
        return false;
    *near = PlotNear();
    near->found = true;
    near->distance = distance;
    near->series = call->ordinal;
    near->index = index;
    near->x = x;
    near->y = y;
    near->axis_y = call->axis_y;
    near->color = call->style.rgba;
    near->ring = true;
    return true;
}

static const char *axis_name(const PlotAxis *axis, const char *fallback)
{
    return axis->label[0] != '\0' ? axis->label : fallback;
}

void plot_name_element(PlotCall *call, int64_t index)
{
    PlotNear *const near = &call->frame->near;
    const PlotAxis *const x = &call->frame->axes[CALIPER_AXIS_X1];
    char value[48];
    std::snprintf(near->title, sizeof near->title, "%s",
                  call->entry != nullptr ? call->entry->label : "");
    plot_data_print(&call->data, PLOT_COLUMN_X, index, value, sizeof value);
    if (x->scale == CALIPER_SCALE_TIME) {
        plot_time_print(near->x, (x->flags & CALIPER_AXIS_LOCAL_TIME) != 0, value, sizeof value);
        std::snprintf(near->lines[0], sizeof near->lines[0], "%s", value);
    } else {
        std::snprintf(near->lines[0], sizeof near->lines[0], "%.40s  %s", axis_name(x, "x"), value);
    }
    plot_data_print(&call->data, PLOT_COLUMN_Y, index, value, sizeof value);
    std::snprintf(near->lines[1], sizeof near->lines[1], "%.40s  %s",
                  axis_name(&call->frame->axes[call->axis_y], "y"), value);
    if (call->data.columns[PLOT_COLUMN_Y2] != nullptr &&
        (call->flags & CALIPER_SERIES_ERRORS) != 0) {
        plot_data_print(&call->data, PLOT_COLUMN_Y2, index, value, sizeof value);
        std::snprintf(near->lines[2], sizeof near->lines[2], "± %s", value);
    }
    const int64_t dropped =
        call->series.index != nullptr ? plot_index_dropped(call->series.index) : 0;
    if (dropped > 0 && near->lines[2][0] == '\0')
        std::snprintf(near->lines[2], sizeof near->lines[2], "%lld not shown%s",
                      static_cast<long long>(dropped),
                      call->series.positive_only ? " (not finite, or <= 0)" : " (not finite)");
}
