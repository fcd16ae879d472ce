/* cuda/cuda_driver.h: the CUDA driver API, loaded at run time. Private to src/cuda/.
 *
 * src/cuda/ knows one CUDA device through its primary context: what it is, whether a pointer can be
 * read, and how to run the bridge's passes where a tensor lives. render/vulkan and services/device
 * use it through cuda_device.h, cuda_pass.h and cuda_external.h. No header or library of CUDA is
 * needed to build or start; types and layouts are those of the published driver API (checked
 * against cuda.h by a test where that is installed). The lowest driver is 460 (CUDA 11.2: timeline
 * semaphores as file descriptors); CALIPER_CUDA_LIBRARY names another library than libcuda.so.1. */
#ifndef CALIPER_CUDA_DRIVER_H
#define CALIPER_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CudaResult; /* CUresult; 0 is success */
typedef int CudaDeviceHandle;
typedef struct CUctx_st *CudaContext;
typedef struct CUmod_st *CudaModule;
typedef struct CUfunc_st *CudaFunction;
typedef struct CUstream_st *CudaStream;
typedef struct CUevent_st *CudaEvent;
typedef struct CUextMemory_st *CudaExternalMemory;
typedef struct CUextSemaphore_st *CudaExternalSemaphore;
typedef struct CUmipmappedArray_st *CudaMipmappedArray;
typedef struct CUarray_st *CudaArray;
typedef unsigned long long CudaPointer;
typedef unsigned long long CudaSurfaceObject;
typedef unsigned long long CudaMemoryHandle;

enum {
    CUDA_ERROR_INVALID_VALUE_CODE = 1,
    CUDA_ERROR_OUT_OF_MEMORY_CODE = 2,
    CUDA_ERROR_INVALID_HANDLE_CODE = 400,
    CUDA_ERROR_NOT_READY_CODE = 600,
    CUDA_ERROR_NOT_SUPPORTED_CODE = 801,
    CUDA_HANDLE_TYPE_OPAQUE_FD = 1,
    CUDA_SEMAPHORE_TYPE_TIMELINE_FD = 9,
    CUDA_EXTERNAL_DEDICATED = 1,
    CUDA_FORMAT_UNSIGNED_INT8 = 1,
    CUDA_ARRAY_SURFACE_LOAD_STORE = 2,
    CUDA_RESOURCE_ARRAY = 0,
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_EVENT_DISABLE_TIMING = 2,
    CUDA_CAPTURE_NONE = 0,
    CUDA_CAPTURE_MODE_RELAXED = 2,
    CUDA_ATTRIBUTE_MEMORY_TYPE = 2,
    CUDA_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CUDA_MEMORY_TYPE_HOST = 1,
    CUDA_MEMORY_TYPE_DEVICE = 2,
    CUDA_DEVICE_COMPUTE_MAJOR = 75,
    CUDA_DEVICE_COMPUTE_MINOR = 76,
    CUDA_LOCATION_DEVICE = 1,
    CUDA_ACCESS_READ_WRITE = 3,
    CUDA_MEMORY_HANDLE_FD = 1
};

typedef struct CudaExternalMemoryDesc {
    int type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
    } handle;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
} CudaExternalMemoryDesc;

typedef struct CudaExternalBufferDesc {
    unsigned long long offset;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
} CudaExternalBufferDesc;

typedef struct CudaArray3dDesc {
    size_t width, height, depth;
    int format;
    unsigned int channels;
    unsigned int flags;
} CudaArray3dDesc;

typedef struct CudaExternalArrayDesc {
    unsigned long long offset;
    CudaArray3dDesc array;
    unsigned int levels;
    unsigned int reserved[16];
} CudaExternalArrayDesc;

typedef struct CudaExternalSemaphoreDesc {
    int type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
    } handle;
    unsigned int flags;
    unsigned int reserved[16];
} CudaExternalSemaphoreDesc;

typedef struct CudaSemaphoreSignalParams {
    struct {
        unsigned long long fence_value;
        unsigned long long nv_sci_sync;
        unsigned long long keyed_mutex_key;
        unsigned int reserved[12];
    } params;
    unsigned int flags;
    unsigned int reserved[16];
} CudaSemaphoreSignalParams;

