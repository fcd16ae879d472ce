/* caliper/adapters/dlpack.h: tensors of DLPack as CaliperTensors, and the other way round.
 *
 * Header-only C, compiled by the applet; no header of DLPack is needed. The structs repeat the
 * layout of DLPack 1.1's published specification (https://dmlc.github.io/dlpack) under names of
 * their own, so that this header and <dlpack/dlpack.h> can meet in one file: cast the pointer.
 *
 * Nothing is ever copied: what a CaliperTensor cannot say is refused, and `why` names it. Rules:
 *   - dtypes: float 16, 32, bfloat 16, int 32, 64, uint 8; one lane;
 *   - at most 8 dimensions, row-major without gaps (strides NULL means just that);
 *   - devices: CPU and CUDA's page-locked host memory become CPU; CUDA and CUDA's managed memory
 *     become CUDA; Metal becomes METAL, where the byte offset must be 0.
 * Functions are for any thread; a hold is used by one thread at a time. `why` may be NULL; what is
 * written there is a literal. */
#ifndef CALIPER_ADAPTERS_DLPACK_H
#define CALIPER_ADAPTERS_DLPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <caliper/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack's own layout ---- */

typedef struct CaliperDLDevice {
    int32_t device_type; /* 1 CPU, 2 CUDA, 3 CUDA host, 8 Metal, 13 CUDA managed, ... */
    int32_t device_id;
} CaliperDLDevice;

typedef struct CaliperDLDataType {
    uint8_t code; /* 0 int, 1 uint, 2 float, 3 opaque, 4 bfloat, 5 complex, 6 bool, ... */
    uint8_t bits;
    uint16_t lanes;
} CaliperDLDataType;

typedef struct CaliperDLTensor {
    void *data;
    CaliperDLDevice device;
    int32_t ndim;
    CaliperDLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* elements; NULL: row-major without gaps */
    uint64_t byte_offset;
} CaliperDLTensor;

typedef struct CaliperDLManagedTensor {
    CaliperDLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct CaliperDLManagedTensor *self); /* may be NULL */
} CaliperDLManagedTensor;

typedef struct CaliperDLVersion {
    uint32_t major, minor;
} CaliperDLVersion;

#define CALIPER_DL_FLAG_READ_ONLY ((uint64_t)1 << 0)
#define CALIPER_DL_FLAG_IS_COPIED ((uint64_t)1 << 1)

typedef struct CaliperDLManagedTensorVersioned {
    CaliperDLVersion
        version; /* of another major one only this, manager_ctx and deleter are known */
    void *manager_ctx;
    void (*deleter)(struct CaliperDLManagedTensorVersioned *self); /* may be NULL */
    uint64_t flags;                                                /* CALIPER_DL_FLAG_* */
    CaliperDLTensor dl_tensor;
} CaliperDLManagedTensorVersioned;

CALIPER_LAYOUT_SIZE(CaliperDLTensor, 48);
CALIPER_LAYOUT_AT(CaliperDLTensor, device, 8);
CALIPER_LAYOUT_AT(CaliperDLTensor, ndim, 16);
CALIPER_LAYOUT_AT(CaliperDLTensor, dtype, 20);
CALIPER_LAYOUT_AT(CaliperDLTensor, shape, 24);
CALIPER_LAYOUT_AT(CaliperDLTensor, strides, 32);
CALIPER_LAYOUT_AT(CaliperDLTensor, byte_offset, 40);
CALIPER_LAYOUT_SIZE(CaliperDLManagedTensor, 64);
CALIPER_LAYOUT_SIZE(CaliperDLManagedTensorVersioned, 80);
CALIPER_LAYOUT_AT(CaliperDLManagedTensorVersioned, manager_ctx, 8);
CALIPER_LAYOUT_AT(CaliperDLManagedTensorVersioned, deleter, 16);
CALIPER_LAYOUT_AT(CaliperDLManagedTensorVersioned, flags, 24);
CALIPER_LAYOUT_AT(CaliperDLManagedTensorVersioned, dl_tensor, 32);

/* ---- What does not fit, by name ---- */

static inline bool caliper_dl_refuse(const char **why, const char *reason)
{
    if (why != NULL) {
        *why = reason;
    }
    return false;
}

