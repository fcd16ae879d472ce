/* cuda_applet.c: a CUDA tensor as a live texture, by the best way that this host offers. The ways,
 * called rungs here, from the best down; each falls back to the next for good when it is refused:
 *
 *   import   v1_2: the host reads our allocation in place, ordered on our stream
 *   stream   v1_1: the host reads the tensor where it is, ordered on our stream
 *   drain    v1:   the same after our stream was drained
 *   copy     v1:   through host memory; also what runs without CUDA at all
 *
 * It includes the SDK and producer.h, and links nothing of the host's. */
#include <caliper/caliper.h>
#include <math.h>
#include <stdlib.h>

#include "producer.h"

enum { HEIGHT = 256, WIDTH = 384 };

typedef enum Rung { RUNG_IMPORT, RUNG_STREAM, RUNG_DRAIN, RUNG_COPY } Rung;

static const char *const rung_names[] = {"import", "stream", "drain", "copy"};

typedef struct Demo {
    const CaliperHost *host;
    const CaliperTensorBridgeV1 *bridge;
    const CaliperTensorBridgeV1_2 *bridge_v1_2; /* NULL: this host has none */
    const CaliperWidgetsV1 *ui;
    Producer *producer; /* NULL: no CUDA device */
    int32_t ordinal;
    Rung rung;
    CaliperTextureId texture;
    CaliperAllocId allocation;
    uint32_t slot;
    float values[HEIGHT * WIDTH];
} Demo;

static void *create(void)
{
    return calloc(1, sizeof(Demo));
}

static void destroy(void *self)
{
    free(self);
}

/* ---- Which rung to begin with ---- */

static uint32_t ask_caps(const CaliperHost *host)
{
    const CaliperTensorBridgeV1_1 *v1_1 =
        CALIPER_SERVICE(host, CaliperTensorBridgeV1_1, CALIPER_TENSOR_BRIDGE_V1_1);
    return v1_1 != NULL ? v1_1->caps() : 0;
}

static Rung best_rung(Demo *demo)
{
    uint32_t caps = ask_caps(demo->host);
    if (demo->producer == NULL)
        return RUNG_COPY;
    if (demo->bridge_v1_2 != NULL && (caps & CALIPER_BRIDGE_CAP_IMPORT_ALLOC) != 0 &&
        producer_fd(demo->producer) >= 0) {
        /* The host takes a duplicate of the fd; ours is closed with the producer. */
        demo->allocation = demo->bridge_v1_2->import_allocation(
            (void *)(intptr_t)producer_fd(demo->producer), producer_bytes(demo->producer),
            CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        if (demo->allocation != 0)
            return RUNG_IMPORT;
    }
    return (caps & CALIPER_BRIDGE_CAP_STREAM_ORDERED) != 0 ? RUNG_STREAM : RUNG_DRAIN;
}

/* ---- One update ---- */

static CaliperTensor describe(const Demo *demo)
{
    CaliperTensor tensor = caliper_tensor_f32_2d(demo->values, HEIGHT, WIDTH);
    if (demo->rung == RUNG_COPY)
        return tensor;
    tensor.data = producer_slot(demo->producer, demo->slot);
    tensor.device = CALIPER_DEV_CUDA;
    tensor.device_index = demo->ordinal;
    if (demo->rung != RUNG_DRAIN)
        tensor.stream = producer_stream(demo->producer);
    return tensor;
}

/* What the rung asks of the producer before the host may look. */
static bool prepare(Demo *demo, double time_sec)
{
    if (demo->producer != NULL) {
        demo->slot = (demo->slot + 1) % PRODUCER_SLOTS;
        if (!producer_enqueue(demo->producer, demo->slot, (float)time_sec))
            return false;
        if (demo->rung == RUNG_DRAIN)
            return producer_drain(demo->producer);
        return demo->rung != RUNG_COPY ||
               producer_download(demo->producer, demo->slot, demo->values);
    }
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            demo->values[y * WIDTH + x] =
                0.5f + 0.5f * sinf(0.1f * hypotf((float)(x - WIDTH / 2), (float)(y - HEIGHT / 2)) -
                                   (float)time_sec);
    }
    return true;
}

static bool show(Demo *demo)
{
    CaliperTensor tensor = describe(demo);
    if (demo->texture == 0) {
        demo->texture =
            demo->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
        return demo->texture != 0;
    }
    if (demo->rung == RUNG_IMPORT) /* tensor.data is not looked at: allocation and offset count */
        return demo->bridge_v1_2->update_texture_from_alloc(
            demo->texture, demo->allocation, producer_slot_offset(demo->producer, demo->slot),
            &tensor);
    return demo->bridge->update_texture(demo->texture, &tensor);
}

/* A refusal leaves the pixels as they were and has said why in the log, so that trying the next
 * rung is all there is to do. */
static void update(Demo *demo, double time_sec)
{
    for (;;) {
        if (prepare(demo, time_sec) && show(demo))
            return;
        if (demo->rung == RUNG_COPY) {
            producer_close(&demo->producer); /* even the copy failed: go on without CUDA */
            return;
        }
        demo->rung = (Rung)(demo->rung + 1);
        caliper_logf(demo->host, CALIPER_LOG_INFO, "falls back to %s", rung_names[demo->rung]);
    }
}

/* ---- The applet's life ---- */

static void cleanup(void *self)
{
    Demo *demo = self;
    if (demo->texture != 0)
        demo->bridge->release_texture(demo->texture);
    if (demo->allocation != 0) /* frames in flight may still read it: the host sees to that */
        demo->bridge_v1_2->release_allocation(demo->allocation);
    producer_close(&demo->producer);
}

static bool initialize(void *self, const CaliperHost *host)
{
    Demo *demo = self;
    CaliperDeviceSnapshot device = caliper_device_snapshot(host);
    demo->host = host;
    demo->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    demo->bridge_v1_2 = CALIPER_SERVICE(host, CaliperTensorBridgeV1_2, CALIPER_TENSOR_BRIDGE_V1_2);
    demo->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    if (demo->bridge == NULL || demo->ui == NULL)
        return false;
    demo->ordinal = device.index;
    if (device.kind == CALIPER_DEV_CUDA)
        demo->producer = producer_open(demo->ordinal, HEIGHT, WIDTH);
    demo->rung = best_rung(demo);
    caliper_logf(host, CALIPER_LOG_INFO, "begins with %s", rung_names[demo->rung]);
    return true;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Demo *demo = self;
    update(demo, info->time_sec);
    demo->ui->text_ex(rung_names[demo->rung], -1, 0, CALIPER_TEXT_HEADING);
    if (demo->texture != 0)
        demo->ui->image(demo->texture, 2.0f * WIDTH, 2.0f * HEIGHT, 0);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1, CALIPER_WIDGETS_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.example.cuda",
        .version = "1.0.0",
        .name = "CUDA example",
        .summary = "A CUDA tensor as a live texture, by the best way that the host offers.",
        .tag = "example",
        .required_services = services,
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = destroy,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
