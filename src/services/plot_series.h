/* services/plot_series.h: what the series slots share: the call's checked data, its place in the
 * legend, its index, and the point under the pointer. C++; included by services/plot*.cpp only.
 * Frame thread. */
#ifndef CALIPER_SERVICES_PLOT_SERIES_H
#define CALIPER_SERVICES_PLOT_SERIES_H

#include "services/plot_internal.h"

struct PlotCall { /* one series call */
    PlotFrame *frame;
    PlotData data;
    PlotEntry *entry;
    ImGuiID id;
    int32_t ordinal; /* nth series call */
    uint32_t axis_y, flags;
    PlotStyle style;
    PlotCacheEntry *cache; /* nullptr: no revision */
    PlotSeries series;
    bool ascends; /* in x */
    PlotRange x;  /* of what is shown */
};

/* Opens a series slot. False: refused or hidden. */
bool plot_call_begin(PlotCall *call, const char *slot, const char *label,
                     const CaliperPlotData *data, uint32_t flags, uint32_t known_flags);
/* The same for what has no data: only the legend and the style. */
bool plot_call_plain(PlotCall *call, const char *slot, const char *label, uint32_t flags,
                     uint32_t known_flags);

/* Finds or makes the index and says how the data lies in x. */
void plot_call_index(PlotCall *call, bool with_y2);
/* The range of y (or y2) of all that is shown. */
PlotRange plot_call_y(PlotCall *call, PlotColumn column);

/* Takes extents into the axes; pads are shares that a fit adds. */
void plot_call_extend_x(PlotCall *call, PlotRange range, double pad);
void plot_call_extend_y(PlotCall *call, PlotRange range, double pad_low, double pad_high);
/* Ranges and area are brought up to date; the series can be placed. */
void plot_call_place(PlotCall *call);

/* The x axis over whole pixel columns, and how many there are. */
PlotScale plot_columns(const PlotFrame *frame, int32_t *out_columns);

/* A new thing to draw, with the call's style and no samples yet; nullptr when there are too many.
 */
PlotItem *plot_item_add(PlotCall *call, PlotItemKind kind);
/* Its samples are complete. */
void plot_item_done(PlotCall *call, PlotItem *item);

/* Whiskers of y2 around y, as an item of their own (plot_lines.cpp); and the range with them. */
void plot_add_whiskers(PlotCall *call);
PlotRange plot_range_with_errors(PlotCall *call);

/* Whether the pointer asks for points. */
bool plot_asks(const PlotCall *call);
/* Offers the point (x, y) to the read-out; true when it becomes the one. */
bool plot_offer(PlotCall *call, int64_t index, double x, double y, double most);
/* Names element `index` with the values as they are stored. */
void plot_name_element(PlotCall *call, int64_t index);

#endif
