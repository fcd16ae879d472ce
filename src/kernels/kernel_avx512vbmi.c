/* The kernels with AVX-512 VBMI: 64 pixels at a time, the whole table in registers. Compiled with
 * -mavx512vbmi, so it must run only where cpu_features().avx512vbmi says so. Any thread.
 *
 * The table of 256 RGBA entries is kept as four planes (all R, all G, ...) of 256 bytes, each in
 * four registers. vpermi2b looks 64 bytes up in 128 entries; two of them and a blend on the index's
 * top bit look them up in 256. */
#include <immintrin.h>

#include "kernels/float_env.h"
#include "kernels/kernels_impl.h"

typedef struct Plane {
    __m512i quarter[4]; /* entries 0..63, 64..127, ... */
} Plane;

/* Bytes 4 * i + channel of four registers in a row. */
static inline __m512i every_fourth(const __m512i words[4], int channel)
{
    const __m512i first = _mm512_set_epi8(
        124, 120, 116, 112, 108, 104, 100, 96, 92, 88, 84, 80, 76, 72, 68, 64, 60, 56, 52, 48, 44,
        40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0, 124, 120, 116, 112, 108, 104, 100, 96, 92, 88, 84,
        80, 76, 72, 68, 64, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
    __m512i index = _mm512_add_epi8(first, _mm512_set1_epi8((char)channel));
    __m512i low = _mm512_permutex2var_epi8(words[0], index, words[1]);
    __m512i high = _mm512_permutex2var_epi8(words[2], index, words[3]);
    return _mm512_mask_blend_epi64(0xf0, low, high);
}

static inline void planes_load(Plane planes[4], const uint8_t (*table)[4])
{
    for (size_t quarter = 0; quarter < 4; quarter++) {
        __m512i words[4];
        for (size_t i = 0; i < 4; i++)
            words[i] = _mm512_loadu_si512(table[64 * quarter + 16 * i]);
        for (int channel = 0; channel < 4; channel++)
            planes[channel].quarter[quarter] = every_fourth(words, channel);
    }
}

static inline __m512i look_up(const Plane *plane, __m512i index, __mmask64 upper)
{
    __m512i low = _mm512_permutex2var_epi8(plane->quarter[0], index, plane->quarter[1]);
    __m512i high = _mm512_permutex2var_epi8(plane->quarter[2], index, plane->quarter[3]);
    return _mm512_mask_blend_epi8(upper, low, high);
}

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

typedef struct Map {
    Plane planes[4];
    __m512 vmin, inv;
} Map;

/* 64 pixels. Packing works within 128-bit lanes and leaves the pixels of the four inputs in turns
 * of four; unpacking undoes exactly that, so the outputs are in order again. */
static inline void map_64(const Map *map, const __m512 v[4], __m512i pixels[4])
{
    __m512i ab = _mm512_packus_epi32(colour_index(v[0], map->vmin, map->inv),
                                     colour_index(v[1], map->vmin, map->inv));
    __m512i cd = _mm512_packus_epi32(colour_index(v[2], map->vmin, map->inv),
                                     colour_index(v[3], map->vmin, map->inv));
    __m512i index = _mm512_packus_epi16(ab, cd);
    __mmask64 upper = _mm512_movepi8_mask(index);
    __m512i r = look_up(&map->planes[0], index, upper);
    __m512i g = look_up(&map->planes[1], index, upper);
    __m512i b = look_up(&map->planes[2], index, upper);
    __m512i a = look_up(&map->planes[3], index, upper);
    __m512i rg_low = _mm512_unpacklo_epi8(r, g);
    __m512i rg_high = _mm512_unpackhi_epi8(r, g);
    __m512i ba_low = _mm512_unpacklo_epi8(b, a);
    __m512i ba_high = _mm512_unpackhi_epi8(b, a);
    pixels[0] = _mm512_unpacklo_epi16(rg_low, ba_low);
    pixels[1] = _mm512_unpackhi_epi16(rg_low, ba_low);
    pixels[2] = _mm512_unpacklo_epi16(rg_high, ba_high);
    pixels[3] = _mm512_unpackhi_epi16(rg_high, ba_high);
}

/* At most 64 pixels. */
static inline void map_some(const Map *map, const float *src, uint8_t *dst_rgba, size_t count)
{
    uint64_t lanes = count >= 64 ? ~0ull : (1ull << count) - 1;
    __m512 v[4];
    __m512i pixels[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = _mm512_maskz_loadu_ps((__mmask16)(lanes >> 16 * i), src + 16 * i);
    map_64(map, v, pixels);
    for (size_t i = 0; i < 4; i++)
        _mm512_mask_storeu_epi32(dst_rgba + 64 * i, (__mmask16)(lanes >> 16 * i), pixels[i]);
}

void kernel_avx512vbmi_colormap(const float *src, uint8_t *dst_rgba, size_t count,
                                const uint8_t (*table)[4], float vmin, float inv)
{
    uint64_t env = float_env_enter();
    Map map = {.vmin = _mm512_set1_ps(vmin), .inv = _mm512_set1_ps(inv)};
    planes_load(map.planes, table);

    bool stream = kernel_streams(dst_rgba, count);
    size_t done = stream ? kernel_stream_head(dst_rgba) : 0;
    map_some(&map, src, dst_rgba, done);
    for (; done + 64 <= count; done += 64) {
        __m512 v[4];
        __m512i pixels[4];
        for (size_t i = 0; i < 4; i++)
            v[i] = _mm512_loadu_ps(src + done + 16 * i);
        map_64(&map, v, pixels);
        __m512i *dst = (__m512i *)(void *)(dst_rgba + 4 * done);
        if (stream) {
            for (size_t i = 0; i < 4; i++) {
                prefetch(src + done + 16 * i);
                _mm512_stream_si512(dst + i, pixels[i]);
            }
        } else {
            for (size_t i = 0; i < 4; i++)
                _mm512_storeu_si512(dst + i, pixels[i]);
        }
    }
    if (stream)
        _mm_sfence();
    map_some(&map, src + done, dst_rgba + 4 * done, count - done);
    float_env_leave(env);
}

/* ---- Expand: 16 pixels at a time, one vpermb each ---- */

void kernel_avx512vbmi_expand(const uint8_t *src, uint8_t *dst_rgba, size_t count,
                              uint32_t channels)
{
    if (channels < 1 || channels > 3) {
        kernel_scalar_expand(src, dst_rgba, count, channels);
        return;
    }
    uint8_t from[64]; /* source byte of each output byte; alpha of C = 1 and 3 is set below */
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t pixel = i / 4;
        uint32_t channel = i % 4;
        uint32_t grey_or_colour = channels == 3 ? channel : 0;
        uint32_t at = channel == 3 ? channels - 1 : grey_or_colour;
        from[i] = (uint8_t)(channels * pixel + at);
    }
    const __m512i index = _mm512_loadu_si512(from);
    const __m512i alpha =
        channels == 2 ? _mm512_setzero_si512() : _mm512_set1_epi32((int)0xff000000u);
    for (size_t i = 0; i < count; i += 16) {
        size_t pixels = count - i < 16 ? count - i : 16;
        __mmask64 bytes = ~0ull >> (64 - channels * pixels);
        __m512i in = _mm512_maskz_loadu_epi8(bytes, src + channels * i);
        __m512i out = _mm512_or_si512(_mm512_permutexvar_epi8(index, in), alpha);
        _mm512_mask_storeu_epi32(dst_rgba + 4 * i, (__mmask16)(0xffffu >> (16 - pixels)), out);
    }
}
