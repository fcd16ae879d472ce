/* cuda/cuda_external_impl.h: the imported objects' insides. Included by src/cuda/ only. */
#ifndef CALIPER_CUDA_EXTERNAL_IMPL_H
#define CALIPER_CUDA_EXTERNAL_IMPL_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_external.h"

struct CudaSurface {
    CudaExternalMemory memory;
    CudaMipmappedArray array;
    CudaSurfaceObject object;
};

struct CudaBuffer {
    CudaExternalMemory memory;
    CudaPointer pointer;
    uint64_t size_bytes;
};

struct CudaMemory {
    CudaPointer pointer;
    uint64_t size_bytes;
};

struct CudaSemaphore {
    CudaExternalSemaphore handle;
};

static inline int cuda_fd_duplicate(int fd)
{
    int copy = fault_here("cuda.dup") ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        log_item(CUDA_FD_FAILED, fd, strerror(errno));
    return copy;
}

static inline void cuda_fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

#endif
