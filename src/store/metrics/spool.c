/* Writing spool files: see spool.h. A frame is written at the end that is known to be good, so that
 * one which failed half-way is written over by the next try. */
#include "store/metrics/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/paths.h"
#include "store/file_lock.h"
#include "store/metrics/disk.h"
#include "store/metrics/row.h"
#include "store/metrics/spool_impl.h"

void spool_file_name(const SpoolEntry *entry, char out[SPOOL_NAME_BYTES])
{
    snprintf(out, SPOOL_NAME_BYTES, "%s-%06u.spool", entry->session, entry->number);
}

bool spool_writer_init(SpoolWriter *spool, const char *data_root, const char *session)
{
    *spool = (SpoolWriter){.session_fd = -1, .fd = -1};
    snprintf(spool->session, sizeof spool->session, "%s", session);
    spool->folder = paths_join(data_root, "spool");
    return spool->folder != NULL;
}

/* The next file of the session. Nobody takes it away while the session lives. */
static bool begin_file(SpoolWriter *spool)
{
    if (spool->session_fd < 0)
        spool->session_fd = session_announce(spool->folder, spool->session);
    if (spool->session_fd < 0)
        return false;
    SpoolEntry entry = {.number = spool->number + 1};
    memcpy(entry.session, spool->session, sizeof entry.session);
    char name[SPOOL_NAME_BYTES];
    spool_file_name(&entry, name);
    char *path = paths_join(spool->folder, name);
    if (path == NULL) {
        errno = ENOMEM;
        return false;
    }
    int fd = disk_open(path, O_RDWR | O_CREAT, "metrics.spool.open");
    free(path);
    SpoolFileHeader header = {.magic = SPOOL_MAGIC, .row_header_bytes = ROW_HEADER_BYTES};
    header.checksum = spool_header_checksum(&header);
    if (fd >= 0 && disk_write_at(fd, &header, sizeof header, 0, "metrics.spool.write") &&
        disk_sync_folder(spool->folder, "metrics.spool.sync")) {
        spool->fd = fd;
        spool->number++;
        spool->has_files = true;
        spool->end_bytes = SPOOL_FILE_HEADER_BYTES;
        return true;
    }
    int failure = errno;
    if (fd >= 0)
        close(fd);
    errno = failure;
    return false;
}

bool spool_write(SpoolWriter *spool, const void *rows, uint64_t length_bytes)
{
    if (spool->fd >= 0 && spool->end_bytes >= SPOOL_FILE_BYTES && spool_sync(spool)) {
        close(spool->fd);
        spool->fd = -1;
    }
    if (spool->fd < 0 && !begin_file(spool))
        return false;
    SpoolFrame frame = {.magic = SPOOL_FRAME_MAGIC,
                        .rows_checksum = checksum_add(0, rows, (size_t)length_bytes),
                        .rows_bytes = length_bytes};
    frame.checksum = spool_frame_checksum(&frame);
    /* The header last: a reader never sees it in front of bytes that are not there yet. */
    if (!disk_write_at(spool->fd, rows, (size_t)length_bytes, spool->end_bytes + sizeof frame,
                       "metrics.spool.write") ||
        !disk_write_at(spool->fd, &frame, sizeof frame, spool->end_bytes, "metrics.spool.write"))
        return false;
    spool->end_bytes += sizeof frame + length_bytes;
    spool->unsynced = true;
    return true;
}

bool spool_sync(SpoolWriter *spool)
{
    if (!spool->unsynced)
        return true;
    if (!disk_sync(spool->fd, "metrics.spool.sync"))
        return false;
    spool->unsynced = false;
    return true;
}

SpoolPlace spool_place(const SpoolWriter *spool)
{
    return (SpoolPlace){.number = spool->number, .end_bytes = spool->end_bytes};
}

/* The first frame since may have begun a file. */
void spool_rewind(SpoolWriter *spool, SpoolPlace place)
{
    spool->end_bytes = spool->number == place.number ? place.end_bytes : SPOOL_FILE_HEADER_BYTES;
}

void spool_writer_end_session(SpoolWriter *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    /* A session without a file leaves nothing for the owner to find. */
    if (spool->session_fd >= 0 && !spool->has_files)
        session_withdraw(spool->folder, spool->session, spool->session_fd);
    else if (spool->session_fd >= 0)
        file_lock_close(spool->session_fd);
    spool->fd = spool->session_fd = -1;
    spool->has_files = spool->unsynced = false;
}

void spool_writer_finish(SpoolWriter *spool)
{
    spool_writer_end_session(spool);
    free(spool->folder);
    spool->folder = NULL;
}
