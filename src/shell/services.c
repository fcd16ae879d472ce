/* shell/services.c: what this build vends to applets, and who takes back what an applet held.
 * Frame thread, at start-up. */
#include <caliper/services/device_v1.h>
#include <caliper/services/ui_v1.h>
#include <stdio.h>

#include "cuda/cuda_device.h"
#include "services/bridge_services.h"
#include "services/device_service.h"
#include "services/services.h"
#include "shell/services_known.h"
#include "shell/shell_impl.h"

/* ---- The CUDA devices of the machine, for the device service ---- */

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

/* ---- Registering ---- */

/* Textures are taken back by services_register_all's own hook. */
static void reclaim_context(void *user, CallerId owner, bool leaked)
{
    Shell *shell = user;
    (void)leaked;
    ui_reclaim(shell->ui, owner);
}

bool services_register_known(Host *host, Bridge *bridge)
{
    return services_register_all(host, bridge) &&
           (bridge != NULL || bridge_services_register(host, NULL)) &&
           host_service_register(host, CALIPER_UI_V1, ui_v1_table()) &&
           host_service_register(host, CALIPER_WIDGETS_DRAFT, widgets_table()) &&
           host_service_register(host, CALIPER_PLOT_DRAFT, plot_table());
}

bool shell_services_register(Shell *shell)
{
    static const DeviceProvider cuda = {
        .kind = CALIPER_DEV_CUDA, .take = take_cuda, .free_bytes = cuda_free_bytes};
    device_service_set_provider(&cuda);
    return device_service_detect(shell->params->device) &&
           services_register_known(shell->host, shell->bridge) &&
           host_on_reclaim(shell->host, reclaim_context, shell);
}
