/* store/metrics/checksum.h: CRC-32C (Castagnoli, reflected; RFC 3720 B.4) of spool frames.
 *
 * For src/store/metrics/ alone. Pure; any thread. */
#ifndef CALIPER_STORE_METRICS_CHECKSUM_H
#define CALIPER_STORE_METRICS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 at first) over more bytes. */
uint32_t checksum_add(uint32_t crc, const void *bytes, size_t length);

#endif