typedef struct CudaResourceDesc {
    int type;
    union {
        CudaArray array;
        int reserved[32];
    } resource;
    unsigned int flags;
} CudaResourceDesc;

typedef struct CudaAccessDesc {
    struct {
        int type;
        int id;
    } location;
    int flags;
} CudaAccessDesc;

typedef struct CudaUuid {
    unsigned char bytes[16];
} CudaUuid;

/* One line a function: result type CudaResult, member name = the entry point's unversioned name. */
#define CUDA_DRIVER_FUNCTIONS(X)                                                                   \
    X(cuInit, "cuInit", (unsigned int flags))                                                      \
    X(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                    \
    X(cuGetErrorName, "cuGetErrorName", (CudaResult error, const char **name))                     \
    X(cuGetErrorString, "cuGetErrorString", (CudaResult error, const char **text))                 \
    X(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                          \
    X(cuDeviceGet, "cuDeviceGet", (CudaDeviceHandle * device, int ordinal))                        \
    X(cuDeviceGetName, "cuDeviceGetName", (char *name, int bytes, CudaDeviceHandle device))        \
    X(cuDeviceGetUuid, "cuDeviceGetUuid", (CudaUuid * uuid, CudaDeviceHandle device))              \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, CudaDeviceHandle device))          \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute",                                                \
      (int *value, int attribute, CudaDeviceHandle device))                                        \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                        \
      (CudaContext * context, CudaDeviceHandle device))                                            \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CudaDeviceHandle device))        \
    X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState",                                    \
      (CudaDeviceHandle device, unsigned int *flags, int *active))                                 \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CudaContext context))                              \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CudaContext * context))                              \
    X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))         \
    X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                \
    X(cuMemAlloc, "cuMemAlloc_v2", (CudaPointer * pointer, size_t bytes))                          \
    X(cuMemFree, "cuMemFree_v2", (CudaPointer pointer))                                            \
    X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (CudaPointer dst, const void *src, size_t bytes))           \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                   \
      (CudaPointer dst, CudaPointer src, size_t bytes, CudaStream stream))                         \
    X(cuMemGetAddressRange, "cuMemGetAddressRange_v2",                                             \
      (CudaPointer * base, size_t * bytes, CudaPointer pointer))                                   \
    X(cuPointerGetAttribute, "cuPointerGetAttribute",                                              \
      (void *value, int attribute, CudaPointer pointer))                                           \
    X(cuStreamCreate, "cuStreamCreate", (CudaStream * stream, unsigned int flags))                 \
    X(cuStreamDestroy, "cuStreamDestroy_v2", (CudaStream stream))                                  \
    X(cuStreamGetCtx, "cuStreamGetCtx", (CudaStream stream, CudaContext * context))                \
    X(cuStreamIsCapturing, "cuStreamIsCapturing", (CudaStream stream, int *status))                \
    X(cuStreamQuery, "cuStreamQuery", (CudaStream stream))                                         \
    X(cuStreamWaitEvent, "cuStreamWaitEvent",                                                      \
      (CudaStream stream, CudaEvent event, unsigned int flags))                                    \
    X(cuStreamSynchronize, "cuStreamSynchronize", (CudaStream stream))                             \
    X(cuEventCreate, "cuEventCreate", (CudaEvent * event, unsigned int flags))                     \
    X(cuEventDestroy, "cuEventDestroy_v2", (CudaEvent event))                                      \
    X(cuEventRecord, "cuEventRecord", (CudaEvent event, CudaStream stream))                        \
    X(cuEventQuery, "cuEventQuery", (CudaEvent event))                                             \
    X(cuEventSynchronize, "cuEventSynchronize", (CudaEvent event))                                 \
    X(cuModuleLoadData, "cuModuleLoadData", (CudaModule * module, const void *image))              \
    X(cuModuleUnload, "cuModuleUnload", (CudaModule module))                                       \
    X(cuModuleGetFunction, "cuModuleGetFunction",                                                  \
      (CudaFunction * function, CudaModule module, const char *name))                              \
    X(cuLaunchKernel, "cuLaunchKernel",                                                            \
      (CudaFunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,       \
       unsigned int block_x, unsigned int block_y, unsigned int block_z,                           \
       unsigned int shared_bytes, CudaStream stream, void **params, void **extra))                 \
    X(cuImportExternalMemory, "cuImportExternalMemory",                                            \
      (CudaExternalMemory * memory, const CudaExternalMemoryDesc *desc))                           \
    X(cuDestroyExternalMemory, "cuDestroyExternalMemory", (CudaExternalMemory memory))             \
    X(cuExternalMemoryGetMappedBuffer, "cuExternalMemoryGetMappedBuffer",                          \
      (CudaPointer * pointer, CudaExternalMemory memory, const CudaExternalBufferDesc *desc))      \
    X(cuExternalMemoryGetMappedMipmappedArray, "cuExternalMemoryGetMappedMipmappedArray",          \
      (CudaMipmappedArray * array, CudaExternalMemory memory, const CudaExternalArrayDesc *desc))  \
    X(cuMipmappedArrayGetLevel, "cuMipmappedArrayGetLevel",                                        \
      (CudaArray * level_array, CudaMipmappedArray array, unsigned int level))                     \
    X(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", (CudaMipmappedArray array))              \
    X(cuSurfObjectCreate, "cuSurfObjectCreate",                                                    \
      (CudaSurfaceObject * surface, const CudaResourceDesc *desc))                                 \
    X(cuSurfObjectDestroy, "cuSurfObjectDestroy", (CudaSurfaceObject surface))                     \
    X(cuImportExternalSemaphore, "cuImportExternalSemaphore",                                      \
      (CudaExternalSemaphore * semaphore, const CudaExternalSemaphoreDesc *desc))                  \
    X(cuDestroyExternalSemaphore, "cuDestroyExternalSemaphore", (CudaExternalSemaphore semaphore)) \
    X(cuSignalExternalSemaphoresAsync, "cuSignalExternalSemaphoresAsync",                          \
      (const CudaExternalSemaphore *semaphores, const CudaSemaphoreSignalParams *params,           \
       unsigned int count, CudaStream stream))                                                     \
    X(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle",                            \
      (CudaMemoryHandle * memory, void *os_handle, int handle_type))                               \
    X(cuMemRelease, "cuMemRelease", (CudaMemoryHandle memory))                                     \
    X(cuMemAddressReserve, "cuMemAddressReserve",                                                  \
      (CudaPointer * pointer, size_t bytes, size_t alignment, CudaPointer address,                 \
       unsigned long long flags))                                                                  \
    X(cuMemAddressFree, "cuMemAddressFree", (CudaPointer pointer, size_t bytes))                   \
    X(cuMemMap, "cuMemMap",                                                                        \
      (CudaPointer pointer, size_t bytes, size_t offset, CudaMemoryHandle memory,                  \
       unsigned long long flags))                                                                  \
    X(cuMemUnmap, "cuMemUnmap", (CudaPointer pointer, size_t bytes))                               \
    X(cuMemSetAccess, "cuMemSetAccess",                                                            \
      (CudaPointer pointer, size_t bytes, const CudaAccessDesc *desc, size_t count))

typedef struct CudaDriver {
#define CUDA_DRIVER_MEMBER(name, symbol, parameters) CudaResult(*name) parameters;
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_MEMBER)
#undef CUDA_DRIVER_MEMBER
    int version; /* 1000 * major + 10 * minor of CUDA */
} CudaDriver;

/* The loaded and initialised driver, or NULL; `reason` (may be NULL) then says why. Tried once in
 * the process. Any thread. */
const CudaDriver *cuda_driver(const char **reason);

/* Asks fault_here("cuda.<call>") and then makes the call; the result is a CudaResult. */
#define CUDA_TRY(driver, call, ...) \
    (fault_here("cuda." #call) ? CUDA_ERROR_OUT_OF_MEMORY_CODE : (driver)->call(__VA_ARGS__))

/* "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)". Any thread. */
void cuda_error_text(const CudaDriver *driver, const char *call, CudaResult error, char *out,
                     size_t out_bytes);

#endif
