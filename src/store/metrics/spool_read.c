/* Finding and reading spool files: see spool.h. Every length is checked before it is believed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/paths.h"
#include "store/metrics/disk.h"
#include "store/metrics/row.h"
#include "store/metrics/spool_impl.h"

enum { NUMBER_DIGITS = 6 };

/* False: not a file of ours. */
static bool entry_of_name(const char *name, SpoolEntry *out)
{
    size_t session_length = SESSION_NAME_BYTES - 1;
    if (strlen(name) <= session_length || !session_name_valid(name, session_length))
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out->session, name, session_length);
    const char *rest = name + session_length;
    if (strcmp(rest, ".session") == 0)
        return true;
    if (*rest++ != '-')
        return false;
    size_t digits = strspn(rest, "0123456789");
    if (digits < NUMBER_DIGITS || digits > 9 || strcmp(rest + digits, ".spool") != 0)
        return false;
    out->number = (uint32_t)strtoul(rest, NULL, 10);
    return out->number > 0;
}

static bool list_add(SpoolList *list, const SpoolEntry *entry)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        SpoolEntry *larger = fault_here("metrics.spool.alloc")
                                 ? NULL
                                 : realloc(list->entries, capacity * sizeof *larger);
        if (larger == NULL) {
            errno = ENOMEM;
            return false;
        }
        list->entries = larger;
        list->capacity = capacity;
    }
    list->entries[list->count++] = *entry;
    return true;
}

static int by_session_and_number(const void *left, const void *right)
{
    const SpoolEntry *a = left;
    const SpoolEntry *b = right;
    int order = strcmp(a->session, b->session);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

bool spool_list(const char *folder, SpoolList *list)
{
    *list = (SpoolList){0};
    if (fault_here("metrics.spool.list")) {
        errno = EIO;
        return false;
    }
    DIR *names = opendir(folder);
    if (names == NULL)
        return errno == ENOENT;
    bool ok = true;
    errno = 0;
    for (struct dirent *name = readdir(names); ok && name != NULL; name = readdir(names)) {
        SpoolEntry entry;
        ok = !entry_of_name(name->d_name, &entry) || list_add(list, &entry);
    }
    int failure = errno;
    closedir(names);
    if (ok && list->count > 1)
        qsort(list->entries, list->count, sizeof *list->entries, by_session_and_number);
    if (!ok)
        spool_list_finish(list);
    errno = failure;
    return ok;
}

void spool_list_finish(SpoolList *list)
{
    free(list->entries);
    *list = (SpoolList){0};
}

bool spool_reader_open(SpoolReader *reader, const char *folder, const char *file, uint64_t at_bytes)
{
    *reader = (SpoolReader){.fd = -1};
    char *path = paths_join(folder, file);
    if (path == NULL) {
        errno = ENOMEM;
        return false;
    }
    reader->fd = disk_open(path, O_RDONLY, "metrics.spool.read");
    free(path);
    reader->at_bytes = at_bytes < SPOOL_FILE_HEADER_BYTES ? SPOOL_FILE_HEADER_BYTES : at_bytes;
    return reader->fd >= 0;
}

static uint64_t file_bytes(const SpoolReader *reader)
{
    struct stat status;
    return fstat(reader->fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static bool make_room(SpoolReader *reader, uint64_t bytes)
{
    if (bytes <= reader->rows_capacity_bytes)
        return true;
    uint8_t *larger =
        fault_here("metrics.spool.room") ? NULL : realloc(reader->rows, (size_t)bytes);
    if (larger == NULL)
        return false;
    reader->rows = larger;
    reader->rows_capacity_bytes = bytes;
    return true;
}

SpoolRead spool_reader_next(SpoolReader *reader)
{
    SpoolFileHeader header;
    SpoolFrame frame;
    int64_t got = disk_read_at(reader->fd, &header, sizeof header, 0, "metrics.spool.read");
    if (got < 0)
        return SPOOL_READ_FAILED;
    if (got < (int64_t)sizeof header || header.magic != SPOOL_MAGIC ||
        header.row_header_bytes != ROW_HEADER_BYTES ||
        header.checksum != spool_header_checksum(&header))
        return SPOOL_READ_END;
    got = disk_read_at(reader->fd, &frame, sizeof frame, reader->at_bytes, "metrics.spool.read");
    if (got < 0)
        return SPOOL_READ_FAILED;
    uint64_t available = file_bytes(reader);
    if (got < (int64_t)sizeof frame || frame.magic != SPOOL_FRAME_MAGIC ||
        frame.checksum != spool_frame_checksum(&frame) ||
        available < reader->at_bytes + sizeof frame ||
        frame.rows_bytes > available - reader->at_bytes - sizeof frame)
        return SPOOL_READ_END;
    if (!make_room(reader, frame.rows_bytes)) {
        reader->no_room_bytes = sizeof frame + frame.rows_bytes;
        return SPOOL_READ_NO_ROOM;
    }
    got = disk_read_at(reader->fd, reader->rows, (size_t)frame.rows_bytes,
                       reader->at_bytes + sizeof frame, "metrics.spool.read");
    if (got != (int64_t)frame.rows_bytes)
        return got < 0 ? SPOOL_READ_FAILED : SPOOL_READ_END;
    bool whole = checksum_add(0, reader->rows, (size_t)frame.rows_bytes) == frame.rows_checksum;
    reader->rows_bytes = whole ? frame.rows_bytes : 0;
    reader->at_bytes += sizeof frame + frame.rows_bytes;
    return whole ? SPOOL_READ_FRAME : SPOOL_READ_DAMAGED;
}

void spool_reader_pass(SpoolReader *reader)
{
    reader->at_bytes += reader->no_room_bytes;
    reader->no_room_bytes = 0;
}

bool spool_reader_has_rest(const SpoolReader *reader)
{
    return file_bytes(reader) > reader->at_bytes;
}

void spool_reader_close(SpoolReader *reader)
{
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->rows);
    *reader = (SpoolReader){.fd = -1};
}
