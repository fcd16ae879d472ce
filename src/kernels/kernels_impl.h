/* kernels/kernels_impl.h: what the files of src/kernels/ share. Included by them alone.
 *
 * A function named kernel_<variant>_* may run only where cpu_features says so. Any thread. */
#ifndef CALIPER_KERNELS_KERNELS_IMPL_H
#define CALIPER_KERNELS_KERNELS_IMPL_H

#include "kernels/kernels.h"

/* Generated at build time from lut/. */
extern const uint8_t colormap_tables[COLORMAP_COUNT][COLORMAP_ENTRIES][4];

/* Outputs of at least this many bytes are written past the caches where a variant can: they do not
 * fit into the private ones, and whoever reads them next is a device or another core. */
enum { KERNEL_STREAM_BYTES = 32 << 20, KERNEL_LINE_BYTES = 64 };
/* How far ahead of a streamed output the source is fetched: the processor's own prefetch stops at
 * each page. Measured: 0.85 of memcpy without, 1.1 with 1 to 8 KiB. */
enum { KERNEL_PREFETCH_BYTES = 2048 };

static inline bool kernel_streams(const uint8_t *dst_rgba, size_t count)
{
    return count >= KERNEL_STREAM_BYTES / 4 && (uintptr_t)dst_rgba % 4 == 0;
}

/* Pixels until the next whole cache line of the output. */
static inline size_t kernel_stream_head(const uint8_t *dst_rgba)
{
    return (KERNEL_LINE_BYTES - (uintptr_t)dst_rgba % KERNEL_LINE_BYTES) % KERNEL_LINE_BYTES / 4;
}

/* Instruction sets that the processor has and the operating system keeps across switches. */
typedef struct CpuFeatures {
    bool avx2, avx512bw, avx512vbmi, neon;
} CpuFeatures;
CpuFeatures cpu_features(void);

void kernel_scalar_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                            const uint8_t (*table)[4], float vmin, float inv);
void kernel_scalar_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels);
void kernel_avx2_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                          const uint8_t (*table)[4], float vmin, float inv);
void kernel_avx2_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels);
void kernel_avx512_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                            const uint8_t (*table)[4], float vmin, float inv);
void kernel_avx512vbmi_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                                const uint8_t (*table)[4], float vmin, float inv);
void kernel_avx512vbmi_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count,
                              uint32_t channels);
void kernel_neon_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                          const uint8_t (*table)[4], float vmin, float inv);
void kernel_neon_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels);

#endif
