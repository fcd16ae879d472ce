/* services/plot_draw.cpp: samples become lines, bars, areas and marks. Everything stays in double
 * until it is cut to the plot's area. Frame thread. */
#include "services/plot_internal.h"

#include <cmath>

enum { STROKE_POINTS_MAX = 512 };

struct Pen {
    const PlotFrame *frame;
    const PlotItem *item;
    ImDrawList *list;
    const PlotScale *x, *y;
    ImRect area;
    float width;
    uint32_t color;
    ImVec2 points[STROKE_POINTS_MAX];
    int used;
};

static Pen pen_of(const PlotFrame *frame, const PlotItem *item)
{
    Pen pen;
    pen.frame = frame;
    pen.item = item;
    pen.list = ImGui::GetWindowDrawList();
    pen.x = &frame->axes[CALIPER_AXIS_X1].px;
    pen.y = &frame->axes[item->axis_y].px;
    pen.area = frame->area;
    pen.width = item->width;
    pen.color = item->color;
    pen.used = 0;
    return pen;
}

static bool has_room(const Pen *pen)
{
    return widgets_vertices_left(pen->list) > 16;
}

/* ---- Strokes ---- */

static void flush(Pen *pen)
{
    if (pen->used >= 2 && has_room(pen))
        pen->list->AddPolyline(pen->points, pen->used, pen->color, 0, pen->width);
    pen->used = 0;
}

/* A stroke is broken where it turns back sharply: a mitred corner would reach past the value. */
static void stroke_to(Pen *pen, ImVec2 to)
{
    if (pen->used > 0) {
        const ImVec2 last = pen->points[pen->used - 1];
        if (last.x == to.x && last.y == to.y)
            return;
        if (pen->used > 1) {
            const ImVec2 before = pen->points[pen->used - 2];
            const float turn =
                (last.x - before.x) * (to.x - last.x) + (last.y - before.y) * (to.y - last.y);
            if (turn <= 0.0f || pen->used == STROKE_POINTS_MAX) {
                flush(pen);
                pen->points[pen->used++] = last;
            }
        }
    }
    pen->points[pen->used++] = to;
}

static void segment(Pen *pen, WidgetsPoint a, WidgetsPoint b)
{
    const WidgetsPoint from = a, to = b;
    if (!widgets_clip_segment(pen->area, static_cast<double>(pen->width) + 4.0, &a, &b)) {
        flush(pen);
        return;
    }
    if (a.x != from.x || a.y != from.y)
        flush(pen);
    if (pen->used == 0)
        stroke_to(pen, ImVec2(static_cast<float>(a.x), static_cast<float>(a.y)));
    stroke_to(pen, ImVec2(static_cast<float>(b.x), static_cast<float>(b.y)));
    if (b.x != to.x || b.y != to.y)
        flush(pen);
}

static WidgetsPoint place(const Pen *pen, const PlotSample *sample)
{
    return {plot_scale_to_px(pen->x, sample->x), plot_scale_to_px(pen->y, sample->y)};
}

static bool is_gap(WidgetsPoint p)
{
    return std::isnan(p.x) || std::isnan(p.y);
}

/* ---- Areas ---- */

static float cut(double value)
{
    return static_cast<float>(ImClamp(value, -1e5, 1e5));
}

static void quad(Pen *pen, ImVec2 a, ImVec2 b, ImVec2 c, ImVec2 d, uint32_t color)
{
    const ImVec2 uv = ImGui::GetFontTexUvWhitePixel();
    if (!has_room(pen))
        return;
    pen->list->PrimReserve(6, 4);
    pen->list->PrimQuadUV(a, b, c, d, uv, uv, uv, uv, color);
}

/* Where value 0 lies, or the edge of an axis that has none. */
static double zero_px(const Pen *pen, const PlotScale *scale)
{
    const double px = plot_scale_to_px(scale, 0.0);
    (void)pen;
    return std::isnan(px) ? scale->from : px;
}

static void fill_segment(Pen *pen, WidgetsPoint a, WidgetsPoint b, double base)
{
    const uint32_t color = ui_fade(pen->color, 0.22f);
    const double left = static_cast<double>(pen->area.Min.x),
                 right = static_cast<double>(pen->area.Max.x);
    if (ImMax(a.x, b.x) < left || ImMin(a.x, b.x) > right)
        return;
    if ((a.y - base) * (b.y - base) < 0.0) { /* crosses: two triangles */
        const double share = (base - a.y) / (b.y - a.y);
        const WidgetsPoint middle = {a.x + share * (b.x - a.x), base};
        fill_segment(pen, a, middle, base);
        fill_segment(pen, middle, b, base);
        return;
    }
    quad(pen, ImVec2(cut(a.x), cut(a.y)), ImVec2(cut(b.x), cut(b.y)), ImVec2(cut(b.x), cut(base)),
         ImVec2(cut(a.x), cut(base)), color);
}

