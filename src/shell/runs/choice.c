/* Which runs are there, found, chosen and put away. Frame thread. */
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "shell/runs/run_text.h"
#include "shell/runs/runs_impl.h"

enum { FIRST_CHOICE = 10 };

/* ---- Chosen ---- */

static uint32_t place_of(const Runs *runs, uint64_t run)
{
    uint32_t low = 0, high = runs->chosen_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs->chosen[middle] < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool runs_is_chosen(const Runs *runs, uint64_t run)
{
    uint32_t place = place_of(runs, run);
    return place < runs->chosen_count && runs->chosen[place] == run;
}

static bool has_room(Runs *runs, uint32_t count)
{
    if (count <= runs->chosen_capacity)
        return true;
    uint32_t capacity = count + count / 2 + 64;
    uint64_t *chosen = realloc(runs->chosen, capacity * sizeof *chosen);
    if (chosen == NULL) {
        log_item(OUT_OF_MEMORY, "runs_choose", (unsigned long long)capacity * sizeof *chosen);
        return false;
    }
    runs->chosen = chosen;
    runs->chosen_capacity = capacity;
    return true;
}

void runs_choose(Runs *runs, uint64_t run, bool on)
{
    uint32_t place = place_of(runs, run);
    bool is_on = place < runs->chosen_count && runs->chosen[place] == run;
    if (is_on == on || (on && !has_room(runs, runs->chosen_count + 1)))
        return;
    uint64_t *at = &runs->chosen[place];
    size_t behind = (runs->chosen_count - place) * sizeof *at;
    if (on) {
        memmove(at + 1, at, behind);
        *at = run;
        runs->chosen_count++;
    } else {
        memmove(at, at + 1, behind - sizeof *at);
        runs->chosen_count--;
    }
}

void runs_choose_only(Runs *runs, uint64_t run)
{
    runs->chosen_count = 0;
    runs_choose(runs, run, true);
}

void runs_choose_rows(Runs *runs, bool on)
{
    if (runs->catalog == NULL)
        return;
    if (!on) {
        runs->chosen_count = 0;
        return;
    }
    for (uint32_t i = 0; i < runs->row_count; i++)
        runs_choose(runs, runs->catalog->runs.items[runs->rows[i]].id, true);
}

uint64_t runs_chosen_hash(const Runs *runs)
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a, by whole numbers */
    for (uint32_t i = 0; i < runs->chosen_count; i++)
        hash = (hash ^ runs->chosen[i]) * 1099511628211u;
    return hash;
}

/* ---- Found ---- */

static const Runs *sorting; /* qsort has no argument of ours; frame thread */

static int64_t duration(const RunsCatalog *catalog, const MetricsRunInfo *run)
{
    return (run->ended_us > 0 ? run->ended_us : catalog->read_us) - run->started_us;
}

static int by_column(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const RunsCatalog *catalog = sorting->catalog;
    const MetricsRunInfo *one = &catalog->runs.items[x], *other = &catalog->runs.items[y];
    int order = 0;
    if (sorting->sort_column == 1)
        order = strcmp(sorting->labels[x], sorting->labels[y]);
    else if (sorting->sort_column == 2)
        order = (int)one->state - (int)other->state;
    else if (sorting->sort_column == 3)
        order = (duration(catalog, one) > duration(catalog, other)) -
                (duration(catalog, one) < duration(catalog, other));
    if (sorting->sort_down)
        order = -order;
    return order != 0 ? order : (x < y) - (x > y); /* else the newest first */
}

void runs_find_rows(Runs *runs)
{
    runs->rows_stale = false;
    runs->row_count = 0;
    for (uint32_t i = 0; runs->catalog != NULL && i < runs->named_count; i++) {
        const MetricsRunInfo *run = &runs->catalog->runs.items[i];
        char text[RUNS_LABEL_BYTES + RUNS_TEXT_BYTES];
        static const char *const words[] = {"running", "done", "interrupted"};
        size_t length = strlen(runs->labels[i]);
        memcpy(text, runs->labels[i], length);
        text[length] = ' ';
        strcpy(text + length + 1, words[run->state]);
        if (!run->deleted &&
            (run_text_matches(text, runs->search) ||
             (runs->search[0] != '\0' && run_text_matches(run->note, runs->search))))
            runs->rows[runs->row_count++] = i;
    }
    sorting = runs;
    if (runs->row_count > 1)
        qsort(runs->rows, runs->row_count, sizeof runs->rows[0], by_column);
}

