/* tests/fuzz/formats_png.c: libFuzzer target: PNG files. Chunk checksums are made right, or hardly
 * an input would get past the first chunk; an input of odd length keeps its own. One thread. */
#include "formats_fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIGNATURE_BYTES = 8, CHUNK_BYTES = 12 };

static void repair_checksums(uint8_t *bytes, size_t size)
{
    for (size_t at = SIGNATURE_BYTES; at < size && size - at >= CHUNK_BYTES;) {
        uint8_t *chunk = bytes + at;
        size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 |
                        (size_t)chunk[3];
        if (length > size - at - CHUNK_BYTES)
            break;
        uLong sum = crc32(crc32(0, NULL, 0), chunk + 4, (uInt)(length + 4));
        for (size_t i = 0; i < 4; i++)
            chunk[8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + CHUNK_BYTES;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size != 0 ? size : 1);
    if (bytes == NULL)
        return 0;
    if (size != 0)
        memcpy(bytes, data, size);
    if (size % 2 == 0)
        repair_checksums(bytes, size);
    formats_fuzz(bytes, size, ARRAY_FORMAT_PNG, "\x89PNG\r\n\x1a\n", SIGNATURE_BYTES);
    free(bytes);
    return 0;
}
