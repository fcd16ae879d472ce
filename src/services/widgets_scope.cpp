/* services/widgets_scope.cpp: slots that open scopes: windows, regions, ids, looks; and those that
 * mark the next item. Frame thread. */
#include "services/widgets_table.h"

#include <cstdio>

void widgets_slot_end(uint32_t scope)
{
    if (widgets_may_call("end"))
        widgets_end_scope(scope);
}

bool widgets_slot_window(const char *title, float w, float h, bool *open, uint32_t flags)
{
    if (!widgets_enter_scope("window", CALIPER_SCOPE_WINDOW, title))
        return false;
    widgets_unknown_flags(
        "window", flags, CALIPER_WINDOW_NO_RESIZE | CALIPER_WINDOW_AUTO_SIZE | CALIPER_WINDOW_MENU);
    bool stays_open = open == nullptr || *open;
    if (!stays_open) {
        widgets_push(CALIPER_SCOPE_WINDOW, false, title);
        return false;
    }
    const WidgetsNext next = widgets.next;
    const char *const label = widgets_plain_label(title);
    const ImGuiID id = ImGui::GetID(label);
    char name[WIDGETS_LABEL_BYTES];
    const char *const shown_end = ImGui::FindRenderedTextEnd(label);
    std::snprintf(name, sizeof name, "%.*s###window%08x",
                  static_cast<int>(ImMin<ptrdiff_t>(shown_end - label, 1024)), label, id);
    const ImVec2 &pos = ui_current->panel_pos;
    ImGui::SetNextWindowPos(ImVec2(pos.x + 40.0f, pos.y + 40.0f), ImGuiCond_FirstUseEver);
    ImGui::SetNextWindowSize(ImVec2(widgets_size_or(w, 360.0f), widgets_size_or(h, 260.0f)),
                             ImGuiCond_FirstUseEver);
    if (next.has_open)
        ImGui::SetNextWindowCollapsed(
            !next.open, next.open_when == CALIPER_WHEN_ALWAYS ? ImGuiCond_Always : ImGuiCond_Once);
    if (next.focus)
        ImGui::SetNextWindowFocus();
    widgets_item_done();
    const ImGuiWindowFlags window_flags =
        ImGuiWindowFlags_NoSavedSettings |
        ((flags & CALIPER_WINDOW_NO_RESIZE) != 0 ? ImGuiWindowFlags_NoResize : 0) |
        ((flags & CALIPER_WINDOW_AUTO_SIZE) != 0 ? ImGuiWindowFlags_AlwaysAutoResize : 0) |
        ((flags & CALIPER_WINDOW_MENU) != 0 ? ImGuiWindowFlags_MenuBar : 0);
    const bool shown = ImGui::Begin(name, open != nullptr ? &stays_open : nullptr, window_flags);
    if (!shown)
        ImGui::End();
    Scope *const scope = widgets_push(CALIPER_SCOPE_WINDOW, shown, title);
    scope->flags = flags;
    if (open != nullptr && !stays_open)
        *open = false;
    return shown;
}

bool widgets_slot_child(const char *id, float w, float h, uint32_t flags)
{
    if (!widgets_enter_scope("child", CALIPER_SCOPE_CHILD, id))
        return false;
    widgets_unknown_flags("child", flags,
                          CALIPER_CHILD_BORDER | CALIPER_CHILD_SCROLL_X |
                              CALIPER_CHILD_AUTO_HEIGHT | CALIPER_CHILD_NO_SCROLL);
    const char *const label = widgets_label(id);
    const ImGuiID state_id = ImGui::GetID(label);
    const bool auto_height = (flags & CALIPER_CHILD_AUTO_HEIGHT) != 0;
    float height = widgets_size_or(h, 0.0f);
    if (auto_height)
        height = ImMax(ImGui::GetStateStorage()->GetFloat(state_id, ImGui::GetFrameHeight()), 1.0f);
    /* Flattened: Tab goes in and out as if there were no region. */
    ImGuiWindowFlags window_flags =
        ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NavFlattened;
    if ((flags & CALIPER_CHILD_SCROLL_X) != 0)
        window_flags |= ImGuiWindowFlags_HorizontalScrollbar;
    if ((flags & CALIPER_CHILD_NO_SCROLL) != 0 || auto_height)
        window_flags |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    widgets_item_done();
    const bool shown = ImGui::BeginChild(label, ImVec2(widgets_size_or(w, 0.0f), height),
                                         (flags & CALIPER_CHILD_BORDER) != 0, window_flags);
    if (!shown)
        ImGui::EndChild();
    Scope *const scope = widgets_push(CALIPER_SCOPE_CHILD, shown, id);
    scope->auto_height = auto_height;
    scope->id = state_id;
    return shown;
}

