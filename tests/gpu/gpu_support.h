/* tests/gpu/gpu_support.h: what the tests and benchmarks on a real NVIDIA GPU share: device memory,
 * streams, producer kernels, exported allocations, and the renderer and bridge of the machine.
 *
 * They use the driver API through src/cuda/, so they are built everywhere and exit with status 77
 * where there is no CUDA device. One thread. */
#ifndef CALIPER_TESTS_GPU_SUPPORT_H
#define CALIPER_TESTS_GPU_SUPPORT_H

#include <caliper/tensor.h>
#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "cuda/cuda_driver.h"
#include "render/renderer.h"

typedef struct Gpu {
    const CudaDriver *driver;
    CudaContext context;   /* the primary context, current on this thread */
    CudaFunction spin;     /* keeps a stream busy */
    CudaFunction fill_u32; /* writes one value everywhere */
    CudaFunction add_f32;  /* a training-like step: reads and writes a buffer */
    Renderer *renderer;
    Bridge *bridge;
    double clock_hz; /* of the spin kernel */
    bool copies;     /* the second rung: CUDA tensors are copied, then drawn */
} Gpu;

/* Prints why and exits with 77 where there is no device or no Vulkan renderer on it. Opened while
 * CALIPER_CUDA_RUNG=copy, it is of the second rung. */
void gpu_open(Gpu *gpu);
void gpu_close(Gpu *gpu);
/* The renderer and the bridge alone: made again after a lost device. */
bool gpu_renderer_open(Gpu *gpu);
void gpu_renderer_close(Gpu *gpu);

/* Fails the program with the call's name when a driver call fails. */
#define GPU_CALL(gpu, call, ...) gpu_must((gpu)->driver, #call, (gpu)->driver->call(__VA_ARGS__))
void gpu_must(const CudaDriver *driver, const char *call, CudaResult result);

void gpu_spin(Gpu *gpu, double milliseconds, CudaStream stream);
void gpu_fill(Gpu *gpu, CudaPointer pointer, uint64_t words, uint32_t value, CudaStream stream);

/* An allocation of CUDA's virtual memory API that can be exported; freed with gpu_export_free. */
typedef struct GpuExport {
    CudaMemoryHandle memory;
    CudaPointer pointer;
    uint64_t size_bytes; /* rounded up to the granularity */
    int fd;              /* the test's own copy */
} GpuExport;
bool gpu_export_make(Gpu *gpu, uint64_t size_bytes, GpuExport *out);
void gpu_export_free(Gpu *gpu, GpuExport *block);

/* Row-major descriptors of CUDA memory: f32 [h, w] and u8 [h, w, c]. */
CaliperTensor gpu_tensor_f32(CudaPointer pointer, int64_t height, int64_t width, void *stream);
CaliperTensor gpu_tensor_u8(CudaPointer pointer, int64_t height, int64_t width, int64_t channels,
                            void *stream);

double gpu_now_sec(void);
int gpu_open_fds(void);
/* An empty frame that draws the given textures, so that they count as shown. */
void gpu_frame(Gpu *gpu, const CaliperTextureId *ids, int count);

#endif
