/* Locks of open file descriptions; flock where the system has no better. Any thread. */
#include "store/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"

/* What a forked child closes. Held across the opening of a file, so that no fork comes between that
 * and the note of it. */
static pthread_mutex_t opened_mutex = PTHREAD_MUTEX_INITIALIZER;
static int *opened;
static size_t opened_count, opened_capacity;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void opened_enter(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&opened_mutex);
}

static void opened_leave(void)
{
    pthread_mutex_unlock(&opened_mutex);
    guard_lock_leave();
}

static void let_go_in_child(void)
{
    for (size_t i = 0; i < opened_count; i++)
        close(opened[i]);
    opened_count = 0;
    opened_leave();
}

static void watch_forks(void)
{
    pthread_atfork(opened_enter, opened_leave, let_go_in_child);
}

static bool opened_room(void)
{
    if (opened_count < opened_capacity)
        return true;
    size_t capacity = opened_capacity == 0 ? 16 : opened_capacity * 2;
    int *larger =
        fault_here("store.lock.alloc") ? NULL : realloc(opened, capacity * sizeof *larger);
    if (larger == NULL) {
        errno = ENOMEM;
        return false;
    }
    opened = larger;
    opened_capacity = capacity;
    return true;
}

int file_lock_open(const char *path, int flags, unsigned mode)
{
    pthread_once(&fork_once, watch_forks);
    opened_enter();
    int fd = opened_room() ? open(path, flags | O_CLOEXEC, (mode_t)mode) : -1;
    int failure = errno;
    if (fd >= 0)
        opened[opened_count++] = fd;
    opened_leave();
    errno = failure;
    return fd;
}

void file_lock_close(int fd)
{
    opened_enter();
    for (size_t i = 0; i < opened_count; i++) {
        if (opened[i] == fd) {
            opened[i] = opened[--opened_count];
            close(fd);
            break;
        }
    }
    opened_leave();
}

FileLockState file_lock_try(int fd, const char *site)
{
    if (fault_here(site)) {
        errno = ENOLCK;
        return FILE_LOCK_FAILED;
    }
#ifdef F_OFD_SETLK
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result = fcntl(fd, F_OFD_SETLK, &whole);
#else
    int result = flock(fd, LOCK_EX | LOCK_NB);
#endif
    if (result == 0)
        return FILE_LOCK_HELD;
    return errno == EAGAIN || errno == EACCES ? FILE_LOCK_OTHER : FILE_LOCK_FAILED;
}

FileLockState file_lock_wait(int fd, const char *site, int wait_ms)
{
    FileLockState state = file_lock_try(fd, site);
    for (int waited_ms = 0; state == FILE_LOCK_OTHER && waited_ms < wait_ms; waited_ms++) {
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
        state = file_lock_try(fd, site);
    }
    return state;
}

bool file_lock_is_held(int fd)
{
#ifdef F_OFD_GETLK
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
#else
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
#endif
}

void file_lock_leave(int fd)
{
#ifdef F_OFD_SETLK
    struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_OFD_SETLK, &whole);
#else
    flock(fd, LOCK_UN);
#endif
}
