/* The colormap kernel with AVX-512: sixteen pixels at a time, the table read by gathers. Compiled
 * with -mavx512f -mavx512bw, so it must run only where cpu_features().avx512bw says so. Any thread.
 */
#include <immintrin.h>

#include "kernels/float_env.h"
#include "kernels/kernels_impl.h"

/* max and min return their second operand for a NaN: so NaN becomes 0 here. */
static inline __m512i colour_index(__m512 v, __m512 vmin, __m512 inv)
{
    __m512 t = _mm512_mul_ps(_mm512_sub_ps(v, vmin), inv);
    t = _mm512_max_ps(t, _mm512_setzero_ps());
    t = _mm512_min_ps(t, _mm512_set1_ps(1.0f));
    t = _mm512_add_ps(_mm512_mul_ps(t, _mm512_set1_ps(255.0f)), _mm512_set1_ps(0.5f));
    return _mm512_cvttps_epi32(t);
}

static inline void prefetch(const float *src)
{
    _mm_prefetch((const char *)((uintptr_t)src + KERNEL_PREFETCH_BYTES), _MM_HINT_T0);
}

static inline void store_16(uint8_t *dst_rgba, __m512i colours, bool stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)dst_rgba, colours);
    else
        _mm512_storeu_si512(dst_rgba, colours);
}

typedef struct Map {
    const uint8_t (*table)[4];
    __m512 vmin, inv;
} Map;

/* At most 16 pixels. */
static inline void map_some(const Map *map, const float *src, uint8_t *dst_rgba, size_t count)
{
    __mmask16 lanes = (__mmask16)((1u << count) - 1u);
    __m512i index = colour_index(_mm512_maskz_loadu_ps(lanes, src), map->vmin, map->inv);
    __m512i colours =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, index, map->table, 4);
    _mm512_mask_storeu_epi32(dst_rgba, lanes, colours);
}

void kernel_avx512_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                            const uint8_t (*table)[4], float vmin, float inv)
{
    uint64_t env = float_env_enter();
    Map map = {table, _mm512_set1_ps(vmin), _mm512_set1_ps(inv)};
    bool stream = kernel_streams(dst_rgba, count);
    size_t done = stream ? kernel_stream_head(dst_rgba) : 0;
    map_some(&map, src, dst_rgba, done);
    for (; done + 32 <= count; done += 32) {
        const float *at = src + done;
        __m512i a = colour_index(_mm512_loadu_ps(at), map.vmin, map.inv);
        __m512i b = colour_index(_mm512_loadu_ps(at + 16), map.vmin, map.inv);
        if (stream) {
            prefetch(at);
            prefetch(at + 16);
        }
        store_16(dst_rgba + 4 * done, _mm512_i32gather_epi32(a, table, 4), stream);
        store_16(dst_rgba + 4 * done + 64, _mm512_i32gather_epi32(b, table, 4), stream);
    }
    if (stream)
        _mm_sfence();
    while (done < count) {
        size_t some = count - done < 16 ? count - done : 16;
        map_some(&map, src + done, dst_rgba + 4 * done, some);
        done += some;
    }
    float_env_leave(env);
}
