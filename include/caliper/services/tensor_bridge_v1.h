/* caliper.tensor_bridge.v1: a tensor becomes a texture that this frame can draw.
 *
 * Frozen. No graphics API appears: a texture is a number, and the host knows what is behind it.
 * Every slot is [frame]; from another thread a call is refused, not executed. A refusal is 0 or
 * false and exactly one log line that names the call, what was given and what was wanted; it never
 * changes a texture or shows misread bytes. Thread tags: caliper/caliper.h.
 *
 * What is accepted:
 *   - `data` not NULL, a struct_size that covers CaliperTensor, a known dtype and device;
 *   - every extent >= 1, products that do not overflow and that the renderer can hold;
 *   - row-major without gaps (strides in elements; of an extent of 1 they are not compared);
 *   - (H, W) f32 for texture_from_tensor_mapped, (H, W, C) u8 with C 1..4 for texture_from_tensor;
 *   - device CPU, or the device the renderer shares memory with, at the same index.
 * Row 0 is the top row. C = 4 is RGBA, C = 3 RGB, C = 2 grey and alpha, C = 1 grey; where there is
 * no alpha it is 255.
 *
 * Order with a GPU producer: drain the device before the call, or use v1_1's caps(). */
#ifndef CALIPER_SERVICES_TENSOR_BRIDGE_V1_H
#define CALIPER_SERVICES_TENSOR_BRIDGE_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/tensor.h>

#define CALIPER_TENSOR_BRIDGE_V1 "caliper.tensor_bridge.v1"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque: 0 is invalid, otherwise only to be compared, drawn (the value may be cast to Dear ImGui's
 * ImTextureID as it is) and handed back. A released id is refused. */
typedef uint64_t CaliperTextureId;

/* Tables of 256 RGBA8 entries, the same bytes on every renderer. */
typedef enum CaliperColormap {
    CALIPER_CMAP_VIRIDIS = 0,
    CALIPER_CMAP_MAGMA = 1,
    CALIPER_CMAP_RDBU = 2 /* red to blue through white; for ranges symmetric about zero */
} CaliperColormap;

typedef struct CaliperTensorBridgeV1 {
    uint32_t struct_size;

    /* Makes a texture of W x H pixels from an (H, W, C) u8 tensor. `flags`: 0, the rest is ignored.
     * The texture is the caller's until release_texture. The tensor's memory may change after the
     * call returns (for a GPU tensor: in stream order). 0 when refused. [frame] */
    CaliperTextureId (*texture_from_tensor)(const CaliperTensor *t, uint32_t flags);

    /* Shows new contents in an existing texture: same shape and dtype as at its creation, from any
     * accepted device; colormap and range stay as they were created. Create once, then update.
     * Also refreshes a texture of alloc_shared at once. false when refused. [frame] */
    bool (*update_texture)(CaliperTextureId tex, const CaliperTensor *t);

    /* Ends a texture of texture_from_tensor or texture_from_tensor_mapped. What was already drawn
     * in this frame keeps its pixels. Any other id is refused with one line. [frame] */
    void (*release_texture)(CaliperTextureId tex);

    /* Makes a texture from an (H, W) f32 tensor through a table of CaliperColormap:
     *     index = (int)(clamp((v - vmin) * (1 / (vmax - vmin)), 0, 1) * 255 + 0.5)
     * in binary32. NaN shows entry 0; vmin > vmax reverses the map; vmin == vmax shows entry 0
     * everywhere; a range that is not finite, or too narrow or wide for that formula (|vmax - vmin|
     * outside 2^-90 .. 2^126), is refused. Otherwise as texture_from_tensor. [frame] */
    CaliperTextureId (*texture_from_tensor_mapped)(const CaliperTensor *t, int32_t colormap,
                                                   float vmin, float vmax, uint32_t flags);

    /* Allocates host memory that is the texture's source, and fills *out_tensor (device CPU,
     * row-major; struct_size written by the host) and *out_texture. Write through out_tensor->data
     * from any thread; the host shows what is there when a frame draws the texture. `shape` has
     * `ndim` extents, outermost first: (H, W) f32, shown as viridis over [0, 1], or (H, W, C) u8.
     * The host owns the memory; it is gone after free_shared. false when refused, with both outputs
     * untouched. [frame] */
    bool (*alloc_shared)(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture);

    /* Ends a texture of alloc_shared and its memory. Any other id is refused with one line.
     * [frame] */
    void (*free_shared)(CaliperTextureId tex);
} CaliperTensorBridgeV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperTextureId, 8);
CALIPER_LAYOUT_SIZE(CaliperColormap, 4);
CALIPER_LAYOUT_SIZE(CaliperTensorBridgeV1, 56);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, texture_from_tensor, 8);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, update_texture, 16);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, release_texture, 24);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, texture_from_tensor_mapped, 32);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, alloc_shared, 40);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1, free_shared, 48);

#endif
