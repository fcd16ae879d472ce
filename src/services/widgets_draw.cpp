/* services/widgets_draw.cpp: lines, shapes, texts and pictures in a drawing scope's coordinates.
 * The mapping stays in double and shapes are cut before they become floats. Frame thread. */
#include "services/widgets_table.h"

#include <cmath>

enum { PATH_CHUNK = 4096 };

WidgetsPoint widgets_to_window(const DrawingSpace *space, double x, double y)
{
    if (space->log_x)
        x = x > 0.0 ? std::log10(x) : static_cast<double>(NAN);
    if (space->log_y)
        y = y > 0.0 ? std::log10(y) : static_cast<double>(NAN);
    return {space->origin_x + (x - space->base_x) * space->scale_x,
            space->origin_y + (y - space->base_y) * space->scale_y};
}

WidgetsPoint widgets_from_window(const DrawingSpace *space, ImVec2 at)
{
    WidgetsPoint p = {
        (static_cast<double>(at.x) - space->origin_x) / space->scale_x + space->base_x,
        (static_cast<double>(at.y) - space->origin_y) / space->scale_y + space->base_y};
    if (space->log_x)
        p.x = std::pow(10.0, p.x);
    if (space->log_y)
        p.y = std::pow(10.0, p.y);
    return p;
}

static ImVec2 to_float(WidgetsPoint p)
{
    return ImVec2(static_cast<float>(p.x), static_cast<float>(p.y));
}

static float line_width(float width)
{
    return std::isfinite(width) && width != 0.0f ? ImMin(std::fabs(width), 1024.0f) : 1.0f;
}

bool widgets_clip_segment(const ImRect &area, double margin, WidgetsPoint *a, WidgetsPoint *b)
{
    const double low[2] = {static_cast<double>(area.Min.x) - margin,
                           static_cast<double>(area.Min.y) - margin};
    const double high[2] = {static_cast<double>(area.Max.x) + margin,
                            static_cast<double>(area.Max.y) + margin};
    if (a->x >= low[0] && a->x <= high[0] && a->y >= low[1] && a->y <= high[1] && b->x >= low[0] &&
        b->x <= high[0] && b->y >= low[1] && b->y <= high[1])
        return true;
    const double start[2] = {a->x, a->y}, step[2] = {b->x - a->x, b->y - a->y};
    double t0 = 0.0, t1 = 1.0;
    for (int axis = 0; axis < 2; axis++) {
        if (step[axis] == 0.0) {
            if (start[axis] < low[axis] || start[axis] > high[axis])
                return false;
            continue;
        }
        double enter = (low[axis] - start[axis]) / step[axis];
        double leave = (high[axis] - start[axis]) / step[axis];
        if (enter > leave)
            ImSwap(enter, leave);
        t0 = ImMax(t0, enter);
        t1 = ImMin(t1, leave);
        if (t0 > t1)
            return false;
    }
    const WidgetsPoint first = {start[0] + t0 * step[0], start[1] + t0 * step[1]};
    *b = {start[0] + t1 * step[0], start[1] + t1 * step[1]};
    *a = first;
    return true;
}

void widgets_slot_draw_line(double x0, double y0, double x1, double y1, uint32_t rgba, float width)
{
    if (!widgets_enter("draw_line") || !std::isfinite(x0 + y0 + x1 + y1))
        return;
    const DrawingSpace space = widgets_space();
    WidgetsPoint a = widgets_to_window(&space, x0, y0), b = widgets_to_window(&space, x1, y1);
    const float thick = line_width(width);
    if (std::isfinite(a.x + a.y + b.x + b.y) &&
        widgets_clip_segment(space.area, static_cast<double>(thick) + 2.0, &a, &b))
        ImGui::GetWindowDrawList()->AddLine(to_float(a), to_float(b),
                                            widgets_color_or(rgba, CALIPER_THEME_TEXT), thick);
}

