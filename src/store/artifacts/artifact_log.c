/* index.log on the disk: reading what was appended, appending under the lock, mending a torn line,
 * writing it anew. Thread rule: each function says which lock it wants. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/artifacts/artifact_store_impl.h"

enum { READ_BYTES = 64 << 10 };

static void log_path(const ArtifactStore *store, char out[ARTIFACT_PATH_BYTES])
{
    artifact_inner_path(store, "index.log", out);
}

/* ---- Reading ---- */

static void forget_rows(ArtifactStore *store)
{
    artifact_index_finish(&store->index);
    store->log_read = 0;
    store->tail_used = 0;
    store->damaged_told = 0;
    store->generation++;
}

static void forget_file(ArtifactStore *store)
{
    artifact_close(&store->log_fd);
    forget_rows(store);
}

static void keep_tail(ArtifactStore *store, const char *bytes, size_t size_bytes)
{
    size_t some = size_bytes < ARTIFACT_TAIL_BYTES ? size_bytes : ARTIFACT_TAIL_BYTES;
    size_t old = store->tail_used + some > ARTIFACT_TAIL_BYTES ? ARTIFACT_TAIL_BYTES - some
                                                               : store->tail_used;
    memmove(store->tail, store->tail + store->tail_used - old, old);
    memcpy(store->tail + old, bytes + size_bytes - some, some);
    store->tail_used = (uint32_t)(old + some);
}

/* Whether the file still ends, where we stopped reading, in what we read: a put whose flush failed
 * takes its line back. -1 with `error`. */
static int tail_is_same(ArtifactStore *store, const char *path, ArtifactError *error)
{
    char now[ARTIFACT_TAIL_BYTES];
    int64_t got = artifact_read_at(store->log_fd, path, now, store->tail_used,
                                   store->log_read - store->tail_used, error);
    if (got < 0)
        return -1;
    return got == (int64_t)store->tail_used && memcmp(now, store->tail, (size_t)got) == 0;
}

/* Opens the file that has the name now, if it is not the one that was read so far. */
static bool follow_file(ArtifactStore *store, const char *path, const struct stat *status,
                        ArtifactError *error)
{
    struct stat opened;
    if (store->log_fd >= 0 && store->log_device == status->st_dev &&
        store->log_file == status->st_ino)
        return true;
    forget_file(store);
    store->log_fd = artifact_open(path, O_RDONLY, 0, error);
    if (store->log_fd < 0)
        return false;
    if (fstat(store->log_fd, &opened) != 0)
        return artifact_error_set(error, errno, "cannot look at", path);
    store->log_device = opened.st_dev;
    store->log_file = opened.st_ino;
    return true;
}

static bool feed_appended(ArtifactStore *store, const char *path, ArtifactError *error)
{
    char stack[4096]; /* enough for what is appended between two calls */
    char *buffer = stack;
    size_t size = sizeof stack;
    int64_t got;
    bool fed = true;
    do {
        got = artifact_read_at(store->log_fd, path, buffer, size, store->log_read, error);
        if (got > 0) {
            fed = artifact_index_feed(&store->index, buffer, (size_t)got);
            keep_tail(store, buffer, (size_t)got);
            store->log_read += (uint64_t)got;
        }
        if (buffer == stack && got == (int64_t)size) {
            char *larger = malloc(READ_BYTES);
            buffer = larger != NULL ? larger : stack;
            size = larger != NULL ? READ_BYTES : sizeof stack;
        }
    } while (fed && got > 0);
    if (buffer != stack)
        free(buffer);
    if (!fed) {
        forget_file(store);
        return artifact_error_set(error, ENOMEM, "cannot hold", path);
    }
    return got == 0;
}

static void tell_damage(ArtifactStore *store, const char *path)
{
    if (store->index.damaged <= store->damaged_told)
        return;
    store->damaged_told = store->index.damaged;
    log_item(ARTIFACT_LINES_DAMAGED, (unsigned long long)store->index.damaged, path,
             (unsigned long long)store->index.damaged_line);
}

/* True when the store's folder is one, or not there: a store that is empty. */
static bool folder_can_be(const ArtifactStore *store, ArtifactError *error)
{
    struct stat status;
    if (stat(store->folder, &status) == 0)
        return S_ISDIR(status.st_mode) ||
               artifact_error_set(error, 0, "wanted a folder, given something else at",
                                  store->folder);
    return errno == ENOENT || artifact_error_set(error, errno, "cannot look at", store->folder);
}

bool artifact_log_refresh(ArtifactStore *store, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    struct stat status;
    log_path(store, path);
    int found = artifact_stat(path, &status, error);
    if (found < 0)
        return false;
    if (found == 0) {
        if (store->log_fd >= 0)
            forget_file(store);
        /* What is there and no file is not a log without lines. */
        if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
            return artifact_error_set(error, 0, "wanted a file, given something else at", path);
        return folder_can_be(store, error);
    }
    if (!follow_file(store, path, &status, error))
        return false;
    int same = (uint64_t)status.st_size < store->log_read ? 0 : tail_is_same(store, path, error);
    if (same < 0)
        return false;
    if (same == 0)
        forget_rows(store);
    if ((uint64_t)status.st_size == store->log_read)
        return true;
    bool fed = feed_appended(store, path, error);
    tell_damage(store, path);
    return fed;
}

