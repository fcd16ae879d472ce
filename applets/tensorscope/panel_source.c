/* tensorscope/panel_source.c: opening files, what the open one is, the list of its arrays, and
 * failures as text with what to do. Frame thread. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app.h"
#include "text.h"

enum { LIST_ROWS_MAX = 8 };

/* The file changed and cannot be shown as it is: in work, or gone. */
static void draw_stale(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const ArrayError *stale = &app->session.stale;
    if (stale->fault == ARRAY_FAULT_NONE || app->session.shows_demo) {
        return;
    }
    ui->child("stale", 0.0f, 0.0f, CALIPER_CHILD_BORDER | CALIPER_CHILD_AUTO_HEIGHT);
    ui->text_ex(stale->fault == ARRAY_FAULT_OPEN ? "The file is gone" : "The file is not whole", -1,
                ui->color(CALIPER_THEME_WARN), 0);
    ui->text_ex("The last whole picture stays; a new one comes as soon as it can be read.", -1, 0,
                CALIPER_TEXT_WRAP);
    ui->text_ex(stale->message, -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    ui->end(CALIPER_SCOPE_CHILD);
    ui->space(0.0f, 0.0f);
}

void panel_failure(App *app)
{
    draw_stale(app);
    const CaliperWidgetsV1 *ui = app->ui;
    const ArrayError *error = &app->session.error;
    if (error->fault == ARRAY_FAULT_NONE) {
        return;
    }
    const char *advice = text_advice(error->fault);
    ui->child("failure", 0.0f, 0.0f, CALIPER_CHILD_BORDER | CALIPER_CHILD_AUTO_HEIGHT);
    ui->text_ex("This could not be shown", -1, ui->color(CALIPER_THEME_BAD), 0);
    ui->text_ex(error->message, -1, 0, CALIPER_TEXT_WRAP);
    if (advice[0] != '\0') {
        ui->text_ex(advice, -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM);
    }
    if (ui->button("Dismiss", 0.0f, 0.0f, CALIPER_BUTTON_SMALL)) {
        session_forget_error(&app->session);
    }
    ui->end(CALIPER_SCOPE_CHILD);
    ui->space(0.0f, 0.0f);
}

static void draw_open(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    ui->next_width(-62.0f);
    bool go = ui->input_text("##path", "drop a file, or type its path", app->path,
                             sizeof(app->path), 0.0f, CALIPER_INPUT_ON_ENTER);
    ui->same_line(0.0f, 6.0f);
    ui->disabled(app->path[0] == '\0');
    go |= ui->button("Open", 52.0f, 0.0f, 0);
    ui->end(CALIPER_SCOPE_DISABLED);
    if (go && app->path[0] != '\0') {
        session_open(session, app->path);
    }
    ui->push_width(-1.0f);
    if (session->recent[0] != NULL) {
        char name[TEXT_BYTES], path[SESSION_PATH_BYTES];
        const char *shown = session->shows_demo || session->source == NULL
                                ? "recent files"
                                : source_file_name(session->source->path);
        bool open = ui->combo_list("##recent", text_name(shown, name, sizeof(name)), 0);
        for (int i = 0; open && i < SESSION_RECENT_MAX && session->recent[i] != NULL; i++) {
            bool current = !session->shows_demo && session->source != NULL &&
                           strcmp(session->recent[i], session->source->path) == 0;
            ui->next_id((uint64_t)i + 1);
            text_name(source_file_name(session->recent[i]), name, sizeof(name));
            if (ui->selectable(name, current, 0.0f, 0.0f, 0)) {
                session_open(session, session->recent[i]);
                break;
            }
            ui->tooltip(text_name(session->recent[i], path, sizeof(path)));
        }
        ui->end(CALIPER_SCOPE_COMBO);
    }
    ui->end(CALIPER_SCOPE_WIDTH);
    panel_raw(app);
    if (session->opening[0] != '\0') {
        char text[TEXT_BYTES + 16], name[TEXT_BYTES];
        snprintf(text, sizeof(text), "opening %s",
                 text_name(source_file_name(session->opening), name, sizeof(name)));
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    }
}

static void draw_array_row(App *app, uint32_t index)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    const SourceArray *array = &session->source->arrays[index];
    char shape[TEXT_BYTES], name[2 * TEXT_BYTES];
    uint32_t ink = array->problem != NULL ? ui->color(CALIPER_THEME_TEXT_DIM) : 0;
    ui->table_row(0.0f, 0);
    ui->table_cell(0, 0);
    ui->next_id((uint64_t)index + 1);
    ui->push_text(ink, 0);
    text_name(array->name[0] != '\0' ? array->name : "(array)", name, sizeof(name));
    if (ui->selectable(name, index == session->array, 0.0f, 0.0f, CALIPER_SELECT_ALL_COLUMNS)) {
        session_select_array(session, index);
    }
    ui->end(CALIPER_SCOPE_TEXT);
    ui->tooltip(array->problem != NULL ? array->problem : name);
    ui->table_cell(1, 0);
    ui->text_ex(array->problem != NULL ? array->dtype_text : array_dtype_name(array->dtype), -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL);
    ui->table_cell(2, 0);
    ui->text_ex(text_shape(array, shape, sizeof(shape)), -1, 0,
                CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL);
}

