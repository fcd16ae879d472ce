/* Copies of the database: see snapshot.h. The name appears when the bytes are on disk; its time of
 * change is the time of the checkpoint, which is what readers show as its age. */
#include "store/metrics/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/paths.h"
#include "store/metrics/disk.h"

enum { PIECE_BYTES = 1 << 20 };

bool snapshot_init(Snapshot *snapshot, const char *folder, const char *path)
{
    memset(snapshot, 0, sizeof *snapshot);
    size_t bytes = strlen(path) + 8;
    snapshot->folder = strdup(folder);
    snapshot->path = strdup(path);
    snapshot->temporary_path = malloc(bytes);
    if (snapshot->temporary_path != NULL)
        snprintf(snapshot->temporary_path, bytes, "%s.new", path);
    return snapshot->folder != NULL && snapshot->path != NULL && snapshot->temporary_path != NULL;
}

void snapshot_finish(Snapshot *snapshot)
{
    bool ended = false;
    snapshot_end(snapshot, 0, &ended);
    free(snapshot->temporary_path);
    free(snapshot->path);
    free(snapshot->folder);
    memset(snapshot, 0, sizeof *snapshot);
}

static bool copy_bytes(Snapshot *snapshot, int from, int to)
{
    struct stat status;
    if (fstat(from, &status) != 0)
        return false;
    uint8_t *piece = fault_here("metrics.snapshot.alloc") ? NULL : malloc(PIECE_BYTES);
    if (piece == NULL) {
        errno = ENOMEM;
        return false;
    }
    bool ok = true;
    for (uint64_t at = 0; ok && at < (uint64_t)status.st_size;) {
        int64_t got = disk_read_at(from, piece, PIECE_BYTES, at, "metrics.snapshot.read");
        ok = got > 0 && disk_write_at(to, piece, (size_t)got, at, "metrics.snapshot.write");
        if (got == 0)
            errno = EIO;
        at += got > 0 ? (uint64_t)got : 0;
        if (ok && atomic_load(&snapshot->stop)) {
            ok = false;
            errno = ECANCELED;
        }
    }
    int failure = errno;
    free(piece);
    errno = failure;
    return ok;
}

static bool copy_file(Snapshot *snapshot)
{
    int to =
        disk_open(snapshot->temporary_path, O_WRONLY | O_CREAT | O_TRUNC, "metrics.snapshot.open");
    if (to < 0)
        return false;
    struct timespec times[2];
    times[0].tv_sec = times[1].tv_sec = snapshot->made_us / 1000000;
    times[0].tv_nsec = times[1].tv_nsec = snapshot->made_us % 1000000 * 1000;
    bool ok = copy_bytes(snapshot, snapshot->fd, to) && futimens(to, times) == 0 &&
              disk_sync(to, "metrics.snapshot.sync");
    int failure = errno;
    close(to);
    if (ok) {
        ok = disk_rename(snapshot->temporary_path, snapshot->path, "metrics.snapshot.rename");
        failure = errno;
    }
    if (!ok)
        unlink(snapshot->temporary_path);
    errno = failure;
    return ok;
}

static void *copy_main(void *user)
{
    Snapshot *snapshot = user;
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    errno = 0;
    snapshot->failure = copy_file(snapshot) ? 0 : (errno != 0 ? errno : EIO);
    clock_gettime(CLOCK_MONOTONIC, &after);
    snapshot->took_ns =
        (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
    atomic_store(&snapshot->ended, true);
    return NULL;
}

bool snapshot_begin(Snapshot *snapshot, int fd)
{
    snapshot->fd = fd;
    snapshot->made_us = disk_wall_us();
    atomic_store(&snapshot->ended, false);
    atomic_store(&snapshot->stop, false);
    snapshot->has_thread = !fault_here("metrics.snapshot.thread") &&
                           pthread_create(&snapshot->thread, NULL, copy_main, snapshot) == 0;
    return snapshot->has_thread;
}

bool snapshot_runs(Snapshot *snapshot, bool *ended)
{
    *ended = false;
    if (!snapshot->has_thread)
        return false;
    if (!atomic_load(&snapshot->ended))
        return true;
    pthread_join(snapshot->thread, NULL);
    snapshot->has_thread = false;
    *ended = true;
    return false;
}

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void snapshot_end(Snapshot *snapshot, int64_t deadline_ns, bool *ended)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (snapshot_runs(snapshot, ended)) {
        if (monotonic_ns() >= deadline_ns)
            atomic_store(&snapshot->stop, true);
        nanosleep(&pause, NULL);
    }
}
