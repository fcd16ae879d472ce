/* tensorscope/range.c: see range.h. Pure; any thread. */
#include "range.h"

#include <math.h>

const char *const range_mode_names[RANGE_MODE_COUNT] = {
    "min to max", "symmetric about 0", "natural to the type", "percentiles 1 to 99", "by hand"};

static const char note_none[] = "no finite value: 0 to 1 is used";
static const char note_one[] = "one value only: entry 0 everywhere";
static const char note_lost[] =
    "the values differ by less than binary32 holds: entry 0 everywhere; the value under the "
    "pointer is exact";
static const char note_beyond[] =
    "every finite value is beyond binary32: 0 to 1 is used; the value under the pointer is exact";

static const float span_least = 0x1p-90f;
static const float span_most = 0x1p126f;

bool range_is_accepted(float low, float high)
{
    if (!isfinite(low) || !isfinite(high)) {
        return false;
    }
    float span = fabsf(high - low);
    return low == high || (span >= span_least && span <= span_most);
}

static void natural(ArrayDtype dtype, double *low, double *high)
{
    *low = 0.0;
    *high = 1.0;
    switch (dtype) {
    case ARRAY_DTYPE_U8:
        *high = 255.0;
        break;
    case ARRAY_DTYPE_U16:
        *high = 65535.0;
        break;
    case ARRAY_DTYPE_U32:
        *high = 4294967295.0;
        break;
    case ARRAY_DTYPE_U64:
        *high = 0x1p64;
        break;
    case ARRAY_DTYPE_I8:
        *low = -128.0;
        *high = 127.0;
        break;
    case ARRAY_DTYPE_I16:
        *low = -32768.0;
        *high = 32767.0;
        break;
    case ARRAY_DTYPE_I32:
        *low = -2147483648.0;
        *high = 2147483647.0;
        break;
    case ARRAY_DTYPE_I64:
        *low = -0x1p63;
        *high = 0x1p63;
        break;
    default: /* floats and bool: 0..1 */
        break;
    }
}

/* The nearest binary32 that is finite and leaves room for a span; *moved is set when it is not the
 * nearest of all. */
static float to_end(double value, bool *moved)
{
    const double limit = 0x1p125;
    *moved |= !(fabs(value) <= limit);
    if (isnan(value)) {
        return 0.0f;
    }
    return (float)(value > limit ? limit : value < -limit ? -limit : value);
}

Range range_resolve(RangeMode mode, ArrayDtype dtype, const Summary *summary, double hand_low,
                    double hand_high)
{
    double low = 0.0, high = 1.0;
    Range range = {0.0f, 1.0f, NULL};
    bool none = summary->finite_count == 0;
    switch (mode) {
    case RANGE_MODE_SYMMETRIC:
        high = fmax(fabs((double)summary->min), fabs((double)summary->max));
        low = -high;
        break;
    case RANGE_MODE_NATURAL:
        natural(dtype, &low, &high);
        none = false;
        break;
    case RANGE_MODE_PERCENTILE:
        low = summary->low_percentile;
        high = summary->high_percentile;
        break;
    case RANGE_MODE_BY_HAND:
        low = hand_low;
        high = hand_high;
        none = false;
        break;
    default:
        low = (double)summary->min;
        high = (double)summary->max;
        break;
    }
    if (none) {
        range.note = note_none;
        return range;
    }
    bool moved = false;
    range.low = to_end(low, &moved);
    range.high = to_end(high, &moved);
    if (moved) {
        range.note = "wider than a colormap can span: ends kept within 2^125";
    }
    if (!range_is_accepted(range.low, range.high)) {
        /* Closer than 2^-90, so both ends are that small: the upper one moves. */
        range.high = range.low < range.high ? range.low + 0x1p-89f : range.low - 0x1p-89f;
        range.note = "narrower than a colormap can span: widened to 2^-89";
    } else if (range.low == range.high && range.note == NULL) {
        range.note = summary->min == summary->max && mode != RANGE_MODE_BY_HAND ? note_one
                     : low == high ? "both ends are the same: entry 0 everywhere"
                                   : "both ends are the same in binary32: entry 0 everywhere";
    }
    return range;
}

static bool same_number(ArrayNumber a, ArrayNumber b)
{
    return a.kind == b.kind && (a.kind == ARRAY_NUMBER_KIND_F64   ? a.value.f64 == b.value.f64
                                : a.kind == ARRAY_NUMBER_KIND_I64 ? a.value.i64 == b.value.i64
                                                                  : a.value.u64 == b.value.u64);
}

void range_note_stored(Range *range, const ArrayStats *stats)
{
    if (range->note == note_none && stats->min.kind != ARRAY_NUMBER_KIND_NONE) {
        range->note = note_beyond;
    } else if (range->note == note_one && !same_number(stats->min, stats->max)) {
        range->note = note_lost;
    }
}

int range_entry(float value, float low, float high)
{
    if (isnan(value) || low == high) {
        return 0;
    }
    float inverse = 1.0f / (high - low);
    float t = (value - low) * inverse;
    t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
    return (int)(t * 255.0f + 0.5f);
}
