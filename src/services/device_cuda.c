/* caliper.device.v1's provider for CUDA: the devices that the driver API reports. The context is
 * not opened for it: the renderer opens the device that it shares textures with. */
#include <stdio.h>
#include <string.h>

#include "cuda/cuda_device.h"
#include "services/device_cuda.h"

static CudaDeviceInfo taken;
static bool has_taken;

static bool cuda_take(void *user, int32_t wanted_index, int32_t *out_index, char *name,
                      size_t name_bytes, char *error, size_t error_bytes)
{
    (void)user;
    const char *reason = "";
    int32_t count = cuda_device_count(&reason);
    int32_t ordinal = wanted_index < 0 ? 0 : wanted_index;
    if (count == 0) {
        snprintf(error, error_bytes, "%s", reason);
        return false;
    }
    if (!cuda_device_describe(ordinal, &taken)) {
        snprintf(error, error_bytes, "there is no CUDA device %d; there are %d, from 0 on",
                 (int)ordinal, (int)count);
        return false;
    }
    has_taken = true;
    *out_index = ordinal;
    snprintf(name, name_bytes, "%s", taken.name);
    return true;
}

static uint64_t cuda_free(void *user)
{
    (void)user;
    return has_taken ? cuda_device_free_bytes(taken.ordinal) : 0;
}

void device_cuda_install(void)
{
    static const DeviceProvider provider = {
        .kind = CALIPER_DEV_CUDA, .take = cuda_take, .free_bytes = cuda_free};
    device_service_set_provider(&provider);
}

bool device_cuda_interop(RendererParams *params)
{
    const CaliperDeviceV1 *device = device_service_table();
    if (!has_taken || params == NULL || device->kind() != CALIPER_DEV_CUDA)
        return false;
    params->has_interop_uuid = true;
    params->interop_index = taken.ordinal;
    memcpy(params->interop_uuid, taken.uuid, sizeof params->interop_uuid);
    return true;
}
