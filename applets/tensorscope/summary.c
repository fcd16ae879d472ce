/* tensorscope/summary.c: one pass for extremes, exact order statistics by counting, one pass for
 * the histogram. No sorting, no copy: linear whatever the values are. Any thread. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_KEYS = 65536, BLOCK = 1 << 18 /* values between two looks at cancel */ };

typedef struct Work {
    const float *values;
    size_t count;
    bool (*cancel)(void *user);
    void *user;
    uint64_t *high; /* how many finite values have each upper half of the key */
    uint64_t *low;  /* scratch: the same of the lower half, within one upper half */
} Work;

/* Unsigned keys in the order of the numbers; -0 stands before +0. */
static uint32_t key_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

static float value_of(uint32_t key)
{
    uint32_t bits = (key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool is_cancelled(const Work *work, size_t at)
{
    return at % BLOCK == 0 && work->cancel != NULL && work->cancel(work->user);
}

static bool find_extremes(const Work *work, Summary *out)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < work->count; i++) {
        if (is_cancelled(work, i)) {
            return false;
        }
        float value = work->values[i];
        if (!isfinite(value)) {
            continue;
        }
        uint32_t key = key_of(value);
        least = key < least ? key : least;
        most = key > most ? key : most;
        work->high[key >> 16]++;
        out->finite_count++;
    }
    if (out->finite_count > 0) {
        out->min = value_of(least);
        out->max = value_of(most);
    }
    return true;
}

/* The finite value that has `rank` others below it. */
static bool order_statistic(const Work *work, uint64_t rank, float *out)
{
    uint32_t half = 0;
    while (rank >= work->high[half]) {
        rank -= work->high[half++];
    }
    memset(work->low, 0, HALF_KEYS * sizeof(*work->low));
    for (size_t i = 0; i < work->count; i++) {
        if (is_cancelled(work, i)) {
            return false;
        }
        uint32_t key = key_of(work->values[i]);
        if (key >> 16 == half && isfinite(work->values[i])) {
            work->low[key & 0xffffu]++;
        }
    }
    uint32_t rest = 0;
    while (rank >= work->low[rest]) {
        rank -= work->low[rest++];
    }
    *out = value_of(half << 16 | rest);
    return true;
}

static bool percentile(const Work *work, const Summary *summary, double share, double *out)
{
    double place = share * (double)(summary->finite_count - 1);
    uint64_t below = (uint64_t)place;
    uint64_t above = below + 1 < summary->finite_count ? below + 1 : below;
    float low, high;
    if (!order_statistic(work, below, &low)) {
        return false;
    }
    high = low;
    if (above != below && !order_statistic(work, above, &high)) {
        return false;
    }
    /* From the nearer neighbour, as numpy does, so that the last digit is the same too. */
    double part = place - (double)below, gap = (double)high - (double)low;
    *out = part < 0.5 ? (double)low + gap * part : (double)high - gap * (1.0 - part);
    return true;
}

static void choose_bins(Summary *summary, bool whole_numbers)
{
    double low = (double)summary->min, high = (double)summary->max;
    if (whole_numbers && high - low < SUMMARY_BINS_MAX) {
        summary->bin_count = (uint32_t)(high - low) + 1;
        summary->bins_low = low - 0.5;
        summary->bins_high = high + 0.5;
        return;
    }
    summary->bin_count = high > low ? 128 : 1;
    summary->bins_low = low;
    summary->bins_high = high;
}

static bool fill_bins(const Work *work, Summary *summary)
{
    double width = summary->bins_high - summary->bins_low;
    double scale = width > 0 ? summary->bin_count / width : 0;
    for (size_t i = 0; i < work->count; i++) {
        if (is_cancelled(work, i)) {
            return false;
        }
        if (!isfinite(work->values[i])) {
            continue;
        }
        uint32_t bin = (uint32_t)(((double)work->values[i] - summary->bins_low) * scale);
        summary->bins[bin < summary->bin_count ? bin : summary->bin_count - 1]++;
    }
    for (uint32_t i = 0; i < summary->bin_count; i++) {
        summary->most = summary->bins[i] > summary->most ? summary->bins[i] : summary->most;
    }
    return true;
}

bool summary_make(const float *values, size_t count, bool whole_numbers, bool (*cancel)(void *user),
                  void *user, Summary *out)
{
    Work work = {values, count, cancel, user, NULL, NULL};
    bool done = false;
    memset(out, 0, sizeof(*out));
    out->count = count;
    work.high = calloc(HALF_KEYS, sizeof(*work.high));
    work.low = calloc(HALF_KEYS, sizeof(*work.low));
    if (work.high == NULL || work.low == NULL || !find_extremes(&work, out)) {
        goto end;
    }
    if (out->finite_count > 0) {
        choose_bins(out, whole_numbers);
        if (!percentile(&work, out, 0.01, &out->low_percentile) ||
            !percentile(&work, out, 0.99, &out->high_percentile) || !fill_bins(&work, out)) {
            goto end;
        }
    }
    done = true;
end:
    free(work.low);
    free(work.high);
    return done;
}
