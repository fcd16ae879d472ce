/* cuda/cuda_device.h: the one CUDA device of the process.
 *
 * For services/device, render/vulkan and `caliper doctor`. The device is opened on its primary
 * context, so that pointers and streams of the CUDA runtime and of torch are valid in it. Every
 * call pushes the context and pops it again: the caller's current context is left as it was. */
#ifndef CALIPER_CUDA_DEVICE_H
#define CALIPER_CUDA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CudaDevice CudaDevice;

typedef struct CudaDeviceInfo {
    int32_t ordinal;
    char name[128];
    uint8_t uuid[16];
    uint64_t total_bytes;
    int32_t driver_version; /* 1000 * major + 10 * minor of CUDA */
    int32_t compute_major, compute_minor;
} CudaDeviceInfo;

/* How many CUDA devices there are; 0 with the reason when the driver is missing. [any] */
int32_t cuda_device_count(const char **reason);
/* What one of them is, without opening it. False for an ordinal that is not there. [any] */
bool cuda_device_describe(int32_t ordinal, CudaDeviceInfo *out);

/* Opens a device and loads the passes on it. NULL with one log line on failure. [frame] */
CudaDevice *cuda_device_open(int32_t ordinal);
/* Everything made from it must be destroyed first. */
void cuda_device_close(CudaDevice **device);

const CudaDeviceInfo *cuda_device_info(const CudaDevice *device);
/* Free bytes now; 0 when that cannot be told, as long as nobody in the process uses the device.
 * [any] */
uint64_t cuda_device_free_bytes(int32_t ordinal);

#endif
