/* Axis-aligned rectangles, nearly everything of a UI frame: fills, glyphs, images. Frame thread.
 *
 * A rectangle covers the same pixels as its two triangles. Texel columns are worked out once, rows
 * one by one. */
#include <string.h>

#include "render/cpu/cpu_raster.h"

typedef struct Span {
    int32_t x0, y0, x1, y1;
} Span;

/* Texel positions along one axis, by pixel centre. */
typedef struct Axis {
    double first, per_pixel; /* at pixel 0 */
} Axis;

/* `from` texels at position `low`, `to` at `high` (fixed point, low < high). */
static Axis axis_between(int32_t low, int32_t high, double from, double to)
{
    Axis axis;
    axis.per_pixel = (to - from) * RASTER_SUBPIXEL / ((double)high - low);
    axis.first = from + axis.per_pixel * ((double)RASTER_HALF_PIXEL - low) / RASTER_SUBPIXEL;
    return axis;
}

static double texel_at(const Axis *axis, int32_t pixel)
{
    return axis->first + axis->per_pixel * pixel;
}

static void draw_nearest(const RasterTarget *target, const RasterImage *image, Span span,
                         const RasterVertex *low, const RasterVertex *high)
{
    uint32_t *source = target->scratch;
    uint32_t *columns = source + target->stride_px;
    double width = image->width_px;
    double height = image->height_px;
    Axis across = axis_between(low->x, high->x, low->u * width, high->u * width);
    Axis down = axis_between(low->y, high->y, low->v * height, high->v * height);
    int32_t count = span.x1 - span.x0;
    for (int32_t i = 0; i < count; i++) {
        columns[i] = (uint32_t)raster_nearest(texel_at(&across, span.x0 + i), image->width_px);
    }
    for (int32_t y = span.y0; y < span.y1; y++) {
        size_t texel_row = (size_t)raster_nearest(texel_at(&down, y), image->height_px);
        const uint32_t *row = image->pixels + texel_row * (size_t)image->width_px;
        uint32_t *dst = target->pixels + (size_t)y * (size_t)target->stride_px + span.x0;
        if (low->rgba == 0xffffffffu) {
            for (int32_t i = 0; i < count; i++)
                raster_put(&dst[i], row[columns[i]]);
        } else {
            for (int32_t i = 0; i < count; i++)
                source[i] = row[columns[i]];
            raster_blend_row(dst, source, count, low->rgba);
        }
    }
}

/* Blends two texel rows by the weight of the lower one, texels [from, to): four floats each, whole
 * numbers up to 255 * 256. */
static void row_mix(const uint32_t *top, const uint32_t *bottom, uint32_t weight, uint32_t from,
                    uint32_t to, float *out)
{
    float low = (float)weight;
    float high = 256.0f - low;
    for (uint32_t i = from; i < to; i++) {
        RasterFloats mixed = raster_channels(top[i]) * high + raster_channels(bottom[i]) * low;
        memcpy(out + (size_t)(i - from) * 4u, &mixed, sizeof mixed);
    }
}

/* One row of a magnified image from its mixed texels. Products and sums stay below 2^24, so that
 * floats are exact and the result is raster_mix's. */
static void row_magnify(const uint32_t *first, const uint32_t *second, const uint32_t *weight,
                        const float *texels, int32_t count, uint32_t *out)
{
    uint32_t from = first[0];
    for (int32_t i = 0; i < count; i++) {
        RasterFloats left;
        RasterFloats right;
        memcpy(&left, texels + (size_t)(first[i] - from) * 4u, sizeof left);
        memcpy(&right, texels + (size_t)(second[i] - from) * 4u, sizeof right);
        float low = (float)weight[i];
        RasterFloats sum = left * (256.0f - low) + right * low + 32768.0f;
        out[i] = raster_pack(sum * (1.0f / 65536.0f));
    }
}

static void draw_linear(const RasterTarget *target, const RasterImage *image, Span span,
                        const RasterVertex *low, const RasterVertex *high)
{
    uint32_t *source = target->scratch;
    uint32_t *first = source + target->stride_px;
    uint32_t *second = first + target->stride_px;
    uint32_t *weight = second + target->stride_px;
    double width = image->width_px;
    double height = image->height_px;
    Axis across = axis_between(low->x, high->x, low->u * width, high->u * width);
    Axis down = axis_between(low->y, high->y, low->v * height, high->v * height);
    int32_t count = span.x1 - span.x0;
    for (int32_t i = 0; i < count; i++) {
        RasterTaps taps = raster_linear(texel_at(&across, span.x0 + i), image->width_px);
        first[i] = (uint32_t)taps.first;
        second[i] = (uint32_t)taps.second;
        weight[i] = taps.weight;
    }
    uint32_t texel_end = second[count - 1] + 1;
    /* Left to right and no more texels than pixels; glyphs at their own size are left to the loop,
     * which copies where the weights are 0. */
    bool magnifies = across.per_pixel < 0.99 && first[0] < texel_end &&
                     texel_end - first[0] <= (uint32_t)count + 2;
    for (int32_t y = span.y0; y < span.y1; y++) {
        RasterTaps rows = raster_linear(texel_at(&down, y), image->height_px);
        const uint32_t *top = image->pixels + (size_t)rows.first * (size_t)image->width_px;
        const uint32_t *bottom = image->pixels + (size_t)rows.second * (size_t)image->width_px;
        uint32_t *dst = target->pixels + (size_t)y * (size_t)target->stride_px + span.x0;
        if (magnifies) {
            float *texels = (float *)(weight + target->stride_px);
            row_mix(top, bottom, rows.weight, first[0], texel_end, texels);
            row_magnify(first, second, weight, texels, count, source);
        } else {
            for (int32_t i = 0; i < count; i++) {
                source[i] = top[first[i]];
                if ((weight[i] | rows.weight) != 0)
                    source[i] = raster_mix(source[i], top[second[i]], bottom[first[i]],
                                           bottom[second[i]], weight[i], rows.weight);
            }
        }
        raster_blend_row(dst, source, count, low->rgba);
    }
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

void raster_rect(const RasterTarget *target, const RasterImage *image, const RasterVertex *low,
                 const RasterVertex *high)
{
    Span span = {
        larger(target->x0, raster_pixel_from(low->x)),
        larger(target->y0, raster_pixel_from(low->y)),
        smaller(target->x1, raster_pixel_from(high->x)),
        smaller(target->y1, raster_pixel_from(high->y)),
    };
    if (span.x0 >= span.x1 || span.y0 >= span.y1 || low->rgba >> 24 == 0)
        return;
    if (low->u == high->u && low->v == high->v) {
        uint32_t rgba = raster_modulate(raster_sample(image, low->u, low->v), low->rgba);
        for (int32_t y = span.y0; y < span.y1; y++)
            raster_fill_span(target->pixels + (size_t)y * (size_t)target->stride_px + span.x0,
                             span.x1 - span.x0, rgba);
    } else if (image->filter == UI_FILTER_NEAREST) {
        draw_nearest(target, image, span, low, high);
    } else {
        draw_linear(target, image, span, low, high);
    }
}
