/* Taking the chosen runs away: as a file that a job writes, or as the command that writes it. Frame
 * thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shell/runs/export_job.h"
#include "shell/runs/runs_impl.h"

enum { SETTLE_MS = 20000 };

void runs_export_settle(Runs *runs)
{
    for (uint32_t waited_ms = 0;
         waited_ms < SETTLE_MS && runs->export != NULL && export_job_words(runs->export) == NULL;
         waited_ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void copy_command(Runs *runs)
{
    enum { LISTED = 60 }; /* the command takes 64 names; more: all that there are */
    char text[LISTED * 24];
    int at = snprintf(text, sizeof text, "caliper export scalars.parquet");
    for (uint32_t i = 0; i < runs->chosen_count && runs->chosen_count <= LISTED; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %llu",
                       (unsigned long long)runs->chosen[i]);
    widgets_table()->set_clipboard(text);
    snprintf(runs->told, sizeof runs->told, "Copied: %.200s", text);
}

static void start(Runs *runs)
{
    if (runs->export != NULL && export_job_words(runs->export) == NULL)
        return; /* one at a time */
    export_job_drop(&runs->export);
    runs->export = export_job_start(runs->store, runs->chosen, runs->chosen_count,
                                    runs->export_path, runs->export_replaces);
}

static void draw_popup(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[96];
    snprintf(text, sizeof text, "Export the scalars of %u run%s", runs->chosen_count,
             runs->chosen_count == 1 ? "" : "s");
    ui->text_ex(text, -1, 0, CALIPER_TEXT_HEADING);
    if (runs->focus == RUNS_ACTION_EXPORT)
        ui->next_focus();
    ui->next_width(360);
    bool enter = ui->input_text("##path", "FILE.parquet or FILE.csv", runs->export_path,
                                sizeof runs->export_path, 0, CALIPER_INPUT_ON_ENTER);
    ui->same_line(0, 6);
    bool busy = runs->export != NULL && export_job_words(runs->export) == NULL;
    ui->disabled(runs->chosen_count == 0 || busy);
    if (ui->button("Write", 0, 0, CALIPER_BUTTON_PRIMARY) || (enter && runs->chosen_count > 0))
        start(runs);
    ui->end(CALIPER_SCOPE_DISABLED);
    (void)ui->checkbox("replace a file that is there", &runs->export_replaces);
    ui->same_line(0, 16);
    if (ui->button("Copy the command", 0, 0, 0))
        copy_command(runs);
    const char *words = runs->export != NULL ? export_job_words(runs->export) : NULL;
    if (busy)
        ui->progress((double)NAN, "writing", 360, 0);
    else if (words != NULL)
        ui->text_ex(
            words, -1,
            ui->color(export_job_succeeded(runs->export) ? CALIPER_THEME_GOOD : CALIPER_THEME_BAD),
            CALIPER_TEXT_WRAP);
}

void runs_draw_export(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    bool pressed = runs_button(runs, RUNS_ACTION_EXPORT, "Export", false);
    if (runs_key(runs, RUNS_ACTION_EXPORT) || pressed) {
        if (runs->export_path[0] == '\0')
            snprintf(runs->export_path, sizeof runs->export_path, "~/scalars.parquet");
        runs->focus = RUNS_ACTION_EXPORT;
        ui->popup_open("##export");
    }
    if (ui->popup("##export", 0))
        draw_popup(runs);
    ui->end(CALIPER_SCOPE_POPUP);
}
