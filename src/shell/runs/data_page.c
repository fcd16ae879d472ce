/* The Data page: datasets and tables at the left, a statement, what came of it. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "shell/runs/data_impl.h"
#include "shell/runs/state_text.h"

/* Scripted input waits so long for a statement, once: the next frames go on while it runs. */
enum { SETTLE_MS = 3000 };
#define EDITOR_H 104.0f

void runs_data_destroy(RunsData **address)
{
    RunsData *data = *address;
    *address = NULL;
    if (data == NULL)
        return;
    data_reader_destroy(&data->reader);
    free(data->asked_sql);
    free(data->cell.bytes);
    free(data);
}

/* Made when it is first looked at. */
static RunsData *data_of(Runs *runs)
{
    RunsData *data = runs->data;
    if (data != NULL || runs->no_data)
        return data;
    data = calloc(1, sizeof *data);
    if (data == NULL)
        log_item(OUT_OF_MEMORY, "runs_data", (unsigned long long)sizeof *data);
    else
        data->reader = data_reader_create(runs->store, runs->data_root);
    if (data != NULL && data->reader == NULL)
        runs_data_destroy(&data);
    runs->no_data = data == NULL; /* one line is enough */
    runs->data = data;
    if (data != NULL) {
        data->chosen = -1;
        data->logged = true;
        data->wanted.sort = -1;
        data->wanted.x = -1;
        data->wanted.list = 1;
        data->changed = true;
    }
    return data;
}

/* ---- Asking ---- */

void data_want(RunsData *data)
{
    data->changed = true;
}

static void ask(RunsData *data)
{
    if (!data->changed)
        return;
    DataQuestion *question = malloc(sizeof *question);
    char *sql = data->asked_sql != NULL ? strdup(data->asked_sql) : NULL;
    if (question == NULL || (sql == NULL && data->asked_sql != NULL)) {
        free(question);
        free(sql);
        return; /* the next frame tries again */
    }
    *question = data->wanted;
    question->sql = sql;
    data->changed = false;
    runs_worker_ask(data_reader_worker(data->reader), question);
}

/* Runs what the editor holds; what runs still is ended. */
static void run(RunsData *data)
{
    char *sql = strdup(data->sql);
    if (sql == NULL || data->sql[strspn(data->sql, " \t\r\n;")] == '\0') {
        free(sql);
        return;
    }
    free(data->asked_sql);
    data->asked_sql = sql;
    data->cancel_to = data->wanted.serial;
    data->wanted.serial++;
    data->wanted.logged = data->logged;
    data->wanted.sort = -1;
    data->wanted.descending = false;
    data->wanted.x = -1;
    data->wanted.y_count = 0;
    data->table_number = 0;
    data->points_chosen = false;
    data_want(data);
}

static void cancel(RunsData *data)
{
    data->cancel_to = data->wanted.serial;
}

void runs_data_settle(Runs *runs)
{
    RunsData *data = runs->data;
    if (data == NULL || (data->waited_for == data->wanted.serial && data->waited_for != 0 &&
                         data->cancel_to != data->waited_for))
        return;
    if (!runs_worker_settle(data_reader_worker(data->reader), SETTLE_MS))
        data->waited_for = data->wanted.serial;
}

/* ---- The list ---- */

static const DataList *list_of(const RunsData *data)
{
    return data->view != NULL ? data->view->list : NULL;
}

static void choose(RunsData *data, int32_t at)
{
    const DataItem *item = &list_of(data)->items[at];
    data->chosen = at;
    data->chosen_section = item->section;
    snprintf(data->chosen_name, sizeof data->chosen_name, "%s", item->name);
    data->logged = item->section == DATA_SECTION_LOGGED;
    snprintf(data->sql, sizeof data->sql, "%s", item->sql);
    run(data);
}

/* Where the chosen one is in a list that was read anew. */
static void find_chosen(RunsData *data)
{
    const DataList *list = list_of(data);
    data->chosen = -1;
    for (uint32_t i = 0; list != NULL && i < list->count && data->chosen_name[0] != '\0'; i++) {
        if (list->items[i].section == data->chosen_section &&
            strncmp(list->items[i].name, data->chosen_name, sizeof data->chosen_name - 1) == 0)
            data->chosen = (int32_t)i;
    }
}

static void move(RunsData *data, int32_t step)
{
    const DataList *list = list_of(data);
    int32_t at = data->chosen < 0 && step < 0 ? -1 : data->chosen + step;
    if (list == NULL || at < 0 || at >= (int32_t)list->count)
        return;
    choose(data, at);
    data->chosen_moved = true;
}