void widgets_slot_draw_rect(double x0, double y0, double x1, double y1, uint32_t rgba, float width)
{
    if (!widgets_enter("draw_rect") || std::isnan(x0 + y0 + x1 + y1))
        return;
    const DrawingSpace space = widgets_space();
    const double margin = static_cast<double>(line_width(width)) + 2.0;
    const WidgetsPoint a = widgets_to_window(&space, x0, y0);
    const WidgetsPoint b = widgets_to_window(&space, x1, y1);
    if (std::isnan(a.x) || std::isnan(a.y) || std::isnan(b.x) || std::isnan(b.y))
        return;
    const double left = ImMax(ImMin(a.x, b.x), static_cast<double>(space.area.Min.x) - margin);
    const double top = ImMax(ImMin(a.y, b.y), static_cast<double>(space.area.Min.y) - margin);
    const double right = ImMin(ImMax(a.x, b.x), static_cast<double>(space.area.Max.x) + margin);
    const double bottom = ImMin(ImMax(a.y, b.y), static_cast<double>(space.area.Max.y) + margin);
    if (!(left <= right && top <= bottom))
        return;
    const ImVec2 low(static_cast<float>(left), static_cast<float>(top));
    const ImVec2 high(static_cast<float>(right), static_cast<float>(bottom));
    const uint32_t color = widgets_color_or(rgba, CALIPER_THEME_TEXT);
    if (width < 0.0f)
        ImGui::GetWindowDrawList()->AddRectFilled(low, high, color);
    else
        ImGui::GetWindowDrawList()->AddRect(low, high, color, 0.0f, 0, line_width(width));
}

void widgets_slot_draw_circle(double x, double y, float radius, uint32_t rgba, float width)
{
    if (!widgets_enter("draw_circle") || !std::isfinite(x + y) || !std::isfinite(radius) ||
        radius <= 0.0f)
        return;
    const DrawingSpace space = widgets_space();
    const WidgetsPoint at = widgets_to_window(&space, x, y);
    const float size = ImClamp(radius, 0.5f, 32768.0f); /* the toolkit divides by it */
    const double reach = static_cast<double>(size) + static_cast<double>(line_width(width)) + 2.0;
    if (!(at.x + reach >= static_cast<double>(space.area.Min.x) &&
          at.x - reach <= static_cast<double>(space.area.Max.x) &&
          at.y + reach >= static_cast<double>(space.area.Min.y) &&
          at.y - reach <= static_cast<double>(space.area.Max.y)))
        return;
    const uint32_t color = widgets_color_or(rgba, CALIPER_THEME_TEXT);
    if (width < 0.0f)
        ImGui::GetWindowDrawList()->AddCircleFilled(to_float(at), size, color);
    else
        ImGui::GetWindowDrawList()->AddCircle(to_float(at), size, color, 0, line_width(width));
}

/* ---- Paths ---- */

struct Stroke {
    ImDrawList *list;
    ImVec2 *points;
    int used;
    uint32_t color;
    float width;
};

static void flush(Stroke *stroke)
{
    if (stroke->used >= 2 && widgets_vertices_left(stroke->list) > 0)
        stroke->list->AddPolyline(stroke->points, stroke->used, stroke->color, 0, stroke->width);
    stroke->used = 0;
}

static void add_point(Stroke *stroke, WidgetsPoint p)
{
    const ImVec2 point = to_float(p);
    if (stroke->used == PATH_CHUNK) {
        const ImVec2 last = stroke->points[PATH_CHUNK - 1];
        flush(stroke);
        stroke->points[0] = last;
        stroke->used = 1;
    }
    if (stroke->used > 0) { /* a point on the last one adds nothing but a spike */
        const ImVec2 last = stroke->points[stroke->used - 1];
        if (last.x == point.x && last.y == point.y)
            return;
    }
    stroke->points[stroke->used++] = point;
}

static void add_segment(Stroke *stroke, const ImRect &area, WidgetsPoint a, WidgetsPoint b)
{
    const WidgetsPoint from = a;
    const WidgetsPoint to = b;
    if (!widgets_clip_segment(area, static_cast<double>(stroke->width) + 64.0, &a, &b)) {
        flush(stroke);
        return;
    }
    if (stroke->used == 0 || a.x != from.x || a.y != from.y) {
        flush(stroke);
        add_point(stroke, a);
    }
    add_point(stroke, b);
    if (b.x != to.x || b.y != to.y)
        flush(stroke);
}

static void fill_path(const DrawingSpace *space, const double *xy, int64_t count, uint32_t color)
{
    static ImVec2 points[PATH_CHUNK];
    if (count > PATH_CHUNK) {
        widgets_refuse("draw_path", "a filled path of more than 4096 points", "fewer");
        return;
    }
    int used = 0;
    constexpr double far = 65536.0;
    for (int64_t i = 0; i < count; i++) {
        const WidgetsPoint p = widgets_to_window(space, xy[2 * i], xy[2 * i + 1]);
        if (std::isfinite(p.x + p.y))
            points[used++] = to_float({ImClamp(p.x, -far, far), ImClamp(p.y, -far, far)});
    }
    if (used >= 3)
        ImGui::GetWindowDrawList()->AddConvexPolyFilled(points, used, color);
}

