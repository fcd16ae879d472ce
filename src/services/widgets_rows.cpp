/* services/widgets_rows.cpp: tables, and loops over only the rows in sight. Frame thread. */
#include "services/widgets_table.h"

#include <cstdio>

bool widgets_slot_table(const char *id, int32_t columns, float w, float h, uint32_t flags)
{
    if (!widgets_enter_scope("table", CALIPER_SCOPE_TABLE, id))
        return false;
    widgets_unknown_flags("table", flags, 511);
    if (columns < 1 || columns > 64) {
        widgets_refuse("table", "a number of columns outside 1..64", "1 to 64 columns");
        widgets_push(CALIPER_SCOPE_TABLE, false, id);
        return false;
    }
    static const struct {
        uint32_t ours;
        ImGuiTableFlags theirs;
    } pairs[] = {
        {CALIPER_TABLE_STRIPES, ImGuiTableFlags_RowBg},
        {CALIPER_TABLE_LINES, ImGuiTableFlags_Borders},
        {CALIPER_TABLE_RESIZE, ImGuiTableFlags_Resizable},
        {CALIPER_TABLE_REORDER, ImGuiTableFlags_Reorderable},
        {CALIPER_TABLE_HIDE, ImGuiTableFlags_Hideable},
        {CALIPER_TABLE_SORT, ImGuiTableFlags_Sortable | ImGuiTableFlags_SortMulti},
        {CALIPER_TABLE_SCROLL, ImGuiTableFlags_ScrollY},
        {CALIPER_TABLE_SCROLL_X, ImGuiTableFlags_ScrollX},
    };
    ImGuiTableFlags own = ImGuiTableFlags_NoSavedSettings;
    for (const auto &pair : pairs) {
        if ((flags & pair.ours) != 0)
            own |= pair.theirs;
    }
    if ((flags & CALIPER_TABLE_SCROLL_X) == 0)
        own |= ImGuiTableFlags_SizingStretchSame;
    const char *const shown = widgets_label(id);
    widgets_item_done();
    /* In a cell that is out of sight the toolkit asserts that nothing of a table is seen. */
    if (ImGui::GetCurrentWindow()->SkipItems) {
        widgets_push(CALIPER_SCOPE_TABLE, false, id);
        return false;
    }
    const bool live = ImGui::BeginTable(shown, columns, own,
                                        ImVec2(widgets_size_or(w, 0.0f), widgets_size_or(h, 0.0f)));
    /* The same for a scrolling table whose own window is out of sight: its cells are laid out, and
     * not shown with their window. */
    if (live) {
        ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
        table->HostSkipItems = false;
        if (table->InnerWindow != table->OuterWindow) { /* Tab goes in, as into other regions */
            table->InnerWindow->Flags |= ImGuiWindowFlags_NavFlattened;
            table->InnerWindow->RootWindowForNav = table->OuterWindow->RootWindowForNav;
        }
    }
    Scope *const scope = widgets_push(CALIPER_SCOPE_TABLE, live, id);
    scope->columns = columns;
    scope->flags = flags;
    return live;
}

void widgets_slot_table_column(const char *label, float width, uint32_t flags)
{
    if (!widgets_enter("table_column"))
        return;
    Scope *const table = widgets_parent(CALIPER_SCOPE_TABLE);
    if (table == nullptr || table->begun || table->declared == table->columns) {
        widgets_refuse("table_column", "outside a table, after its rows, or one too many",
                       "at most as many as the table has columns, before its rows");
        return;
    }
    widgets_unknown_flags("table_column", flags, 63);
    ImGuiTableColumnFlags own = 0;
    if ((flags & CALIPER_COLUMN_SORTED) != 0)
        own |= ImGuiTableColumnFlags_DefaultSort;
    if ((flags & CALIPER_COLUMN_SORTED_DOWN) != 0)
        own |= ImGuiTableColumnFlags_DefaultSort | ImGuiTableColumnFlags_PreferSortDescending;
    if ((flags & CALIPER_COLUMN_NO_SORT) != 0)
        own |= ImGuiTableColumnFlags_NoSort;
    if ((flags & CALIPER_COLUMN_NO_HIDE) != 0)
        own |= ImGuiTableColumnFlags_NoHide;
    if ((flags & CALIPER_COLUMN_HIDDEN) != 0)
        own |= ImGuiTableColumnFlags_DefaultHide;
    if ((flags & CALIPER_COLUMN_FROZEN) != 0 && table->frozen == table->declared)
        table->frozen++;
    float size = widgets_size_or(width, 0.0f);
    const bool scroll_x = (table->flags & CALIPER_TABLE_SCROLL_X) != 0;
    if (size > 0.0f) {
        own |= ImGuiTableColumnFlags_WidthFixed;
    } else if (!scroll_x) {
        own |= ImGuiTableColumnFlags_WidthStretch;
        size = size < 0.0f ? -size : 1.0f;
    } else {
        own |= ImGuiTableColumnFlags_WidthFixed; /* as wide as its content */
        size = 0.0f;
    }
    const char *const shown = widgets_label(label);
    ImGui::TableSetupColumn(shown, own, size);
    table->declared++;
    widgets_item_done();
}

