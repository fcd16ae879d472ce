/* core/loader.h: opening an applet's library and finding its one symbol. For src/core/; frame
 * thread.
 *
 * Floating-point controls are kept around every call that runs a library's constructors or
 * destructors. A fault in one of those is not contained: the dynamic loader is half-way through. */
#ifndef CALIPER_CORE_LOADER_H
#define CALIPER_CORE_LOADER_H

#include <caliper/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum LoaderResult {
    LOADER_RESULT_OPENED = 0,
    LOADER_RESULT_NO_LIBRARY = 1, /* no file, no library for this machine, or it does not link */
    LOADER_RESULT_NO_SYMBOL = 2   /* a library, but not an applet */
} LoaderResult;

typedef struct Library {
    void *handle;
    char *copy_path;      /* the fresh copy that was opened, NULL if it was the file itself */
    uintptr_t first, end; /* addresses */
    CaliperDescriptorFn descriptor;
} Library;

/* Opens `path` (absolute), or a copy of it under a new name in `copy_folder` when that is not NULL:
 * the loader answers a path that it has open with the old image. On failure nothing is open and
 * `why` says why. */
LoaderResult loader_open(const char *path, const char *copy_folder, Library *out, char *why,
                         size_t why_bytes);

/* Gives an applet that is linked into this process a path, "linked:NAME", under which loader_open
 * finds it; `descriptor` NULL forgets it. A few at a time. False without a place. */
enum { LOADER_LINKED_MAX = 8 };
bool loader_link(const char *path, CaliperDescriptorFn descriptor);

/* Closes, and deletes the copy. */
void loader_close(Library *library);

/* Which file a path named at a time: a rebuilt library has another stamp. False if there is none.
 */
typedef struct LibraryStamp {
    uint64_t device, inode, size_bytes;
    int64_t changed_ns;
} LibraryStamp;
bool loader_stamp(const char *path, LibraryStamp *out);
/* Whether the process has an image of this path open: some libraries stay after they were closed.
 */
bool loader_is_open(const char *path);

/* Deletes copies that processes which are gone left in `copy_folder`. */
void loader_clean_copies(const char *copy_folder);

/* Whether a file is a whole shared library for this machine: its header, and that the file holds
 * all that the header promises (the loader would run into the end of a cut file). */
bool loader_check_file(const char *path, char *why, size_t why_bytes);

#endif
