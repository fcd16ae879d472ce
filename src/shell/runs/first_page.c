/* Before the first run: how to log one, and taking over what TensorBoard shows. The same import
 * stands behind a button later on. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shell/runs/import_job.h"
#include "shell/runs/runs_impl.h"

enum { SETTLE_MS = 20000 };

static const char two_lines[] = "uint64_t run = metrics->begin_run(\"mnist\", \"first\");\n"
                                "metrics->scalar(run, \"loss\", step, loss);";

void runs_import_settle(Runs *runs)
{
    for (uint32_t waited_ms = 0;
         waited_ms < SETTLE_MS && runs->import != NULL && import_job_words(runs->import) == NULL;
         waited_ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void start(Runs *runs)
{
    if (runs->import_folder[strspn(runs->import_folder, " ")] == '\0')
        return;
    import_job_drop(&runs->import);
    runs->import = import_job_start(runs->import_folder, runs->data_root);
}

/* The folder, the button, and what came of it. */
static void draw_import(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const char *dropped = ui->dropped(0);
    if (dropped != NULL)
        snprintf(runs->import_folder, sizeof runs->import_folder, "%s", dropped);
    if (runs->focus == RUNS_ACTION_IMPORT)
        ui->next_focus();
    ui->next_width(360);
    bool enter = ui->input_text("##folder", "A folder with event files", runs->import_folder,
                                sizeof runs->import_folder, 0, CALIPER_INPUT_ON_ENTER);
    ui->same_line(0, 6);
    bool busy = runs->import != NULL && import_job_words(runs->import) == NULL;
    ui->disabled(busy);
    if (ui->button("Import", 0, 0, CALIPER_BUTTON_PRIMARY) || (enter && !busy))
        start(runs);
    ui->end(CALIPER_SCOPE_DISABLED);
    const char *words = runs->import != NULL ? import_job_words(runs->import) : NULL;
    if (busy)
        ui->progress((double)NAN, "importing", 360, 0);
    else if (words != NULL)
        ui->text_ex(words, -1,
                    import_job_succeeded(runs->import) ? ui->color(CALIPER_THEME_GOOD)
                                                       : ui->color(CALIPER_THEME_BAD),
                    CALIPER_TEXT_WRAP);
}

void runs_draw_import_button(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    bool pressed = runs_button(runs, RUNS_ACTION_IMPORT, "Import", false);
    if (runs_key(runs, RUNS_ACTION_IMPORT) || pressed) {
        ui->popup_open("##import");
        runs->focus = RUNS_ACTION_IMPORT;
    }
    if (ui->popup("##import", 0)) {
        ui->text_ex("Take over TensorBoard's runs", -1, 0, CALIPER_TEXT_HEADING);
        draw_import(runs);
    }
    ui->end(CALIPER_SCOPE_POPUP);
}

static void draw_teaching(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    if (runs_key(runs, RUNS_ACTION_IMPORT))
        runs->focus = RUNS_ACTION_IMPORT;
    ui->text_ex("No runs yet", -1, 0, CALIPER_TEXT_HEADING);
    ui->space(0, 2);
    ui->text_ex("An applet logs one with two lines; the curve is here within half a second:", -1, 0,
                CALIPER_TEXT_DIM);
    ui->space(0, 4);
    ui->text_ex(two_lines, -1, ui->color(CALIPER_THEME_ACCENT), CALIPER_TEXT_MONO);
    ui->space(0, 4);
    if (ui->button("Copy the two lines", 0, 0, 0))
        ui->set_clipboard(two_lines);
    ui->space(0, 18);
    ui->text_ex("Runs that TensorBoard shows come over from their folder; it may be dropped here:",
                -1, 0, CALIPER_TEXT_DIM);
    ui->space(0, 4);
    draw_import(runs);
    runs->focus = RUNS_ACTION_COUNT;
    ui->space(0, 18);
    ui->text_ex("Tables and datasets need no run.", -1, 0, CALIPER_TEXT_DIM);
    ui->space(0, 4);
    bool pressed = runs_button(runs, RUNS_ACTION_DATA, "Data", false);
    if (runs_key(runs, RUNS_ACTION_DATA) || pressed)
        runs->page = RUNS_ACTION_DATA;
}

void runs_draw_empty(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    bool failed = runs->snapshot != NULL && runs->snapshot->error[0] != '\0';
    ui->space(0, 18);
    ui->indent(24);
    if (runs->snapshot == NULL) {
        ui->text_ex("Reading ...", -1, 0, CALIPER_TEXT_DIM);
    } else if (failed && runs->catalog == NULL) {
        ui->text_ex("The runs cannot be read", -1, 0, CALIPER_TEXT_HEADING);
        ui->text_ex(runs->snapshot->error, -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_WRAP);
    } else {
        draw_teaching(runs);
    }
    ui->end(CALIPER_SCOPE_INDENT);
}
