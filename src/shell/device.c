/* shell/device.c: the compute device of the machine: chosen once, before the renderer, which
 * then takes the GPU with the same UUID where there is one. Frame thread, at start-up. */
#include "services/device_cuda.h"
#include "shell/shell_impl.h"

bool shell_device_choose(Shell *shell)
{
    device_cuda_install();
    if (!device_service_detect(shell->params->device))
        return false;
    shell->renderer_params.interop_index = -1;
    device_cuda_interop(&shell->renderer_params);
    return true;
}
