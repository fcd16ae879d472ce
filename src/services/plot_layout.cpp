/* services/plot_layout.cpp: which ranges the axes show, their ticks, and the room that labels take,
 * so that none is cut; then drawing them. Frame thread. */
#include "services/plot_internal.h"

#include <cmath>
#include <cstdio>

static constexpr float gap = 6.0f;
static constexpr float label_gap = 8.0f; /* between what stands above the area and the area */

ImVec2 plot_text_size(const char *text, float wrap)
{
    const ImFont *const font = widgets_font(CALIPER_TEXT_SMALL);
    return font->CalcTextSizeA(widgets_font_size(font), FLT_MAX, wrap, text);
}

void plot_text(float x, float y, float wrap, uint32_t color, const char *text)
{
    const ImFont *const font = widgets_font(CALIPER_TEXT_SMALL);
    ImGui::GetWindowDrawList()->AddText(font, widgets_font_size(font), ImVec2(x, y), color, text,
                                        nullptr, wrap);
}

/* ---- Ranges ---- */

static bool is_log(const PlotAxis *axis)
{
    return axis->scale == CALIPER_SCALE_LOG10;
}

static void prepare_axis(PlotFrame *frame, uint32_t number)
{
    PlotAxis *const axis = &frame->axes[number];
    PlotAxisState *const kept = &frame->state->axes[number];
    if (kept->scale != axis->scale) {
        kept->valid = false;
        kept->moved = false;
    }
    bool fits = !kept->valid || (frame->fit_asked >> number & 1u) != 0 ||
                ((axis->flags & CALIPER_AXIS_FIT) != 0 && !kept->moved);
    if ((frame->fit_asked >> number & 1u) != 0)
        kept->moved = false;
    const PlotRange linked = axis->range;
    axis->range = kept->valid ? kept->range : plot_range_empty();
    if (axis->link_min != nullptr && !kept->moved_now && std::isfinite(linked.min) &&
        std::isfinite(linked.max) && linked.min != linked.max) {
        axis->range = linked;
        fits = false;
    }
    axis->fit_min = axis->fit_max = fits;
    if (axis->asked && (axis->asked_always || !kept->valid)) {
        const bool has_min = std::isfinite(axis->asked_min),
                   has_max = std::isfinite(axis->asked_max);
        if (has_min)
            axis->range.min = axis->asked_min;
        if (has_max)
            axis->range.max = axis->asked_max;
        axis->fixed_min = has_min;
        axis->fixed_max = has_max;
        axis->fit_min = !has_min && (axis->asked_always ? !kept->moved : fits);
        axis->fit_max = !has_max && (axis->asked_always ? !kept->moved : fits);
    }
}

void plot_prepare(PlotFrame *frame)
{
    if (frame->prepared)
        return;
    frame->prepared = true;
    for (uint32_t i = 0; i < PLOT_AXES; i++)
        prepare_axis(frame, i);
    plot_layout(frame);
}

/* The range with the extents so far; `guess`: and those that the series to come had last time. */
static PlotRange range_now(const PlotFrame *frame, uint32_t number, bool guess)
{
    const PlotAxis *const axis = &frame->axes[number];
    const PlotAxisState *const kept = &frame->state->axes[number];
    PlotRange range = axis->range;
    if (axis->fit_min || axis->fit_max) {
        PlotRange data = axis->extent;
        if (guess && kept->valid && !plot_range_is_empty(kept->data))
            data = plot_range_union(data, kept->data);
        if (plot_range_is_empty(data))
            data = kept->valid ? kept->range : plot_range_repair(plot_range_empty(), is_log(axis));
        else
            data = plot_range_pad(data, is_log(axis), axis->pad_low, axis->pad_high);
        if (axis->fit_min)
            range.min = data.min;
        if (axis->fit_max)
            range.max = data.max;
        /* A fixed end beyond the data: the other end goes past it. */
        if (!axis->fit_min && range.max <= range.min)
            range.max = is_log(axis) ? range.min * 10.0 : range.min + 1.0;
        if (!axis->fit_max && range.min >= range.max)
            range.min = is_log(axis) ? range.max * 0.1 : range.max - 1.0;
    }
    return plot_range_repair(range, is_log(axis));
}