/* ---- Marks ---- */

void plot_draw_mark(ImDrawList *list, uint32_t marker, ImVec2 at, float size, uint32_t color)
{
    const float r = size * 0.5f;
    switch (marker) {
    case CALIPER_MARKER_SQUARE:
        list->AddRectFilled(ImVec2(at.x - r, at.y - r), ImVec2(at.x + r, at.y + r), color);
        break;
    case CALIPER_MARKER_DIAMOND:
        list->AddQuadFilled(ImVec2(at.x, at.y - r * 1.3f), ImVec2(at.x + r * 1.3f, at.y),
                            ImVec2(at.x, at.y + r * 1.3f), ImVec2(at.x - r * 1.3f, at.y), color);
        break;
    case CALIPER_MARKER_CROSS:
        list->AddLine(ImVec2(at.x - r, at.y - r), ImVec2(at.x + r, at.y + r), color, 1.5f);
        list->AddLine(ImVec2(at.x - r, at.y + r), ImVec2(at.x + r, at.y - r), color, 1.5f);
        break;
    case CALIPER_MARKER_PLUS:
        list->AddLine(ImVec2(at.x - r * 1.2f, at.y), ImVec2(at.x + r * 1.2f, at.y), color, 1.5f);
        list->AddLine(ImVec2(at.x, at.y - r * 1.2f), ImVec2(at.x, at.y + r * 1.2f), color, 1.5f);
        break;
    default:
        list->AddCircleFilled(at, r, color, r < 3.0f ? 10 : 0);
        break;
    }
}

static void mark(Pen *pen, uint32_t marker, ImVec2 at, float size, uint32_t color)
{
    if (has_room(pen))
        plot_draw_mark(pen->list, marker, at, size, color);
}

static bool in_reach(const Pen *pen, WidgetsPoint p, float reach)
{
    const double more = static_cast<double>(reach);
    return p.x >= static_cast<double>(pen->area.Min.x) - more &&
           p.x <= static_cast<double>(pen->area.Max.x) + more &&
           p.y >= static_cast<double>(pen->area.Min.y) - more &&
           p.y <= static_cast<double>(pen->area.Max.y) + more;
}

static ImVec2 to_float(WidgetsPoint p)
{
    return ImVec2(static_cast<float>(p.x), static_cast<float>(p.y));
}

static void draw_marks(Pen *pen, const PlotSample *samples)
{
    const PlotItem *const item = pen->item;
    const bool many = item->count > PLOT_SHAPES_MAX;
    for (int64_t i = 0; i < item->count; i++) {
        const WidgetsPoint p = place(pen, &samples[i]);
        if (is_gap(p) || !in_reach(pen, p, item->marker_size))
            continue;
        const uint32_t own = item->colors_first >= 0
                                 ? pen->frame->colors[static_cast<int>(item->colors_first + i)]
                                 : item->color;
        mark(pen, many ? static_cast<uint32_t>(CALIPER_MARKER_SQUARE) : item->marker, to_float(p),
             many ? ImMin(item->marker_size, 3.0f) : item->marker_size, own);
    }
}

/* ---- Lines ---- */

/* Marks on a line are drawn while there is room between them; a point between two gaps always. */
static void draw_line_marks(Pen *pen, const PlotSample *samples)
{
    const PlotItem *const item = pen->item;
    const bool sparse =
        static_cast<float>(item->count) * item->marker_size * 2.0f <= pen->area.GetWidth();
    for (int64_t i = 0; i < item->count; i++) {
        const WidgetsPoint p = place(pen, &samples[i]);
        if (is_gap(p) || !in_reach(pen, p, item->marker_size))
            continue;
        const bool alone = (i == 0 || is_gap(place(pen, &samples[i - 1]))) &&
                           (i + 1 == item->count || is_gap(place(pen, &samples[i + 1])));
        if (item->marker != CALIPER_MARKER_NONE && sparse)
            mark(pen, item->marker, to_float(p), item->marker_size, item->color);
        else if (alone)
            mark(pen, CALIPER_MARKER_CIRCLE, to_float(p), ImMax(item->width * 1.6f, 3.0f),
                 item->color);
    }
}

