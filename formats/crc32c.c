/* formats/crc32c.c: eight bytes a step through eight tables ("slicing-by-8", M. E. Kounavis and F.
 * L. Berry, 2005). The tables are filled once. Any thread. */
#include "formats/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { SLICES = 8 };
#define POLYNOMIAL_REFLECTED 0x82f63b78u

static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL_REFLECTED : 0);
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int slice = 1; slice < SLICES; slice++) {
            uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
}

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t crc32c(uint32_t before, const void *bytes, size_t size_bytes)
{
    const uint8_t *at = bytes;
    uint32_t crc = ~before;
    pthread_once(&tables_once, fill_tables);
    for (; size_bytes >= 8; at += 8, size_bytes -= 8) {
        uint32_t low = read_u32(at) ^ crc, high = read_u32(at + 4);
        crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; size_bytes > 0; at++, size_bytes--)
        crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xff];
    return ~crc;
}

uint32_t crc32c_masked(const void *bytes, size_t size_bytes)
{
    uint32_t crc = crc32c(0, bytes, size_bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
