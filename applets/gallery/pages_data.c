/* applets/gallery/pages_data.c: the table of runs. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double loss_of(int32_t run)
{
    return 0.05 + fmod((double)run * 0.6180339887, 1.0);
}

static const Gallery *sorting;

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    double left = sorting->sorted_by == 1 ? loss_of(x) : (double)x;
    double right = sorting->sorted_by == 1 ? loss_of(y) : (double)y;
    int order = left < right ? -1 : left > right;
    return sorting->sorted_down ? -order : order;
}

/* A click chooses one, with Ctrl one more, with Shift all up to it. */
static void choose(Gallery *gallery, int32_t row)
{
    static int32_t last;
    uint32_t held = gallery->ui->pointer(NULL, NULL, NULL);
    if ((held & CALIPER_POINTER_SHIFT) != 0) {
        int32_t low = row < last ? row : last, high = row < last ? last : row;
        for (int32_t i = low; i <= high; i++)
            gallery->selected[gallery->order[i]] = true;
        return;
    }
    last = row;
    if ((held & CALIPER_POINTER_CTRL) != 0) {
        gallery->selected[gallery->order[row]] ^= true;
        return;
    }
    memset(gallery->selected, 0, sizeof gallery->selected);
    gallery->selected[gallery->order[row]] = true;
}

static void draw_row(Gallery *gallery, int32_t row)
{
    static const char *const states[] = {"running", "done", "failed"};
    static const uint32_t inks[] = {CALIPER_THEME_ACCENT, CALIPER_THEME_GOOD, CALIPER_THEME_BAD};
    const CaliperWidgetsV1 *ui = gallery->ui;
    int32_t run = gallery->order[row];
    char text[32];
    ui->push_id_int((uint64_t)run);
    ui->table_row(0, 0);
    ui->table_cell(0, 0);
    snprintf(text, sizeof text, "run %04d", (int)run);
    if (ui->selectable(text, gallery->selected[run], 0, 0,
                       CALIPER_SELECT_ALL_COLUMNS | CALIPER_SELECT_OVERLAP))
        choose(gallery, row);
    ui->table_cell(1, 0);
    snprintf(text, sizeof text, "%.4f", loss_of(run));
    ui->text_ex(text, -1, 0, CALIPER_TEXT_MONO);
    ui->table_cell(2, 0);
    ui->text_ex(states[run % 3], -1, ui->color(inks[run % 3]), 0);
    ui->table_cell(3, 0);
    ui->space(0, 2);
    ui->progress(run % 3 == 0 ? fmod(run * 0.37, 1.0) : 1.0, "", 0, 8);
    if (ui->table_cell(4, 0)) {
        if (gallery->plot->plot("##loss", 0, 18, CALIPER_PLOT_SPARK)) {
            CaliperPlotData data =
                gallery_data(gallery->waves[run % 2] + run % 60, GALLERY_SAMPLES - 60, 0, 1);
            gallery->plot->line("loss", &data, CALIPER_SERIES_FILL);
        }
        gallery->plot->end();
    }
    ui->end(CALIPER_SCOPE_ID);
}

void gallery_table(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    int64_t first = 0, end = 0;
    const uint32_t flags = CALIPER_TABLE_HEADER | CALIPER_TABLE_STRIPES | CALIPER_TABLE_LINES |
                           CALIPER_TABLE_RESIZE | CALIPER_TABLE_SORT | CALIPER_TABLE_SCROLL |
                           CALIPER_TABLE_HIDE | CALIPER_TABLE_REORDER;
    if (ui->table("runs", 5, 0, -120, flags)) {
        ui->table_column("run", 110, CALIPER_COLUMN_SORTED | CALIPER_COLUMN_FROZEN);
        ui->table_column("loss", 90, 0);
        ui->table_column("state", 90, CALIPER_COLUMN_NO_SORT);
        ui->table_column("progress", 0, CALIPER_COLUMN_NO_SORT);
        ui->table_column("course", 0, CALIPER_COLUMN_NO_SORT);
        if (ui->table_sort(&gallery->sorted_by, &gallery->sorted_down)) {
            sorting = gallery;
            qsort(gallery->order, GALLERY_ROWS, sizeof gallery->order[0], compare);
        }
        while (ui->rows(GALLERY_ROWS, 24, &first, &end)) {
            for (int64_t row = first; row < end; row++)
                draw_row(gallery, (int32_t)row);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
    ui->separator("A bare table, for layout");
    if (ui->table("bare", 3, 0, 0, 0)) {
        for (int32_t i = 0; i < 6; i++) {
            char text[16];
            ui->table_cell(-1, 0);
            snprintf(text, sizeof text, "cell %d", (int)i);
            ui->text(text);
        }
    }
    ui->end(CALIPER_SCOPE_TABLE);
}
