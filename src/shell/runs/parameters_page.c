/* Hyper-parameters of the chosen runs side by side, differences first and marked. Frame thread. */
#include <stdio.h>
#include <stdlib.h>

#include "shell/runs/runs_impl.h"

enum { RUNS_MOST = 63 }; /* a table has 64 columns */

/* Compares anew when other runs are chosen or the catalog is another one. */
static void compare(Runs *runs)
{
    const char *json[RUNS_MOST];
    uint32_t count = 0;
    uint64_t hash = runs_chosen_hash(runs);
    if (runs->compared == runs->catalog->number && runs->compared_hash == hash)
        return;
    for (uint32_t i = 0; i < runs->chosen_count && count < RUNS_MOST; i++) {
        int32_t at = runs_catalog_find(runs->catalog, runs->chosen[i]);
        json[count++] = at >= 0 ? runs->catalog->runs.items[at].hparams : NULL;
    }
    parameters_free(&runs->parameters);
    (void)parameters_compare(json, count, &runs->parameters);
    runs->compared = runs->catalog->number;
    runs->compared_hash = hash;
}

void runs_draw_parameters(Runs *runs)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[160];
    int64_t first = 0, end = 0;
    compare(runs);
    const Parameters *all = &runs->parameters;
    if (all->runs == 0 || all->count == 0) {
        ui->space(0, 24);
        ui->text_ex(all->runs == 0 ? "Choose runs at the left."
                                   : "The chosen runs have no hyper-parameters.",
                    -1, 0, CALIPER_TEXT_DIM);
        return;
    }
    snprintf(text, sizeof text, "%u hyper-parameters, %u differ%s", all->count, all->differing,
             runs->chosen_count > RUNS_MOST ? "; the first 63 runs are shown" : "");
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    if (ui->table("##parameters", (int32_t)all->runs + 1, 0, 0,
                  CALIPER_TABLE_HEADER | CALIPER_TABLE_STRIPES | CALIPER_TABLE_SCROLL |
                      CALIPER_TABLE_SCROLL_X | CALIPER_TABLE_RESIZE)) {
        ui->table_column("Name", 180, CALIPER_COLUMN_FROZEN);
        for (uint32_t i = 0; i < all->runs; i++) {
            int32_t at = runs_catalog_find(runs->catalog, runs->chosen[i]);
            snprintf(text, sizeof text, "%s##%u",
                     at >= 0 && (uint32_t)at < runs->named_count ? runs->labels[at] : "?", i);
            ui->table_column(text, 150, 0);
        }
        while (ui->rows(all->count, 0, &first, &end)) {
            for (int64_t row = first; row < end; row++) {
                const ParametersRow *shown = &all->rows[row];
                uint32_t back =
                    shown->differs ? ui_fade(ui->color(CALIPER_THEME_ACCENT), 0.18f) : 0;
                ui->table_row(0, back);
                if (ui->table_cell(0, 0))
                    ui->text_ex(shown->name, -1, 0, 0);
                for (uint32_t i = 0; i < all->runs; i++) {
                    if (ui->table_cell((int32_t)i + 1, 0))
                        ui->text_ex(shown->values[i] != NULL ? shown->values[i] : "-", -1,
                                    shown->differs ? 0 : ui->color(CALIPER_THEME_TEXT_DIM),
                                    CALIPER_TEXT_MONO);
                }
            }
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}
