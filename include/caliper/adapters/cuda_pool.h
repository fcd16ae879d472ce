/* caliper/adapters/cuda_pool.h: CUDA memory that a host can read in place, through
 * caliper.tensor_bridge.v1_2.
 *
 * Header-only C for Linux, compiled by the applet with <cuda.h> (CUDA 11.2 or later); the driver is
 * loaded when a pool is made, nothing of CUDA is linked. A block is one allocation of CUDA's
 * virtual memory API, a multiple of its granularity (2 MiB on current devices), so the pool is for
 * large tensors, or for an allocator that cuts its blocks up itself, as torch's does
 * (torch_pool.hpp).
 *
 *   CaliperCudaPool *pool = caliper_cuda_pool_create(0, &why);
 *   void *memory = caliper_cuda_pool_alloc(pool, bytes);            any thread
 *   ... kernels write it on a stream; t describes it ...
 *   caliper_cuda_pool_update(pool, bridge, texture, &t);            frame thread
 *   caliper_cuda_pool_free(pool, memory, stream);                   any thread
 *   caliper_cuda_pool_collect(pool, bridge);                        frame thread, once a frame
 *   caliper_cuda_pool_destroy(&pool, bridge);                       frame thread, in cleanup
 *
 * A block is exported and imported once, at the first update that reads it. Freeing only marks it:
 * its import is released by the next collect, on the frame thread, and its memory is given back
 * when the work on the stream named at the free is done. */
#ifndef CALIPER_ADAPTERS_CUDA_POOL_H
#define CALIPER_ADAPTERS_CUDA_POOL_H

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The driver's functions, by the names that CUDA 11.2 exports. */
#define CALIPER_CUDA_POOL_CALLS(X)                                                           \
    X(cuInit, "cuInit", (unsigned int flags))                                                \
    X(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                          \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                                  \
      (CUcontext * context, CUdevice device))                                                \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))          \
    X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext context))                          \
    X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext * context))                          \
    X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                          \
    X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity",                        \
      (size_t * granularity, const CUmemAllocationProp *prop,                                \
       CUmemAllocationGranularity_flags option))                                             \
    X(cuMemCreate, "cuMemCreate",                                                            \
      (CUmemGenericAllocationHandle * handle, size_t size, const CUmemAllocationProp *prop,  \
       unsigned long long flags))                                                            \
    X(cuMemRelease, "cuMemRelease", (CUmemGenericAllocationHandle handle))                   \
    X(cuMemAddressReserve, "cuMemAddressReserve",                                            \
      (CUdeviceptr * address, size_t size, size_t alignment, CUdeviceptr wanted,             \
       unsigned long long flags))                                                            \
    X(cuMemAddressFree, "cuMemAddressFree", (CUdeviceptr address, size_t size))              \
    X(cuMemMap, "cuMemMap",                                                                  \
      (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle, \
       unsigned long long flags))                                                            \
    X(cuMemUnmap, "cuMemUnmap", (CUdeviceptr address, size_t size))                          \
    X(cuMemSetAccess, "cuMemSetAccess",                                                      \
      (CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count))       \
    X(cuMemExportToShareableHandle, "cuMemExportToShareableHandle",                          \
      (void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,       \
       unsigned long long flags))                                                            \
    X(cuEventCreate, "cuEventCreate", (CUevent * event, unsigned int flags))                 \
    X(cuEventDestroy, "cuEventDestroy_v2", (CUevent event))                                  \
    X(cuEventRecord, "cuEventRecord", (CUevent event, CUstream stream))                      \
    X(cuEventQuery, "cuEventQuery", (CUevent event))

typedef struct CaliperCudaCalls {
#define X(name, symbol, parameters) CUresult(*name) parameters;
    CALIPER_CUDA_POOL_CALLS(X)
#undef X
} CaliperCudaCalls;

typedef struct CaliperCudaBlock {
    uint64_t serial; /* from 1: an address comes back, a serial does not */
    CUdeviceptr address;
    uint64_t size_bytes; /* of the allocation, as it is imported */
    CUmemGenericAllocationHandle handle;
    CUevent freed_event;   /* recorded at the free; NULL while in use */
    CaliperAllocId import; /* 0: not imported */
    bool is_freed;
    bool is_refused; /* the host does not import it: not asked again */
    struct CaliperCudaBlock *next;
} CaliperCudaBlock;

typedef struct CaliperCudaPool {
    CaliperCudaCalls cuda;
    void *library;
    CUdevice device;
    CUcontext context; /* the primary one, which the runtime and the frameworks use */
    int32_t ordinal;
    uint64_t granularity_bytes;
    pthread_mutex_t lock; /* what follows; held across no call of the bridge */
    CaliperCudaBlock *blocks;
    uint64_t last_serial;
    bool is_closed; /* nothing is imported any more */
    bool has_context, has_lock;
} CaliperCudaPool;

