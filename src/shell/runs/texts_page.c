/* What a run says in words, with a slider over its steps. Frame thread. */
#include <stdio.h>

#include "shell/runs/runs_impl.h"

static void draw_text(const MetricsText *text)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char words[96];
    if (text->value_bytes < text->bytes) {
        snprintf(words, sizeof words, "The first %d characters of %llu bytes; the rest is in SQL.",
                 (int)RUNS_TEXT_CHARACTERS, (unsigned long long)text->bytes);
        ui->text_ex(words, -1, ui->color(CALIPER_THEME_WARN), 0);
    }
    if (ui->child("##text", 0, 0, 0))
        ui->text_ex(text->value, -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_MONO);
    ui->end(CALIPER_SCOPE_CHILD);
}

void runs_draw_texts(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char words[96];
    const RunsMedia *shown =
        runs_media_head(runs, METRICS_KIND_TEXT, RUNS_ACTION_TEXT_TAG, "This run has no texts.");
    if (shown == NULL || shown->text_list.count == 0)
        return;
    const MetricsTexts *list = &shown->text_list;
    int64_t place = runs_media_slider(runs, RUNS_ACTION_TEXT_BACK, RUNS_ACTION_TEXT_ON,
                                      &list->items[0].seq, sizeof list->items[0], list->count);
    snprintf(words, sizeof words, "step %lld, text %lld of %u", (long long)list->items[place].step,
             (long long)place + 1, list->count);
    ui->text_ex(words, -1, 0, CALIPER_TEXT_DIM);
    if (shown->text.count > 0 && shown->text.items[0].value != NULL)
        draw_text(&shown->text.items[0]);
}
