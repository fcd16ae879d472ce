/* services/plot_index.c: see plot_index.h. */
#include "services/plot_index.h"

#include <math.h>
#include <stdlib.h>

typedef struct Level {
    PlotRange *ranges;
    int64_t count, capacity;
} Level;

struct PlotIndex {
    PlotIndexParams params;
    int64_t known;
    int64_t dropped, tail_dropped; /* in full blocks; in the last, partial one */
    Level levels[PLOT_LEVELS_MAX]; /* 0: of blocks */
    int level_count;
    PlotRange x;
    double last_x;
    int64_t descents, descent_place; /* where x fell, or was not finite */
    bool x_not_finite;
};

PlotIndex *plot_index_create(const PlotIndexParams *params)
{
    PlotIndex *index = calloc(1, sizeof *index);
    if (index == NULL)
        return NULL;
    index->params = *params;
    index->x = plot_range_empty();
    return index;
}

void plot_index_destroy(PlotIndex **index)
{
    if (index == NULL || *index == NULL)
        return;
    for (int level = 0; level < PLOT_LEVELS_MAX; level++)
        free((*index)->levels[level].ranges);
    free(*index);
    *index = NULL;
}

static bool reserve(Level *level, int64_t count)
{
    if (count <= level->capacity)
        return true;
    int64_t wanted = count + count / 2 + 64;
    PlotRange *bigger = realloc(level->ranges, (size_t)wanted * sizeof *bigger);
    if (bigger == NULL)
        return false;
    level->ranges = bigger;
    level->capacity = wanted;
    return true;
}

static int64_t divide_up(int64_t value, int64_t by)
{
    return (value + by - 1) / by;
}

static bool reserve_levels(PlotIndex *index, int64_t known)
{
    int64_t count = divide_up(known, PLOT_BLOCK);
    for (int level = 0; level < PLOT_LEVELS_MAX; level++) {
        if (!reserve(&index->levels[level], count))
            return false;
        if (count <= 1)
            return true;
        count = divide_up(count, PLOT_FANOUT);
    }
    return true;
}

static void scan_x(PlotIndex *index, const PlotData *data, int64_t from, int64_t to)
{
    for (int64_t place = from; place < to; place++) {
        double x = plot_data_at(data, PLOT_COLUMN_X, place);
        plot_range_add(&index->x, false, x);
        index->x_not_finite |= !isfinite(x);
        if (place > 0 && !(x >= index->last_x)) {
            index->descents++;
            index->descent_place = place;
        }
        index->last_x = x;
    }
}

/* Blocks from `first_block` on, up to `known` elements. */
static void fill_blocks(PlotIndex *index, const PlotData *data, int64_t first_block, int64_t known)
{
    Level *blocks = &index->levels[0];
    blocks->count = divide_up(known, PLOT_BLOCK);
    index->tail_dropped = 0;
    for (int64_t block = first_block; block < blocks->count; block++) {
        int64_t from = block * PLOT_BLOCK;
        int64_t to = from + PLOT_BLOCK < known ? from + PLOT_BLOCK : known;
        PlotScan scan =
            plot_scan(data, index->params.column, from, to, index->params.positive_only);
        blocks->ranges[block] = scan.range;
        if (to - from == PLOT_BLOCK)
            index->dropped += scan.dropped;
        else
            index->tail_dropped = scan.dropped;
    }
}

static void fill_above(PlotIndex *index, int64_t first_changed)
{
    int level = 0;
    while (index->levels[level].count > 1 && level + 1 < PLOT_LEVELS_MAX) {
        const Level *below = &index->levels[level];
        Level *above = &index->levels[level + 1];
        above->count = divide_up(below->count, PLOT_FANOUT);
        first_changed /= PLOT_FANOUT;
        for (int64_t node = first_changed; node < above->count; node++) {
            PlotRange range = plot_range_empty();
            int64_t end = node * PLOT_FANOUT + PLOT_FANOUT;
            for (int64_t child = node * PLOT_FANOUT; child < end && child < below->count; child++)
                range = plot_range_union(range, below->ranges[child]);
            above->ranges[node] = range;
        }
        level++;
    }
    index->level_count = level + 1;
}

