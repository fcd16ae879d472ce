/* tests/gfx/vulkan_fake.h: another API made of the CPU, in the place of CUDA, for white-box tests
 * of the Vulkan renderer's side of vk_interop.h.
 *
 * It maps the memory that the renderer exports (on lavapipe a memory file) and writes it itself:
 * images with the reference pixels, buffers with the tensor's bytes. It counts what it does,
 * refuses on demand, and can put its copies off until the hand-over, as a slow device would. */
#ifndef CALIPER_TESTS_GFX_VULKAN_FAKE_H
#define CALIPER_TESTS_GFX_VULKAN_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "render/renderer.h"
#include "render/vulkan/vk_interop.h"

typedef enum FakeRungs { FAKE_IMAGES = 1, FAKE_BUFFERS = 2, FAKE_BOTH = 3 } FakeRungs;

typedef struct Fake {
    int states, images, buffers, memories; /* live */
    int passes, copies, orders, hand_overs, waits, collects;
    uint64_t copied_bytes; /* into buffers */
    bool refuses_create, refuses_map, refuses_pass, refuses_hand_over;
    bool refuses_buffer, refuses_copy, refuses_memory;
    bool maps_memory;                     /* fds of exported memory are its own */
    const void *waited_for;               /* by the last pass_wait */
    bool is_late;                         /* copies run at the hand-over */
    void (*on_write)(const void *mapped); /* before a pass or copy is taken */
    bool is_dirty;
} Fake;
extern Fake fake;

/* False, with the reason printed, where there is no lavapipe: the test is skipped. */
bool fake_begin(void);
/* With FAKE_BUFFERS alone every image is refused. */
const VulkanInterop *fake_interop(FakeRungs rungs);
RendererParams fake_params(void);
/* A validated renderer with the fake beside it, everything counted from zero. */
Renderer *fake_start(FakeRungs rungs);
/* Nothing of the fake's is left, and the layers had nothing to say. */
void fake_stop(Renderer **renderer);

RendererTexture *fake_texture(Renderer *renderer, int32_t width, int32_t height, RendererPass pass);
RendererSource fake_source(const uint8_t *bytes, uint64_t extent);
/* One quad over width x height of the open frame. */
void fake_draw(Renderer *renderer, RendererTexture *texture, int32_t width, int32_t height);
void fake_draw_at(Renderer *renderer, RendererTexture *texture, int32_t x, int32_t width,
                  int32_t height);
/* A frame of that size with the texture all over it. */
void fake_frame(Renderer *renderer, RendererTexture *texture, int32_t width, int32_t height);

#endif
