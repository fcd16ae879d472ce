/* kernels/kernels.h: the CPU kernels that map tensor elements to RGBA8, and the colormap tables.
 *
 * Pure functions at the bottom of the house, beside core: bridge, render and tests may include
 * them. Every variant gives the same bytes (the rule is in render/renderer.h and
 * docs/architecture.md). Any thread. Source and destination must not overlap; no alignment is
 * required of either. */
#ifndef CALIPER_KERNELS_KERNELS_H
#define CALIPER_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLORMAP_COUNT = 3, COLORMAP_ENTRIES = 256 };

/* 256 entries, memory order R, G, B, A (255): the published tables. NULL for an unknown map. */
const uint8_t (*colormap_table(int32_t colormap))[4];

/* `count` f32 elements -> `count` RGBA8 pixels. inv == 0: entry 0 everywhere. */
typedef void (*KernelColormap)(const float *src, uint8_t *dst_rgba, size_t count,
                               const uint8_t (*table)[4], float vmin, float inv);
/* `count` pixels of `channels` (1..4) u8 -> RGBA8: grey, grey+alpha, RGB, RGBA. */
typedef void (*KernelExpand)(const uint8_t *src, uint8_t *dst_rgba, size_t count,
                             uint32_t channels);

typedef struct KernelVariant {
    const char *name; /* "scalar", "avx2", "avx512", "avx512vbmi", "neon" */
    bool available;   /* on this processor, asked once */
    KernelColormap colormap;
    KernelExpand expand;
} KernelVariant;

/* All variants of this build, scalar first, ended by a NULL name. */
const KernelVariant *kernel_variants(void);
/* The fastest available one; CALIPER_KERNEL=name chooses another (tests, benches). */
const KernelVariant *kernel_best(void);

#endif
