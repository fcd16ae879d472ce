/* caliper.geometry.v1_2: triangles with a texture on them.
 *
 * Frozen. The slots are those of geometry_v1_1.h, with the same meaning and the same view ids; the
 * record of a draw is longer. Read that header first. */
#ifndef CALIPER_SERVICES_GEOMETRY_V1_2_H
#define CALIPER_SERVICES_GEOMETRY_V1_2_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/geometry_v1_1.h>

#define CALIPER_GEOMETRY_V1_2 "caliper.geometry.v1_2"

#define CALIPER_GEOM_CAP_TEXTURED (1u << 2) /* the colour mode below works */

/* color_mode: from `texture` at `uv`; attr is not used */
#define CALIPER_GEOM_COLOR_TEXTURE 3u

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperGeomDrawV1_2 {
    CaliperGeomDraw base;
    CaliperAllocId uv_alloc; /* 2 f32 a vertex: u, v; (0, 0) is the corner of row 0, pixel 0 */
    uint64_t uv_offset;

    /* Any texture but a view, filtered bilinearly, its edge repeated outside [0, 1]. Both this and
     * uv are needed by COLOR_TEXTURE and not looked at otherwise. */
    CaliperTextureId texture;
} CaliperGeomDrawV1_2;

typedef struct CaliperGeometryV1_2 {
    uint32_t struct_size;
    uint32_t (*caps)(void);
    CaliperTextureId (*create_view)(uint32_t w, uint32_t h);
    void (*release_view)(CaliperTextureId view);
    bool (*draw_points)(CaliperTextureId view, const CaliperGeomCamera *camera,
                        CaliperAllocId pos_alloc, uint64_t pos_offset, uint64_t count,
                        CaliperAllocId attr_alloc, uint64_t attr_offset, int32_t colormap,
                        float vmin, float vmax, float size_px, uint32_t clear_rgba);
    CaliperTextureId (*create_view_ex)(uint32_t w, uint32_t h, uint32_t flags);

    /* As before, with records of CaliperGeomDrawV1_2: pass the address of the first one's
     * CaliperGeomDraw and its size as draw_stride. [frame] */
    bool (*draw_primitives)(CaliperTextureId view, const CaliperGeomCamera *camera,
                            const CaliperGeomDraw *draws, uint32_t draw_count, uint32_t draw_stride,
                            uint32_t clear_rgba);

    void (*reserved0)(void); /* NULL */
} CaliperGeometryV1_2;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperGeomDrawV1_2, 216);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_2, base, 0);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_2, uv_alloc, 192);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_2, uv_offset, 200);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_2, texture, 208);

CALIPER_LAYOUT_SIZE(CaliperGeometryV1_2, 64);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, caps, 8);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, create_view, 16);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, release_view, 24);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, draw_points, 32);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, create_view_ex, 40);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, draw_primitives, 48);
CALIPER_LAYOUT_AT(CaliperGeometryV1_2, reserved0, 56);

#endif
