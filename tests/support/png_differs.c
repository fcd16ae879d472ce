/* tests/support/png_differs.c: says how many pixels of two pictures differ, for tests in other
 * languages. Usage: png_differs A B TOP BOTTOM; so many rows there are not looked at. Prints
 * "DIFFERENT of PIXELS"; a pixel differs when a channel does by more than 2 of 255. */
#include <stdio.h>
#include <stdlib.h>

#include "png_compare.h"

int main(int argc, char **argv)
{
    Picture a = {0}, b = {0};
    if (argc != 5)
        return 2;
    if (!picture_read(argv[1], &a) || !picture_read(argv[2], &b))
        return 1;
    uint32_t top = (uint32_t)strtoul(argv[3], NULL, 10);
    uint32_t bottom = (uint32_t)strtoul(argv[4], NULL, 10);
    Region region = {0, top, a.width_px, a.height_px - top - bottom};
    printf("%u of %u\n", picture_differs(&a, &b, region, 2), region.w * region.h);
    picture_free(&a);
    picture_free(&b);
    return 0;
}