void widgets_table_begin_rows(Scope *table)
{
    if (table->begun)
        return;
    table->begun = true;
    const bool header = (table->flags & CALIPER_TABLE_HEADER) != 0;
    ImGui::TableSetupScrollFreeze(table->frozen, header ? 1 : 0);
    if (header)
        ImGui::TableHeadersRow();
}

bool widgets_slot_table_sort(int32_t *out_column, bool *out_descending)
{
    if (!widgets_enter("table_sort"))
        return false;
    Scope *const table = widgets_parent(CALIPER_SCOPE_TABLE);
    if (table == nullptr) {
        widgets_refuse("table_sort", "a call outside a table", "a call inside a table");
        return false;
    }
    if (!table->begun)
        widgets_table_begin_rows(table);
    ImGuiTableSortSpecs *const specs = ImGui::TableGetSortSpecs();
    const bool sorted = specs != nullptr && specs->SpecsCount > 0;
    if (out_column != nullptr)
        *out_column = sorted ? specs->Specs[0].ColumnIndex : -1;
    if (out_descending != nullptr)
        *out_descending = sorted && specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    if (specs == nullptr || !specs->SpecsDirty)
        return false;
    specs->SpecsDirty = false;
    return true;
}

void widgets_slot_table_row(float min_h, uint32_t rgba)
{
    if (!widgets_enter("table_row"))
        return;
    Scope *const table = widgets_parent(CALIPER_SCOPE_TABLE);
    if (table == nullptr) {
        widgets_refuse("table_row", "a row outside a table", "a row directly in a table");
        return;
    }
    widgets_table_begin_rows(table);
    ImGui::TableNextRow(0, ImMax(widgets_size_or(min_h, 0.0f), 0.0f));
    if (rgba != 0)
        ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, rgba);
}

bool widgets_slot_table_cell(int32_t column, uint32_t rgba)
{
    if (!widgets_enter("table_cell"))
        return false;
    Scope *const table = widgets_parent(CALIPER_SCOPE_TABLE);
    if (table == nullptr || column < -1 || column >= table->columns) {
        widgets_refuse("table_cell", "a cell outside a table, or a column past its last",
                       "-1 or a column of the table it is directly in");
        return false;
    }
    widgets_table_begin_rows(table);
    bool seen;
    if (column < 0) {
        seen = ImGui::TableNextColumn();
    } else {
        if (!ImGui::GetCurrentContext()->CurrentTable->IsInsideRow)
            ImGui::TableNextRow();
        seen = ImGui::TableSetColumnIndex(column);
    }
    if (rgba != 0)
        ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, rgba);
    return seen;
}

/* ---- Rows ---- */

/* A region higher than this moves in whole units and more when it scrolls (binary32): beyond it the
 * scroll bar is mapped onto row numbers instead. */
static constexpr double height_max = 8388608.0;

