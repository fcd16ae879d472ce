/* tensorscope/summary.h: what binary32 values hold: extremes, percentiles, histogram, all exact.
 *
 * Pure; any thread, and not the frame thread for large blocks. */
#ifndef TENSORSCOPE_SUMMARY_H
#define TENSORSCOPE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUMMARY_BINS_MAX = 256 };

typedef struct Summary {
    uint64_t count, finite_count;
    /* Over finite values; 0 when there are none. A zero is +0, here and below. */
    float min, max;
    /* The 1st and 99th percentile, between neighbours by straight line (numpy's default). */
    double low_percentile, high_percentile;
    /* Equal bins from bins_low to bins_high, the last one closed. */
    uint32_t bin_count;
    double bins_low, bins_high;
    uint64_t bins[SUMMARY_BINS_MAX];
    uint64_t most; /* in one bin */
} Summary;

/* `whole_numbers`: the values are integers, so that a narrow span gets a bin for each. False when
 * there is no memory or `cancel` (may be NULL) answered true; `out` is then unspecified. */
bool summary_make(const float *values, size_t count, bool whole_numbers, bool (*cancel)(void *user),
                  void *user, Summary *out);

/* The same of values that come in pieces, twice in any order: all through summary_first, then
 * summary_turn, then all through summary_second. NULL when there is no memory (2.5 MiB). */
typedef struct SummaryCount SummaryCount;
SummaryCount *summary_count_create(bool whole_numbers);
void summary_first(SummaryCount *count, const float *values, size_t value_count);
void summary_turn(SummaryCount *count);
void summary_second(SummaryCount *count, const float *values, size_t value_count);
/* Frees and NULLs; `out` NULL: the answer is not wanted. Accepts NULL for what was not made. */
void summary_count_end(SummaryCount **count, Summary *out);

#endif