static void make_equal(PlotFrame *frame)
{
    PlotAxis *const x = &frame->axes[CALIPER_AXIS_X1], *const y = &frame->axes[CALIPER_AXIS_Y1];
    if ((frame->flags & CALIPER_PLOT_EQUAL) == 0 || is_log(x) || is_log(y))
        return;
    const double width = ImMax(static_cast<double>(frame->area.GetWidth()), 1.0);
    const double height = ImMax(static_cast<double>(frame->area.GetHeight()), 1.0);
    const double unit_x = (x->range.max - x->range.min) / width;
    const double unit_y = (y->range.max - y->range.min) / height;
    PlotAxis *const wider = unit_x < unit_y ? x : y;
    const double more = unit_x < unit_y ? unit_y / unit_x : unit_x / unit_y;
    wider->range = plot_range_zoom(wider->range, false, more, static_cast<double>(NAN));
}

/* ---- Room ---- */

static void choose_ticks(PlotAxis *axis, double from, double to, bool across)
{
    axis->px = PlotScale();
    axis->px.log10 = is_log(axis);
    axis->px.range = axis->range;
    const bool turned = (axis->flags & CALIPER_AXIS_INVERT) != 0;
    axis->px.from = turned ? to : from;
    axis->px.to = turned ? from : to;
    if (axis->custom)
        return;
    const double length = std::fabs(to - from);
    const float line = plot_text_size("0", 0.0f).y;
    int most = static_cast<int>(length / (across ? 72.0 : static_cast<double>(line) * 2.0));
    most = ImClamp(most, 2, 20);
    for (int attempt = 0; attempt < 5; attempt++) {
        PlotTickParams params = {};
        params.range = axis->range;
        params.scale = axis->scale;
        params.integer = (axis->flags & CALIPER_AXIS_INTEGER) != 0;
        params.local_time = (axis->flags & CALIPER_AXIS_LOCAL_TIME) != 0;
        params.may_offset = across;
        params.most = most;
        plot_ticks(&params, &axis->ticks);
        if (!across || most <= 2)
            return;
        double taken = 0.0; /* as much as labels and the gaps between them need */
        for (int32_t i = 0; i < axis->ticks.count; i++) {
            if (!axis->ticks.items[i].minor)
                taken +=
                    static_cast<double>(plot_text_size(axis->ticks.items[i].text, 0.0f).x) + 14.0;
        }
        if (taken <= length)
            return;
        most = ImMax(most / 2, 2);
    }
}

static bool tick_in_sight(const PlotAxis *axis, const PlotTick *tick, float *out_px)
{
    const double px = plot_scale_to_px(&axis->px, tick->at);
    const double low = ImMin(axis->px.from, axis->px.to), high = ImMax(axis->px.from, axis->px.to);
    if (!(px >= low - 0.5 && px <= high + 0.5))
        return false;
    *out_px = static_cast<float>(px);
    return true;
}

static float widest_label(const PlotAxis *axis)
{
    float widest = 0.0f, px = 0.0f;
    if (!axis->used || (axis->flags & CALIPER_AXIS_NO_TICKS) != 0)
        return 0.0f;
    for (int32_t i = 0; i < axis->ticks.count; i++) {
        if (!axis->ticks.items[i].minor && tick_in_sight(axis, &axis->ticks.items[i], &px))
            widest = ImMax(widest, plot_text_size(axis->ticks.items[i].text, 0.0f).x);
    }
    return widest > 0.0f ? std::ceil(widest) + gap : 0.0f;
}

/* How far the outermost labels of the x axis reach beyond the area. */
static void overhang(const PlotFrame *frame, float *out_left, float *out_right)
{
    const PlotAxis *const x = &frame->axes[CALIPER_AXIS_X1];
    *out_left = *out_right = 0.0f;
    if ((x->flags & CALIPER_AXIS_NO_TICKS) != 0)
        return;
    for (int32_t i = 0; i < x->ticks.count; i++) {
        float px = 0.0f;
        if (x->ticks.items[i].minor || !tick_in_sight(x, &x->ticks.items[i], &px))
            continue;
        const float half = std::ceil(plot_text_size(x->ticks.items[i].text, 0.0f).x * 0.5f) + 1.0f;
        *out_left = ImMax(*out_left, frame->area.Min.x - (px - half));
        *out_right = ImMax(*out_right, px + half - frame->area.Max.x);
    }
}

