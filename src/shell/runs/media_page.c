/* Histograms over steps, and images with a step slider, of the run under the cursor. Frame thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/runs/runs_impl.h"

enum { TAGS_MOST = 512 };

static void set_tag(Runs *runs, const char *tag)
{
    char *copy = strdup(tag);
    if (copy == NULL)
        return; /* the next frame tries again */
    free(runs->media_tag);
    runs->media_tag = copy;
    runs->media_seq = 0;
}

/* The tags of one kind that the cursor's run has, in their order: those from `first` on, TAGS_MOST
 * of them at most, go to `names`; answers how many there are, and which is the chosen one, or -1.
 */
static uint32_t tags_of_kind(const Runs *runs, MetricsKind kind, uint32_t first,
                             const char *names[TAGS_MOST], int64_t *chosen)
{
    const MetricsTags *tags = &runs->catalog->tags;
    uint32_t count = 0;
    *chosen = -1;
    for (uint32_t i = 0; i < runs->run_tags_count; i++) {
        const MetricsTag *tag = &tags->items[runs->run_tags[i]];
        if (tag->kind != kind)
            continue;
        if (*chosen < 0 && runs->media_tag != NULL && strcmp(tag->tag, runs->media_tag) == 0)
            *chosen = count;
        if (count >= first && count - first < TAGS_MOST)
            names[count - first] = tag->tag;
        count++;
    }
    return count;
}

/* A list of the tags, TAGS_MOST of them around the chosen one; chooses one. False: there is none.
 */
static bool choose_tag(Runs *runs, MetricsKind kind, RunsAction action)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const char *names[TAGS_MOST];
    int64_t place = -1;
    uint32_t first = 0;
    uint32_t all =
        runs_find_tags(runs, runs->cursor) ? tags_of_kind(runs, kind, 0, names, &place) : 0;
    if (all == 0)
        return false;
    if (all > TAGS_MOST && place > TAGS_MOST / 2) {
        uint32_t last_first = all - TAGS_MOST;
        first = (uint32_t)place - TAGS_MOST / 2;
        first = first < last_first ? first : last_first;
        tags_of_kind(runs, kind, first, names, &place);
    }
    int32_t count = (int32_t)(all < TAGS_MOST ? all : TAGS_MOST);
    int32_t chosen = place >= 0 ? (int32_t)(place - first) : -1;
    ui->next_width(300);
    if (ui->combo("Tag", &chosen, names, count, 0) || chosen < 0)
        set_tag(runs, names[chosen < 0 ? 0 : chosen]);
    runs_seen(runs, action);
    if ((ui->item() & CALIPER_ITEM_CLICKED) != 0)
        runs_pointed(runs, action);
    if (runs_key(runs, action))
        set_tag(runs, names[(chosen + 1) % count]);
    if (all > TAGS_MOST) {
        char text[64];
        snprintf(text, sizeof text, "and %u more, beyond these", all - TAGS_MOST);
        ui->same_line(0, 12);
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    }
    return true;
}

static const char *cursor_label(const Runs *runs)
{
    int32_t at = runs_catalog_find(runs->catalog, runs->cursor);
    return at >= 0 && (uint32_t)at < runs->named_count ? runs->labels[at] : "no run";
}

const RunsMedia *runs_media_head(Runs *runs, MetricsKind kind, RunsAction tag, const char *none)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const RunsMedia *shown = runs->snapshot->media;
    ui->text_ex(cursor_label(runs), -1, 0, CALIPER_TEXT_HEADING);
    if (!choose_tag(runs, kind, tag)) {
        ui->text_ex(none, -1, 0, CALIPER_TEXT_DIM);
        return NULL;
    }
    return shown != NULL && runs->media_tag != NULL && shown->kind == kind &&
                   shown->run == runs->cursor && strcmp(shown->tag, runs->media_tag) == 0
               ? shown
               : NULL;
}

