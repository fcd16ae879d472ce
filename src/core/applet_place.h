/* core/applet_place.h: where an applet is: a manifest beside its library, a bundle's folder, or a
 * bare library. Opens nothing. For src/core/ and src/cli/; any thread.
 *
 * Names: `<stem>.caliper.toml` beside `<stem>.so` or `lib<stem>.so`; `<name>.caliperapp/` with
 * `caliper.toml` and `bin/<platform>/<name>.so` or `lib<name>.so`, or whatever library is alone
 * there. */
#ifndef CALIPER_CORE_APPLET_PLACE_H
#define CALIPER_CORE_APPLET_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__APPLE__)
#define PLACE_LIBRARY_SUFFIX ".dylib"
#define PLACE_SYSTEM         "macos"
#elif defined(_WIN32)
#define PLACE_LIBRARY_SUFFIX ".dll"
#define PLACE_SYSTEM         "windows"
#else
#define PLACE_LIBRARY_SUFFIX ".so"
#define PLACE_SYSTEM         "linux"
#endif
#if defined(__aarch64__) && defined(__APPLE__)
#define PLACE_PLATFORM PLACE_SYSTEM "-arm64"
#elif defined(__aarch64__)
#define PLACE_PLATFORM PLACE_SYSTEM "-aarch64"
#else
#define PLACE_PLATFORM PLACE_SYSTEM "-x86_64"
#endif

#define PLACE_MANIFEST_SUFFIX ".caliper.toml"
#define PLACE_BUNDLE_SUFFIX   ".caliperapp"
#define PLACE_BUNDLE_MANIFEST "caliper.toml"

typedef struct AppletPlace {
    char *manifest;   /* absolute; NULL: a bare library */
    char *library;    /* absolute; the first place it is looked for when it is not there */
    bool has_library; /* something is there, whatever it is */
} AppletPlace;

/* What a person named: a bundle's folder, a manifest, or a library, which may have its manifest
 * beside it. `must_exist` false: a library that is not there yet will do. False and `why` (what was
 * given, what was wanted) with *out empty. */
bool place_find(const char *path, bool must_exist, AppletPlace *out, char *why, size_t why_bytes);
/* The library of a manifest that is there or was there: `manifest` is absolute. False without
 * memory, after one line. */
bool place_of_manifest(const char *manifest, AppletPlace *out);
void place_free(AppletPlace *place);

bool place_has_suffix(const char *name, const char *suffix);
/* Whether a folder's entry of this name could be an applet's manifest or bundle. */
bool place_is_applet_name(const char *name);

#endif
