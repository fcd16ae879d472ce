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

/* `fd`: OPAQUE_FD of the image's memory; `size_bytes`: the memory requirement's size; 1 mip, 1 layer,
 * optimal tiling, RGBA8. NULL with one line. */
CudaSurface *cuda_surface_import(CudaDevice *device, int fd, uint64_t size_bytes,
                                 uint32_t width_px, uint32_t height_px, bool dedicated);
void cuda_surface_destroy(CudaDevice *device, CudaSurface **surface);

CudaBuffer *cuda_buffer_import(CudaDevice *device, int fd, uint64_t size_bytes, bool dedicated);
void cuda_buffer_destroy(CudaDevice *device, CudaBuffer **buffer);

CudaSemaphore *cuda_semaphore_import(CudaDevice *device, int fd);
void cuda_semaphore_destroy(CudaDevice *device, CudaSemaphore **semaphore);

/* True when the fd is an allocation exported by CUDA's virtual memory API of at least `size_bytes`:
 * mapping that much of it succeeds (other importers accept sizes that are not there). The fd stays
 * the caller's. False with one line. */
bool cuda_fd_size_proven(CudaDevice *device, int fd, uint64_t size_bytes);

#endif
