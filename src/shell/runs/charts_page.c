/* The curves of the chosen runs, a chart a tag. Frame thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/runs/run_text.h"
#include "shell/runs/runs_impl.h"
#include "shell/runs/state_text.h"

/* A plot takes some 250 series: the first runs are series, which the read-out names; the others are
 * paths. */
enum { BANDS_UP_TO = 12, MARKS_UP_TO = 200, SERIES_UP_TO = 32 };
#define CHART_H     236.0f
#define CHART_MIN_W 340.0f

static const char *const axis_names[] = {"Step", "Time", "Relative", "Arrival"};

const RunsChart *runs_chart(const Runs *runs, const char *tag)
{
    for (uint32_t i = 0; runs->snapshot != NULL && i < runs->snapshot->chart_count; i++) {
        if (strcmp(runs->snapshot->charts[i]->tag, tag) == 0)
            return runs->snapshot->charts[i];
    }
    return NULL;
}

/* ---- The bar ---- */

static void draw_bar(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    double smoothing = runs->smoothing;
    float room = 0, x = 0, w = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (i > 0)
            ui->same_line(0, 4);
        if (ui->button(axis_names[i], 0, 0, runs->axis == i ? CALIPER_BUTTON_PRIMARY : 0)) {
            runs->axis = i;
            runs->fit = true;
            runs_pointed(runs, RUNS_ACTION_AXIS);
        }
        if (i == (runs->axis + 1) % 4)
            runs_seen(runs, RUNS_ACTION_AXIS);
    }
    ui->same_line(0, 16);
    ui->next_width(96);
    if (ui->slider("smoothing", &smoothing, 0.0, 0.99, 2, NULL, 0)) {
        runs_pointed(runs, smoothing > runs->smoothing ? RUNS_ACTION_SMOOTHING
                                                       : RUNS_ACTION_SMOOTHING_LESS);
        runs->smoothing = smoothing;
    }
    runs_seen(runs, RUNS_ACTION_SMOOTHING);
    runs_seen(runs, RUNS_ACTION_SMOOTHING_LESS);
    ui->tooltip("Exponential moving average, as TensorBoard's  ( [ and ] )");
    ui->remaining(&room, NULL);
    ui->item_rect(&x, NULL, &w, NULL);
    if (room - x - w > 510.0f) /* else on a line of their own */
        ui->same_line(0, 12);
    (void)runs_box(runs, RUNS_ACTION_LOG_Y, "log y", &runs->log_y);
    ui->same_line(0, 8);
    (void)runs_box(runs, RUNS_ACTION_LOG_X, "log x", &runs->log_x);
    ui->same_line(0, 8);
    (void)runs_box(runs, RUNS_ACTION_OUTLIERS, "no outliers", &runs->no_outliers);
    ui->same_line(0, 8);
    (void)runs_box(runs, RUNS_ACTION_BANDS, "bands", &runs->bands);
    ui->same_line(0, 12);
    if (runs_button(runs, RUNS_ACTION_FIT, "Fit", false))
        runs->fit = true;
    ui->same_line(0, 4);
    ui->disabled(runs->section_count < 2);
    bool all_folded = runs->section_count > 1 && !runs->any_open;
    runs->fold_all = runs_button(runs, RUNS_ACTION_SECTIONS,
                                 all_folded ? "Open all###fold" : "Fold all###fold", false);
    ui->end(CALIPER_SCOPE_DISABLED);
}

/* ---- One chart ---- */

static CaliperPlotData columns(const double *x, const double *y, const double *y2, uint32_t count)
{
    return (CaliperPlotData){
        .struct_size = sizeof(CaliperPlotData), .x = x, .y = y, .y2 = y2, .count = count};
}

