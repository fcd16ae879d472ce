/* Balance and failure on the GPU: create, import and release in a loop, every CUDA and Vulkan call
 * failing in turn, and what must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "gpu_tests.h"

enum { SIDE = 128, WORDS = SIDE * SIDE };

static size_t device_free_bytes(Gpu *gpu)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    GPU_CALL(gpu, cuMemGetInfo, &free_bytes, &total_bytes);
    return free_bytes;
}

/* Once through everything; false when any step was refused. */
static bool cycle(Gpu *gpu, CudaPointer pointer, CudaStream stream, uint32_t word)
{
    static uint8_t pixels[WORDS * 4];
    GpuExport block;
    bool ok = true;
    gpu_fill(gpu, pointer, WORDS, word, stream);
    CaliperTensor tensor = gpu_tensor_u8(pointer, SIDE, SIDE, 4, stream);
    CaliperTextureId id = bridge_texture_from_tensor(gpu->bridge, &tensor, 0);
    ok &= id != 0;
    if (id != 0)
        ok &= bridge_update_texture(gpu->bridge, id, &tensor);
    if (!gpu_export_make(gpu, WORDS * 4, &block))
        return false;
    CaliperAllocId alloc = bridge_import_allocation(
        gpu->bridge, (void *)(intptr_t)block.fd, block.size_bytes, CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    ok &= alloc != 0;
    gpu_fill(gpu, block.pointer, WORDS, word + 1, stream);
    if (id != 0 && alloc != 0)
        ok &= bridge_update_texture_from_alloc(gpu->bridge, id, alloc, 0, &tensor);
    gpu_frame(gpu, &id, id != 0 ? 1 : 0);
    if (id != 0 && alloc != 0 && ok) {
        uint32_t got = 0;
        ok &= bridge_texture_read_rgba8(gpu->bridge, id, pixels, sizeof pixels);
        memcpy(&got, pixels + 4 * (WORDS - 1), 4);
        ok &= got == word + 1;
    }
    if (alloc != 0)
        bridge_release_allocation(gpu->bridge, alloc);
    if (id != 0)
        bridge_release_texture(gpu->bridge, id);
    gpu_frame(gpu, NULL, 0);
    GPU_CALL(gpu, cuStreamSynchronize, stream);
    gpu_export_free(gpu, &block);
    return ok;
}

void gpu_test_life(Gpu *gpu)
{
    enum { WARM_UP = 50, CYCLES = 2000 };
    CudaPointer pointer;
    CudaStream stream;
    RendererCounters before;
    RendererCounters after;
    long wrong = 0;
    GPU_CALL(gpu, cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
    GPU_CALL(gpu, cuMemAlloc, &pointer, WORDS * 4);
    for (int i = 0; i < WARM_UP; i++)
        cycle(gpu, pointer, stream, 0xff000000u + (uint32_t)i);
    int fds = gpu_open_fds();
    size_t free_bytes = device_free_bytes(gpu);
    renderer_counters(gpu->renderer, &before);
    for (int i = 0; i < CYCLES; i++)
        wrong += !cycle(gpu, pointer, stream, 0xff000000u + (uint32_t)i * 3u);
    renderer_counters(gpu->renderer, &after);
    gpu_report("life: create, update, import, read, release", CYCLES, wrong);
    gpu_report("life: file descriptors left over", CYCLES, gpu_open_fds() - fds);
    gpu_report("life: device memory lost (bytes)", CYCLES,
               (long)free_bytes - (long)device_free_bytes(gpu));
    gpu_report("life: textures and allocations left over", CYCLES,
               (long)(after.textures - before.textures) +
                   (long)(after.allocations - before.allocations));
    GPU_CALL(gpu, cuMemFree, pointer);
    GPU_CALL(gpu, cuStreamDestroy, stream);
}

/* One site, call after call failing until none is left: refused or survived, then right again. */
static void faults_of(Gpu *gpu, const char *site, int tries_max)
{
    CudaPointer pointer;
    char what[96];
    long tries = 0;
    long wrong = 0;
    GPU_CALL(gpu, cuMemAlloc, &pointer, WORDS * 4);
    cycle(gpu, pointer, NULL, 5);
    int fds = gpu_open_fds();
    int n = 1;
    for (int i = 0; i < tries_max; i++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%d", site, n);
        fault_set_plan(plan);
        gpu_warnings();
        bool ok = cycle(gpu, pointer, NULL, 0xff001000u + (uint32_t)i);
        uint32_t injected = fault_injected();
        fault_set_plan(NULL);
        if (injected == 0) {
            wrong += !ok;
            n = 0; /* round again from the first call */
        } else {
            tries++;
            wrong += !ok && gpu_warnings() == 0; /* a refusal without a line */
        }
        n++;
        if (renderer_lost(gpu->renderer)) {
            wrong++;
            break;
        }
        wrong += i % 16 == 0 && !cycle(gpu, pointer, NULL, 0xff002000u + (uint32_t)i);
    }
    snprintf(what, sizeof what, "faults: %s failing in turn", site);
    gpu_report(what, tries, wrong);
    snprintf(what, sizeof what, "faults: %s, file descriptors left over", site);
    gpu_report(what, tries, gpu_open_fds() - fds);
    GPU_CALL(gpu, cuMemFree, pointer);
}

void gpu_test_faults(Gpu *gpu)
{
    faults_of(gpu, "cuda", 1000);
    faults_of(gpu, "vk.import", 1500);
    faults_of(gpu, "vk.memory", 300);
}

/* A submission that fails is a lost device: another renderer is made and is right, and nothing of
 * the lost ones is left. */
void gpu_test_submits(Gpu *gpu)
{
    enum { WARM_UP = 10, TRIES = 1000 };
    CudaPointer pointer;
    long wrong = 0;
    long lost = 0;
    int fds = 0;
    size_t free_bytes = 0;
    GPU_CALL(gpu, cuMemAlloc, &pointer, WORDS * 4);
    for (int i = -WARM_UP; i < TRIES; i++) {
        char plan[32];
        if (i == 0) {
            fds = gpu_open_fds();
            free_bytes = device_free_bytes(gpu);
        }
        snprintf(plan, sizeof plan, "vk.submit:%d", 1 + (i + WARM_UP) % 4);
        fault_set_plan(plan);
        cycle(gpu, pointer, NULL, 0xff003000u + (uint32_t)i);
        bool injected = fault_injected() > 0;
        fault_set_plan(NULL);
        wrong += injected != renderer_lost(gpu->renderer);
        lost += i >= 0 && injected;
        if (injected) {
            gpu_renderer_close(gpu);
            if (!gpu_renderer_open(gpu)) {
                gpu_report("submits: a renderer after the lost one", i, 1);
                exit(1);
            }
        }
        wrong += i % 20 == 0 && !cycle(gpu, pointer, NULL, 0xff004000u + (uint32_t)i);
    }
    gpu_report("submits: lost devices, another renderer each time", lost, wrong);
    gpu_report("submits: file descriptors left over", lost, gpu_open_fds() - fds);
    /* A driver's own pools move by a page or so (64 KiB once in 1000); a block left by each lost
     * device would be 4 KiB a thousand times at the least. */
    long lost_bytes = (long)free_bytes - (long)device_free_bytes(gpu);
    gpu_report("submits: device memory lost beyond 1 MiB (bytes)", lost,
               lost_bytes > 1 << 20 ? lost_bytes : 0);
    GPU_CALL(gpu, cuMemFree, pointer);
}

static void refused(Gpu *gpu, CaliperTextureId id, CaliperTensor tensor, const char *what)
{
    static uint8_t before[WORDS * 4];
    static uint8_t after[WORDS * 4];
    char line[96];
    long wrong = 0;
    wrong += !bridge_texture_read_rgba8(gpu->bridge, id, before, sizeof before);
    gpu_warnings();
    wrong += bridge_update_texture(gpu->bridge, id, &tensor);
    wrong += gpu_warnings() != 1;
    wrong += !bridge_texture_read_rgba8(gpu->bridge, id, after, sizeof after);
    wrong += memcmp(before, after, sizeof before) != 0;
    snprintf(line, sizeof line, "refused: %s", what);
    gpu_report(line, 1, wrong);
}

void gpu_test_refusals(Gpu *gpu)
{
    CudaPointer pointer;
    GpuExport block;
    GPU_CALL(gpu, cuMemAlloc, &pointer, WORDS * 4);
    gpu_fill(gpu, pointer, WORDS, 0xff123456u, NULL);
    CaliperTensor tensor = gpu_tensor_u8(pointer, SIDE, SIDE, 4, NULL);
    CaliperTextureId id = bridge_texture_from_tensor(gpu->bridge, &tensor, 0);
    CaliperTensor bad = tensor;
    bad.stream = (void *)2;
    refused(gpu, id, bad, "the per-thread default stream");
    bad = tensor;
    bad.data = (void *)(uintptr_t)0x10;
    refused(gpu, id, bad, "a pointer that CUDA does not know");
    bad = tensor;
    bad.device_index = 1;
    refused(gpu, id, bad, "another device index");
    if (gpu_export_make(gpu, WORDS * 4, &block)) {
        /* The mapping ends at block.size_bytes: a tensor that starts late runs past it. */
        bad = tensor;
        bad.data = (void *)(uintptr_t)(block.pointer + block.size_bytes - 4096);
        refused(gpu, id, bad, "a tensor that ends past its memory");
        gpu_warnings();
        CaliperAllocId alloc =
            bridge_import_allocation(gpu->bridge, (void *)(intptr_t)block.fd, block.size_bytes * 4,
                                     CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        gpu_report("refused: an import of four times the real size", 1,
                   (alloc != 0) + (gpu_warnings() != 1));
        gpu_export_free(gpu, &block);
    }
    void *host = NULL;
    if (posix_memalign(&host, 4096, WORDS * 4) == 0) {
        bad = tensor;
        bad.data = host;
        refused(gpu, id, bad, "host memory given as CUDA memory");
        free(host);
    }
    bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    GPU_CALL(gpu, cuMemFree, pointer);
}
