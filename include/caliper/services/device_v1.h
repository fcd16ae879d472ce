/* caliper.device.v1: the compute device that the host found.
 *
 * Frozen. The host finds one device, once, without any machine-learning framework; the applet maps
 * the kind onto its own framework's device and checks that the framework can use it, with the CPU
 * to fall back on. A kind names where memory lives and which API reaches it, not a framework's
 * backend. On hosts of other makes a slot may be NULL: caliper_device_snapshot() in
 * caliper/caliper.h looks first. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_DEVICE_V1_H
#define CALIPER_SERVICES_DEVICE_V1_H

#include <stdint.h>

#include <caliper/layout.h>

#define CALIPER_DEVICE_V1 "caliper.device.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CaliperDeviceKind {
    CALIPER_DEV_CPU = 0,  /* host memory */
    CALIPER_DEV_CUDA = 1, /* CUDA device memory */
    CALIPER_DEV_METAL = 2 /* Metal buffers, whatever framework made them */
} CaliperDeviceKind;

/* None of the slots fails; all answer from memory, except the hint, which asks the driver. */
typedef struct CaliperDeviceV1 {
    uint32_t struct_size;

    /* The same answer for the whole process. It says which memory there is, not that every renderer
     * can show it: the bridge's own accept or reject decides that. [any] */
    CaliperDeviceKind (*kind)(void);

    /* The CUDA ordinal; 0 for CPU and METAL. [any] */
    int32_t (*index)(void);

    /* The device's name, for people. Host-owned, valid for the process, never NULL. [any] */
    const char *(*name)(void);

    /* Bytes free on the device now, a best effort; 0 means unknown, not none. [any] */
    uint64_t (*free_memory_hint)(void);
} CaliperDeviceV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperDeviceKind, 4);
CALIPER_LAYOUT_SIZE(CaliperDeviceV1, 40);
CALIPER_LAYOUT_AT(CaliperDeviceV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperDeviceV1, kind, 8);
CALIPER_LAYOUT_AT(CaliperDeviceV1, index, 16);
CALIPER_LAYOUT_AT(CaliperDeviceV1, name, 24);
CALIPER_LAYOUT_AT(CaliperDeviceV1, free_memory_hint, 32);

#endif
