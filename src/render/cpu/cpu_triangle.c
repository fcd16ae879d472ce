/* Triangles of any shape: exact coverage by edge functions in integers, one span a row; colours and
 * texture coordinates linear across it. Frame thread. */
#include "render/cpu/cpu_raster.h"

/* Inside when dx * (y - y0) - dy * (x - x0) + bias >= 0. */
typedef struct Edge {
    int64_t x, y, dx, dy;
    int64_t bias; /* 0 on top and left edges, whose own points belong to the triangle; else -1 */
} Edge;

/* A value that is linear over the plane, in pixels. */
typedef struct Plane {
    double at_origin, per_x, per_y;
} Plane;

typedef struct Setup {
    Plane u, v;
    Plane channels[4];
    bool flat_colour, flat_texture;
    uint32_t colour, texel; /* where flat */
} Setup;

static Edge edge_between(const RasterVertex *from, const RasterVertex *to)
{
    Edge edge = {from->x, from->y, (int64_t)to->x - from->x, (int64_t)to->y - from->y, 0};
    bool top = edge.dy == 0 && edge.dx > 0;
    bool left = edge.dy < 0;
    edge.bias = top || left ? 0 : -1;
    return edge;
}

static int64_t divide_floor(int64_t value, int64_t divisor)
{
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0 ? 1 : 0);
}

/* Narrows [*x0, *x1) to the pixels of row y inside one edge. */
static void edge_clip(const Edge *edge, int32_t y, int64_t *x0, int64_t *x1)
{
    int64_t centre_y = (int64_t)y * RASTER_SUBPIXEL + RASTER_HALF_PIXEL;
    int64_t at_zero =
        edge->dx * (centre_y - edge->y) - edge->dy * (RASTER_HALF_PIXEL - edge->x) + edge->bias;
    int64_t step = edge->dy * RASTER_SUBPIXEL;
    if (step > 0) {
        int64_t last = divide_floor(at_zero, step);
        *x1 = last + 1 < *x1 ? last + 1 : *x1;
    } else if (step < 0) {
        int64_t first = -divide_floor(at_zero, -step);
        *x0 = first > *x0 ? first : *x0;
    } else if (at_zero < 0) {
        *x1 = *x0;
    }
}

static Plane plane_through(const RasterVertex vertices[3], const double values[3], double area)
{
    double x1 = ((double)vertices[1].x - vertices[0].x) / RASTER_SUBPIXEL;
    double y1 = ((double)vertices[1].y - vertices[0].y) / RASTER_SUBPIXEL;
    double x2 = ((double)vertices[2].x - vertices[0].x) / RASTER_SUBPIXEL;
    double y2 = ((double)vertices[2].y - vertices[0].y) / RASTER_SUBPIXEL;
    double d1 = values[1] - values[0];
    double d2 = values[2] - values[0];
    Plane plane = {0.0, (d1 * y2 - d2 * y1) / area, (d2 * x1 - d1 * x2) / area};
    /* At the centre of pixel (0, 0). */
    plane.at_origin = values[0] + plane.per_x * (0.5 - (double)vertices[0].x / RASTER_SUBPIXEL) +
                      plane.per_y * (0.5 - (double)vertices[0].y / RASTER_SUBPIXEL);
    return plane;
}

static double plane_at(const Plane *plane, int32_t x, int32_t y)
{
    return plane->at_origin + plane->per_x * x + plane->per_y * y;
}

static void setup_fill(Setup *setup, const RasterImage *image, const RasterVertex vertices[3],
                       double area)
{
    const RasterVertex *v = vertices;
    setup->flat_colour = v[0].rgba == v[1].rgba && v[0].rgba == v[2].rgba;
    setup->colour = v[0].rgba;
    for (int c = 0; c < 4 && !setup->flat_colour; c++) {
        double values[3];
        for (int i = 0; i < 3; i++)
            values[i] = (double)((v[i].rgba >> (8 * c)) & 0xffu);
        setup->channels[c] = plane_through(vertices, values, area);
    }
    setup->flat_texture =
        v[0].u == v[1].u && v[0].u == v[2].u && v[0].v == v[1].v && v[0].v == v[2].v;
    if (setup->flat_texture) {
        setup->texel = raster_sample(image, v[0].u, v[0].v);
    } else {
        setup->u = plane_through(vertices, (double[3]){v[0].u, v[1].u, v[2].u}, area);
        setup->v = plane_through(vertices, (double[3]){v[0].v, v[1].v, v[2].v}, area);
    }
}

