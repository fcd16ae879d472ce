/* store/file_lock.h: a lock on an open file that ends with its last descriptor.
 *
 * For src/store/. The lock belongs to the open file description: closing another descriptor of the
 * file does not end it, and a second open of the file in this process meets it. A forked child has
 * a copy of every descriptor, which would keep a lock beyond the end of the process that took it:
 * what is opened here the child closes before it runs. Any thread. */
#ifndef CALIPER_STORE_FILE_LOCK_H
#define CALIPER_STORE_FILE_LOCK_H

#include <stdbool.h>

typedef enum FileLockState {
    FILE_LOCK_HELD = 0,
    FILE_LOCK_OTHER = 1, /* another open file description has it */
    FILE_LOCK_FAILED = 2 /* errno says why */
} FileLockState;

/* Opens a file to be locked; flags as of open(2), which are given O_CLOEXEC. -1 with errno. */
int file_lock_open(const char *path, int flags, unsigned mode);
/* Closes it, which ends the lock. In a forked child, where it is closed, does nothing; accepts -1.
 */
void file_lock_close(int fd);

/* Takes the lock of the whole file for writing; does not wait. `site` is asked of core/fault. */
FileLockState file_lock_try(int fd, const char *site);
/* The same, waiting at most `wait_ms` in steps of a millisecond. */
FileLockState file_lock_wait(int fd, const char *site, int wait_ms);
/* Whether another open file description has it; takes nothing. */
bool file_lock_is_held(int fd);
/* Lets it go before the descriptor is closed. */
void file_lock_leave(int fd);

#endif
