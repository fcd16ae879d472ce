/* The passes on the producer's stream, source checks and the hand-over. Frame thread. */
#include "cuda/cuda_pass.h"

#include <stdlib.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_external_impl.h"
#include "cuda/cuda_impl.h"

enum { BLOCK_WIDTH = 8, BLOCK_HEIGHT = 16, BLOCK_COVERS_X = 32, BLOCK_COVERS_Y = 16 };

/* Handles of the two special streams, from the published API. */
#define STREAM_LEGACY     ((void *)1)
#define STREAM_PER_THREAD ((void *)2)

struct CudaFence {
    CudaEvent event;
    bool recorded;
};

CudaFence *cuda_fence_create(CudaDevice *device)
{
    static const char what[] = "making a CUDA event";
    CudaScope scope;
    CudaFence *fence = calloc(1, sizeof *fence);
    if (fence == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *fence);
        return NULL;
    }
    if (!cuda_scope_enter(device, what, &scope)) {
        free(fence);
        return NULL;
    }
    CudaResult error =
        CUDA_TRY(device->driver, cuEventCreate, &fence->event, CUDA_EVENT_DISABLE_TIMING);
    if (error != 0) {
        cuda_log_failure(device, what, "cuEventCreate", error);
        free(fence);
        fence = NULL;
    }
    cuda_scope_leave(device, &scope);
    return fence;
}

void cuda_fence_destroy(CudaDevice *device, CudaFence **fence)
{
    CudaScope scope;
    if (fence == NULL || *fence == NULL)
        return;
    if (cuda_scope_enter(device, "releasing a CUDA event", &scope)) {
        device->driver->cuEventDestroy((*fence)->event);
        cuda_scope_leave(device, &scope);
    }
    free(*fence);
    *fence = NULL;
}

bool cuda_fence_wait(CudaDevice *device, CudaFence *fence)
{
    static const char what[] = "waiting for a CUDA event";
    CudaScope scope;
    if (!fence->recorded)
        return true;
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    CudaResult error = CUDA_TRY(device->driver, cuEventSynchronize, fence->event);
    if (error != 0)
        cuda_log_failure(device, what, "cuEventSynchronize", error);
    cuda_scope_leave(device, &scope);
    return error == 0;
}

bool cuda_fence_done(CudaDevice *device, CudaFence *fence)
{
    CudaScope scope;
    if (!fence->recorded || !cuda_scope_enter(device, "asking a CUDA event", &scope))
        return true;
    CudaResult result = device->driver->cuEventQuery(fence->event);
    cuda_scope_leave(device, &scope);
    return result != CUDA_ERROR_NOT_READY_CODE;
}

bool cuda_fences_done(CudaDevice *device, CudaFence *const *fences, uint32_t count)
{
    CudaScope scope;
    if (!cuda_scope_enter(device, "asking CUDA events", &scope))
        return false;
    bool done = true;
    while (done && count-- > 0)
        done = !fences[count]->recorded || device->driver->cuEventQuery(fences[count]->event) == 0;
    cuda_scope_leave(device, &scope);
    return done;
}

/* NULL when the stream can be used; else what is wrong with it. */
static const char *stream_fault(CudaDevice *device, void *stream)
{
    const CudaDriver *driver = device->driver;
    CudaContext context = NULL;
    int capturing = CUDA_CAPTURE_NONE;
    if (stream == STREAM_PER_THREAD)
        return "the per-thread default stream, which names another stream on every thread";
    if (stream != NULL && stream != STREAM_LEGACY) {
        if (CUDA_TRY(driver, cuStreamGetCtx, stream, &context) != 0)
            return "a stream that the driver does not know";
        if (context != device->context)
            return "a stream of another context or device";
    }
    if (CUDA_TRY(driver, cuStreamIsCapturing, stream, &capturing) != 0 ||
        capturing != CUDA_CAPTURE_NONE)
        return "a stream that is being captured into a graph";
    return NULL;
}

