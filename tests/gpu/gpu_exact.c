/* Byte-exactness of every rung on the GPU: the pass where the tensor lives, imported allocations at
 * many offsets, shared host memory, and the staged path, against gfx_expected.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfx_expected.h"
#include "gpu_tests.h"

enum { SIZES = 12 };
static const int32_t sizes[SIZES][2] = {{1, 1},    {4, 4},    {5, 3},    {17, 9},
                                        {63, 5},   {64, 64},  {65, 7},   {255, 257},
                                        {256, 33}, {1024, 1}, {1, 1024}, {1030, 513}};

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A value of each class in turn: any bits, near the range, bin edges and their neighbours. */
static float value_make(uint64_t i, float vmin, float vmax)
{
    uint32_t bits = (uint32_t)random_next();
    float value;
    switch (i % 5) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return value;
    case 1: {
        static const uint32_t special[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u,
                                           0x7f800001u, 0x00000001u, 0x80000001u, 0x007fffffu,
                                           0x00000000u, 0x80000000u, 0x7f7fffffu, 0xff7fffffu};
        memcpy(&value, &special[bits % 12], sizeof value);
        return value;
    }
    case 2: {
        float edge = (float)((double)vmin +
                             ((double)vmax - (double)vmin) * ((double)(bits % 256) - 0.5) / 255.0);
        return bits & 0x10000u   ? nextafterf(edge, INFINITY)
               : bits & 0x20000u ? nextafterf(edge, -INFINITY)
                                 : edge;
    }
    default:
        return (float)((double)vmin + ((double)vmax - (double)vmin) * (double)bits / 4294967296.0);
    }
}

static const float ranges[][2] = {{0.0f, 1.0f},      {-1.0f, 1.0f},     {3.0f, -2.0f},
                                  {1.0f, 1.0f},      {-1e-27f, 1e-27f}, {-3e37f, 3e37f},
                                  {1e-20f, 1.0001f}, {255.0f, 0.0f}};
enum { RANGES = sizeof ranges / sizeof ranges[0] };

static long compare(Gpu *gpu, CaliperTextureId id, const uint8_t *expected, uint64_t bytes)
{
    uint8_t *got = malloc(bytes);
    long wrong = 0;
    if (!bridge_texture_read_rgba8(gpu->bridge, id, got, bytes))
        wrong = (long)bytes;
    else
        for (uint64_t i = 0; i < bytes; i++)
            wrong += got[i] != expected[i];
    free(got);
    return wrong;
}

/* A case: host copy of the elements, the bytes expected, and how the tensor is described. */
typedef struct Case {
    int32_t width, height, channels; /* channels 0: f32 */
    int32_t colormap;
    float vmin, vmax;
    uint8_t *elements;
    uint64_t element_bytes;
    uint8_t *expected;
    uint64_t expected_bytes;
} Case;

static void case_make(Case *c, int size, int channels, int range)
{
    uint64_t count;
    memset(c, 0, sizeof *c);
    c->width = sizes[size][0];
    c->height = sizes[size][1];
    c->channels = channels;
    c->colormap = (size + range) % 3;
    c->vmin = ranges[range][0];
    c->vmax = ranges[range][1];
    count = (uint64_t)c->width * (uint64_t)c->height;
    c->element_bytes = count * (channels == 0 ? 4 : (uint64_t)channels);
    c->expected_bytes = count * 4;
    c->elements = malloc(c->element_bytes);
    c->expected = malloc(c->expected_bytes);
    for (uint64_t i = 0; i < c->element_bytes; i += channels == 0 ? 4 : 1) {
        float value = value_make(i / 4, c->vmin, c->vmax);
        if (channels == 0)
            memcpy(c->elements + i, &value, 4);
        else
            c->elements[i] = (uint8_t)random_next();
    }
    RendererPass pass = {.kind = RENDERER_PASS_EXPAND, .channels = (uint32_t)channels};
    if (channels == 0)
        pass = expected_colormap_pass(c->colormap, c->vmin, c->vmax);
    expected_pixels(&pass, c->elements, count, (uint32_t *)(void *)c->expected);
}

static void case_free(Case *c)
{
    free(c->elements);
    free(c->expected);
}

static CaliperTensor case_tensor(const Case *c, uint64_t pointer)
{
    return c->channels == 0 ? gpu_tensor_f32(pointer, c->height, c->width, NULL)
                            : gpu_tensor_u8(pointer, c->height, c->width, c->channels, NULL);
}

