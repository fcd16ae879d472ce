/* tests/fuzz/formats_png.c: libFuzzer target: PNG files. One thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_PNG, "\x89PNG\r\n\x1a\n", 8);
}
