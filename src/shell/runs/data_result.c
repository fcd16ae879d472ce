/* What came of a statement: a table in an order, or columns as curves. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/runs/data_impl.h"
#include "shell/runs/state_text.h"

/* The state tells no more values of a curve than this. */
enum { STATE_VALUES_MAX = 4000, MARKED_MAX = 60 };

static uint32_t curve_color(uint32_t place)
{
    return ui_theme_color(CALIPER_THEME_SERIES + place % 10);
}

/* ---- Columns of the plot ---- */

static bool is_chosen(const RunsData *data, int32_t column)
{
    for (uint32_t i = 0; i < data->wanted.y_count; i++) {
        if (data->wanted.y[i] == column)
            return true;
    }
    return false;
}

static void toggle(RunsData *data, int32_t column)
{
    DataQuestion *wanted = &data->wanted;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < wanted->y_count; i++) {
        if (wanted->y[i] != column)
            wanted->y[kept++] = wanted->y[i];
    }
    if (kept == wanted->y_count && kept < DATA_CURVES_MAX)
        wanted->y[kept++] = column;
    wanted->y_count = kept;
    data_want(data);
}

/* The next column that is a number; -1: there is none. */
static int32_t next_number(const Result *result, int32_t after)
{
    for (int32_t i = 1; i <= result->column_count; i++) {
        int32_t at = (after + i) % result->column_count;
        if (at >= 0 && result_is_number(result, at))
            return at;
    }
    return -1;
}

static bool is_called(const Result *result, int32_t column, const char *name)
{
    return strcmp(result->columns[column].name, name) == 0;
}

/* A first choice that is often right: a moment or a step across, the last number upwards. */
static void choose_columns(RunsData *data, const Result *result)
{
    if (data->columns_are_of == data->view->serial)
        return;
    data->columns_are_of = data->view->serial;
    DataQuestion *wanted = &data->wanted;
    wanted->x = -1;
    wanted->y_count = 0;
    for (int32_t i = result->column_count - 1; i >= 0; i--) {
        if (result->columns[i].kind == RESULT_KIND_TIME || is_called(result, i, "step") ||
            is_called(result, i, "x"))
            wanted->x = i;
    }
    int32_t y = -1;
    for (int32_t i = 0; i < result->column_count; i++) {
        bool better = result_is_number(result, i) && i != wanted->x &&
                      result->columns[i].kind != RESULT_KIND_TIME;
        bool best = y >= 0 && is_called(result, y, "value");
        if (better && !best)
            y = i;
    }
    if (y >= 0)
        wanted->y[wanted->y_count++] = y;
    data_want(data);
}

/* ---- The bars ---- */

static void draw_order(Runs *runs, RunsData *data, const Result *result)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[160];
    int32_t before = data->wanted.sort;
    bool was_down = data->wanted.descending;
    snprintf(text, sizeof text, "Sort: %.80s###sort",
             before >= 0 && before < result->column_count ? result->columns[before].name
                                                          : "as they came");
    ui->same_line(0, 16);
    bool next = ui->button(text, 190, 0, 0); /* as wide for any column */
    runs_seen(runs, RUNS_ACTION_SORT);
    ui->tooltip("Sort by the next column; or click its head  (o)");
    if (next)
        runs_pointed(runs, RUNS_ACTION_SORT);
    if (runs_key(runs, RUNS_ACTION_SORT) || next)
        data->wanted.sort = before + 1 < result->column_count ? before + 1 : -1;
    ui->same_line(0, 8);
    if (runs_key(runs, RUNS_ACTION_SORT_DOWN))
        data->wanted.descending = !was_down;
    (void)runs_box(runs, RUNS_ACTION_SORT_DOWN, "descending", &data->wanted.descending);
    if (data->wanted.sort != before || data->wanted.descending != was_down) {
        data->table_number++;
        data_want(data);
    }
}

