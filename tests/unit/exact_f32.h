/* tests/unit/exact_f32.h: binary32 arithmetic in integers, to check what the processor computes.
 *
 * A finite float is m * 2^e with an integer m. Sums and products of such are exact in 128 bits (or
 * exact but for a sticky bit far below the last place), and exact_round rounds once, to nearest
 * with ties to even, as IEEE 754 says. No floating-point instruction runs here, so neither flags,
 * modes nor the compiler's contraction can touch the result. Included by tests. Any thread. */
#ifndef CALIPER_TESTS_EXACT_F32_H
#define CALIPER_TESTS_EXACT_F32_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 ExactWide;

#define EXACT_INF  0x7f800000u
#define EXACT_SIGN 0x80000000u

static inline uint32_t exact_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float exact_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool exact_is_nan(uint32_t bits)
{
    return (bits & ~EXACT_SIGN) > EXACT_INF;
}

static inline bool exact_is_inf(uint32_t bits)
{
    return (bits & ~EXACT_SIGN) == EXACT_INF;
}

/* |value| = *mantissa * 2^result; finite values only. */
static inline int exact_split(uint32_t bits, uint32_t *mantissa)
{
    int exponent = (int)((bits >> 23) & 0xff);
    *mantissa = exponent == 0 ? bits & 0x7fffff : (bits & 0x7fffff) | 0x800000;
    return (exponent == 0 ? 1 : exponent) - 150;
}

/* (m + a little, if sticky) * 2^e, rounded to the nearest binary32, ties to even. A sticky m has
 * more than 24 bits. */
static inline uint32_t exact_round(uint32_t sign, ExactWide m, int e, bool sticky)
{
    if (m == 0)
        return sign;
    int top = 0;
    while (top < 127 && (m >> (top + 1)) != 0)
        top++;
    /* Keep 24 bits, or fewer where the result is subnormal: its last place is worth 2^-149. */
    int drop = top - 23;
    if (e + drop < -149)
        drop = -149 - e;
    uint32_t kept = 0;
    if (drop <= 0) {
        kept = (uint32_t)(m << -drop);
    } else if (drop <= 127) {
        ExactWide half = (ExactWide)1 << (drop - 1);
        ExactWide rest = m & (((ExactWide)1 << drop) - 1);
        kept = (uint32_t)(m >> drop);
        bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
        kept += up ? 1u : 0u;
    }
    int last_place = e + drop;
    if (kept == 1u << 24) {
        kept >>= 1;
        last_place++;
    }
    if (kept < 0x800000)
        return sign | kept; /* subnormal: last_place is -149 */
    if (last_place + 150 >= 255)
        return sign | EXACT_INF;
    return sign | (uint32_t)(last_place + 150) << 23 | (kept & 0x7fffff);
}

/* Finite operands in the three operations. */
static inline uint32_t exact_add(uint32_t a, uint32_t b)
{
    uint32_t mantissa_a, mantissa_b;
    int exponent_a = exact_split(a, &mantissa_a);
    int exponent_b = exact_split(b, &mantissa_b);
    if (mantissa_a == 0 || mantissa_b == 0) {
        if (mantissa_a == 0 && mantissa_b == 0)
            return a & b & EXACT_SIGN;
        return mantissa_a == 0 ? b : a;
    }
    if (exponent_a < exponent_b)
        return exact_add(b, a);
    int apart = exponent_a - exponent_b;
    bool far = apart > 100;
    ExactWide big = (ExactWide)mantissa_a << (far ? 100 : apart);
    ExactWide small = far ? 0 : mantissa_b;
    int exponent = far ? exponent_a - 100 : exponent_b;
    uint32_t sign = a & EXACT_SIGN;
    if (((a ^ b) & EXACT_SIGN) == 0)
        return exact_round(sign, big + small, exponent, far);
    if (big == small)
        return 0;
    if (big < small)
        return exact_round(sign ^ EXACT_SIGN, small - big, exponent, false);
    return exact_round(sign, big - small - (far ? 1 : 0), exponent, far);
}

static inline uint32_t exact_sub(uint32_t a, uint32_t b)
{
    return exact_add(a, b ^ EXACT_SIGN);
}

