/* See the header. The calls go straight to the kernel, so that nothing depends on whose symbol the
 * linker would find next. */
#include "failing_io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool active;
static FailingIo plan;
static atomic_bool freeing_works, short_writes; /* the plan's, asked for without the mutex */
static atomic_uint calls, failed;
static _Atomic(const char *) last;
static _Atomic(const char *) held_path;
static atomic_uint held;

void failing_io_plan(const FailingIo *wanted)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&active, wanted != NULL);
    if (wanted != NULL) {
        plan = *wanted;
        atomic_store(&freeing_works, wanted->freeing_works);
        atomic_store(&short_writes, wanted->short_writes);
        atomic_store(&calls, 0);
        atomic_store(&failed, 0);
        atomic_store(&last, "");
    }
    pthread_mutex_unlock(&mutex);
}

uint32_t failing_io_calls(void)
{
    return atomic_load(&calls);
}

uint32_t failing_io_failed(void)
{
    return atomic_load(&failed);
}

const char *failing_io_last(void)
{
    return atomic_load(&last);
}

void failing_io_hold(const char *path)
{
    atomic_store(&held_path, path);
}

uint32_t failing_io_held(void)
{
    return atomic_load(&held);
}

static void wait_if_held(const char *path)
{
    const char *wanted = atomic_load(&held_path);
    if (wanted == NULL || strcmp(wanted, path) != 0)
        return;
    int before = errno;
    atomic_fetch_add(&held, 1);
    while (atomic_load(&held_path) == wanted)
        usleep(1000);
    atomic_fetch_sub(&held, 1);
    errno = before;
}

/* With the mutex held. */
static bool is_watched(int fd, const char *path)
{
    char link[64];
    char target[4096];
    if (path == NULL) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        long length = syscall(SYS_readlink, link, target, sizeof target - 1);
        if (length <= 0)
            return false;
        target[length] = '\0';
        path = target;
    }
    return strncmp(path, plan.folder, strlen(plan.folder)) == 0;
}

/* Whether this call is to fail; errno is set then. */
static bool fails(const char *name, int fd, const char *path, bool is_read)
{
    bool result = false;
    if (!atomic_load(&active))
        return false;
    int before = errno;
    pthread_mutex_lock(&mutex);
    if (atomic_load(&active) && (plan.reads || !is_read) && is_watched(fd, path)) {
        uint32_t number = atomic_fetch_add(&calls, 1) + 1;
        result = number >= plan.first && (plan.last == 0 || number <= plan.last);
        if (result && plan.kills)
            kill(getpid(), SIGKILL);
        if (result) {
            atomic_fetch_add(&failed, 1);
            atomic_store(&last, name);
            before = plan.error;
        }
    }
    pthread_mutex_unlock(&mutex);
    errno = before;
    return result;
}

/* ---- In front of the C library's ---- */

#pragma GCC visibility push(default)

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    wait_if_held(path);
    if ((flags & O_ACCMODE) != O_RDONLY && fails("open", -1, path, false))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    if (fails("write", fd, NULL, false)) {
        int error = errno;
        if (atomic_load(&short_writes) && length > 1)
            syscall(SYS_write, fd, bytes, length / 2);
        errno = error;
        return -1;
    }
    return syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    if (fails("pwrite", fd, NULL, false)) {
        int error = errno;
        if (atomic_load(&short_writes) && length > 1)
            syscall(SYS_pwrite64, fd, bytes, length / 2, offset);
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    return fails("read", fd, NULL, true) ? -1 : syscall(SYS_read, fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    return fails("pread", fd, NULL, true) ? -1 : syscall(SYS_pread64, fd, bytes, length, offset);
}

int fsync(int fd)
{
    return fails("fsync", fd, NULL, false) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails("fdatasync", fd, NULL, false) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t length)
{
    bool fail = !atomic_load(&freeing_works) && fails("ftruncate", fd, NULL, false);
    return fail ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fails("fallocate", fd, NULL, false)
               ? -1
               : (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int rename(const char *from, const char *to)
{
    return fails("rename", -1, from, false) ? -1 : (int)syscall(SYS_rename, from, to);
}

int unlink(const char *path)
{
    bool fail = !atomic_load(&freeing_works) && fails("unlink", -1, path, false);
    return fail ? -1 : (int)syscall(SYS_unlink, path);
}

int remove(const char *path)
{
    if (!atomic_load(&freeing_works) && fails("remove", -1, path, false))
        return -1;
    if (syscall(SYS_unlink, path) == 0)
        return 0;
    return errno == EISDIR || errno == EPERM ? (int)syscall(SYS_rmdir, path) : -1;
}

#pragma GCC visibility pop
