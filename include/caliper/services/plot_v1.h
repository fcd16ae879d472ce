/* caliper.plot.v1: plots as plain C calls, beside caliper.widgets.v1.
 *
 * Frozen. Everything said in widgets_v1.h about ids, scopes, strings, defaults and errors holds
 * here, and both tables share one scope stack: a plot is the scope CALIPER_SCOPE_PLOT, in which the
 * widgets' draw_*, pointer, visible and tooltip work in x1/y1 values. Every slot is [frame].
 *
 * Order inside a plot: axis calls, then style and series, then nearest, selection, draw_*. An axis
 * call after the first series is refused.
 *
 * What the person can do: left drag pans, the wheel zooms at the pointer (over an axis: that axis
 * alone), right drag zooms to a box, Shift and left drag selects a box, double click fits, a click
 * on a legend entry hides its series. With the keyboard on the plot Enter takes hold of it: then
 * arrows pan, + and - zoom, Home fits, until Enter or Escape. Where the page around a plot can
 * scroll the wheel scrolls it, and zooms a plot with Ctrl held, or after a click on it.
 *
 * What may be told to a series is a CaliperPlotData. Values that are not finite are gaps in a line
 * and absent elsewhere; on a log axis so are values <= 0, and the read-out counts them. A long line
 * is reduced to the least and the greatest value of each pixel column (and its first and last), so
 * that no extreme is lost. With a revision the host indexes the data once, a part in each frame
 * when they are many, and then never walks all of them again.
 *
 * A series returns false when it is hidden by the legend or refused; a refusal is one log line. */
#ifndef CALIPER_SERVICES_PLOT_V1_H
#define CALIPER_SERVICES_PLOT_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/widgets_v1.h>

#define CALIPER_PLOT_V1 "caliper.plot.v1"

