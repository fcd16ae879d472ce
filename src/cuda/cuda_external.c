/* Imports of images, buffers and semaphores of another API into CUDA. */
#include "cuda/cuda_external.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_external_impl.h"
#include "cuda/cuda_impl.h"

static void surface_release(const CudaDriver *driver, CudaSurface *surface)
{
    if (surface->object != 0)
        driver->cuSurfObjectDestroy(surface->object);
    if (surface->array != NULL)
        driver->cuMipmappedArrayDestroy(surface->array);
    if (surface->memory != NULL)
        driver->cuDestroyExternalMemory(surface->memory);
    free(surface);
}

static const char *surface_map(CudaDevice *device, CudaSurface *surface, uint32_t width_px,
                               uint32_t height_px, CudaResult *out_error)
{
    const CudaDriver *driver = device->driver;
    CudaExternalArrayDesc array_desc;
    CudaResourceDesc resource;
    CudaArray level = NULL;
    memset(&array_desc, 0, sizeof array_desc);
    array_desc.array.width = width_px;
    array_desc.array.height = height_px;
    array_desc.array.format = CUDA_FORMAT_UNSIGNED_INT8;
    array_desc.array.channels = 4;
    array_desc.array.flags = CUDA_ARRAY_SURFACE_LOAD_STORE;
    array_desc.levels = 1;
    if ((*out_error = CUDA_TRY(driver, cuExternalMemoryGetMappedMipmappedArray, &surface->array,
                               surface->memory, &array_desc)) != 0)
        return "cuExternalMemoryGetMappedMipmappedArray";
    if ((*out_error = CUDA_TRY(driver, cuMipmappedArrayGetLevel, &level, surface->array, 0)) != 0)
        return "cuMipmappedArrayGetLevel";
    memset(&resource, 0, sizeof resource);
    resource.type = CUDA_RESOURCE_ARRAY;
    resource.resource.array = level;
    if ((*out_error = CUDA_TRY(driver, cuSurfObjectCreate, &surface->object, &resource)) != 0)
        return "cuSurfObjectCreate";
    return NULL;
}

static CudaResult memory_import(CudaDevice *device, int fd, uint64_t size_bytes, bool dedicated,
                                CudaExternalMemory *out)
{
    CudaExternalMemoryDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.type = CUDA_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = fd;
    desc.size = size_bytes;
    desc.flags = dedicated ? CUDA_EXTERNAL_DEDICATED : 0;
    return CUDA_TRY(device->driver, cuImportExternalMemory, out, &desc);
}

CudaSurface *cuda_surface_import(CudaDevice *device, int fd, uint64_t size_bytes, uint32_t width_px,
                                 uint32_t height_px, bool dedicated)
{
    static const char what[] = "importing a texture's image into CUDA";
    CudaScope scope;
    CudaResult error;
    int kept_fd = fd;
    CudaSurface *surface = calloc(1, sizeof *surface);
    if (surface == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *surface);
        return NULL;
    }
    /* The driver owns an fd once its import succeeded; importing a duplicate keeps the promise that
     * a failure of a later step leaves the caller's fd alone. */
    kept_fd = cuda_fd_duplicate(fd);
    if (kept_fd < 0 || !cuda_scope_enter(device, what, &scope)) {
        cuda_fd_close(&kept_fd);
        free(surface);
        return NULL;
    }
    const char *call = "cuImportExternalMemory";
    error = memory_import(device, kept_fd, size_bytes, dedicated, &surface->memory);
    if (error == 0) {
        kept_fd = -1;
        call = surface_map(device, surface, width_px, height_px, &error);
    }
    if (call != NULL && error != 0) {
        cuda_log_failure(device, what, call, error);
        surface_release(device->driver, surface);
        surface = NULL;
    }
    cuda_scope_leave(device, &scope);
    cuda_fd_close(&kept_fd);
    if (surface != NULL)
        cuda_fd_close(&fd);
    return surface;
}

