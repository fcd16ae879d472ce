/* The dashboard as one: its life, what it asks the reader for, its pages. Frame thread. */
#include "shell/runs/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "shell/runs/export_job.h"
#include "shell/runs/import_job.h"
#include "shell/runs/runs_impl.h"

enum { SETTLE_MS = 20000 };

Runs *runs_create(MetricsStore *store, Bridge *bridge, Ui *ui, const char *data_root, bool listens)
{
    Runs *runs = calloc(1, sizeof *runs);
    if (runs == NULL) {
        log_item(OUT_OF_MEMORY, "runs_create", (unsigned long long)sizeof *runs);
        return NULL;
    }
    runs->store = store;
    runs->bridge = bridge;
    runs->ui = ui;
    runs->data_root = data_root;
    runs->listens = listens;
    runs->page = RUNS_ACTION_SCALARS;
    runs->turn_page = true;
    runs->bands = true;
    runs->sort_column = -1;
    runs->list_w = 340;
    runs->focus = RUNS_ACTION_COUNT;
    runs->reader = runs_reader_create(store);
    if (runs->reader == NULL)
        runs_destroy(&runs);
    else if (listens)
        ui_items_listen(ui, true);
    return runs;
}

void runs_destroy(Runs **runs)
{
    if (runs == NULL || *runs == NULL)
        return;
    Runs *ended = *runs;
    *runs = NULL;
    if (ended->listens)
        ui_items_listen(ended->ui, false);
    runs_artifacts_destroy(&ended->artifacts);
    runs_data_destroy(&ended->data);
    import_job_drop(&ended->import);
    export_job_drop(&ended->export);
    runs_reader_destroy(&ended->reader);
    if (ended->texture != 0)
        bridge_release_texture(ended->bridge, ended->texture);
    parameters_free(&ended->parameters);
    for (uint32_t i = 0; i < ended->folded_count; i++)
        free(ended->folded[i]);
    free(ended->folded);
    free(ended->media_tag);
    free(ended->run_tags);
    free(ended->labels);
    free(ended->ids);
    free(ended->colors);
    free(ended->rows);
    free(ended->chosen);
    free(ended->deleted);
    free(ended->restored);
    free(ended);
}

/* ---- Asking ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 1099511628211u;
}

static uint64_t mix_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(hash, bits);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = mix(hash, (unsigned char)*text);
    return mix(hash, 0x100);
}

static bool wants_media(const Runs *runs)
{
    return (runs->page == RUNS_ACTION_HISTOGRAMS || runs->page == RUNS_ACTION_IMAGES ||
            runs->page == RUNS_ACTION_TEXTS) &&
           runs->media_tag != NULL && runs->cursor != 0;
}

static MetricsKind media_kind(const Runs *runs)
{
    return runs->page == RUNS_ACTION_HISTOGRAMS ? METRICS_KIND_HISTOGRAM
           : runs->page == RUNS_ACTION_IMAGES   ? METRICS_KIND_IMAGE
                                                : METRICS_KIND_TEXT;
}

static uint64_t wanted_hash(const Runs *runs)
{
    uint64_t hash = mix(runs_chosen_hash(runs), (uint64_t)runs->axis);
    hash = mix_real(hash, runs->smoothing);
    if (runs->page == RUNS_ACTION_SCALARS) {
        for (uint32_t i = 0; i < runs->in_sight_count; i++) {
            const RunsChartRequest *chart = &runs->in_sight[i];
            hash = mix_text(hash, chart->tag);
            if (chart->has_range)
                hash = mix_real(mix_real(hash, chart->from), chart->to);
        }
    }
    if (wants_media(runs))
        hash = mix(mix(mix_text(hash, runs->media_tag), runs->cursor),
                   (uint64_t)runs->media_seq * 8u + (uint64_t)media_kind(runs));
    return hash;
}

static RunsRequest *make_request(const Runs *runs)
{
    RunsRequest *request = calloc(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->axis = (MetricsAxis)runs->axis;
    request->smoothing = runs->smoothing;
    request->runs = malloc((runs->chosen_count + 1) * sizeof *request->runs);
    bool ok = request->runs != NULL;
    if (ok && runs->chosen_count > 0)
        memcpy(request->runs, runs->chosen, runs->chosen_count * sizeof *request->runs);
    request->run_count = runs->chosen_count;
    uint32_t charts = runs->page == RUNS_ACTION_SCALARS ? runs->in_sight_count : 0;
    for (uint32_t i = 0; ok && i < charts; i++) {
        request->charts[i] = runs->in_sight[i];
        request->charts[i].tag = strdup(runs->in_sight[i].tag);
        ok = request->charts[i].tag != NULL;
        request->chart_count += ok;
    }
    if (ok && wants_media(runs)) {
        request->media_tag = strdup(runs->media_tag);
        request->media_kind = media_kind(runs);
        request->media_run = runs->cursor;
        request->media_seq = runs->media_seq;
        ok = request->media_tag != NULL;
    }
    if (!ok) {
        runs_request_free(request);
        return NULL;
    }
    return request;
}

/* Only when something else is wanted than last time. */
static void ask(Runs *runs)
{
    uint64_t hash = wanted_hash(runs);
    if (hash == runs->asked_hash)
        return;
    RunsRequest *request = make_request(runs);
    if (request == NULL)
        return; /* the next frame tries again */
    request->serial = ++runs->serial;
    runs->asked_hash = hash;
    runs_reader_ask(runs->reader, request);
}