void runs_move_cursor(Runs *runs, int step)
{
    if (runs->row_count == 0)
        return;
    int32_t at = step > 0 ? -1 : (int32_t)runs->row_count;
    for (uint32_t i = 0; i < runs->row_count; i++) {
        if (runs->catalog->runs.items[runs->rows[i]].id == runs->cursor)
            at = (int32_t)i;
    }
    at += step;
    if (at >= 0 && at < (int32_t)runs->row_count)
        runs->cursor = runs->catalog->runs.items[runs->rows[at]].id;
    runs->cursor_moved = true;
}

/* ---- A new catalog ---- */

static bool has_names(Runs *runs, uint32_t count)
{
    char(*labels)[RUNS_LABEL_BYTES] = realloc(runs->labels, (count + 1) * sizeof *labels);
    if (labels != NULL)
        runs->labels = labels;
    uint32_t *colors = realloc(runs->colors, (count + 1) * sizeof *colors);
    if (colors != NULL)
        runs->colors = colors;
    uint64_t *ids = realloc(runs->ids, (count + 1) * sizeof *ids);
    if (ids != NULL)
        runs->ids = ids;
    uint32_t *rows = realloc(runs->rows, (count + 1) * sizeof *rows);
    if (rows != NULL)
        runs->rows = rows;
    if (labels != NULL && colors != NULL && ids != NULL && rows != NULL)
        return true;
    log_item(OUT_OF_MEMORY, "runs_take_catalog", (unsigned long long)count * sizeof *labels);
    return false;
}

static void choose_first(Runs *runs)
{
    const MetricsRuns *all = &runs->catalog->runs;
    uint32_t left = FIRST_CHOICE;
    for (uint32_t i = all->count; i > 0 && left > 0; i--) {
        if (all->items[i - 1].deleted)
            continue;
        runs_choose(runs, all->items[i - 1].id, true);
        left--;
        if (runs->cursor == 0)
            runs->cursor = all->items[i - 1].id;
    }
    runs->has_chosen = true;
}

void runs_color(Runs *runs)
{
    uint32_t theme[10];
    for (uint32_t i = 0; i < 10; i++)
        theme[i] = ui_theme_color(CALIPER_THEME_SERIES + i);
    if (runs->colored == runs->named_count && theme[0] == runs->colored_as)
        return;
    for (uint32_t i = 0; i < runs->named_count; i++)
        runs->colors[i] = run_text_color(runs->catalog->runs.items[i].id, theme);
    runs->colored = runs->named_count;
    runs->colored_as = theme[0];
}

void runs_take_catalog(Runs *runs)
{
    const RunsCatalog *catalog = runs->catalog;
    uint32_t count = catalog->runs.count;
    runs->named_count = 0;
    if (!has_names(runs, count))
        return;
    bool one = count > 0; /* what all share says nothing */
    for (uint32_t i = 1; i < count; i++)
        one &= strcmp(catalog->runs.items[i].experiment, catalog->runs.items[0].experiment) == 0;
    for (uint32_t i = 0; i < count; i++) {
        const MetricsRunInfo *run = &catalog->runs.items[i];
        run_text_label(one && run->name[0] != '\0' ? "" : run->experiment, run->name, run->id,
                       catalog->twins[i], runs->labels[i], sizeof runs->labels[i]);
        runs->ids[i] = run->id;
    }
    runs->named_count = count;
    runs->colored = UINT32_MAX;
    if (!runs->has_chosen && count > 0)
        choose_first(runs);
    for (uint32_t i = count; i > 0 && catalog->runs.items[i - 1].id > runs->newest_run; i--) {
        if (runs->newest_run > 0 && !catalog->runs.items[i - 1].deleted)
            runs_choose(runs, catalog->runs.items[i - 1].id, true);
    }
    if (count > 0)
        runs->newest_run = catalog->runs.items[count - 1].id;
    for (uint32_t i = runs->chosen_count; i > 0; i--) { /* what was put away is not shown */
        int32_t at = runs_catalog_find(catalog, runs->chosen[i - 1]);
        if (at < 0 || catalog->runs.items[at].deleted)
            runs_choose(runs, runs->chosen[i - 1], false);
    }
    for (uint32_t i = 0; i < runs->restored_count;) {
        int32_t at = runs_catalog_find(catalog, runs->restored[i]);
        if (at >= 0 && catalog->runs.items[at].deleted) {
            i++;
            continue;
        }
        if (at >= 0)
            runs_choose(runs, runs->restored[i], true);
        runs->restored[i] = runs->restored[--runs->restored_count];
    }
    runs->rows_stale = true;
}

