/* tests/store/metrics/metrics_life.h: one life of a metrics store, in which something fails: what
 * it logs, and that all of it is there afterwards, once and in order.
 *
 * Included by the tests of this folder. One thread. */
#ifndef METRICS_LIFE_H
#define METRICS_LIFE_H

#include "metrics_fixture.h"

enum { LIFE_SCALARS = 300 };

/* Begins the run of a life, with some patience; 0: refused each time. */
uint64_t life_begin(MetricsStore *store);
/* 300 scalars, a histogram, a picture and settings; then ends the run. */
void life_values(MetricsStore *store, uint64_t run);
/* Both; the run must begin. */
void life_log(MetricsStore *store);
/* The data root at rest holds so many lives and nothing else; `plan` is named when it does not. */
void life_check(const char *root, int lives, const char *plan);

#endif