static void draw_arrays(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Source *source = app->session.source;
    NameFilter *filter = &app->filter;
    char title[64];
    snprintf(title, sizeof(title), "%u arrays", (unsigned)source->count);
    ui->separator(title);
    if (filter->file_number != app->session.file_number) {
        filter->file_number = app->session.file_number;
        filter->wanted[0] = '\0'; /* it was for another file's names */
    }
    if (source->count > LIST_ROWS_MAX) {
        ui->next_width(-1.0f);
        ui->input_text("##filter", "filter by name", filter->wanted, sizeof(filter->wanted), 0.0f,
                       0);
    } else {
        filter->wanted[0] = '\0'; /* what cannot be seen hides nothing */
    }
    name_filter_update(filter, source);
    uint32_t count = name_filter_count(filter, source);
    if (count == 0 && filter->text[0] != '\0') {
        char text[sizeof(filter->text) + 48];
        snprintf(text, sizeof(text),
                 filter->seen < source->count ? "looking for \"%s\"\u2026"
                                              : "no array matches \"%s\"",
                 filter->text);
        ui->text_ex(text, -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_WRAP);
        return;
    }
    uint32_t rows = count < LIST_ROWS_MAX ? count : LIST_ROWS_MAX;
    float height = (float)(rows + 1) * (ui->metric(CALIPER_METRIC_LINE) + 5.0f) + 8.0f;
    ui->table("arrays", 3, 0.0f, height,
              CALIPER_TABLE_STRIPES | CALIPER_TABLE_RESIZE | CALIPER_TABLE_SCROLL |
                  CALIPER_TABLE_HEADER);
    ui->table_column("name", -1.2f, 0);
    ui->table_column("type", 42.0f, 0);
    ui->table_column("shape", -1.0f, 0);
    int64_t first, end;
    while (ui->rows((int64_t)count, 0.0f, &first, &end)) {
        for (int64_t i = first; i < end; i++) {
            draw_array_row(app, name_filter_array(filter, (uint32_t)i));
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

static void draw_facts(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Source *source = app->session.source;
    const SourceArray *array = session_array(&app->session);
    char text[TEXT_BYTES];
    if (array == NULL) {
        ui->text_ex("This file holds no array.", -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
        return;
    }
    ui->field("shape", text_shape(array, text, sizeof(text)));
    ui->field("stored", text_storage(source, array, text, sizeof(text)));
    if (array->problem != NULL) {
        ui->text_ex(array->problem, -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_WRAP);
        ui->text_ex(text_advice(ARRAY_FAULT_DTYPE), -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM);
    } else if (array->element_count == 0) {
        ui->text_ex("An extent of 0: this array holds no element to show.", -1, 0,
                    CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM);
    }
}

static void draw_watch(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    bool follows = session->follows;
    char text[TEXT_BYTES], count[32];
    if (ui->checkbox("follow changes", &follows)) {
        session_follow(session, follows);
    }
    ui->tooltip(
        "Read again as soon as the file is written again; axes, sliders, range and zoom stay");
    if (session->refresh_count > 0) {
        text_count(session->refresh_count, count, sizeof(count));
        snprintf(text, sizeof(text), "%s new", count);
        ui->same_line(0.0f, 8.0f);
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    }
}

void panel_source(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    draw_open(app);
    if (session->source != NULL) {
        if (session->shows_demo) {
            if (ui->button("Back to the file", 0.0f, 0.0f, 0)) {
                session_show_file(session);
            }
            return;
        }
        if (session->source->count > 1) {
            draw_arrays(app);
        }
        draw_facts(app);
        draw_watch(app);
    }
}
