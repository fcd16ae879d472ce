/* formats/write_file.c: temporary file, flush, rename.
 *
 * Thread rule: one WriteFile by one thread; the counter is shared and atomic. */
#include "formats/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static WriteFileWrite write_some = write;

void write_file_set_write(WriteFileWrite replacement)
{
    write_some = replacement != NULL ? replacement : write;
}

static void forget(WriteFile *file)
{
    free(file->temporary);
    free(file->place);
    file->temporary = NULL;
    file->place = NULL;
}

/* Where a file for `path` goes: the path, or what its links lead to; the caller's. NULL and an
 * error where something else than a file is. A directory is left to rename, which refuses it. */
static char *place_of(const char *path, ArrayError *error)
{
    struct stat status;
    char *place = NULL;
    bool exists = stat(path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        array_error_fill(error, ARRAY_FAULT_WRITE, path, "is a %s, wanted a file or a new name",
                         S_ISFIFO(status.st_mode)   ? "pipe"
                         : S_ISSOCK(status.st_mode) ? "socket"
                                                    : "device");
        return NULL;
    }
    if (exists && lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        place = realpath(path, NULL);
        if (place == NULL)
            array_error_fill(error, ARRAY_FAULT_WRITE, path, "is a link that leads nowhere: %s",
                             strerror(errno));
    } else {
        place = strdup(path);
        if (place == NULL)
            array_error_fill(error, ARRAY_FAULT_MEMORY, path, "no memory for a path");
    }
    return place;
}

/* Not mkstemp: that makes files nobody else may read, and the umask cannot be asked for without
 * changing it for all threads. O_EXCL never follows a link that somebody put there. */
bool write_file_begin(WriteFile *file, const char *path, ArrayError *error)
{
    static atomic_uint counter;
    enum { SUFFIX_BYTES = 40, TRIES = 100 };
    *file = (WriteFile){.path = path, .fd = -1};
    if (path == NULL || path[0] == '\0')
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, path, "wanted a path to write to");
    file->place = place_of(path, error);
    if (file->place == NULL)
        return false;
    size_t size = strlen(file->place) + SUFFIX_BYTES;
    file->temporary = malloc(size);
    if (file->temporary == NULL) {
        forget(file);
        return array_error_set(error, ARRAY_FAULT_MEMORY, path, "no memory for a path");
    }
    for (int i = 0; i < TRIES && file->fd < 0; i++) {
        snprintf(file->temporary, size, "%s.%ld-%u.part", file->place, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    if (file->fd >= 0)
        return true;
    array_error_fill(error, ARRAY_FAULT_WRITE, path, "cannot be written beside: %s",
                     strerror(errno));
    forget(file);
    return false;
}

static bool refuse_existing(const char *path, ArrayError *error)
{
    return array_error_set(error, ARRAY_FAULT_EXISTS, path,
                           "is there already, and is replaced only where that is asked for");
}

bool write_file_begin_new(WriteFile *file, const char *path, ArrayError *error)
{
    struct stat status;
    *file = (WriteFile){.path = path, .fd = -1};
    if (path != NULL && lstat(path, &status) == 0)
        return refuse_existing(path, error);
    if (!write_file_begin(file, path, error))
        return false;
    file->only_new = true;
    return true;
}

bool write_file_patch(WriteFile *file, uint64_t offset, const void *bytes, size_t size_bytes,
                      ArrayError *error)
{
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        ssize_t done = pwrite(file->fd, at, size_bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return array_error_set(error, ARRAY_FAULT_WRITE, file->path, "writing failed: %s",
                                   done < 0 ? strerror(errno) : "nothing was taken");
        at += done;
        offset += (uint64_t)done;
        size_bytes -= (size_t)done;
    }
    return true;
}

bool write_file_append(WriteFile *file, const void *bytes, size_t size_bytes, ArrayError *error)
{
    enum { ONE_WRITE_BYTES = 1 << 30 };
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        ssize_t done =
            write_some(file->fd, at, size_bytes < ONE_WRITE_BYTES ? size_bytes : ONE_WRITE_BYTES);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return array_error_set(error, ARRAY_FAULT_WRITE, file->path, "writing failed: %s",
                                   done < 0 ? strerror(errno) : "nothing was taken");
        at += done;
        size_bytes -= (size_t)done;
    }
    return true;
}

void write_file_cancel(WriteFile *file)
{
    if (file->temporary == NULL)
        return;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    unlink(file->temporary);
    forget(file);
}

/* A link is made only where nothing is: unlike a look before a rename, nobody comes between. File
 * systems without links are asked for a rename that replaces nothing. */
static bool put_new(const WriteFile *file)
{
    if (link(file->temporary, file->place) == 0) {
        unlink(file->temporary);
        return true;
    }
    return errno != EEXIST &&
           renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->place, RENAME_NOREPLACE) == 0;
}

bool write_file_flush(WriteFile *file, uint64_t offset, size_t size_bytes)
{
#ifdef __linux__
    const unsigned all =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(file->fd, (off_t)offset, (off_t)size_bytes, all) == 0;
#else
    (void)file;
    (void)offset;
    (void)size_bytes;
    return false;
#endif
}

bool write_file_commit(WriteFile *file, ArrayError *error)
{
    bool flushed = fsync(file->fd) == 0 || errno == EINVAL; /* EINVAL: it cannot be flushed */
    int failure = errno;
    if (close(file->fd) != 0 && flushed) {
        failure = errno;
        flushed = false;
    }
    file->fd = -1;
    bool placed =
        flushed && (file->only_new ? put_new(file) : rename(file->temporary, file->place) == 0);
    if (placed) {
        forget(file);
        return true;
    }
    if (flushed)
        failure = errno;
    write_file_cancel(file);
    if (file->only_new && failure == EEXIST)
        return refuse_existing(file->path, error);
    return array_error_set(error, ARRAY_FAULT_WRITE, file->path, "cannot be put in place: %s",
                           strerror(failure));
}
