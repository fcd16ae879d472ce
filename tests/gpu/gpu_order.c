/* Ordering and tearing: a producer that is still running when update_texture is called, on each
 * kind of stream; and full-rate updates with frames in flight. A generation number is written into
 * every pixel (u8 x 4 texture = one 32-bit word a pixel), so that any old, torn or mixed pixel is
 * seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "gpu_tests.h"

enum { SIDE = 256, WORDS = SIDE * SIDE };

static long words_other_than(const uint8_t *pixels, uint32_t generation)
{
    long wrong = 0;
    for (int i = 0; i < WORDS; i++) {
        uint32_t word;
        memcpy(&word, pixels + 4 * i, 4);
        wrong += word != generation;
    }
    return wrong;
}

/* Generations keep alpha 255, so that a frame shows their colour as it is. */
static uint32_t generation_word(uint32_t n)
{
    return 0xff000000u | (n * 2654435761u & 0x00ffffffu);
}

/* Tries whose texture, or whose frame, did not show exactly the newest generation. */
static long tries_wrong(Gpu *gpu, CudaStream stream, double spin_ms, int tries, bool by_frame)
{
    CudaPointer block;
    static uint8_t pixels[WORDS * 4];
    static uint8_t frame[64 * 64 * 4];
    long wrong = 0;
    GPU_CALL(gpu, cuMemAlloc, &block, WORDS * 4);
    gpu_fill(gpu, block, WORDS, generation_word(0), stream);
    CaliperTensor tensor = gpu_tensor_u8(block, SIDE, SIDE, 4, stream);
    CaliperTextureId id = bridge_texture_from_tensor(gpu->bridge, &tensor, 0);
    gpu_frame(gpu, &id, 1);
    for (int i = 1; i <= tries; i++) {
        uint32_t word = generation_word((uint32_t)i);
        gpu_spin(gpu, spin_ms, stream);
        gpu_fill(gpu, block, WORDS, word, stream);
        if (!bridge_update_texture(gpu->bridge, id, &tensor)) {
            wrong++;
            continue;
        }
        if (by_frame) {
            uint32_t shown = 0;
            gpu_frame(gpu, &id, 1);
            if (!renderer_frame_read(gpu->renderer, frame, sizeof frame)) {
                wrong++;
                continue;
            }
            memcpy(&shown, frame + (1 * 64 + 1) * 4, 4);
            wrong += shown != word;
        } else {
            wrong += !bridge_texture_read_rgba8(gpu->bridge, id, pixels, sizeof pixels) ||
                     words_other_than(pixels, word) != 0;
        }
    }
    bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    GPU_CALL(gpu, cuStreamSynchronize, stream);
    GPU_CALL(gpu, cuMemFree, block);
    return wrong;
}

/* Two streams write one texture in turn: the later update wins, whatever finishes first. */
static long two_streams_wrong(Gpu *gpu, CudaStream slow, CudaStream quick, int tries)
{
    static uint8_t pixels[WORDS * 4];
    CudaPointer blocks[2];
    long wrong = 0;
    GPU_CALL(gpu, cuMemAlloc, &blocks[0], WORDS * 4);
    GPU_CALL(gpu, cuMemAlloc, &blocks[1], WORDS * 4);
    gpu_fill(gpu, blocks[1], WORDS, generation_word(9), quick);
    CaliperTensor first = gpu_tensor_u8(blocks[0], SIDE, SIDE, 4, slow);
    CaliperTensor second = gpu_tensor_u8(blocks[1], SIDE, SIDE, 4, quick);
    CaliperTextureId id = bridge_texture_from_tensor(gpu->bridge, &second, 0);
    for (int i = 0; i < tries; i++) {
        uint32_t word = generation_word(1000u + (uint32_t)i);
        gpu_spin(gpu, 2.0, slow);
        gpu_fill(gpu, blocks[0], WORDS, generation_word(1), slow);
        wrong += !bridge_update_texture(gpu->bridge, id, &first);
        gpu_fill(gpu, blocks[1], WORDS, word, quick);
        wrong += !bridge_update_texture(gpu->bridge, id, &second);
        gpu_frame(gpu, &id, 1);
        wrong += !bridge_texture_read_rgba8(gpu->bridge, id, pixels, sizeof pixels) ||
                 words_other_than(pixels, word) != 0;
    }
    bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    GPU_CALL(gpu, cuStreamSynchronize, slow);
    GPU_CALL(gpu, cuMemFree, blocks[0]);
    GPU_CALL(gpu, cuMemFree, blocks[1]);
    return wrong;
}