static void draw_series(Runs *runs, const RunsChart *chart, const RunsSeries *series)
{
    const CaliperPlotV1 *plot = plot_table();
    const CaliperWidgetsV1 *ui = widgets_table();
    int32_t at = runs_catalog_find(runs->catalog, series->run);
    if (at < 0 || (uint32_t)at >= runs->named_count)
        return;
    uint32_t color = runs->colors[at];
    bool few = chart->count <= BANDS_UP_TO;
    bool smooth = chart->smoothing > 0.0;
    /* The legend is off, but its entries are what the read-out at the pointer is named by. */
    char behind[RUNS_LABEL_BYTES + 8];
    CaliperPlotData raw = columns(series->x, series->mean, NULL, series->count);
    CaliperPlotData shown =
        columns(series->x, smooth ? series->smooth : series->mean, NULL, series->count);
    ui->push_id_int(series->run);
    if (runs->bands && few && series->merged) {
        CaliperPlotData band = columns(series->x, series->least, series->greatest, series->count);
        plot->style(ui_fade(color, 0.22f), 0, 0, 0);
        snprintf(behind, sizeof behind, "%s##band", runs->labels[at]);
        plot->band(behind, &band, 0);
    }
    if (smooth && few) {
        plot->style(ui_fade(color, 0.28f), 1.0f, 0, 0);
        snprintf(behind, sizeof behind, "%s##raw", runs->labels[at]);
        plot->line(behind, &raw, 0);
    }
    plot->style(color, few ? 1.6f : 1.0f, series->count == 1 ? CALIPER_MARKER_CIRCLE : 0, 5);
    plot->line(runs->labels[at], &shown, 0);
    if (series->gap_count > 0) {
        uint32_t count = series->gap_count < MARKS_UP_TO ? series->gap_count : MARKS_UP_TO;
        CaliperPlotData gaps = columns(series->gap_x, series->gap_y, NULL, count);
        plot->style(color, 1.5f, CALIPER_MARKER_CROSS, 6);
        plot->scatter("not a number##gaps", &gaps, CALIPER_SERIES_NO_LEGEND);
    }
    ui->end(CALIPER_SCOPE_ID);
}

/* Runs beyond the series: lines, and their extent as a series that is not seen. */
static void draw_paths(const Runs *runs, const RunsChart *chart)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const CaliperPlotV1 *plot = plot_table();
    double x[2] = {chart->first_x, chart->last_x}, y[2] = {chart->low, chart->high};
    CaliperPlotData extent = columns(x, y, NULL, 2);
    plot->style(0x00ffffffu, 1.0f, 0, 0);
    plot->line("##extent", &extent, CALIPER_SERIES_NO_LEGEND);
    int32_t at = -1;
    for (uint32_t i = SERIES_UP_TO; i < chart->count; i++) {
        const RunsSeries *series = &chart->series[i];
        /* Both lists are by id: the run lies behind the last one, unless it was not chosen. */
        if ((uint32_t)++at >= runs->named_count || runs->ids[at] != series->run)
            at = runs_catalog_find(runs->catalog, series->run);
        if (at >= 0 && (uint32_t)at < runs->named_count)
            ui->draw_path(series->path, series->count, runs->colors[at], 1.0f, 0);
    }
}

/* More detail is asked for when much less than all is in sight, with room to move in. */
static void note_view(Runs *runs, const RunsChart *chart)
{
    RunsChartRequest *request = &runs->in_sight[runs->in_sight_count - 1];
    double from = 0, to = 0;
    plot_table()->view(CALIPER_AXIS_X1, &from, &to);
    double width = to - from;
    if (!(width > 0.0) || !(width < 0.5 * (chart->last_x - chart->first_x)) ||
        (!chart->merged && !chart->has_range))
        return;
    request->has_range = true;
    /* The last window is kept while the view lies in it and is not much smaller. */
    if (chart->has_range && chart->from <= from && to <= chart->to &&
        chart->to - chart->from < 5.0 * width) {
        request->from = chart->from;
        request->to = chart->to;
    } else {
        request->from = from - 0.75 * width;
        request->to = to + 0.75 * width;
    }
}

