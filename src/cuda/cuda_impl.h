/* cuda/cuda_impl.h: what the files of src/cuda/ share. Included by src/cuda/ only. */
#ifndef CALIPER_CUDA_IMPL_H
#define CALIPER_CUDA_IMPL_H

#include "cuda/cuda_device.h"
#include "cuda/cuda_driver.h"

enum { CUDA_COLORMAP_COUNT = 3 };

struct CudaDevice {
    const CudaDriver *driver;
    CudaDeviceHandle handle;
    CudaContext context;
    CudaModule module;
    CudaFunction colormap_f32;
    CudaFunction expand_u8;
    CudaPointer tables;   /* CUDA_COLORMAP_COUNT tables of 256 RGBA8 entries */
    CudaStream hand_over; /* non-blocking; waits for the producers and signals once a frame */
    CudaDeviceInfo info;
};

/* Makes the device's context current for this thread, and relaxes the thread's stream capture mode:
 * a capture that another thread has begun must not be spoiled by our calls. False with one line. */
typedef struct CudaScope {
    int capture_mode;
} CudaScope;
bool cuda_scope_enter(const CudaDevice *device, const char *what, CudaScope *scope);
void cuda_scope_leave(const CudaDevice *device, CudaScope *scope);

/* Logs CUDA_CALL_FAILED: what was being done, the call, its error. */
void cuda_log_failure(const CudaDevice *device, const char *what, const char *call,
                      CudaResult error);

#endif
