/* tests/fuzz/formats_safetensors.c: libFuzzer target: safetensors files. One thread. */
#include "formats_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return formats_fuzz(data, size, ARRAY_FORMAT_NONE, NULL, 0);
}
