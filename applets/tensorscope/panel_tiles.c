/* tensorscope/panel_tiles.c: the slices along an axis beside each other: one texture, the gaps
 * covered, each tile with its index where there is room. Frame thread. */
#include <inttypes.h>
#include <stdio.h>

#include "app.h"

static const double label_room = 46.0; /* logical units of a tile, below which it has no label */

static void cover_gaps(const App *app, const Tiles *tiles, double width, double height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const uint32_t ground = ui->color(CALIPER_THEME_BACKGROUND);
    for (uint32_t i = 1; i < tiles->across; i++) {
        double x = (double)(i * (tiles->cols + tiles->gap));
        ui->draw_rect(x - tiles->gap, -1.0, x, height + 1.0, ground, -1.0f);
    }
    for (uint32_t i = 1; i < tiles_down(tiles); i++) {
        double y = (double)(i * (tiles->rows + tiles->gap));
        ui->draw_rect(-1.0, y - tiles->gap, width + 1.0, y, ground, -1.0f);
    }
    /* Where the last row has fewer tiles. */
    uint64_t row, col;
    if (tiles->count % tiles->across != 0) {
        tiles_corner(tiles, tiles->count, &row, &col);
        ui->draw_rect((double)col, (double)row, width + 1.0, height + 1.0, ground, -1.0f);
    }
}

static void draw_labels(const App *app, const SliceData *data, const double seen[4], double unit)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Tiles *tiles = &data->tiles;
    if (unit * (double)tiles->cols < label_room || unit * (double)tiles->rows < label_room) {
        return;
    }
    for (uint32_t tile = 0; tile < tiles->count; tile++) {
        uint64_t row, col;
        char text[32];
        tiles_corner(tiles, tile, &row, &col);
        if ((double)col > seen[2] || (double)(col + tiles->cols) < seen[0] ||
            (double)row > seen[3] || (double)(row + tiles->rows) < seen[1]) {
            continue;
        }
        snprintf(text, sizeof(text), "%" PRIu64,
                 data->request.axes.index[data->request.axes.tile] + tile);
        float width = 0.0f, height = 0.0f;
        ui->text_size(text, -1, 0.0f, CALIPER_TEXT_SMALL, &width, &height);
        double x = (double)col, y = (double)row;
        ui->draw_rect(x, y, x + ((double)width + 6.0) / unit, y + ((double)height + 2.0) / unit,
                      0xa0101010u, -1.0f);
        ui->draw_text(x + 3.0 / unit, y + 1.0 / unit, text, -1, 0xffe8e8e8u, CALIPER_TEXT_SMALL);
    }
}

void panel_tiles(App *app, float width, float height)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    const SliceTexture *whole = &session->view.whole;
    const SliceData *data = whole->data;
    double w = (double)data->width, h = (double)data->height;
    bool seen = ui->image_view("tiles", 0, (int64_t)data->width, (int64_t)data->height, width,
                               height, session->view3, 0);
    if (seen) {
        int64_t col, row;
        double *in = app->seen;
        ui->draw_image(whole->texture, 0.0, 0.0, w, h, CALIPER_IMAGE_CHECKER);
        cover_gaps(app, &data->tiles, w, h);
        ui->visible(&in[0], &in[1], &in[2], &in[3]);
        app->seen_width = width;
        if (in[2] > in[0]) {
            panel_nan(app, data->height, data->width, 1.0, 1.0);
            draw_labels(app, data, in, (double)width / (in[2] - in[0]));
        }
        if (ui->texel(&col, &row)) {
            app->hover = session_hover_tile(session, (uint64_t)row, (uint64_t)col);
            if (app->hover.inside) {
                ui->draw_rect((double)col, (double)row, (double)col + 1.0, (double)row + 1.0,
                              ui->color(CALIPER_THEME_TEXT), 1.0f);
            }
        }
        panel_take_copy(app);
    }
    ui->end(CALIPER_SCOPE_IMAGE);
}
