/* services/widgets_image.cpp: images, the image view, the canvas, and where the pointer is in them.
 * Frame thread. */
#include "services/widgets_table.h"

#include <cmath>

static constexpr double zoom_max = 1024.0; /* units a texel */

/* Only the cells in sight: a picture may be much larger than the window. */
static void draw_checker(ImDrawList *list, ImVec2 low, ImVec2 high)
{
    constexpr float cell = 8.0f;
    const ImVec2 from = list->GetClipRectMin(), to = list->GetClipRectMax();
    list->AddRectFilled(low, high, 0xff8c8c8cu);
    const float left = low.x + cell * ImFloor(ImMax(from.x - low.x, 0.0f) / cell);
    const float top = low.y + cell * ImFloor(ImMax(from.y - low.y, 0.0f) / cell);
    const ImVec2 end = ImMin(high, to);
    for (float y = top; y < end.y; y += cell) {
        const int row = static_cast<int>((y - low.y) / cell + 0.5f);
        for (float x = left; x < end.x; x += cell) {
            const int column = static_cast<int>((x - low.x) / cell + 0.5f);
            if ((row + column) % 2 == 0)
                list->AddRectFilled(ImVec2(x, y),
                                    ImVec2(ImMin(x + cell, high.x), ImMin(y + cell, high.y)),
                                    0xffb4b4b4u);
        }
    }
}

/* The part of a picture inside `clip`, cut in double so that no texel moves at high zoom. */
void widgets_draw_image_clipped(ImDrawList *list, CaliperTextureId texture, double x0, double y0,
                                double x1, double y1, const ImRect *clip, uint32_t flags)
{
    if (!std::isfinite(x0 + y0 + x1 + y1) || x0 == x1 || y0 == y1)
        return;
    double u0 = 0.0, u1 = 1.0, v0 = 0.0, v1 = 1.0;
    if (x1 < x0) {
        ImSwap(x0, x1);
        ImSwap(u0, u1);
    }
    if (y1 < y0) {
        ImSwap(y0, y1);
        ImSwap(v0, v1);
    }
    if ((flags & CALIPER_IMAGE_FLIP_Y) != 0)
        ImSwap(v0, v1);
    const double left = ImMax(x0, static_cast<double>(clip->Min.x));
    const double top = ImMax(y0, static_cast<double>(clip->Min.y));
    const double right = ImMin(x1, static_cast<double>(clip->Max.x));
    const double bottom = ImMin(y1, static_cast<double>(clip->Max.y));
    if (left >= right || top >= bottom)
        return;
    const double du = (u1 - u0) / (x1 - x0), dv = (v1 - v0) / (y1 - y0);
    const ImVec2 low(static_cast<float>(left), static_cast<float>(top));
    const ImVec2 high(static_cast<float>(right), static_cast<float>(bottom));
    if ((flags & CALIPER_IMAGE_CHECKER) != 0)
        draw_checker(list, low, high);
    list->AddImage(
        ui_texture_id(texture, (flags & CALIPER_IMAGE_LINEAR) != 0), low, high,
        ImVec2(static_cast<float>(u0 + (left - x0) * du), static_cast<float>(v0 + (top - y0) * dv)),
        ImVec2(static_cast<float>(u0 + (right - x0) * du),
               static_cast<float>(v0 + (bottom - y0) * dv)));
    if ((flags & CALIPER_IMAGE_BORDER) != 0)
        list->AddRect(low, high, ui_theme_color(CALIPER_THEME_BORDER));
}

/* A bad id has no size; its placeholder gets one. */
static void texture_size(CaliperTextureId texture, int64_t *out_w, int64_t *out_h)
{
    int32_t w = 0, h = 0;
    if (texture == 0 || bridge_texture_for_draw(widgets.bridge, texture) == nullptr ||
        !bridge_texture_size(widgets.bridge, texture, &w, &h)) {
        w = 64;
        h = 64;
    }
    *out_w = w;
    *out_h = h;
}

