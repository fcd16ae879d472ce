/* caliper.tensor_bridge.v1_2: the bridge, and memory of the applet's own read in place.
 *
 * Frozen. The first seven slots are those of tensor_bridge_v1.h and v1_1.h, with the same meaning
 * and the same texture ids; read those headers first. Every slot is [frame]. Use the last three
 * only where caps() has CALIPER_BRIDGE_CAP_IMPORT_ALLOC; elsewhere they refuse, and update_texture
 * is the way. */
#ifndef CALIPER_SERVICES_TENSOR_BRIDGE_V1_2_H
#define CALIPER_SERVICES_TENSOR_BRIDGE_V1_2_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/tensor_bridge_v1_1.h>
#include <caliper/tensor.h>

#define CALIPER_TENSOR_BRIDGE_V1_2 "caliper.tensor_bridge.v1_2"

/* import_allocation, release_allocation and update_texture_from_alloc do their work. */
#define CALIPER_BRIDGE_CAP_IMPORT_ALLOC (1u << 1)

/* What `os_handle` of import_allocation is. */
#define CALIPER_ALLOC_HANDLE_OPAQUE_WIN32 1u     /* a shareable NT handle */
#define CALIPER_ALLOC_HANDLE_OPAQUE_FD    2u     /* a file descriptor: (void *)(intptr_t)fd */
#define CALIPER_ALLOC_HANDLE_MTLBUFFER    3u     /* an id<MTLBuffer> of this process */
#define CALIPER_ALLOC_HANDLE_HOST_POINTER 0x100u /* host memory, page-aligned address and size */

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque: 0 is invalid, otherwise only to be compared and handed back. */
typedef uint64_t CaliperAllocId;

typedef struct CaliperTensorBridgeV1_2 {
    uint32_t struct_size;
    CaliperTextureId (*texture_from_tensor)(const CaliperTensor *t, uint32_t flags);
    bool (*update_texture)(CaliperTextureId tex, const CaliperTensor *t);
    void (*release_texture)(CaliperTextureId tex);
    CaliperTextureId (*texture_from_tensor_mapped)(const CaliperTensor *t, int32_t colormap,
                                                   float vmin, float vmax, uint32_t flags);
    bool (*alloc_shared)(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture);
    void (*free_shared)(CaliperTextureId tex);
    uint32_t (*caps)(void);

    /* Lets the host read an allocation of the applet's: the handle that the allocating API exported
     * (CUDA: cuMemExportToShareableHandle), the allocation's size in bytes, and one of
     * CALIPER_ALLOC_HANDLE_*. The host takes a duplicate (a retain, for an MTLBuffer); the caller
     * keeps and closes its own. Memory behind HOST_POINTER must stay mapped until
     * release_allocation. 0 when refused. [frame] */
    CaliperAllocId (*import_allocation)(void *os_handle, uint64_t size_bytes, uint32_t handle_type);

    /* Ends an import; may be called while frames in flight still read it. Textures updated from it
     * keep their pixels. An unknown id is refused with one line. [frame] */
    void (*release_allocation)(CaliperAllocId alloc);

    /* As update_texture, with the elements at `offset_bytes` of the allocation: `desc` gives shape,
     * dtype, strides and stream, its `data` is not looked at. `tex` comes from texture_from_tensor
     * or texture_from_tensor_mapped. The bytes are read in place and not copied: do not rewrite
     * them before the next update of this texture. false when refused, pixels untouched. [frame] */
    bool (*update_texture_from_alloc)(CaliperTextureId tex, CaliperAllocId alloc,
                                      uint64_t offset_bytes, const CaliperTensor *desc);
} CaliperTensorBridgeV1_2;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperAllocId, 8);
CALIPER_LAYOUT_SIZE(CaliperTensorBridgeV1_2, 88);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, texture_from_tensor, 8);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, update_texture, 16);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, release_texture, 24);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, texture_from_tensor_mapped, 32);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, alloc_shared, 40);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, free_shared, 48);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, caps, 56);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, import_allocation, 64);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, release_allocation, 72);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_2, update_texture_from_alloc, 80);

#endif
