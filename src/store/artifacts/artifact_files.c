/* System calls with failures on demand; see the header. Any thread. */
#include "store/artifacts/artifact_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "store/file_lock.h"

bool artifact_error_set(ArtifactError *error, int code, const char *what, const char *path)
{
    char reason[128] = "";
    if (error->text[0] != '\0')
        return false;
    error->code = code;
    const char *words = code != 0 ? strerror_r(code, reason, sizeof reason) : "";
    snprintf(error->text, sizeof error->text, "%s %s%s%s", what, path, code != 0 ? ": " : "",
             words);
    return false;
}

bool artifact_path_join(char out[ARTIFACT_PATH_BYTES], const char *a, const char *b, const char *c)
{
    int length = c != NULL ? snprintf(out, ARTIFACT_PATH_BYTES, "%s/%s/%s", a, b, c)
                           : snprintf(out, ARTIFACT_PATH_BYTES, "%s/%s", a, b);
    return length > 0 && length < ARTIFACT_PATH_BYTES;
}

/* True when the plan wants this call to fail, with errno set to what the system could say. */
static bool fails(const char *site, int code)
{
    if (!fault_here(site))
        return false;
    errno = code;
    return true;
}

/* O_NONBLOCK: a pipe of that name is refused, not waited for. */
int artifact_open(const char *path, int flags, mode_t mode, ArtifactError *error)
{
    struct stat status;
    int fd;
    do
        fd = fails("artifacts.open", EMFILE)
                 ? -1
                 : open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        artifact_error_set(error, errno, "cannot open", path);
    } else if ((flags & O_DIRECTORY) == 0 &&
               (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        artifact_close(&fd);
        artifact_error_set(error, 0, "wanted a file, given something else at", path);
    }
    return fd;
}

int artifact_open_to_lock(const char *path, int flags, mode_t mode, ArtifactError *error)
{
    int fd;
    do
        fd = fails("artifacts.open", EMFILE) ? -1 : file_lock_open(path, flags, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        artifact_error_set(error, errno, "cannot open", path);
    return fd;
}

void artifact_close_locked(int *fd)
{
    if (*fd >= 0)
        file_lock_close(*fd);
    *fd = -1;
}

void artifact_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool artifact_write_all(int fd, const char *path, const void *bytes, size_t size_bytes,
                        ArtifactError *error)
{
    enum { ONE_WRITE_BYTES = 1 << 30 };
    const uint8_t *at = bytes;
    while (size_bytes > 0) {
        size_t some = size_bytes < ONE_WRITE_BYTES ? size_bytes : ONE_WRITE_BYTES;
        ssize_t done = fails("artifacts.write", ENOSPC) ? -1 : write(fd, at, some);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return artifact_error_set(error, done < 0 ? errno : ENOSPC, "cannot write", path);
        at += done;
        size_bytes -= (size_t)done;
    }
    return true;
}

int64_t artifact_read_at(int fd, const char *path, void *out, size_t size_bytes, uint64_t offset,
                         ArtifactError *error)
{
    size_t used = 0;
    while (used < size_bytes) {
        ssize_t got =
            fails("artifacts.read", EIO)
                ? -1
                : pread(fd, (char *)out + used, size_bytes - used, (off_t)(offset + used));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            artifact_error_set(error, errno, "cannot read", path);
            return -1;
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (int64_t)used;
}

/* EINVAL and ENOTSUP: what the file system keeps cannot be flushed, by its own word. */
bool artifact_sync(int fd, const char *path, ArtifactError *error)
{
    int result;
    do
        result = fails("artifacts.sync", EIO) ? -1 : fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == ENOTSUP ||
           artifact_error_set(error, errno, "cannot flush", path);
}

bool artifact_sync_folder(const char *path, ArtifactError *error)
{
    int fd = artifact_open(path, O_RDONLY | O_DIRECTORY, 0, error);
    if (fd < 0)
        return false;
    bool done = artifact_sync(fd, path, error);
    artifact_close(&fd);
    return done;
}

bool artifact_make_folder(const char *path, ArtifactError *error)
{
    struct stat status;
    if (!fails("artifacts.mkdir", ENOSPC) && mkdir(path, 0700) == 0)
        return true;
    int code = errno;
    if (code == EEXIST && stat(path, &status) == 0)
        return S_ISDIR(status.st_mode) ||
               artifact_error_set(error, ENOTDIR, "cannot use the folder", path);
    return artifact_error_set(error, code, "cannot make the folder", path);
}

int artifact_rename_new(const char *from, const char *to, ArtifactError *error)
{
    bool failing = fails("artifacts.rename", EIO);
    int result = failing ? -1 : renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (result != 0 && !failing && (errno == EINVAL || errno == ENOSYS)) {
        result = link(from, to);
        if (result == 0)
            unlink(from);
        else if (errno == EPERM || errno == ENOTSUP || errno == EMLINK || errno == ENOSYS)
            result = rename(from, to);
    }
    if (result == 0)
        return 1;
    if (errno == EEXIST)
        return 0;
    artifact_error_set(error, errno, "cannot put in place", to);
    return -1;
}

bool artifact_rename_over(const char *from, const char *to, ArtifactError *error)
{
    return (!fails("artifacts.rename", EIO) && rename(from, to) == 0) ||
           artifact_error_set(error, errno, "cannot put in place", to);
}

void artifact_unlink(const char *path)
{
    if (!fails("artifacts.unlink", EIO))
        unlink(path);
}

bool artifact_truncate(int fd, const char *path, uint64_t size_bytes, ArtifactError *error)
{
    return (!fails("artifacts.truncate", EIO) && ftruncate(fd, (off_t)size_bytes) == 0) ||
           artifact_error_set(error, errno, "cannot shorten", path);
}

int artifact_stat(const char *path, struct stat *out, ArtifactError *error)
{
    if (!fails("artifacts.stat", EIO) && stat(path, out) == 0)
        return S_ISREG(out->st_mode) ? 1 : 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return 0;
    artifact_error_set(error, errno, "cannot look at", path);
    return -1;
}

bool artifact_lock(int fd, const char *path, bool wait, ArtifactError *error)
{
    struct timespec begin, now, pause = {.tv_nsec = 1000000};
    bool on_frame = frame_thread_is_current();
    int64_t wait_ms = !wait      ? 0
                      : on_frame ? FRAME_THREAD_WAIT_MS
                                 : (int64_t)ARTIFACT_LOCK_WAIT_SEC * 1000;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        int result = fails("artifacts.lock", ENOLCK) ? -1 : flock(fd, LOCK_EX | LOCK_NB);
        if (result == 0)
            return true;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return artifact_error_set(error, errno, "cannot lock", path);
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t waited_ms =
            (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
        if (waited_ms >= wait_ms)
            return artifact_error_set(error, EWOULDBLOCK,
                                      on_frame ? FRAME_THREAD_BUSY ": another process holds"
                                               : "another process holds",
                                      path);
        nanosleep(&pause, NULL);
    }
}