/* ---- Putting away ---- */

static bool command(Runs *runs, uint64_t run, bool deleted)
{
    RunsCommand *made = calloc(1, sizeof *made + 1);
    if (made == NULL)
        return false;
    made->run = run;
    made->deleted = deleted;
    runs_reader_command(runs->reader, made);
    return true;
}

uint32_t runs_chosen_found(const Runs *runs, uint32_t *out_hidden)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < runs->row_count; i++)
        found += runs_is_chosen(runs, runs->catalog->runs.items[runs->rows[i]].id);
    *out_hidden = runs->chosen_count - found;
    return found;
}

bool runs_find_tags(Runs *runs, uint64_t run)
{
    const MetricsTags *tags = &runs->catalog->tags;
    if (runs->run_tags_run == run && runs->run_tags_catalog == runs->catalog->number)
        return true;
    uint32_t *own = realloc(runs->run_tags, (tags->count + 1) * sizeof *own);
    if (own == NULL)
        return false;
    runs->run_tags = own;
    runs->run_tags_count = 0;
    for (uint32_t i = 0; i < tags->count; i++) {
        if (tags->items[i].run == run)
            own[runs->run_tags_count++] = i;
    }
    runs->run_tags_run = run;
    runs->run_tags_catalog = runs->catalog->number;
    return true;
}

/* Room for `more` of them behind those there are. */
static bool grow(void **array, uint32_t *capacity, uint32_t count, uint32_t more, size_t item_bytes)
{
    if (more <= *capacity - count)
        return true;
    void *grown = realloc(*array, (size_t)(count + more) * item_bytes);
    if (grown == NULL) {
        log_item(OUT_OF_MEMORY, "runs_delete", (unsigned long long)(count + more) * item_bytes);
        return false;
    }
    *array = grown;
    *capacity = count + more;
    return true;
}

void runs_delete_chosen(Runs *runs)
{
    uint32_t group = runs->deleted_count > 0 ? runs->deleted[runs->deleted_count - 1].group + 1 : 1;
    if (runs->snapshot == NULL || !runs->snapshot->owner || runs->catalog == NULL ||
        !grow((void **)&runs->deleted, &runs->deleted_capacity, runs->deleted_count,
              runs->row_count, sizeof *runs->deleted))
        return;
    for (uint32_t i = 0; i < runs->row_count; i++) {
        uint64_t run = runs->catalog->runs.items[runs->rows[i]].id;
        if (!runs_is_chosen(runs, run) || !command(runs, run, true))
            continue;
        runs->deleted[runs->deleted_count++] = (RunsPutAway){.run = run, .group = group};
        runs_choose(runs, run, false);
    }
}

uint32_t runs_undo_count(const Runs *runs)
{
    uint32_t count = 0;
    while (count < runs->deleted_count && runs->deleted[runs->deleted_count - 1 - count].group ==
                                              runs->deleted[runs->deleted_count - 1].group)
        count++;
    return count;
}

void runs_undo(Runs *runs)
{
    uint32_t count = runs_undo_count(runs);
    if (count == 0 || !grow((void **)&runs->restored, &runs->restored_capacity,
                            runs->restored_count, count, sizeof *runs->restored))
        return;
    for (; count > 0; count--) {
        uint64_t run = runs->deleted[runs->deleted_count - 1].run;
        if (!command(runs, run, false))
            return;
        /* They come back chosen, once the store has them back. */
        runs->restored[runs->restored_count++] = run;
        runs->deleted_count--;
    }
}