/* ---- Parts ---- */

static inline CUmemAllocationProp caliper_cuda_pool_prop(const CaliperCudaPool *pool)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = pool->ordinal;
    return prop;
}

static inline bool caliper_cuda_pool_enter(CaliperCudaPool *pool)
{
    return pool->cuda.cuCtxPushCurrent(pool->context) == CUDA_SUCCESS;
}

static inline void caliper_cuda_pool_leave(CaliperCudaPool *pool)
{
    CUcontext popped;
    pool->cuda.cuCtxPopCurrent(&popped);
}

/* In the pool's context. The host's own mapping of an import keeps the memory for as long as it
 * reads there. */
static inline void caliper_cuda_block_end(CaliperCudaPool *pool, CaliperCudaBlock *block)
{
    pool->cuda.cuMemUnmap(block->address, block->size_bytes);
    pool->cuda.cuMemAddressFree(block->address, block->size_bytes);
    pool->cuda.cuMemRelease(block->handle);
    if (block->freed_event != NULL) {
        pool->cuda.cuEventDestroy(block->freed_event);
    }
    free(block);
}

/* Gives back the blocks that are freed, done and not imported. In the pool's context, locked. */
static inline void caliper_cuda_pool_reap(CaliperCudaPool *pool)
{
    CaliperCudaBlock **link = &pool->blocks;
    while (*link != NULL) {
        CaliperCudaBlock *block = *link;
        if (block->is_freed && block->import == 0 &&
            (block->freed_event == NULL ||
             pool->cuda.cuEventQuery(block->freed_event) != CUDA_ERROR_NOT_READY)) {
            *link = block->next;
            caliper_cuda_block_end(pool, block);
        } else {
            link = &block->next;
        }
    }
}

/* The block that holds the address and is not freed; NULL: none. Locked. */
static inline CaliperCudaBlock *caliper_cuda_pool_block(CaliperCudaPool *pool, const void *memory)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory;
    for (CaliperCudaBlock *block = pool->blocks; block != NULL; block = block->next) {
        if (!block->is_freed && at >= block->address && at - block->address < block->size_bytes) {
            return block;
        }
    }
    return NULL;
}

/* Creates and maps; false: nothing is left. In the pool's context. */
static inline bool caliper_cuda_block_map(CaliperCudaPool *pool, CaliperCudaBlock *block)
{
    CUmemAllocationProp prop = caliper_cuda_pool_prop(pool);
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (pool->cuda.cuMemCreate(&block->handle, block->size_bytes, &prop, 0) != CUDA_SUCCESS) {
        return false;
    }
    CUdeviceptr address = 0;
    bool has_address = false, is_mapped = false, is_good = false;
    if (pool->cuda.cuMemAddressReserve(&address, block->size_bytes, 0, 0, 0) == CUDA_SUCCESS) {
        has_address = true;
        is_mapped =
            pool->cuda.cuMemMap(address, block->size_bytes, 0, block->handle, 0) == CUDA_SUCCESS;
        is_good = is_mapped &&
                  pool->cuda.cuMemSetAccess(address, block->size_bytes, &access, 1) == CUDA_SUCCESS;
    }
    if (is_good) {
        block->address = address;
        return true;
    }
    if (is_mapped) {
        pool->cuda.cuMemUnmap(address, block->size_bytes);
    }
    if (has_address) {
        pool->cuda.cuMemAddressFree(address, block->size_bytes);
    }
    pool->cuda.cuMemRelease(block->handle);
    return false;
}

/* Releases the imports of the freed blocks, or of all. Frame thread, not locked. */
static inline void caliper_cuda_pool_release(CaliperCudaPool *pool,
                                             const CaliperTensorBridgeV1_2 *bridge, bool all)
{
    CaliperAllocId import;
    do {
        import = 0;
        pthread_mutex_lock(&pool->lock);
        for (CaliperCudaBlock *block = pool->blocks; block != NULL && import == 0;
             block = block->next) {
            if (block->is_freed || all) {
                import = block->import;
                block->import = 0;
            }
        }
        pthread_mutex_unlock(&pool->lock);
        if (import != 0) {
            bridge->release_allocation(import);
        }
    } while (import != 0);
}

/* ---- The pool ---- */

/* For a pool whose blocks outlive the applet's view of the bridge: releases every import, and makes
 * none any more. Memory stays as it is. Frame thread. */
static inline void caliper_cuda_pool_close(CaliperCudaPool *pool,
                                           const CaliperTensorBridgeV1_2 *bridge)
{
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = true;
    pthread_mutex_unlock(&pool->lock);
    caliper_cuda_pool_release(pool, bridge, true);
}

/* The bridge is where blocks were imported, and the thread then the frame thread; NULL when there
 * is no import (any more). Waits for the device: nothing of the pool may be read or written
 * afterwards. NULLs *pool; NULL is accepted. */
