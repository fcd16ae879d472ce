/* The artifacts of the run under the cursor, or of all, and from each of them back to its run.
 * Frame thread; what is read is read by lineage.h's worker and jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "shell/runs/lineage.h"
#include "shell/runs/run_text.h"
#include "shell/runs/runs_impl.h"
#include "shell/runs/state_text.h"

enum { CHECKS_MAX = 16, ASK_AGAIN_MS = 1000, SETTLE_MS = 20000, ORIGINS_SHOWN = 64 };

struct RunsArtifacts {
    RunsWorker *worker;
    const Lineage *lineage; /* the newest; NULL: none yet */
    LineageQuestion asked;
    int64_t asked_ms; /* 0: never */
    bool all;         /* of all runs */
    size_t chosen;    /* the put's place in the list, from 1; 0: none */
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    bool chosen_moved;                /* by key: bring it into sight */
    LineageCheck *checks[CHECKS_MAX]; /* the newest first */
    uint32_t check_count;
    LineageShow *show;
};

void runs_artifacts_destroy(RunsArtifacts **address)
{
    RunsArtifacts *page = *address;
    *address = NULL;
    if (page == NULL)
        return;
    for (uint32_t i = 0; i < page->check_count; i++)
        lineage_check_drop(&page->checks[i]);
    lineage_show_drop(&page->show);
    runs_worker_destroy(&page->worker);
    free(page);
}

