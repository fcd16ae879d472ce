/* bridge/gate.h: whether a call's arguments are accepted, and what is then to be done.
 *
 * Pure functions, one per entry point: an ask goes in, a reason comes out. They touch nothing but
 * the ask and the plan, are total over any bytes, and read a caller's struct once, so that what was
 * checked is what is used. Checks run in the order of docs/architecture.md ("The gate"); the first
 * failure wins. Included by bridge/, tests and fuzzers. Any thread. */
#ifndef CALIPER_BRIDGE_GATE_H
#define CALIPER_BRIDGE_GATE_H

#include <caliper/services/tensor_bridge_v1_2.h>
#include <caliper/tensor.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/renderer.h"

/* GATE_REASON(name, what was wanted). Where the wanted depends on the ask, gate_explain writes it.
 */
#define GATE_REASONS(GATE_REASON)                                                               \
    GATE_REASON(OK, "nothing else")                                                             \
    /* the tensor */                                                                            \
    GATE_REASON(NULL_TENSOR, "a CaliperTensor")                                                 \
    GATE_REASON(STRUCT_SIZE, "at least 168, the size of CaliperTensor")                         \
    GATE_REASON(NULL_DATA, "the address of the first element")                                  \
    GATE_REASON(DTYPE_UNKNOWN, "a CaliperDType, 0 to 5")                                        \
    GATE_REASON(DEVICE_UNKNOWN, "a CaliperDeviceKind, 0 to 2")                                  \
    GATE_REASON(NDIM, "0 to 8 dimensions")                                                      \
    GATE_REASON(EXTENT_BELOW_1, "extents of at least 1")                                        \
    GATE_REASON(EXTENT_OVERFLOW, "bytes that fit into the address space")                       \
    GATE_REASON(TOO_MANY_BYTES, "no more bytes than the renderer can read")                     \
    GATE_REASON(TOO_MANY_PIXELS, "no more pixels a side than the renderer can make")            \
    GATE_REASON(NOT_CONTIGUOUS, "row-major strides without gaps, in elements")                  \
    GATE_REASON(DIRECT_DTYPE, "u8; f32 goes through texture_from_tensor_mapped")                \
    GATE_REASON(DIRECT_RANK, "3 dimensions: (H, W, C)")                                         \
    GATE_REASON(MAPPED_DTYPE, "f32; u8 goes through texture_from_tensor")                       \
    GATE_REASON(MAPPED_RANK, "2 dimensions: (H, W)")                                            \
    GATE_REASON(UPDATE_DTYPE, "the dtype of the texture")                                       \
    GATE_REASON(UPDATE_SHAPE, "the shape of the texture")                                       \
    GATE_REASON(SHARED_DTYPE, "f32 or u8")                                                      \
    GATE_REASON(SHARED_RANK, "(H, W) f32 or (H, W, C) u8")                                      \
    GATE_REASON(CHANNELS, "1 to 4 channels")                                                    \
    GATE_REASON(COLORMAP, "a CaliperColormap, 0 to 2")                                          \
    GATE_REASON(RANGE_NAN, "numbers")                                                           \
    GATE_REASON(RANGE_INFINITE, "finite ends, or vmin equal to vmax")                           \
    GATE_REASON(RANGE_NARROW, "|vmax - vmin| of at least 2^-90, or vmin equal to vmax")         \
    GATE_REASON(RANGE_WIDE, "|vmax - vmin| of at most 2^126")                                   \
    GATE_REASON(FOREIGN_DEVICE, "a tensor on the cpu: this renderer reads no other memory")     \
    GATE_REASON(DEVICE_INDEX, "the renderer's device, or a tensor on the cpu")                  \
    GATE_REASON(DEVICE_ALIGNMENT, "an address that is a multiple of the element's size")        \
    /* alloc_shared */                                                                          \
    GATE_REASON(NULL_SHAPE, "ndim extents")                                                     \
    GATE_REASON(NULL_OUTPUT, "places for both answers")                                         \
    /* imported allocations */                                                                  \
    GATE_REASON(OFFSET_OUTSIDE, "an offset inside the allocation")                              \
    GATE_REASON(BYTES_OUTSIDE, "elements that end inside the allocation")                       \
    GATE_REASON(OFFSET_ALIGNMENT, "an offset that is a multiple of the element's size")         \
    GATE_REASON(HANDLE_TYPE_UNKNOWN, "one of CALIPER_ALLOC_HANDLE_*")                           \
    GATE_REASON(HANDLE_TYPE_UNSUPPORTED, "a renderer that imports such handles")                \
    GATE_REASON(HANDLE_INVALID, "a valid handle")                                               \
    GATE_REASON(ALLOC_SIZE, "the allocation's size, at least 1 byte")                           \
    GATE_REASON(HOST_POINTER_PAGES, "whole pages: address and size multiples of the page size") \
    /* what only the bridge knows */                                                            \
    GATE_REASON(NO_BRIDGE, "a host whose renderer has started")                                 \
    GATE_REASON(WRONG_THREAD, "the frame thread, inside frame()")                               \
    GATE_REASON(RENDERER_LOST, "a renderer that is not lost; try again in the next frame")      \
    GATE_REASON(ID_ZERO, "an id that was given out")                                            \
    GATE_REASON(ID_UNKNOWN, "an id that was given out")                                         \
    GATE_REASON(ID_STALE, "an id that was not released")                                        \
    GATE_REASON(ID_SHARED, "a texture of texture_from_tensor or texture_from_tensor_mapped")    \
    GATE_REASON(ID_ORDINARY, "a texture of alloc_shared")                                       \
    GATE_REASON(IDS_SPENT, "fewer live textures or allocations")                                \
    GATE_REASON(ALLOC_GONE, "an allocation imported after the renderer changed")                \
    GATE_REASON(NULL_BUFFER, "an address to write to")                                          \
    GATE_REASON(SHORT_BUFFER, "4 bytes for each pixel")                                         \
    GATE_REASON(NO_PIXELS, "a texture updated after the renderer changed")

