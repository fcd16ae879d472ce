/* tests/e2e/hello_picture.c: see hello_picture.h. */
#include "hello_picture.h"

uint32_t hello_cells_differ(const Picture *picture, const Picture *reference)
{
    enum { SIDE = 8, LEFT = 216, TOP = 178, CELL = 46, EDGE = 3 };
    uint32_t different = 0;
    for (uint32_t row = 0; row < SIDE; row++) {
        for (uint32_t column = 0; column < SIDE; column++) {
            Region middle = {LEFT + column * CELL + EDGE, TOP + row * CELL + EDGE, CELL - 2 * EDGE,
                             CELL - 2 * EDGE};
            different += picture_differs(picture, reference, middle, 0);
        }
    }
    return different;
}

uint32_t page_differs(const Picture *picture, const Picture *reference, float scale)
{
    enum { STATUS_BAR = 28 };
    Region page = {0, 0, picture->width_px,
                   picture->height_px - (uint32_t)((float)STATUS_BAR * scale)};
    return picture_differs(picture, reference, page, 2);
}