static void set_axes(const Runs *runs, const RunsChart *chart)
{
    const CaliperPlotV1 *plot = plot_table();
    uint32_t x_scale = runs->axis == METRICS_AXIS_WALL ? CALIPER_SCALE_TIME
                       : runs->log_x                   ? CALIPER_SCALE_LOG10
                                                       : CALIPER_SCALE_LINEAR;
    bool whole = runs->axis == METRICS_AXIS_STEP || runs->axis == METRICS_AXIS_ARRIVAL;
    plot->axis(CALIPER_AXIS_X1, NULL, x_scale,
               CALIPER_AXIS_FIT | (whole && !runs->log_x ? CALIPER_AXIS_INTEGER : 0u));
    plot->axis(CALIPER_AXIS_Y1, NULL, runs->log_y ? CALIPER_SCALE_LOG10 : CALIPER_SCALE_LINEAR,
               CALIPER_AXIS_FIT);
    if (runs->no_outliers && chart != NULL && chart->inner_low < chart->inner_high) {
        double room = 0.05 * (chart->inner_high - chart->inner_low);
        bool positive = runs->log_y && chart->inner_low - room <= 0.0;
        plot->axis_range(CALIPER_AXIS_Y1, positive ? (double)NAN : chart->inner_low - room,
                         chart->inner_high + room, CALIPER_WHEN_ALWAYS);
    }
    if (runs->fit)
        plot->axis_fit(0);
}

static void draw_chart(Runs *runs, const char *tag, float w)
{
    const CaliperPlotV1 *plot = plot_table();
    const CaliperWidgetsV1 *ui = widgets_table();
    const RunsChart *chart = runs_chart(runs, tag);
    char title[RUNS_LABEL_BYTES * 2 + 64];
    run_text_line(tag[0] != '\0' ? tag : "(no name)", title, 164);
    size_t length = strlen(title);
    if (chart != NULL && chart->gaps > 0)
        snprintf(title + length, sizeof title - length, "     %llu NaN or infinite",
                 (unsigned long long)chart->gaps);
    if (runs->in_sight_count < RUNS_CHARTS_MAX)
        runs->in_sight[runs->in_sight_count++] = (RunsChartRequest){.tag = (char *)(uintptr_t)tag};
    ui->push_id(tag);
    /* Each axis has its own view: the id says which. */
    ui->push_id_int((uint64_t)runs->axis * 4u + runs->log_x * 2u + runs->log_y);
    ui->next_id(1);
    if (plot->plot(title, w, CHART_H, CALIPER_PLOT_NO_LEGEND | CALIPER_PLOT_ALIGN)) {
        set_axes(runs, chart);
        for (uint32_t i = 0; chart != NULL && i < chart->count && i < SERIES_UP_TO; i++)
            draw_series(runs, chart, &chart->series[i]);
        if (chart != NULL && chart->count > SERIES_UP_TO)
            draw_paths(runs, chart);
        if (chart != NULL && runs->in_sight_count > 0)
            note_view(runs, chart);
    }
    plot->end();
    ui->end(CALIPER_SCOPE_ID);
    ui->end(CALIPER_SCOPE_ID);
}

/* ---- Sections: tags by what stands before their first slash ---- */

typedef struct Section {
    const char *name;    /* not ended: length */
    size_t length;       /* 0: tags without a slash */
    uint32_t first, end; /* of the catalog's kinds, where its tags lie */
    uint32_t charts;
} Section;

static size_t prefix_of(const char *tag)
{
    const char *slash = strchr(tag, '/');
    return slash != NULL ? (size_t)(slash - tag) : 0;
}

static bool is_shown(const Runs *runs, const RunsTag *tag)
{
    return tag->kind == METRICS_KIND_SCALAR && run_text_matches(tag->name, runs->tags);
}

static bool is_in(const Runs *runs, const Section *section, uint32_t at)
{
    const RunsTag *tag = &runs->catalog->kinds[at];
    return is_shown(runs, tag) && prefix_of(tag->name) == section->length;
}