void runs_settle(Runs *runs)
{
    (void)runs_reader_settle(runs->reader, runs->serial, SETTLE_MS);
    runs_artifacts_settle(runs);
    runs_data_settle(runs);
    runs_import_settle(runs);
    runs_export_settle(runs);
}

/* ---- Drawing ---- */

/* The next item stands beside the last one where `w` is left, else on a line of its own. */
static void beside(float gap, float w)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    float room = 0, last_x = 0, last_w = 0;
    ui->remaining(&room, NULL);
    ui->item_rect(&last_x, NULL, &last_w, NULL);
    if (room - last_x - last_w >= gap + w)
        ui->same_line(0, gap);
}

static void draw_tag_filter(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    beside(12, 64);
    if (runs->focus == RUNS_ACTION_TAGS)
        ui->next_focus();
    ui->next_width(-1);
    if (ui->input_text("##tags", "Tags  ( t )", runs->tags, sizeof runs->tags, 0, 0) &&
        runs->seen[RUNS_ACTION_TAGS].by_key == 0)
        runs_pointed(runs, RUNS_ACTION_TAGS);
    runs_seen(runs, RUNS_ACTION_TAGS);
}

static bool has_runs(const Runs *runs)
{
    for (uint32_t i = 0; runs->catalog != NULL && i < runs->catalog->runs.count; i++) {
        if (!runs->catalog->runs.items[i].deleted)
            return true;
    }
    return runs->deleted_count > 0; /* they can be brought back */
}

static void draw_pages(Runs *runs)
{
    static const struct {
        RunsAction action;
        const char *label;
        void (*draw)(Runs *runs);
    } pages[] = {{RUNS_ACTION_SCALARS, "Scalars", runs_draw_charts},
                 {RUNS_ACTION_PARAMETERS, "Parameters", runs_draw_parameters},
                 {RUNS_ACTION_HISTOGRAMS, "Histograms", runs_draw_histograms},
                 {RUNS_ACTION_IMAGES, "Images", runs_draw_images},
                 {RUNS_ACTION_TEXTS, "Texts", runs_draw_texts},
                 {RUNS_ACTION_ABOUT, "About", runs_draw_about},
                 {RUNS_ACTION_ARTIFACTS, "Artifacts", runs_draw_artifacts},
                 {RUNS_ACTION_DATA, "Data", runs_draw_data}};
    const CaliperWidgetsV1 *ui = widgets_table();
    size_t shown = 0;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        bool on = runs->page == pages[i].action;
        float w = 0;
        ui->text_size(pages[i].label, -1, 0, 0, &w, NULL);
        if (i > 0)
            beside(4, w + 20);
        if (ui->button(pages[i].label, 0, 0, on ? CALIPER_BUTTON_PRIMARY : CALIPER_BUTTON_FLAT)) {
            runs->page = pages[i].action;
            runs_pointed(runs, pages[i].action);
        }
        runs_seen(runs, pages[i].action);
        if (runs->page == pages[i].action)
            shown = i;
    }
    if (runs->page != RUNS_ACTION_DATA) {
        beside(4, 64);
        runs_draw_export(runs);
    }
    if (runs->page == RUNS_ACTION_SCALARS)
        draw_tag_filter(runs);
    if (runs->told[0] != '\0')
        ui->text_ex(runs->told, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    if (runs->snapshot->error[0] != '\0')
        ui->text_ex(runs->snapshot->error, -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_WRAP);
    ui->space(0, 2);
    runs->in_sight_count = 0;
    if (pages[shown].action == RUNS_ACTION_DATA || has_runs(runs))
        pages[shown].draw(runs);
}

void runs_draw(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    runs->snapshot = runs_reader_snapshot(runs->reader);
    runs->catalog = runs->snapshot != NULL ? runs->snapshot->catalog : NULL;
    for (int i = 0; i < RUNS_ACTION_COUNT; i++)
        runs->seen[i].w = 0.0f;
    if (runs->catalog != NULL && runs->catalog->number != runs->named) {
        runs_take_catalog(runs);
        runs->named = runs->catalog->number;
    }
    if (runs->catalog != NULL)
        runs_color(runs);
    if (!has_runs(runs) && (runs->page != RUNS_ACTION_DATA || runs->snapshot == NULL)) {
        runs->in_sight_count = 0;
        runs_draw_empty(runs);
        return;
    }
    if (runs->rows_stale)
        runs_find_rows(runs);
    runs_take_keys(runs);
    (void)ui->split("##split", CALIPER_SPLIT_LEFT_RIGHT, &runs->list_w, 200, 300);
    if (runs->page == RUNS_ACTION_DATA)
        runs_draw_tables(runs);
    else
        runs_draw_list(runs);
    ui->split_next();
    ui->indent(8);
    draw_pages(runs);
    ui->end(CALIPER_SCOPE_INDENT);
    ui->end(CALIPER_SCOPE_SPLIT);
    ask(runs);
}
