/* cuda/cuda_external.h: memory and semaphores of another API, seen from CUDA.
 *
 * For render/vulkan, frame thread. File descriptors are given away on success only: on failure the
 * caller still owns the fd. */
#ifndef CALIPER_CUDA_EXTERNAL_H
#define CALIPER_CUDA_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda_device.h"

typedef struct CudaSurface CudaSurface;     /* an imported RGBA8 image, writable by kernels */
typedef struct CudaBuffer CudaBuffer;       /* imported memory as a plain address range */
typedef struct CudaSemaphore CudaSemaphore; /* an imported timeline semaphore */
typedef struct CudaMemory CudaMemory;       /* an allocation that CUDA itself exported, mapped */

/* `fd`: OPAQUE_FD of the image's memory; `size_bytes`: the memory requirement's size; 1 mip, 1
 * layer, optimal tiling, RGBA8. NULL with one line. */
CudaSurface *cuda_surface_import(CudaDevice *device, int fd, uint64_t size_bytes, uint32_t width_px,
                                 uint32_t height_px, bool dedicated);
void cuda_surface_destroy(CudaDevice *device, CudaSurface **surface);

CudaBuffer *cuda_buffer_import(CudaDevice *device, int fd, uint64_t size_bytes, bool dedicated);
void cuda_buffer_destroy(CudaDevice *device, CudaBuffer **buffer);

CudaSemaphore *cuda_semaphore_import(CudaDevice *device, int fd);
void cuda_semaphore_destroy(CudaDevice *device, CudaSemaphore **semaphore);

typedef enum CudaSizeProof {
    CUDA_SIZE_PROOF_UNKNOWN = 0, /* not an allocation that CUDA's virtual memory API exported */
    CUDA_SIZE_PROOF_GOOD = 1,
    CUDA_SIZE_PROOF_BAD = 2 /* smaller than claimed, or it could not be tried: logged */
} CudaSizeProof;

/* Maps `size_bytes` of the allocation behind the fd for this device. That proves the size: mapping
 * more than there is fails (other importers accept sizes that are not there). GOOD: *out is the
 * mapping; otherwise it is NULL. The fd stays the caller's. */
CudaSizeProof cuda_memory_map(CudaDevice *device, int fd, uint64_t size_bytes, CudaMemory **out);
/* The mapping's first byte, as kernels see it. */
uint64_t cuda_memory_address(const CudaMemory *memory);
/* No kernel may still read it. */
void cuda_memory_unmap(CudaDevice *device, CudaMemory **memory);

/* Plain device memory, for `caliper doctor` to make a CUDA tensor of. NULL with one line. */
typedef struct CudaScratch CudaScratch;
CudaScratch *cuda_scratch_create(CudaDevice *device, uint64_t size_bytes);
void cuda_scratch_destroy(CudaDevice *device, CudaScratch **scratch);
uint64_t cuda_scratch_address(const CudaScratch *scratch);
/* Fills it from host memory and waits for that. False with one line. */
bool cuda_scratch_write(CudaDevice *device, CudaScratch *scratch, const void *bytes);

#endif
