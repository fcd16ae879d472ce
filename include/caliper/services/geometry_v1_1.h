/* caliper.geometry.v1_1: lines, triangles, depth and light.
 *
 * Frozen. The first four slots are those of geometry_v1.h, with the same meaning and the same view
 * ids; its rules on sources, refusals and threads hold here too; read that header first. A
 * refusal's log line also names the index of the record. */
#ifndef CALIPER_SERVICES_GEOMETRY_V1_1_H
#define CALIPER_SERVICES_GEOMETRY_V1_1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/geometry_v1.h>

#define CALIPER_GEOMETRY_V1_1 "caliper.geometry.v1_1"

#define CALIPER_GEOM_CAP_PRIMITIVES (1u << 1) /* create_view_ex and draw_primitives work */
#define CALIPER_GEOM_VIEW_DEPTH     (1u << 0) /* create_view_ex: with a 32-bit float depth buffer */

/* topology */
#define CALIPER_GEOM_TOPO_POINTS         0u
#define CALIPER_GEOM_TOPO_LINES          1u /* one pixel wide */
#define CALIPER_GEOM_TOPO_LINE_STRIP     2u
#define CALIPER_GEOM_TOPO_TRIANGLES      3u /* both sides are drawn */
#define CALIPER_GEOM_TOPO_TRIANGLE_STRIP 4u

/* color_mode: what `attr` is */
#define CALIPER_GEOM_COLOR_FLAT        0u /* nothing; flat_rgba colours all */
#define CALIPER_GEOM_COLOR_COLORMAP    1u /* 1 f32 a vertex, through `colormap` over vmin..vmax */
#define CALIPER_GEOM_COLOR_VERTEX_RGBA 2u /* 4 u8 a vertex: R, G, B, A */

/* shade_mode */
#define CALIPER_GEOM_SHADE_UNLIT   0u
#define CALIPER_GEOM_SHADE_LAMBERT 1u /* times 0.30 + 0.70 * max(n.z, 0), n in view space */

/* blend_mode */
#define CALIPER_GEOM_BLEND_OPAQUE   0u
#define CALIPER_GEOM_BLEND_ALPHA    1u /* source alpha, 1 - source alpha */
#define CALIPER_GEOM_BLEND_ADDITIVE 2u /* one, one */

/* depth_flags; both need a view with CALIPER_GEOM_VIEW_DEPTH */
#define CALIPER_GEOM_DEPTH_TEST  (1u << 0) /* passes if less or equal */
#define CALIPER_GEOM_DEPTH_WRITE (1u << 1) /* keeps the depth of what is drawn */