static inline void caliper_cuda_pool_destroy(CaliperCudaPool **pool_of,
                                             const CaliperTensorBridgeV1_2 *bridge)
{
    CaliperCudaPool *pool = pool_of != NULL ? *pool_of : NULL;
    if (pool == NULL) {
        return;
    }
    if (bridge != NULL && pool->has_lock) {
        caliper_cuda_pool_close(pool, bridge);
    }
    if (pool->has_context && caliper_cuda_pool_enter(pool)) {
        pool->cuda.cuCtxSynchronize();
        while (pool->blocks != NULL) {
            CaliperCudaBlock *block = pool->blocks;
            pool->blocks = block->next;
            caliper_cuda_block_end(pool, block);
        }
        caliper_cuda_pool_leave(pool);
    }
    if (pool->has_context) {
        pool->cuda.cuDevicePrimaryCtxRelease(pool->device);
    }
    if (pool->has_lock) {
        pthread_mutex_destroy(&pool->lock);
    }
    if (pool->library != NULL) {
        dlclose(pool->library);
    }
    free(pool);
    *pool_of = NULL;
}

/* NULL and *why, a literal (may be NULL): no driver, no such device, or one without memory that can
 * be exported. Any thread. */
static inline CaliperCudaPool *caliper_cuda_pool_create(int32_t ordinal, const char **why)
{
    const char *unused;
    const char **reason = why != NULL ? why : &unused;
    CaliperCudaPool *pool = (CaliperCudaPool *)calloc(1, sizeof *pool);
    *reason = "no memory";
    if (pool == NULL) {
        return NULL;
    }
    pool->ordinal = ordinal;
    pool->has_lock = pthread_mutex_init(&pool->lock, NULL) == 0;
    pool->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!pool->has_lock || pool->library == NULL) {
        *reason = "no CUDA driver: libcuda.so.1 does not open";
        goto failed;
    }
    *reason = "a CUDA driver older than 11.2";
#define X(name, symbol, parameters)                     \
    {                                                   \
        void *found = dlsym(pool->library, symbol);     \
        if (found == NULL) {                            \
            goto failed;                                \
        }                                               \
        memcpy(&pool->cuda.name, &found, sizeof found); \
    }
    CALIPER_CUDA_POOL_CALLS(X)
#undef X
    *reason = "no CUDA device of that index";
    if (pool->cuda.cuInit(0) != CUDA_SUCCESS ||
        pool->cuda.cuDeviceGet(&pool->device, ordinal) != CUDA_SUCCESS ||
        pool->cuda.cuDevicePrimaryCtxRetain(&pool->context, pool->device) != CUDA_SUCCESS) {
        goto failed;
    }
    pool->has_context = true;
    *reason = "a CUDA device without memory that can be exported";
    if (!caliper_cuda_pool_enter(pool)) {
        goto failed;
    }
    {
        CUmemAllocationProp prop = caliper_cuda_pool_prop(pool);
        size_t granularity = 0;
        bool is_known =
            pool->cuda.cuMemGetAllocationGranularity(
                &granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) == CUDA_SUCCESS;
        caliper_cuda_pool_leave(pool);
        if (!is_known || granularity == 0) {
            goto failed;
        }
        pool->granularity_bytes = granularity;
    }
    *reason = "";
    return pool;
failed:
    caliper_cuda_pool_destroy(&pool, NULL);
    return NULL;
}

/* A block of its own for `size_bytes`; NULL when there is no memory or the size is 0. Any thread.
 */