/* NULL when every byte is mapped device memory of this device; else what is wrong. */
static const char *extent_fault(CudaDevice *device, uint64_t pointer, uint64_t extent_bytes)
{
    const CudaDriver *driver = device->driver;
    uint64_t at = pointer;
    if (extent_bytes > UINT64_MAX - pointer)
        return "a range that wraps around";
    uint64_t end = pointer + extent_bytes;
    while (at < end) {
        CudaPointer base = 0;
        size_t block_bytes = 0;
        unsigned int type = 0;
        int ordinal = -1;
        if (CUDA_TRY(driver, cuPointerGetAttribute, &type, CUDA_ATTRIBUTE_MEMORY_TYPE, at) != 0)
            return at == pointer ? "a pointer that CUDA does not know"
                                 : "a tensor that ends past its memory";
        if (type != CUDA_MEMORY_TYPE_DEVICE)
            return "host memory";
        if (CUDA_TRY(driver, cuPointerGetAttribute, &ordinal, CUDA_ATTRIBUTE_DEVICE_ORDINAL, at) !=
                0 ||
            ordinal != device->info.ordinal)
            return "memory of another device";
        if (CUDA_TRY(driver, cuMemGetAddressRange, &base, &block_bytes, at) != 0 ||
            block_bytes == 0 || at < base || at - base >= block_bytes)
            return "a tensor that ends past its memory";
        at = base + block_bytes;
    }
    return NULL;
}

bool cuda_source_check(CudaDevice *device, const CudaSource *source, const char *call)
{
    CudaScope scope;
    if (!cuda_scope_enter(device, call, &scope))
        return false;
    const char *fault = stream_fault(device, source->stream);
    if (fault == NULL)
        fault = extent_fault(device, source->pointer, source->extent_bytes);
    cuda_scope_leave(device, &scope);
    if (fault != NULL)
        log_item(CUDA_SOURCE_REFUSED, call, fault, (unsigned long long)source->pointer,
                 (unsigned long long)source->extent_bytes, source->stream,
                 (int)device->info.ordinal);
    return fault == NULL;
}

bool cuda_stream_check(CudaDevice *device, void *stream, const char *call)
{
    CudaScope scope;
    if (!cuda_scope_enter(device, call, &scope))
        return false;
    const char *fault = stream_fault(device, stream);
    cuda_scope_leave(device, &scope);
    if (fault != NULL)
        log_item(CUDA_SOURCE_REFUSED, call, fault, 0ull, 0ull, stream, (int)device->info.ordinal);
    return fault == NULL;
}

/* Whether every group of 4 pixels starts at a multiple of the vector load's size. */
static uint32_t groups_aligned(const CudaPass *pass, uint64_t pointer)
{
    static const uint32_t expand_load_bytes[5] = {0, 4, 8, 4, 16};
    uint32_t load_bytes = pass->colormap ? 16 : expand_load_bytes[pass->channels];
    return pass->width_px % 4 == 0 && pointer % load_bytes == 0;
}

static CudaResult pass_launch(CudaDevice *device, const CudaPass *pass, const CudaSource *source,
                              CudaSurface *target)
{
    uint32_t width = pass->width_px;
    uint32_t height = pass->height_px;
    uint32_t aligned = groups_aligned(pass, source->pointer);
    uint32_t channels = pass->channels;
    float vmin = pass->vmin;
    float inv = pass->inv;
    CudaPointer pointer = source->pointer;
    CudaSurfaceObject surface = target->object;
    CudaPointer table = device->tables + (CudaPointer)pass->table * 256u * 4u;
    void *colormap_params[] = {&surface, &pointer, &table, &width, &height, &vmin, &inv, &aligned};
    void *expand_params[] = {&surface, &pointer, &width, &height, &channels, &aligned};
    return CUDA_TRY(device->driver, cuLaunchKernel,
                    pass->colormap ? device->colormap_f32 : device->expand_u8,
                    (width + BLOCK_COVERS_X - 1) / BLOCK_COVERS_X,
                    (height + BLOCK_COVERS_Y - 1) / BLOCK_COVERS_Y, 1, BLOCK_WIDTH, BLOCK_HEIGHT, 1,
                    0, source->stream, pass->colormap ? colormap_params : expand_params, NULL);
}

static const char *wait_after(CudaDevice *device, void *stream, CudaFence *after,
                              CudaResult *out_error)
{
    *out_error = 0;
    if (after != NULL && after->recorded)
        *out_error = CUDA_TRY(device->driver, cuStreamWaitEvent, stream, after->event, 0);
    return "cuStreamWaitEvent";
}

static const char *record(CudaDevice *device, void *stream, CudaFence *done, CudaResult *out_error)
{
    *out_error = CUDA_TRY(device->driver, cuEventRecord, done->event, stream);
    done->recorded |= *out_error == 0;
    return "cuEventRecord";
}