bool plot_index_extend(PlotIndex *index, const PlotData *data, int64_t *budget)
{
    int64_t more = data->count - index->known;
    if (more > *budget)
        more = *budget;
    if (more <= 0)
        return true;
    int64_t known = index->known + more;
    if (!reserve_levels(index, known))
        return false;
    int64_t first_block = index->known / PLOT_BLOCK; /* the partial one once more */
    fill_blocks(index, data, first_block, known);
    fill_above(index, first_block);
    if (index->params.with_x && data->columns[PLOT_COLUMN_X] != NULL)
        scan_x(index, data, index->known, known);
    *budget -= more;
    index->known = known;
    return true;
}

int64_t plot_index_known(const PlotIndex *index)
{
    return index->known;
}

int64_t plot_index_dropped(const PlotIndex *index)
{
    return index->dropped + index->tail_dropped;
}

PlotRange plot_index_whole(const PlotIndex *index)
{
    return index->known > 0 ? index->levels[index->level_count - 1].ranges[0] : plot_range_empty();
}

PlotRange plot_index_x(const PlotIndex *index)
{
    return index->x;
}

bool plot_index_x_ascends(const PlotIndex *index, const PlotData *data)
{
    if (data->columns[PLOT_COLUMN_X] == NULL)
        return true;
    if (index->x_not_finite || index->known < data->count)
        return !index->x_not_finite && index->descents == 0 && data->first == 0;
    if (index->descents == 0)
        return data->first == 0 || plot_data_at(data, PLOT_COLUMN_X, 0) ==
                                       plot_data_at(data, PLOT_COLUMN_X, data->count - 1);
    /* A ring: x falls once, where the first element lies. */
    return index->descents == 1 && index->descent_place == data->first &&
           plot_data_at(data, PLOT_COLUMN_X, data->count - 1) <=
               plot_data_at(data, PLOT_COLUMN_X, 0);
}

/* Nodes from..to-1 of a level, by the fewest nodes of it and those above. */
static PlotRange range_of_nodes(const PlotIndex *index, int level, int64_t from, int64_t to)
{
    PlotRange range = plot_range_empty();
    while (from < to) {
        const PlotRange *nodes = index->levels[level].ranges;
        if (level + 1 >= index->level_count || to - from < PLOT_FANOUT) {
            for (; from < to; from++)
                range = plot_range_union(range, nodes[from]);
            return range;
        }
        for (; from % PLOT_FANOUT != 0 && from < to; from++)
            range = plot_range_union(range, nodes[from]);
        for (; to % PLOT_FANOUT != 0 && from < to; to--)
            range = plot_range_union(range, nodes[to - 1]);
        from /= PLOT_FANOUT;
        to /= PLOT_FANOUT;
        level++;
    }
    return range;
}

PlotRange plot_index_range(const PlotIndex *index, const PlotData *data, int64_t from, int64_t to,
                           uint64_t *samples_read)
{
    PlotColumn column = index->params.column;
    bool positive_only = index->params.positive_only;
    int64_t first_block = divide_up(from, PLOT_BLOCK), end_block = to / PLOT_BLOCK;
    if (first_block >= end_block) { /* inside one block, or about one edge between two */
        *samples_read += (uint64_t)(to > from ? to - from : 0);
        return to > from ? plot_scan(data, column, from, to, positive_only).range
                         : plot_range_empty();
    }
    PlotRange range = range_of_nodes(index, 0, first_block, end_block);
    int64_t head_end = first_block * PLOT_BLOCK, tail_from = end_block * PLOT_BLOCK;
    if (from < head_end)
        range =
            plot_range_union(range, plot_scan(data, column, from, head_end, positive_only).range);
    if (tail_from < to)
        range =
            plot_range_union(range, plot_scan(data, column, tail_from, to, positive_only).range);
    *samples_read += (uint64_t)(head_end - from + to - tail_from);
    return range;
}
