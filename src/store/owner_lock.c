/* The lock of a data root: see owner_lock.h. Locks belong to the open file description, so that no
 * other descriptor of the process ends them; a table of this process's locks lets stores share one.
 * Any thread. */
#include "store/owner_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/paths.h"
#include "store/file_lock.h"

struct OwnerLock {
    int fd;
    dev_t device;
    ino_t inode;
    uint32_t shares;
    OwnerLock *next;
};

/* Guards the list; held across the few system calls of taking a lock, never by the frame thread. */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static OwnerLock *list;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void list_enter(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&list_mutex);
}

static void list_leave(void)
{
    pthread_mutex_unlock(&list_mutex);
    guard_lock_leave();
}

/* A child shares the open file description: as long as it had the descriptor, the lock would
 * outlive its owner. */
static void let_go_in_child(void)
{
    for (OwnerLock *lock = list; lock != NULL; lock = lock->next)
        close(lock->fd);
    list = NULL;
    list_leave();
}

static void watch_forks(void)
{
    pthread_atfork(list_enter, list_leave, let_go_in_child);
}

static void read_info(int fd, OwnerInfo *out)
{
    char text[128];
    memset(out, 0, sizeof *out);
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    if (got <= 0)
        return;
    text[got] = '\0';
    char *end = NULL;
    long long pid = strtoll(text, &end, 10);
    if (end == text || pid < 0 || *end != ' ')
        return;
    out->pid = pid;
    size_t length = strcspn(end + 1, "\n");
    snprintf(out->host, sizeof out->host, "%.*s", (int)(length < 64 ? length : 64), end + 1);
}

static void write_info(int fd)
{
    char host[65] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "unknown");
    char text[128];
    int length = snprintf(text, sizeof text, "%lld %s\n", (long long)getpid(), host);
    /* For people alone: the lock is what counts, so a full disk does not matter here. */
    if (fault_here("owner.write") || ftruncate(fd, 0) != 0 ||
        pwrite(fd, text, (size_t)length, 0) != length)
        log_item(OWNER_NOT_NAMED, strerror(errno));
}

static OwnerLock *list_find(dev_t device, ino_t inode)
{
    for (OwnerLock *lock = list; lock != NULL; lock = lock->next)
        if (lock->device == device && lock->inode == inode)
            return lock;
    return NULL;
}

/* Opens the file at `path`; a lock counts only on the file that has the name. */
static int open_lock_file(const char *path, struct stat *status)
{
    if (fault_here("owner.open")) {
        errno = EIO;
        return -1;
    }
    if (fault_here("owner.denied")) {
        errno = EACCES;
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    bool looked = fd >= 0 && fstat(fd, status) == 0;
    if (fd >= 0 && (!looked || !S_ISREG(status->st_mode))) {
        int failure = looked ? ENOTSUP : errno;
        close(fd);
        errno = failure;
        return -1;
    }
    return fd;
}

static bool has_the_name(const char *path, const struct stat *status)
{
    struct stat named;
    return stat(path, &named) == 0 && named.st_dev == status->st_dev &&
           named.st_ino == status->st_ino;
}

/* With the list held. */
static OwnerState take_file(const char *path, OwnerLock **out, OwnerInfo *other)
{
    enum { TRIES = 8 }; /* somebody keeps removing the file: give up */
    for (int i = 0; i < TRIES; i++) {
        struct stat status;
        int fd = open_lock_file(path, &status);
        if (fd < 0)
            return OWNER_STATE_FAILED;
        OwnerLock *mine = list_find(status.st_dev, status.st_ino);
        if (mine != NULL) {
            close(fd);
            mine->shares++;
            *out = mine;
            return OWNER_STATE_HELD;
        }
        FileLockState state = file_lock_try(fd, "owner.lock");
        if (state == FILE_LOCK_OTHER) {
            if (other != NULL)
                read_info(fd, other);
            close(fd);
            return OWNER_STATE_OTHER;
        }
        bool named = state == FILE_LOCK_HELD && has_the_name(path, &status);
        OwnerLock *lock = named ? malloc(sizeof *lock) : NULL;
        if (lock != NULL) {
            *lock = (OwnerLock){.fd = fd, .shares = 1, .next = list};
            lock->device = status.st_dev;
            lock->inode = status.st_ino;
            list = lock;
            *out = lock;
            write_info(fd);
            return OWNER_STATE_HELD;
        }
        int failure = named ? ENOMEM : errno;
        close(fd);
        errno = failure;
        if (state != FILE_LOCK_HELD || named)
            return OWNER_STATE_FAILED;
    }
    errno = ENOENT;
    return OWNER_STATE_FAILED;
}

/* The same failure again and again is one line, until the lock is taken. With the list held. */
static bool is_news(const char *path, int failure)
{
    static uint64_t said;
    uint64_t hash = 1469598103934665603u + (uint64_t)failure; /* FNV-1a */
    for (const char *at = path; failure != 0 && *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    bool news = failure != 0 && hash != said;
    said = failure != 0 ? hash : 0;
    return news;
}

OwnerState owner_lock_take(const char *data_root, OwnerLock **out, OwnerInfo *other)
{
    *out = NULL;
    pthread_once(&fork_once, watch_forks);
    char *path = paths_join(data_root, "owner.lock");
    if (path == NULL)
        return OWNER_STATE_FAILED;
    list_enter();
    OwnerState state = take_file(path, out, other);
    int failure = errno;
    bool news = is_news(path, state == OWNER_STATE_FAILED ? failure : 0);
    list_leave();
    if (news)
        log_item(OWNER_LOCK_FAILED, path, strerror(failure));
    free(path);
    errno = failure;
    return state;
}

void owner_lock_release(OwnerLock **lock)
{
    if (lock == NULL || *lock == NULL)
        return;
    list_enter();
    OwnerLock *given = *lock;
    if (--given->shares == 0) {
        for (OwnerLock **link = &list; *link != NULL; link = &(*link)->next) {
            if (*link == given) {
                *link = given->next;
                break;
            }
        }
        close(given->fd);
        free(given);
    }
    list_leave();
    *lock = NULL;
}

bool owner_lock_is_held(const char *data_root, OwnerInfo *owner)
{
    char *path = paths_join(data_root, "owner.lock");
    if (path == NULL)
        return false;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    free(path);
    if (fd < 0)
        return false;
    bool held = file_lock_is_held(fd);
    if (owner != NULL)
        read_info(fd, owner);
    close(fd);
    return held;
}