void cuda_surface_destroy(CudaDevice *device, CudaSurface **surface)
{
    CudaScope scope;
    if (surface == NULL || *surface == NULL)
        return;
    if (cuda_scope_enter(device, "releasing a texture's image in CUDA", &scope)) {
        surface_release(device->driver, *surface);
        cuda_scope_leave(device, &scope);
    } else {
        free(*surface); /* the context is gone, and what was imported into it */
    }
    *surface = NULL;
}

static void buffer_release(const CudaDriver *driver, CudaBuffer *buffer)
{
    if (buffer->pointer != 0)
        driver->cuMemFree(buffer->pointer);
    if (buffer->memory != NULL)
        driver->cuDestroyExternalMemory(buffer->memory);
    free(buffer);
}

CudaBuffer *cuda_buffer_import(CudaDevice *device, int fd, uint64_t size_bytes, bool dedicated)
{
    static const char what[] = "importing a buffer into CUDA";
    CudaScope scope;
    CudaExternalBufferDesc desc;
    CudaBuffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *buffer);
        return NULL;
    }
    int kept_fd = cuda_fd_duplicate(fd);
    if (kept_fd < 0 || !cuda_scope_enter(device, what, &scope)) {
        cuda_fd_close(&kept_fd);
        free(buffer);
        return NULL;
    }
    memset(&desc, 0, sizeof desc);
    desc.size = size_bytes;
    buffer->size_bytes = size_bytes;
    const char *call = "cuImportExternalMemory";
    CudaResult error = memory_import(device, kept_fd, size_bytes, dedicated, &buffer->memory);
    if (error == 0) {
        kept_fd = -1;
        call = "cuExternalMemoryGetMappedBuffer";
        error = CUDA_TRY(device->driver, cuExternalMemoryGetMappedBuffer, &buffer->pointer,
                         buffer->memory, &desc);
    }
    if (error != 0) {
        cuda_log_failure(device, what, call, error);
        buffer_release(device->driver, buffer);
        buffer = NULL;
    }
    cuda_scope_leave(device, &scope);
    cuda_fd_close(&kept_fd);
    if (buffer != NULL)
        cuda_fd_close(&fd);
    return buffer;
}

void cuda_buffer_destroy(CudaDevice *device, CudaBuffer **buffer)
{
    CudaScope scope;
    if (buffer == NULL || *buffer == NULL)
        return;
    if (cuda_scope_enter(device, "releasing a buffer in CUDA", &scope)) {
        buffer_release(device->driver, *buffer);
        cuda_scope_leave(device, &scope);
    } else {
        free(*buffer);
    }
    *buffer = NULL;
}

CudaSemaphore *cuda_semaphore_import(CudaDevice *device, int fd)
{
    static const char what[] = "importing a semaphore into CUDA";
    CudaScope scope;
    CudaExternalSemaphoreDesc desc;
    CudaSemaphore *semaphore = calloc(1, sizeof *semaphore);
    if (semaphore == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *semaphore);
        return NULL;
    }
    if (!cuda_scope_enter(device, what, &scope)) {
        free(semaphore);
        return NULL;
    }
    memset(&desc, 0, sizeof desc);
    desc.type = CUDA_SEMAPHORE_TYPE_TIMELINE_FD;
    desc.handle.fd = fd;
    CudaResult error =
        CUDA_TRY(device->driver, cuImportExternalSemaphore, &semaphore->handle, &desc);
    if (error != 0) {
        cuda_log_failure(device, what, "cuImportExternalSemaphore", error);
        free(semaphore);
        semaphore = NULL;
    }
    cuda_scope_leave(device, &scope);
    return semaphore;
}

void cuda_semaphore_destroy(CudaDevice *device, CudaSemaphore **semaphore)
{
    CudaScope scope;
    if (semaphore == NULL || *semaphore == NULL)
        return;
    if (cuda_scope_enter(device, "releasing a semaphore in CUDA", &scope)) {
        device->driver->cuDestroyExternalSemaphore((*semaphore)->handle);
        cuda_scope_leave(device, &scope);
    }
    free(*semaphore);
    *semaphore = NULL;
}