static CaliperTextureId case_texture(Gpu *gpu, const Case *c, const CaliperTensor *tensor)
{
    return c->channels == 0 ? bridge_texture_from_tensor_mapped(gpu->bridge, tensor, c->colormap,
                                                                c->vmin, c->vmax, 0)
                            : bridge_texture_from_tensor(gpu->bridge, tensor, 0);
}

/* The tensor in CUDA memory at byte `shift` of an allocation; create, and then an update. On the
 * second rung the same, by way of a copy. */
static long device_tensor(Gpu *gpu, const Case *c, uint64_t shift, long *tries)
{
    CudaPointer block;
    GPU_CALL(gpu, cuMemAlloc, &block, c->element_bytes + shift + 16);
    GPU_CALL(gpu, cuMemcpyHtoD, block + shift, c->elements, c->element_bytes);
    CaliperTensor tensor = case_tensor(c, block + shift);
    CaliperTextureId id = case_texture(gpu, c, &tensor);
    long wrong =
        id == 0 ? (long)c->expected_bytes : compare(gpu, id, c->expected, c->expected_bytes);
    *tries += (long)c->expected_bytes;
    if (id != 0) {
        /* An update over other pixels must bring every byte anew. */
        gpu_fill(gpu, block, (c->element_bytes + shift) / 4, 0x3f000000u, NULL);
        if (!bridge_update_texture(gpu->bridge, id, &tensor))
            wrong++;
        GPU_CALL(gpu, cuMemcpyHtoD, block + shift, c->elements, c->element_bytes);
        if (!bridge_update_texture(gpu->bridge, id, &tensor))
            wrong++;
        wrong += compare(gpu, id, c->expected, c->expected_bytes);
        *tries += (long)c->expected_bytes;
        bridge_release_texture(gpu->bridge, id);
    }
    bridge_frame_end(gpu->bridge);
    GPU_CALL(gpu, cuMemFree, block);
    return wrong;
}

/* The same bytes inside an exported allocation, read through an import. */
static long imported(Gpu *gpu, const Case *c, GpuExport *block, CaliperAllocId alloc,
                     uint64_t offset, long *tries)
{
    CaliperTensor host = case_tensor(c, (uint64_t)(uintptr_t)c->elements);
    host.device = CALIPER_DEV_CPU;
    uint8_t *zero = calloc(1, c->element_bytes);
    host.data = zero;
    CaliperTextureId id = case_texture(gpu, c, &host);
    free(zero);
    GPU_CALL(gpu, cuMemcpyHtoD, block->pointer + offset, c->elements, c->element_bytes);
    CaliperTensor desc = case_tensor(c, 0);
    long wrong = 0;
    if (id == 0 || !bridge_update_texture_from_alloc(gpu->bridge, id, alloc, offset, &desc))
        wrong = (long)c->expected_bytes;
    else
        wrong = compare(gpu, id, c->expected, c->expected_bytes);
    *tries += (long)c->expected_bytes;
    if (id != 0)
        bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    return wrong;
}

static long host_staged(Gpu *gpu, const Case *c, long *tries)
{
    CaliperTensor tensor = case_tensor(c, (uint64_t)(uintptr_t)c->elements);
    tensor.device = CALIPER_DEV_CPU;
    CaliperTextureId id = case_texture(gpu, c, &tensor);
    long wrong =
        id == 0 ? (long)c->expected_bytes : compare(gpu, id, c->expected, c->expected_bytes);
    *tries += (long)c->expected_bytes;
    if (id != 0)
        bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    return wrong;
}

