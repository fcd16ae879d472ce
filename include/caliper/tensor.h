/* caliper/tensor.h: the description of a tensor, wherever it lives.
 *
 * Frozen. A CaliperTensor borrows memory, it never owns it: whoever fills it keeps `data` alive and
 * unchanged for the call it is passed to, or longer where a slot says so. No reader keeps the
 * descriptor's address. */
#ifndef CALIPER_TENSOR_H
#define CALIPER_TENSOR_H

#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/device_v1.h>

/* Most dimensions a descriptor can carry. */
#define CALIPER_TENSOR_MAX_DIMS 8

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. Multi-byte elements are in the machine's byte order. */
typedef enum CaliperDType {
    CALIPER_DT_F32 = 0,  /* IEEE 754 binary32 */
    CALIPER_DT_F16 = 1,  /* IEEE 754 binary16 */
    CALIPER_DT_BF16 = 2, /* the upper half of a binary32 */
    CALIPER_DT_I64 = 3,
    CALIPER_DT_I32 = 4,
    CALIPER_DT_U8 = 5
} CaliperDType;

typedef struct CaliperTensor {
    uint32_t struct_size;

    /* First element. A host address for CPU, a device address for CUDA (any offset already added),
     * the MTLBuffer object for METAL (whose first byte is the first element). */
    void *data;

    CaliperDType dtype;
    int32_t ndim;       /* dimensions in use, 0..8 */
    int64_t shape[8];   /* elements along each; outermost first */
    int64_t strides[8]; /* ELEMENTS (not bytes) between neighbours along each; row-major without
                         * gaps means strides[ndim-1] == 1. Of a dimension of extent 1 the stride
                         * has no meaning and is not compared. */

    CaliperDeviceKind device; /* where `data` lives */
    int32_t device_index;     /* the CUDA ordinal; 0 for CPU and METAL */

    /* The queue on which the producer's writes are enqueued: a cudaStream_t, an MTLCommandQueue *,
     * or NULL. Borrowed for the call. NULL with a CUDA tensor is CUDA's legacy default stream.
     * Ignored for CPU tensors. A host orders on it only where its bridge says so
     * (CALIPER_BRIDGE_CAP_STREAM_ORDERED); otherwise drain the device first and leave NULL. */
    void *stream;
} CaliperTensor;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperDType, 4);
CALIPER_LAYOUT_SIZE(CaliperTensor, 168);
CALIPER_LAYOUT_AT(CaliperTensor, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperTensor, data, 8);
CALIPER_LAYOUT_AT(CaliperTensor, dtype, 16);
CALIPER_LAYOUT_AT(CaliperTensor, ndim, 20);
CALIPER_LAYOUT_AT(CaliperTensor, shape, 24);
CALIPER_LAYOUT_AT(CaliperTensor, strides, 88);
CALIPER_LAYOUT_AT(CaliperTensor, device, 152);
CALIPER_LAYOUT_AT(CaliperTensor, device_index, 156);
CALIPER_LAYOUT_AT(CaliperTensor, stream, 160);

#endif