/* ---- The lock ---- */

int artifact_log_lock(ArtifactStore *store, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    artifact_inner_path(store, "index.lock", path);
    int fd = artifact_open_to_lock(path, O_RDWR | O_CREAT, 0600, error);
    if (fd >= 0 && !artifact_lock(fd, path, true, error))
        artifact_close_locked(&fd);
    return fd;
}

void artifact_log_unlock(int *lock_fd)
{
    artifact_close_locked(lock_fd);
}

/* ---- Appending ---- */

/* The offset after the last newline of a file of `size` bytes; -1 with `error`. */
static int64_t end_of_lines(int fd, const char *path, uint64_t size, ArtifactError *error)
{
    char buffer[4096];
    while (size > 0) {
        uint64_t some = size < sizeof buffer ? size : sizeof buffer;
        int64_t got = artifact_read_at(fd, path, buffer, (size_t)some, size - some, error);
        if (got < 0)
            return -1;
        const char *newline = memrchr(buffer, '\n', (size_t)got);
        if (newline != NULL)
            return (int64_t)(size - some) + (newline - buffer) + 1;
        size -= some;
    }
    return 0;
}

/* Whether the bytes from `begin` to the end are a line that lacks its newline. */
static bool torn_line_is_whole(int fd, const char *path, uint64_t begin, uint64_t size)
{
    ArtifactError ignored = {0};
    bool whole = false;
    if (size - begin >= ARTIFACT_LINE_MAX_BYTES)
        return false;
    char *text = malloc((size_t)(size - begin) + 1);
    ArtifactLine *line = malloc(sizeof *line);
    if (text != NULL && line != NULL) {
        int64_t got = artifact_read_at(fd, path, text, (size_t)(size - begin), begin, &ignored);
        whole = got == (int64_t)(size - begin) && artifact_line_read(text, (size_t)got, line);
    }
    free(line);
    free(text);
    return whole;
}

/* Mends the torn line of an open log; `size` is its length before and after. */
static bool mend(int fd, const char *path, uint64_t *size, ArtifactError *error)
{
    int64_t begin = end_of_lines(fd, path, *size, error);
    if (begin < 0)
        return false;
    if ((uint64_t)begin == *size)
        return true;
    bool whole = torn_line_is_whole(fd, path, (uint64_t)begin, *size);
    if (whole ? !artifact_write_all(fd, path, "\n", 1, error)
              : !artifact_truncate(fd, path, (uint64_t)begin, error))
        return false;
    log_item(ARTIFACT_LINE_MENDED, path, (unsigned long long)(*size - (uint64_t)begin),
             whole ? "it was whole but for its end, and counts" : "its put never ended; cut off");
    *size = whole ? *size + 1 : (uint64_t)begin;
    return true;
}

/* The log, made if it is missing, with its length; -1 with `error`. */
static int open_log(ArtifactStore *store, char path[ARTIFACT_PATH_BYTES], uint64_t *size,
                    ArtifactError *error)
{
    struct stat status;
    log_path(store, path);
    int fd = artifact_open(path, O_RDWR | O_APPEND | O_CREAT, 0600, error);
    if (fd >= 0 && fstat(fd, &status) != 0) {
        artifact_error_set(error, errno, "cannot look at", path);
        artifact_close(&fd);
    }
    if (fd >= 0)
        *size = (uint64_t)status.st_size;
    return fd;
}

bool artifact_log_mend(ArtifactStore *store, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    uint64_t size = 0;
    int fd = open_log(store, path, &size, error);
    bool mended = fd >= 0 && mend(fd, path, &size, error);
    artifact_close(&fd);
    return mended;
}

bool artifact_log_append(ArtifactStore *store, const ArtifactLine *line, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    uint64_t size = 0;
    char *text = fault_here("artifacts.alloc") ? NULL : malloc(ARTIFACT_LINE_MAX_BYTES);
    bool appended = false;
    if (text == NULL)
        return artifact_error_set(error, ENOMEM, "cannot write a line of", store->folder);
    size_t length = artifact_line_write(line, text);
    int fd = open_log(store, path, &size, error);
    if (fd < 0 || !mend(fd, path, &size, error))
        goto done;
    appended = artifact_write_all(fd, path, text, length, error) &&
               artifact_sync(fd, path, error) &&
               (size > 0 || artifact_sync_folder(store->folder, error));
    if (!appended) {
        ArtifactError ignored = {0};
        if (artifact_truncate(fd, path, size, &ignored))
            artifact_sync(fd, path, &ignored);
    }
done:
    artifact_close(&fd);
    free(text);
    return appended;
}

/* ---- Writing it anew ---- */

