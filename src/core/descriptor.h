/* core/descriptor.h: an applet's descriptor, copied out of its library and checked.
 *
 * For src/core/. descriptor_read trusts nothing but that memory can be read, so it is called under
 * a guard. Frame thread. */
#ifndef CALIPER_CORE_DESCRIPTOR_H
#define CALIPER_CORE_DESCRIPTOR_H

#include <caliper/abi.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/ids.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DESCRIPTOR_TEXT_BYTES = 256,
    DESCRIPTOR_SUMMARY_BYTES = 1024,
    DESCRIPTOR_SERVICES_MAX = 64,
    DESCRIPTOR_SERVICE_BYTES = 128
};

typedef struct Descriptor {
    char id[DESCRIPTOR_TEXT_BYTES];
    char version[DESCRIPTOR_TEXT_BYTES];
    char name[DESCRIPTOR_TEXT_BYTES];
    char summary[DESCRIPTOR_SUMMARY_BYTES]; /* "" when NULL was given */
    char tag[DESCRIPTOR_TEXT_BYTES];        /* "" when NULL was given */
    char required_services[DESCRIPTOR_SERVICES_MAX][DESCRIPTOR_SERVICE_BYTES];
    uint32_t required_count;
    CaliperAppletAPI api;
} Descriptor;

/* Fills *out, or says in `why` (one line's worth) what is wrong. Reads no byte past the struct
 * sizes that the descriptor states, nor past the lengths above. */
bool descriptor_read(const CaliperAppletDescriptor *from, Descriptor *out, char *why,
                     size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