static void draw_line(Pen *pen, const PlotSample *samples)
{
    const PlotItem *const item = pen->item;
    const bool stem = (item->flags & CALIPER_SERIES_STEM) != 0;
    const bool step = (item->flags & CALIPER_SERIES_STEP) != 0;
    const bool fill = (item->flags & CALIPER_SERIES_FILL) != 0;
    const double base = zero_px(pen, pen->y);
    WidgetsPoint last = {static_cast<double>(NAN), static_cast<double>(NAN)};
    for (int pass = fill ? 0 : 1; pass < 2; pass++) { /* the area lies under the line */
        last.x = static_cast<double>(NAN);
        for (int64_t i = 0; i < item->count; i++) {
            const WidgetsPoint p = place(pen, &samples[i]);
            if (stem && pass == 1) {
                if (!is_gap(p))
                    segment(pen, {p.x, base}, p);
                flush(pen);
                continue;
            }
            if (is_gap(p) || is_gap(last)) {
                flush(pen);
                last = p;
                continue;
            }
            const WidgetsPoint corner = {p.x, step ? last.y : p.y};
            if (pass == 0) {
                fill_segment(pen, last, corner, base);
            } else {
                segment(pen, last, corner);
                if (step)
                    segment(pen, corner, p);
            }
            last = p;
        }
        flush(pen);
    }
    draw_line_marks(pen, samples);
}

/* ---- Bars, bands, whiskers ---- */

static void draw_bars(Pen *pen, const PlotSample *samples)
{
    const PlotItem *const item = pen->item;
    const bool flat = (item->flags & CALIPER_SERIES_HORIZONTAL) != 0;
    const PlotScale *const along = flat ? pen->y : pen->x, *const up = flat ? pen->x : pen->y;
    const double base = zero_px(pen, up);
    for (int64_t i = 0; i < item->count; i++) {
        const double height = plot_scale_to_px(up, samples[i].y);
        double a = plot_scale_to_px(along, samples[i].x - item->half);
        double b = plot_scale_to_px(along, samples[i].x + item->half);
        if (std::isnan(height) || std::isnan(b))
            continue;
        if (std::isnan(a))
            a = along->from;
        if (a > b)
            ImSwap(a, b);
        if (b - a >= 4.0) { /* a hair between neighbours */
            a += 0.5;
            b -= 0.5;
        } else if (b - a < 1.0) {
            b = a + 1.0;
        }
        const uint32_t own = item->colors_first >= 0
                                 ? pen->frame->colors[static_cast<int>(item->colors_first + i)]
                                 : item->color;
        const double low = ImMin(base, height), high = ImMax(base, height);
        const ImVec2 p0(cut(flat ? low : a), cut(flat ? a : low));
        const ImVec2 p1(cut(flat ? high : b), cut(flat ? b : high));
        quad(pen, p0, ImVec2(p1.x, p0.y), p1, ImVec2(p0.x, p1.y), ui_fade(own, 0.85f));
    }
}

static void draw_band(Pen *pen, const PlotSample *samples)
{
    const uint32_t color = ui_fade(pen->color, 0.28f);
    for (int64_t i = 2; i + 1 < pen->item->count; i += 2) {
        const WidgetsPoint low0 = place(pen, &samples[i - 2]), high0 = place(pen, &samples[i - 1]);
        const WidgetsPoint low1 = place(pen, &samples[i]), high1 = place(pen, &samples[i + 1]);
        if (is_gap(low0) || is_gap(high0) || is_gap(low1) || is_gap(high1))
            continue;
        quad(pen, ImVec2(cut(low0.x), cut(low0.y)), ImVec2(cut(low1.x), cut(low1.y)),
             ImVec2(cut(high1.x), cut(high1.y)), ImVec2(cut(high0.x), cut(high0.y)), color);
    }
}

static void draw_whiskers(Pen *pen, const PlotSample *samples)
{
    const bool caps = pen->item->count <= 400;
    for (int64_t i = 0; i + 1 < pen->item->count; i += 2) {
        WidgetsPoint low = place(pen, &samples[i]), high = place(pen, &samples[i + 1]);
        if (std::isnan(low.x) || std::isnan(high.y))
            continue;
        if (std::isnan(low.y)) /* below what a logarithmic axis can show */
            low.y = static_cast<double>(pen->area.Max.y) + 8.0;
        segment(pen, low, high);
        flush(pen);
        const WidgetsPoint ends[2] = {low, high};
        for (int k = 0; k < 2 && caps; k++) {
            segment(pen, {ends[k].x - 3.0, ends[k].y}, {ends[k].x + 3.0, ends[k].y});
            flush(pen);
        }
    }
}

