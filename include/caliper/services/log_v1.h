/* caliper.log.v1: one line of text for the person at the console.
 *
 * Frozen. A host shows wall time, level and the applet's id with each line. Thread tags:
 * caliper/caliper.h. */
#ifndef CALIPER_SERVICES_LOG_V1_H
#define CALIPER_SERVICES_LOG_V1_H

#include <stdint.h>

#include <caliper/layout.h>

#define CALIPER_LOG_V1 "caliper.log.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CaliperLogLevel {
    CALIPER_LOG_DEBUG = 0,
    CALIPER_LOG_INFO = 1,
    CALIPER_LOG_WARN = 2,
    CALIPER_LOG_ERROR = 3
} CaliperLogLevel;

typedef struct CaliperLogV1 {
    uint32_t struct_size;

    /* Writes one entry; the text is copied before the call returns. Newlines inside it stay one
     * entry, invalid UTF-8 is replaced, a level outside 0..3 counts as INFO, NULL is an empty line.
     * Cannot fail. [any] */
    void (*log)(CaliperLogLevel level, const char *message_utf8);
} CaliperLogV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperLogLevel, 4);
CALIPER_LAYOUT_SIZE(CaliperLogV1, 16);
CALIPER_LAYOUT_AT(CaliperLogV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperLogV1, log, 8);

#endif
