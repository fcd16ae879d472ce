/* services/device_cuda.h: CUDA as the machine's compute device, for the device service and for the
 * choice of the renderer. Used by the shell and the command at start-up, one thread. */
#ifndef CALIPER_SERVICES_DEVICE_CUDA_H
#define CALIPER_SERVICES_DEVICE_CUDA_H

#include "render/renderer.h"
#include "services/device_service.h"

/* Offers the CUDA devices to device_service_detect. Without a driver nothing changes. */
void device_cuda_install(void);

/* After detection: fills the renderer's interop fields when the negotiated device is a CUDA one, so
 * that the Vulkan renderer takes the GPU with that UUID. Whether it is. */
bool device_cuda_interop(RendererParams *params);

#endif