/* ---- Pictures, lines across, spans ---- */

static void draw_picture(Pen *pen)
{
    const PlotItem *const item = pen->item;
    const double x0 = plot_scale_to_px(pen->x, item->values[0]);
    const double y0 = plot_scale_to_px(pen->y, item->values[1]);
    const double x1 = plot_scale_to_px(pen->x, item->values[2]);
    const double y1 = plot_scale_to_px(pen->y, item->values[3]);
    const uint32_t flags = (item->flags & CALIPER_SERIES_LINEAR) != 0 ? CALIPER_IMAGE_LINEAR : 0;
    if (std::isfinite(x0 + x1) && std::isfinite(y0 + y1))
        widgets_draw_image_clipped(pen->list, item->texture, x0, y0, x1, y1, &pen->area, flags);
}

static void draw_ref(Pen *pen)
{
    const PlotItem *const item = pen->item;
    const double px = plot_scale_to_px(&pen->frame->axes[item->axis].px, item->values[0]);
    const bool upright = item->axis == CALIPER_AXIS_X1;
    if (std::isnan(px))
        return;
    const float at = cut(px);
    const ImRect &area = pen->area;
    const ImVec2 from = upright ? ImVec2(at, area.Min.y) : ImVec2(area.Min.x, at);
    const ImVec2 to = upright ? ImVec2(at, area.Max.y) : ImVec2(area.Max.x, at);
    pen->list->AddLine(from, to, pen->color, item->lit ? item->width + 1.0f : item->width);
    if ((item->flags & CALIPER_SERIES_DRAG) == 0)
        return;
    if (upright) /* a handle says that it can be taken */
        pen->list->AddTriangleFilled(ImVec2(at - 5, area.Min.y), ImVec2(at + 5, area.Min.y),
                                     ImVec2(at, area.Min.y + 7), pen->color);
    else
        pen->list->AddTriangleFilled(ImVec2(area.Max.x, at - 5), ImVec2(area.Max.x, at + 5),
                                     ImVec2(area.Max.x - 7, at), pen->color);
}

static void draw_span(Pen *pen)
{
    const PlotItem *const item = pen->item;
    const PlotScale *const scale = &pen->frame->axes[item->axis].px;
    const bool upright = item->axis == CALIPER_AXIS_X1;
    double ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = plot_scale_to_px(scale, item->values[i]);
        if (std::isnan(ends[i])) /* infinite, or <= 0 on a logarithmic axis: to the edge */
            ends[i] = item->values[i] > 0.0 ? scale->to : scale->from;
    }
    const float low = cut(ImMin(ends[0], ends[1])), high = cut(ImMax(ends[0], ends[1]));
    const ImVec2 from = upright ? ImVec2(low, pen->area.Min.y) : ImVec2(pen->area.Min.x, low);
    const ImVec2 to = upright ? ImVec2(high, pen->area.Max.y) : ImVec2(pen->area.Max.x, high);
    pen->list->AddRectFilled(from, to, ui_fade(pen->color, 0.14f));
}

void plot_draw_item(const PlotFrame *frame, const PlotItem *item)
{
    Pen pen = pen_of(frame, item);
    const PlotSample *const samples = frame->samples.items + item->first;
    const int before = pen.list->VtxBuffer.Size;
    switch (item->kind) {
    case PLOT_ITEM_LINE:
        draw_line(&pen, samples);
        break;
    case PLOT_ITEM_MARKS:
        draw_marks(&pen, samples);
        break;
    case PLOT_ITEM_BARS:
        draw_bars(&pen, samples);
        break;
    case PLOT_ITEM_BAND:
        draw_band(&pen, samples);
        break;
    case PLOT_ITEM_WHISKERS:
        draw_whiskers(&pen, samples);
        break;
    case PLOT_ITEM_IMAGE:
        draw_picture(&pen);
        break;
    case PLOT_ITEM_REF:
        draw_ref(&pen);
        break;
    case PLOT_ITEM_SPAN:
        draw_span(&pen);
        break;
    }
    const int more = pen.list->VtxBuffer.Size - before;
    plot_counters.vertices += more > 0 ? static_cast<uint64_t>(more) : 0;
}