static inline void *caliper_cuda_pool_alloc(CaliperCudaPool *pool, uint64_t size_bytes)
{
    uint64_t granule = pool->granularity_bytes;
    if (size_bytes == 0 || size_bytes > UINT64_MAX - granule || !caliper_cuda_pool_enter(pool)) {
        return NULL;
    }
    CaliperCudaBlock *block = (CaliperCudaBlock *)calloc(1, sizeof *block);
    pthread_mutex_lock(&pool->lock);
    caliper_cuda_pool_reap(pool);
    if (block != NULL) {
        block->size_bytes = (size_bytes + granule - 1) / granule * granule;
        if (caliper_cuda_block_map(pool, block)) {
            block->serial = ++pool->last_serial;
            block->next = pool->blocks;
            pool->blocks = block;
        } else {
            free(block);
            block = NULL;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    caliper_cuda_pool_leave(pool);
    return block != NULL ? (void *)(uintptr_t)block->address : NULL;
}

/* `memory` is what alloc answered, or NULL; `stream` the one with the last work on it, NULL the
 * legacy default stream. Any thread. False: not a block of this pool. */
static inline bool caliper_cuda_pool_free(CaliperCudaPool *pool, void *memory, void *stream)
{
    if (memory == NULL) {
        return true;
    }
    if (!caliper_cuda_pool_enter(pool)) {
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    CaliperCudaBlock *block = caliper_cuda_pool_block(pool, memory);
    bool is_ours = block != NULL && block->address == (CUdeviceptr)(uintptr_t)memory;
    if (is_ours) {
        CUevent event = NULL;
        if (pool->cuda.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS ||
            pool->cuda.cuEventRecord(event, (CUstream)stream) != CUDA_SUCCESS) {
            pool->cuda.cuCtxSynchronize(); /* without an event, by waiting */
        }
        block->freed_event = event;
        block->is_freed = true;
        caliper_cuda_pool_reap(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    caliper_cuda_pool_leave(pool);
    return is_ours;
}

/* The block that holds `memory` and the offset in it; false when none does. Any thread. */
static inline bool caliper_cuda_pool_find(CaliperCudaPool *pool, const void *memory,
                                          uint64_t *out_offset_bytes, uint64_t *out_size_bytes)
{
    pthread_mutex_lock(&pool->lock);
    const CaliperCudaBlock *block = caliper_cuda_pool_block(pool, memory);
    if (block != NULL) {
        *out_offset_bytes = (CUdeviceptr)(uintptr_t)memory - block->address;
        *out_size_bytes = block->size_bytes;
    }
    pthread_mutex_unlock(&pool->lock);
    return block != NULL;
}

/* The import of the block that holds `memory`, made if need be; 0: not ours, or not imported by
 * this host. Frame thread. */
static inline CaliperAllocId caliper_cuda_pool_import(CaliperCudaPool *pool,
                                                      const CaliperTensorBridgeV1_2 *bridge,
                                                      const void *memory,
                                                      uint64_t *out_offset_bytes)
{
    int fd = -1;
    uint64_t size_bytes = 0, serial = 0;
    CaliperAllocId import = 0;
    pthread_mutex_lock(&pool->lock);
    CaliperCudaBlock *block = caliper_cuda_pool_block(pool, memory);
    if (block != NULL) {
        *out_offset_bytes = (CUdeviceptr)(uintptr_t)memory - block->address;
        import = block->import;
        size_bytes = block->size_bytes;
        serial = block->serial;
    }
    bool is_wanted = block != NULL && import == 0 && !block->is_refused && !pool->is_closed;
    if (is_wanted && caliper_cuda_pool_enter(pool)) {
        if (pool->cuda.cuMemExportToShareableHandle(
                &fd, block->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) != CUDA_SUCCESS) {
            fd = -1;
        }
        caliper_cuda_pool_leave(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_wanted) {
        return import;
    }
    if (fd >= 0) {
        import = bridge->import_allocation((void *)(intptr_t)fd, size_bytes,
                                           CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        close(fd); /* the host has its own */
    }
    /* It may have been freed meanwhile, and another block be there. */
    pthread_mutex_lock(&pool->lock);
    block = caliper_cuda_pool_block(pool, memory);
    if (block != NULL && block->serial != serial) {
        block = NULL;
    }
    if (block != NULL) {
        block->import = import;
        block->is_refused = import == 0;
    }
    pthread_mutex_unlock(&pool->lock);
    if (block == NULL && import != 0) {
        bridge->release_allocation(import);
        import = 0;
    }
    return import;
}

/* Updates a texture (made by texture_from_tensor or texture_from_tensor_mapped) from a tensor in a
 * block of the pool, read in place and ordered on tensor->stream. False: it is not in the pool, or
 * the host refused; update_texture is then the way. See the memory-stability contract of
 * tensor_bridge.v1_2. Frame thread. */
static inline bool caliper_cuda_pool_update(CaliperCudaPool *pool,
                                            const CaliperTensorBridgeV1_2 *bridge,
                                            CaliperTextureId texture, const CaliperTensor *tensor)
{
    uint64_t offset_bytes = 0;
    CaliperAllocId import =
        pool != NULL && bridge != NULL && tensor != NULL
            ? caliper_cuda_pool_import(pool, bridge, tensor->data, &offset_bytes)
            : 0;
    return import != 0 && bridge->update_texture_from_alloc(texture, import, offset_bytes, tensor);
}

/* Releases the imports of freed blocks, and gives back what nobody uses any more. Waits for
 * nothing. Frame thread, once a frame. */
static inline void caliper_cuda_pool_collect(CaliperCudaPool *pool,
                                             const CaliperTensorBridgeV1_2 *bridge)
{
    caliper_cuda_pool_release(pool, bridge, false);
    if (caliper_cuda_pool_enter(pool)) {
        pthread_mutex_lock(&pool->lock);
        caliper_cuda_pool_reap(pool);
        pthread_mutex_unlock(&pool->lock);
        caliper_cuda_pool_leave(pool);
    }
}

#ifdef __cplusplus
}
#endif

#endif