bool cuda_pass_run(CudaDevice *device, const CudaPass *pass, const CudaSource *source,
                   CudaSurface *target, CudaFence *after, CudaFence *done)
{
    static const char what[] = "running a pass on a CUDA tensor";
    CudaScope scope;
    CudaResult error;
    bool launched = false;
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    const char *call = wait_after(device, source->stream, after, &error);
    if (error == 0) {
        call = "cuLaunchKernel";
        error = pass_launch(device, pass, source, target);
        launched = error == 0;
    }
    if (error == 0)
        call = record(device, source->stream, done, &error);
    if (error != 0) {
        cuda_log_failure(device, what, call, error);
        /* A pass that cannot be ordered by an event is ordered by waiting for it, this once. */
        if (launched)
            device->driver->cuStreamSynchronize(source->stream);
    }
    cuda_scope_leave(device, &scope);
    return error == 0;
}

bool cuda_copy_run(CudaDevice *device, const CudaSource *source, CudaBuffer *target,
                   uint64_t target_offset_bytes, CudaFence *after, CudaFence *done)
{
    static const char what[] = "copying a CUDA tensor";
    CudaScope scope;
    CudaResult error;
    bool launched = false;
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    const char *call = wait_after(device, source->stream, after, &error);
    if (error == 0) {
        call = "cuMemcpyDtoDAsync";
        error = CUDA_TRY(device->driver, cuMemcpyDtoDAsync, target->pointer + target_offset_bytes,
                         source->pointer, source->extent_bytes, source->stream);
        launched = error == 0;
    }
    if (error == 0)
        call = record(device, source->stream, done, &error);
    if (error != 0) {
        cuda_log_failure(device, what, call, error);
        if (launched)
            device->driver->cuStreamSynchronize(source->stream);
    }
    cuda_scope_leave(device, &scope);
    return error == 0;
}

bool cuda_fence_record(CudaDevice *device, void *stream, CudaFence *done)
{
    static const char what[] = "marking a producer's stream";
    CudaScope scope;
    CudaResult error;
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    const char *call = record(device, stream, done, &error);
    if (error != 0)
        cuda_log_failure(device, what, call, error);
    cuda_scope_leave(device, &scope);
    return error == 0;
}

bool cuda_fence_record_handed_over(CudaDevice *device, CudaFence *done)
{
    return cuda_fence_record(device, device->hand_over, done);
}

bool cuda_hand_over(CudaDevice *device, CudaFence *const *fences, uint32_t count,
                    CudaSemaphore *semaphore, uint64_t value)
{
    static const char what[] = "handing textures over to Vulkan";
    CudaScope scope;
    CudaResult error = 0;
    CudaSemaphoreSignalParams params = {0};
    const char *call = "cuStreamWaitEvent";
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    /* The negative control of the ordering tests: without these waits old pixels must be seen. */
    bool ordered = !fault_here("test.unordered_hand_over");
    for (uint32_t i = 0; i < count && ordered && error == 0; i++)
        call = wait_after(device, device->hand_over, fences[i], &error);
    if (error == 0) {
        call = "cuSignalExternalSemaphoresAsync";
        params.params.fence_value = value;
        error = CUDA_TRY(device->driver, cuSignalExternalSemaphoresAsync, &semaphore->handle,
                         &params, 1, device->hand_over);
    }
    if (error != 0)
        cuda_log_failure(device, what, call, error);
    cuda_scope_leave(device, &scope);
    return error == 0;
}

CudaHandOverState cuda_hand_over_state(CudaDevice *device)
{
    static const char what[] = "asking for the textures handed over";
    CudaScope scope;
    if (!cuda_scope_enter(device, what, &scope))
        return CUDA_HAND_OVER_FAILED;
    CudaResult result = CUDA_TRY(device->driver, cuStreamQuery, device->hand_over);
    if (result != 0 && result != CUDA_ERROR_NOT_READY_CODE)
        cuda_log_failure(device, what, "cuStreamQuery", result);
    cuda_scope_leave(device, &scope);
    return result == 0                           ? CUDA_HAND_OVER_DONE
           : result == CUDA_ERROR_NOT_READY_CODE ? CUDA_HAND_OVER_PENDING
                                                 : CUDA_HAND_OVER_FAILED;
}
