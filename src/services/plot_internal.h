/* services/plot_internal.h: what the files of the plots share: the plot being drawn, what is kept
 * of it between frames, and the steps from axes to pixels. C++; included by services/plot*.cpp and
 * widgets.cpp only. Frame thread.
 *
 * A plot is drawn in one frame, without looking back: axis calls come first; each series call reads
 * its data and leaves the samples that the pixels need; the first call that is neither, or the end,
 * settles the plot: ranges are final, the axes are laid out, all is drawn. */
#ifndef CALIPER_SERVICES_PLOT_INTERNAL_H
#define CALIPER_SERVICES_PLOT_INTERNAL_H

#include <caliper/services/plot_v1.h>

#include "services/plot_cache.h"
#include "services/plot_reduce.h"
#include "services/plot_ticks.h"
#include "services/widgets_internal.h"

enum {
    PLOT_AXES = 3,
    PLOT_NESTED_MAX = 4,
    PLOT_ITEMS_MAX = 256,
    PLOT_HIDDEN_MAX = 64,
    PLOT_REFS_MAX = 16,
    PLOT_LABEL_BYTES = 128,
    PLOT_STATES_MAX = 4096,
    PLOT_UNORDERED_MAX = 100000, /* samples of a series whose x does not ascend */
    PLOT_SHAPES_MAX = 4000       /* marks with their true shape; more become squares */
};

/* ---- Kept between frames ---- */

struct PlotAxisState {
    PlotRange range;
    PlotRange data; /* what it was fitted to last, before the padding */
    bool valid;     /* false: fits */
    bool moved;     /* by the person, since the last fit */
    bool moved_now; /* in this frame */
    bool used;
    uint32_t scale, flags;
};

enum PlotDrag { PLOT_DRAG_NONE = 0, PLOT_DRAG_PAN, PLOT_DRAG_BOX, PLOT_DRAG_SELECT, PLOT_DRAG_REF };

struct PlotState {
    ImGuiID id;
    uint64_t frame; /* drawn last */
    PlotAxisState axes[PLOT_AXES];
    ImRect area;       /* of the last frame */
    float left, right; /* margins so far: they do not shrink until a fit */
    PlotDrag drag;
    uint32_t drag_axes; /* mask */
    ImVec2 drag_from;
    ImGuiID drag_ref;
    bool clicked;     /* and the pointer has not left since */
    bool takes_wheel; /* of the last frame: the page did not scroll by it */
    bool selected;    /* a box waits to be asked for */
    double selection[4];
    ImGuiID hidden[PLOT_HIDDEN_MAX];
    int32_t hidden_count;
    struct {
        ImGuiID id;
        float at;
        bool upright;
    } refs[PLOT_REFS_MAX]; /* lines that can be dragged, where they were drawn */
    int32_t ref_count;
    int32_t legend_corner; /* 0: not chosen yet; 1 top right, 2 top left, 3 and 4 below them */
};

/* ---- Of this frame ---- */

struct PlotAxis {
    bool used, fit_min, fit_max, fixed_min, fixed_max, custom;
    char label[PLOT_LABEL_BYTES];
    uint32_t scale, flags;
    PlotRange range;  /* so far */
    PlotRange extent; /* of the series so far */
    double pad_low, pad_high;
    double *link_min, *link_max;
    double asked_min, asked_max; /* axis_range */
    bool asked, asked_always;
    PlotTicks ticks;
    PlotScale px; /* to the window's units */
};

enum PlotItemKind {
    PLOT_ITEM_LINE = 0,
    PLOT_ITEM_MARKS,
    PLOT_ITEM_BARS,
    PLOT_ITEM_BAND,
    PLOT_ITEM_WHISKERS,
    PLOT_ITEM_IMAGE,
    PLOT_ITEM_REF,
    PLOT_ITEM_SPAN
};

