/* tensorscope/summary.c: exact order statistics by counting, in two passes: the first counts how
 * many finite values have each upper half of a key, which says in which half each rank lies; the
 * second counts the lower halves there, and fills the histogram. No sorting, no copy: linear
 * whatever the values are. Any thread. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HALF_KEYS = 65536,
    BLOCK = 1 << 18, /* values between two looks at cancel */
    RANKS = 4        /* two neighbours for each of two percentiles */
};

static const double shares[2] = {0.01, 0.99};

struct SummaryCount {
    Summary summary;
    bool whole_numbers;
    uint32_t least, most;       /* keys */
    uint64_t high[HALF_KEYS];   /* finite values by the upper half of their key */
    int32_t slot_of[HALF_KEYS]; /* which of `low` counts an upper half; -1: none */
    uint64_t low[RANKS][HALF_KEYS];
    uint64_t rank[RANKS]; /* within its upper half, once turned */
    uint32_t half[RANKS];
    double scale; /* bins a unit */
};

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

SummaryCount *summary_count_create(bool whole_numbers)
{
    SummaryCount *count = calloc(1, sizeof(*count));
    if (count != NULL) {
        count->whole_numbers = whole_numbers;
        count->least = UINT32_MAX;
        memset(count->slot_of, 0xff, sizeof(count->slot_of)); /* -1 everywhere */
    }
    return count;
}

void summary_first(SummaryCount *count, const float *values, size_t value_count)
{
    uint32_t least = count->least, most = count->most;
    uint64_t finite = 0;
    for (size_t i = 0; i < value_count; i++) {
        if (!isfinite(values[i])) {
            continue;
        }
        uint32_t key = key_of(values[i]);
        least = key < least ? key : least;
        most = key > most ? key : most;
        count->high[key >> 16]++;
        finite++;
    }
    count->least = least;
    count->most = most;
    count->summary.count += value_count;
    count->summary.finite_count += finite;
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

/* The upper half in which the finite value lies that has `rank` others below it. */
static void place_rank(SummaryCount *count, int which, uint64_t rank)
{
    uint32_t half = 0;
    while (rank >= count->high[half]) {
        rank -= count->high[half++];
    }
    count->rank[which] = rank;
    count->half[which] = half;
    if (count->slot_of[half] < 0) {
        count->slot_of[half] = which;
    }
}

void summary_turn(SummaryCount *count)
{
    Summary *summary = &count->summary;
    if (summary->finite_count == 0) {
        return;
    }
    summary->min = value_of(count->least) + 0.0f; /* -0 becomes 0 */
    summary->max = value_of(count->most) + 0.0f;
    choose_bins(summary, count->whole_numbers);
    double width = summary->bins_high - summary->bins_low;
    count->scale = width > 0 ? summary->bin_count / width : 0;
    for (int i = 0; i < 2; i++) {
        uint64_t below = (uint64_t)(shares[i] * (double)(summary->finite_count - 1));
        place_rank(count, 2 * i, below);
        place_rank(count, 2 * i + 1, below + 1 < summary->finite_count ? below + 1 : below);
    }
}

void summary_second(SummaryCount *count, const float *values, size_t value_count)
{
    Summary *summary = &count->summary;
    for (size_t i = 0; i < value_count; i++) {
        if (!isfinite(values[i]) || summary->bin_count == 0) {
            continue;
        }
        uint32_t key = key_of(values[i]);
        int32_t slot = count->slot_of[key >> 16];
        if (slot >= 0) {
            count->low[slot][key & 0xffffu]++;
        }
        double place = ((double)values[i] - summary->bins_low) * count->scale;
        /* Any number: a file that is written meanwhile has other values in the second pass. */
        uint32_t last = summary->bin_count - 1;
        summary->bins[place >= last ? last : place > 0.0 ? (uint32_t)place : 0]++;
    }
}

static float order_statistic(const SummaryCount *count, int which)
{
    const uint64_t *low = count->low[count->slot_of[count->half[which]]];
    uint64_t rank = count->rank[which];
    uint32_t rest = 0;
    while (rest < HALF_KEYS - 1 && rank >= low[rest]) {
        rank -= low[rest++];
    }
    return value_of(count->half[which] << 16 | rest);
}

static double percentile(const SummaryCount *count, int which)
{
    double place = shares[which] * (double)(count->summary.finite_count - 1);
    float low = order_statistic(count, 2 * which), high = order_statistic(count, 2 * which + 1);
    /* From the nearer neighbour, as numpy does, so that the last digit is the same too. */
    double part = place - floor(place), gap = (double)high - (double)low;
    return part < 0.5 ? (double)low + gap * part : (double)high - gap * (1.0 - part);
}

void summary_count_end(SummaryCount **count, Summary *out)
{
    if (*count == NULL) {
        return;
    }
    Summary *summary = &(*count)->summary;
    if (out != NULL) {
        if (summary->finite_count > 0) {
            summary->low_percentile = percentile(*count, 0) + 0.0;
            summary->high_percentile = percentile(*count, 1) + 0.0;
        }
        for (uint32_t i = 0; i < summary->bin_count; i++) {
            summary->most = summary->bins[i] > summary->most ? summary->bins[i] : summary->most;
        }
        *out = *summary;
    }
    free(*count);
    *count = NULL;
}

static bool all(SummaryCount *counts, void (*pass)(SummaryCount *, const float *, size_t),
                const float *values, size_t count, bool (*cancel)(void *user), void *user)
{
    for (size_t done = 0; done < count; done += BLOCK) {
        if (cancel != NULL && cancel(user)) {
            return false;
        }
        pass(counts, values + done, count - done < BLOCK ? count - done : BLOCK);
    }
    return true;
}

bool summary_make(const float *values, size_t count, bool whole_numbers, bool (*cancel)(void *user),
                  void *user, Summary *out)
{
    SummaryCount *counts = summary_count_create(whole_numbers);
    if (counts == NULL || !all(counts, summary_first, values, count, cancel, user)) {
        summary_count_end(&counts, NULL);
        return false;
    }
    summary_turn(counts);
    bool done = all(counts, summary_second, values, count, cancel, user);
    summary_count_end(&counts, done ? out : NULL);
    return done;
}
