/* render/cpu/cpu_raster.h: the software rasteriser's inside: what it draws into and the arithmetic
 * of one pixel. Included by cpu_view.c, cpu_rect.c and cpu_triangle.c; frame thread.
 *
 * Pixels are words 0xAABBGGRR of a little-endian machine. Positions are fixed point with 8 bits
 * after the point; pixel (x, y) has its centre at (x + 1/2, y + 1/2). Products of two 8-bit values
 * are divided by 255 and rounded to nearest. */
#ifndef CALIPER_RENDER_CPU_CPU_RASTER_H
#define CALIPER_RENDER_CPU_CPU_RASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "render/renderer.h"

enum { RASTER_SUBPIXEL = 256, RASTER_HALF_PIXEL = 128 };

/* Per pixel of a row: its source colour, two texel columns and a weight; per texel of a magnified
 * row (at most one a pixel and two more): four channels. */
#define RASTER_SCRATCH_WORDS(stride_px) ((size_t)(stride_px)*8u + 8u)

typedef struct RasterTarget {
    uint32_t *pixels;
    int32_t stride_px;
    int32_t x0, y0, x1, y1; /* what may be written, half open, not empty */
    uint32_t *scratch;      /* RASTER_SCRATCH_WORDS of the stride */
} RasterTarget;

typedef struct RasterImage {
    const uint32_t *pixels;
    int32_t width_px, height_px;
    UiFilter filter;
} RasterImage;

typedef struct RasterVertex {
    int32_t x, y; /* fixed point, within +-2^28 */
    float u, v;
    uint32_t rgba;
} RasterVertex;

/* Axis-aligned: `low` and `high` are opposite corners, `low` the smaller in x and y. */
void raster_rect(const RasterTarget *target, const RasterImage *image, const RasterVertex *low,
                 const RasterVertex *high);
void raster_triangle(const RasterTarget *target, const RasterImage *image,
                     const RasterVertex vertices[3]);

/* The first pixel whose centre is at or after a position. */
static inline int32_t raster_pixel_from(int32_t position)
{
    return (position + RASTER_HALF_PIXEL - 1) >> 8;
}

static inline uint32_t raster_divide_255(uint32_t value)
{
    value += 128u;
    return (value + (value >> 8)) >> 8;
}

static inline uint32_t raster_modulate(uint32_t a, uint32_t b)
{
    uint32_t red = raster_divide_255((a & 0xffu) * (b & 0xffu));
    uint32_t green = raster_divide_255(((a >> 8) & 0xffu) * ((b >> 8) & 0xffu));
    uint32_t blue = raster_divide_255(((a >> 16) & 0xffu) * ((b >> 16) & 0xffu));
    uint32_t alpha = raster_divide_255((a >> 24) * (b >> 24));
    return red | green << 8 | blue << 16 | alpha << 24;
}

/* src over dst, two channels a word: 16 bits hold 255 * 255 and its rounding. */
static inline uint32_t raster_blend(uint32_t dst, uint32_t src)
{
    const uint32_t lanes = 0x00ff00ffu;
    uint32_t alpha = src >> 24;
    uint32_t rest = 255u - alpha;
    uint32_t red_blue = (src & lanes) * alpha + (dst & lanes) * rest + 0x00800080u;
    uint32_t green_alpha =
        (((src >> 8) & 0xffu) | 0x00ff0000u) * alpha + ((dst >> 8) & lanes) * rest + 0x00800080u;
    red_blue = ((red_blue + ((red_blue >> 8) & lanes)) >> 8) & lanes;
    green_alpha = (green_alpha + ((green_alpha >> 8) & lanes)) & 0xff00ff00u;
    return red_blue | green_alpha;
}

static inline void raster_put(uint32_t *dst, uint32_t src)
{
    uint32_t alpha = src >> 24;
    if (alpha == 255u)
        *dst = src;
    else if (alpha != 0u)
        *dst = raster_blend(*dst, src);
}

typedef float RasterFloats __attribute__((vector_size(16)));
typedef int32_t RasterInts __attribute__((vector_size(16)));
typedef uint64_t RasterLongs __attribute__((vector_size(16)));
typedef uint8_t RasterQuad __attribute__((vector_size(4)));

static inline RasterFloats raster_channels(uint32_t rgba)
{
    RasterQuad bytes;
    memcpy(&bytes, &rgba, sizeof bytes);
    return __builtin_convertvector(bytes, RasterFloats);
}

/* Cuts off fractions; each channel is within 0 to 255 and a little below 256. */
static inline uint32_t raster_pack(RasterFloats channels)
{
    RasterInts whole = __builtin_convertvector(channels, RasterInts);
    RasterLongs pairs = (RasterLongs)whole; /* red and green, blue and alpha */
    return (uint32_t)((pairs[0] | pairs[0] >> 24) & 0xffffu) |
           (uint32_t)((pairs[1] | pairs[1] >> 24) & 0xffffu) << 16;
}

typedef uint8_t RasterBytes __attribute__((vector_size(8)));
typedef uint16_t RasterWords __attribute__((vector_size(16)));

/* raster_blend of one colour over a span, two pixels at a time. */
static inline void raster_blend_span(uint32_t *dst, int32_t count, uint32_t rgba)
{
    uint16_t alpha = (uint16_t)(rgba >> 24);
    uint16_t rest = (uint16_t)(255u - alpha);
    RasterWords source;
    for (int c = 0; c < 8; c++)
        source[c] =
            (uint16_t)((c % 4 == 3 ? 255u : (rgba >> (8 * (c % 4))) & 0xffu) * alpha + 128u);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        RasterBytes bytes;
        memcpy(&bytes, &dst[i], sizeof bytes);
        RasterWords words = source + __builtin_convertvector(bytes, RasterWords) * rest;
        words = (words + (words >> 8)) >> 8;
        bytes = __builtin_convertvector(words, RasterBytes);
        memcpy(&dst[i], &bytes, sizeof bytes);
    }
    if (i < count)
        dst[i] = raster_blend(dst[i], rgba);
}

