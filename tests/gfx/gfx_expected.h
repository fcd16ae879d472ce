/* tests/gfx/gfx_expected.h: what a pass must give, worked out apart from the code under test.
 *
 * Tables are read from the published text files. Each binary32 step is done in binary64 and rounded
 * once: 53 bits are more than twice 24 plus 2, so the second rounding changes nothing for +, - and
 * * (and results below the normal range cannot reach index 1). */
#ifndef CALIPER_TESTS_GFX_EXPECTED_H
#define CALIPER_TESTS_GFX_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

#include "render/renderer.h"

/* Reads lut/{viridis,magma,rdbu}.txt; false when one cannot be read whole. */
bool expected_load_tables(void);
/* The pass that maps [vmin, vmax]. */
RendererPass expected_colormap_pass(int32_t colormap, float vmin, float vmax);
int expected_index(float value, float vmin, float inv);
void expected_pixels(const RendererPass *pass, const void *src, size_t count, uint32_t *out_rgba);

#endif
