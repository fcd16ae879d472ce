/* caliper_gpu_bench: what the CUDA and Vulkan path costs on this machine, each number beside its
 * floor from the same run. Prints a table in Markdown; exits 77 where there is no NVIDIA GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "gpu_support.h"
#include "render/vulkan/vk_renderer.h"

enum { REPEATS = 7 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static double cpu_now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds an update, from enough of them that launching does not count. A small frame that draws
 * the texture, read back, ends every run; the difference of a short and a long run is the updates.
 */
static double updates_sec(Gpu *gpu, CaliperTextureId id, const CaliperTensor *tensor,
                          CaliperAllocId alloc, int updates)
{
    static uint8_t frame[64 * 64 * 4];
    double samples[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double spent[2];
        for (int k = 0; k < 2; k++) {
            int count = k == 0 ? 1 : updates + 1;
            double start = gpu_now_sec();
            for (int i = 0; i < count; i++) {
                if (alloc != 0)
                    bridge_update_texture_from_alloc(gpu->bridge, id, alloc, 0, tensor);
                else
                    bridge_update_texture(gpu->bridge, id, tensor);
            }
            gpu_frame(gpu, &id, 1);
            renderer_frame_read(gpu->renderer, frame, sizeof frame);
            spent[k] = gpu_now_sec() - start;
        }
        samples[r] = (spent[1] - spent[0]) / updates;
    }
    return median(samples, REPEATS);
}

/* Seconds an update with its frame. On the second rung updates that no frame shows share one pass,
 * so each has a frame here, a small one; the hand-over to Vulkan is in it. */
static double framed_updates_sec(Gpu *gpu, CaliperTextureId id, const CaliperTensor *tensor,
                                 int updates)
{
    static uint8_t frame[64 * 64 * 4];
    double samples[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double spent[2];
        for (int k = 0; k < 2; k++) {
            int count = k == 0 ? 1 : updates + 1;
            double start = gpu_now_sec();
            for (int i = 0; i < count; i++) {
                bridge_update_texture(gpu->bridge, id, tensor);
                gpu_frame(gpu, &id, 1);
            }
            renderer_frame_read(gpu->renderer, frame, sizeof frame);
            spent[k] = gpu_now_sec() - start;
        }
        samples[r] = (spent[1] - spent[0]) / updates;
    }
    return median(samples, REPEATS);
}

