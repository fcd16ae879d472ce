/* cuda/cuda_pass.h: running the bridge's passes where a tensor lives, and handing over once a
 * frame.
 *
 * For render/vulkan, frame thread. Nothing here waits for the device: an event is recorded on the
 * producer's own stream in the call that launches, and the producer's handle is not kept. */
#ifndef CALIPER_CUDA_PASS_H
#define CALIPER_CUDA_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda_device.h"
#include "cuda/cuda_external.h"

/* An event of the device; made once per texture, recorded at every update. */
typedef struct CudaFence CudaFence;
CudaFence *cuda_fence_create(CudaDevice *device);
void cuda_fence_destroy(CudaDevice *device, CudaFence **fence);
/* Waits on the CPU until what was recorded is done: read-back and tear-down only. */
bool cuda_fence_wait(CudaDevice *device, CudaFence *fence);
/* Whether what was recorded is done; never waits. True for one never recorded, and when the driver
 * cannot say (a device that is lost runs nothing any more). */
bool cuda_fence_done(CudaDevice *device, CudaFence *fence);

/* Whether all of them are; false also when the driver reports a failure. Asks from the newest on,
 * so that busy producers cost one question. */
bool cuda_fences_done(CudaDevice *device, CudaFence *const *fences, uint32_t count);

typedef struct CudaSource {
    uint64_t pointer;
    uint64_t extent_bytes;
    void *stream; /* NULL: the legacy default stream */
} CudaSource;

/* Proves that the pass may read the source: device memory of this device, mapped from the first to
 * the last byte (walked block by block, since virtual-memory allocators map one tensor over
 * several), and a stream of this context that is not being captured and not per-thread. False with
 * one line that names `call`. */
bool cuda_source_check(CudaDevice *device, const CudaSource *source, const char *call);
/* The stream's part of that check alone. */
bool cuda_stream_check(CudaDevice *device, void *stream, const char *call);

typedef struct CudaPass {
    bool colormap;     /* else expand */
    int32_t table;     /* 0..2 */
    float vmin, inv;   /* the exact rule of render/renderer.h */
    uint32_t channels; /* 1..4 for expand */
    uint32_t width_px, height_px;
} CudaPass;

/* Launches the pass on the source's stream, after `after` if that is not NULL (the texture's last
 * write, on whatever stream it was), and records `done` behind it. False with one line: nothing was
 * launched, or `done` covers what was. */
bool cuda_pass_run(CudaDevice *device, const CudaPass *pass, const CudaSource *source,
                   CudaSurface *target, CudaFence *after, CudaFence *done);

/* The second rung: copies the source into imported memory on its stream, and records `done`. */
bool cuda_copy_run(CudaDevice *device, const CudaSource *source, CudaBuffer *target,
                   uint64_t target_offset_bytes, CudaFence *after, CudaFence *done);

/* Records `done` on `stream` without a launch: what the producer enqueued so far is then covered.
 * For memory that Vulkan reads in place. */
bool cuda_fence_record(CudaDevice *device, void *stream, CudaFence *done);

/* Records `done` behind everything that was handed over. */
bool cuda_fence_record_handed_over(CudaDevice *device, CudaFence *done);

/* One hand-over: the host's own stream waits for all fences, then signals the semaphore. */
bool cuda_hand_over(CudaDevice *device, CudaFence *const *fences, uint32_t count,
                    CudaSemaphore *semaphore, uint64_t value);

typedef enum CudaHandOverState {
    CUDA_HAND_OVER_DONE = 0,
    CUDA_HAND_OVER_PENDING = 1,
    CUDA_HAND_OVER_FAILED = 2 /* a producer's kernel faulted, say; one line */
} CudaHandOverState;

/* Whether everything handed over so far has been signalled; never waits. */
CudaHandOverState cuda_hand_over_state(CudaDevice *device);

#endif
