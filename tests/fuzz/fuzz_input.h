/* tests/fuzz/fuzz_input.h: takes numbers from a fuzzer's bytes; zeroes when they are used up.
 *
 * For the fuzz targets of the bridge. One thread. */
#ifndef CALIPER_TESTS_FUZZ_INPUT_H
#define CALIPER_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct FuzzInput {
    const uint8_t *at;
    size_t left;
} FuzzInput;

static inline void fuzz_take(FuzzInput *input, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    size_t some = bytes < input->left ? bytes : input->left;
    if (some > 0)
        memcpy(out, input->at, some);
    input->at += some;
    input->left -= some;
}

static inline uint8_t fuzz_u8(FuzzInput *input)
{
    uint8_t value;
    fuzz_take(input, &value, sizeof value);
    return value;
}

static inline uint32_t fuzz_u32(FuzzInput *input)
{
    uint32_t value;
    fuzz_take(input, &value, sizeof value);
    return value;
}

static inline uint64_t fuzz_u64(FuzzInput *input)
{
    uint64_t value;
    fuzz_take(input, &value, sizeof value);
    return value;
}

/* Keeps a promise in every build. */
#define FUZZ_REQUIRE(condition) \
    do {                        \
        if (!(condition))       \
            __builtin_trap();   \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
