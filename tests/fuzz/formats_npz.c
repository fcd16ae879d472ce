/* tests/fuzz/formats_npz.c: libFuzzer target: .npz archives. One thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_NPZ, "PK", 2);
}
