/* services/widgets.cpp: life, scope stack, ids and log lines of the widgets table. Frame thread;
 * calls from elsewhere are refused here. */
#include "services/plot_internal.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

WidgetsState widgets;

static thread_local bool is_frame_thread;
static std::atomic<bool> wrong_thread_said;

void widgets_start(Bridge *bridge)
{
    widgets.bridge = bridge;
    is_frame_thread = true;
}

void widgets_stop(void)
{
    plot_stop();
    widgets_control_stop();
    std::free(widgets.scratch);
    widgets.scratch = nullptr;
    widgets.scratch_bytes = 0;
    widgets.bridge = nullptr;
    is_frame_thread = false;
}

void widgets_set_dropped(const char *const *paths, int32_t count)
{
    widgets.dropped = paths;
    widgets.dropped_count = count;
}

void widgets_begin(CallerId owner)
{
    widgets.inside = true;
    widgets.owner = owner;
    widgets.panel = ImGui::GetCurrentWindow();
    widgets.depth = 0;
    widgets.overflow = 0;
    widgets.discarded = 0;
    widgets.positional = 0;
    widgets.next = WidgetsNext();
    widgets.root = Scope();
    widgets.root.live = true;
    widgets.stamp++;
    plot_abandon();
    ui_focus_stops_begin();
    ImGui::PushID(reinterpret_cast<const char *>(&widgets.owner),
                  reinterpret_cast<const char *>(&widgets.owner + 1));
}

void widgets_end(void)
{
    if (!widgets.inside)
        return;
    const CallerId before = caller_enter(widgets.owner); /* whose lines these are */
    while (widgets.depth > 0) {
        const Scope *const open = &widgets.scopes[widgets.depth - 1];
        char given[96];
        std::snprintf(given, sizeof given, "scope %u \"%s\" left open", open->kind, open->label);
        widgets_refuse("end of frame()", given, "an end() beside its opener");
        widgets_end_scope(open->kind);
    }
    caller_leave(before);
    ImGui::PopID();
    ui_focus_stops_end();
    widgets.inside = false;
    widgets.panel = nullptr;
    widgets.dropped = nullptr;
    widgets.dropped_count = 0;
}

/* ---- Log lines ---- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ static_cast<unsigned char>(*text)) * UINT64_C(0x100000001b3);
    return hash;
}

void widgets_refuse(const char *slot, const char *given, const char *wanted)
{
    uint64_t key = mix(UINT64_C(0xcbf29ce484222325) ^ widgets.owner, slot);
    key = mix(key, given);
    key = mix(key, wanted) | 1;
    for (uint32_t probe = 0; probe < 16; probe++) {
        uint64_t *const place = &widgets.said[(key + probe) % WIDGETS_SAID_MAX];
        if (*place == key)
            return;
        if (*place == 0) {
            *place = key;
            log_item(WIDGETS_REFUSED, slot, given, wanted);
            return;
        }
    }
}

void widgets_unknown_flags(const char *slot, uint32_t flags, uint32_t known)
{
    if ((flags & ~known) == 0)
        return;
    char given[48];
    std::snprintf(given, sizeof given, "flags 0x%x", flags & ~known);
    widgets_refuse(slot, given, "flags of this table; the others are ignored");
}

/* ---- Entering ---- */

bool widgets_may_call(const char *slot)
{
    if (!is_frame_thread) {
        if (!wrong_thread_said.exchange(true))
            log_item(WIDGETS_WRONG_THREAD, slot);
        return false;
    }
    if (!widgets.inside) {
        widgets_refuse(slot, "a call outside frame()", "a call inside frame(), after initialize");
        return false;
    }
    return true;
}

int widgets_vertices_left(const ImDrawList *list)
{
    const int left = WIDGETS_VERTICES_MAX - list->VtxBuffer.Size;
    if (left > 0)
        return left;
    widgets_refuse("frame()", "more than 2^20 vertices in a region",
                   "fewer; the rest is not drawn");
    return 0;
}

static bool is_full(void)
{
    return widgets_vertices_left(ImGui::GetWindowDrawList()) == 0;
}

bool widgets_enter(const char *slot)
{
    return widgets_may_call(slot) && widgets.discarded == 0 && !is_full();
}