#ifdef __cplusplus
extern "C" {
#endif

/* One draw. All sources are tightly packed. The caller's, read during the call. */
typedef struct CaliperGeomDraw {
    CaliperAllocId pos_alloc; /* 3 f32 a vertex: x, y, z */
    uint64_t pos_offset;
    uint64_t vertex_count;      /* 0: draws nothing */
    CaliperAllocId index_alloc; /* u32 an index; 0: vertices in their order */
    uint64_t index_offset;
    uint64_t index_count;        /* indices past the last vertex are clamped to it */
    CaliperAllocId normal_alloc; /* 3 f32 a vertex; needed by LAMBERT, else 0 */
    uint64_t normal_offset;
    CaliperAllocId attr_alloc; /* as color_mode says; 0 with FLAT */
    uint64_t attr_offset;
    uint32_t topology;    /* CALIPER_GEOM_TOPO_* */
    uint32_t color_mode;  /* CALIPER_GEOM_COLOR_* */
    uint32_t shade_mode;  /* CALIPER_GEOM_SHADE_* */
    uint32_t blend_mode;  /* CALIPER_GEOM_BLEND_* */
    uint32_t depth_flags; /* CALIPER_GEOM_DEPTH_* bits; an unknown bit is refused */
    uint32_t flat_rgba;   /* 0xAABBGGRR, red in the lowest byte */
    int32_t colormap;     /* CaliperColormap, for COLORMAP */
    float vmin, vmax;     /* range of COLORMAP, as in texture_from_tensor_mapped */
    float size_px;        /* side of a point, for POINTS */
    float model[16];      /* column-major; vertices become proj * view * model * (x, y, z, 1) */
    uint32_t reserved[2]; /* 0 */
} CaliperGeomDraw;

typedef struct CaliperGeometryV1_1 {
    uint32_t struct_size;
    uint32_t (*caps)(void);
    CaliperTextureId (*create_view)(uint32_t w, uint32_t h);
    void (*release_view)(CaliperTextureId view);
    bool (*draw_points)(CaliperTextureId view, const CaliperGeomCamera *camera,
                        CaliperAllocId pos_alloc, uint64_t pos_offset, uint64_t count,
                        CaliperAllocId attr_alloc, uint64_t attr_offset, int32_t colormap,
                        float vmin, float vmax, float size_px, uint32_t clear_rgba);

    /* As create_view, with CALIPER_GEOM_VIEW_* bits; an unknown bit is refused. [frame] */
    CaliperTextureId (*create_view_ex)(uint32_t w, uint32_t h, uint32_t flags);

    /* Clears the view (colour to clear_rgba, depth to 1) and draws `draw_count` records in their
     * order. Records lie `draw_stride` bytes apart, at least the size of this service's record, so
     * that longer records of later revisions pass too. draw_count 0 is a clear. false when refused.
     * [frame] */
    bool (*draw_primitives)(CaliperTextureId view, const CaliperGeomCamera *camera,
                            const CaliperGeomDraw *draws, uint32_t draw_count, uint32_t draw_stride,
                            uint32_t clear_rgba);

    void (*reserved0)(void); /* NULL */
} CaliperGeometryV1_1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperGeomDraw, 192);
CALIPER_LAYOUT_AT(CaliperGeomDraw, pos_alloc, 0);
CALIPER_LAYOUT_AT(CaliperGeomDraw, pos_offset, 8);
CALIPER_LAYOUT_AT(CaliperGeomDraw, vertex_count, 16);
CALIPER_LAYOUT_AT(CaliperGeomDraw, index_alloc, 24);
CALIPER_LAYOUT_AT(CaliperGeomDraw, index_offset, 32);
CALIPER_LAYOUT_AT(CaliperGeomDraw, index_count, 40);
CALIPER_LAYOUT_AT(CaliperGeomDraw, normal_alloc, 48);
CALIPER_LAYOUT_AT(CaliperGeomDraw, normal_offset, 56);
CALIPER_LAYOUT_AT(CaliperGeomDraw, attr_alloc, 64);
CALIPER_LAYOUT_AT(CaliperGeomDraw, attr_offset, 72);
CALIPER_LAYOUT_AT(CaliperGeomDraw, topology, 80);
CALIPER_LAYOUT_AT(CaliperGeomDraw, color_mode, 84);
CALIPER_LAYOUT_AT(CaliperGeomDraw, shade_mode, 88);
CALIPER_LAYOUT_AT(CaliperGeomDraw, blend_mode, 92);
CALIPER_LAYOUT_AT(CaliperGeomDraw, depth_flags, 96);
CALIPER_LAYOUT_AT(CaliperGeomDraw, flat_rgba, 100);
CALIPER_LAYOUT_AT(CaliperGeomDraw, colormap, 104);
CALIPER_LAYOUT_AT(CaliperGeomDraw, vmin, 108);
CALIPER_LAYOUT_AT(CaliperGeomDraw, vmax, 112);
CALIPER_LAYOUT_AT(CaliperGeomDraw, size_px, 116);
CALIPER_LAYOUT_AT(CaliperGeomDraw, model, 120);
CALIPER_LAYOUT_AT(CaliperGeomDraw, reserved, 184);

CALIPER_LAYOUT_SIZE(CaliperGeometryV1_1, 64);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, caps, 8);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, create_view, 16);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, release_view, 24);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, draw_points, 32);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, create_view_ex, 40);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, draw_primitives, 48);
CALIPER_LAYOUT_AT(CaliperGeometryV1_1, reserved0, 56);

#endif
