/* Session files: see session.h. A file is locked before it gets its name, so that whoever sees the
 * name sees the lock. */
#include "store/metrics/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/paths.h"
#include "store/file_lock.h"
#include "store/metrics/disk.h"

void session_make_name(char out[SESSION_NAME_BYTES])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        memset(bytes, 0, sizeof bytes);
        long long parts[2] = {(long long)now.tv_sec * 1000000000 + now.tv_nsec, getpid()};
        memcpy(bytes, parts, sizeof parts);
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool session_name_valid(const char *name, size_t length)
{
    return length == SESSION_NAME_BYTES - 1 && strspn(name, "0123456789abcdef") >= length;
}

/* `prefix`<name>`suffix` in the folder; the caller's. */
static char *session_path(const char *folder, const char *prefix, const char *name)
{
    char file[SESSION_NAME_BYTES + 16];
    snprintf(file, sizeof file, "%s%s.session", prefix, name);
    return paths_join(folder, file);
}

/* The spool folder, and its name in the data root. */
static bool make_folder(const char *spool_folder)
{
    if (!paths_make_folder(spool_folder)) {
        errno = errno != 0 ? errno : EIO;
        return false;
    }
    char *data_root = strdup(spool_folder);
    char *slash = data_root != NULL ? strrchr(data_root, '/') : NULL;
    if (slash == NULL) {
        free(data_root);
        errno = ENOMEM;
        return false;
    }
    *slash = '\0';
    bool ok = disk_sync_folder(data_root, "metrics.session.sync");
    int failure = errno;
    free(data_root);
    errno = failure;
    return ok;
}

int session_announce(const char *spool_folder, const char *name)
{
    if (!make_folder(spool_folder))
        return -1;
    char *unnamed = session_path(spool_folder, ".", name);
    char *named = session_path(spool_folder, "", name);
    int fd = -1;
    int failure = ENOMEM;
    if (unnamed == NULL || named == NULL)
        goto done;
    fd = disk_open_to_lock(unnamed, O_RDWR | O_CREAT | O_EXCL, "metrics.session.open");
    failure = errno;
    if (fd < 0)
        goto done;
    if (file_lock_try(fd, "metrics.session.lock") == FILE_LOCK_HELD &&
        disk_rename(unnamed, named, "metrics.session.rename"))
        goto done;
    failure = errno;
    unlink(unnamed);
    file_lock_close(fd);
    fd = -1;
done:
    free(named);
    free(unnamed);
    if (fd < 0)
        errno = failure;
    return fd;
}

void session_withdraw(const char *spool_folder, const char *name, int fd)
{
    session_forget(spool_folder, name);
    file_lock_close(fd);
}

bool session_is_alive(const char *spool_folder, const char *name)
{
    char *path = session_path(spool_folder, "", name);
    if (path == NULL)
        return true;
    int fd = disk_open(path, O_RDWR, "metrics.session.look");
    bool alive = fd >= 0 ? file_lock_is_held(fd) : errno != ENOENT;
    if (fd >= 0)
        close(fd);
    free(path);
    return alive;
}

bool session_forget(const char *spool_folder, const char *name)
{
    char *path = session_path(spool_folder, "", name);
    bool ok = path != NULL && (unlink(path) == 0 || errno == ENOENT);
    free(path);
    return ok;
}
