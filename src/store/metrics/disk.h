/* store/metrics/disk.h: whole reads and writes, and what makes names durable.
 *
 * For src/store/metrics/ alone. Each function asks core/fault with the `site` it is given and on
 * failure answers false with errno set; nothing is logged. Any thread that may wait. */
#ifndef CALIPER_STORE_METRICS_DISK_H
#define CALIPER_STORE_METRICS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new file descriptor, or -1. */
int disk_open(const char *path, int flags, const char *site);
/* The same for a file to be locked (file_lock.h); file_lock_close ends it. */
int disk_open_to_lock(const char *path, int flags, const char *site);
bool disk_write_at(int fd, const void *bytes, size_t length, uint64_t offset, const char *site);
/* As many bytes as there are, at most `length`: -1 on failure. */
int64_t disk_read_at(int fd, void *bytes, size_t length, uint64_t offset, const char *site);
/* fdatasync, and of a folder so that names in it are durable. */
bool disk_sync(int fd, const char *site);
bool disk_sync_folder(const char *path, const char *site);
bool disk_rename(const char *from, const char *to, const char *site);

/* Microseconds since 1970, UTC. */
int64_t disk_wall_us(void);

#endif
