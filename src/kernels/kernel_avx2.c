/* The kernels with AVX2: eight pixels at a time, the table read by gathers. Compiled with -mavx2,
 * so it must run only where cpu_features().avx2 says so. Any thread. */
#include <immintrin.h>

#include "kernels/float_env.h"
#include "kernels/kernels_impl.h"

/* max and min return their second operand for a NaN: so NaN becomes 0 here. */
static inline __m256i colour_index(__m256 v, __m256 vmin, __m256 inv)
{
    __m256 t = _mm256_mul_ps(_mm256_sub_ps(v, vmin), inv);
    t = _mm256_max_ps(t, _mm256_setzero_ps());
    t = _mm256_min_ps(t, _mm256_set1_ps(1.0f));
    t = _mm256_add_ps(_mm256_mul_ps(t, _mm256_set1_ps(255.0f)), _mm256_set1_ps(0.5f));
    return _mm256_cvttps_epi32(t);
}

static inline void prefetch(const float *src)
{
    _mm_prefetch((const char *)((uintptr_t)src + KERNEL_PREFETCH_BYTES), _MM_HINT_T0);
}

typedef struct Map {
    const int *words; /* the table */
    __m256 vmin, inv;
} Map;

static inline void map_8(const Map *map, const float *src, uint8_t *dst_rgba, bool stream)
{
    __m256i index = colour_index(_mm256_loadu_ps(src), map->vmin, map->inv);
    __m256i colours = _mm256_i32gather_epi32(map->words, index, 4);
    __m256i *dst = (__m256i *)(void *)dst_rgba;
    if (stream)
        _mm256_stream_si256(dst, colours);
    else
        _mm256_storeu_si256(dst, colours);
}

void kernel_avx2_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                          const uint8_t (*table)[4], float vmin, float inv)
{
    bool stream = kernel_streams(dst_rgba, count);
    size_t done = stream ? kernel_stream_head(dst_rgba) : 0;
    kernel_scalar_colormap(src, dst_rgba, done, table, vmin, inv);

    uint64_t env = float_env_enter();
    Map map = {(const int *)(const void *)table, _mm256_set1_ps(vmin), _mm256_set1_ps(inv)};
    for (; done + 16 <= count; done += 16) {
        if (stream)
            prefetch(src + done);
        map_8(&map, src + done, dst_rgba + 4 * done, stream);
        map_8(&map, src + done + 8, dst_rgba + 4 * done + 32, stream);
    }
    if (stream)
        _mm_sfence();
    for (; done + 8 <= count; done += 8)
        map_8(&map, src + done, dst_rgba + 4 * done, false);
    float_env_leave(env);
    kernel_scalar_colormap(src + done, dst_rgba + 4 * done, count - done, table, vmin, inv);
}

/* Every expand loads the source of 8 pixels into both halves, the upper one so that nothing past
 * the 8 pixels is read, and moves bytes within the halves. An index of -1 gives zero. */
static void expand_grey(const uint8_t *src, uint8_t *dst_rgba, size_t count)
{
    const __m256i spread =
        _mm256_setr_epi8(0, 0, 0, -1, 1, 1, 1, -1, 2, 2, 2, -1, 3, 3, 3, -1, /* next half */
                         4, 4, 4, -1, 5, 5, 5, -1, 6, 6, 6, -1, 7, 7, 7, -1);
    const __m256i opaque = _mm256_set1_epi32((int)0xff000000u);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i grey = _mm_loadl_epi64((const __m128i *)(const void *)(src + i));
        __m256i pixels = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(grey), spread);
        _mm256_storeu_si256((__m256i *)(void *)(dst_rgba + 4 * i), _mm256_or_si256(pixels, opaque));
    }
    kernel_scalar_expand(src + i, dst_rgba + 4 * i, count - i, 1);
}

static void expand_grey_alpha(const uint8_t *src, uint8_t *dst_rgba, size_t count)
{
    const __m256i spread =
        _mm256_setr_epi8(0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, /* next half */
                         8, 8, 8, 9, 10, 10, 10, 11, 12, 12, 12, 13, 14, 14, 14, 15);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m128i pairs = _mm_loadu_si128((const __m128i *)(const void *)(src + 2 * i));
        __m256i pixels = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(pairs), spread);
        _mm256_storeu_si256((__m256i *)(void *)(dst_rgba + 4 * i), pixels);
    }
    kernel_scalar_expand(src + 2 * i, dst_rgba + 4 * i, count - i, 2);
}

static void expand_rgb(const uint8_t *src, uint8_t *dst_rgba, size_t count)
{
    /* Lower half: bytes 0..15 of 24; upper half: bytes 8..23, so byte 12 is its byte 4. */
    const __m256i spread =
        _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, /* next half */
                         4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m256i opaque = _mm256_set1_epi32((int)0xff000000u);
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint8_t *at = src + 3 * i;
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(at + 8));
        __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        __m256i pixels = _mm256_or_si256(_mm256_shuffle_epi8(both, spread), opaque);
        _mm256_storeu_si256((__m256i *)(void *)(dst_rgba + 4 * i), pixels);
    }
    kernel_scalar_expand(src + 3 * i, dst_rgba + 4 * i, count - i, 3);
}

void kernel_avx2_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count, uint32_t channels)
{
    switch (channels) {
    case 1:
        expand_grey(src, dst_rgba, count);
        break;
    case 2:
        expand_grey_alpha(src, dst_rgba, count);
        break;
    case 3:
        expand_rgb(src, dst_rgba, count);
        break;
    default:
        kernel_scalar_expand(src, dst_rgba, count, channels);
        break;
    }
}
