/* caliper.geometry.v1_3: one draw, many copies.
 *
 * Frozen. The slots are those of geometry_v1_1.h, with the same meaning and the same view ids; the
 * record of a draw is longer than that of geometry_v1_2.h. Read those headers first. */
#ifndef CALIPER_SERVICES_GEOMETRY_V1_3_H
#define CALIPER_SERVICES_GEOMETRY_V1_3_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/geometry_v1_2.h>

#define CALIPER_GEOMETRY_V1_3 "caliper.geometry.v1_3"

#define CALIPER_GEOM_CAP_INSTANCED (1u << 3) /* the instance fields below work */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperGeomDrawV1_3 {
    CaliperGeomDrawV1_2 base;

    /* 16 f32 an instance, column-major; vertices become
     * proj * view * model * instance * (x, y, z, 1). instance_alloc 0: one copy, no matrix. */
    CaliperAllocId instance_alloc;
    uint64_t instance_offset;
    uint64_t instance_count; /* with instance_alloc; 0 draws nothing */

    /* 4 u8 an instance: R, G, B, A, in place of the record's colour source; 0: none. */
    CaliperAllocId instance_attr_alloc;
    uint64_t instance_attr_offset;
} CaliperGeomDrawV1_3;

typedef struct CaliperGeometryV1_3 {
    uint32_t struct_size;
    uint32_t (*caps)(void);
    CaliperTextureId (*create_view)(uint32_t w, uint32_t h);
    void (*release_view)(CaliperTextureId view);
    bool (*draw_points)(CaliperTextureId view, const CaliperGeomCamera *camera,
                        CaliperAllocId pos_alloc, uint64_t pos_offset, uint64_t count,
                        CaliperAllocId attr_alloc, uint64_t attr_offset, int32_t colormap,
                        float vmin, float vmax, float size_px, uint32_t clear_rgba);
    CaliperTextureId (*create_view_ex)(uint32_t w, uint32_t h, uint32_t flags);

    /* As before, with records of CaliperGeomDrawV1_3: pass the address of the first one's
     * CaliperGeomDraw and its size as draw_stride. [frame] */
    bool (*draw_primitives)(CaliperTextureId view, const CaliperGeomCamera *camera,
                            const CaliperGeomDraw *draws, uint32_t draw_count, uint32_t draw_stride,
                            uint32_t clear_rgba);

    void (*reserved0)(void); /* NULL */
} CaliperGeometryV1_3;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperGeomDrawV1_3, 256);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, base, 0);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, instance_alloc, 216);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, instance_offset, 224);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, instance_count, 232);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, instance_attr_alloc, 240);
CALIPER_LAYOUT_AT(CaliperGeomDrawV1_3, instance_attr_offset, 248);

CALIPER_LAYOUT_SIZE(CaliperGeometryV1_3, 64);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, caps, 8);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, create_view, 16);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, release_view, 24);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, draw_points, 32);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, create_view_ex, 40);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, draw_primitives, 48);
CALIPER_LAYOUT_AT(CaliperGeometryV1_3, reserved0, 56);

#endif
