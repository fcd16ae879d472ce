/* tests/e2e/hello_picture.h: what the tests of the command know of hello's page at 800 x 640. */
#ifndef CALIPER_TESTS_HELLO_PICTURE_H
#define CALIPER_TESTS_HELLO_PICTURE_H

#include "png_compare.h"

/* Pixels in which the cells of the tensor differ, to the byte; 0 on every renderer. Edges of cells
 * are crossed by grid lines and left out. */
uint32_t hello_cells_differ(const Picture *picture, const Picture *reference);

/* Pixels above the status bar, which names the machine, of which a channel differs by more than 2:
 * blending rounds differently from renderer to renderer. */
uint32_t page_differs(const Picture *picture, const Picture *reference, float scale);

#endif