#ifdef __cplusplus
extern "C" {
#endif

enum { /* plot */
       CALIPER_PLOT_NO_LEGEND = 1,
       CALIPER_PLOT_LEGEND_OUTSIDE = 2,
       CALIPER_PLOT_NO_HOVER = 4,
       CALIPER_PLOT_NO_INPUT = 8,
       CALIPER_PLOT_EQUAL = 16, /* same scale on x1 and y1 */
       CALIPER_PLOT_CROSSHAIR = 32,
       CALIPER_PLOT_SPARK = 64, /* bare, for table cells */
       CALIPER_PLOT_ALIGN = 128 /* same left margin as the other ALIGN plots of this region */
};

enum { CALIPER_AXIS_X1 = 0, CALIPER_AXIS_Y1 = 1, CALIPER_AXIS_Y2 = 2 };

enum {
    CALIPER_SCALE_LINEAR = 0,
    CALIPER_SCALE_LOG10 = 1,
    CALIPER_SCALE_TIME = 2 /* seconds since 1970, UTC */
};

enum { /* axis */
       CALIPER_AXIS_INVERT = 1,
       CALIPER_AXIS_NO_GRID = 2,
       CALIPER_AXIS_NO_TICKS = 4,
       CALIPER_AXIS_FIT = 8, /* fits every frame until the person moves it */
       CALIPER_AXIS_LOCK = 16,
       CALIPER_AXIS_INTEGER = 32,
       CALIPER_AXIS_LOCAL_TIME = 64
};

enum { /* series */
       CALIPER_SERIES_Y2 = 1,
       CALIPER_SERIES_STEP = 2,
       CALIPER_SERIES_FILL = 4, /* to 0 */
       CALIPER_SERIES_STEM = 8,
       CALIPER_SERIES_ERRORS = 16, /* y2 is half a whisker */
       CALIPER_SERIES_HORIZONTAL = 32,
       CALIPER_SERIES_NO_LEGEND = 64,
       CALIPER_SERIES_DENSITY = 128,
       CALIPER_SERIES_CUMULATIVE = 256,
       CALIPER_SERIES_LINEAR = 512, /* image filter */
       CALIPER_SERIES_DRAG = 1024,
       CALIPER_SERIES_VERTICAL = 2048 /* color_bar */
};

enum {
    CALIPER_MARKER_NONE = 0,
    CALIPER_MARKER_CIRCLE = 1,
    CALIPER_MARKER_SQUARE = 2,
    CALIPER_MARKER_DIAMOND = 3,
    CALIPER_MARKER_CROSS = 4,
    CALIPER_MARKER_PLUS = 5
};

enum {
    CALIPER_PLOT_TYPE_F64 = 0,
    CALIPER_PLOT_TYPE_F32 = 1,
    CALIPER_PLOT_TYPE_I64 = 2,
    CALIPER_PLOT_TYPE_I32 = 3,
    CALIPER_PLOT_TYPE_U8 = 4
};

/* What a series shows. The caller's, read during the call only. */
typedef struct CaliperPlotData {
    uint32_t struct_size;
    /* 0: the data may differ each frame. Else a promise that the first `count` elements seen under
     * this revision, at this pointer, are unchanged, so that the host may index them once; more may
     * have been appended. */
    uint32_t revision;
    uint32_t x_type, y_type;    /* CALIPER_PLOT_TYPE_* */
    const void *x, *y, *y2;     /* x NULL: x0 + i * dx; y2: a band's other edge, or an error */
    const uint32_t *rgba;       /* one colour a point, or NULL (scatter, bars) */
    int64_t x_stride, y_stride; /* bytes, 0: packed; y2 follows y_stride */
    int64_t count, first;       /* element i is at (first + i) % count: ring buffers */
    double x0, dx;              /* dx 0: 1 */
} CaliperPlotData;

typedef struct CaliperPlotV1 {
    uint32_t struct_size;

    /* ---- The plot and its axes. ---- */

    /* Scope PLOT. w 0: all that is left; h 0: 240 units, or w's 9/16 if less. The title is shown
     * above; ids as in a label. CALIPER_PLOT_*. [frame] */
    bool (*plot)(const char *title, float w, float h, uint32_t flags);

    /* The same as the widgets' end(CALIPER_SCOPE_PLOT). [frame] */
    void (*end)(void);

    /* Names an axis and its scale, before the series; x1 and y1 exist unasked, y2 when it is named.
     * CALIPER_SCALE_*, CALIPER_AXIS_*. [frame] */
    void (*axis)(uint32_t axis, const char *label, uint32_t scale, uint32_t flags);

    /* The range shown: once (the first frame of this plot) or always. NaN: that end stays
     * automatic; min > max: swapped; equal: widened. [frame] */
    void (*axis_range)(uint32_t axis, double min, double max, uint32_t when);

    /* The view lives in the caller's two numbers; equal: fit first. Plots that share them move
     * together. [frame] */
    void (*axis_link)(uint32_t axis, double *min, double *max);

    /* Ticks instead of the automatic ones; labels NULL: numbers. [frame] */
    void (*axis_ticks)(uint32_t axis, const double *at, const char *const *labels, int32_t count);

    /* Fits the axes 1 << axis to what is shown, in this frame; 0: all. Before the series. [frame]
     */
    void (*axis_fit)(uint32_t axis_mask);

    /* The range in sight; before the first series that of the last frame, 0 and 0 when there was
     * none. [frame] */
    void (*view)(uint32_t axis, double *out_min, double *out_max);

    /* ---- Series. ---- */

    /* Of the next series; zeros: the next theme colour, 1.5, none (scatter: circle), 4. [frame] */
    void (*style)(uint32_t rgba, float width, uint32_t marker, float marker_size);

    /* STEP, FILL, STEM, ERRORS, Y2, NO_LEGEND. Markers show where points are few. [frame] */
    bool (*line)(const char *label, const CaliperPlotData *data, uint32_t flags);

    /* Y2, ERRORS, NO_LEGEND. [frame] */
    bool (*scatter)(const char *label, const CaliperPlotData *data, uint32_t flags);

    /* Bars from 0. bar_width in x units; 0: 0.8 of the spacing. HORIZONTAL, ERRORS, Y2, NO_LEGEND.
     * [frame] */
    bool (*bars)(const char *label, const CaliperPlotData *data, double bar_width, uint32_t flags);

    /* Shaded between y and y2. Y2, NO_LEGEND. [frame] */
    bool (*band)(const char *label, const CaliperPlotData *data, uint32_t flags);

    /* Counts y. bins 0: by the data, at most 512; lo, hi NaN: the finite minimum, maximum. The last
     * bin holds its upper end; what lies outside or is not finite is counted in the read-out.
     * DENSITY, CUMULATIVE, Y2, NO_LEGEND. [frame] */
    bool (*histogram)(const char *label, const CaliperPlotData *data, int32_t bins, double lo,
                      double hi, uint32_t flags);

    /* A texture between two corners; row 0 lies at y0. LINEAR, Y2, NO_LEGEND. [frame] */
    bool (*image)(const char *label, CaliperTextureId tex, double x0, double y0, double x1,
                  double y1, uint32_t flags);

    /* A line across at *at: upright on X1. With DRAG the person moves it: true while *at changes.
     * NO_LEGEND. [frame] */
    bool (*ref_line)(const char *label, uint32_t axis, double *at, uint32_t flags);

    /* Shaded from lo to hi; infinite: to the edge. [frame] */
    void (*ref_span)(const char *label, uint32_t axis, double lo, double hi);

    /* ---- Asking. ---- */

    /* A series' legend state: 0 hides it, 1 shows it, -1 asks. Answers whether it is shown, from
     * the next frame on. [frame] */
    bool (*shown)(const char *label, int32_t set);

    /* The point that the read-out names: which series call of this plot, from 0, and its element
     * (bars and bins too). False: none. [frame] */
    bool (*nearest)(int32_t *out_series, int64_t *out_index);

    /* True once, in the frame after a Shift-drag box ended: its corners, x0 < x1 and y0 < y1.
     * [frame] */
    bool (*selection)(double *out_x0, double *out_y0, double *out_x1, double *out_y1);

    /* ---- Colours, outside a plot. ---- */

    /* A bar of one of the colormaps CALIPER_CMAP_*, with its range below it (VERTICAL: beside it).
     * w 0: all that is left, h 0: one control high (VERTICAL: the other way round). With DRAG the
     * ends can be moved: true while *vmin or *vmax changes. vmin > vmax shows it reversed; a NULL
     * or not finite end draws nothing. [frame] */
    bool (*color_bar)(const char *label, int32_t colormap, double *vmin, double *vmax, float w,
                      float h, uint32_t flags);

    /* 0xAABBGGRR: the colour that the bridge gives that value, by the same rule; 0 for an unknown
     * colormap or a range that the bridge refuses. [frame] */
    uint32_t (*colormap)(int32_t colormap, float v, float vmin, float vmax);
} CaliperPlotV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperPlotData, 96);
CALIPER_LAYOUT_AT(CaliperPlotData, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperPlotData, revision, 4);
CALIPER_LAYOUT_AT(CaliperPlotData, x_type, 8);
CALIPER_LAYOUT_AT(CaliperPlotData, y_type, 12);
CALIPER_LAYOUT_AT(CaliperPlotData, x, 16);
CALIPER_LAYOUT_AT(CaliperPlotData, y, 24);
CALIPER_LAYOUT_AT(CaliperPlotData, y2, 32);
CALIPER_LAYOUT_AT(CaliperPlotData, rgba, 40);
CALIPER_LAYOUT_AT(CaliperPlotData, x_stride, 48);
CALIPER_LAYOUT_AT(CaliperPlotData, y_stride, 56);
CALIPER_LAYOUT_AT(CaliperPlotData, count, 64);
CALIPER_LAYOUT_AT(CaliperPlotData, first, 72);
CALIPER_LAYOUT_AT(CaliperPlotData, x0, 80);
CALIPER_LAYOUT_AT(CaliperPlotData, dx, 88);
CALIPER_LAYOUT_SIZE(CaliperPlotV1, 184);
CALIPER_LAYOUT_AT(CaliperPlotV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperPlotV1, plot, 8);
CALIPER_LAYOUT_AT(CaliperPlotV1, end, 16);
CALIPER_LAYOUT_AT(CaliperPlotV1, axis, 24);
CALIPER_LAYOUT_AT(CaliperPlotV1, axis_range, 32);
CALIPER_LAYOUT_AT(CaliperPlotV1, axis_link, 40);
CALIPER_LAYOUT_AT(CaliperPlotV1, axis_ticks, 48);
CALIPER_LAYOUT_AT(CaliperPlotV1, axis_fit, 56);
CALIPER_LAYOUT_AT(CaliperPlotV1, view, 64);
CALIPER_LAYOUT_AT(CaliperPlotV1, style, 72);
CALIPER_LAYOUT_AT(CaliperPlotV1, line, 80);
CALIPER_LAYOUT_AT(CaliperPlotV1, scatter, 88);
CALIPER_LAYOUT_AT(CaliperPlotV1, bars, 96);
CALIPER_LAYOUT_AT(CaliperPlotV1, band, 104);
CALIPER_LAYOUT_AT(CaliperPlotV1, histogram, 112);
CALIPER_LAYOUT_AT(CaliperPlotV1, image, 120);
CALIPER_LAYOUT_AT(CaliperPlotV1, ref_line, 128);
CALIPER_LAYOUT_AT(CaliperPlotV1, ref_span, 136);
CALIPER_LAYOUT_AT(CaliperPlotV1, shown, 144);
CALIPER_LAYOUT_AT(CaliperPlotV1, nearest, 152);
CALIPER_LAYOUT_AT(CaliperPlotV1, selection, 160);
CALIPER_LAYOUT_AT(CaliperPlotV1, color_bar, 168);
CALIPER_LAYOUT_AT(CaliperPlotV1, colormap, 176);

#endif
