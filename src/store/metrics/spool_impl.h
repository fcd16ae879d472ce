/* store/metrics/spool_impl.h: the layout of spool files, for spool.c and spool_read.c. */
#ifndef CALIPER_STORE_METRICS_SPOOL_IMPL_H
#define CALIPER_STORE_METRICS_SPOOL_IMPL_H

#include <stddef.h>

#include "store/metrics/checksum.h"
#include "store/metrics/spool.h"

#define SPOOL_MAGIC UINT64_C(0x31306c6f6f70736d) /* "mspool01" */
enum { SPOOL_FRAME_MAGIC = 0x4d415246, SPOOL_FILE_HEADER_BYTES = 16 };

typedef struct SpoolFileHeader {
    uint64_t magic;
    uint32_t row_header_bytes; /* a file of another build with other rows is not read */
    uint32_t checksum;         /* of what is before it */
} SpoolFileHeader;

typedef struct SpoolFrame {
    uint32_t magic;
    uint32_t rows_checksum;
    uint64_t rows_bytes;
    uint32_t reserved;
    uint32_t checksum; /* of what is before it */
} SpoolFrame;

static inline uint32_t spool_frame_checksum(const SpoolFrame *frame)
{
    return checksum_add(0, frame, offsetof(SpoolFrame, checksum));
}

static inline uint32_t spool_header_checksum(const SpoolFileHeader *header)
{
    return checksum_add(0, header, offsetof(SpoolFileHeader, checksum));
}

#endif