static void move_to(double y, double row_h, int64_t rows)
{
    ImGuiWindow *const window = ImGui::GetCurrentWindow();
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if (table != nullptr && table->IsInsideRow)
        ImGui::TableEndRow(table);
    window->DC.CursorPos.y = static_cast<float>(y);
    window->DC.CursorMaxPos.y = ImMax(window->DC.CursorMaxPos.y, window->DC.CursorPos.y - gap);
    window->DC.CursorPosPrevLine.y = window->DC.CursorPos.y - static_cast<float>(row_h);
    window->DC.PrevLineSize.y = static_cast<float>(row_h) - gap;
    if (table != nullptr) {
        table->RowPosY2 = window->DC.CursorPos.y;
        table->RowBgColorCounter += static_cast<int>(rows & 0xffff);
    }
}

static double default_row_height(void)
{
    const ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if (table != nullptr)
        return static_cast<double>(ImGui::GetTextLineHeight() + 2.0f * table->CellPaddingY);
    return static_cast<double>(ImGui::GetTextLineHeightWithSpacing());
}

/* Which rows are in sight, from where the first one starts. */
static void visible_rows(RowsState *rows)
{
    const ImGuiWindow *const window = ImGui::GetCurrentWindow();
    const double top = static_cast<double>(window->ClipRect.Min.y);
    const double bottom = static_cast<double>(window->ClipRect.Max.y);
    const double height = static_cast<double>(rows->count) * rows->row_h;
    const double in_sight = std::ceil((bottom - top) / rows->row_h) + 1.0;
    double first = std::floor((top - rows->start_y) / rows->row_h);
    rows->capped = height > height_max;
    if (rows->capped) {
        const double room = static_cast<double>(window->ScrollMax.y);
        const double share = room > 0.0 ? static_cast<double>(window->Scroll.y) / room : 0.0;
        const double last_first =
            static_cast<double>(rows->count) - std::floor((bottom - top) / rows->row_h);
        first = std::floor(share * ImMax(last_first, 0.0));
    }
    first = ImClamp(first, 0.0, static_cast<double>(rows->count));
    rows->drawn_first = static_cast<int64_t>(first);
    const double end = ImMin(first + in_sight, static_cast<double>(rows->count));
    rows->drawn_end = bottom > top ? static_cast<int64_t>(end) : rows->drawn_first;
    if (!rows->capped && rows->start_y > bottom)
        rows->drawn_end = rows->drawn_first;
}

static bool rows_finish(RowsState *rows)
{
    ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if (table != nullptr && table->IsInsideRow)
        ImGui::TableEndRow(table);
    const double height = static_cast<double>(rows->count) * rows->row_h;
    move_to(rows->start_y + ImMin(height, height_max), rows->row_h, rows->count - rows->drawn_end);
    rows->running = false;
    return false;
}

bool widgets_slot_rows(int64_t count, float row_h, int64_t *out_first, int64_t *out_end)
{
    if (!widgets_enter("rows"))
        return false;
    Scope *scope = widgets_parent(CALIPER_SCOPE_TABLE);
    if (scope != nullptr)
        widgets_table_begin_rows(scope);
    else
        scope = widgets_top();
    RowsState *const rows = &scope->rows;
    if (rows->running)
        return rows_finish(rows);
    if (count <= 0)
        return false;
    constexpr int64_t count_max = INT64_C(1) << 53;
    *rows = RowsState();
    rows->count = count < count_max ? count : count_max;
    const float given = widgets_size_or(row_h, 0.0f);
    rows->row_h = given > 0.0f ? static_cast<double>(given) : default_row_height();
    ImGuiTable *const table = ImGui::GetCurrentContext()->CurrentTable;
    if (table != nullptr && table->IsInsideRow)
        ImGui::TableEndRow(table);
    rows->start_y = static_cast<double>(ImGui::GetCursorScreenPos().y);
    visible_rows(rows);
    rows->running = true;
    if (rows->drawn_first >= rows->drawn_end)
        return rows_finish(rows);
    if (rows->capped)
        move_to(static_cast<double>(ImGui::GetCurrentWindow()->ClipRect.Min.y), rows->row_h,
                rows->drawn_first);
    else
        move_to(rows->start_y + static_cast<double>(rows->drawn_first) * rows->row_h, rows->row_h,
                rows->drawn_first);
    if (out_first != nullptr)
        *out_first = rows->drawn_first;
    if (out_end != nullptr)
        *out_end = rows->drawn_end;
    return true;
}
