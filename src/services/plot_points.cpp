/* services/plot_points.cpp: the slots whose points stand alone: scatter, bars, histogram.
 * Frame thread. */
#include "services/plot_series.h"
#include "services/widgets_table.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* ---- Scatter ---- */

/* Cells of two pixels that hold a mark already: of marks on one another only the first is drawn. */
struct Taken {
    uint8_t *bits;
    int32_t columns, rows;
};

static Taken take_cells(const PlotFrame *frame)
{
    const float cells_a_unit = ui_current->scale * 0.5f;
    Taken taken = {};
    taken.columns =
        static_cast<int32_t>(ImClamp(frame->area.GetWidth() * cells_a_unit, 1.f, 8192.f));
    taken.rows = static_cast<int32_t>(ImClamp(frame->area.GetHeight() * cells_a_unit, 1.f, 8192.f));
    const size_t bytes =
        (static_cast<size_t>(taken.columns) * static_cast<size_t>(taken.rows) + 7) / 8;
    taken.bits = reinterpret_cast<uint8_t *>(widgets_scratch(bytes));
    if (taken.bits != nullptr)
        std::memset(taken.bits, 0, bytes);
    return taken;
}

static bool take(const Taken *taken, const ImRect &area, double px, double py)
{
    if (taken->bits == nullptr)
        return true;
    const double share_x =
        (px - static_cast<double>(area.Min.x)) / static_cast<double>(area.GetWidth());
    const double share_y =
        (py - static_cast<double>(area.Min.y)) / static_cast<double>(area.GetHeight());
    const int32_t column =
        ImClamp(static_cast<int32_t>(share_x * taken->columns), 0, taken->columns - 1);
    const int32_t row = ImClamp(static_cast<int32_t>(share_y * taken->rows), 0, taken->rows - 1);
    const size_t cell = static_cast<size_t>(row) * static_cast<size_t>(taken->columns) +
                        static_cast<size_t>(column);
    const uint8_t bit = static_cast<uint8_t>(1u << (cell & 7));
    if ((taken->bits[cell >> 3] & bit) != 0)
        return false;
    taken->bits[cell >> 3] |= bit;
    return true;
}

static void add_marks(PlotCall *call, PlotItem *item)
{
    PlotFrame *const frame = call->frame;
    const PlotScale *const x = &frame->axes[CALIPER_AXIS_X1].px;
    const PlotScale *const y = &frame->axes[call->axis_y].px;
    ImRect near_area = frame->area;
    near_area.Expand(item->marker_size);
    const bool thin = call->data.count > PLOT_SHAPES_MAX;
    const Taken taken = thin ? take_cells(frame) : Taken();
    const uint32_t *const rgba = call->data.rgba;
    if (rgba != nullptr)
        item->colors_first = frame->colors.Size;
    const bool asks = plot_asks(call);
    int64_t lit = -1;
    for (int64_t i = 0; i < call->data.count; i++) {
        const double at_x = plot_data_x(&call->data, i), at_y = plot_data_y(&call->data, i);
        const double px = plot_scale_to_px(x, at_x), py = plot_scale_to_px(y, at_y);
        if (!(px >= static_cast<double>(near_area.Min.x) &&
              px <= static_cast<double>(near_area.Max.x) &&
              py >= static_cast<double>(near_area.Min.y) &&
              py <= static_cast<double>(near_area.Max.y)))
            continue;
        if (asks && plot_offer(call, i, at_x, at_y, 24.0))
            lit = i;
        if (thin && !take(&taken, frame->area, px, py))
            continue;
        if (!plot_samples_reserve(&frame->samples, 1))
            break;
        frame->samples.items[frame->samples.count++] = PlotSample{at_x, at_y, i};
        if (rgba != nullptr)
            frame->colors.push_back(rgba[plot_data_place(&call->data, i)]);
    }
    plot_counters.read += static_cast<uint64_t>(call->data.count);
    if (lit >= 0)
        plot_name_element(call, lit);
}

