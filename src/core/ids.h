/* core/ids.h: which words are good ids and versions. Pure; any thread; any folder of src/. */
#ifndef CALIPER_CORE_IDS_H
#define CALIPER_CORE_IDS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reverse DNS: at least two labels with a dot between, each of letters, digits, '-' and '_' with a
 * letter or digit at both ends and at most 63 long, 200 bytes in all. Safe as a folder's name. */
enum { APPLET_ID_MAX_BYTES = 200 };
bool ids_applet_valid(const char *id);

/* Semantic Versioning 2.0.0, e.g. "1.2.3-rc.1+build5"; 100 bytes at most. */
bool ids_version_valid(const char *version);

#ifdef __cplusplus
}
#endif

#endif