static void draw_x(Runs *runs, RunsData *data, const Result *result)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const char *names[DATA_COLUMNS_MAX + 1] = {"row number"};
    int32_t columns[DATA_COLUMNS_MAX + 1] = {-1}, count = 1, chosen = 0;
    for (int32_t i = 0; i < result->column_count && count <= DATA_COLUMNS_MAX; i++) {
        if (!result_is_number(result, i))
            continue;
        if (data->wanted.x == i)
            chosen = count;
        columns[count] = i;
        names[count++] = result->columns[i].name;
    }
    int32_t before = chosen;
    ui->same_line(0, 16);
    ui->next_width(150);
    if (ui->combo("across", &chosen, names, count, 0))
        runs_pointed(runs, RUNS_ACTION_PLOT_X);
    runs_seen(runs, RUNS_ACTION_PLOT_X);
    if (runs_key(runs, RUNS_ACTION_PLOT_X))
        chosen = (before + 1) % count;
    if (chosen != before) {
        data->wanted.x = columns[chosen];
        data->points_chosen = false;
        data_want(data);
    }
}

static void draw_curves(Runs *runs, RunsData *data, const Result *result)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int32_t last = data->wanted.y_count > 0 ? data->wanted.y[data->wanted.y_count - 1] : -1;
    int32_t next = next_number(result, last);
    bool first = true;
    if (runs_key(runs, RUNS_ACTION_PLOT_Y) && next >= 0) {
        data->wanted.y[0] = next;
        data->wanted.y_count = 1;
        data_want(data);
    }
    for (int32_t i = 0; i < result->column_count && i < DATA_COLUMNS_MAX; i++) {
        if (!result_is_number(result, i))
            continue;
        float x = 0, w = 0, room = 0, text_w = 0;
        bool on = is_chosen(data, i);
        ui->text_size(result->columns[i].name, -1, 0, 0, &text_w, NULL);
        ui->remaining(&room, NULL);
        ui->item_rect(&x, NULL, &w, NULL);
        if (!first && x + w + text_w + 48 < room)
            ui->same_line(0, 10);
        first = false;
        ui->push_id_int((uint64_t)i);
        ui->next_id(1);
        if (ui->checkbox(result->columns[i].name, &on)) {
            runs_pointed(runs, RUNS_ACTION_PLOT_Y);
            toggle(data, i);
        }
        if (i == next)
            runs_seen(runs, RUNS_ACTION_PLOT_Y);
        ui->end(CALIPER_SCOPE_ID);
    }
}

static void draw_bar(Runs *runs, RunsData *data, const Result *result)
{
    static const char *const names[] = {"Table", "Plot"};
    const CaliperWidgetsV1 *ui = widgets_table();
    if (runs_key(runs, RUNS_ACTION_RESULT_PLOT))
        data->shows_plot = !data->shows_plot;
    bool shown = data->shows_plot;
    ui->space(0, 2);
    for (int i = 0; i < 2; i++) {
        bool on = shown == (i == 1);
        if (i == 1)
            ui->same_line(0, 4);
        if (ui->button(names[i], 0, 0, on ? CALIPER_BUTTON_PRIMARY : CALIPER_BUTTON_FLAT)) {
            data->shows_plot = i == 1;
            runs_pointed(runs, RUNS_ACTION_RESULT_PLOT);
        }
        if (!on)
            runs_seen(runs, RUNS_ACTION_RESULT_PLOT);
        ui->tooltip("As a table, or columns as curves  (v)");
    }
    if (!shown) {
        draw_order(runs, data, result);
        return;
    }
    draw_x(runs, data, result);
    ui->same_line(0, 16);
    if (runs_key(runs, RUNS_ACTION_PLOT_POINTS)) {
        data->points = !data->points;
        data->points_chosen = true;
    }
    if (runs_box(runs, RUNS_ACTION_PLOT_POINTS, "points", &data->points))
        data->points_chosen = true;
    draw_curves(runs, data, result);
}

/* ---- The table ---- */

static int64_t row_at(const DataView *view, int64_t place)
{
    return view->order != NULL ? view->order->rows[place] : place;
}

static const char *cell_text(RunsData *data, int32_t column, int64_t row)
{
    data->cell.length = 0;
    text_buffer_text(&data->cell, "");
    result_cell(data->view->result, column, row, &data->cell);
    return data->cell.bytes != NULL ? data->cell.bytes : "";
}

