/* The CUDA device: discovery, primary context, the module with the passes, the tables. */
#include "cuda/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_impl.h"
#include "cuda/cuda_passes_ptx.h" /* made from passes.ptx: cuda_passes_ptx[], NUL-terminated */
#include "kernels/kernels.h"

void cuda_log_failure(const CudaDevice *device, const char *what, const char *call,
                      CudaResult error)
{
    char text[256];
    cuda_error_text(device->driver, call, error, text, sizeof text);
    log_item(CUDA_CALL_FAILED, what, text);
}

bool cuda_scope_enter(const CudaDevice *device, const char *what, CudaScope *scope)
{
    CudaResult result = CUDA_TRY(device->driver, cuCtxPushCurrent, device->context);
    if (result != 0) {
        cuda_log_failure(device, what, "cuCtxPushCurrent", result);
        return false;
    }
    scope->capture_mode = CUDA_CAPTURE_MODE_RELAXED;
    device->driver->cuThreadExchangeStreamCaptureMode(&scope->capture_mode);
    return true;
}

void cuda_scope_leave(const CudaDevice *device, CudaScope *scope)
{
    CudaContext popped;
    device->driver->cuThreadExchangeStreamCaptureMode(&scope->capture_mode);
    device->driver->cuCtxPopCurrent(&popped);
}

int32_t cuda_device_count(const char **reason)
{
    const CudaDriver *driver = cuda_driver(reason);
    int count = 0;
    if (driver == NULL)
        return 0;
    if (driver->cuDeviceGetCount(&count) != 0)
        count = 0;
    if (count == 0 && reason != NULL)
        *reason = "the driver reports no device";
    return count;
}

bool cuda_device_describe(int32_t ordinal, CudaDeviceInfo *out)
{
    const CudaDriver *driver = cuda_driver(NULL);
    CudaDeviceHandle handle;
    CudaUuid uuid;
    size_t total = 0;
    if (driver == NULL || ordinal < 0 || driver->cuDeviceGet(&handle, ordinal) != 0)
        return false;
    memset(out, 0, sizeof *out);
    out->ordinal = ordinal;
    out->driver_version = driver->version;
    if (driver->cuDeviceGetName(out->name, (int)sizeof out->name, handle) != 0 ||
        driver->cuDeviceGetUuid(&uuid, handle) != 0 ||
        driver->cuDeviceTotalMem(&total, handle) != 0 ||
        driver->cuDeviceGetAttribute(&out->compute_major, CUDA_DEVICE_COMPUTE_MAJOR, handle) != 0 ||
        driver->cuDeviceGetAttribute(&out->compute_minor, CUDA_DEVICE_COMPUTE_MINOR, handle) != 0)
        return false;
    memcpy(out->uuid, uuid.bytes, sizeof out->uuid);
    out->total_bytes = total;
    return true;
}

uint64_t cuda_device_free_bytes(int32_t ordinal)
{
    const CudaDriver *driver = cuda_driver(NULL);
    CudaDeviceHandle handle;
    CudaContext context;
    CudaContext popped;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    unsigned int flags = 0;
    int active = 0;
    /* Making a context only to ask would take tenths of a second and device memory. */
    if (driver == NULL || driver->cuDeviceGet(&handle, ordinal) != 0 ||
        driver->cuDevicePrimaryCtxGetState(handle, &flags, &active) != 0 || active == 0 ||
        driver->cuDevicePrimaryCtxRetain(&context, handle) != 0)
        return 0;
    if (driver->cuCtxPushCurrent(context) == 0) {
        if (driver->cuMemGetInfo(&free_bytes, &total_bytes) != 0)
            free_bytes = 0;
        driver->cuCtxPopCurrent(&popped);
    }
    driver->cuDevicePrimaryCtxRelease(handle);
    return free_bytes;
}

/* Step by step, so that the first failure names its call. NULL when all went well. */
static const char *device_load(CudaDevice *device, CudaResult *out_error)
{
    const CudaDriver *driver = device->driver;
    size_t table_bytes = COLORMAP_ENTRIES * 4;
    if ((*out_error = CUDA_TRY(driver, cuModuleLoadData, &device->module, cuda_passes_ptx)) != 0)
        return "cuModuleLoadData";
    if ((*out_error = CUDA_TRY(driver, cuModuleGetFunction, &device->colormap_f32, device->module,
                               "colormap_f32")) != 0 ||
        (*out_error = CUDA_TRY(driver, cuModuleGetFunction, &device->expand_u8, device->module,
                               "expand_u8")) != 0)
        return "cuModuleGetFunction";
    if ((*out_error =
             CUDA_TRY(driver, cuMemAlloc, &device->tables, table_bytes * CUDA_COLORMAP_COUNT)) != 0)
        return "cuMemAlloc";
    for (int i = 0; i < CUDA_COLORMAP_COUNT; i++) {
        if ((*out_error =
                 CUDA_TRY(driver, cuMemcpyHtoD, device->tables + (CudaPointer)i * table_bytes,
                          colormap_table(i), table_bytes)) != 0)
            return "cuMemcpyHtoD";
    }
    if ((*out_error =
             CUDA_TRY(driver, cuStreamCreate, &device->hand_over, CUDA_STREAM_NON_BLOCKING)) != 0)
        return "cuStreamCreate";
    return NULL;
}

static void device_unload(CudaDevice *device)
{
    const CudaDriver *driver = device->driver;
    CudaContext popped;
    if (driver->cuCtxPushCurrent(device->context) == 0) {
        if (device->hand_over != NULL)
            driver->cuStreamDestroy(device->hand_over);
        if (device->tables != 0)
            driver->cuMemFree(device->tables);
        if (device->module != NULL)
            driver->cuModuleUnload(device->module);
        driver->cuCtxPopCurrent(&popped);
    }
    driver->cuDevicePrimaryCtxRelease(device->handle);
}

CudaDevice *cuda_device_open(int32_t ordinal)
{
    const char *reason = "";
    const char *call = "cuDeviceGet";
    CudaResult error = 0;
    CudaScope scope;
    const CudaDriver *driver = cuda_driver(&reason);
    CudaDevice *device = driver != NULL ? calloc(1, sizeof *device) : NULL;
    if (device == NULL) {
        log_item(CUDA_UNAVAILABLE, (int)ordinal, reason);
        return NULL;
    }
    device->driver = driver;
    if (!cuda_device_describe(ordinal, &device->info)) {
        log_item(CUDA_UNAVAILABLE, (int)ordinal, "there is no such device");
        free(device);
        return NULL;
    }
    error = CUDA_TRY(driver, cuDeviceGet, &device->handle, ordinal);
    if (error == 0) {
        call = "cuDevicePrimaryCtxRetain";
        error = CUDA_TRY(driver, cuDevicePrimaryCtxRetain, &device->context, device->handle);
    }
    if (error != 0) {
        cuda_log_failure(device, "opening the CUDA device", call, error);
        free(device);
        return NULL;
    }
    if (!cuda_scope_enter(device, "opening the CUDA device", &scope))
        goto failed;
    call = device_load(device, &error);
    cuda_scope_leave(device, &scope);
    if (call != NULL) {
        cuda_log_failure(device, "opening the CUDA device", call, error);
        goto failed;
    }
    return device;
failed:
    device_unload(device);
    free(device);
    return NULL;
}

void cuda_device_close(CudaDevice **device)
{
    if (device == NULL || *device == NULL)
        return;
    device_unload(*device);
    free(*device);
    *device = NULL;
}

const CudaDeviceInfo *cuda_device_info(const CudaDevice *device)
{
    return &device->info;
}