typedef enum GateReason {
#define GATE_REASON(name, wanted) GATE_##name,
    GATE_REASONS(GATE_REASON)
#undef GATE_REASON
        GATE_REASON_COUNT
} GateReason;

/* What the renderer that runs can do. */
typedef struct GateLimits {
    int32_t max_texture_px;    /* per side */
    uint64_t max_source_bytes; /* of one source */
    uint64_t page_bytes;
    uint32_t renderer_caps; /* RENDERER_CAP_* */
    int32_t interop_index;  /* CUDA ordinal of DEVICE sources; -1: none */
} GateLimits;

/* What an accepted call comes down to. `seen` is filled as far as the check came, also on refusal.
 */
typedef struct GatePlan {
    int32_t width_px, height_px;
    RendererPass pass;
    uint64_t extent_bytes;     /* of the elements */
    RendererSourceKind source; /* HOST, DEVICE or ALLOC */
    void *stream;              /* NULL for host memory */
    CaliperTensor seen;        /* the caller's descriptor, read once */
} GatePlan;

/* One call's arguments; the fields that its entry point has. */
typedef struct GateAsk {
    GateLimits limits;
    const CaliperTensor *tensor; /* the descriptor; alloc_shared: where it is to be written */
    int32_t colormap;            /* texture_from_tensor_mapped */
    float vmin, vmax;
    const GatePlan *texture; /* update: the plan it was created with */
    uint64_t alloc_bytes;    /* update_from_alloc: size of the import; import: the claimed size */
    uint64_t offset_bytes;
    CaliperDType dtype; /* alloc_shared */
    int32_t ndim;
    const int64_t *shape;
    const CaliperTextureId *out_texture;
    void *os_handle; /* import_allocation */
    uint32_t handle_type;
} GateAsk;

GateReason gate_check_direct(const GateAsk *ask, GatePlan *plan);
GateReason gate_check_mapped(const GateAsk *ask, GatePlan *plan);
GateReason gate_check_update(const GateAsk *ask, GatePlan *plan);
GateReason gate_check_shared(const GateAsk *ask, GatePlan *plan);
GateReason gate_check_from_alloc(const GateAsk *ask, GatePlan *plan);
GateReason gate_check_import(const GateAsk *ask, GatePlan *plan);

/* The range rule alone: fills vmin and inv of the pass (both 0 where vmin == vmax). */
GateReason gate_check_range(float vmin, float vmax, RendererPass *pass);

/* gate_text.c: "NOT_CONTIGUOUS"; never NULL. */
const char *gate_reason_name(GateReason reason);
const char *gate_reason_wanted(GateReason reason);

typedef struct GateText {
    char given[400];
    char wanted[256];
} GateText;
/* In words what an ask gave and what was wanted, for a reason of the six checks. */
void gate_explain(GateReason reason, const GateAsk *ask, const GatePlan *plan, GateText *out);

#endif