static float label_height(const char *label, float wrap)
{
    return label[0] != '\0' ? plot_text_size(label, wrap).y : 0.0f;
}

/* Labels of the y axes stand above the area, each over its axis, wrapped to half the width. */
static float top_height(const PlotFrame *frame)
{
    const float half = frame->box.GetWidth() * 0.5f - gap;
    const float labels = ImMax(label_height(frame->axes[CALIPER_AXIS_Y1].label, half),
                               label_height(frame->axes[CALIPER_AXIS_Y2].label, half));
    float height = labels > 0.0f ? labels : 0.0f;
    if (frame->title[0] != '\0')
        height += ImGui::GetTextLineHeight() + (labels > 0.0f ? 2.0f : 0.0f);
    /* The topmost number reaches half a line above the area. */
    return height + (height > 0.0f ? label_gap : 4.0f);
}

static float bottom_height(const PlotFrame *frame)
{
    const PlotAxis *const x = &frame->axes[CALIPER_AXIS_X1];
    const float line = plot_text_size("0", 0.0f).y;
    const float ticks = (x->flags & CALIPER_AXIS_NO_TICKS) != 0 ? 0.0f : line + 4.0f;
    const bool context = x->scale == CALIPER_SCALE_TIME || x->ticks.context[0] != '\0';
    const float wrap = frame->box.GetWidth() * (context ? 0.5f : 1.0f);
    const float label = ImMax(label_height(x->label, wrap), context ? line : 0.0f);
    return ticks + (label > 0.0f ? label + 2.0f : 0.0f) + 2.0f;
}

static float side_width(PlotFrame *frame, float height)
{
    PlotAxis *const y1 = &frame->axes[CALIPER_AXIS_Y1], *const y2 = &frame->axes[CALIPER_AXIS_Y2];
    const double top = static_cast<double>(frame->area.Min.y);
    choose_ticks(y1, top + static_cast<double>(height), top, false);
    choose_ticks(y2, top + static_cast<double>(height), top, false);
    return widest_label(y1);
}

/* Plots with ALIGN in one region share the widest left margin of the last frame. */
static float aligned(const PlotFrame *frame, float left)
{
    if ((frame->flags & CALIPER_PLOT_ALIGN) == 0)
        return left;
    ImGuiStorage *const kept = ImGui::GetStateStorage();
    const ImGuiID id = ImHashStr("plot align");
    const int now = ImGui::GetFrameCount();
    if (kept->GetInt(id, 0) != now) { /* what was gathered in the frame before becomes the margin */
        const bool fresh = kept->GetInt(id, 0) == now - 1;
        kept->SetFloat(id + 1, fresh ? kept->GetFloat(id + 2, 0.0f) : 0.0f);
        kept->SetFloat(id + 2, 0.0f);
        kept->SetInt(id, now);
    }
    kept->SetFloat(id + 2, ImMax(kept->GetFloat(id + 2, 0.0f), left));
    return ImMax(left, kept->GetFloat(id + 1, 0.0f));
}

