/* See snapshot.h. Reader's thread; drops also where a snapshot is freed. */
#include "shell/runs/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Catalog ---- */

static int by_name(const void *a, const void *b)
{
    const MetricsRunInfo *x = *(const MetricsRunInfo *const *)a;
    const MetricsRunInfo *y = *(const MetricsRunInfo *const *)b;
    int order = strcmp(x->experiment, y->experiment);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static bool mark_twins(RunsCatalog *catalog)
{
    uint32_t count = catalog->runs.count;
    const MetricsRunInfo **sorted = malloc((count + 1) * sizeof *sorted);
    catalog->twins = calloc(count + 1, sizeof *catalog->twins);
    if (sorted == NULL || catalog->twins == NULL) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &catalog->runs.items[i];
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < count; i++) {
        if (by_name(&sorted[i - 1], &sorted[i]) == 0) {
            catalog->twins[sorted[i - 1] - catalog->runs.items] = true;
            catalog->twins[sorted[i] - catalog->runs.items] = true;
        }
    }
    free(sorted);
    return true;
}

int32_t runs_catalog_find(const RunsCatalog *catalog, uint64_t run)
{
    uint32_t low = 0, high = catalog->runs.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (catalog->runs.items[middle].id < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < catalog->runs.count && catalog->runs.items[low].id == run ? (int32_t)low : -1;
}

/* The tags of runs that are not put away. */
static bool sum_tags(RunsCatalog *catalog)
{
    catalog->kinds = calloc(catalog->tags.count + 1, sizeof *catalog->kinds);
    if (catalog->kinds == NULL)
        return false;
    for (uint32_t i = 0; i < catalog->tags.count; i++) {
        const MetricsTag *tag = &catalog->tags.items[i];
        int32_t run = runs_catalog_find(catalog, tag->run);
        if (run < 0 || catalog->runs.items[run].deleted)
            continue;
        RunsTag *last = catalog->kind_count > 0 ? &catalog->kinds[catalog->kind_count - 1] : NULL;
        if (last == NULL || last->kind != tag->kind || strcmp(last->name, tag->tag) != 0) {
            last = &catalog->kinds[catalog->kind_count++];
            *last = (RunsTag){.kind = tag->kind, .name = tag->tag};
        }
        last->runs++;
        last->rows += tag->rows;
    }
    return true;
}

static int by_tag(const MetricsTag *a, const MetricsTag *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int order = strcmp(a->tag, b->tag);
    return order != 0 ? order : (a->run > b->run) - (a->run < b->run);
}

static MetricsTag both(const MetricsTag *old, const MetricsTag *news)
{
    MetricsTag sum = *old;
    sum.rows += news->rows;
    sum.first_step = news->first_step < sum.first_step ? news->first_step : sum.first_step;
    sum.last_step = news->last_step > sum.last_step ? news->last_step : sum.last_step;
    sum.newest_seq = news->newest_seq > sum.newest_seq ? news->newest_seq : sum.newest_seq;
    return sum;
}

static size_t text_bytes(const MetricsTags *tags)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < tags->count; i++)
        bytes += strlen(tags->items[i].tag) + 1;
    return bytes;
}

/* Both lists, which are sorted, as one, in one block with their texts. */
static bool merge_tags(const MetricsTags *before, const MetricsTags *news, MetricsTags *out)
{
    size_t most = (size_t)before->count + news->count;
    char *block = malloc(most * sizeof(MetricsTag) + text_bytes(before) + text_bytes(news) + 1);
    if (block == NULL)
        return false;
    MetricsTag *items = (MetricsTag *)(void *)block;
    char *text = block + most * sizeof *items;
    uint32_t a = 0, b = 0, count = 0;
    while (a < before->count || b < news->count) {
        int order = a == before->count ? 1
                    : b == news->count ? -1
                                       : by_tag(&before->items[a], &news->items[b]);
        MetricsTag *item = &items[count++];
        *item = order < 0   ? before->items[a]
                : order > 0 ? news->items[b]
                            : both(&before->items[a], &news->items[b]);
        a += order <= 0;
        b += order >= 0;
        size_t length = strlen(item->tag) + 1;
        item->tag = memcpy(text, item->tag, length);
        text += length;
    }
    out->items = items;
    out->count = count;
    return true;
}

RunsCatalog *runs_catalog_read(MetricsReader *reader, const RunsCatalog *before,
                               const MetricsTags *news)
{
    static atomic_ullong numbers;
    struct timespec now;
    RunsCatalog *catalog = calloc(1, sizeof *catalog);
    if (catalog == NULL)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    catalog->references = 1;
    catalog->number = atomic_fetch_add(&numbers, 1) + 1;
    catalog->read_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    catalog->own_tags = before != NULL;
    bool ok = metrics_read_runs(reader, &catalog->runs) &&
              (before == NULL ? metrics_read_tags(reader, 0, &catalog->tags)
                              : merge_tags(&before->tags, news, &catalog->tags));
    if (!ok || !mark_twins(catalog) || !sum_tags(catalog)) {
        runs_catalog_drop(&catalog);
        return NULL;
    }
    for (uint32_t i = 0; i < catalog->tags.count; i++) {
        if (catalog->tags.items[i].newest_seq > catalog->newest_seq)
            catalog->newest_seq = catalog->tags.items[i].newest_seq;
    }
    return catalog;
}

void runs_catalog_drop(RunsCatalog **catalog)
{
    RunsCatalog *dropped = *catalog;
    *catalog = NULL;
    if (dropped == NULL || atomic_fetch_sub(&dropped->references, 1) > 1)
        return;
    metrics_runs_free(&dropped->runs);
    if (dropped->own_tags)
        free(dropped->tags.items);
    else
        metrics_tags_free(&dropped->tags);
    free(dropped->kinds);
    free(dropped->twins);
    free(dropped);
}

