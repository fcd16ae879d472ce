/* CRC-32C, eight bytes a step by tables that are made once. Any thread. */
#include "store/metrics/checksum.h"

#include <pthread.h>

enum { SLICES = 8 };
#define POLYNOMIAL_REFLECTED 0x82f63b78u

static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) != 0 ? crc >> 1 ^ POLYNOMIAL_REFLECTED : crc >> 1;
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < SLICES; slice++) {
            uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
}

uint32_t checksum_add(uint32_t crc, const void *bytes, size_t length)
{
    pthread_once(&tables_once, make_tables);
    const uint8_t *at = bytes;
    crc = ~crc;
    for (; length >= SLICES; length -= SLICES, at += SLICES) {
        uint32_t next = tables[7][(crc ^ at[0]) & 0xff] ^ tables[6][(crc >> 8 ^ at[1]) & 0xff] ^
                        tables[5][(crc >> 16 ^ at[2]) & 0xff] ^ tables[4][crc >> 24 ^ at[3]];
        crc = next ^ tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
    }
    for (; length > 0; length--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xff];
    return ~crc;
}
