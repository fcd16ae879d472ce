/* core/manifest.h: an applet's manifest, `<stem>.caliper.toml` or a bundle's `caliper.toml`: what
 * the host knows of an applet before it opens anything of it.
 *
 * For src/core/ and src/cli/; any thread. TOML is read by toml++, which manifest.cpp alone knows.
 */
#ifndef CALIPER_CORE_MANIFEST_H
#define CALIPER_CORE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/descriptor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MANIFEST_FILE_MAX_BYTES = 1 << 16,
    MANIFEST_DOTS_MAX = 2000 /* bounds how deep `a.a.a...` nests; the parser recurses */
};

typedef struct Manifest {
    char id[DESCRIPTOR_TEXT_BYTES];
    char name[DESCRIPTOR_TEXT_BYTES];
    char version[DESCRIPTOR_TEXT_BYTES];
    char summary[DESCRIPTOR_SUMMARY_BYTES]; /* "" when not given, as is the tag */
    char tag[DESCRIPTOR_TEXT_BYTES];
    char without_library[DESCRIPTOR_TEXT_BYTES]; /* what to do where it has none; "" not given */
    uint32_t abi_epoch;
    uint32_t min_host[3]; /* 0.0.0 when not given */
    char required[DESCRIPTOR_SERVICES_MAX][DESCRIPTOR_SERVICE_BYTES];
    char optional[DESCRIPTOR_SERVICES_MAX][DESCRIPTOR_SERVICE_BYTES];
    uint32_t required_count, optional_count;
} Manifest;

/* Fills *out from a file's text, or says in `why` (one line's worth) what is wrong and, where it
 * stands, in which line. Unknown keys are passed over. */
bool manifest_parse(const char *bytes, size_t size, Manifest *out, char *why, size_t why_bytes);
/* The same for a file. */
bool manifest_read(const char *path, Manifest *out, char *why, size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