static void place_area(PlotFrame *frame)
{
    PlotAxis *const x = &frame->axes[CALIPER_AXIS_X1], *const y2 = &frame->axes[CALIPER_AXIS_Y2];
    const ImRect &box = frame->box;
    if ((frame->flags & CALIPER_PLOT_SPARK) != 0) {
        frame->area = ImRect(box.Min.x, box.Min.y + 1.0f, box.Max.x, box.Max.y - 1.0f);
        x->px = PlotScale();
        side_width(frame, frame->area.GetHeight());
        choose_ticks(x, static_cast<double>(box.Min.x), static_cast<double>(box.Max.x), true);
        return;
    }
    /* Whether the x axis has a context does not hang on the last few units of its length. */
    choose_ticks(x, static_cast<double>(box.Min.x), static_cast<double>(box.Max.x), true);
    const float top = box.Min.y + top_height(frame);
    const float bottom = ImMax(box.Max.y - bottom_height(frame), top + 4.0f);
    frame->area = ImRect(box.Min.x, top, box.Max.x, bottom);
    /* A margin that gave way while the person zooms would move what is under the pointer. */
    const float left = aligned(frame, ImMax(side_width(frame, bottom - top), frame->state->left));
    float right = ImMax(y2->used ? widest_label(y2) : 0.0f, frame->state->right);
    frame->legend_width = plot_legend_outside(frame, box.GetWidth() - left - right);
    right += frame->legend_width;
    frame->area.Min.x = box.Min.x + left;
    frame->area.Max.x = ImMax(box.Max.x - right, frame->area.Min.x + 4.0f);
    float more_left = 0.0f, more_right = 0.0f;
    for (int pass = 0; pass < 2; pass++) {
        choose_ticks(x, static_cast<double>(frame->area.Min.x),
                     static_cast<double>(frame->area.Max.x), true);
        overhang(frame, &more_left, &more_right);
        const float beyond_left = more_left - (frame->area.Min.x - box.Min.x);
        const float beyond_right = more_right - (box.Max.x - frame->area.Max.x);
        if (beyond_left <= 0.0f && beyond_right <= 0.0f)
            break;
        frame->area.Min.x += ImMax(beyond_left, 0.0f);
        frame->area.Max.x =
            ImMax(frame->area.Max.x - ImMax(beyond_right, 0.0f), frame->area.Min.x + 4.0f);
        choose_ticks(x, static_cast<double>(frame->area.Min.x),
                     static_cast<double>(frame->area.Max.x), true);
    }
}

static void layout(PlotFrame *frame, bool guess)
{
    for (uint32_t i = 0; i < PLOT_AXES; i++)
        frame->axes[i].range = range_now(frame, i, guess);
    place_area(frame);
    if ((frame->flags & CALIPER_PLOT_EQUAL) != 0) {
        make_equal(frame);
        place_area(frame);
    }
}

void plot_layout(PlotFrame *frame)
{
    layout(frame, true);
}

void plot_finish_ranges(PlotFrame *frame)
{
    PlotState *const state = frame->state;
    const PlotAxis *const y1 = &frame->axes[CALIPER_AXIS_Y1];
    if (y1->fit_min && y1->fit_max)
        state->left = state->right = 2.0f;
    layout(frame, false);
    state->left = ImMax(state->left, widest_label(y1));
    if (frame->axes[CALIPER_AXIS_Y2].used)
        state->right = ImMax(state->right, widest_label(&frame->axes[CALIPER_AXIS_Y2]));
    for (uint32_t i = 0; i < PLOT_AXES; i++) {
        PlotAxis *const axis = &frame->axes[i];
        PlotAxisState *const kept = &frame->state->axes[i];
        const bool fitted = axis->fit_min || axis->fit_max;
        const bool empty = plot_range_is_empty(axis->extent);
        kept->range = axis->range;
        kept->valid = kept->valid ? !(fitted && frame->incomplete && !kept->moved)
                                  : !(fitted && (frame->incomplete || empty));
        if (!axis->used)
            kept->valid = false;
        kept->data = axis->extent;
        kept->used = axis->used;
        kept->scale = axis->scale;
        kept->flags = axis->flags;
        if (axis->link_min != nullptr && !(fitted && empty)) {
            *axis->link_min = axis->range.min;
            *axis->link_max = axis->range.max;
        }
    }
}

/* ---- Drawing ---- */

static void draw_grid(const PlotFrame *frame, const PlotAxis *axis, bool upright)
{
    ImDrawList *const list = ImGui::GetWindowDrawList();
    const uint32_t color = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    if (!axis->used || (axis->flags & CALIPER_AXIS_NO_GRID) != 0)
        return;
    for (int32_t i = 0; i < axis->ticks.count; i++) {
        float px = 0.0f;
        if (!tick_in_sight(axis, &axis->ticks.items[i], &px))
            continue;
        const float at = ImFloor(px) + 0.5f;
        const uint32_t ink = ui_fade(color, axis->ticks.items[i].minor ? 0.07f : 0.17f);
        if (upright)
            list->AddLine(ImVec2(at, frame->area.Min.y), ImVec2(at, frame->area.Max.y), ink);
        else
            list->AddLine(ImVec2(frame->area.Min.x, at), ImVec2(frame->area.Max.x, at), ink);
    }
}

