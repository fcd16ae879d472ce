/* The kernels of another processor, in an emulator: a program without cmocka that compares every
 * available variant with indices computed in integers. Run by kernels_cross.sh. One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "exact_f32.h"
#include "kernels/float_env.h"
#include "kernels/kernels.h"

/* The log is not part of this program. */
void log_write_item(LogItem item, const char *format, ...)
{
    printf("log item %d: %s\n", (int)item, format);
}

enum { COUNT = 100003 };
static uint32_t src[COUNT];
static uint8_t got[4 * COUNT], want[4 * COUNT];

static void require(bool condition, const char *variant, const char *what)
{
    if (condition)
        return;
    printf("%s: wrong %s\n", variant, what);
    exit(1);
}

/* Round to nearest; flush to zero; up; down; to zero. */
#if defined(__aarch64__)
static const uint64_t modes[] = {0, 1u << 24, 1u << 22, 2u << 22, 3u << 22};
#else
static const uint64_t modes[] = {0x1f80, 0x9fc0, 0x5f80, 0x3f80, 0x7f80};
#endif

static void check_colormap(const KernelVariant *variant, float vmin, float vmax)
{
    uint32_t inv = exact_inv(vmin, vmax);
    for (int i = 0; i < COUNT; i++)
        memcpy(want + 4 * i, colormap_table(1)[exact_index(src[i], exact_bits(vmin), inv)], 4);
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        uint64_t before = float_env_enter();
        float_env_leave(modes[m]);
        variant->colormap((const float *)(const void *)src, got, COUNT, colormap_table(1), vmin,
                          exact_float(inv));
        uint64_t after = float_env_enter();
        float_env_leave(before);
        require(after == modes[m], variant->name, "floating-point mode afterwards");
        require(memcmp(got, want, sizeof got) == 0, variant->name, "colours");
    }
}

static void check_expand(const KernelVariant *variant, uint32_t channels)
{
    const uint8_t *bytes = (const uint8_t *)src;
    variant->expand(bytes, got, COUNT, channels);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint8_t *p = bytes + channels * i;
        bool colour = channels >= 3;
        uint8_t pixel[4] = {p[0], p[colour ? 1 : 0], p[colour ? 2 : 0],
                            channels % 2 == 0 ? p[channels - 1] : 255};
        require(memcmp(got + 4 * i, pixel, 4) == 0, variant->name, "expanded pixels");
    }
}

int main(void)
{
    static const float ranges[][2] = {{0, 1},        {1, 0},      {-3.7e-3f, 8.1e5f}, {0, 0x1p-90f},
                                      {0, 0x1p126f}, {1e-44f, 1}, {1000, 1000.125f},  {2, 2}};
    uint64_t random = 0x9e3779b97f4a7c15ull;
    for (const KernelVariant *variant = kernel_variants(); variant->name != NULL; variant++) {
        for (size_t r = 0; variant->available && r < sizeof ranges / sizeof ranges[0]; r++) {
            for (int i = 0; i < COUNT; i++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                float share = (float)(random >> 40) / 16777216.0f * 1.2f - 0.1f;
                src[i] = i % 3 == 0
                             ? (uint32_t)random
                             : exact_bits(ranges[r][0] + share * (ranges[r][1] - ranges[r][0]));
            }
            check_colormap(variant, ranges[r][0], ranges[r][1]);
        }
        for (uint32_t channels = 1; variant->available && channels <= 4; channels++)
            check_expand(variant, channels);
        printf("%s: %s\n", variant->name, variant->available ? "right" : "not available");
    }
    return 0;
}
