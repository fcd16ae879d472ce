/* tests/support/png_compare.h: reads PNG files with libpng itself and counts how two pictures
 * differ inside a rectangle. For tests. */
#ifndef CALIPER_TESTS_PNG_COMPARE_H
#define CALIPER_TESTS_PNG_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Picture {
    uint32_t width_px, height_px;
    uint8_t *rgba; /* packed, top row first; free with picture_free */
} Picture;

/* False after one line on stderr. */
bool picture_read(const char *path, Picture *out);
void picture_free(Picture *picture);

typedef struct Region {
    uint32_t x, y, w, h;
} Region;

/* Pixels of the region in which a channel differs by more than `tolerance`; a region outside of
 * either picture, or pictures of two sizes, count as all of it. */
uint32_t picture_differs(const Picture *a, const Picture *b, Region region, uint32_t tolerance);

#endif
