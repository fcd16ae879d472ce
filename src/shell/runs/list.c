/* The runs at the left: search, choose, colours, states, durations. Frame thread. */
#include <stdio.h>

#include "shell/runs/run_text.h"
#include "shell/runs/runs_impl.h"

static void draw_state(const MetricsRunInfo *run)
{
    static const char *const words[] = {"running", "done", "interrupted"};
    static const uint32_t colors[] = {CALIPER_THEME_GOOD, CALIPER_THEME_TEXT_DIM,
                                      CALIPER_THEME_WARN};
    const CaliperWidgetsV1 *ui = widgets_table();
    ui->text_ex(words[run->state], -1, ui->color(colors[run->state]), 0);
    if (run->dropped > 0) {
        char text[96];
        snprintf(text, sizeof text, "%llu rows found the queue full and are lost",
                 (unsigned long long)run->dropped);
        ui->same_line(0, 0);
        ui->text_ex(ui->icon(CALIPER_ICON_WARNING), -1, ui->color(CALIPER_THEME_WARN), 0);
        ui->tooltip(text);
    }
}

/* The box of a run, in its colour. */
static void draw_box(Runs *runs, uint32_t at, const MetricsRunInfo *run)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    bool on = runs_is_chosen(runs, run->id);
    double x = 0, y = 0;
    if (ui->canvas("##box", 18, 18, 0)) {
        uint32_t pointer = ui->pointer(&x, &y, NULL);
        bool hovered = (pointer & CALIPER_POINTER_HOVERED) != 0;
        ui->draw_circle(9, 10, on ? 6.0f : 5.5f, runs->colors[at], on ? -1.0f : 1.5f);
        if (hovered)
            ui->draw_circle(9, 10, 8.0f, runs->colors[at], 1.0f);
        if ((pointer & CALIPER_POINTER_PRESSED) != 0 && hovered) {
            runs_choose(runs, run->id, !on);
            runs_pointed(runs, RUNS_ACTION_CHOOSE);
        }
    }
    ui->end(CALIPER_SCOPE_CANVAS);
    if (run->id == runs->cursor || runs->seen[RUNS_ACTION_CHOOSE].w == 0.0f)
        runs_seen(runs, RUNS_ACTION_CHOOSE);
}

static void draw_row(Runs *runs, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const MetricsRunInfo *run = &runs->catalog->runs.items[at];
    char text[32];
    ui->table_row(0, 0);
    ui->push_id_int(run->id);
    if (ui->table_cell(0, 0))
        draw_box(runs, at, run);
    if (ui->table_cell(1, 0)) {
        ui->next_id(1);
        if (ui->selectable(runs->labels[at], run->id == runs->cursor, 0, 0, 0)) {
            runs->cursor = run->id;
            runs_pointed(runs, RUNS_ACTION_CURSOR);
        }
        if (run->id != runs->cursor)
            runs_seen(runs, RUNS_ACTION_CURSOR);
        if ((ui->item() & CALIPER_ITEM_CLICKED_TWICE) != 0) {
            runs_choose_only(runs, run->id);
            runs_pointed(runs, RUNS_ACTION_ONLY);
        }
        ui->tooltip(runs->labels[at]);
    }
    if (ui->table_cell(2, 0))
        draw_state(run);
    if (ui->table_cell(3, 0)) {
        int64_t until = run->ended_us > 0 ? run->ended_us : runs->catalog->read_us;
        if (run->state == METRICS_RUN_STATE_INTERRUPTED && run->ended_us == 0)
            snprintf(text, sizeof text, "-");
        else
            run_text_duration(until - run->started_us, text, sizeof text);
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    }
    ui->end(CALIPER_SCOPE_ID);
}

static void draw_table(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int64_t first = 0, end = 0;
    if (ui->table("##runs", RUNS_COLUMNS, 0, -34,
                  CALIPER_TABLE_HEADER | CALIPER_TABLE_SORT | CALIPER_TABLE_SCROLL)) {
        bool down = false;
        int32_t column = -1;
        ui->table_column("##box", 22, CALIPER_COLUMN_NO_SORT);
        ui->table_column("Run", -1, 0);
        ui->table_column("State", 84, 0);
        ui->table_column("Time", 84, 0);
        if (ui->table_sort(&column, &down)) {
            runs->sort_column = column;
            runs->sort_down = down;
            runs_find_rows(runs);
        }
        while (ui->rows(runs->row_count, 0, &first, &end)) {
            for (int64_t i = first; i < end; i++)
                draw_row(runs, runs->rows[i]);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

void runs_draw_list(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[96];
    if (runs->focus == RUNS_ACTION_SEARCH)
        ui->next_focus();
    ui->next_width(-76);
    if (ui->input_text("##search", "Search the runs  ( / )", runs->search, sizeof runs->search, 0,
                       0)) {
        runs_find_rows(runs);
        if (runs->seen[RUNS_ACTION_SEARCH].by_key == 0)
            runs_pointed(runs, RUNS_ACTION_SEARCH);
    }
    runs_seen(runs, RUNS_ACTION_SEARCH);
    ui->same_line(0, 6);
    runs_draw_import_button(runs);
    draw_table(runs);
    if (runs_button(runs, RUNS_ACTION_ALL, "All", false))
        runs_choose_rows(runs, true);
    ui->same_line(0, 0);
    if (runs_button(runs, RUNS_ACTION_NONE, "None", false))
        runs_choose_rows(runs, false);
    ui->same_line(0, 0);
    if (runs_button(runs, RUNS_ACTION_ONLY, "Only", false) && runs->cursor != 0)
        runs_choose_only(runs, runs->cursor);
    ui->same_line(0, 0);
    uint32_t hidden = 0, found = runs_chosen_found(runs, &hidden);
    ui->disabled(found == 0 || !runs->snapshot->owner);
    if (runs_button(runs, RUNS_ACTION_DELETE, "Delete", false))
        runs_delete_chosen(runs);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->same_line(0, 0);
    if (runs->deleted_count > 0) {
        snprintf(text, sizeof text, "Undo (%u)###undo", runs_undo_count(runs));
        if (runs_button(runs, RUNS_ACTION_UNDO, text, false))
            runs_undo(runs);
        return;
    }
    int length = snprintf(text, sizeof text, "%u of %u", found, runs->row_count);
    if (hidden > 0)
        snprintf(text + length, sizeof text - (size_t)length, " (+%u)", hidden);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    ui->tooltip("Chosen, of those that are found; in brackets chosen ones that the search does not "
                "find");
}