/* A texture of the tensor, its time and its end; 0 when it was refused. */
static double framed_texture_sec(Gpu *gpu, const CaliperTensor *tensor, int updates)
{
    CaliperTextureId id = bridge_texture_from_tensor_mapped(gpu->bridge, tensor, 0, 0.0f, 1.0f, 0);
    double seconds = id != 0 ? framed_updates_sec(gpu, id, tensor, updates) : 0;
    if (id != 0)
        bridge_release_texture(gpu->bridge, id);
    gpu_frame(gpu, NULL, 0);
    return seconds;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double copy_sec(Gpu *gpu, CudaPointer from, CudaPointer to, uint64_t bytes, int copies)
{
    double samples[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        GPU_CALL(gpu, cuMemcpyDtoDAsync, to, from, bytes, NULL);
        GPU_CALL(gpu, cuStreamSynchronize, NULL);
        double start = gpu_now_sec();
        for (int i = 0; i < copies; i++)
            GPU_CALL(gpu, cuMemcpyDtoDAsync, to, from, bytes, NULL);
        GPU_CALL(gpu, cuStreamSynchronize, NULL);
        samples[r] = (gpu_now_sec() - start) / copies;
    }
    return median(samples, REPEATS);
}

/* `copies`: the same device, on the second rung. */
static void bench_rungs(Gpu *gpu, Gpu *copies)
{
    static const int64_t sides[] = {1024, 4096, 8192, 16384};
    printf(
        "\n| one colormap pass, f32 | copy of the same bytes | in place | of copy | imported | of "
        "copy | in place, a frame each | copied, a frame each | of copy |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < 4; i++) {
        int64_t side = sides[i];
        uint64_t bytes = (uint64_t)side * (uint64_t)side * 4u;
        int count = side <= 1024 ? 400 : side <= 4096 ? 150 : 40;
        CudaPointer target;
        GpuExport block;
        if (!gpu_export_make(gpu, bytes, &block))
            continue;
        GPU_CALL(gpu, cuMemAlloc, &target, bytes);
        gpu_fill(gpu, block.pointer, bytes / 4, 0x3f000000u, NULL);
        CaliperTensor tensor = gpu_tensor_f32(block.pointer, side, side, NULL);
        CaliperTextureId id =
            bridge_texture_from_tensor_mapped(gpu->bridge, &tensor, 0, 0.0f, 1.0f, 0);
        CaliperAllocId alloc =
            bridge_import_allocation(gpu->bridge, (void *)(intptr_t)block.fd, block.size_bytes,
                                     CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        double copy = copy_sec(gpu, block.pointer, target, bytes, count);
        double in_place = id != 0 ? updates_sec(gpu, id, &tensor, 0, count) : 0;
        double imported = id != 0 && alloc != 0 ? updates_sec(gpu, id, &tensor, alloc, count) : 0;
        bridge_release_allocation(gpu->bridge, alloc);
        bridge_release_texture(gpu->bridge, id);
        gpu_frame(gpu, NULL, 0);
        double in_place_framed = framed_texture_sec(gpu, &tensor, count);
        double copied_framed = framed_texture_sec(copies, &tensor, count);
        printf("| %lld x %lld | %.1f us | %.1f us | %.0f %% | %.1f us | %.0f %% | %.1f us "
               "| %.1f us | %.0f %% |\n",
               (long long)side, (long long)side, copy * 1e6, in_place * 1e6,
               percent(copy, in_place), imported * 1e6, percent(copy, imported),
               in_place_framed * 1e6, copied_framed * 1e6, percent(copy, copied_framed));
        fflush(stdout);
        GPU_CALL(gpu, cuMemFree, target);
        gpu_export_free(gpu, &block);
    }
}

static void bench_latency(Gpu *gpu)
{
    enum { TRIES = 200, SIDE = 256 };
    static uint8_t frame[64 * 64 * 4];
    double alone[TRIES];
    double textured[TRIES];
    double empty[TRIES];
    double shown[TRIES];
    double finished[TRIES];
    double late[TRIES];
    double cpu[TRIES];
    CudaPointer block;
    CudaStream stream;
    GPU_CALL(gpu, cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
    GPU_CALL(gpu, cuMemAlloc, &block, SIDE * SIDE * 4);
    gpu_fill(gpu, block, SIDE * SIDE, 0x3f000000u, stream);
    CaliperTensor tensor = gpu_tensor_f32(block, SIDE, SIDE, stream);
    CaliperTextureId id = bridge_texture_from_tensor_mapped(gpu->bridge, &tensor, 0, 0.0f, 1.0f, 0);
    for (int i = 0; i < TRIES; i++) {
        /* The GPU changes from Vulkan to CUDA here, outside of what is measured. */
        gpu_spin(gpu, 0.05, stream);
        GPU_CALL(gpu, cuStreamSynchronize, stream);
        double start = gpu_now_sec();
        gpu_spin(gpu, 0.2, stream);
        GPU_CALL(gpu, cuStreamSynchronize, stream);
        alone[i] = gpu_now_sec() - start;
        start = gpu_now_sec();
        gpu_spin(gpu, 0.2, stream);
        double cpu_start = cpu_now_sec();
        bridge_update_texture(gpu->bridge, id, &tensor);
        cpu[i] = cpu_now_sec() - cpu_start;
        GPU_CALL(gpu, cuStreamSynchronize, stream);
        textured[i] = gpu_now_sec() - start;
        gpu_frame(gpu, &id, 1);
        renderer_frame_read(gpu->renderer, frame, sizeof frame);
        /* The frame alone, nothing new in it, read back: what the next one must be compared with.
         */
        start = gpu_now_sec();
        gpu_frame(gpu, &id, 1);
        renderer_frame_read(gpu->renderer, frame, sizeof frame);
        empty[i] = gpu_now_sec() - start;
        start = gpu_now_sec();
        gpu_spin(gpu, 0.2, stream);
        bridge_update_texture(gpu->bridge, id, &tensor);
        gpu_frame(gpu, &id, 1);
        renderer_frame_read(gpu->renderer, frame, sizeof frame);
        shown[i] = gpu_now_sec() - start;
        start = gpu_now_sec();
        gpu_spin(gpu, 0.2, stream);
        bridge_update_texture(gpu->bridge, id, &tensor);
        gpu_frame(gpu, &id, 1);
        vk_wait(vk_renderer(gpu->renderer), vk_value_now(vk_renderer(gpu->renderer)));
        finished[i] = gpu_now_sec() - start;
        gpu_spin(gpu, 0.2, stream);
        bridge_update_texture(gpu->bridge, id, &tensor);
        GPU_CALL(gpu, cuStreamSynchronize, stream); /* as a UI that takes longer than the kernel */
        start = gpu_now_sec();
        gpu_frame(gpu, &id, 1);
        vk_wait(vk_renderer(gpu->renderer), vk_value_now(vk_renderer(gpu->renderer)));
        late[i] = gpu_now_sec() - start;
    }
    double base = median(alone, TRIES);
    printf("\n| 256 x 256, from the end of the producer's kernel | time |\n|---|---|\n");
    printf("| to the finished texture, where the tensor lives | %.1f us |\n",
           (median(textured, TRIES) - base) * 1e6);
    printf("| to the frame that shows it, the kernel having ended before it is submitted | %.1f us "
           "|\n",
           median(late, TRIES) * 1e6);
    printf("| to the frame that shows it, submitted while the kernel runs | %.1f us |\n",
           (median(finished, TRIES) - base) * 1e6);
    printf("| to the frame that shows it, read back | %.1f us |\n",
           (median(shown, TRIES) - base) * 1e6);
    printf("| (a frame with nothing new, read back) | %.1f us |\n", median(empty, TRIES) * 1e6);
    printf("| CPU time of one update_texture on the frame thread | %.2f us |\n",
           median(cpu, TRIES) * 1e6);
    bridge_release_texture(gpu->bridge, id);
    gpu_frame(gpu, NULL, 0);
    GPU_CALL(gpu, cuMemFree, block);
    GPU_CALL(gpu, cuStreamDestroy, stream);
}

static void bench_many(Gpu *gpu)
{
    enum { TEXTURES = 256, SIDE = 256, FRAMES = 60, STREAMS = 4 };
    static CaliperTextureId ids[TEXTURES];
    static CaliperTensor tensors[TEXTURES];
    static uint8_t frame[64 * 64 * 4];
    CudaStream streams[STREAMS];
    CudaPointer block;
    double one[FRAMES];
    double each[FRAMES / 10];
    double cpu[FRAMES];
    uint64_t bytes = SIDE * SIDE * 4;
    GPU_CALL(gpu, cuMemAlloc, &block, bytes * TEXTURES);
    gpu_fill(gpu, block, bytes / 4 * TEXTURES, 0x3f000000u, NULL);
    for (int i = 0; i < STREAMS; i++)
        GPU_CALL(gpu, cuStreamCreate, &streams[i], CUDA_STREAM_NON_BLOCKING);
    GPU_CALL(gpu, cuStreamSynchronize, NULL);
    for (int i = 0; i < TEXTURES; i++) {
        tensors[i] = gpu_tensor_f32(block + bytes * (uint64_t)i, SIDE, SIDE, streams[i % STREAMS]);
        ids[i] = bridge_texture_from_tensor_mapped(gpu->bridge, &tensors[i], 0, 0.0f, 1.0f, 0);
    }
    for (int f = 0; f < FRAMES; f++) {
        double start = gpu_now_sec();
        double cpu_start = cpu_now_sec();
        for (int i = 0; i < TEXTURES; i++)
            bridge_update_texture(gpu->bridge, ids[i], &tensors[i]);
        cpu[f] = (cpu_now_sec() - cpu_start) / TEXTURES;
        gpu_frame(gpu, ids, TEXTURES);
        renderer_frame_read(gpu->renderer, frame, sizeof frame);
        one[f] = gpu_now_sec() - start;
    }
    for (int f = 0; f < FRAMES / 10; f++) {
        double start = gpu_now_sec();
        for (int i = 0; i < TEXTURES; i++) {
            bridge_update_texture(gpu->bridge, ids[i], &tensors[i]);
            gpu_frame(gpu, &ids[i], 1);
        }
        renderer_frame_read(gpu->renderer, frame, sizeof frame);
        each[f] = gpu_now_sec() - start;
    }
    printf("\n| 256 live textures of 256 x 256, four streams | time |\n|---|---|\n");
    printf("| one hand-over a frame, whole frame | %.0f us |\n", median(one, FRAMES) * 1e6);
    printf("| one hand-over a texture | %.0f us |\n", median(each, FRAMES / 10) * 1e6);
    printf("| CPU time of one update_texture | %.2f us |\n", median(cpu, FRAMES) * 1e6);
    for (int i = 0; i < TEXTURES; i++)
        bridge_release_texture(gpu->bridge, ids[i]);
    gpu_frame(gpu, NULL, 0);
    for (int i = 0; i < STREAMS; i++)
        GPU_CALL(gpu, cuStreamDestroy, streams[i]);
    GPU_CALL(gpu, cuMemFree, block);
}

/* Steps of five kernels over 256 MB; a frame of eight views every 16 ms, as a display would. */
typedef enum TrainMode { TRAIN_ALONE, TRAIN_DRAWN, TRAIN_LIVE } TrainMode;

static double training_sec(Gpu *gpu, CudaPointer data, uint64_t words, CudaStream stream,
                           const CaliperTextureId *ids, const CaliperTensor *tensors, int views,
                           TrainMode mode)
{
    enum { STEPS = 2000 };
    float amount = 0.5f;
    void *params[] = {&data, &words, &amount};
    GPU_CALL(gpu, cuStreamSynchronize, stream);
    double start = gpu_now_sec();
    double next_frame = start;
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < 5; k++)
            GPU_CALL(gpu, cuLaunchKernel, gpu->add_f32, 1056, 1, 1, 256, 1, 1, 0, stream, params,
                     NULL);
        if (step % 16 == 15)
            GPU_CALL(gpu, cuStreamSynchronize, stream); /* a loop that looks at its loss */
        if (mode != TRAIN_ALONE && gpu_now_sec() >= next_frame) {
            for (int i = 0; i < views && mode == TRAIN_LIVE; i++)
                bridge_update_texture(gpu->bridge, ids[i], &tensors[i]);
            gpu_frame(gpu, ids, views);
            next_frame += 1.0 / 60.0;
        }
    }
    GPU_CALL(gpu, cuStreamSynchronize, stream);
    return gpu_now_sec() - start;
}

static void bench_training(Gpu *gpu)
{
    enum { VIEWS = 8, SIDE = 256, ROUNDS = 5 };
    uint64_t words = 64u << 20;
    CudaPointer data;
    CudaStream stream;
    CaliperTextureId ids[VIEWS];
    CaliperTensor tensors[VIEWS];
    double without[ROUNDS];
    double drawn[ROUNDS];
    double with[ROUNDS];
    GPU_CALL(gpu, cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
    GPU_CALL(gpu, cuMemAlloc, &data, words * 4);
    gpu_fill(gpu, data, words, 0x3f000000u, stream);
    for (int i = 0; i < VIEWS; i++) {
        tensors[i] = gpu_tensor_f32(data + (uint64_t)i * SIDE * SIDE * 4u, SIDE, SIDE, stream);
        ids[i] = bridge_texture_from_tensor_mapped(gpu->bridge, &tensors[i], 1, 0.0f, 1.0f, 0);
    }
    training_sec(gpu, data, words, stream, ids, tensors, VIEWS, TRAIN_LIVE);
    for (int r = 0; r < ROUNDS; r++) {
        without[r] = training_sec(gpu, data, words, stream, ids, tensors, VIEWS, TRAIN_ALONE);
        drawn[r] = training_sec(gpu, data, words, stream, ids, tensors, VIEWS, TRAIN_DRAWN);
        with[r] = training_sec(gpu, data, words, stream, ids, tensors, VIEWS, TRAIN_LIVE);
    }
    double base = median(without, ROUNDS);
    double live = median(with, ROUNDS);
    printf("\n| a training-like loop, 2000 steps of 5 kernels over 256 MB | time |\n|---|---|\n");
    double still = median(drawn, ROUNDS);
    printf("| without a window | %.3f s |\n", base);
    printf("| with a window drawn at 60 frames a second, nothing live in it | %.3f s, %+.2f %% |\n",
           still, 100 * (still - base) / base);
    printf("| with eight live views at 60 frames a second | %.3f s, %+.2f %% |\n", live,
           100 * (live - base) / base);
    for (int i = 0; i < VIEWS; i++)
        bridge_release_texture(gpu->bridge, ids[i]);
    gpu_frame(gpu, NULL, 0);
    GPU_CALL(gpu, cuMemFree, data);
    GPU_CALL(gpu, cuStreamDestroy, stream);
}

int main(void)
{
    Gpu gpu;
    gpu_open(&gpu);
    printf("device: %s, %s\n", renderer_info(gpu.renderer)->device_name,
           renderer_info(gpu.renderer)->api_version);
    Gpu copies;
    setenv("CALIPER_CUDA_RUNG", "copy", 1);
    gpu_open(&copies);
    unsetenv("CALIPER_CUDA_RUNG");
    bench_rungs(&gpu, &copies);
    gpu_close(&copies);
    bench_latency(&gpu);
    bench_many(&gpu);
    bench_training(&gpu);
    gpu_close(&gpu);
    return 0;
}
