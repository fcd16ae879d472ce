/* Allocations that CUDA's virtual memory API exported, mapped from their file descriptor. Frame
 * thread. */
#include <stdlib.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_external.h"
#include "cuda/cuda_external_impl.h"
#include "cuda/cuda_impl.h"

static void memory_release(const CudaDriver *driver, CudaMemory *memory, bool is_mapped)
{
    if (is_mapped)
        driver->cuMemUnmap(memory->pointer, memory->size_bytes);
    if (memory->pointer != 0)
        driver->cuMemAddressFree(memory->pointer, memory->size_bytes);
    free(memory);
}

/* NULL when it is mapped; else the call that failed, and nothing is. Takes `memory` over then. */
static const char *memory_map(CudaDevice *device, CudaMemoryHandle handle, CudaMemory *memory,
                              CudaResult *out_error)
{
    const CudaDriver *driver = device->driver;
    CudaAccessDesc access = {.location = {.type = CUDA_LOCATION_DEVICE, .id = device->info.ordinal},
                             .flags = CUDA_ACCESS_READ_WRITE};
    const char *call = "cuMemAddressReserve";
    bool is_mapped = false;
    *out_error =
        CUDA_TRY(driver, cuMemAddressReserve, &memory->pointer, memory->size_bytes, 0, 0, 0);
    if (*out_error == 0) {
        call = "cuMemMap"; /* refuses more than there is */
        *out_error = CUDA_TRY(driver, cuMemMap, memory->pointer, memory->size_bytes, 0, handle, 0);
        is_mapped = *out_error == 0;
    } else {
        memory->pointer = 0;
    }
    if (is_mapped) {
        call = "cuMemSetAccess";
        *out_error =
            CUDA_TRY(driver, cuMemSetAccess, memory->pointer, memory->size_bytes, &access, 1);
    }
    if (*out_error == 0)
        return NULL;
    memory_release(driver, memory, is_mapped);
    return call;
}

CudaSizeProof cuda_memory_map(CudaDevice *device, int fd, uint64_t size_bytes, CudaMemory **out)
{
    static const char what[] = "mapping an exported allocation";
    CudaScope scope;
    CudaMemoryHandle handle = 0;
    CudaMemory *memory = calloc(1, sizeof *memory);
    *out = NULL;
    if (memory == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *memory);
        return CUDA_SIZE_PROOF_BAD;
    }
    if (!cuda_scope_enter(device, what, &scope)) {
        free(memory);
        return CUDA_SIZE_PROOF_BAD;
    }
    memory->size_bytes = size_bytes;
    const char *call = "cuMemImportFromShareableHandle";
    CudaResult error = CUDA_TRY(device->driver, cuMemImportFromShareableHandle, &handle,
                                (void *)(intptr_t)fd, CUDA_MEMORY_HANDLE_FD);
    bool foreign = error == CUDA_ERROR_INVALID_VALUE_CODE ||
                   error == CUDA_ERROR_INVALID_HANDLE_CODE ||
                   error == CUDA_ERROR_NOT_SUPPORTED_CODE;
    if (error == 0) {
        call = memory_map(device, handle, memory, &error);
        device->driver->cuMemRelease(handle); /* the mapping keeps the memory */
    } else {
        free(memory);
    }
    if (error != 0 && !foreign)
        cuda_log_failure(device, what, call, error);
    cuda_scope_leave(device, &scope);
    if (error != 0)
        return foreign ? CUDA_SIZE_PROOF_UNKNOWN : CUDA_SIZE_PROOF_BAD;
    *out = memory;
    return CUDA_SIZE_PROOF_GOOD;
}

uint64_t cuda_memory_address(const CudaMemory *memory)
{
    return memory->pointer;
}

void cuda_memory_unmap(CudaDevice *device, CudaMemory **memory)
{
    CudaScope scope;
    if (memory == NULL || *memory == NULL)
        return;
    if (cuda_scope_enter(device, "unmapping an exported allocation", &scope)) {
        memory_release(device->driver, *memory, true);
        cuda_scope_leave(device, &scope);
    } else {
        free(*memory); /* the context is gone, and the mapping with it */
    }
    *memory = NULL;
}