bool widgets_enter_asking(const char *slot)
{
    const Scope *const top = widgets_top();
    const bool closed_tree =
        widgets.discarded == 1 && top->kind == CALIPER_SCOPE_TREE && !top->live && !is_full();
    return widgets_may_call(slot) && ((widgets.discarded == 0 && !is_full()) || closed_tree);
}

static bool keeps_region(uint32_t kind)
{
    return kind == CALIPER_SCOPE_ID || kind == CALIPER_SCOPE_WIDTH || kind == CALIPER_SCOPE_TEXT ||
           kind == CALIPER_SCOPE_DISABLED || kind == CALIPER_SCOPE_INDENT;
}

bool widgets_enter_scope(const char *slot, uint32_t kind, const char *label)
{
    if (!widgets_may_call(slot))
        return false;
    if (widgets.depth == WIDGETS_SCOPES_MAX) {
        widgets_refuse(slot, "more than 256 nested scopes", "fewer; the rest is not drawn");
        widgets.overflow++;
        return false;
    }
    if (widgets.discarded > 0 || is_full()) {
        widgets_push(kind, false, label);
        return false;
    }
    /* A plot is drawn into the window that it was begun in. */
    if (plot_current() != nullptr && !keeps_region(kind))
        plot_settle(plot_current());
    return true;
}

/* ---- The stack ---- */

Scope *widgets_push(uint32_t kind, bool live, const char *label)
{
    Scope *const scope = &widgets.scopes[widgets.depth];
    widgets.depth++;
    *scope = Scope();
    scope->kind = kind;
    scope->live = live;
    if (label != nullptr) {
        std::strncpy(scope->label, label, sizeof scope->label - 1);
        scope->label[sizeof scope->label - 1] = '\0';
    }
    if (!live)
        widgets.discarded++;
    return scope;
}

Scope *widgets_top(void)
{
    return widgets.depth > 0 ? &widgets.scopes[widgets.depth - 1] : &widgets.root;
}

Scope *widgets_parent(uint32_t kind)
{
    for (int32_t i = widgets.depth - 1; i >= 0; i--) {
        Scope *const scope = &widgets.scopes[i];
        if (scope->kind == kind)
            return scope->live ? scope : nullptr;
        if (!keeps_region(scope->kind))
            return nullptr;
    }
    return nullptr;
}

Scope *widgets_drawing(void)
{
    for (int32_t i = widgets.depth - 1; i >= 0; i--) {
        Scope *const scope = &widgets.scopes[i];
        if (scope->kind == CALIPER_SCOPE_PLOT && scope->live)
            plot_settle(plot_current());
        if (scope->kind == CALIPER_SCOPE_IMAGE || scope->kind == CALIPER_SCOPE_CANVAS ||
            scope->kind == CALIPER_SCOPE_PLOT)
            return scope->live ? scope : nullptr;
        if (!keeps_region(scope->kind))
            return nullptr;
    }
    return nullptr;
}

static void close_text(const Scope *scope)
{
    for (uint8_t i = 0; i < scope->wraps; i++)
        ImGui::PopTextWrapPos();
    ImGui::PopStyleColor(scope->colors);
    for (uint8_t i = 0; i < scope->fonts; i++)
        ImGui::PopFont();
}

static void close_child(const Scope *scope)
{
    const float height = ImGui::GetCurrentWindow()->DC.CursorMaxPos.y -
                         ImGui::GetCurrentWindow()->DC.CursorStartPos.y +
                         2.0f * ImGui::GetStyle().WindowPadding.y;
    ImGui::EndChild();
    if (scope->auto_height)
        ImGui::GetStateStorage()->SetFloat(scope->id, height);
}

static void close_split(const Scope *scope)
{
    if (!scope->region_off)
        ImGui::EndChild();
    else
        widgets.discarded--;
    /* What comes after the split lies below both regions, also when one was never begun. */
    ImGui::SetCursorScreenPos(scope->pos);
    ImGui::Dummy(scope->total_size);
}

static void close_tree(const Scope *scope)
{
    if ((scope->flags & CALIPER_TREE_HEADER) != 0)
        ImGui::PopID();
    else
        ImGui::TreePop();
}

static void close_table(Scope *scope)
{
    widgets_table_begin_rows(scope);
    ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if (table->IsInsideRow)
        ImGui::TableEndRow(table);
    else /* items outside of cells moved it; EndTable wants it where the last row ended */
        table->InnerWindow->DC.CursorPos.y = table->RowPosY2;
    ImGui::EndTable();
}

