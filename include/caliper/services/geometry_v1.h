/* caliper.geometry.v1: points in space, drawn from memory the GPU already has.
 *
 * Frozen. Sources are (allocation, byte offset) pairs into imports of tensor_bridge_v1_2.h, read in
 * place: do not rewrite them before the view's next draw. A view is a texture like any other, but
 * is made and ended here. Every slot is [frame]. A draw is whole or not at all: if anything is
 * refused the view keeps its pixels, and one log line names the call and the reason. Offsets are
 * multiples of 4; every range must lie inside its allocation. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_GEOMETRY_V1_H
#define CALIPER_SERVICES_GEOMETRY_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/tensor_bridge_v1_2.h>

#define CALIPER_GEOMETRY_V1 "caliper.geometry.v1"

/* draw_points does its work. */
#define CALIPER_GEOM_CAP_IMPORTED_POINTS (1u << 0)

#ifdef __cplusplus
extern "C" {
#endif

/* Column-major 4x4 matrices: element (row r, column c) is at [4 * c + r]. Clip space has +Y up and
 * z in [0, 1]. A point is transformed as proj * view * (x, y, z, 1). The caller's, read during the
 * call. */
typedef struct CaliperGeomCamera {
    float view[16];
    float proj[16];
} CaliperGeomCamera;

typedef struct CaliperGeometryV1 {
    uint32_t struct_size;

    /* CALIPER_GEOM_CAP_* bits, constant for the process; unknown bits are to be ignored. [frame] */
    uint32_t (*caps)(void);

    /* A view of w x h pixels, each 1..16384, opaque black at first. The caller's until
     * release_view. 0 when refused. [frame] */
    CaliperTextureId (*create_view)(uint32_t w, uint32_t h);

    /* Ends a view; what this frame drew of it stays. Any other id is refused. [frame] */
    void (*release_view)(CaliperTextureId view);

    /* Clears the view to `clear_rgba` and draws `count` points, added onto each other without
     * depth. pos    3 f32 (x, y, z) a point, 12 bytes apart attr   1 f32 a point, coloured through
     * a table of CaliperColormap over vmin..vmax by the rule of texture_from_tensor_mapped;
     * attr_alloc 0: white size_px      side of a point in pixels, clamped to what the device can
     *   clear_rgba   0xAABBGGRR, red in the lowest byte
     * count 0 is a clear. false when refused. [frame] */
    bool (*draw_points)(CaliperTextureId view, const CaliperGeomCamera *camera,
                        CaliperAllocId pos_alloc, uint64_t pos_offset, uint64_t count,
                        CaliperAllocId attr_alloc, uint64_t attr_offset, int32_t colormap,
                        float vmin, float vmax, float size_px, uint32_t clear_rgba);
} CaliperGeometryV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperGeomCamera, 128);
CALIPER_LAYOUT_AT(CaliperGeomCamera, view, 0);
CALIPER_LAYOUT_AT(CaliperGeomCamera, proj, 64);

CALIPER_LAYOUT_SIZE(CaliperGeometryV1, 40);
CALIPER_LAYOUT_AT(CaliperGeometryV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperGeometryV1, caps, 8);
CALIPER_LAYOUT_AT(CaliperGeometryV1, create_view, 16);
CALIPER_LAYOUT_AT(CaliperGeometryV1, release_view, 24);
CALIPER_LAYOUT_AT(CaliperGeometryV1, draw_points, 32);

#endif
