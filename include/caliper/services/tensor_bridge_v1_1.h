/* caliper.tensor_bridge.v1_1: the bridge, and what this host's bridge can do beyond v1.
 *
 * Frozen. The first six slots are those of tensor_bridge_v1.h, with the same meaning and the same
 * texture ids; read that header first. Every slot is [frame]. */
#ifndef CALIPER_SERVICES_TENSOR_BRIDGE_V1_1_H
#define CALIPER_SERVICES_TENSOR_BRIDGE_V1_1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/tensor.h>

#define CALIPER_TENSOR_BRIDGE_V1_1 "caliper.tensor_bridge.v1_1"

/* The host orders its reading of a GPU tensor after what the producer enqueued on
 * CaliperTensor.stream, so that no CPU thread has to drain the device. Unset: drain first. */
#define CALIPER_BRIDGE_CAP_STREAM_ORDERED (1u << 0)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperTensorBridgeV1_1 {
    uint32_t struct_size;
    CaliperTextureId (*texture_from_tensor)(const CaliperTensor *t, uint32_t flags);
    bool (*update_texture)(CaliperTextureId tex, const CaliperTensor *t);
    void (*release_texture)(CaliperTextureId tex);
    CaliperTextureId (*texture_from_tensor_mapped)(const CaliperTensor *t, int32_t colormap,
                                                   float vmin, float vmax, uint32_t flags);
    bool (*alloc_shared)(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture);
    void (*free_shared)(CaliperTextureId tex);

    /* CALIPER_BRIDGE_CAP_* bits, constant for the process; bits not known here are to be ignored.
     * A bit is set only where it holds for the renderer that runs. Cannot fail. [frame] */
    uint32_t (*caps)(void);
} CaliperTensorBridgeV1_1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperTensorBridgeV1_1, 64);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, texture_from_tensor, 8);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, update_texture, 16);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, release_texture, 24);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, texture_from_tensor_mapped, 32);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, alloc_shared, 40);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, free_shared, 48);
CALIPER_LAYOUT_AT(CaliperTensorBridgeV1_1, caps, 56);

#endif