/* alloc_shared maps 2-D f32 through viridis over [0,1], so its expected bytes are made anew. */
static long shared(Gpu *gpu, Case *c, long *tries)
{
    int64_t shape[3] = {c->height, c->width, c->channels};
    CaliperTensor tensor = {.struct_size = sizeof tensor};
    CaliperTextureId id = 0;
    long wrong = 0;
    if (!bridge_alloc_shared(gpu->bridge, c->channels == 0 ? CALIPER_DT_F32 : CALIPER_DT_U8,
                             c->channels == 0 ? 2 : 3, shape, &tensor, &id))
        return (long)c->expected_bytes;
    memcpy(tensor.data, c->elements, c->element_bytes);
    if (c->channels == 0) {
        RendererPass pass = expected_colormap_pass(0, 0.0f, 1.0f);
        expected_pixels(&pass, c->elements, c->expected_bytes / 4, (uint32_t *)(void *)c->expected);
    }
    wrong += compare(gpu, id, c->expected, c->expected_bytes);
    *tries += (long)c->expected_bytes;
    bridge_free_shared(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    return wrong;
}

void gpu_test_exact(Gpu *gpu)
{
    static const char *const kinds[] = {"mapped f32", "direct u8 x1", "direct u8 x2",
                                        "direct u8 x3", "direct u8 x4"};
    GpuExport block;
    CaliperAllocId alloc = 0;
    if (!expected_load_tables()) {
        gpu_report("exact: the published tables can be read", 1, 1);
        return;
    }
    if (gpu_export_make(gpu, 8u << 20, &block))
        alloc = bridge_import_allocation(gpu->bridge, (void *)(intptr_t)block.fd, block.size_bytes,
                                         CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    for (int channels = 0; channels <= 4; channels++) {
        long tries[4] = {0};
        long wrong[4] = {0};
        for (int size = 0; size < SIZES; size++) {
            for (int range = 0; range < (channels == 0 ? RANGES : 2); range++) {
                Case c;
                case_make(&c, size, channels, range);
                uint64_t unit = channels == 0 ? 4 : 1;
                for (uint64_t shift = 0; shift < 4; shift++)
                    wrong[0] += device_tensor(gpu, &c, shift * unit, &tries[0]);
                for (uint64_t odd = 0; odd < 6; odd++) {
                    uint64_t offset = odd == 0 ? 0 : odd == 1 ? unit : (2 * odd - 1) * 16;
                    wrong[1] += imported(gpu, &c, &block, alloc, offset, &tries[1]);
                }
                wrong[2] += host_staged(gpu, &c, &tries[2]);
                wrong[3] += shared(gpu, &c, &tries[3]);
                case_free(&c);
            }
        }
        const char *const rungs[4] = {gpu->copies ? "device tensor" : "where the tensor lives",
                                      "imported allocation", "host tensor", "shared"};
        for (int i = 0; i < 4; i++) {
            char what[96];
            snprintf(what, sizeof what, "exact: %s, %s (bytes)", kinds[channels], rungs[i]);
            gpu_report(what, tries[i], wrong[i]);
        }
    }
    bridge_release_allocation(gpu->bridge, alloc);
    gpu_export_free(gpu, &block);
}

/* One update of a CUDA tensor and its frame: the counters and the path say how it went. */
void gpu_test_rung(Gpu *gpu)
{
    enum { SIDE = 100, BYTES = SIDE * SIDE * 4, UPDATES = 20 };
    CudaPointer block;
    RendererCounters before;
    RendererCounters after;
    GPU_CALL(gpu, cuMemAlloc, &block, BYTES);
    gpu_fill(gpu, block, SIDE * SIDE, 0x3f000000u, NULL);
    CaliperTensor tensor = gpu_tensor_f32(block, SIDE, SIDE, NULL);
    renderer_counters(gpu->renderer, &before);
    CaliperTextureId id = bridge_texture_from_tensor_mapped(gpu->bridge, &tensor, 0, 0.0f, 1.0f, 0);
    gpu_frame(gpu, &id, 1);
    long wrong = id == 0;
    for (int i = 1; i < UPDATES; i++) {
        wrong += !bridge_update_texture(gpu->bridge, id, &tensor);
        gpu_frame(gpu, &id, 1);
    }
    renderer_counters(gpu->renderer, &after);
    uint64_t copied = gpu->copies ? (uint64_t)UPDATES * BYTES : 0;
    gpu_report("rung: updates of a CUDA tensor, one pass each", UPDATES,
               wrong + labs((long)(after.passes - before.passes) - UPDATES));
    gpu_report("rung: bytes copied in device memory (wrong: off by)", UPDATES * BYTES,
               labs((long)(after.device_copied_bytes - before.device_copied_bytes) - (long)copied));
    gpu_report("rung: bytes staged by the CPU (wrong: all of them)", UPDATES * BYTES,
               (long)(after.staged_bytes - before.staged_bytes));
    gpu_report("rung: the path says what ran", 1,
               strcmp(renderer_path(gpu->renderer),
                      gpu->copies
                          ? "GPU-resident (Vulkan + CUDA, one device copy, zero CPU staging)"
                          : "GPU-resident (Vulkan + CUDA, zero CPU staging)") != 0);
    bridge_release_texture(gpu->bridge, id);
    gpu_frame(gpu, NULL, 0);
    GPU_CALL(gpu, cuMemFree, block);
}