static void close_live(Scope *scope)
{
    switch (scope->kind) {
    case CALIPER_SCOPE_WINDOW:
        ImGui::End();
        break;
    case CALIPER_SCOPE_CHILD:
        close_child(scope);
        break;
    case CALIPER_SCOPE_SPLIT:
        close_split(scope);
        break;
    case CALIPER_SCOPE_GROUP:
        ImGui::EndGroup();
        break;
    case CALIPER_SCOPE_INDENT:
        ImGui::Unindent(scope->first_size.x);
        break;
    case CALIPER_SCOPE_ID:
        ImGui::PopID();
        break;
    case CALIPER_SCOPE_WIDTH:
        ImGui::PopItemWidth();
        break;
    case CALIPER_SCOPE_TEXT:
        close_text(scope);
        break;
    case CALIPER_SCOPE_DISABLED:
        ImGui::EndDisabled();
        break;
    case CALIPER_SCOPE_COMBO:
        ImGui::EndCombo();
        break;
    case CALIPER_SCOPE_TREE:
        close_tree(scope);
        break;
    case CALIPER_SCOPE_TAB_BAR:
        ImGui::EndTabBar();
        break;
    case CALIPER_SCOPE_TAB:
        ImGui::EndTabItem();
        break;
    case CALIPER_SCOPE_MENU_BAR:
        ImGui::EndMenuBar();
        break;
    case CALIPER_SCOPE_MENU:
        ImGui::EndMenu();
        break;
    case CALIPER_SCOPE_POPUP:
        ImGui::EndPopup();
        break;
    case CALIPER_SCOPE_TOOLTIP:
        ImGui::EndTooltip();
        break;
    case CALIPER_SCOPE_TABLE:
        close_table(scope);
        break;
    case CALIPER_SCOPE_IMAGE:
    case CALIPER_SCOPE_CANVAS:
        ImGui::PopClipRect();
        break;
    case CALIPER_SCOPE_PLOT:
        plot_close(scope);
        break;
    default:
        break;
    }
}

static void pop(void)
{
    Scope *const scope = &widgets.scopes[widgets.depth - 1];
    if (scope->live)
        close_live(scope);
    else
        widgets.discarded--;
    widgets.depth--;
}

void widgets_end_scope(uint32_t kind)
{
    if (widgets.overflow > 0) {
        widgets.overflow--;
        return;
    }
    int32_t found = widgets.depth - 1;
    while (found >= 0 && widgets.scopes[found].kind != kind)
        found--;
    char given[96];
    if (found < 0) {
        std::snprintf(given, sizeof given, "end(%u) with no such scope open", kind);
        widgets_refuse("end", given, "one end for each opener");
        return;
    }
    while (widgets.depth - 1 > found) {
        const Scope *const inner = widgets_top();
        std::snprintf(given, sizeof given, "scope %u \"%s\" open inside scope %u", inner->kind,
                      inner->label, kind);
        widgets_refuse("end", given, "inner scopes ended first");
        pop();
    }
    pop();
}

/* ---- Labels ---- */

/* How often this id was met in this frame before. */
static uint32_t count_id(ImGuiID id)
{
    for (uint32_t probe = 0; probe < 64; probe++) {
        const uint32_t place = (id + probe) % WIDGETS_SEEN_MAX;
        if (widgets.seen_stamps[place] != widgets.stamp) {
            widgets.seen_stamps[place] = widgets.stamp;
            widgets.seen_ids[place] = id;
            widgets.seen_counts[place] = 1;
            return 0;
        }
        if (widgets.seen_ids[place] == id)
            return widgets.seen_counts[place]++;
    }
    return 0;
}

/* Copies at most the label buffer, cut at a code point; every `##` is broken when `whole`. */
static size_t copy_label(const char *label, bool whole)
{
    size_t used = 0;
    for (size_t i = 0; label[i] != '\0' && used < WIDGETS_LABEL_BYTES - 8; i++) {
        widgets.label[used++] = label[i];
        if (whole && label[i] == '#' && label[i + 1] == '#') {
            std::memcpy(widgets.label + used, "\xe2\x81\xa0", 3); /* U+2060, an empty glyph */
            used += 3;
        }
    }
    widgets.label[used] = '\0';
    return used;
}