/* Made when it is first looked at. */
static RunsArtifacts *page_of(Runs *runs)
{
    RunsArtifacts *page = runs->artifacts;
    if (page != NULL || runs->no_artifacts)
        return page;
    page = calloc(1, sizeof *page);
    if (page == NULL)
        log_item(OUT_OF_MEMORY, "runs_artifacts", (unsigned long long)sizeof *page);
    else
        page->worker = lineage_worker_create();
    if (page != NULL && page->worker == NULL)
        runs_artifacts_destroy(&page);
    runs->no_artifacts = page == NULL; /* one line is enough */
    runs->artifacts = page;
    return page;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* When something else is wanted, and from time to time: other processes put too. */
static void ask(Runs *runs, RunsArtifacts *page)
{
    LineageQuestion wanted = {.run = runs->cursor, .all = page->all};
    memcpy(wanted.digest, page->digest, sizeof wanted.digest);
    bool same = page->asked_ms != 0 && wanted.run == page->asked.run &&
                wanted.all == page->asked.all && strcmp(wanted.digest, page->asked.digest) == 0;
    int64_t now = now_ms();
    if (same && (now - page->asked_ms < ASK_AGAIN_MS || runs_worker_is_busy(page->worker)))
        return;
    LineageQuestion *question = malloc(sizeof *question);
    if (question == NULL)
        return; /* the next frame tries again */
    *question = wanted;
    page->asked = wanted;
    page->asked_ms = now;
    runs_worker_ask(page->worker, question);
}

void runs_artifacts_settle(Runs *runs)
{
    RunsArtifacts *page = runs->artifacts;
    if (page == NULL)
        return;
    (void)runs_worker_settle(page->worker, SETTLE_MS);
    for (uint32_t waited_ms = 0; waited_ms < SETTLE_MS; waited_ms++) {
        bool busy = page->show != NULL && lineage_show_words(page->show) == NULL;
        for (uint32_t i = 0; i < page->check_count; i++)
            busy |= !lineage_check_is_done(page->checks[i]);
        if (!busy)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* ---- Choosing ---- */

static size_t place_of(const Lineage *lineage, const LineageRow *row)
{
    return (size_t)(row->put - lineage->list.rows) + 1;
}

static void choose(RunsArtifacts *page, const LineageRow *row)
{
    page->chosen = place_of(page->lineage, row);
    memcpy(page->digest, row->put->digest, sizeof page->digest);
}

/* The chosen row's place among those that are shown; the first when it is not among them. */
static uint32_t chosen_row(RunsArtifacts *page)
{
    const Lineage *lineage = page->lineage;
    for (uint32_t i = 0; i < lineage->count; i++) {
        if (place_of(lineage, &lineage->rows[i]) == page->chosen)
            return i;
    }
    if (lineage->count > 0)
        choose(page, &lineage->rows[0]);
    return 0;
}

static void move(RunsArtifacts *page, uint32_t at, int step)
{
    const Lineage *lineage = page->lineage;
    if ((step < 0 && at == 0) || (step > 0 && at + 1 >= lineage->count))
        return;
    choose(page, &lineage->rows[(int64_t)at + step]);
    page->chosen_moved = true;
}

/* Back from an artifact to the run that put it. */
static void go_to_run(Runs *runs, uint64_t run)
{
    int32_t at = runs_catalog_find(runs->catalog, run);
    if (run == 0) {
        snprintf(runs->told, sizeof runs->told, "It was put for no run");
    } else if (at < 0 || runs->catalog->runs.items[at].deleted) {
        snprintf(runs->told, sizeof runs->told, "Run %llu is not here%s", (unsigned long long)run,
                 at < 0 ? "" : ": it was deleted");
    } else {
        runs->cursor = run;
        runs->cursor_moved = true;
        runs->page = RUNS_ACTION_ABOUT;
        runs->turn_page = true;
        runs->told[0] = '\0';
    }
}

/* ---- Verdicts ---- */

/* What is known of a put, in words and in a colour. */
static const char *state_of(const RunsArtifacts *page, const LineageRow *row, uint32_t *out_color)
{
    static const char *const words[] = {"checking", "whole", "missing", "damaged", "not checked"};
    static const uint32_t colors[] = {CALIPER_THEME_ACCENT, CALIPER_THEME_GOOD, CALIPER_THEME_BAD,
                                      CALIPER_THEME_BAD, CALIPER_THEME_WARN};
    LineageVerdict verdict;
    for (uint32_t i = 0; i < page->check_count; i++) {
        if (lineage_check_of(page->checks[i], row->put->digest, &verdict)) {
            *out_color = colors[verdict];
            return words[verdict];
        }
    }
    *out_color = row->there ? CALIPER_THEME_TEXT_DIM : CALIPER_THEME_BAD;
    return row->there ? "there" : "missing";
}

static void start_check(RunsArtifacts *page, const LineageRow *rows, uint32_t count)
{
    LineageCheck *check = count > 0 ? lineage_check_start(rows, count) : NULL;
    if (check == NULL)
        return;
    if (page->check_count == CHECKS_MAX)
        lineage_check_drop(&page->checks[--page->check_count]);
    memmove(page->checks + 1, page->checks, page->check_count * sizeof page->checks[0]);
    page->checks[0] = check;
    page->check_count++;
}

static void draw_check(const RunsArtifacts *page)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[128];
    uint32_t counts[5];
    if (page->check_count == 0)
        return;
    const LineageCheck *check = page->checks[0];
    if (!lineage_check_is_done(check)) {
        ui->same_line(0, 12);
        ui->progress((double)lineage_check_progress(check), NULL, 160, 0);
        return;
    }
    lineage_check_count(check, counts);
    int length = snprintf(text, sizeof text, "%u whole", counts[LINEAGE_VERDICT_WHOLE]);
    static const char *const names[] = {"", "", "missing", "damaged", "cancelled"};
    bool good = true;
    for (int i = LINEAGE_VERDICT_MISSING; i <= LINEAGE_VERDICT_CANCELLED; i++) {
        if (counts[i] == 0)
            continue;
        good = false;
        length +=
            snprintf(text + length, sizeof text - (size_t)length, ", %u %s", counts[i], names[i]);
    }
    ui->same_line(0, 12);
    ui->text_ex(text, -1, ui->color(good ? CALIPER_THEME_GOOD : CALIPER_THEME_BAD), 0);
}

/* ---- The bar ---- */

static bool does(Runs *runs, RunsAction action, const char *label)
{
    bool pressed = runs_button(runs, action, label, false);
    return runs_key(runs, action) || pressed;
}

static void draw_bar(Runs *runs, RunsArtifacts *page, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const Lineage *lineage = page->lineage;
    const LineageRow *row = at < lineage->count ? &lineage->rows[at] : NULL;
    if (runs_key(runs, RUNS_ACTION_ARTIFACTS_ALL))
        page->all = !page->all;
    (void)runs_box(runs, RUNS_ACTION_ARTIFACTS_ALL, "of all runs", &page->all);
    ui->same_line(0, 16);
    ui->disabled(row == NULL);
    if (does(runs, RUNS_ACTION_VERIFY, "Verify") && row != NULL)
        start_check(page, row, 1);
    ui->same_line(0, 4);
    if (does(runs, RUNS_ACTION_VERIFY_ALL, "Verify all"))
        start_check(page, lineage->rows, lineage->count);
    ui->same_line(0, 12);
    if (does(runs, RUNS_ACTION_SHOW_FOLDER, "Show in folder") && row != NULL) {
        lineage_show_drop(&page->show);
        page->show = lineage_show_start(row->put->digest);
    }
    ui->same_line(0, 4);
    if (does(runs, RUNS_ACTION_ARTIFACT_RUN, "Its run") && row != NULL)
        go_to_run(runs, row->put->run);
    ui->end(CALIPER_SCOPE_DISABLED);
    draw_check(page);
    const char *words = page->show != NULL ? lineage_show_words(page->show) : NULL;
    if (words != NULL)
        ui->text_ex(words, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
    if (runs_key(runs, RUNS_ACTION_ARTIFACT_BACK))
        move(page, at, -1);
    if (runs_key(runs, RUNS_ACTION_ARTIFACT_ON))
        move(page, at, 1);
}

/* ---- The table ---- */

static const char *label_of(const Runs *runs, uint64_t run, char *text, size_t text_bytes)
{
    int32_t at = runs_catalog_find(runs->catalog, run);
    if (at >= 0 && (uint32_t)at < runs->named_count)
        return runs->labels[at];
    if (run == 0)
        return "no run";
    snprintf(text, text_bytes, "run %llu", (unsigned long long)run);
    return text;
}

static void draw_name(Runs *runs, RunsArtifacts *page, uint32_t i, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const LineageRow *row = &page->lineage->rows[i];
    ui->next_id(1);
    if (ui->selectable(row->shown, i == at, 0, 0, CALIPER_SELECT_ALL_COLUMNS)) {
        choose(page, row);
        if (i != at)
            runs_pointed(runs, i < at ? RUNS_ACTION_ARTIFACT_BACK : RUNS_ACTION_ARTIFACT_ON);
    }
    if (i + 1 == at)
        runs_seen(runs, RUNS_ACTION_ARTIFACT_BACK);
    if (i == at + 1)
        runs_seen(runs, RUNS_ACTION_ARTIFACT_ON);
    if (i == at && page->chosen_moved) {
        ui->scroll_here(0.5f);
        page->chosen_moved = false;
    }
}

static void draw_row(Runs *runs, RunsArtifacts *page, uint32_t i, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const LineageRow *row = &page->lineage->rows[i];
    char text[64];
    uint32_t color;
    ui->table_row(0, 0);
    ui->push_id_int(place_of(page->lineage, row));
    if (ui->table_cell(0, 0))
        draw_name(runs, page, i, at);
    snprintf(text, sizeof text, "%u of %u", row->version, row->versions);
    if (ui->table_cell(1, 0))
        ui->text_ex(text, -1, row->version < row->versions ? ui->color(CALIPER_THEME_TEXT_DIM) : 0,
                    0);
    run_text_size(row->put->size_bytes, text, sizeof text);
    if (ui->table_cell(2, 0))
        ui->text_ex(text, -1, 0, CALIPER_TEXT_RIGHT);
    if (ui->table_cell(3, 0))
        ui->text_ex(row->put->digest, 12, 0, CALIPER_TEXT_MONO | CALIPER_TEXT_DIM);
    if (ui->table_cell(4, 0)) {
        const char *words = state_of(page, row, &color);
        ui->text_ex(words, -1, ui->color(color), 0);
    }
    run_text_time(row->put->created_us, text, sizeof text);
    if (ui->table_cell(5, 0))
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    if (page->all && ui->table_cell(6, 0))
        ui->text_ex(label_of(runs, row->put->run, text, sizeof text), -1, 0, CALIPER_TEXT_DIM);
    ui->end(CALIPER_SCOPE_ID);
}

static void draw_table(Runs *runs, RunsArtifacts *page, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int64_t first = 0, end = 0;
    float room = 0;
    ui->remaining(NULL, &room);
    if (ui->table(page->all ? "##all" : "##of", page->all ? 7 : 6, 0, room > 340 ? -190 : 0,
                  CALIPER_TABLE_HEADER | CALIPER_TABLE_STRIPES | CALIPER_TABLE_SCROLL |
                      CALIPER_TABLE_RESIZE)) {
        ui->table_column("Name", -2, 0);
        ui->table_column("Version", 84, 0);
        ui->table_column("Size", 88, 0);
        ui->table_column("SHA-256", 120, 0);
        ui->table_column("State", 92, 0);
        ui->table_column("Put (UTC)", 160, 0);
        if (page->all)
            ui->table_column("Run", -1, 0);
        while (ui->rows(page->lineage->count, 0, &first, &end)) {
            for (int64_t i = first; i < end; i++)
                draw_row(runs, page, (uint32_t)i, at);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}

/* ---- The chosen one ---- */

static void draw_origins(Runs *runs, const RunsArtifacts *page, const LineageRow *row)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const Lineage *lineage = page->lineage;
    char text[RUNS_LABEL_BYTES + 64], spare[32];
    if (strcmp(lineage->question.digest, row->put->digest) != 0)
        return; /* it has not come yet */
    ui->text_ex(lineage->origin_count > 1 ? "These bytes were put by" : "Put by", -1, 0,
                CALIPER_TEXT_DIM);
    for (uint32_t i = 0; i < lineage->origin_count && i < ORIGINS_SHOWN; i++) {
        const LineageRow *origin = &lineage->origins[i];
        float x = 0, w = 0, room = 0;
        ui->remaining(&room, NULL);
        ui->item_rect(&x, NULL, &w, NULL);
        if (i == 0 || x + w + 240 < room)
            ui->same_line(0, i == 0 ? 8 : 4);
        snprintf(text, sizeof text, "%s: %.32s %u", label_of(runs, origin->put->run, spare, 32),
                 origin->shown, origin->version);
        ui->push_id_int(i);
        ui->next_id(1);
        if (ui->button(text, 0, 0, CALIPER_BUTTON_SMALL)) {
            runs_pointed(runs, RUNS_ACTION_ARTIFACT_RUN);
            go_to_run(runs, origin->put->run);
        }
        ui->end(CALIPER_SCOPE_ID);
    }
}

static void draw_chosen(Runs *runs, const RunsArtifacts *page, uint32_t at)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const LineageRow *row = &page->lineage->rows[at];
    char text[64], when[32];
    ui->separator(NULL);
    if (ui->child("##chosen", 0, 0, 0)) {
        ui->text_ex(row->shown, -1, 0, CALIPER_TEXT_HEADING);
        ui->field("SHA-256", row->put->digest);
        run_text_size(row->put->size_bytes, text, sizeof text);
        int length = (int)strlen(text);
        if (row->put->size_bytes >= 1024)
            snprintf(text + length, sizeof text - (size_t)length, " (%llu bytes)",
                     (unsigned long long)row->put->size_bytes);
        ui->field("Size", text);
        run_text_time(row->put->created_us, when, sizeof when);
        snprintf(text, sizeof text, "%u of %u, put at %s UTC", row->version, row->versions, when);
        ui->field("Version", text);
        ui->space(0, 4);
        draw_origins(runs, page, row);
    }
    ui->end(CALIPER_SCOPE_CHILD);
}

static void draw_nothing(const RunsArtifacts *page)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    ui->space(0, 16);
    ui->text_ex(page->lineage->failed ? "The artifacts cannot be read: the console says why."
                : page->all           ? "Nothing was put yet."
                                      : "This run has put no artifacts.",
                -1, 0, CALIPER_TEXT_DIM);
    if (page->lineage->failed)
        return;
    ui->space(0, 8);
    ui->text_ex("An applet keeps bytes that are worth it with one line:", -1, 0, CALIPER_TEXT_DIM);
    ui->space(0, 4);
    ui->text_ex("artifacts->put(\"model\", bytes, size, run, digest);", -1,
                ui->color(CALIPER_THEME_ACCENT), CALIPER_TEXT_MONO);
}

static void draw_head(const Runs *runs, const RunsArtifacts *page)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    const Lineage *lineage = page->lineage;
    char spare[32], text[128], size[32];
    int32_t at = runs_catalog_find(runs->catalog, runs->cursor);
    bool known = !page->all && at >= 0 && (uint32_t)at < runs->named_count;
    ui->text_ex(page->all ? "All artifacts" : label_of(runs, runs->cursor, spare, sizeof spare), -1,
                known ? runs->colors[at] : 0, CALIPER_TEXT_HEADING);
    run_text_size(lineage->total_bytes, size, sizeof size);
    int length = snprintf(text, sizeof text, "%u artifact%s, %s", lineage->count,
                          lineage->count == 1 ? "" : "s", size);
    if (lineage->missing > 0)
        snprintf(text + length, sizeof text - (size_t)length, ", %u missing", lineage->missing);
    ui->same_line(0, 12);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
}

void runs_draw_artifacts(Runs *runs)
{
    RunsArtifacts *page = page_of(runs);
    if (page == NULL)
        return;
    page->lineage = runs_worker_answer(page->worker);
    ask(runs, page);
    if (page->lineage == NULL)
        return;
    uint32_t at = chosen_row(page);
    draw_head(runs, page);
    draw_bar(runs, page, at);
    if (page->lineage->count == 0) {
        draw_nothing(page);
        return;
    }
    draw_table(runs, page, at);
    draw_chosen(runs, page, at);
}

/* ---- The state ---- */

static void put_row(FILE *file, const RunsArtifacts *page, const LineageRow *row)
{
    uint32_t color;
    fputs("{\"name\": ", file);
    state_put_text(file, row->shown);
    fprintf(file,
            ", \"digest\": \"%s\", \"size\": %llu, \"run\": %llu, \"version\": %u, "
            "\"versions\": %u, \"state\": \"%s\"}",
            row->put->digest, (unsigned long long)row->put->size_bytes,
            (unsigned long long)row->put->run, row->version, row->versions,
            state_of(page, row, &color));
}

void runs_artifacts_put_state(FILE *file, const Runs *runs)
{
    const RunsArtifacts *page = runs->artifacts;
    const Lineage *lineage = page != NULL ? page->lineage : NULL;
    if (lineage == NULL)
        return;
    const char *words = page->show != NULL ? lineage_show_words(page->show) : NULL;
    fprintf(file,
            ",\n\"artifacts\": {\"run\": %llu, \"all\": %s, \"bytes\": %llu, \"missing\": %u, "
            "\"chosen\": \"%s\", \"shown\": ",
            (unsigned long long)lineage->question.run, lineage->question.all ? "true" : "false",
            (unsigned long long)lineage->total_bytes, lineage->missing, page->digest);
    state_put_text(file, words != NULL ? words : "");
    fputs(", \"rows\": [", file);
    for (uint32_t i = 0; i < lineage->count; i++) {
        fputs(i > 0 ? ",\n " : "\n ", file);
        put_row(file, page, &lineage->rows[i]);
    }
    fputs("], \"origins\": [", file);
    for (uint32_t i = 0; i < lineage->origin_count; i++) {
        fputs(i > 0 ? ",\n " : "\n ", file);
        put_row(file, page, &lineage->origins[i]);
    }
    fputs("]}", file);
}