static inline uint32_t exact_mul(uint32_t a, uint32_t b)
{
    uint32_t mantissa_a, mantissa_b;
    int exponent_a = exact_split(a, &mantissa_a);
    int exponent_b = exact_split(b, &mantissa_b);
    return exact_round((a ^ b) & EXACT_SIGN, (ExactWide)mantissa_a * mantissa_b,
                       exponent_a + exponent_b, false);
}

/* 1 / a, for a finite and not zero. */
static inline uint32_t exact_reciprocal(uint32_t a)
{
    uint32_t mantissa;
    int exponent = exact_split(a, &mantissa);
    ExactWide one = (ExactWide)1 << 100;
    return exact_round(a & EXACT_SIGN, one / mantissa, -100 - exponent, one % mantissa != 0);
}

/* The factor of an accepted range: 1 / (vmax - vmin), 0 where they are equal. */
static inline uint32_t exact_inv(float vmin, float vmax)
{
    uint32_t low = exact_bits(vmin);
    uint32_t high = exact_bits(vmax);
    if (low == high || ((low | high) & ~EXACT_SIGN) == 0)
        return 0;
    return exact_reciprocal(exact_sub(high, low));
}

/* The colormap index (docs/explanation/exactness.md): NaN and inv == 0 give 0; (v - vmin) * inv,
 * clamped to [0, 1], times 255, plus a half, truncated; each step rounded to binary32. */
static inline uint32_t exact_index(uint32_t v, uint32_t vmin, uint32_t inv)
{
    if (exact_is_nan(v) || (inv & ~EXACT_SIGN) == 0)
        return 0;
    if (exact_is_inf(v))
        return ((v ^ inv) & EXACT_SIGN) != 0 ? 0 : 255;
    uint32_t difference = exact_sub(v, vmin);
    uint32_t t =
        exact_is_inf(difference) ? difference ^ (inv & EXACT_SIGN) : exact_mul(difference, inv);
    const uint32_t one = 0x3f800000u;
    if ((t & EXACT_SIGN) != 0)
        return 0;
    if (t > one)
        t = one;
    uint32_t sum = exact_add(exact_mul(t, exact_bits(255.0f)), exact_bits(0.5f));
    uint32_t mantissa;
    int exponent = exact_split(sum, &mantissa); /* 0.5 <= sum <= 255.5, so -24 <= exponent < 0 */
    return mantissa >> -exponent;
}

/* Floats as integers in the floats' order: -inf lowest, -0 just below +0, +inf highest. */
static inline int32_t exact_key(uint32_t bits)
{
    return (bits & EXACT_SIGN) != 0 ? -(int32_t)(bits & ~EXACT_SIGN) - 1 : (int32_t)bits;
}

static inline uint32_t exact_from_key(int32_t key)
{
    return key >= 0 ? (uint32_t)key : EXACT_SIGN | (uint32_t)(-(key + 1));
}

/* Where the index changes. Each rounding is monotonic, so for inv > 0 the index never falls as v
 * rises: edge[k - 1] is the key of the smallest v with an index of at least k. For inv < 0 the same
 * holds for -v, and `mirrored` says so. Found by bisection over all floats. */
typedef struct ExactEdges {
    bool mirrored, constant;
    int32_t edge[255];
} ExactEdges;

static inline void exact_edges_make(ExactEdges *edges, uint32_t vmin, uint32_t inv)
{
    edges->constant = (inv & ~EXACT_SIGN) == 0;
    edges->mirrored = (inv & EXACT_SIGN) != 0;
    for (uint32_t k = 1; k <= 255 && !edges->constant; k++) {
        int64_t low = exact_key(EXACT_SIGN | EXACT_INF); /* index 0 < k */
        int64_t high = exact_key(EXACT_INF);             /* index 255 >= k */
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            uint32_t v = exact_from_key((int32_t)middle) ^ (edges->mirrored ? EXACT_SIGN : 0);
            if (exact_index(v, vmin, inv) >= k)
                high = middle;
            else
                low = middle;
        }
        edges->edge[k - 1] = (int32_t)high;
    }
}

/* exact_index by looking the edges up: eight steps. */
static inline uint32_t exact_edges_index(const ExactEdges *edges, uint32_t v)
{
    if (edges->constant || exact_is_nan(v))
        return 0;
    int32_t key = exact_key(v ^ (edges->mirrored ? EXACT_SIGN : 0));
    uint32_t index = 0;
    for (uint32_t step = 128; step > 0; step >>= 1)
        index += edges->edge[index + step - 1] <= key ? step : 0;
    return index;
}

#endif
