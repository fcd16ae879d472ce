/* The applet that must not notice what its neighbours do: each frame it counts, paints its texture,
 * tells the test through the probe service, and computes with denormals, which another applet may
 * not switch off.
 */
#include <caliper/abi.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "probe.h"

typedef struct Healthy {
    const TestProbe *probe;
    const CaliperTensorBridgeV1 *bridge;
    uint8_t pixels[TEST_PICTURE_BYTES];
    CaliperTextureId texture;
    uint64_t frames;
} Healthy;

static CaliperTensor paint(Healthy *healthy)
{
    for (uint32_t i = 0; i < TEST_PICTURE_BYTES; i++)
        healthy->pixels[i] = test_picture_byte(healthy->frames, i);
    return (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                           .data = healthy->pixels,
                           .dtype = CALIPER_DT_U8,
                           .ndim = 3,
                           .shape = {TEST_PICTURE_HEIGHT, TEST_PICTURE_WIDTH, 4},
                           .strides = {TEST_PICTURE_WIDTH * 4, 4, 1},
                           .device = CALIPER_DEV_CPU};
}

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
    healthy->bridge = host->get_service(host, CALIPER_TENSOR_BRIDGE_V1);
    if (healthy->probe == NULL || healthy->bridge == NULL)
        return false;
    CaliperTensor picture = paint(healthy);
    healthy->texture = healthy->bridge->texture_from_tensor(&picture, 0);
    return healthy->texture != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)info;
    Healthy *healthy = self;
    volatile float smallest_normal = 0x1p-126f;
    volatile float half = smallest_normal * 0.5f;
    healthy->frames++;
    CaliperTensor picture = paint(healthy);
    bool painted = healthy->bridge->update_texture(healthy->texture, &picture);
    healthy->probe->healthy_frame(healthy->frames, healthy->texture, painted,
                                  half == 0x1p-127f && half > 0.0f);
}

static void cleanup(void *self)
{
    Healthy *healthy = self;
    healthy->bridge->release_texture(healthy->texture);
    healthy->probe->note("healthy cleanup");
}

static const char *const services[] = {TEST_PROBE, CALIPER_TENSOR_BRIDGE_V1, NULL};
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
