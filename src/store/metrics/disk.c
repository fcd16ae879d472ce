/* Whole reads and writes: see disk.h. */
#include "store/metrics/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "store/file_lock.h"

/* What an injected failure looks like: a full disk, the one that is met in life. */
static bool fails(const char *site)
{
    if (!fault_here(site))
        return false;
    errno = ENOSPC;
    return true;
}

/* O_NONBLOCK: a pipe of that name is refused, not waited for. */
int disk_open(const char *path, int flags, const char *site)
{
    struct stat status;
    if (fails(site))
        return -1;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = S_ISDIR(status.st_mode) ? EISDIR : ENOTSUP;
    return -1;
}

int disk_open_to_lock(const char *path, int flags, const char *site)
{
    return fails(site) ? -1 : file_lock_open(path, flags | O_NOFOLLOW, 0600);
}

bool disk_write_at(int fd, const void *bytes, size_t length, uint64_t offset, const char *site)
{
    if (fails(site))
        return false;
    const uint8_t *at = bytes;
    while (length > 0) {
        ssize_t wrote = pwrite(fd, at, length, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            errno = wrote == 0 ? ENOSPC : errno;
            return false;
        }
        at += wrote;
        length -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return true;
}

int64_t disk_read_at(int fd, void *bytes, size_t length, uint64_t offset, const char *site)
{
    if (fails(site))
        return -1;
    uint8_t *at = bytes;
    size_t left = length;
    while (left > 0) {
        ssize_t got = pread(fd, at, left, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        at += got;
        left -= (size_t)got;
        offset += (uint64_t)got;
    }
    return (int64_t)(length - left);
}

bool disk_sync(int fd, const char *site)
{
    return !fails(site) && fdatasync(fd) == 0;
}

bool disk_sync_folder(const char *path, const char *site)
{
    if (fails(site))
        return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0;
    int failure = errno;
    close(fd);
    errno = failure;
    return ok;
}

bool disk_rename(const char *from, const char *to, const char *site)
{
    return !fails(site) && rename(from, to) == 0;
}

int64_t disk_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
