/* tests/unit/fake_renderer.h: a renderer in plain memory that fails on demand.
 *
 * Implements the backend's table of renderer_impl.h, so that calls still pass the front door. For
 * tests and fuzzers of the bridge. Frame thread. */
#ifndef CALIPER_TESTS_FAKE_RENDERER_H
#define CALIPER_TESTS_FAKE_RENDERER_H

#include "render/renderer_impl.h"

typedef struct FakeRenderer {
    Renderer base;
    /* To be set by the test: */
    uint32_t fail_create, fail_update, fail_write, fail_read,
        fail_import;   /* the Nth call; 0: none */
    bool attaches;     /* takes shared memory in place */
    bool reads_device; /* device pointers are host addresses here; else the pixels become 0x77 */
    /* What happened: */
    RendererSource last_source;
    uint32_t updates, textures, attached, allocs; /* calls; live objects */
} FakeRenderer;

Renderer *fake_renderer_create(uint32_t caps, int32_t interop_index);
FakeRenderer *fake_renderer(Renderer *renderer);

#endif