static int64_t seq_at(const int64_t *seqs, size_t stride_bytes, int64_t place)
{
    int64_t seq;
    memcpy(&seq, (const char *)seqs + (size_t)place * stride_bytes, sizeof seq);
    return seq;
}

int64_t runs_media_slider(Runs *runs, RunsAction back, RunsAction on, const int64_t *seqs,
                          size_t stride_bytes, uint32_t count)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int64_t last = (int64_t)count - 1, place = last;
    for (int64_t i = 0; i <= last; i++) {
        if (seq_at(seqs, stride_bytes, i) == runs->media_seq)
            place = i;
    }
    int64_t before = place;
    if (runs_button(runs, back, "<", false) || runs_key(runs, back))
        place = place > 0 ? place - 1 : 0;
    ui->same_line(0, 4);
    if (runs_button(runs, on, ">", false) || runs_key(runs, on))
        place = place < last ? place + 1 : last;
    ui->same_line(0, 8);
    ui->next_width(320);
    if (last > 0) {
        int64_t number = place + 1; /* as the words beside it count */
        (void)ui->slider_int("##step", &number, 1, last + 1, NULL, 0);
        place = number - 1;
        ui->same_line(0, 12);
    }
    if (place != before || runs->media_seq != 0)
        runs->media_seq = seq_at(seqs, stride_bytes, place);
    return place;
}

/* ---- Histograms ---- */

/* One step's counts as a ridge: those of later steps stand in front, lower. */
static void draw_ridge(const RunsMedia *shown, uint32_t step, double most, uint32_t color)
{
    const CaliperPlotV1 *plot = plot_table();
    double x[RUNS_BINS], low[RUNS_BINS], high[RUNS_BINS];
    double width = (shown->high - shown->low) / RUNS_BINS;
    double base = (double)(shown->step_count - 1 - step);
    for (uint32_t i = 0; i < RUNS_BINS; i++) {
        x[i] = shown->low + width * ((double)i + 0.5);
        low[i] = base;
        high[i] = base + 3.0 * shown->counts[step * RUNS_BINS + i] / most;
    }
    CaliperPlotData data = {
        .struct_size = sizeof data, .x = x, .y = low, .y2 = high, .count = RUNS_BINS};
    plot->style(color, 0, 0, 0);
    plot->band("##ridge", &data, CALIPER_SERIES_NO_LEGEND);
    data.y = high;
    data.y2 = NULL;
    plot->style(color, 1.2f, 0, 0);
    plot->line("##edge", &data, CALIPER_SERIES_NO_LEGEND);
}

