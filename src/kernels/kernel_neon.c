/* The kernels with NEON: the indices of 16 pixels at a time, the table read from memory; expanding
 * is what the interleaving loads and stores do. Any thread. */
#include <arm_neon.h>
#include <string.h>

#include "kernels/float_env.h"
#include "kernels/kernels_impl.h"

/* vmaxnm takes the number where one operand is a NaN: so NaN becomes 0 here. Signalling NaNs come
 * out of the subtraction as quiet ones. */
static inline uint32x4_t colour_index(const float *src, float32x4_t vmin, float32x4_t inv)
{
    float32x4_t v = vreinterpretq_f32_u8(vld1q_u8((const uint8_t *)src)); /* any alignment */
    float32x4_t t = vmulq_f32(vsubq_f32(v, vmin), inv);
    t = vmaxnmq_f32(t, vdupq_n_f32(0.0f));
    t = vminnmq_f32(t, vdupq_n_f32(1.0f));
    t = vaddq_f32(vmulq_f32(t, vdupq_n_f32(255.0f)), vdupq_n_f32(0.5f));
    return vreinterpretq_u32_s32(vcvtq_s32_f32(t));
}

void kernel_neon_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                          const uint8_t (*table)[4], float vmin, float inv)
{
    uint64_t env = float_env_enter();
    float32x4_t vmin4 = vdupq_n_f32(vmin);
    float32x4_t inv4 = vdupq_n_f32(inv);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        uint32_t index[16];
        for (int k = 0; k < 4; k++)
            vst1q_u32(index + 4 * k, colour_index(src + i + 4 * k, vmin4, inv4));
        for (int k = 0; k < 16; k++)
            memcpy(dst_rgba + 4 * (i + (size_t)k), table[index[k]], 4);
    }
    float_env_leave(env);
    kernel_scalar_colormap(src + i, dst_rgba + 4 * i, count - i, table, vmin, inv);
}

void kernel_neon_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels)
{
    size_t i = 0;
    if (channels < 1 || channels > 3) {
        kernel_scalar_expand(src, dst_rgba, count, channels);
        return;
    }
    for (; i + 16 <= count; i += 16) {
        uint8x16x4_t out;
        if (channels == 3) {
            uint8x16x3_t in = vld3q_u8(src + 3 * i);
            out.val[0] = in.val[0];
            out.val[1] = in.val[1];
            out.val[2] = in.val[2];
            out.val[3] = vdupq_n_u8(255);
        } else if (channels == 2) {
            uint8x16x2_t in = vld2q_u8(src + 2 * i);
            out.val[0] = out.val[1] = out.val[2] = in.val[0];
            out.val[3] = in.val[1];
        } else {
            out.val[0] = out.val[1] = out.val[2] = vld1q_u8(src + i);
            out.val[3] = vdupq_n_u8(255);
        }
        vst4q_u8(dst_rgba + 4 * i, out);
    }
    kernel_scalar_expand(src + channels * i, dst_rgba + 4 * i, count - i, channels);
}
