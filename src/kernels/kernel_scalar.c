/* The kernels in plain C: the reference for every other variant, and what runs where there is none.
 * Any thread. */
#include <string.h>

#include "kernels/float_env.h"
#include "kernels/kernels_impl.h"

/* Without branches: real data crosses the clamps at random. NaN fails `t > 0`, which is the test of
 * the bits: with a range that the bridge accepts t is NaN for a NaN, and for infinity times inv ==
 * 0, where entry 0 is wanted too. */
static uint32_t colour_index(const char *src, float vmin, float inv)
{
    float v;
    memcpy(&v, src, sizeof v); /* any alignment */
    float t = (v - vmin) * inv;
    t = t > 0.0f ? t : 0.0f;
    t = t < 1.0f ? t : 1.0f;
    return (uint32_t)(int32_t)(t * 255.0f + 0.5f);
}

void kernel_scalar_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                            const uint8_t (*table)[4], float vmin, float inv)
{
    uint64_t env = float_env_enter();
    const char *at = (const char *)src;
    for (size_t i = 0; i < count; i++)
        memcpy(dst_rgba + 4 * i, table[colour_index(at + 4 * i, vmin, inv)], 4);
    float_env_leave(env);
}

void kernel_scalar_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels)
{
    switch (channels) {
    case 1:
        for (size_t i = 0; i < count; i++) {
            uint8_t pixel[4] = {src[i], src[i], src[i], 255};
            memcpy(dst_rgba + 4 * i, pixel, 4);
        }
        break;
    case 2:
        for (size_t i = 0; i < count; i++) {
            uint8_t pixel[4] = {src[2 * i], src[2 * i], src[2 * i], src[2 * i + 1]};
            memcpy(dst_rgba + 4 * i, pixel, 4);
        }
        break;
    case 3:
        for (size_t i = 0; i < count; i++) {
            uint8_t pixel[4] = {src[3 * i], src[3 * i + 1], src[3 * i + 2], 255};
            memcpy(dst_rgba + 4 * i, pixel, 4);
        }
        break;
    case 4:
        memcpy(dst_rgba, src, 4 * count);
        break;
    default: /* the gate lets 1..4 through */
        break;
    }
}