struct PlotItem { /* something to draw */
    PlotItemKind kind;
    uint32_t axis_y; /* CALIPER_AXIS_Y1 or Y2 */
    uint32_t color, flags;
    float width, marker_size;
    uint32_t marker;
    int64_t first, count; /* samples */
    int64_t colors_first; /* -1: none */
    double half;          /* of a bar, in x */
    double values[4];     /* corners of an image; place of a line; ends of a span */
    uint32_t axis;        /* of a line across */
    CaliperTextureId texture;
    bool lit; /* the pointer is on it */
};

struct PlotEntry { /* a series in the legend */
    ImGuiID id;
    char label[PLOT_LABEL_BYTES];
    uint32_t color;
    bool shown;
    enum { STROKE = 0, SWATCH, MARK } look;
    uint32_t marker;
};

struct PlotNear { /* the point that the read-out names */
    bool found;
    double distance; /* in window units; less wins */
    int32_t series;
    int64_t index;
    double x, y;
    uint32_t axis_y, color;
    bool ring; /* a mark is drawn at the point */
    char title[PLOT_LABEL_BYTES];
    char lines[3][96];
};

struct PlotStyle {
    uint32_t rgba, marker;
    float width, marker_size;
};

struct PlotFrame {
    PlotState *state;
    Scope *scope;
    uint32_t flags;
    char title[PLOT_LABEL_BYTES];
    ImRect box;  /* the whole item */
    ImRect area; /* inside the axes, as far as known */
    bool prepared, settled, hovered, active, focused;
    bool incomplete; /* an index is not finished yet */
    uint32_t fit_asked;
    PlotAxis axes[PLOT_AXES];
    PlotItem items[PLOT_ITEMS_MAX];
    int32_t item_count;
    PlotEntry entries[PLOT_ITEMS_MAX];
    int32_t entry_count;
    int32_t series_count; /* series calls so far */
    uint32_t colors_used; /* of the theme */
    PlotStyle style;      /* of the next series */
    PlotNear near;
    PlotSamples samples;
    ImVector<uint32_t> colors;
    float legend_width; /* LEGEND_OUTSIDE */
};

/* ---- Steps, each in the file named ---- */

/* plot_scope.cpp */
PlotFrame *plot_current(void); /* the innermost open plot; nullptr: none */
/* The plot that a slot belongs to; nullptr after a log line. */
PlotFrame *plot_enter(const char *slot);
/* The same before the first series. */
PlotFrame *plot_enter_axis(const char *slot, uint32_t axis);
void plot_settle(PlotFrame *frame);
void plot_close(Scope *scope); /* end(CALIPER_SCOPE_PLOT) */
void plot_abandon(void);       /* forgets all open plots: a new owner begins */
void plot_stop(void);
PlotState *plot_state(ImGuiID id);

/* plot_layout.cpp: ranges, ticks and room for them. */
void plot_prepare(PlotFrame *frame);
/* What the ranges are with the extents so far, and where that puts the area. */
void plot_layout(PlotFrame *frame);
void plot_finish_ranges(PlotFrame *frame);
void plot_draw_axes(const PlotFrame *frame);

/* plot_input.cpp */
void plot_steer(PlotFrame *frame);
void plot_draw_drag(const PlotFrame *frame);
bool plot_pointer_in(const PlotFrame *frame);

/* plot_legend.cpp */
bool plot_is_hidden(const PlotState *state, ImGuiID id);
void plot_set_hidden(PlotState *state, ImGuiID id, bool hidden);
float plot_legend_outside(const PlotFrame *frame, float room);
void plot_draw_legend(PlotFrame *frame);
void plot_draw_readout(const PlotFrame *frame);

/* plot_draw.cpp */
void plot_draw_mark(ImDrawList *list, uint32_t marker, ImVec2 at, float size, uint32_t color);
void plot_draw_item(const PlotFrame *frame, const PlotItem *item);

/* Text in the small face, top left at x, y; wrap 0: one line. */
ImVec2 plot_text_size(const char *text, float wrap);
void plot_text(float x, float y, float wrap, uint32_t color, const char *text);

#endif
