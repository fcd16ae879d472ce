/* tests/fuzz/formats_gz.c: libFuzzer target: gzip files with an IDX or .npy array inside. One
 * thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_NONE, "\x1f\x8b\x08\0", 4);
}