static inline bool caliper_dl_dtype(CaliperDLDataType dtype, CaliperDType *out, const char **why)
{
    static const char *const codes[] = {
        "an integer of a width that CaliperTensor has not",
        "an unsigned integer other than 8 bits",
        "a float other than 16 or 32 bits",
        "an opaque handle",
        "a bfloat other than 16 bits",
        "a complex number",
        "bool: view it as uint8 first",
    };
    if (dtype.lanes != 1) {
        return caliper_dl_refuse(why, "vector lanes");
    }
    if (dtype.code == 2 && dtype.bits == 32) {
        *out = CALIPER_DT_F32;
    } else if (dtype.code == 2 && dtype.bits == 16) {
        *out = CALIPER_DT_F16;
    } else if (dtype.code == 4 && dtype.bits == 16) {
        *out = CALIPER_DT_BF16;
    } else if (dtype.code == 0 && dtype.bits == 64) {
        *out = CALIPER_DT_I64;
    } else if (dtype.code == 0 && dtype.bits == 32) {
        *out = CALIPER_DT_I32;
    } else if (dtype.code == 1 && dtype.bits == 8) {
        *out = CALIPER_DT_U8;
    } else {
        return caliper_dl_refuse(why, dtype.code < sizeof codes / sizeof codes[0]
                                          ? codes[dtype.code]
                                          : "a float of 8 bits or fewer, or a type still newer");
    }
    return true;
}

static inline bool caliper_dl_device(CaliperDLDevice device, CaliperTensor *out, const char **why)
{
    static const char *const names[] = {"no device",
                                        "",
                                        "",
                                        "",
                                        "OpenCL memory",
                                        "a device of no known kind",
                                        "a device of no known kind",
                                        "Vulkan memory: import it through tensor_bridge.v1_2",
                                        "",
                                        "VPI memory",
                                        "ROCm memory",
                                        "ROCm host memory",
                                        "an extension's device",
                                        "",
                                        "oneAPI memory",
                                        "WebGPU memory",
                                        "Hexagon memory",
                                        "MAIA memory"};
    switch (device.device_type) {
    case 1:
    case 3: /* page-locked: host memory like any other */
        out->device = CALIPER_DEV_CPU;
        out->device_index = 0;
        return true;
    case 2:
    case 13:
        out->device = CALIPER_DEV_CUDA;
        out->device_index = device.device_id;
        return true;
    case 8:
        out->device = CALIPER_DEV_METAL;
        out->device_index = device.device_id;
        return true;
    default:
        return caliper_dl_refuse(why, device.device_type >= 0 && (size_t)device.device_type <
                                                                     sizeof names / sizeof names[0]
                                          ? names[device.device_type]
                                          : "a device of no known kind");
    }
}

/* Whether offset and elements end within the address space; a Metal buffer has no address here. */
static inline bool caliper_dl_extent(const CaliperDLTensor *from, uint64_t elements,
                                     const char **why)
{
    const uint64_t element_bytes = from->dtype.bits / 8u;
    const uint64_t begin = from->device.device_type == 8 ? 0 : (uint64_t)(uintptr_t)from->data;
    if (elements > (uint64_t)INT64_MAX / element_bytes) {
        return caliper_dl_refuse(why, "more bytes than can be counted");
    }
    if (from->byte_offset > (uint64_t)UINTPTR_MAX - begin ||
        elements * element_bytes > (uint64_t)UINTPTR_MAX - begin - from->byte_offset) {
        return caliper_dl_refuse(why, "an offset or elements beyond the end of memory");
    }
    return true;
}

/* Extents, and strides that say row-major without gaps; those of extent 1 say nothing. */
static inline bool caliper_dl_shape(const CaliperDLTensor *from, CaliperTensor *out,
                                    const char **why)
{
    int64_t next = 1;
    bool is_empty = false;
    if (from->ndim < 0) {
        return caliper_dl_refuse(why, "a negative number of dimensions");
    }
    if (from->ndim > CALIPER_TENSOR_MAX_DIMS) {
        return caliper_dl_refuse(why, "more than 8 dimensions");
    }
    if (from->ndim > 0 && from->shape == NULL) {
        return caliper_dl_refuse(why, "dimensions without a shape");
    }
    out->ndim = from->ndim;
    for (int32_t i = 0; i < from->ndim; i++) {
        if (from->shape[i] < 0) {
            return caliper_dl_refuse(why, "a negative extent");
        }
        is_empty = is_empty || from->shape[i] == 0;
    }
    for (int32_t i = from->ndim - 1; i >= 0; i--) {
        int64_t extent = from->shape[i];
        int64_t stride = from->strides != NULL ? from->strides[i] : next;
        if (stride != next && extent != 1 && !is_empty) {
            return caliper_dl_refuse(why, "elements that are not row-major without gaps: make the "
                                          "tensor contiguous first");
        }
        out->shape[i] = extent;
        out->strides[i] = stride;
        if (extent > 0 && next > INT64_MAX / extent) {
            return caliper_dl_refuse(why, "more elements than can be counted");
        }
        next *= extent > 0 ? extent : 1;
    }
    if (from->data == NULL && !is_empty) {
        return caliper_dl_refuse(why, "elements without data");
    }
    return caliper_dl_extent(from, is_empty ? 0 : (uint64_t)next, why);
}

