/* formats/crc32c.h: CRC-32C (Castagnoli), and the masking that TFRecord files add to it.
 *
 * Only files of formats/ and tests include it. Pure; any thread. */
#ifndef FORMATS_CRC32C_H
#define FORMATS_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of `size_bytes` bytes; to go on, hand in what the bytes before gave, 0 at first. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t size_bytes);
/* How a TFRecord stores it, so that a CRC of data with CRCs in it is not by accident right. */
uint32_t crc32c_masked(const void *bytes, size_t size_bytes);

#endif