/* Begins one region of a split; what is too small to be seen is discarded until the next one. */
static void split_region(Scope *scope, uint32_t region, ImVec2 size)
{
    const bool shown =
        ImGui::BeginChild(scope->id + region, ImVec2(ImMax(size.x, 1.0f), ImMax(size.y, 1.0f)),
                          false, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NavFlattened);
    scope->region_off = !shown;
    if (!shown) {
        ImGui::EndChild();
        widgets.discarded++;
    }
}

/* The handle as the keyboard sees it: how far it moves in this frame. */
static float steer_handle(const ImRect &bar, bool across, const char *label)
{
    constexpr float step = 8.0f;
    const ImGuiID id = ImGui::GetID("keys");
    if (!ImGui::ItemAdd(bar, id))
        return 0.0f;
    widgets_listed("splitter", label);
    ImGui::RenderNavHighlight(bar, id);
    if (!widgets_held(id))
        return 0.0f;
    widgets_hold(id, bar);
    const float less = widgets_key(across ? CALIPER_KEY_LEFT : CALIPER_KEY_UP, true) ? step : 0.0f;
    const float more =
        widgets_key(across ? CALIPER_KEY_RIGHT : CALIPER_KEY_DOWN, true) ? step : 0.0f;
    return more - less;
}

bool widgets_slot_split(const char *id, uint32_t axis, float *first, float min_first,
                        float min_second)
{
    if (!widgets_enter_scope("split", CALIPER_SCOPE_SPLIT, id))
        return false;
    const float given = first != nullptr ? *first : 0.0f;
    const char *const label = widgets_label(id);
    const bool across = axis != CALIPER_SPLIT_TOP_BOTTOM;
    constexpr float handle = 9.0f;
    ImGuiWindow *const window = ImGui::GetCurrentWindow();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 total(ImMax(room.x, 2.0f), ImMax(room.y, 2.0f));
    const float length = ImMax((across ? total.x : total.y) - handle, 2.0f);
    const float low = ImClamp(widgets_size_or(min_first, 40.0f), 1.0f, length);
    const float high = ImMax(length - ImMax(widgets_size_or(min_second, 40.0f), 1.0f), low);
    float size_first = ImClamp(widgets_size_or(given, length / 2), 1.0f, 32768.0f);
    size_first = ImMin(ImMax(size_first, low), high);
    float size_second = ImMax(length - size_first, 1.0f);
    const ImVec2 pos = window->DC.CursorPos;
    const ImRect bar =
        across ? ImRect(pos.x + size_first, pos.y, pos.x + size_first + handle, pos.y + total.y)
               : ImRect(pos.x, pos.y + size_first, pos.x + total.x, pos.y + size_first + handle);
    ImRect line = bar; /* the handle is wider than what is seen of it */
    line.Expand(across ? ImVec2(-3.5f, 0.0f) : ImVec2(0.0f, -3.5f));
    widgets_item_done();
    ImGui::PushID(label);
    const float by = steer_handle(bar, across, label);
    size_first = ImClamp(size_first + by, low, high);
    size_second = ImMax(length - size_first, 1.0f);
    const bool dragged =
        ImGui::SplitterBehavior(line, ImGui::GetID("handle"), across ? ImGuiAxis_X : ImGuiAxis_Y,
                                &size_first, &size_second, low, length - high, 3.5f);
    Scope *const scope = widgets_push(CALIPER_SCOPE_SPLIT, true, id);
    scope->pos = pos;
    scope->total_size = total;
    scope->flags = across ? CALIPER_SPLIT_LEFT_RIGHT : CALIPER_SPLIT_TOP_BOTTOM;
    scope->first_size = across ? ImVec2(size_first, total.y) : ImVec2(total.x, size_first);
    scope->second_size = across ? ImVec2(total.x - size_first - handle, total.y)
                                : ImVec2(total.x, total.y - size_first - handle);
    scope->id = ImGui::GetID("region");
    ImGui::PopID();
    ImGui::SetCursorScreenPos(pos);
    split_region(scope, 0, scope->first_size);
    if ((dragged || by != 0.0f) && first != nullptr)
        *first = size_first;
    return true;
}

