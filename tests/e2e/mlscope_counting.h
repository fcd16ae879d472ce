/* tests/e2e/mlscope_counting.h: MLScope's network for tests without torch: one that counts its
 * steps.
 *
 * Its loss at step n is n, and so is what it predicts; each weight and each element of the maps is
 * n modulo COUNTING_VALUES; the digit is 1. All test images are taken for 0. With a learning rate
 * of COUNTING_TOO_FAST the loss is NaN from step 3 on. What is alive is counted. With it IDX files
 * as the format's page has them. */
#ifndef CALIPER_TESTS_MLSCOPE_COUNTING_H
#define CALIPER_TESTS_MLSCOPE_COUNTING_H

#include <stdatomic.h>
#include <stdint.h>

#include "model.h"

enum { COUNTING_VALUES = 97, COUNTING_TOO_FAST = 1000 };

extern atomic_int counting_models, counting_snapshots;

/* 50 images of value 1 with label 2 to learn from, 20 of value 3 with label 4 to test. */
void counting_write_all(const char *folder);
void counting_write_idx(const char *folder, const char *name, int rank, uint32_t count,
                        uint8_t value);

#endif
