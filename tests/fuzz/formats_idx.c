/* tests/fuzz/formats_idx.c: libFuzzer target: IDX files. One thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_NONE, "\0\0", 2);
}
