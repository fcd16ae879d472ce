/* core/loader_impl.h: what loader.c and loader_file.c share. */
#ifndef CALIPER_CORE_LOADER_IMPL_H
#define CALIPER_CORE_LOADER_IMPL_H

#include "core/loader.h"

/* A copy of the file under a name never used before, in `folder` (made). The caller's; NULL and
 * `why` on failure. */
char *loader_copy_file(const char *path, const char *folder, char *why, size_t why_bytes);

#endif
