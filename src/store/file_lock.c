/* Locks of open file descriptions; flock where the system has no better. Any thread. */
#include "store/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"

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