const char *widgets_plain_label(const char *label)
{
    const bool empty = label == nullptr || label[0] == '\0';
    size_t used = copy_label(empty ? "" : label, widgets.next.has_id);
    if (widgets.next.has_id)
        std::snprintf(widgets.label + used, 48, "###%llu",
                      static_cast<unsigned long long>(widgets.next.id));
    else if (empty)
        std::snprintf(widgets.label, 48, "##at%u", widgets.positional++);
    widgets.next.has_id = false;
    return widgets.label;
}

const char *widgets_label(const char *label)
{
    widgets_plain_label(label);
    const uint32_t before = count_id(ImGui::GetCurrentWindow()->GetID(widgets.label));
    if (before > 0) {
        const size_t used = std::strlen(widgets.label);
        const bool hidden = std::strstr(widgets.label, "##") != nullptr;
        char given[96];
        std::snprintf(given, sizeof given, "the label \"%.48s\" again in its scope", widgets.label);
        widgets_refuse("a label", given, "push_id_int around the rows of a loop");
        std::snprintf(widgets.label + used, 48, "%s~%u", hidden ? "" : "##", before);
    }
    return widgets.label;
}

void widgets_listed(const char *kind, const char *label)
{
    ui_items_note(kind, label);
}

void widgets_item(float default_width)
{
    if (widgets.next.focus)
        ImGui::SetKeyboardFocusHere();
    if (widgets.next.has_width)
        ImGui::SetNextItemWidth(widgets.next.width);
    else if (default_width != 0.0f)
        ImGui::SetNextItemWidth(default_width);
    widgets_item_done();
}

void widgets_item_done(void)
{
    widgets.next = WidgetsNext();
}

/* ---- Text and sizes ---- */

char *widgets_scratch(size_t bytes)
{
    if (bytes > widgets.scratch_bytes) {
        const size_t wanted = bytes + bytes / 2 + 256;
        char *const bigger = static_cast<char *>(std::realloc(widgets.scratch, wanted));
        if (bigger == nullptr) {
            log_item(OUT_OF_MEMORY, "widgets", static_cast<unsigned long long>(wanted));
            return nullptr;
        }
        widgets.scratch = bigger;
        widgets.scratch_bytes = wanted;
    }
    return widgets.scratch;
}

void widgets_copy_text(char *to, size_t to_bytes, const char *from)
{
    size_t used = 0;
    for (; from != nullptr && from[used] != '\0' && used + 1 < to_bytes; used++)
        to[used] = from[used];
    if (from != nullptr && from[used] != '\0') { /* not into the middle of a code point */
        while (used > 0 && (static_cast<unsigned char>(from[used]) & 0xc0) == 0x80)
            used--;
    }
    to[used] = '\0';
}

const char *widgets_text_end(const char **text, int64_t len)
{
    if (*text == nullptr) {
        *text = "";
        return *text;
    }
    if (len < 0)
        return *text + std::strlen(*text);
    size_t zeros = 0;
    for (int64_t i = 0; i < len; i++)
        zeros += (*text)[i] == '\0';
    if (zeros == 0)
        return *text + len;
    char *const copy = widgets_scratch(static_cast<size_t>(len) + 2 * zeros + 1);
    if (copy == nullptr)
        return *text + std::strlen(*text);
    size_t used = 0;
    for (int64_t i = 0; i < len; i++) {
        if ((*text)[i] != '\0') {
            copy[used++] = (*text)[i];
        } else {
            std::memcpy(copy + used, "\xef\xbf\xbd", 3);
            used += 3;
        }
    }
    *text = copy;
    return copy + used;
}

const ImFont *widgets_font(uint32_t text_flags)
{
    UiFont font = UI_FONT_BODY;
    if ((text_flags & CALIPER_TEXT_MONO) != 0)
        font = (text_flags & CALIPER_TEXT_SMALL) != 0 ? UI_FONT_MONO_SMALL : UI_FONT_MONO;
    else if ((text_flags & CALIPER_TEXT_HEADING) != 0)
        font = UI_FONT_HEADING;
    else if ((text_flags & CALIPER_TEXT_SMALL) != 0)
        font = UI_FONT_SMALL;
    return ui_current->fonts[font];
}

float widgets_size_or(float value, float fallback)
{
    if (!std::isfinite(value) || value == 0.0f)
        return fallback;
    return value > 32768.0f ? 32768.0f : value < -32768.0f ? -32768.0f : value;
}