static void draw_item(Runs *runs, RunsData *data, int32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const DataItem *item = &list_of(data)->items[at];
    float room = 0, w = 0;
    ui->push_id_int((uint64_t)at);
    ui->next_id(1);
    ui->remaining(&room, NULL);
    if (ui->selectable(item->name, at == data->chosen, 0, 0, CALIPER_SELECT_OVERLAP)) {
        if (at != data->chosen)
            runs_pointed(runs, at < data->chosen ? RUNS_ACTION_TABLE_BACK : RUNS_ACTION_TABLE_ON);
        choose(data, at);
    }
    if (at == data->chosen - 1)
        runs_seen(runs, RUNS_ACTION_TABLE_BACK);
    if (at == data->chosen + 1)
        runs_seen(runs, RUNS_ACTION_TABLE_ON);
    ui->tooltip(item->section == DATA_SECTION_DATASET ? item->detail : item->sql);
    if (at == data->chosen && data->chosen_moved) {
        ui->scroll_here(0.5f);
        data->chosen_moved = false;
    }
    float name_w = 0;
    ui->text_size(item->name, -1, 0, 0, &name_w, NULL);
    ui->text_size(item->detail, -1, 0, CALIPER_TEXT_SMALL, &w, NULL);
    if (item->section != DATA_SECTION_DATASET && name_w + w + 32 < room) {
        ui->same_line(room - w - 4, 0);
        ui->text_ex(item->detail, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    }
    ui->end(CALIPER_SCOPE_ID);
}

static void draw_section(Runs *runs, RunsData *data, DataSection section)
{
    static const char *const titles[] = {"Datasets", "Tables", "Logged by runs"};
    static const char *const none[] = {"An applet names a file or a table for all:\n"
                                       "data->register_dataset(name, path)",
                                       "CREATE TABLE makes one", "Nothing was logged"};
    const CaliperWidgetsV1 *ui = widgets_table();
    const DataList *list = list_of(data);
    const char *error = section == DATA_SECTION_LOGGED ? list->logged_error : list->data_error;
    bool any = false;
    ui->space(0, section == DATA_SECTION_DATASET ? 0 : 8);
    ui->text_ex(titles[section], -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].section != section)
            continue;
        draw_item(runs, data, (int32_t)i);
        any = true;
    }
    if (error[0] != '\0' && section != DATA_SECTION_TABLE)
        ui->text_ex(error, -1, ui->color(CALIPER_THEME_WARN),
                    CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    else if (!any)
        ui->text_ex(none[section], -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
}

void runs_draw_tables(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    RunsData *data = data_of(runs);
    if (data == NULL)
        return;
    const DataView *before = data->view;
    data->view = runs_worker_answer(data_reader_worker(data->reader));
    if (data->view != before)
        find_chosen(data);
    if (runs_key(runs, RUNS_ACTION_TABLE_BACK))
        move(data, -1);
    if (runs_key(runs, RUNS_ACTION_TABLE_ON))
        move(data, 1);
    bool again = runs_button(runs, RUNS_ACTION_REFRESH, "Refresh", false);
    if (runs_key(runs, RUNS_ACTION_REFRESH) || again) {
        data->wanted.list++;
        data_want(data);
    }
    if (list_of(data) == NULL)
        return;
    if (ui->child("##tables", 0, 0, 0)) {
        draw_section(runs, data, DATA_SECTION_DATASET);
        draw_section(runs, data, DATA_SECTION_TABLE);
        draw_section(runs, data, DATA_SECTION_LOGGED);
    }
    ui->end(CALIPER_SCOPE_CHILD);
}

/* ---- The statement ---- */

static void draw_status(const RunsData *data)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const DataView *view = data->view;
    char text[DATA_WORDS_BYTES + 64];
    ui->same_line(0, 12);
    if (runs_worker_is_busy(data_reader_worker(data->reader)) && data_reader_runs(data->reader)) {
        ui->progress((double)NAN, "running", 120, 0);
        return;
    }
    if (view == NULL || view->serial == 0 || view->serial != data->wanted.serial)
        return;
    if (view->failed && !view->cancelled)
        return; /* below, where there is room */
    snprintf(text, sizeof text, "%s, %.*f ms", view->words, view->ms < 10.0 ? 1 : 0, view->ms);
    ui->text_ex(view->cancelled ? view->words : text, -1, 0, CALIPER_TEXT_DIM);
}