void gpu_test_order(Gpu *gpu)
{
    static const char *const names[3] = {"default stream", "blocking stream",
                                         "non-blocking stream"};
    enum { TRIES = 1000, CONTROL_TRIES = 50 };
    CudaStream streams[3] = {NULL, NULL, NULL};
    char what[96];
    GPU_CALL(gpu, cuStreamCreate, &streams[1], 0);
    GPU_CALL(gpu, cuStreamCreate, &streams[2], CUDA_STREAM_NON_BLOCKING);
    for (int i = 0; i < 3; i++) {
        snprintf(what, sizeof what, "order: 2 ms producer, %s, read back", names[i]);
        gpu_report(what, TRIES, tries_wrong(gpu, streams[i], 2.0, TRIES, false));
        snprintf(what, sizeof what, "order: 2 ms producer, %s, shown", names[i]);
        gpu_report(what, TRIES, tries_wrong(gpu, streams[i], 2.0, TRIES, true));
    }
    fault_set_plan("test.unordered_hand_over:1+");
    /* Longer than the slice of time for which a driver lets one API keep the GPU. */
    long wrong = tries_wrong(gpu, streams[2], 20.0, CONTROL_TRIES, true);
    fault_set_plan(NULL);
    gpu_report_control("order: negative control, the wait switched off", CONTROL_TRIES, wrong);
    gpu_report("order: two streams, the later update wins", 300,
               two_streams_wrong(gpu, streams[1], streams[2], 300));
    GPU_CALL(gpu, cuStreamDestroy, streams[1]);
    GPU_CALL(gpu, cuStreamDestroy, streams[2]);
}

void gpu_test_tearing(Gpu *gpu)
{
    enum { UPDATES = 10000 };
    static uint8_t pixels[WORDS * 4];
    CudaPointer block;
    CudaStream stream;
    long wrong = 0;
    long reads = 0;
    uint32_t newest = 0;
    GPU_CALL(gpu, cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
    GPU_CALL(gpu, cuMemAlloc, &block, WORDS * 4);
    gpu_fill(gpu, block, WORDS, 0, stream);
    CaliperTensor tensor = gpu_tensor_u8(block, SIDE, SIDE, 4, stream);
    CaliperTextureId id = bridge_texture_from_tensor(gpu->bridge, &tensor, 0);
    for (uint32_t i = 1; i <= UPDATES; i++) {
        gpu_fill(gpu, block, WORDS, i, stream);
        wrong += !bridge_update_texture(gpu->bridge, id, &tensor);
        gpu_frame(gpu, &id, 1);
        if (i % 8 != 0)
            continue;
        uint32_t word = 0;
        reads++;
        if (!bridge_texture_read_rgba8(gpu->bridge, id, pixels, sizeof pixels)) {
            wrong++;
            continue;
        }
        memcpy(&word, pixels, 4);
        wrong += words_other_than(pixels, word) != 0 || word < newest;
        newest = word;
    }
    gpu_report("tearing: updates at full rate, frames in flight", UPDATES, wrong);
    gpu_report("tearing: read-backs uniform and not going back", reads, wrong);
    gpu_report("tearing: the last update is what stays", 1, newest != UPDATES);
    bridge_release_texture(gpu->bridge, id);
    bridge_frame_end(gpu->bridge);
    GPU_CALL(gpu, cuStreamSynchronize, stream);
    GPU_CALL(gpu, cuMemFree, block);
    GPU_CALL(gpu, cuStreamDestroy, stream);
}
