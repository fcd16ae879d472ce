/* tensorscope/stamp.c: see stamp.h. Any thread. */
#include "stamp.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const int64_t tick_ns = 20000000; /* longer than any file system's */

static int64_t in_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

Stamp stamp_take(const char *path)
{
    Stamp stamp;
    struct stat status;
    struct timespec now;
    memset(&stamp, 0, sizeof(stamp));
    if (stat(path, &status) != 0) {
        return stamp;
    }
    stamp.exists = true;
    stamp.device = (uint64_t)status.st_dev;
    stamp.inode = (uint64_t)status.st_ino;
    stamp.size_bytes = (uint64_t)status.st_size;
    stamp.modified_ns = in_ns(status.st_mtim);
    stamp.changed_ns = in_ns(status.st_ctim);
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age_ns = in_ns(now) - stamp.changed_ns;
    stamp.fresh = age_ns > -tick_ns && age_ns < tick_ns;
    return stamp;
}

bool stamp_same(const Stamp *a, const Stamp *b)
{
    return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
           a->size_bytes == b->size_bytes && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns;
}
