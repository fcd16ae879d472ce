/* tests/fuzz/formats_npy.c: libFuzzer target: .npy files. One thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_NPY, "\x93NUMPY", 6);
}