static void draw_cells(RunsData *data, int64_t place, int32_t columns)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const Result *result = data->view->result;
    int64_t row = row_at(data->view, place);
    char number[32];
    ui->table_row(0, 0);
    if (ui->table_cell(0, 0)) {
        snprintf(number, sizeof number, "%lld", (long long)row + 1);
        ui->text_ex(number, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_MONO | CALIPER_TEXT_RIGHT);
    }
    for (int32_t i = 0; i < columns; i++) {
        if (!ui->table_cell(i + 1, 0))
            continue;
        bool is_null = result_is_null(result, i, row);
        bool right = result_is_number(result, i) && result->columns[i].kind != RESULT_KIND_TIME &&
                     result->columns[i].kind != RESULT_KIND_BOOL;
        ui->text_ex(is_null ? "NULL" : cell_text(data, i, row), -1, 0,
                    CALIPER_TEXT_MONO | (is_null ? CALIPER_TEXT_DIM : 0u) |
                        (right ? CALIPER_TEXT_RIGHT : 0u));
    }
}

static float column_width(const ResultColumn *column)
{
    float name = 0;
    widgets_table()->text_size(column->name, -1, 0, 0, &name, NULL);
    float wanted = column->kind == RESULT_KIND_TIME   ? 220.0f
                   : column->kind >= RESULT_KIND_TEXT ? 260.0f
                   : column->kind == RESULT_KIND_REAL ? 170.0f
                                                      : 110.0f;
    return fmaxf(wanted, name + 32.0f);
}

static void draw_columns(RunsData *data, int32_t columns)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const DataQuestion *wanted = &data->wanted;
    char label[200];
    uint32_t down = wanted->descending ? CALIPER_COLUMN_SORTED_DOWN : 0u;
    ui->table_column(
        "#", 64, CALIPER_COLUMN_FROZEN | (wanted->sort < 0 ? CALIPER_COLUMN_SORTED | down : 0u));
    for (int32_t i = 0; i < columns; i++) {
        const ResultColumn *column = &data->view->result->columns[i];
        snprintf(label, sizeof label, "%.160s##%d", column->name, i);
        ui->table_column(label, column_width(column),
                         i == wanted->sort ? CALIPER_COLUMN_SORTED | down : 0u);
    }
}