/* Each source pixel times `tint`, over dst: raster_modulate and raster_blend, two pixels at a time.
 */
static inline void raster_blend_row(uint32_t *dst, const uint32_t *src, int32_t count,
                                    uint32_t tint)
{
    const RasterWords opaque = {0, 0, 0, 255, 0, 0, 0, 255};
    const uint64_t four = 0x0001000100010001u;
    RasterWords factor;
    for (int c = 0; c < 8; c++)
        factor[c] = (uint16_t)((tint >> (8 * (c % 4))) & 0xffu);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        RasterBytes bytes;
        memcpy(&bytes, &src[i], sizeof bytes);
        RasterWords source = __builtin_convertvector(bytes, RasterWords) * factor + 128;
        source = (source + (source >> 8)) >> 8;
        RasterWords alpha = (RasterWords)(RasterLongs){source[3] * four, source[7] * four};
        memcpy(&bytes, &dst[i], sizeof bytes);
        RasterWords words = (source | opaque) * alpha + 128 +
                            __builtin_convertvector(bytes, RasterWords) * (255 - alpha);
        words = (words + (words >> 8)) >> 8;
        bytes = __builtin_convertvector(words, RasterBytes);
        memcpy(&dst[i], &bytes, sizeof bytes);
    }
    if (i < count)
        dst[i] = raster_blend(dst[i], raster_modulate(src[i], tint));
}

static inline void raster_fill_span(uint32_t *dst, int32_t count, uint32_t rgba)
{
    uint32_t alpha = rgba >> 24;
    if (alpha == 0u)
        return;
    if (alpha == 255u) {
        for (int32_t i = 0; i < count; i++)
            dst[i] = rgba;
        return;
    }
    raster_blend_span(dst, count, rgba);
}

/* Weighted mean of four texels, weights in 1/256. */
static inline uint32_t raster_mix(uint32_t top_left, uint32_t top_right, uint32_t bottom_left,
                                  uint32_t bottom_right, uint32_t weight_x, uint32_t weight_y)
{
    const uint64_t wide = 0x0000ffff0000ffffu;
#define RASTER_UNPACK(t)                                        \
    (((uint64_t)((t)&0xffu)) | ((uint64_t)((t)&0xff00u) << 8) | \
     ((uint64_t)((t)&0xff0000u) << 16) | ((uint64_t)((t)&0xff000000u) << 24))
    uint64_t top =
        RASTER_UNPACK(top_left) * (256u - weight_x) + RASTER_UNPACK(top_right) * weight_x;
    uint64_t bottom =
        RASTER_UNPACK(bottom_left) * (256u - weight_x) + RASTER_UNPACK(bottom_right) * weight_x;
#undef RASTER_UNPACK
    uint64_t red_blue = (top & wide) * (256u - weight_y) + (bottom & wide) * weight_y;
    uint64_t green_alpha =
        ((top >> 16) & wide) * (256u - weight_y) + ((bottom >> 16) & wide) * weight_y;
    red_blue = (red_blue + 0x0000800000008000u) >> 16;
    green_alpha = (green_alpha + 0x0000800000008000u) >> 16;
    return (uint32_t)(red_blue & 0xffu) | (uint32_t)(green_alpha & 0xffu) << 8 |
           (uint32_t)((red_blue >> 32) & 0xffu) << 16 |
           (uint32_t)((green_alpha >> 32) & 0xffu) << 24;
}

/* Texel coordinate of a nearest sample; `texels` is u times the size. NaN gives 0. */
static inline int32_t raster_nearest(double texels, int32_t size_px)
{
    double last = size_px - 1;
    texels = texels > 0.0 ? texels : 0.0;
    return (int32_t)(texels < last ? texels : last);
}

typedef struct RasterTaps {
    int32_t first, second;
    uint32_t weight; /* of the second, in 1/256 */
} RasterTaps;

static inline RasterTaps raster_linear(double texels, int32_t size_px)
{
    double inside = texels > 0.0 ? texels : 0.0;
    inside = inside < size_px ? inside : size_px;
    /* Above 0 by one texel for the conversion, which cuts towards 0. */
    int32_t fixed = (int32_t)((inside + 0.5) * 256.0 + 0.5) - 256;
    RasterTaps taps = {fixed >> 8, (fixed >> 8) + 1, (uint32_t)fixed & 255u};
    taps.first = taps.first < 0 ? 0 : taps.first;
    taps.second = taps.second > size_px - 1 ? size_px - 1 : taps.second;
    return taps;
}

static inline uint32_t raster_sample(const RasterImage *image, double u, double v)
{
    double x = u * image->width_px;
    double y = v * image->height_px;
    if (image->filter == UI_FILTER_NEAREST) {
        size_t row = (size_t)raster_nearest(y, image->height_px);
        size_t column = (size_t)raster_nearest(x, image->width_px);
        return image->pixels[row * (size_t)image->width_px + column];
    }
    RasterTaps across = raster_linear(x, image->width_px);
    RasterTaps down = raster_linear(y, image->height_px);
    const uint32_t *top = image->pixels + (size_t)down.first * (size_t)image->width_px;
    const uint32_t *bottom = image->pixels + (size_t)down.second * (size_t)image->width_px;
    return raster_mix(top[across.first], top[across.second], bottom[across.first],
                      bottom[across.second], across.weight, down.weight);
}

#endif
