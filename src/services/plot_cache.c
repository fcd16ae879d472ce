/* services/plot_cache.c: see plot_cache.h. */
#include "services/plot_cache.h"

#include <stdlib.h>
#include <string.h>

PlotCounters plot_counters;

static PlotCacheEntry **entries;
static size_t entry_count, entry_capacity;
static uint64_t frame_number;
static int64_t budget = PLOT_INDEX_PER_FRAME;

static void forget(PlotCacheEntry *entry)
{
    plot_index_destroy(&entry->index);
    plot_index_destroy(&entry->index2);
    free(entry->counts);
    entry->counts = NULL;
    entry->counted = 0;
}

void plot_cache_frame(void)
{
    frame_number++;
    budget = PLOT_INDEX_PER_FRAME;
    for (size_t i = 0; i < entry_count;) {
        if (frame_number - entries[i]->frame <= PLOT_CACHE_FRAMES) {
            i++;
            continue;
        }
        forget(entries[i]);
        free(entries[i]);
        entries[i] = entries[--entry_count];
    }
    plot_counters.entries = entry_count;
}

void plot_cache_clear(void)
{
    for (size_t i = 0; i < entry_count; i++) {
        forget(entries[i]);
        free(entries[i]);
    }
    free(entries);
    entries = NULL;
    entry_count = entry_capacity = 0;
    plot_counters.entries = 0;
}

/* Whether what was indexed is the beginning of this data. */
static bool continues(const PlotCacheEntry *entry, const PlotData *data, bool positive_only)
{
    const PlotData *seen = &entry->seen;
    return seen->revision == data->revision && entry->positive_only == positive_only &&
           memcmp(seen->columns, data->columns, sizeof seen->columns) == 0 &&
           memcmp(seen->types, data->types, sizeof seen->types) == 0 &&
           memcmp(seen->strides, data->strides, sizeof seen->strides) == 0 &&
           seen->count <= data->count;
}

static PlotCacheEntry *add(uint64_t key)
{
    if (entry_count == entry_capacity) {
        size_t wanted = entry_capacity == 0 ? 32 : entry_capacity * 2;
        PlotCacheEntry **bigger = realloc(entries, wanted * sizeof *bigger);
        if (bigger == NULL)
            return NULL;
        entries = bigger;
        entry_capacity = wanted;
    }
    PlotCacheEntry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->key = key;
    entries[entry_count++] = entry;
    plot_counters.entries = entry_count;
    return entry;
}

PlotCacheEntry *plot_cache_get(uint64_t key, const PlotData *data, bool positive_only)
{
    if (data->revision == 0 || data->count == 0)
        return NULL;
    PlotCacheEntry *entry = NULL;
    for (size_t i = 0; i < entry_count && entry == NULL; i++) {
        if (entries[i]->key == key)
            entry = entries[i];
    }
    if (entry == NULL)
        entry = add(key);
    if (entry == NULL)
        return NULL;
    if (!continues(entry, data, positive_only))
        forget(entry);
    entry->seen = *data;
    entry->positive_only = positive_only;
    entry->frame = frame_number;
    return entry;
}

static bool extend(PlotIndex **index, const PlotIndexParams *params, const PlotData *data)
{
    int64_t before = budget;
    if (*index == NULL)
        *index = plot_index_create(params);
    if (*index == NULL || !plot_index_extend(*index, data, &budget))
        return false;
    plot_counters.indexed += (uint64_t)(before - budget);
    return true;
}

int64_t plot_cache_index(PlotCacheEntry *entry, const PlotData *data, bool with_y2)
{
    PlotIndexParams params = {PLOT_COLUMN_Y, entry->positive_only, true};
    PlotIndexParams params2 = {PLOT_COLUMN_Y2, entry->positive_only, false};
    if (!extend(&entry->index, &params, data) ||
        (with_y2 && !extend(&entry->index2, &params2, data))) {
        forget(entry);
        return 0;
    }
    int64_t known = plot_index_known(entry->index);
    if (with_y2 && plot_index_known(entry->index2) < known)
        known = plot_index_known(entry->index2);
    if (known < data->count && data->first != 0) /* a ring's order is known when all of it is */
        return 0;
    return known;
}

const int64_t *plot_cache_bins(PlotCacheEntry *entry, const PlotData *data, int32_t bins, double lo,
                               double hi, PlotBins *out)
{
    /* Bytes are compared, so that NaN equals NaN. */
    if (entry->counts != NULL && entry->counted == data->count && entry->bins_wanted == bins &&
        memcmp(&entry->lo_wanted, &lo, sizeof lo) == 0 &&
        memcmp(&entry->hi_wanted, &hi, sizeof hi) == 0) {
        *out = entry->bins;
        return entry->counts;
    }
    PlotBins chosen = plot_bins_choose(data, bins, lo, hi);
    int64_t *counts = realloc(entry->counts, (size_t)chosen.count * sizeof *counts);
    if (counts == NULL)
        return NULL;
    entry->counts = counts;
    plot_bins_count(&chosen, data, counts);
    plot_counters.read += (uint64_t)data->count;
    entry->bins = chosen;
    entry->bins_wanted = bins;
    entry->lo_wanted = lo;
    entry->hi_wanted = hi;
    entry->counted = data->count;
    *out = chosen;
    return counts;
}