static void draw_table(RunsData *data)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const Result *result = data->view->result;
    int32_t columns =
        result->column_count < DATA_COLUMNS_MAX - 1 ? result->column_count : DATA_COLUMNS_MAX - 1;
    int64_t first = 0, end = 0;
    char id[48];
    if (columns == 0)
        return;
    if (columns < result->column_count)
        ui->text_ex("The first 63 columns are shown", -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    snprintf(id, sizeof id, "##result%llu.%u", (unsigned long long)data->view->serial,
             data->table_number);
    if (ui->table(id, columns + 1, 0, 0,
                  CALIPER_TABLE_HEADER | CALIPER_TABLE_SORT | CALIPER_TABLE_SCROLL |
                      CALIPER_TABLE_SCROLL_X | CALIPER_TABLE_RESIZE | CALIPER_TABLE_STRIPES)) {
        bool down = false;
        int32_t column = -1;
        draw_columns(data, columns);
        if (ui->table_sort(&column, &down) &&
            (data->wanted.sort != column - 1 || data->wanted.descending != down)) {
            data->wanted.sort = column > 0 ? column - 1 : -1;
            data->wanted.descending = down;
            data_want(data);
        }
        while (ui->rows(result->row_count, 0, &first, &end)) {
            data->first_row = first;
            data->end_row = end;
            for (int64_t i = first; i < end; i++)
                draw_cells(data, i, columns);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

/* ---- The plot ---- */

static void draw_plot(RunsData *data)
{
    const CaliperPlotV1 *plot = plot_table();
    const DataView *view = data->view;
    const DataPlot *shown = view->plot;
    float room = 0;
    if (shown == NULL) {
        widgets_table()->space(0, 16);
        widgets_table()->text_ex(data->wanted.y_count == 0 ? "Choose a column." : "", -1, 0,
                                 CALIPER_TEXT_DIM);
        return;
    }
    if (!data->points_chosen)
        data->points = !shown->rising;
    widgets_table()->remaining(NULL, &room);
    widgets_table()->push_id_int(view->serial * 64u + (uint64_t)(shown->x + 1));
    if (plot->plot("##plot", 0, room, 0)) {
        const char *across = shown->x < 0 ? "row" : view->result->columns[shown->x].name;
        plot->axis(CALIPER_AXIS_X1, across, shown->time ? CALIPER_SCALE_TIME : CALIPER_SCALE_LINEAR,
                   CALIPER_AXIS_FIT);
        plot->axis(CALIPER_AXIS_Y1, NULL, CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
        for (uint32_t i = 0; i < shown->y_count; i++) {
            char label[96];
            CaliperPlotData columns = {.struct_size = sizeof columns,
                                       .revision = shown->revision,
                                       .x = shown->values,
                                       .y = shown->values + shown->count * (int64_t)(i + 1),
                                       .count = shown->count};
            snprintf(label, sizeof label, "%.60s##%u", view->result->columns[shown->y[i]].name, i);
            if (data->points) {
                plot->style(curve_color(i), 0, CALIPER_MARKER_CIRCLE, 4);
                plot->scatter(label, &columns, 0);
            } else {
                plot->style(curve_color(i), 1.6f,
                            shown->count <= MARKED_MAX ? CALIPER_MARKER_CIRCLE : 0, 4);
                plot->line(label, &columns, 0);
            }
        }
    }
    plot->end();
    widgets_table()->end(CALIPER_SCOPE_ID);
}

void data_draw_result(Runs *runs, RunsData *data)
{
    const Result *result = data->view->result;
    data->first_row = data->end_row = 0;
    if (result->column_count == 0)
        return;
    choose_columns(data, result);
    draw_bar(runs, data, result);
    if (data->shows_plot != data->wanted.wants_plot) {
        data->wanted.wants_plot = data->shows_plot;
        data_want(data);
    }
    if (data->shows_plot)
        draw_plot(data);
    else
        draw_table(data);
}

/* ---- The state ---- */

static void put_cells(FILE *file, const RunsData *data)
{
    const DataView *view = data->view;
    TextBuffer cell = {.bytes = NULL};
    fprintf(file, ", \"first\": %lld, \"cells\": [", (long long)data->first_row);
    for (int64_t i = data->first_row; i < data->end_row; i++) {
        fputs(i > data->first_row ? ",\n [" : "\n [", file);
        for (int32_t k = 0; k < view->result->column_count; k++) {
            fputs(k > 0 ? ", " : "", file);
            cell.length = 0;
            if (result_is_null(view->result, k, row_at(view, i))) {
                fputs("null", file);
                continue;
            }
            text_buffer_text(&cell, "");
            result_cell(view->result, k, row_at(view, i), &cell);
            state_put_text(file, cell.bytes != NULL ? cell.bytes : "");
        }
        fputc(']', file);
    }
    fputc(']', file);
    free(cell.bytes);
}

static void put_values(FILE *file, const double *values, int64_t count)
{
    fputc('[', file);
    for (int64_t i = 0; i < count && i < STATE_VALUES_MAX; i++) {
        fputs(i > 0 ? ", " : "", file);
        state_put_number(file, values[i]);
    }
    fputc(']', file);
}

static void put_plot(FILE *file, const RunsData *data)
{
    const DataPlot *plot = data->view->plot;
    fprintf(file, ", \"plot\": {\"points\": %s, \"x\": ", data->points ? "true" : "false");
    put_values(file, plot->values, plot->count);
    fputs(", \"y\": {", file);
    for (uint32_t i = 0; i < plot->y_count; i++) {
        fputs(i > 0 ? ", " : "", file);
        state_put_text(file, data->view->result->columns[plot->y[i]].name);
        fputs(": ", file);
        put_values(file, plot->values + plot->count * (int64_t)(i + 1), plot->count);
    }
    fputs("}}", file);
}

void data_put_result(FILE *file, const RunsData *data)
{
    const Result *result = data->view->result;
    const DataOrder *order = data->view->order;
    fprintf(
        file, ", \"rows\": %lld, \"more\": %s, \"sort\": %d, \"descending\": %s, \"columns\": [",
        (long long)result->row_count, result->more ? "true" : "false",
        order != NULL ? order->sort : -1, order != NULL && order->descending ? "true" : "false");
    for (int32_t i = 0; i < result->column_count; i++) {
        fputs(i > 0 ? ", " : "", file);
        state_put_text(file, result->columns[i].name);
    }
    fputc(']', file);
    if (data->shows_plot && data->view->plot != NULL)
        put_plot(file, data);
    else
        put_cells(file, data);
}
