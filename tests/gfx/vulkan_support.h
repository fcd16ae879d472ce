/* tests/gfx/vulkan_support.h: what the white-box tests of the Vulkan renderer share: a renderer on
 * a software device with validation, an independent reference, a capture of the log, and a second
 * Vulkan device that exports memory. */
#ifndef CALIPER_TESTS_GFX_VULKAN_SUPPORT_H
#define CALIPER_TESTS_GFX_VULKAN_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "render/renderer.h"

/* Exits the program with 77 (skipped) when no Vulkan device starts. Chooses lavapipe when it is
 * installed and the environment names no driver. */
void vulkan_test_begin(void);
/* Offscreen, validated. Fails the test when it does not start. */
Renderer *vulkan_test_renderer(void);
Renderer *vulkan_test_renderer_with(const RendererParams *params);

/* Entries of an item since the last reset. */
void log_capture_start(void);
void log_capture_reset(void);
uint32_t log_captured(LogItem item);
/* All entries at warning level or above. */
uint32_t log_captured_problems(void);

/* The rule, written down once more from docs/architecture.md, one pixel at a time. */
void reference_pixels(const RendererPass *pass, const uint8_t *source, uint64_t count,
                      uint8_t *out_rgba);

uint32_t test_random(void);
/* Fills `bytes` with elements for the pass: for f32 special values, bin edges and noise around
 * [-1, 2]; `bytes` needs no alignment. */
void source_fill(const RendererPass *pass, uint8_t *bytes, uint64_t count);
uint64_t source_bytes(const RendererPass *pass, uint64_t count);

RendererPass pass_colormap(int32_t map, float vmin, float vmax);
RendererPass pass_expand(uint32_t channels);

uint32_t open_fd_count(void);

/* ---- A second device ---------------------------------------------------------------------------
 */

typedef struct Exporter Exporter;
Exporter *exporter_create(void);
void exporter_destroy(Exporter **exporter);
/* Memory of the other device, filled with `bytes`; returns an OPAQUE_FD of it and its size. */
int exporter_export(Exporter *exporter, const uint8_t *bytes, uint64_t size_bytes,
                    uint64_t *out_allocation_bytes);

#endif