/* ---- Charts ---- */

RunsChart *runs_chart_hold(RunsChart *chart)
{
    if (chart != NULL)
        atomic_fetch_add(&chart->references, 1);
    return chart;
}

void runs_chart_drop(RunsChart **chart)
{
    RunsChart *dropped = *chart;
    *chart = NULL;
    if (dropped == NULL || atomic_fetch_sub(&dropped->references, 1) > 1)
        return;
    free(dropped->tag);
    free(dropped->series);
    free(dropped->values);
    free(dropped);
}

/* ---- Histograms, images, texts ---- */

/* Counts each step's finite values into bins between the extremes of all of them; the last bin
 * holds its upper end. */
static bool count_values(RunsMedia *media, const MetricsHistograms *read)
{
    media->steps = calloc(read->count + 1, sizeof *media->steps);
    media->counts = calloc((size_t)read->count * RUNS_BINS + 1, sizeof *media->counts);
    if (media->steps == NULL || media->counts == NULL)
        return false;
    media->low = INFINITY;
    media->high = -INFINITY;
    for (uint32_t i = 0; i < read->count; i++) {
        for (uint64_t k = 0; k < read->items[i].count; k++) {
            double value = (double)read->items[i].values[k];
            if (!isfinite(value)) {
                media->not_finite++;
                continue;
            }
            media->low = fmin(media->low, value);
            media->high = fmax(media->high, value);
        }
    }
    double span = media->high - media->low;
    for (uint32_t i = 0; i < read->count; i++) {
        media->steps[i] = read->items[i].step;
        for (uint64_t k = 0; k < read->items[i].count; k++) {
            double value = (double)read->items[i].values[k];
            if (!isfinite(value))
                continue;
            double bin = span > 0.0 ? floor((value - media->low) / span * RUNS_BINS) : 0.0;
            media->counts[i * RUNS_BINS + (bin < RUNS_BINS - 1 ? (uint32_t)bin : RUNS_BINS - 1)]++;
        }
    }
    media->step_count = read->count;
    media->rows = read->rows;
    return true;
}

static bool read_images(MetricsReader *reader, RunsMedia *media, int64_t wanted_seq)
{
    if (!metrics_read_image_list(reader, media->run, media->tag, &media->list))
        return false;
    if (media->list.count == 0)
        return true;
    int64_t seq = media->list.items[media->list.count - 1].seq;
    for (uint32_t i = 0; i < media->list.count; i++) {
        if (media->list.items[i].seq == wanted_seq)
            seq = wanted_seq;
    }
    return metrics_read_image(reader, media->run, seq, &media->image);
}

/* What is no line end, tab or text in it becomes a blank: it is drawn as it is. */
static void flatten(MetricsTexts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        char *bytes = (char *)(uintptr_t)texts->items[i].value;
        for (uint64_t k = 0; bytes != NULL && k < texts->items[i].value_bytes; k++) {
            unsigned char byte = (unsigned char)bytes[k];
            if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
                bytes[k] = ' ';
        }
    }
}

static bool read_texts(MetricsReader *reader, RunsMedia *media, int64_t wanted_seq)
{
    if (!metrics_read_text_list(reader, media->run, media->tag, &media->text_list))
        return false;
    if (media->text_list.count == 0)
        return true;
    int64_t seq = media->text_list.items[media->text_list.count - 1].seq;
    for (uint32_t i = 0; i < media->text_list.count; i++) {
        if (media->text_list.items[i].seq == wanted_seq)
            seq = wanted_seq;
    }
    bool ok = metrics_read_text(reader, media->run, seq, RUNS_TEXT_CHARACTERS, &media->text);
    flatten(&media->text);
    return ok;
}

RunsMedia *runs_media_read(MetricsReader *reader, uint64_t run, const char *tag, MetricsKind kind,
                           int64_t wanted_seq)
{
    RunsMedia *media = calloc(1, sizeof *media);
    if (media == NULL)
        return NULL;
    media->references = 1;
    media->run = run;
    media->kind = kind;
    media->tag = strdup(tag);
    bool ok = media->tag != NULL;
    if (ok && kind == METRICS_KIND_HISTOGRAM) {
        MetricsHistograms read;
        ok = metrics_read_histograms(reader, run, tag, INT64_MIN, INT64_MAX, RUNS_HISTOGRAM_STEPS,
                                     &read) &&
             count_values(media, &read);
        metrics_histograms_free(&read);
    } else if (ok && kind == METRICS_KIND_TEXT) {
        ok = read_texts(reader, media, wanted_seq);
    } else if (ok) {
        ok = read_images(reader, media, wanted_seq);
    }
    if (!ok)
        runs_media_drop(&media);
    return media;
}

void runs_media_drop(RunsMedia **media)
{
    RunsMedia *dropped = *media;
    *media = NULL;
    if (dropped == NULL || atomic_fetch_sub(&dropped->references, 1) > 1)
        return;
    metrics_images_free(&dropped->list);
    metrics_images_free(&dropped->image);
    metrics_texts_free(&dropped->text_list);
    metrics_texts_free(&dropped->text);
    free(dropped->steps);
    free(dropped->counts);
    free(dropped->tag);
    free(dropped);
}

void runs_snapshot_free(RunsSnapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    runs_catalog_drop(&snapshot->catalog);
    for (uint32_t i = 0; i < snapshot->chart_count; i++)
        runs_chart_drop(&snapshot->charts[i]);
    runs_media_drop(&snapshot->media);
    free(snapshot);
}
