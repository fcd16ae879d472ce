/* The applet that must not notice what its neighbours do: each frame it counts, tells the test
 * through the probe service, and computes with denormals, which another applet may not switch off.
 */
#include <caliper/abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe.h"

typedef struct Healthy {
    const TestProbe *probe;
    uint64_t frames;
} Healthy;

static void *create(void)
{
    return calloc(1, sizeof(Healthy));
}

static void destroy(void *self)
{
    free(self);
}

static bool initialize(void *self, const CaliperHost *host)
{
    Healthy *healthy = self;
    healthy->probe = host->get_service(host, TEST_PROBE);
    return healthy->probe != NULL;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)info;
    Healthy *healthy = self;
    volatile float smallest_normal = 0x1p-126f;
    volatile float half = smallest_normal * 0.5f;
    healthy->frames++;
    healthy->probe->healthy_frame(healthy->frames, half == 0x1p-127f && half > 0.0f);
}

static void cleanup(void *self)
{
    ((Healthy *)self)->probe->note("healthy cleanup");
}

static const char *const services[] = {TEST_PROBE, NULL};
static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.healthy",
                                                   .version = "1.0.0",
                                                   .name = "Healthy",
                                                   .summary = "Runs beside the others",
                                                   .tag = "test",
                                                   .required_services = services,
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = destroy,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
