/* The file of run numbers: see run_ids.h.
 *
 * Two slots, 512 bytes apart, each {magic, next, checksum}; a write goes to the slot that does not
 * hold the newest number, so that one which is torn loses nothing. */
#include "store/metrics/run_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/paths.h"
#include "store/file_lock.h"
#include "store/metrics/checksum.h"
#include "store/metrics/disk.h"

#define IDS_MAGIC UINT64_C(0x3130736469706c63) /* "clpids01" */
enum { SLOT_STEP_BYTES = 512, LOCK_WAIT_MS = 5000, RETURN_WAIT_MS = 100 };

typedef struct IdSlot {
    uint64_t magic, next, serial; /* serial: the newer slot has the higher one */
    uint32_t checksum;            /* of what is before it */
    uint32_t reserved;
} IdSlot;

typedef struct IdFile {
    int fd;
    IdSlot newest; /* magic 0: there is none */
    uint32_t write_to;
} IdFile;

static uint32_t slot_checksum(const IdSlot *slot)
{
    return checksum_add(0, slot, offsetof(IdSlot, checksum));
}

static bool read_slots(IdFile *file)
{
    memset(&file->newest, 0, sizeof file->newest);
    file->write_to = 0;
    for (uint32_t i = 0; i < 2; i++) {
        IdSlot slot;
        int64_t got = disk_read_at(file->fd, &slot, sizeof slot, (uint64_t)i * SLOT_STEP_BYTES,
                                   "metrics.ids.read");
        if (got < 0)
            return false;
        if (got == (int64_t)sizeof slot && slot.magic == IDS_MAGIC &&
            slot.checksum == slot_checksum(&slot) && slot.serial > file->newest.serial) {
            file->newest = slot;
            file->write_to = 1 - i;
        }
    }
    return true;
}

static bool write_slot(IdFile *file, uint64_t next)
{
    IdSlot slot = {.magic = IDS_MAGIC, .next = next, .serial = file->newest.serial + 1};
    slot.checksum = slot_checksum(&slot);
    return disk_write_at(file->fd, &slot, sizeof slot, (uint64_t)file->write_to * SLOT_STEP_BYTES,
                         "metrics.ids.write") &&
           disk_sync(file->fd, "metrics.ids.sync");
}

static bool open_file(const char *path, IdFile *file, int wait_ms)
{
    file->fd = disk_open_to_lock(path, O_RDWR | O_CREAT, "metrics.ids.open");
    if (file->fd < 0)
        return false;
    FileLockState lock = file_lock_wait(file->fd, "metrics.ids.lock", wait_ms);
    if (lock == FILE_LOCK_OTHER)
        errno = EBUSY;
    if (lock == FILE_LOCK_HELD && read_slots(file))
        return true;
    int failure = errno;
    file_lock_close(file->fd);
    file->fd = -1;
    errno = failure;
    return false;
}

/* The end of what open_file began, well or not: a failure is one line, and errno is why. Frees
 * `path`. */
static bool close_file(char *path, const IdFile *file, bool ok)
{
    if (!ok)
        log_item(METRICS_IDS_FAILED, path, strerror(errno));
    if (file->fd >= 0)
        file_lock_close(file->fd);
    free(path);
    return ok;
}

/* Where to begin when no slot can be read. */
static uint64_t first_number(const char *data_root)
{
    char *database = paths_join(data_root, "metrics.duckdb");
    bool fresh = database != NULL && access(database, F_OK) != 0 && errno == ENOENT;
    free(database);
    return fresh ? 1 : (uint64_t)disk_wall_us();
}

/* Both slots, the first one filled. */
static bool write_new_file(IdFile *file, const char *data_root)
{
    static const char empty[SLOT_STEP_BYTES * 2];
    return disk_write_at(file->fd, empty, sizeof empty, 0, "metrics.ids.write") &&
           write_slot(file, first_number(data_root)) &&
           disk_sync_folder(data_root, "metrics.ids.sync");
}

bool run_ids_prepare(const char *data_root)
{
    char *path = paths_join(data_root, "metrics.ids");
    if (path == NULL)
        return false;
    IdFile file;
    bool ok = open_file(path, &file, LOCK_WAIT_MS);
    if (ok && file.newest.magic == 0)
        ok = write_new_file(&file, data_root);
    return close_file(path, &file, ok);
}

bool run_ids_reserve(const char *data_root, uint64_t at_least, uint64_t count, RunIdBlock *out)
{
    char *path = paths_join(data_root, "metrics.ids");
    if (path == NULL)
        return false;
    IdFile file;
    bool ok = open_file(path, &file, LOCK_WAIT_MS);
    if (ok) {
        bool is_new = file.newest.magic == 0;
        uint64_t first = is_new ? first_number(data_root) : file.newest.next;
        if (first < at_least)
            first = at_least;
        ok = write_slot(&file, first + count) &&
             (!is_new || disk_sync_folder(data_root, "metrics.ids.sync"));
        *out = (RunIdBlock){.first = first, .end = first + count};
    }
    return close_file(path, &file, ok);
}

bool run_ids_raise(const char *data_root, uint64_t at_least, bool *raised)
{
    *raised = false;
    char *path = paths_join(data_root, "metrics.ids");
    if (path == NULL)
        return false;
    IdFile file;
    bool ok = open_file(path, &file, LOCK_WAIT_MS);
    if (ok && file.newest.magic != 0 && file.newest.next < at_least) {
        ok = write_slot(&file, at_least);
        *raised = ok;
    }
    return close_file(path, &file, ok);
}

void run_ids_return(const char *data_root, RunIdBlock unused)
{
    if (unused.first >= unused.end)
        return;
    char *path = paths_join(data_root, "metrics.ids");
    IdFile file;
    if (path != NULL && open_file(path, &file, RETURN_WAIT_MS)) {
        if (file.newest.magic != 0 && file.newest.next == unused.end)
            write_slot(&file, unused.first);
        file_lock_close(file.fd);
    }
    free(path);
}