void widgets_slot_split_next(void)
{
    if (!widgets_may_call("split_next"))
        return;
    Scope *const scope = widgets_top();
    if (scope->kind != CALIPER_SCOPE_SPLIT || scope->second) {
        if (scope->live)
            widgets_refuse("split_next", "no split as the innermost scope, or its second region",
                           "one split_next right inside a split");
        return;
    }
    scope->second = true;
    if (!scope->live)
        return;
    if (scope->region_off)
        widgets.discarded--;
    else
        ImGui::EndChild();
    const bool across = scope->flags == CALIPER_SPLIT_LEFT_RIGHT;
    ImGui::SetCursorScreenPos(
        across ? ImVec2(scope->pos.x + scope->total_size.x - scope->second_size.x, scope->pos.y)
               : ImVec2(scope->pos.x, scope->pos.y + scope->total_size.y - scope->second_size.y));
    split_region(scope, 1, scope->second_size);
}

void widgets_slot_group(void)
{
    if (!widgets_enter_scope("group", CALIPER_SCOPE_GROUP, ""))
        return;
    ImGui::BeginGroup();
    widgets_push(CALIPER_SCOPE_GROUP, true, "");
}

void widgets_slot_indent(float w)
{
    if (!widgets_enter_scope("indent", CALIPER_SCOPE_INDENT, ""))
        return;
    const float step = widgets_size_or(w, ImGui::GetStyle().IndentSpacing);
    ImGui::Indent(step);
    widgets_push(CALIPER_SCOPE_INDENT, true, "")->first_size.x = step;
}

void widgets_slot_push_id(const char *id)
{
    if (!widgets_enter_scope("push_id", CALIPER_SCOPE_ID, id))
        return;
    const char *const end = widgets_text_end(&id, -1);
    ImGui::PushID(id, end);
    widgets_push(CALIPER_SCOPE_ID, true, id);
}

void widgets_slot_push_id_int(uint64_t id)
{
    if (!widgets_enter_scope("push_id_int", CALIPER_SCOPE_ID, ""))
        return;
    const char *const bytes = reinterpret_cast<const char *>(&id);
    ImGui::PushID(bytes, bytes + sizeof id);
    widgets_push(CALIPER_SCOPE_ID, true, "");
}

void widgets_slot_push_width(float w)
{
    if (!widgets_enter_scope("push_width", CALIPER_SCOPE_WIDTH, ""))
        return;
    ImGui::PushItemWidth(widgets_size_or(w, 0.0f));
    widgets_push(CALIPER_SCOPE_WIDTH, true, "");
}

void widgets_slot_push_text(uint32_t rgba, uint32_t flags)
{
    if (!widgets_enter_scope("push_text", CALIPER_SCOPE_TEXT, ""))
        return;
    constexpr uint32_t known =
        CALIPER_TEXT_WRAP | CALIPER_TEXT_MONO | CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL;
    widgets_unknown_flags("push_text", flags, known);
    Scope *const scope = widgets_push(CALIPER_SCOPE_TEXT, true, "");
    if (rgba != 0 || (flags & CALIPER_TEXT_DIM) != 0) {
        ImGui::PushStyleColor(ImGuiCol_Text, widgets_color_or(rgba, CALIPER_THEME_TEXT_DIM));
        scope->colors = 1;
    }
    if ((flags & (CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL)) != 0) {
        ImGui::PushFont(const_cast<ImFont *>(widgets_font(flags & known)));
        scope->fonts = 1;
    }
    if ((flags & CALIPER_TEXT_WRAP) != 0) {
        ImGui::PushTextWrapPos(0.0f);
        scope->wraps = 1;
    }
}

void widgets_slot_disabled(bool on)
{
    if (!widgets_enter_scope("disabled", CALIPER_SCOPE_DISABLED, ""))
        return;
    ImGui::BeginDisabled(on);
    widgets_push(CALIPER_SCOPE_DISABLED, true, "");
}

/* ---- The next item only ---- */

void widgets_slot_next_id(uint64_t id)
{
    if (!widgets_enter("next_id"))
        return;
    widgets.next.has_id = true;
    widgets.next.id = id;
}

void widgets_slot_next_width(float w)
{
    if (!widgets_enter("next_width") || !std::isfinite(w) || w == 0.0f)
        return;
    widgets.next.has_width = true;
    widgets.next.width = widgets_size_or(w, 0.0f);
}

void widgets_slot_next_open(bool open, uint32_t when)
{
    if (!widgets_enter("next_open"))
        return;
    widgets.next.has_open = true;
    widgets.next.open = open;
    widgets.next.open_when = when;
}

void widgets_slot_next_focus(void)
{
    if (widgets_enter("next_focus"))
        widgets.next.focus = true;
}