static void draw_ridges(Runs *runs, const RunsMedia *shown)
{
    enum { TICKS = 6 };
    const CaliperPlotV1 *plot = plot_table();
    double at[TICKS], most = 1.0;
    char texts[TICKS][24];
    const char *labels[TICKS];
    int32_t ticks = 0;
    for (uint32_t i = 0; i < shown->step_count * RUNS_BINS; i++)
        most = fmax(most, shown->counts[i]);
    for (uint32_t i = 0; i < TICKS && i < shown->step_count; i++) {
        uint32_t step = shown->step_count <= TICKS ? i : i * (shown->step_count - 1) / (TICKS - 1);
        at[ticks] = (double)(shown->step_count - 1 - step);
        snprintf(texts[ticks], sizeof texts[0], "%lld", (long long)shown->steps[step]);
        labels[ticks] = texts[ticks];
        ticks++;
    }
    float room = 0;
    widgets_table()->remaining(NULL, &room);
    if (plot->plot("##histograms", 0, room, CALIPER_PLOT_NO_LEGEND | CALIPER_PLOT_NO_HOVER)) {
        plot->axis(CALIPER_AXIS_X1, "value", CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
        plot->axis(CALIPER_AXIS_Y1, "step", CALIPER_SCALE_LINEAR, CALIPER_AXIS_FIT);
        plot->axis_ticks(CALIPER_AXIS_Y1, at, labels, ticks);
        for (uint32_t i = 0; i < shown->step_count; i++) {
            float place = shown->step_count > 1 ? (float)i / (float)(shown->step_count - 1) : 1.0f;
            widgets_table()->push_id_int(i);
            draw_ridge(shown, i, most,
                       plot->colormap(CALIPER_CMAP_VIRIDIS, 0.15f + 0.75f * place, 0.0f, 1.0f));
            widgets_table()->end(CALIPER_SCOPE_ID);
        }
    }
    plot->end();
    (void)runs;
}

void runs_draw_histograms(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[160];
    const RunsMedia *shown = runs_media_head(
        runs, METRICS_KIND_HISTOGRAM, RUNS_ACTION_HISTOGRAM_TAG, "This run has no histograms.");
    if (shown == NULL || shown->step_count == 0)
        return;
    int length =
        snprintf(text, sizeof text, "%u of %llu steps, values %.6g to %.6g", shown->step_count,
                 (unsigned long long)shown->rows, shown->low, shown->high);
    if (shown->not_finite > 0)
        snprintf(text + length, sizeof text - (size_t)length, ", %llu NaN or infinite left out",
                 (unsigned long long)shown->not_finite);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    if (shown->low <= shown->high)
        draw_ridges(runs, shown);
}

/* ---- Images ---- */

/* Puts the image that came into the one texture, made anew when its size is another. */
static void fill_texture(Runs *runs, const RunsMedia *shown)
{
    const MetricsImage *image = &shown->image.items[0];
    if (runs->textured == shown && runs->textured_seq == image->seq)
        return;
    CaliperTensor tensor = {
        .struct_size = sizeof tensor,
        .data = (void *)(uintptr_t)image->bytes,
        .dtype = CALIPER_DT_U8,
        .ndim = 3,
        .shape = {image->height, image->width, image->channels},
        .strides = {(int64_t)image->width * image->channels, image->channels, 1},
        .device = CALIPER_DEV_CPU};
    bool same = runs->texture != 0 && runs->texture_w == image->width &&
                runs->texture_h == image->height && runs->texture_c == image->channels;
    if (!same) {
        if (runs->texture != 0)
            bridge_release_texture(runs->bridge, runs->texture);
        runs->texture = bridge_texture_from_tensor(runs->bridge, &tensor, 0);
    } else {
        (void)bridge_update_texture(runs->bridge, runs->texture, &tensor);
    }
    runs->texture_w = image->width;
    runs->texture_h = image->height;
    runs->texture_c = image->channels;
    runs->textured = shown;
    runs->textured_seq = image->seq;
}

static void draw_slider(Runs *runs, const RunsMedia *shown)
{
    char text[96];
    int64_t place = runs_media_slider(runs, RUNS_ACTION_IMAGE_BACK, RUNS_ACTION_IMAGE_ON,
                                      &shown->list.items[0].seq, sizeof shown->list.items[0],
                                      shown->list.count);
    const MetricsImage *image = &shown->list.items[place];
    snprintf(text, sizeof text, "step %lld, image %lld of %u, %u x %u x %u", (long long)image->step,
             (long long)place + 1, shown->list.count, image->width, image->height, image->channels);
    widgets_table()->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
}

void runs_draw_images(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const RunsMedia *shown =
        runs_media_head(runs, METRICS_KIND_IMAGE, RUNS_ACTION_IMAGE_TAG, "This run has no images.");
    if (shown == NULL || shown->list.count == 0)
        return;
    draw_slider(runs, shown);
    if (shown->image.count == 0 || shown->image.items[0].bytes == NULL)
        return;
    fill_texture(runs, shown);
    if (ui->image_view("##image", runs->texture, 0, 0, 0, 0, NULL,
                       CALIPER_IMAGE_CHECKER | CALIPER_IMAGE_GRID)) {
    }
    ui->end(CALIPER_SCOPE_IMAGE);
}
