/* formats/write_file.h: a file written beside its place and renamed into it when whole.
 *
 * Files of formats/ and src/cli/, and tests, include it. Thread rule: one WriteFile by one thread.
 */
#ifndef FORMATS_WRITE_FILE_H
#define FORMATS_WRITE_FILE_H

#include "formats/array_error.h"

#include <sys/types.h>

typedef struct WriteFile {
    const char *path; /* borrowed; for words */
    char *place;      /* owned; where it goes: behind the path's links */
    char *temporary;  /* owned; NULL when there is nothing to finish */
    int fd;
    bool only_new; /* nothing that is there is replaced, also not what came meanwhile */
} WriteFile;

/* A device or a pipe is refused, not replaced by a file; a link stays, and the file behind it is
 * replaced. */
bool write_file_begin(WriteFile *file, const char *path, ArrayError *error);
bool write_file_append(WriteFile *file, const void *bytes, size_t size_bytes, ArrayError *error);
/* The same for a name that nothing has: EXISTS where there is something, and again at the end. */
bool write_file_begin_new(WriteFile *file, const char *path, ArrayError *error);
/* Writes again over bytes that were appended before. */
bool write_file_patch(WriteFile *file, uint64_t offset, const void *bytes, size_t size_bytes,
                      ArrayError *error);
/* Waits until a range is on the disk; false where the system cannot do that by ranges, or failed,
 * which the commit then tells. */
bool write_file_flush(WriteFile *file, uint64_t offset, size_t size_bytes);
/* Flushes to the disk and renames. On failure the temporary is gone, as after cancel. */
bool write_file_commit(WriteFile *file, ArrayError *error);
/* Removes the temporary; nothing to do after commit or a failed begin. */
void write_file_cancel(WriteFile *file);

/* Tests put a failing write here; NULL restores the system's. */
typedef ssize_t (*WriteFileWrite)(int fd, const void *bytes, size_t size_bytes);
void write_file_set_write(WriteFileWrite replacement);

#endif