bool plot_slot_scatter(const char *label, const CaliperPlotData *data, uint32_t flags)
{
    PlotCall call;
    if (!plot_call_begin(&call, "scatter", label, data, flags,
                         CALIPER_SERIES_ERRORS | CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND))
        return false;
    if (call.style.marker == CALIPER_MARKER_NONE)
        call.style.marker = CALIPER_MARKER_CIRCLE;
    if (call.entry != nullptr) {
        call.entry->look = PlotEntry::MARK;
        call.entry->marker = call.style.marker;
    }
    plot_call_index(&call, false);
    const bool errors = (flags & CALIPER_SERIES_ERRORS) != 0;
    plot_call_extend_x(&call, call.x, 0.04);
    plot_call_extend_y(&call,
                       errors ? plot_range_with_errors(&call) : plot_call_y(&call, PLOT_COLUMN_Y),
                       0.06, 0.06);
    plot_call_place(&call);
    if (errors)
        plot_add_whiskers(&call);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_MARKS);
    add_marks(&call, item);
    plot_item_done(&call, item);
    return true;
}

/* ---- Bars ---- */

static double bar_spacing(const PlotCall *call)
{
    if (call->data.columns[PLOT_COLUMN_X] == nullptr)
        return std::fabs(call->data.dx);
    const double width = plot_range_is_empty(call->x) ? 0.0 : call->x.max - call->x.min;
    return call->data.count > 1 && width > 0.0 ? width / static_cast<double>(call->data.count - 1)
                                               : 1.0;
}

static void add_bar(PlotCall *call, const PlotItem *item, int64_t i, double at, double height)
{
    PlotFrame *const frame = call->frame;
    const bool flat = (call->flags & CALIPER_SERIES_HORIZONTAL) != 0;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    frame->samples.items[frame->samples.count++] = PlotSample{at, height, i};
    if (item->colors_first >= 0)
        frame->colors.push_back(call->data.rgba[plot_data_place(&call->data, i)]);
    if (!plot_asks(call))
        return;
    const PlotScale *const along =
        flat ? &frame->axes[call->axis_y].px : &frame->axes[CALIPER_AXIS_X1].px;
    const double under =
        plot_scale_from_px(along, static_cast<double>(flat ? pointer.y : pointer.x));
    if (!(std::fabs(under - at) <= item->half))
        return;
    if (plot_offer(call, i, flat ? height : at, flat ? at : height, 1e9)) {
        frame->near.ring = false;
        plot_name_element(call, i);
    }
}

/* Every bar in sight; where they are much narrower than a pixel the outline is enough. */
static void add_bars(PlotCall *call, PlotItem *item)
{
    PlotFrame *const frame = call->frame;
    const bool flat = (call->flags & CALIPER_SERIES_HORIZONTAL) != 0;
    int32_t columns = 0;
    const PlotScale x = plot_columns(frame, &columns);
    const int64_t count = call->series.count;
    if (call->data.rgba != nullptr)
        item->colors_first = frame->colors.Size;
    if (!flat && call->ascends && item->colors_first < 0 &&
        count > 4 * static_cast<int64_t>(columns)) {
        if (!plot_reduce_line(&call->series, &x, columns, &frame->samples, &plot_counters.read))
            log_item(OUT_OF_MEMORY, "bars", 0ull);
        return;
    }
    const PlotScale *const along =
        flat ? &frame->axes[call->axis_y].px : &frame->axes[CALIPER_AXIS_X1].px;
    const double low = ImMin(along->from, along->to), high = ImMax(along->from, along->to);
    for (int64_t i = 0; i < count; i++) {
        const double at = plot_data_x(&call->data, i), height = plot_data_y(&call->data, i);
        const double a = plot_scale_to_px(along, at - item->half);
        const double b = plot_scale_to_px(along, at + item->half);
        if (!std::isfinite(at) || !std::isfinite(height) || ImMax(a, b) < low || ImMin(a, b) > high)
            continue;
        if (frame->samples.count - item->first >= PLOT_UNORDERED_MAX ||
            !plot_samples_reserve(&frame->samples, 1)) {
            widgets_refuse("bars", "more than 100000 bars in sight",
                           "fewer; the rest is not drawn");
            break;
        }
        add_bar(call, item, i, at, height);
    }
    plot_counters.read += static_cast<uint64_t>(count);
}