void widgets_slot_image(CaliperTextureId tex, float w, float h, uint32_t flags)
{
    if (!widgets_enter("image"))
        return;
    widgets_unknown_flags("image", flags, 127);
    int64_t natural_w = 0, natural_h = 0;
    texture_size(tex, &natural_w, &natural_h);
    const float shape = static_cast<float>(natural_h) / static_cast<float>(natural_w);
    float width = widgets_size_or(w, 0.0f), height = widgets_size_or(h, 0.0f);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (width < 0.0f)
        width = ImMax(room.x + width, 1.0f);
    if (height < 0.0f)
        height = ImMax(room.y + height, 1.0f);
    if (width == 0.0f && height == 0.0f) {
        width = ImMin(static_cast<float>(natural_w), 32768.0f);
        height = ImMin(static_cast<float>(natural_h), 32768.0f);
    } else if (width == 0.0f) {
        width = ImMin(height / shape, 32768.0f);
    } else if (height == 0.0f) {
        height = ImMin(width * shape, 32768.0f);
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImRect box(at.x, at.y, at.x + width, at.y + height);
    widgets_item_done();
    ImGui::ItemSize(box);
    if (!ImGui::ItemAdd(box, 0))
        return;
    widgets_draw_image_clipped(ImGui::GetWindowDrawList(), tex, static_cast<double>(box.Min.x),
                               static_cast<double>(box.Min.y), static_cast<double>(box.Max.x),
                               static_cast<double>(box.Max.y), &box, flags);
}

/* ---- Areas ---- */

/* The area's item: takes all three buttons and the wheel. */
static ImRect begin_area(const char *label, float w, float h, bool takes_wheel)
{
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float given_w = widgets_size_or(w, 0.0f), given_h = widgets_size_or(h, 0.0f);
    const ImVec2 size(ImMax(given_w > 0.0f ? given_w : room.x + given_w, 1.0f),
                      ImMax(given_h > 0.0f ? given_h : room.y + given_h, 1.0f));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const char *const shown = widgets_label(label);
    if (widgets.next.focus)
        ImGui::SetKeyboardFocusHere();
    widgets_item_done();
    ImGui::InvisibleButton(shown, size,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                               ImGuiButtonFlags_MouseButtonMiddle);
    widgets_listed("area", shown);
    ImGui::RenderNavHighlight(ImRect(at.x, at.y, at.x + size.x, at.y + size.y), ImGui::GetItemID());
    if (takes_wheel && ImGui::IsItemHovered())
        ImGui::SetItemUsingMouseWheel();
    return ImRect(at.x, at.y, at.x + size.x, at.y + size.y);
}

static void finish_area(Scope *scope, const ImRect &area)
{
    scope->space.area = area;
    scope->space.hovered = ImGui::IsItemHovered();
    scope->space.active = ImGui::IsItemActive();
    scope->space.wheel = scope->space.hovered ? ImGui::GetIO().MouseWheel : 0.0f;
    ImGui::PushClipRect(area.Min, area.Max, true);
}

struct View { /* of an image: centre in texels, window units a texel */
    double x, y, zoom;
};

static View fit_view(const ImRect &area, double img_w, double img_h)
{
    const double zoom = ImMin(static_cast<double>(area.GetWidth()) / img_w,
                              static_cast<double>(area.GetHeight()) / img_h);
    return {img_w / 2, img_h / 2, zoom};
}

/* What wheel, drag and double click make of the view. True when the person changed it. */
static bool steer_view(View *view, const ImRect &area, uint32_t flags, double flip, bool *refit)
{
    const ImGuiIO &io = ImGui::GetIO();
    bool changed = false;
    const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
    const ImVec2 middle = area.GetCenter();
    const bool left_pans = (flags & CALIPER_IMAGE_LEFT_FREE) == 0;
    const bool pans = active && ((left_pans && io.MouseDown[0]) || io.MouseDown[2]);
    if (pans && (io.MouseDelta.x != 0.0f || io.MouseDelta.y != 0.0f)) {
        view->x -= static_cast<double>(io.MouseDelta.x) / view->zoom;
        view->y -= flip * static_cast<double>(io.MouseDelta.y) / view->zoom;
        changed = true;
    }
    if (hovered && io.MouseWheel != 0.0f && (flags & CALIPER_IMAGE_NO_ZOOM) == 0) {
        const double dx = static_cast<double>(io.MousePos.x - middle.x);
        const double dy = flip * static_cast<double>(io.MousePos.y - middle.y);
        const double at_x = view->x + dx / view->zoom, at_y = view->y + dy / view->zoom;
        const double wheel = static_cast<double>(ImClamp(io.MouseWheel, -8.0f, 8.0f));
        view->zoom = ImClamp(view->zoom * std::pow(1.25, wheel), 1e-5, zoom_max);
        view->x = at_x - dx / view->zoom;
        view->y = at_y - dy / view->zoom;
        changed = true;
    }
    *refit = hovered && left_pans && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    return changed;
}

/* The same by the keyboard, about the middle. */
static bool steer_view_by_keys(View *view, const ImRect &area, uint32_t flags, double flip,
                               bool *refit)
{
    constexpr double share = 0.1; /* of what is in sight */
    const double across = share * static_cast<double>(area.GetWidth()) / view->zoom;
    const double down = flip * share * static_cast<double>(area.GetHeight()) / view->zoom;
    const double x = view->x, y = view->y, zoom = view->zoom;
    view->x += widgets_key(CALIPER_KEY_RIGHT, true) ? across : 0.0;
    view->x -= widgets_key(CALIPER_KEY_LEFT, true) ? across : 0.0;
    view->y += widgets_key(CALIPER_KEY_DOWN, true) ? down : 0.0;
    view->y -= widgets_key(CALIPER_KEY_UP, true) ? down : 0.0;
    if ((flags & CALIPER_IMAGE_NO_ZOOM) == 0) {
        const bool in = widgets_key('=', true) || widgets_key('+', true);
        const double by = in ? 1.25 : widgets_key('-', true) ? 0.8 : 1.0;
        view->zoom = ImClamp(view->zoom * by, 1e-5, zoom_max);
    }
    *refit |= widgets_key(CALIPER_KEY_HOME, false);
    return view->x != x || view->y != y || view->zoom != zoom;
}

static void draw_grid(ImDrawList *list, const DrawingSpace *space)
{
    if (std::fabs(space->scale_x) < 8.0)
        return;
    const uint32_t rgba = 0x40808080u;
    const ImRect &area = space->area;
    const double left =
        ImMax((static_cast<double>(area.Min.x) - space->origin_x) / space->scale_x, 0.0);
    const double right = ImMin((static_cast<double>(area.Max.x) - space->origin_x) / space->scale_x,
                               static_cast<double>(space->width));
    double top = (static_cast<double>(area.Min.y) - space->origin_y) / space->scale_y;
    double bottom = (static_cast<double>(area.Max.y) - space->origin_y) / space->scale_y;
    if (top > bottom)
        ImSwap(top, bottom);
    top = ImMax(top, 0.0);
    bottom = ImMin(bottom, static_cast<double>(space->height));
    if (left > right || top > bottom)
        return;
    const auto x_at = [space](double x) {
        return static_cast<float>(space->origin_x + x * space->scale_x);
    };
    const auto y_at = [space](double y) {
        return static_cast<float>(space->origin_y + y * space->scale_y);
    };
    for (double x = std::ceil(left); x <= right; x += 1.0)
        list->AddLine(ImVec2(x_at(x), y_at(top)), ImVec2(x_at(x), y_at(bottom)), rgba);
    for (double y = std::ceil(top); y <= bottom; y += 1.0)
        list->AddLine(ImVec2(x_at(left), y_at(y)), ImVec2(x_at(right), y_at(y)), rgba);
}

bool widgets_slot_image_view(const char *id, CaliperTextureId tex, int64_t img_w, int64_t img_h,
                             float w, float h, double *view3, uint32_t flags)
{
    if (!widgets_enter_scope("image_view", CALIPER_SCOPE_IMAGE, id))
        return false;
    widgets_unknown_flags("image_view", flags, 127);
    View view = {0.0, 0.0, 0.0};
    if (view3 != nullptr)
        view = {view3[0], view3[1], view3[2]};
    if (img_w <= 0 || img_h <= 0)
        texture_size(tex, &img_w, &img_h);
    const double width = static_cast<double>(img_w), height = static_cast<double>(img_h);
    const double flip = (flags & CALIPER_IMAGE_FLIP_Y) != 0 ? -1.0 : 1.0;
    const ImRect area = begin_area(id, w, h, (flags & CALIPER_IMAGE_NO_ZOOM) == 0);
    const bool fits = !std::isfinite(view.x + view.y + view.zoom) || view.zoom <= 0.0;
    if (fits)
        view = fit_view(area, width, height);
    bool refit = false;
    const ImGuiID item = ImGui::GetItemID();
    const bool held = widgets_held(item);
    bool changed = steer_view(&view, area, flags, flip, &refit);
    changed |= held && steer_view_by_keys(&view, area, flags, flip, &refit);
    if (refit)
        view = fit_view(area, width, height);
    const bool seen = ImGui::IsItemVisible();
    Scope *const scope = widgets_push(CALIPER_SCOPE_IMAGE, true, id);
    const ImVec2 middle = area.GetCenter();
    scope->space.scale_x = view.zoom;
    scope->space.scale_y = view.zoom * flip;
    scope->space.origin_x = static_cast<double>(middle.x) - view.x * scope->space.scale_x;
    scope->space.origin_y = static_cast<double>(middle.y) - view.y * scope->space.scale_y;
    scope->space.width = img_w;
    scope->space.height = img_h;
    finish_area(scope, area);
    if (held)
        widgets_hold(item, area);
    const DrawingSpace *const space = &scope->space;
    ImDrawList *const list = ImGui::GetWindowDrawList();
    if (tex != 0 && seen) {
        /* A flipped view has a negative scale: its corners swap and the picture turns with them. */
        widgets_draw_image_clipped(
            list, tex, space->origin_x, space->origin_y, space->origin_x + width * space->scale_x,
            space->origin_y + height * space->scale_y, &space->area,
            flags & ~static_cast<uint32_t>(CALIPER_IMAGE_FLIP_Y | CALIPER_IMAGE_BORDER));
    }
    if ((flags & CALIPER_IMAGE_GRID) != 0 && seen)
        draw_grid(list, space);
    if ((flags & CALIPER_IMAGE_BORDER) != 0)
        list->AddRect(area.Min, area.Max, ui_theme_color(CALIPER_THEME_BORDER));
    if (view3 != nullptr && (changed || refit)) {
        view3[0] = refit ? 0.0 : view.x;
        view3[1] = refit ? 0.0 : view.y;
        view3[2] = refit ? 0.0 : view.zoom;
    }
    return seen;
}

bool widgets_slot_canvas(const char *id, float w, float h, uint32_t flags)
{
    if (!widgets_enter_scope("canvas", CALIPER_SCOPE_CANVAS, id))
        return false;
    widgets_unknown_flags("canvas", flags, 0);
    const ImRect area = begin_area(id, w, h, true);
    const bool seen = ImGui::IsItemVisible();
    Scope *const scope = widgets_push(CALIPER_SCOPE_CANVAS, true, id);
    scope->space.scale_x = 1.0;
    scope->space.scale_y = 1.0;
    scope->space.origin_x = static_cast<double>(area.Min.x);
    scope->space.origin_y = static_cast<double>(area.Min.y);
    finish_area(scope, area);
    return seen;
}

/* ---- Where ---- */

bool widgets_slot_texel(int64_t *out_col, int64_t *out_row)
{
    if (!widgets_enter("texel"))
        return false;
    const Scope *const scope = widgets_drawing();
    if (scope == nullptr || scope->kind != CALIPER_SCOPE_IMAGE) {
        widgets_refuse("texel", "a call outside an image view", "a call while one is drawn");
        return false;
    }
    const DrawingSpace *const space = &scope->space;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    if (!space->hovered || !ImGui::IsMousePosValid())
        return false;
    const double col =
        std::floor((static_cast<double>(pointer.x) - space->origin_x) / space->scale_x);
    const double row =
        std::floor((static_cast<double>(pointer.y) - space->origin_y) / space->scale_y);
    if (!(col >= 0.0 && row >= 0.0 && col < static_cast<double>(space->width) &&
          row < static_cast<double>(space->height)))
        return false;
    if (out_col != nullptr)
        *out_col = static_cast<int64_t>(col);
    if (out_row != nullptr)
        *out_row = static_cast<int64_t>(row);
    return true;
}

/* The space of the innermost drawing scope, or the region itself. */
DrawingSpace widgets_space(void)
{
    const Scope *const scope = widgets_drawing();
    if (scope != nullptr)
        return scope->space;
    const ImGuiWindow *const window = ImGui::GetCurrentWindow();
    DrawingSpace space = DrawingSpace();
    space.scale_x = 1.0;
    space.scale_y = 1.0;
    space.origin_x = static_cast<double>(window->DC.CursorStartPos.x);
    space.origin_y = static_cast<double>(window->DC.CursorStartPos.y);
    space.area = window->ClipRect;
    space.hovered = ImGui::IsWindowHovered();
    space.wheel = space.hovered ? ImGui::GetIO().MouseWheel : 0.0f;
    return space;
}

void widgets_slot_visible(double *out_x0, double *out_y0, double *out_x1, double *out_y1)
{
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (widgets_enter("visible")) {
        const DrawingSpace space = widgets_space();
        ImRect seen = space.area;
        seen.ClipWithFull(ImGui::GetCurrentWindow()->ClipRect);
        const WidgetsPoint low = widgets_from_window(&space, seen.Min);
        const WidgetsPoint high = widgets_from_window(&space, seen.Max);
        x0 = ImMin(low.x, high.x);
        y0 = ImMin(low.y, high.y);
        x1 = ImMax(low.x, high.x);
        y1 = ImMax(low.y, high.y);
    }
    double *const outs[4] = {out_x0, out_y0, out_x1, out_y1};
    const double values[4] = {x0, y0, x1, y1};
    for (int i = 0; i < 4; i++) {
        if (outs[i] != nullptr)
            *outs[i] = values[i];
    }
}

uint32_t widgets_slot_pointer(double *out_x, double *out_y, float *out_wheel)
{
    double x = 0, y = 0;
    float wheel = 0;
    uint32_t bits = 0;
    if (widgets_enter("pointer")) {
        const ImGuiIO &io = ImGui::GetIO();
        const DrawingSpace space = widgets_space();
        if (ImGui::IsMousePosValid()) {
            const WidgetsPoint at = widgets_from_window(&space, io.MousePos);
            x = at.x;
            y = at.y;
        }
        wheel = space.wheel;
        bits |= space.hovered ? CALIPER_POINTER_HOVERED : 0;
        const bool mine = space.hovered || space.active;
        static constexpr int buttons[3] = {0, 1, 2}; /* left, right, middle */
        for (int i = 0; i < 3; i++) {
            const int b = buttons[i];
            bits |= mine && io.MouseDown[b] ? CALIPER_POINTER_DOWN << i : 0;
            bits |= space.hovered && ImGui::IsMouseClicked(b) ? CALIPER_POINTER_PRESSED << i : 0;
            bits |= mine && ImGui::IsMouseReleased(b) ? CALIPER_POINTER_RELEASED << i : 0;
            bits |=
                space.hovered && ImGui::IsMouseDoubleClicked(b) ? CALIPER_POINTER_TWICE << i : 0;
            bits |= space.active && ImGui::IsMouseDragging(b) ? CALIPER_POINTER_DRAG << i : 0;
        }
        bits |= io.KeyCtrl ? CALIPER_POINTER_CTRL : 0;
        bits |= io.KeyShift ? CALIPER_POINTER_SHIFT : 0;
        bits |= io.KeyAlt ? CALIPER_POINTER_ALT : 0;
    }
    if (out_x != nullptr)
        *out_x = x;
    if (out_y != nullptr)
        *out_y = y;
    if (out_wheel != nullptr)
        *out_wheel = wheel;
    return bits;
}