/* Rounded and held within 0 to 255: thin triangles have steep planes. */
static uint32_t channels_round(RasterFloats channels)
{
    const RasterFloats largest = {255.0f, 255.0f, 255.0f, 255.0f};
    RasterInts above = channels > largest;
    RasterInts positive = channels > 0.0f;
    RasterInts bits = (((RasterInts)channels & ~above) | ((RasterInts)largest & above)) & positive;
    return raster_pack((RasterFloats)bits + 0.5f);
}

static void draw_span(const RasterTarget *target, const RasterImage *image, const Setup *setup,
                      int32_t y, int32_t x0, int32_t x1)
{
    uint32_t *dst = target->pixels + (size_t)y * (size_t)target->stride_px + x0;
    int32_t count = x1 - x0;
    if (setup->flat_colour && setup->flat_texture) {
        raster_fill_span(dst, count, raster_modulate(setup->colour, setup->texel));
        return;
    }
    RasterFloats start = {0};
    RasterFloats step = {0};
    for (int c = 0; c < 4 && !setup->flat_colour; c++) {
        start[c] = (float)plane_at(&setup->channels[c], x0, y);
        step[c] = (float)setup->channels[c].per_x;
    }
    double u = setup->flat_texture ? 0.0 : plane_at(&setup->u, x0, y);
    double v = setup->flat_texture ? 0.0 : plane_at(&setup->v, x0, y);
    uint32_t *source = target->scratch;
    uint32_t tint = setup->texel;
    if (setup->flat_texture) {
        for (int32_t i = 0; i < count; i++)
            source[i] = channels_round(start + step * (float)i);
    } else {
        for (int32_t i = 0; i < count; i++)
            source[i] = raster_sample(image, u + setup->u.per_x * i, v + setup->v.per_x * i);
        tint = setup->flat_colour ? setup->colour : 0xffffffffu;
        for (int32_t i = 0; i < count && !setup->flat_colour; i++)
            source[i] = raster_modulate(source[i], channels_round(start + step * (float)i));
    }
    raster_blend_row(dst, source, count, tint);
}

void raster_triangle(const RasterTarget *target, const RasterImage *image,
                     const RasterVertex vertices[3])
{
    RasterVertex v[3] = {vertices[0], vertices[1], vertices[2]};
    int64_t area = ((int64_t)v[1].x - v[0].x) * ((int64_t)v[2].y - v[0].y) -
                   ((int64_t)v[1].y - v[0].y) * ((int64_t)v[2].x - v[0].x);
    if (area == 0)
        return;
    if (area < 0) { /* both windings are drawn; the edges want one */
        v[1] = vertices[2];
        v[2] = vertices[1];
        area = -area;
    }
    int32_t y_low = v[0].y;
    int32_t y_high = v[0].y;
    for (int i = 1; i < 3; i++) {
        y_low = v[i].y < y_low ? v[i].y : y_low;
        y_high = v[i].y > y_high ? v[i].y : y_high;
    }
    int32_t y0 = raster_pixel_from(y_low);
    int32_t y1 = raster_pixel_from(y_high) + 1;
    y0 = y0 > target->y0 ? y0 : target->y0;
    y1 = y1 < target->y1 ? y1 : target->y1;
    if (y0 >= y1)
        return;
    Edge edges[3] = {edge_between(&v[0], &v[1]), edge_between(&v[1], &v[2]),
                     edge_between(&v[2], &v[0])};
    Setup setup = {0};
    setup_fill(&setup, image, v, (double)area / (RASTER_SUBPIXEL * RASTER_SUBPIXEL));
    for (int32_t y = y0; y < y1; y++) {
        int64_t x0 = target->x0;
        int64_t x1 = target->x1;
        for (int i = 0; i < 3; i++)
            edge_clip(&edges[i], y, &x0, &x1);
        if (x0 < x1)
            draw_span(target, image, &setup, y, (int32_t)x0, (int32_t)x1);
    }
}