bool plot_slot_bars(const char *label, const CaliperPlotData *data, double bar_width,
                    uint32_t flags)
{
    PlotCall call;
    constexpr uint32_t known = CALIPER_SERIES_HORIZONTAL | CALIPER_SERIES_ERRORS |
                               CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND;
    if (!plot_call_begin(&call, "bars", label, data, flags, known))
        return false;
    if (call.entry != nullptr)
        call.entry->look = PlotEntry::SWATCH;
    plot_call_index(&call, false);
    const bool errors = (flags & CALIPER_SERIES_ERRORS) != 0;
    const bool flat = (flags & CALIPER_SERIES_HORIZONTAL) != 0;
    const double width =
        std::isfinite(bar_width) && bar_width > 0.0 ? bar_width : 0.8 * bar_spacing(&call);
    PlotRange places = call.x,
              heights = errors ? plot_range_with_errors(&call) : plot_call_y(&call, PLOT_COLUMN_Y);
    if (!plot_range_is_empty(places))
        places = PlotRange{places.min - width * 0.6, places.max + width * 0.6};
    const PlotAxis *const tall =
        &call.frame->axes[flat ? static_cast<uint32_t>(CALIPER_AXIS_X1) : call.axis_y];
    if (!plot_range_is_empty(heights) && tall->scale != CALIPER_SCALE_LOG10)
        plot_range_add(&heights, false, 0.0);
    const double low = heights.min >= 0.0 ? 0.0 : 0.06, high = heights.max <= 0.0 ? 0.0 : 0.06;
    if (flat) {
        plot_call_extend_x(&call, heights, low > high ? low : high);
        plot_call_extend_y(&call, places, 0.0, 0.0);
    } else {
        plot_call_extend_x(&call, places, 0.0);
        plot_call_extend_y(&call, heights, low, high);
    }
    plot_call_place(&call);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_BARS);
    item->half = width * 0.5;
    add_bars(&call, item);
    plot_item_done(&call, item);
    if (errors && !flat) {
        call.style.rgba = ui_theme_color(CALIPER_THEME_TEXT);
        plot_add_whiskers(&call);
    }
    return true;
}

/* ---- Histogram ---- */

/* Counts of the call's data, from the cache or counted now into memory that is kept. */
static const int64_t *count_bins(PlotCall *call, int32_t bins, double lo, double hi, PlotBins *out)
{
    static int64_t *kept;
    static int32_t kept_count;
    if (call->cache != nullptr)
        return plot_cache_bins(call->cache, &call->data, bins, lo, hi, out);
    *out = plot_bins_choose(&call->data, bins, lo, hi);
    if (out->count > kept_count) {
        int64_t *const bigger = static_cast<int64_t *>(
            std::realloc(kept, sizeof(int64_t) * static_cast<size_t>(out->count)));
        if (bigger == nullptr)
            return nullptr;
        kept = bigger;
        kept_count = out->count;
    }
    plot_bins_count(out, &call->data, kept);
    plot_counters.read += static_cast<uint64_t>(call->data.count);
    return kept;
}

static void name_bin(PlotCall *call, const PlotBins *bins, int32_t bin, int64_t count,
                     double height)
{
    PlotNear *const near = &call->frame->near;
    char from[32], to[32], value[32];
    near->ring = false;
    std::snprintf(near->title, sizeof near->title, "%s",
                  call->entry != nullptr ? call->entry->label : "");
    std::snprintf(from, sizeof from, "%.7g", plot_bins_edge(bins, bin));
    std::snprintf(to, sizeof to, "%.7g", plot_bins_edge(bins, bin + 1));
    std::snprintf(near->lines[0], sizeof near->lines[0], "%s to %s", from, to);
    if ((call->flags & (CALIPER_SERIES_DENSITY | CALIPER_SERIES_CUMULATIVE)) != 0) {
        std::snprintf(value, sizeof value, "%.7g", height);
        std::snprintf(near->lines[1], sizeof near->lines[1], "%s  (%lld values)", value,
                      static_cast<long long>(count));
    } else {
        std::snprintf(near->lines[1], sizeof near->lines[1], "%lld values",
                      static_cast<long long>(count));
    }
    if (bins->outside > 0 || bins->not_finite > 0)
        std::snprintf(near->lines[2], sizeof near->lines[2], "%lld outside, %lld not finite",
                      static_cast<long long>(bins->outside),
                      static_cast<long long>(bins->not_finite));
}

