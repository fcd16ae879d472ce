/* tests/fuzz/formats_fuzz.h: what every fuzz target of formats/ does with its input.
 *
 * Only tests/fuzz/formats_*.c include it. One thread. */
#ifndef TESTS_FORMATS_FUZZ_H
#define TESTS_FORMATS_FUZZ_H

#include "formats/array_file.h"

#include <stddef.h>
#include <stdint.h>

/* Opens the bytes (every eighth input through a memfd, others from memory), reads elements, random
 * slices, whole arrays and statistics, and stops the program if a promise is broken: a refusal
 * without a message, an array that opens and is of another format, a slice that differs from its
 * elements. `signature` is written over the first bytes, so that no run is spent on finding it. */
int formats_fuzz(const uint8_t *data, size_t size, ArrayFormat format, const void *signature,
                 size_t signature_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