/* Describes the same memory; borrows it, and takes nothing over. `stream` is the one on which it
 * may be read: for CUDA the one that the producer was asked to be ready on (see
 * caliper_dl_stream_argument), NULL for the legacy default stream. False and *why: *out is as it
 * was. */
static inline bool caliper_from_dltensor(const CaliperDLTensor *from, void *stream,
                                         CaliperTensor *out, const char **why)
{
    CaliperTensor made;
    memset(&made, 0, sizeof made);
    made.struct_size = sizeof made;
    if (from == NULL || out == NULL) {
        return caliper_dl_refuse(why, "no tensor");
    }
    if (!caliper_dl_dtype(from->dtype, &made.dtype, why) ||
        !caliper_dl_device(from->device, &made, why) || !caliper_dl_shape(from, &made, why)) {
        return false;
    }
    if (made.device == CALIPER_DEV_METAL && from->byte_offset != 0) {
        return caliper_dl_refuse(why, "an offset into a Metal buffer: clone the view first");
    }
    made.data =
        from->data == NULL ? NULL : (void *)((uintptr_t)from->data + (uintptr_t)from->byte_offset);
    made.stream = made.device == CALIPER_DEV_CPU ? NULL : stream;
    *out = made;
    return true;
}

/* ---- Taking a managed tensor over ---- */

/* A managed tensor that is ours until caliper_dl_release. Zeroed: it holds nothing. */
typedef struct CaliperDLHold {
    CaliperTensor tensor;
    bool read_only; /* the producer asked not to write; Caliper never does */
    CaliperDLManagedTensor *managed;
    CaliperDLManagedTensorVersioned *versioned;
} CaliperDLHold;

/* False: *hold is zeroed, and `managed` stays the caller's, who still has to call its deleter. */
static inline bool caliper_dl_hold(CaliperDLManagedTensor *managed, void *stream,
                                   CaliperDLHold *hold, const char **why)
{
    memset(hold, 0, sizeof *hold);
    if (managed == NULL) {
        return caliper_dl_refuse(why, "no tensor");
    }
    if (!caliper_from_dltensor(&managed->dl_tensor, stream, &hold->tensor, why)) {
        return false;
    }
    hold->managed = managed;
    return true;
}

static inline bool caliper_dl_hold_versioned(CaliperDLManagedTensorVersioned *managed, void *stream,
                                             CaliperDLHold *hold, const char **why)
{
    memset(hold, 0, sizeof *hold);
    if (managed == NULL) {
        return caliper_dl_refuse(why, "no tensor");
    }
    if (managed->version.major != 1) {
        return caliper_dl_refuse(why, "a major version of DLPack other than 1");
    }
    if (!caliper_from_dltensor(&managed->dl_tensor, stream, &hold->tensor, why)) {
        return false;
    }
    hold->read_only = (managed->flags & CALIPER_DL_FLAG_READ_ONLY) != 0;
    hold->versioned = managed;
    return true;
}

/* Calls the producer's deleter, once; a hold of nothing is accepted. Not before every update that
 * reads the memory is done: for a CUDA tensor the update is stream-ordered, so release it behind
 * work of the same stream, or at the next update of the texture. */
static inline void caliper_dl_release(CaliperDLHold *hold)
{
    CaliperDLHold was = *hold;
    memset(hold, 0, sizeof *hold);
    if (was.managed != NULL && was.managed->deleter != NULL) {
        was.managed->deleter(was.managed);
    }
    if (was.versioned != NULL && was.versioned->deleter != NULL) {
        was.versioned->deleter(was.versioned);
    }
}

/* ---- Giving a tensor away ---- */

/* What stands behind an exported tensor. One of the two forms is handed out. */
typedef struct CaliperDLExport {
    CaliperDLManagedTensor managed;
    CaliperDLManagedTensorVersioned versioned;
    int64_t shape[CALIPER_TENSOR_MAX_DIMS];
    int64_t strides[CALIPER_TENSOR_MAX_DIMS];
    void *owner;
    void (*release)(void *owner);
} CaliperDLExport;