/* The segments from `first` on, up to one that has an end out of `inside` or is none: returns its
 * place. A long curve in sight is this loop alone. */
static int64_t add_inside(Stroke *stroke, const DrawingSpace &space, const ImRect &inside,
                          const double *xy, int64_t first, int64_t count)
{
    const double low_x = static_cast<double>(inside.Min.x);
    const double high_x = static_cast<double>(inside.Max.x);
    const double low_y = static_cast<double>(inside.Min.y);
    const double high_y = static_cast<double>(inside.Max.y);
    for (int64_t i = first; i < count; i++) {
        const double x = space.origin_x + (xy[2 * i] - space.base_x) * space.scale_x;
        const double y = space.origin_y + (xy[2 * i + 1] - space.base_y) * space.scale_y;
        if (!(x >= low_x && x <= high_x && y >= low_y && y <= high_y))
            return i > first ? i - 1 : first;
        if (i > first || stroke->used == 0)
            add_point(stroke, {x, y});
    }
    return count - 1;
}

void widgets_slot_draw_path(const double *xy, int64_t count, uint32_t rgba, float width,
                            uint32_t flags)
{
    static ImVec2 points[PATH_CHUNK];
    if (!widgets_enter("draw_path") || xy == nullptr || count < 1)
        return;
    widgets_unknown_flags("draw_path", flags, 3);
    const DrawingSpace space = widgets_space();
    const uint32_t color = widgets_color_or(rgba, CALIPER_THEME_TEXT);
    if ((flags & CALIPER_PATH_FILLED) != 0) {
        fill_path(&space, xy, count, color);
        return;
    }
    Stroke stroke = {ImGui::GetWindowDrawList(), points, 0, color, line_width(width)};
    const int64_t segments = (flags & CALIPER_PATH_CLOSED) != 0 && count > 2 ? count : count - 1;
    const bool linear = !space.log_x && !space.log_y;
    WidgetsPoint a = widgets_to_window(&space, xy[0], xy[1]);
    for (int64_t i = 0; i < segments; i++) {
        const int64_t at = linear ? add_inside(&stroke, space, space.area, xy, i, count) : i;
        if (at >= segments)
            break;
        if (at > i)
            a = widgets_to_window(&space, xy[2 * at], xy[2 * at + 1]);
        i = at;
        const int64_t next = i + 1 < count ? i + 1 : 0;
        const WidgetsPoint b = widgets_to_window(&space, xy[2 * next], xy[2 * next + 1]);
        if (std::isfinite(a.x + a.y) && std::isfinite(b.x + b.y))
            add_segment(&stroke, space.area, a, b);
        else
            flush(&stroke);
        a = b;
    }
    flush(&stroke);
}

/* ---- Text, pictures ---- */

void widgets_slot_draw_text(double x, double y, const char *text, int64_t len, uint32_t rgba,
                            uint32_t flags)
{
    if (!widgets_enter("draw_text") || !std::isfinite(x + y))
        return;
    const char *const end = widgets_text_end(&text, len);
    const DrawingSpace space = widgets_space();
    WidgetsPoint at = widgets_to_window(&space, x, y);
    constexpr double far = 1e6;
    if (!(std::fabs(at.x) < far && std::fabs(at.y) < far) || end == text)
        return;
    const ImFont *const font = widgets_font(flags);
    const float size = widgets_font_size(font);
    if ((flags & (CALIPER_TEXT_CENTER | CALIPER_TEXT_RIGHT)) != 0) {
        const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0.0f, text, end);
        const bool center = (flags & CALIPER_TEXT_CENTER) != 0;
        at.x -= static_cast<double>(extent.x) * (center ? 0.5 : 1.0);
        at.y -= center ? static_cast<double>(extent.y) * 0.5 : 0.0;
    }
    ImGui::GetWindowDrawList()->AddText(font, size, to_float(at),
                                        widgets_color_or(rgba, CALIPER_THEME_TEXT), text, end);
}

void widgets_slot_draw_image(CaliperTextureId tex, double x0, double y0, double x1, double y1,
                             uint32_t flags)
{
    if (!widgets_enter("draw_image") || !std::isfinite(x0 + y0 + x1 + y1))
        return;
    widgets_unknown_flags("draw_image", flags, 127);
    const DrawingSpace space = widgets_space();
    const WidgetsPoint a = widgets_to_window(&space, x0, y0), b = widgets_to_window(&space, x1, y1);
    widgets_draw_image_clipped(ImGui::GetWindowDrawList(), tex, a.x, a.y, b.x, b.y, &space.area,
                               flags);
}
