/* One run: when, how it ended, what it holds, a note. Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/runs/run_text.h"
#include "shell/runs/runs_impl.h"

/* ---- The note ---- */

static void keep_note(Runs *runs)
{
    size_t length = strlen(runs->note);
    RunsCommand *command = calloc(1, sizeof *command + length + 1);
    if (command == NULL)
        return;
    command->run = runs->note_run;
    command->sets_note = true;
    memcpy(command->note, runs->note, length + 1);
    runs_reader_command(runs->reader, command);
}

static void draw_note(Runs *runs, const MetricsRunInfo *run)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    if (runs->note_run != run->id) {
        snprintf(runs->note, sizeof runs->note, "%s", run->note);
        runs->note_run = run->id;
    }
    ui->separator("Note");
    ui->disabled(!runs->snapshot->owner);
    if (runs->focus == RUNS_ACTION_NOTE)
        ui->next_focus();
    ui->next_width(-1);
    (void)ui->input_text("##note", "What is to be remembered about this run", runs->note,
                         sizeof runs->note, 90, 0);
    runs_seen(runs, RUNS_ACTION_NOTE);
    uint32_t item = ui->item();
    if ((item & CALIPER_ITEM_CLICKED) != 0)
        runs_pointed(runs, RUNS_ACTION_NOTE);
    if ((item & CALIPER_ITEM_EDIT_DONE) != 0)
        keep_note(runs);
    ui->end(CALIPER_SCOPE_DISABLED);
}

/* ---- The run ---- */

static void draw_times(const MetricsRunInfo *run)
{
    static const char *const words[] = {"running", "done", "interrupted"};
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[RUNS_TEXT_BYTES * 8];
    snprintf(text, sizeof text, "%llu", (unsigned long long)run->id);
    ui->field("Number", text);
    run_text_line(run->experiment, text, sizeof text);
    ui->field("Experiment", text);
    run_text_line(run->name, text, sizeof text);
    ui->field("Name", text);
    ui->field("State", words[run->state]);
    run_text_time(run->started_us, text, sizeof text);
    ui->field("Began (UTC)", text);
    if (run->ended_us > 0) {
        run_text_time(run->ended_us, text, sizeof text);
        ui->field("Ended (UTC)", text);
        run_text_duration(run->ended_us - run->started_us, text, sizeof text);
        ui->field("Time", text);
    }
    if (run->dropped > 0) {
        snprintf(text, sizeof text, "%llu rows found the queue full",
                 (unsigned long long)run->dropped);
        ui->field("Dropped", text);
    }
}

static void draw_tag(const MetricsTag *tag)
{
    static const char *const kinds[] = {"scalar", "histogram", "image", "text"};
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[RUNS_TEXT_BYTES * 2];
    ui->table_row(0, 0);
    run_text_line(tag->tag, text, sizeof text);
    if (ui->table_cell(0, 0))
        ui->text(text);
    if (ui->table_cell(1, 0))
        ui->text_ex(kinds[tag->kind], -1, 0, CALIPER_TEXT_DIM);
    snprintf(text, sizeof text, "%llu", (unsigned long long)tag->rows);
    if (ui->table_cell(2, 0))
        ui->text(text);
    snprintf(text, sizeof text, "%lld to %lld", (long long)tag->first_step,
             (long long)tag->last_step);
    if (ui->table_cell(3, 0))
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
}

static void draw_tags(Runs *runs, const MetricsRunInfo *run)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int64_t first = 0, end = 0;
    ui->separator("What it holds");
    if (ui->table("##tags", 4, 0, 0,
                  CALIPER_TABLE_HEADER | CALIPER_TABLE_SCROLL | CALIPER_TABLE_STRIPES) &&
        runs_find_tags(runs, run->id)) {
        ui->table_column("Tag", -2, 0);
        ui->table_column("Kind", 90, 0);
        ui->table_column("Rows", 100, 0);
        ui->table_column("Steps", -1, 0);
        while (ui->rows(runs->run_tags_count, 0, &first, &end)) {
            for (int64_t i = first; i < end; i++)
                draw_tag(&runs->catalog->tags.items[runs->run_tags[i]]);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

void runs_draw_about(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int32_t at = runs_catalog_find(runs->catalog, runs->cursor);
    if (at < 0 || (uint32_t)at >= runs->named_count) {
        ui->text_ex("Click a run at the left.", -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    const MetricsRunInfo *run = &runs->catalog->runs.items[at];
    ui->text_ex(runs->labels[at], -1, runs->colors[at], CALIPER_TEXT_HEADING);
    draw_times(run);
    draw_note(runs, run);
    draw_tags(runs, run);
}