static inline void caliper_dl_export_end(CaliperDLExport *made)
{
    void *owner = made->owner;
    void (*release)(void *) = made->release;
    free(made);
    if (release != NULL) {
        release(owner);
    }
}

static inline void caliper_dl_export_delete(CaliperDLManagedTensor *self)
{
    caliper_dl_export_end((CaliperDLExport *)self->manager_ctx);
}

static inline void caliper_dl_export_delete_versioned(CaliperDLManagedTensorVersioned *self)
{
    caliper_dl_export_end((CaliperDLExport *)self->manager_ctx);
}

/* The two constants of a DLPack type, or false for a value that is no CaliperDType. */
static inline bool caliper_dl_type_of(CaliperDType dtype, CaliperDLDataType *out)
{
    static const CaliperDLDataType types[] = {{2, 32, 1}, {2, 16, 1}, {4, 16, 1},
                                              {0, 64, 1}, {0, 32, 1}, {1, 8, 1}};
    if ((unsigned)dtype >= sizeof types / sizeof types[0]) {
        return false;
    }
    *out = types[dtype];
    return true;
}

static inline CaliperDLExport *caliper_dl_export(const CaliperTensor *from, void *owner,
                                                 void (*release)(void *owner), const char **why)
{
    static const int32_t devices[] = {1, 2, 8}; /* by CaliperDeviceKind */
    CaliperDLTensor tensor;
    memset(&tensor, 0, sizeof tensor);
    if (from == NULL || from->struct_size < sizeof *from) {
        caliper_dl_refuse(why, "no tensor, or a struct_size that is too small");
        return NULL;
    }
    if (from->ndim < 0 || from->ndim > CALIPER_TENSOR_MAX_DIMS) {
        caliper_dl_refuse(why, "a number of dimensions outside 0..8");
        return NULL;
    }
    if (!caliper_dl_type_of(from->dtype, &tensor.dtype) ||
        (unsigned)from->device >= sizeof devices / sizeof devices[0]) {
        caliper_dl_refuse(why, "a dtype or a device that is none of Caliper's");
        return NULL;
    }
    CaliperDLExport *made = (CaliperDLExport *)calloc(1, sizeof *made);
    if (made == NULL) {
        caliper_dl_refuse(why, "no memory");
        return NULL;
    }
    memcpy(made->shape, from->shape, sizeof made->shape);
    memcpy(made->strides, from->strides, sizeof made->strides);
    made->owner = owner;
    made->release = release;
    tensor.data = from->data;
    tensor.device.device_type = devices[from->device];
    tensor.device.device_id = from->device == CALIPER_DEV_CPU ? 0 : from->device_index;
    tensor.ndim = from->ndim;
    tensor.shape = made->shape;
    tensor.strides = made->strides;
    made->managed.dl_tensor = tensor;
    made->managed.manager_ctx = made;
    made->managed.deleter = caliper_dl_export_delete;
    made->versioned.version.major = 1;
    made->versioned.version.minor = 0;
    made->versioned.dl_tensor = tensor;
    made->versioned.manager_ctx = made;
    made->versioned.deleter = caliper_dl_export_delete_versioned;
    return made;
}

/* A managed tensor over the same memory. When its consumer calls the deleter, release(owner) is
 * called, once, on the consumer's thread; `release` may be NULL. NULL and *why: nothing was taken.
 * The consumer reads on a stream of its own: have it wait for from->stream first. */
static inline CaliperDLManagedTensor *caliper_to_dlpack(const CaliperTensor *from, void *owner,
                                                        void (*release)(void *owner),
                                                        const char **why)
{
    CaliperDLExport *made = caliper_dl_export(from, owner, release, why);
    return made != NULL ? &made->managed : NULL;
}

/* The same in the form of DLPack 1.x. */
static inline CaliperDLManagedTensorVersioned *
caliper_to_dlpack_versioned(const CaliperTensor *from, bool read_only, void *owner,
                            void (*release)(void *owner), const char **why)
{
    CaliperDLExport *made = caliper_dl_export(from, owner, release, why);
    if (made == NULL) {
        return NULL;
    }
    made->versioned.flags = read_only ? CALIPER_DL_FLAG_READ_ONLY : 0;
    return &made->versioned;
}

/* What to give to a Python producer's `__dlpack__(stream=...)` so that its tensor may be read on
 * `stream`, a cudaStream_t: the array API standard reserves 0 and calls CUDA's legacy default
 * stream 1. */
static inline int64_t caliper_dl_stream_argument(const void *stream)
{
    return stream == NULL ? 1 : (int64_t)(intptr_t)stream;
}

#ifdef __cplusplus
}
#endif

#endif
