/* shell/device.c: the machine's compute device: chosen once, before the renderer, which then takes
 * the GPU with the same UUID where there is one. Frame thread, at start-up. */
#include <stdio.h>
#include <string.h>

#include "cuda/cuda_device.h"
#include "services/device_service.h"
#include "shell/shell_impl.h"

static bool take_cuda(void *user, int32_t wanted_index, int32_t *out_index, char *name,
                      size_t name_bytes, char *error, size_t error_bytes)
{
    const char *reason = NULL;
    CudaDeviceInfo info;
    (void)user;
    int32_t count = cuda_device_count(&reason);
    int32_t ordinal = wanted_index < 0 ? 0 : wanted_index;
    if (count <= 0) {
        snprintf(error, error_bytes, "%s", reason != NULL ? reason : "no CUDA device");
        return false;
    }
    if (ordinal >= count || !cuda_device_describe(ordinal, &info)) {
        snprintf(error, error_bytes, "CUDA device %d is not there; this machine has %d", ordinal,
                 count);
        return false;
    }
    *out_index = ordinal;
    snprintf(name, name_bytes, "%s", info.name);
    return true;
}

static uint64_t cuda_free_bytes(void *user)
{
    (void)user;
    return cuda_device_free_bytes(device_service_table()->index());
}

bool shell_device_choose(Shell *shell)
{
    static const DeviceProvider cuda = {
        .kind = CALIPER_DEV_CUDA, .take = take_cuda, .free_bytes = cuda_free_bytes};
    CudaDeviceInfo info;
    device_service_set_provider(&cuda);
    if (!device_service_detect(shell->params->device))
        return false;
    const CaliperDeviceV1 *device = device_service_table();
    shell->renderer_params.interop_index = -1;
    if (device->kind() == CALIPER_DEV_CUDA && cuda_device_describe(device->index(), &info)) {
        shell->renderer_params.has_interop_uuid = true;
        shell->renderer_params.interop_index = info.ordinal;
        memcpy(shell->renderer_params.interop_uuid, info.uuid, sizeof info.uuid);
    }
    return true;
}
