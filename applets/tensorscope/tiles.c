/* tensorscope/tiles.c: see tiles.h. Pure; any thread. */
#include "tiles.h"

#include <math.h>

uint32_t tiles_across(uint32_t count, uint64_t rows, uint64_t cols)
{
    const double panel = 1.4; /* width over height of most */
    double wanted = sqrt((double)count * (double)rows / (double)cols * panel);
    double most = (double)(count > 0 ? count : 1);
    return (uint32_t)fmin(fmax(ceil(wanted), 1.0), most);
}

uint32_t tiles_gap(uint64_t rows, uint64_t cols)
{
    uint64_t side = rows > cols ? rows : cols;
    return side < 24 ? 1 : (uint32_t)(side / 24);
}

uint32_t tiles_down(const Tiles *tiles)
{
    return (tiles->count + tiles->across - 1) / tiles->across;
}

uint64_t tiles_width(const Tiles *tiles)
{
    return tiles->across * (tiles->cols + tiles->gap) - tiles->gap;
}

uint64_t tiles_height(const Tiles *tiles)
{
    return tiles_down(tiles) * (tiles->rows + tiles->gap) - tiles->gap;
}

void tiles_corner(const Tiles *tiles, uint32_t tile, uint64_t *row, uint64_t *col)
{
    *row = tile / tiles->across * (tiles->rows + tiles->gap);
    *col = tile % tiles->across * (tiles->cols + tiles->gap);
}

bool tiles_at(const Tiles *tiles, uint64_t row, uint64_t col, uint32_t *tile, uint64_t *tile_row,
              uint64_t *tile_col)
{
    uint64_t down = row / (tiles->rows + tiles->gap), across = col / (tiles->cols + tiles->gap);
    *tile_row = row % (tiles->rows + tiles->gap);
    *tile_col = col % (tiles->cols + tiles->gap);
    if (across >= tiles->across || *tile_row >= tiles->rows || *tile_col >= tiles->cols ||
        down >= tiles_down(tiles) || down * tiles->across + across >= tiles->count) {
        return false;
    }
    *tile = (uint32_t)(down * tiles->across + across);
    return true;
}
