/* tensorscope/tiles.h: how the slices along one axis stand beside each other in one picture.
 *
 * Tiles of equal size go from left to right, then down, with a gap of some cells between them. All
 * lengths are in samples, which are cells where the tiles are not stepped. Pure; any thread. */
#ifndef TENSORSCOPE_TILES_H
#define TENSORSCOPE_TILES_H

#include <stdbool.h>
#include <stdint.h>

enum { TILES_MAX = 1024 };

typedef struct Tiles {
    uint32_t count;      /* 0: one slice, no tiles */
    uint32_t across;     /* in a row */
    uint32_t gap;        /* between two */
    uint64_t rows, cols; /* of one */
} Tiles;

/* So many tiles of such a shape, arranged to be about as wide and high as a panel. */
uint32_t tiles_across(uint32_t count, uint64_t rows, uint64_t cols);
uint32_t tiles_gap(uint64_t rows, uint64_t cols);

uint32_t tiles_down(const Tiles *tiles);
uint64_t tiles_width(const Tiles *tiles);
uint64_t tiles_height(const Tiles *tiles);
/* Where a tile begins. */
void tiles_corner(const Tiles *tiles, uint32_t tile, uint64_t *row, uint64_t *col);
/* The tile at a place of the picture and the place in it; false: a gap, or no tile there. */
bool tiles_at(const Tiles *tiles, uint64_t row, uint64_t col, uint32_t *tile, uint64_t *tile_row,
              uint64_t *tile_col);

#endif
