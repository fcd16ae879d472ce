/* services/device_service.h: caliper.device.v1, the one compute device of the process.
 *
 * The processor is always there; another kind comes through a provider (src/cuda/). Provider and
 * detection: at start-up, one thread; the table afterwards: any thread. */
#ifndef CALIPER_SERVICES_DEVICE_SERVICE_H
#define CALIPER_SERVICES_DEVICE_SERVICE_H

#include <caliper/services/device_v1.h>
#include <stdbool.h>
#include <stddef.h>

enum { DEVICE_NAME_BYTES = 256 };

/* Knows the devices of one kind. All functions are asked from the detecting thread, but free_bytes,
 * which may be asked from any. */
typedef struct DeviceProvider {
    CaliperDeviceKind kind; /* CUDA or METAL */
    void *user;
    /* Takes the device `wanted_index` (-1: the best one) and fills index and name. False: why not,
     * in `error`; nothing is logged. */
    bool (*take)(void *user, int32_t wanted_index, int32_t *out_index, char *name,
                 size_t name_bytes, char *error, size_t error_bytes);
    /* Bytes free on the taken device now; 0: unknown. NULL: always unknown. */
    uint64_t (*free_bytes)(void *user);
} DeviceProvider;

/* Copied; `user` lives for the process. Before device_service_detect; NULL takes it back. */
void device_service_set_provider(const DeviceProvider *provider);

/* What a wish means: "cpu", "cuda", "cuda:N". NULL and "": no wish. */
typedef struct DeviceWish {
    bool any; /* no wish: the provider's device, else the processor */
    CaliperDeviceKind kind;
    int32_t index; /* -1: any */
} DeviceWish;
/* False, silently, when it cannot be read. */
bool device_wish_parse(const char *text, DeviceWish *out);

/* Finds the device: `wanted` (--device), else CALIPER_DEVICE, else the best there is. A wish that
 * cannot be read is refused with one line: false, and the device is the processor. A wish that
 * cannot be met is one warning and the processor. The first detection counts; later ones answer
 * true and change nothing. */
bool device_service_detect(const char *wanted);

/* Detects without a wish if that has not been done. Lives for the process. */
const CaliperDeviceV1 *device_service_table(void);

/* Forgets provider and detection. For tests. */
void device_service_reset(void);

/* The parsers of the processor's facts, pure: the first "model name" of /proc/cpuinfo (an
 * architecture without one: `fallback`), and MemAvailable of /proc/meminfo in bytes, 0 if absent.
 */
void device_cpu_name(const char *cpuinfo, const char *fallback, char *out, size_t out_bytes);
uint64_t device_available_bytes(const char *meminfo);

#endif