bool artifact_log_is_lost(ArtifactStore *store)
{
    char path[ARTIFACT_PATH_BYTES];
    struct stat status;
    log_path(store, path);
    return stat(path, &status) == 0 ? status.st_size == 0 : errno == ENOENT;
}

typedef struct Copy { /* the good lines of a log on their way into another */
    int from, to;
    const char *to_path;
    char *text; /* READ_BYTES */
    ArtifactLine *line;
    uint64_t damaged;
} Copy;

static bool copy_line(Copy *copy, const char *text, size_t length, ArtifactError *error)
{
    if (!artifact_line_read(text, length, copy->line)) {
        copy->damaged++;
        return true;
    }
    return artifact_write_all(copy->to, copy->to_path, text, length, error) &&
           artifact_write_all(copy->to, copy->to_path, "\n", 1, error);
}

/* Line by line; what follows the last newline counts if it is whole. */
static bool copy_good_lines(Copy *copy, const char *path, ArtifactError *error)
{
    uint64_t offset = 0;
    for (;;) {
        int64_t got = artifact_read_at(copy->from, path, copy->text, READ_BYTES, offset, error);
        if (got <= 0)
            return got == 0;
        const char *newline = memchr(copy->text, '\n', (size_t)got);
        if (newline == NULL && got == READ_BYTES) {
            /* No line is that long: pass over it. */
            copy->damaged++;
            do {
                offset += (uint64_t)got;
                got = artifact_read_at(copy->from, path, copy->text, READ_BYTES, offset, error);
                newline = got > 0 ? memchr(copy->text, '\n', (size_t)got) : NULL;
            } while (got > 0 && newline == NULL);
            if (got < 0)
                return false;
            offset += newline != NULL ? (uint64_t)(newline - copy->text) + 1 : 0;
            continue;
        }
        size_t begin = 0;
        while (newline != NULL) {
            size_t length = (size_t)(newline - copy->text) - begin;
            if (!copy_line(copy, copy->text + begin, length, error))
                return false;
            begin += length + 1;
            newline = memchr(copy->text + begin, '\n', (size_t)got - begin);
        }
        if (got < READ_BYTES) { /* the end */
            return (size_t)got == begin ||
                   copy_line(copy, copy->text + begin, (size_t)got - begin, error);
        }
        offset += begin;
    }
}

static bool write_recovered(const Copy *copy, const ArtifactFound *found, size_t count,
                            ArtifactError *error)
{
    char *text = malloc(ARTIFACT_LINE_MAX_BYTES);
    bool written = text != NULL || artifact_error_set(error, ENOMEM, "cannot write", copy->to_path);
    for (size_t i = 0; written && i < count; i++) {
        char digest[ARTIFACT_DIGEST_TEXT_BYTES];
        artifact_digest_text(&found[i].digest, digest);
        copy->line->digest = found[i].digest;
        copy->line->run = 0;
        copy->line->size_bytes = found[i].size_bytes;
        copy->line->created_us = found[i].changed_us;
        snprintf(copy->line->name, sizeof copy->line->name, "recovered/%s", digest);
        written = artifact_write_all(copy->to, copy->to_path, text,
                                     artifact_line_write(copy->line, text), error);
    }
    free(text);
    return written;
}

/* A name for what the log was, beside it. */
static bool keep_old_log(ArtifactStore *store, const char *path, ArtifactError *error)
{
    char kept[ARTIFACT_PATH_BYTES];
    char name[64];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "index.log.damaged-%lld-%u", (long long)time(NULL), i);
        artifact_inner_path(store, name, kept);
        if (link(path, kept) == 0) {
            log_item(ARTIFACT_LOG_KEPT, path, kept);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return artifact_error_set(error, errno, "cannot keep the damaged log as", kept);
}

bool artifact_log_rewrite(ArtifactStore *store, const ArtifactFound *found, size_t count,
                          ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    uint64_t size = 0;
    ArtifactTemporary temporary;
    bool done = false;
    Copy copy = {.from = -1, .to = -1};
    if (!artifact_temporary_begin(store, &temporary, error))
        return false;
    copy.from = open_log(store, path, &size, error);
    copy.to = temporary.fd;
    copy.to_path = temporary.path;
    copy.text = malloc(READ_BYTES);
    copy.line = malloc(sizeof *copy.line);
    if (copy.from < 0)
        goto done;
    if (copy.text == NULL || copy.line == NULL) {
        artifact_error_set(error, ENOMEM, "cannot write", path);
        goto done;
    }
    done = copy_good_lines(&copy, path, error) && write_recovered(&copy, found, count, error) &&
           artifact_sync(copy.to, copy.to_path, error) &&
           (copy.damaged == 0 || keep_old_log(store, path, error)) &&
           artifact_rename_over(temporary.path, path, error) &&
           artifact_sync_folder(store->folder, error);
done:
    free(copy.text);
    free(copy.line);
    artifact_close(&copy.from);
    artifact_temporary_end(&temporary, done);
    return done;
}