static bool section_is(const Section *section, const char *name)
{
    return strlen(name) == section->length && memcmp(name, section->name, section->length) == 0;
}

/* Those that come after `section`, which begins as all zeros: first the tags without a slash, then
 * prefix by prefix; false: there are no more. Tags of one prefix lie side by side. */
static bool next_section(const Runs *runs, Section *section)
{
    const RunsCatalog *catalog = runs->catalog;
    if (section->name == NULL) {
        *section = (Section){.name = "", .end = catalog->kind_count};
        for (uint32_t i = 0; i < catalog->kind_count; i++)
            section->charts += is_in(runs, section, i);
        if (section->charts > 0)
            return true;
    }
    uint32_t at = section->length == 0 ? 0 : section->end;
    while (at < catalog->kind_count &&
           (!is_shown(runs, &catalog->kinds[at]) || prefix_of(catalog->kinds[at].name) == 0))
        at++;
    if (at == catalog->kind_count)
        return false;
    const char *name = catalog->kinds[at].name;
    *section = (Section){.name = name, .length = prefix_of(name), .first = at};
    for (; at < catalog->kind_count && catalog->kinds[at].kind == METRICS_KIND_SCALAR &&
           strncmp(catalog->kinds[at].name, name, section->length + 1) == 0;
         at++)
        section->charts += is_shown(runs, &catalog->kinds[at]);
    section->end = at;
    return true;
}

static int32_t folded_at(const Runs *runs, const Section *section)
{
    for (uint32_t i = 0; i < runs->folded_count; i++) {
        if (section_is(section, runs->folded[i]))
            return (int32_t)i;
    }
    return -1;
}

static void fold(Runs *runs, const Section *section, bool folded)
{
    int32_t at = folded_at(runs, section);
    if (folded == (at >= 0))
        return;
    if (!folded) {
        free(runs->folded[at]);
        runs->folded[at] = runs->folded[--runs->folded_count];
        return;
    }
    char **names = realloc(runs->folded, (runs->folded_count + 1) * sizeof *names);
    if (names == NULL)
        return;
    runs->folded = names;
    names[runs->folded_count] = strndup(section->name, section->length);
    runs->folded_count += names[runs->folded_count] != NULL;
}

/* Opens all when all are folded. */
static void fold_all(Runs *runs)
{
    bool any_open = false;
    for (Section section = {.name = NULL}; next_section(runs, &section);)
        any_open |= folded_at(runs, &section) < 0;
    for (Section section = {.name = NULL}; next_section(runs, &section);)
        fold(runs, &section, any_open);
}

static void take_section_keys(Runs *runs)
{
    bool all = runs->fold_all || runs_key(runs, RUNS_ACTION_SECTIONS);
    bool top = runs_key(runs, RUNS_ACTION_SECTION);
    runs->fold_all = false;
    if (all)
        fold_all(runs);
    for (Section section = {.name = NULL}; top && next_section(runs, &section);) {
        if (section_is(&section, runs->top_section)) {
            fold(runs, &section, folded_at(runs, &section) < 0);
            break;
        }
    }
}

/* ---- The grid ---- */

static void draw_grid(Runs *runs, const Section *section, uint32_t per_row, float chart_w)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    float gap = ui->metric(CALIPER_METRIC_GAP_X);
    int64_t first = 0, end = 0;
    int64_t rows = (section->charts + per_row - 1) / per_row;
    while (ui->rows(rows, CHART_H + ui->metric(CALIPER_METRIC_GAP_Y), &first, &end)) {
        int64_t place = -1;
        for (uint32_t i = section->first; i < section->end; i++) {
            if (!is_in(runs, section, i))
                continue;
            int64_t row = ++place / per_row;
            if (row < first || row >= end)
                continue;
            if (place % per_row != 0)
                ui->same_line(0, gap);
            draw_chart(runs, runs->catalog->kinds[i].name, chart_w);
        }
    }
}