static void draw_x_labels(const PlotFrame *frame)
{
    const PlotAxis *const x = &frame->axes[CALIPER_AXIS_X1];
    const uint32_t color = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    float y = frame->area.Max.y + 3.0f;
    if ((x->flags & CALIPER_AXIS_NO_TICKS) == 0) {
        for (int32_t i = 0; i < x->ticks.count; i++) {
            const PlotTick *const tick = &x->ticks.items[i];
            float px = 0.0f;
            if (tick->minor || !tick_in_sight(x, tick, &px))
                continue;
            plot_text(px - plot_text_size(tick->text, 0.0f).x * 0.5f, y, 0.0f, color, tick->text);
        }
        y += plot_text_size("0", 0.0f).y + 3.0f;
    }
    const bool context = x->scale == CALIPER_SCALE_TIME || x->ticks.context[0] != '\0';
    const float wrap = frame->box.GetWidth() * (context ? 0.5f : 1.0f);
    if (x->label[0] != '\0') {
        const ImVec2 size = plot_text_size(x->label, wrap);
        const float middle = frame->area.GetCenter().x;
        const float left = ImClamp(middle - size.x * 0.5f, frame->box.Min.x,
                                   ImMax(frame->box.Max.x - size.x, frame->box.Min.x));
        plot_text(context ? frame->box.Min.x : left, y, wrap, color, x->label);
    }
    if (context && x->ticks.context[0] != '\0')
        plot_text(frame->area.Max.x - plot_text_size(x->ticks.context, 0.0f).x, y, 0.0f, color,
                  x->ticks.context);
}

static void draw_y_labels(const PlotFrame *frame, const PlotAxis *axis, bool right)
{
    const uint32_t color = ui_theme_color(CALIPER_THEME_TEXT_DIM);
    if (!axis->used)
        return;
    const float half_line = plot_text_size("0", 0.0f).y * 0.5f;
    for (int32_t i = 0; i < axis->ticks.count && (axis->flags & CALIPER_AXIS_NO_TICKS) == 0; i++) {
        const PlotTick *const tick = &axis->ticks.items[i];
        float px = 0.0f;
        if (tick->minor || !tick_in_sight(axis, tick, &px))
            continue;
        const float width = plot_text_size(tick->text, 0.0f).x;
        const float x = right ? frame->area.Max.x + gap : frame->area.Min.x - gap - width;
        const float top = ImClamp(px - half_line, frame->box.Min.y,
                                  ImMax(frame->box.Max.y - 2.0f * half_line, frame->box.Min.y));
        plot_text(x, top, 0.0f, color, tick->text);
    }
    if (axis->label[0] == '\0')
        return;
    const float wrap = frame->box.GetWidth() * 0.5f - gap;
    const ImVec2 size = plot_text_size(axis->label, wrap);
    plot_text(right ? frame->box.Max.x - size.x : frame->box.Min.x,
              frame->area.Min.y - label_gap - size.y, wrap, color, axis->label);
}

void plot_draw_axes(const PlotFrame *frame)
{
    ImDrawList *const list = ImGui::GetWindowDrawList();
    const ImRect &area = frame->area;
    if ((frame->flags & CALIPER_PLOT_SPARK) != 0)
        return;
    if (frame->title[0] != '\0') {
        const ImFont *const font = ui_current->fonts[UI_FONT_STRONG];
        list->AddText(font, widgets_font_size(font), frame->box.Min,
                      ui_theme_color(CALIPER_THEME_TEXT), frame->title);
    }
    list->AddRectFilled(area.Min, area.Max, ui_theme_color(CALIPER_THEME_BACKGROUND), 3.0f);
    draw_grid(frame, &frame->axes[CALIPER_AXIS_X1], true);
    draw_grid(frame, &frame->axes[CALIPER_AXIS_Y1], false);
    const uint32_t edge = ui_theme_color(widgets.held == frame->state->id ? CALIPER_THEME_ACCENT
                                                                          : CALIPER_THEME_BORDER);
    list->AddRect(area.Min, area.Max, edge, 3.0f);
    draw_x_labels(frame);
    draw_y_labels(frame, &frame->axes[CALIPER_AXIS_Y1], false);
    draw_y_labels(frame, &frame->axes[CALIPER_AXIS_Y2], true);
}
