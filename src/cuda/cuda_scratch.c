/* Plain device memory that is filled from the host. First thread or frame thread. */
#include <stdlib.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_external.h"
#include "cuda/cuda_impl.h"

struct CudaScratch {
    CudaPointer pointer;
    uint64_t size_bytes;
};

CudaScratch *cuda_scratch_create(CudaDevice *device, uint64_t size_bytes)
{
    static const char what[] = "making a CUDA tensor";
    CudaScope scope;
    CudaScratch *scratch = calloc(1, sizeof *scratch);
    if (scratch == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *scratch);
        return NULL;
    }
    if (!cuda_scope_enter(device, what, &scope)) {
        free(scratch);
        return NULL;
    }
    scratch->size_bytes = size_bytes;
    CudaResult error = CUDA_TRY(device->driver, cuMemAlloc, &scratch->pointer, size_bytes);
    if (error != 0) {
        cuda_log_failure(device, what, "cuMemAlloc", error);
        free(scratch);
        scratch = NULL;
    }
    cuda_scope_leave(device, &scope);
    return scratch;
}

void cuda_scratch_destroy(CudaDevice *device, CudaScratch **scratch)
{
    CudaScope scope;
    if (scratch == NULL || *scratch == NULL)
        return;
    if (cuda_scope_enter(device, "releasing a CUDA tensor", &scope)) {
        device->driver->cuMemFree((*scratch)->pointer);
        cuda_scope_leave(device, &scope);
    }
    free(*scratch);
    *scratch = NULL;
}

uint64_t cuda_scratch_address(const CudaScratch *scratch)
{
    return scratch->pointer;
}

bool cuda_scratch_write(CudaDevice *device, CudaScratch *scratch, const void *bytes)
{
    static const char what[] = "filling a CUDA tensor";
    CudaScope scope;
    if (!cuda_scope_enter(device, what, &scope))
        return false;
    CudaResult error =
        CUDA_TRY(device->driver, cuMemcpyHtoD, scratch->pointer, bytes, scratch->size_bytes);
    if (error != 0)
        cuda_log_failure(device, what, "cuMemcpyHtoD", error);
    cuda_scope_leave(device, &scope);
    return error == 0;
}