/* The head of a section; true while it is open. */
static bool draw_head(Runs *runs, const Section *section, float scroll_y)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char label[RUNS_TEXT_BYTES + 32], words[100], name[400];
    float y = 0;
    ui->cursor(NULL, &y);
    if (y <= scroll_y + 2.0f || runs->top_section[0] == '\1')
        snprintf(runs->top_section, sizeof runs->top_section, "%.*s", (int)section->length,
                 section->name);
    snprintf(name, sizeof name, "%.*s", (int)(section->length < 399 ? section->length : 399),
             section->name);
    run_text_line(name[0] != '\0' ? name : "General", words, sizeof words);
    snprintf(label, sizeof label, "%s   %u###head", words, section->charts);
    bool was_open = folded_at(runs, section) < 0;
    ui->next_open(was_open, CALIPER_WHEN_ALWAYS);
    bool open = ui->tree(label, 0);
    if (open != was_open) {
        fold(runs, section, was_open);
        runs_pointed(runs, RUNS_ACTION_SECTION);
    }
    if (section_is(section, runs->top_section))
        runs_seen(runs, RUNS_ACTION_SECTION);
    ui->end(CALIPER_SCOPE_TREE); /* the charts are not indented */
    return open;
}

static void draw_sections(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    float w = 0, scroll_y = 0, gap = ui->metric(CALIPER_METRIC_GAP_X);
    uint32_t most = 0, count = 0;
    for (Section section = {.name = NULL}; next_section(runs, &section); count++)
        most = section.charts > most ? section.charts : most;
    runs->section_count = count;
    runs->any_open = false;
    ui->remaining(&w, NULL);
    ui->scroll(&scroll_y, NULL);
    uint32_t per_row = (uint32_t)fmaxf(1.0f, floorf((w + gap) / (CHART_MIN_W + gap)));
    per_row = per_row < most ? per_row : most;
    float chart_w = floorf((w - gap * (float)(per_row - 1)) / (float)per_row);
    strcpy(runs->top_section, "\1"); /* none so far */
    for (Section section = {.name = NULL}; next_section(runs, &section);) {
        bool open = true;
        ui->push_id_int(section.length > 0 ? section.first + 1u : 0u);
        if (count > 1)
            open = draw_head(runs, &section, scroll_y);
        runs->any_open |= open;
        if (open)
            draw_grid(runs, &section, per_row, chart_w);
        ui->end(CALIPER_SCOPE_ID);
    }
}

void runs_draw_charts(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const RunsCatalog *catalog = runs->catalog;
    draw_bar(runs);
    runs->in_sight_count = 0;
    runs->chart_total = 0;
    for (uint32_t i = 0; i < catalog->kind_count; i++)
        runs->chart_total += is_shown(runs, &catalog->kinds[i]);
    if (runs->chart_total == 0 || runs->chosen_count == 0) {
        ui->space(0, 24);
        ui->text_ex(runs->chosen_count == 0 ? "Choose a run at the left."
                                            : "No scalars under such a tag.",
                    -1, 0, CALIPER_TEXT_DIM);
        runs->fit = false;
        return;
    }
    take_section_keys(runs);
    if (ui->child("##charts", 0, 0, 0))
        draw_sections(runs);
    ui->end(CALIPER_SCOPE_CHILD);
    runs->fit = false;
}

void runs_put_sections(FILE *file, const Runs *runs)
{
    fputs(",\n\"sections\": [", file);
    uint32_t count = 0;
    for (Section section = {.name = NULL}; next_section(runs, &section); count++) {
        char name[RUNS_TEXT_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)section.length, section.name);
        fputs(count > 0 ? ",\n {\"name\": " : "\n {\"name\": ", file);
        state_put_text(file, name);
        fprintf(file, ", \"charts\": %u, \"open\": %s}", section.charts,
                folded_at(runs, &section) < 0 ? "true" : "false");
    }
    fputs("]", file);
}
