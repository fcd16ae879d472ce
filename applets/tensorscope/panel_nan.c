/* tensorscope/panel_nan.c: crosses over the cells that are NaN. The colormap's rule gives them the
 * colour of entry 0, as the lowest end; the picture keeps that, and the cross tells them apart
 * where a cell is large enough for one and not too many are in sight. Frame thread. */
#include <math.h>

#include "app.h"

static const double cell_least = 8.0; /* logical units */
/* In sight: a window of 1920 x 1080 full of the smallest. Two strokes each are half of what the
 * host draws in a region, so that the rest of the panel is drawn too. */
static const uint64_t cells_most = 32768;

static bool is_nan(ArrayDtype dtype, const void *element)
{
    float value = 0.0f;
    return element != NULL && array_convert_to_f32(dtype, element, &value, 1) && isnan(value);
}

/* The element that a cell of the picture shows: of a grid of slices, by its place in there. */
static const void *element_at(const SliceView *view, uint64_t row, uint64_t col)
{
    const SliceData *data = view->whole.data;
    uint32_t tile;
    uint64_t tile_row, tile_col;
    if (data->tiles.count == 0) {
        return slice_view_element(view, row, col, 0);
    }
    return tiles_at(&data->tiles, row, col, &tile, &tile_row, &tile_col)
               ? slice_data_tile_element(data, tile, tile_row, tile_col, 0)
               : NULL;
}

/* The cells between two places of the view that lie in the picture. */
static void cells_between(double from, double to, uint64_t extent, uint64_t *begin, uint64_t *end)
{
    *begin = (uint64_t)fmin(fmax(floor(from), 0.0), (double)extent);
    *end = (uint64_t)fmin(fmax(ceil(to), 0.0), (double)extent);
}

void panel_nan(const App *app, uint64_t rows, uint64_t cols, double down, double across)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceView *view = &app->session.view;
    const double *seen = app->seen;
    const double unit = (double)app->seen_width / (seen[2] - seen[0]);
    const uint32_t ink = 0xd0ffffffu; /* entry 0 of every map is dark */
    if (view->whole.channels > 0 || session_stats(&app->session)->nan_count == 0 ||
        !(unit * fmin(down, across) >= cell_least)) {
        return;
    }
    uint64_t row, row_end, first, col_end;
    cells_between(seen[1] / down, seen[3] / down, rows, &row, &row_end);
    cells_between(seen[0] / across, seen[2] / across, cols, &first, &col_end);
    if (row_end > row && col_end > first && col_end - first > cells_most / (row_end - row)) {
        return;
    }
    for (; row < row_end; row++) {
        for (uint64_t col = first; col < col_end; col++) {
            if (is_nan(view->whole.data->dtype, element_at(view, row, col))) {
                double x0 = ((double)col + 0.25) * across, x1 = ((double)col + 0.75) * across;
                double y0 = ((double)row + 0.25) * down, y1 = ((double)row + 0.75) * down;
                ui->draw_line(x0, y0, x1, y1, ink, 1.0f);
                ui->draw_line(x0, y1, x1, y0, ink, 1.0f);
            }
        }
    }
}