static void draw_source(Runs *runs, RunsData *data)
{
    static const char *const names[] = {"Data##source", "Logged##source"};
    static const char *const tips[] = {
        "The statement is for caliper.data.v1: any kind, in data.duckdb  (d)",
        "The statement is for what runs logged: it may only read  (d)"};
    const CaliperWidgetsV1 *ui = widgets_table();
    for (int i = 0; i < 2; i++) {
        bool on = data->logged == (i == 1);
        ui->same_line(0, i == 0 ? 16 : 4);
        if (ui->button(names[i], 0, 0, on ? CALIPER_BUTTON_PRIMARY : 0)) {
            data->logged = i == 1;
            runs_pointed(runs, RUNS_ACTION_SQL_SOURCE);
        }
        if (!on)
            runs_seen(runs, RUNS_ACTION_SQL_SOURCE);
        ui->tooltip(tips[i]);
    }
    if (runs_key(runs, RUNS_ACTION_SQL_SOURCE))
        data->logged = !data->logged;
}

static void draw_statement(Runs *runs, RunsData *data)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    bool runs_now = runs_key(runs, RUNS_ACTION_SQL_RUN);
    bool cancels = runs_key(runs, RUNS_ACTION_SQL_CANCEL);
    if (runs_key(runs, RUNS_ACTION_SQL))
        ui->next_focus();
    ui->next_width(-1);
    ui->push_text(0, CALIPER_TEXT_MONO);
    (void)ui->input_text("##sql", "SELECT ... ( q )", data->sql, sizeof data->sql, EDITOR_H, 0);
    if ((ui->item() & CALIPER_ITEM_CLICKED) != 0)
        runs_pointed(runs, RUNS_ACTION_SQL);
    runs_seen(runs, RUNS_ACTION_SQL);
    ui->end(CALIPER_SCOPE_TEXT);
    if (runs_button(runs, RUNS_ACTION_SQL_RUN, "Run", true) || runs_now)
        run(data);
    ui->same_line(0, 4);
    if (runs_button(runs, RUNS_ACTION_SQL_CANCEL, "Cancel", false) || cancels)
        cancel(data);
    draw_source(runs, data);
    draw_status(data);
    const DataView *view = data->view;
    if (view != NULL && view->failed && !view->cancelled && view->serial == data->wanted.serial)
        ui->text_ex(view->words, -1, ui->color(CALIPER_THEME_BAD), CALIPER_TEXT_WRAP);
}

void runs_draw_data(Runs *runs)
{
    RunsData *data = data_of(runs);
    if (data == NULL)
        return;
    draw_statement(runs, data);
    if (data->view != NULL && data->view->result != NULL) {
        data_draw_result(runs, data);
    } else if (data->wanted.serial == 0) {
        const CaliperWidgetsV1 *ui = widgets_table();
        ui->space(0, 12);
        ui->text_ex("Choose a table at the left, or write a statement; Ctrl+Enter runs it.", -1, 0,
                    CALIPER_TEXT_DIM);
    }
    if (data->cancel_to > 0 && runs_worker_is_busy(data_reader_worker(data->reader)))
        data_reader_cancel(data->reader, data->cancel_to);
    ask(data);
}

/* ---- The state ---- */

void runs_data_put_state(FILE *file, const Runs *runs)
{
    static const char *const sections[] = {"dataset", "table", "logged"};
    const RunsData *data = runs->data;
    if (data == NULL)
        return;
    fputs(",\n\"data\": {\"sql\": ", file);
    state_put_text(file, data->sql);
    fprintf(file, ", \"logged\": %s, \"running\": %s, \"chosen\": %d, \"list\": [",
            data->logged ? "true" : "false", data_reader_runs(data->reader) ? "true" : "false",
            data->chosen);
    const DataList *list = list_of(data);
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        fprintf(file, "%s{\"section\": \"%s\", \"name\": ", i > 0 ? ",\n " : "\n ",
                sections[list->items[i].section]);
        state_put_text(file, list->items[i].name);
        fputs(", \"detail\": ", file);
        state_put_text(file, list->items[i].detail);
        fputc('}', file);
    }
    fputs("], \"words\": ", file);
    state_put_text(file, data->view != NULL ? data->view->words : "");
    fprintf(file, ", \"failed\": %s, \"cancelled\": %s",
            data->view != NULL && data->view->failed ? "true" : "false",
            data->view != NULL && data->view->cancelled ? "true" : "false");
    if (data->view != NULL && data->view->result != NULL)
        data_put_result(file, data);
    fputc('}', file);
}
