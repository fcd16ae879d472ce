/* tests/support/png_compare.c: see png_compare.h. */
#include "png_compare.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool picture_read(const char *path, Picture *out)
{
    png_image image;
    memset(&image, 0, sizeof image);
    memset(out, 0, sizeof *out);
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path)) {
        image.format = PNG_FORMAT_RGBA;
        out->rgba = malloc(PNG_IMAGE_SIZE(image));
        if (out->rgba != NULL && png_image_finish_read(&image, NULL, out->rgba, 0, NULL)) {
            out->width_px = image.width;
            out->height_px = image.height;
            return true;
        }
    }
    fprintf(stderr, "%s: %s\n", path, image.message);
    png_image_free(&image);
    picture_free(out);
    return false;
}

void picture_free(Picture *picture)
{
    free(picture->rgba);
    picture->rgba = NULL;
}

uint32_t picture_differs(const Picture *a, const Picture *b, Region region, uint32_t tolerance)
{
    uint32_t count = 0;
    if (a->width_px != b->width_px || a->height_px != b->height_px ||
        region.x + region.w > a->width_px || region.y + region.h > a->height_px)
        return region.w * region.h;
    for (uint32_t y = region.y; y < region.y + region.h; y++) {
        for (uint32_t x = region.x; x < region.x + region.w; x++) {
            size_t at = ((size_t)y * a->width_px + x) * 4;
            uint32_t most = 0;
            for (size_t c = 0; c < 4; c++) {
                int difference = a->rgba[at + c] - b->rgba[at + c];
                uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);
                most = size > most ? size : most;
            }
            count += most > tolerance;
        }
    }
    return count;
}