static PlotRange bin_heights(PlotCall *call, const PlotBins *bins, const int64_t *counts)
{
    PlotFrame *const frame = call->frame;
    const bool log_y = frame->axes[call->axis_y].scale == CALIPER_SCALE_LOG10;
    const bool density = (call->flags & CALIPER_SERIES_DENSITY) != 0;
    const bool sum = (call->flags & CALIPER_SERIES_CUMULATIVE) != 0;
    const double width = (bins->hi - bins->lo) / static_cast<double>(bins->count);
    const double all = static_cast<double>(bins->inside > 0 ? bins->inside : 1);
    int64_t total = 0;
    PlotRange heights = plot_range_empty();
    for (int32_t i = 0; i < bins->count; i++) {
        total += counts[i];
        double height = static_cast<double>(sum ? total : counts[i]);
        if (density)
            height /= sum ? all : all * width;
        const double middle = plot_bins_edge(bins, i) + width * 0.5;
        frame->samples.items[frame->samples.count++] = PlotSample{middle, height, i};
        plot_range_add(&heights, log_y, height);
    }
    if (log_y && !plot_range_is_empty(heights))
        heights.min *= 0.5; /* a bar of the least count is seen */
    else
        plot_range_add(&heights, false, 0.0);
    return heights;
}

static void look_up_bin(PlotCall *call, const PlotItem *item, const PlotBins *bins,
                        const int64_t *counts)
{
    const PlotFrame *const frame = call->frame;
    const double x = plot_scale_from_px(&frame->axes[CALIPER_AXIS_X1].px,
                                        static_cast<double>(ImGui::GetIO().MousePos.x));
    if (!(x >= bins->lo && x <= bins->hi))
        return;
    const double share = (x - bins->lo) / (bins->hi - bins->lo);
    const int32_t bin = ImClamp(static_cast<int32_t>(share * bins->count), 0, bins->count - 1);
    const PlotSample *const sample = &frame->samples.items[item->first + bin];
    /* An empty bin of a logarithmic axis has no place of its own. */
    const double height = sample->y > 0.0 ? sample->y : frame->axes[call->axis_y].range.min;
    if (plot_offer(call, bin, sample->x, height, 1e9))
        name_bin(call, bins, bin, counts[bin], sample->y);
}

bool plot_slot_histogram(const char *label, const CaliperPlotData *data, int32_t bins, double lo,
                         double hi, uint32_t flags)
{
    PlotCall call;
    constexpr uint32_t known = CALIPER_SERIES_DENSITY | CALIPER_SERIES_CUMULATIVE |
                               CALIPER_SERIES_Y2 | CALIPER_SERIES_NO_LEGEND;
    if (!plot_call_begin(&call, "histogram", label, data, flags, known))
        return false;
    PlotFrame *const frame = call.frame;
    if (call.entry != nullptr)
        call.entry->look = PlotEntry::SWATCH;
    call.cache =
        plot_cache_get(static_cast<uint64_t>(frame->state->id) << 32 | call.id, &call.data, false);
    PlotBins chosen = {};
    const int64_t *const counts = count_bins(&call, bins, lo, hi, &chosen);
    PlotItem *const item = plot_item_add(&call, PLOT_ITEM_BARS);
    if (counts == nullptr || !plot_samples_reserve(&frame->samples, chosen.count)) {
        log_item(OUT_OF_MEMORY, "histogram", 0ull);
        plot_item_done(&call, item);
        return false;
    }
    const PlotRange heights = bin_heights(&call, &chosen, counts);
    item->half = (chosen.hi - chosen.lo) / static_cast<double>(chosen.count) * 0.5;
    plot_call_extend_x(&call, PlotRange{chosen.lo, chosen.hi}, 0.0);
    plot_call_extend_y(&call, heights, 0.0, 0.06);
    plot_call_place(&call);
    if (plot_asks(&call))
        look_up_bin(&call, item, &chosen, counts);
    plot_item_done(&call, item);
    return true;
}
