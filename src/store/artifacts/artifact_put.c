/* Putting a blob: bytes to a temporary, hashed on the way; then, under index.lock, the temporary
 * gets its name and the index its line. Any thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/artifacts/artifact_pipe.h"
#include "store/artifacts/artifact_store_impl.h"

enum {
    WHOLE_BYTES_MAX = 512 << 10, /* blobs up to this are hashed before anything is written */
    EARLY_WRITE_BYTES = 8 << 20, /* how much is handed to the disk at once, ahead of the flush */
    COMPARE_BYTES = 256 << 10,
    TRIES = 16
};

typedef struct Put {
    ArtifactStore *store;
    const uint8_t *bytes; /* the caller's */
    uint8_t *copy;        /* of a small blob, owned; else NULL */
    ArtifactLine line;
    char folder[ARTIFACT_PATH_BYTES], path[ARTIFACT_PATH_BYTES];
    ArtifactTemporary temporary;
    bool written, flushed; /* the temporary holds the bytes; they are on the disk */
    bool linked;           /* the blob's name is this put's doing */
    ArtifactError error;
} Put;

/* What is at the blob's place. */
typedef enum PlaceState {
    PLACE_EMPTY = 0,
    PLACE_SAME = 1,   /* the same bytes */
    PLACE_BROKEN = 2, /* other bytes: damaged */
    PLACE_UNKNOWN = 3 /* with an error */
} PlaceState;

typedef struct Place {
    PlaceState state;
    struct stat status; /* of what is there */
} Place;

/* ---- Folders ---- */

static bool make_folders(Put *put)
{
    ArtifactStore *store = put->store;
    char path[ARTIFACT_PATH_BYTES];
    struct stat status;
    artifact_inner_path(store, "tmp", path);
    if (atomic_load(&store->folders_made) && stat(path, &status) == 0)
        return true;
    if (!artifact_make_folder(store->folder, &put->error) ||
        !artifact_make_folder(path, &put->error) ||
        !artifact_sync_folder(store->data_root, &put->error) ||
        !artifact_sync_folder(store->folder, &put->error))
        return false;
    atomic_store(&store->folders_made, true);
    return true;
}

static bool make_blob_folder(Put *put)
{
    atomic_bool *made = &put->store->blob_folders_made[put->line.digest.bytes[0]];
    struct stat status;
    if (atomic_load(made) && stat(put->folder, &status) == 0)
        return true;
    if (!artifact_make_folder(put->folder, &put->error) ||
        !artifact_sync_folder(put->store->folder, &put->error))
        return false;
    atomic_store(made, true);
    return true;
}

/* ---- Writing and hashing ---- */

static bool write_piece(Put *put, const uint8_t *piece, size_t size_bytes, uint64_t offset)
{
    ArtifactTemporary *temporary = &put->temporary;
    if (!artifact_write_all(temporary->fd, temporary->path, piece, size_bytes, &put->error))
        return false;
    /* The disk works while the processor hashes. A hint: the flush decides. */
    uint64_t end = offset + size_bytes;
    if (end / EARLY_WRITE_BYTES != offset / EARLY_WRITE_BYTES)
        sync_file_range(temporary->fd, (off64_t)(end - EARLY_WRITE_BYTES), EARLY_WRITE_BYTES,
                        SYNC_FILE_RANGE_WRITE);
    return true;
}

/* Large: one pass over the source, while another thread hashes what was written. */
static bool write_and_hash(Put *put)
{
    ArtifactPipe *pipe = artifact_pipe_create();
    uint64_t size = put->line.size_bytes;
    bool good = pipe != NULL ||
                artifact_error_set(&put->error, ENOMEM, "cannot hash for", put->store->folder);
    good = good && artifact_temporary_begin(put->store, &put->temporary, &put->error);
    for (uint64_t offset = 0; good && offset < size;) {
        uint64_t left = size - offset;
        size_t some = left < ARTIFACT_SLOT_BYTES ? (size_t)left : ARTIFACT_SLOT_BYTES;
        uint8_t *slot = artifact_pipe_slot(pipe);
        memcpy(slot, put->bytes + offset, some);
        artifact_pipe_pass(pipe, some);
        good = write_piece(put, slot, some, offset);
        offset += some;
    }
    if (good && !artifact_pipe_finish(pipe, &put->line.digest))
        good = artifact_error_set(&put->error, 0, "libcrypto cannot hash for", put->store->folder);
    artifact_pipe_destroy(&pipe);
    put->written = good;
    return good;
}

/* Small: hashed first, so that nothing is written when it is there already. */
static bool copy_and_hash(Put *put)
{
    size_t size = (size_t)put->line.size_bytes;
    ArtifactHash *hash = NULL;
    bool good = false;
    put->copy = fault_here("artifacts.alloc") ? NULL : malloc(size + 1);
    if (put->copy == NULL)
        return artifact_error_set(&put->error, ENOMEM, "cannot copy for", put->store->folder);
    if (size > 0)
        memcpy(put->copy, put->bytes, size);
    hash = artifact_hash_create();
    good = hash != NULL && artifact_hash_add(hash, put->copy, size) &&
           artifact_hash_finish(hash, &put->line.digest);
    artifact_hash_destroy(&hash);
    return good ||
           artifact_error_set(&put->error, 0, "libcrypto cannot hash for", put->store->folder);
}

/* The bytes on the disk, under the temporary's name. */
static bool write_and_flush(Put *put)
{
    if (!put->written) {
        if (!artifact_temporary_begin(put->store, &put->temporary, &put->error))
            return false;
        put->written = artifact_write_all(put->temporary.fd, put->temporary.path, put->copy,
                                          (size_t)put->line.size_bytes, &put->error);
    }
    if (put->written && !put->flushed)
        put->flushed = artifact_sync(put->temporary.fd, put->temporary.path, &put->error);
    return put->flushed;
}

/* ---- What is there already ---- */

/* Whether the file holds the same bytes; -1 with an error. Reading is cheaper than the write and
 * the flush that it saves, and a blob that was damaged is not believed. */
static int compare_file(Put *put)
{
    const uint8_t *bytes = put->copy != NULL ? put->copy : put->bytes;
    uint64_t size = put->line.size_bytes;
    int same = 1;
    uint8_t *buffer = malloc(COMPARE_BYTES);
    int fd = artifact_open(put->path, O_RDONLY, 0, &put->error);
    if (buffer == NULL)
        artifact_error_set(&put->error, ENOMEM, "cannot read", put->path);
    if (buffer == NULL || fd < 0)
        same = -1;
    for (uint64_t offset = 0; same == 1 && offset < size;) {
        uint64_t some = size - offset < COMPARE_BYTES ? size - offset : COMPARE_BYTES;
        int64_t got = artifact_read_at(fd, put->path, buffer, (size_t)some, offset, &put->error);
        if (got < 0)
            same = -1;
        else if (got != (int64_t)some || memcmp(buffer, bytes + offset, (size_t)some) != 0)
            same = 0;
        offset += some;
    }
    artifact_close(&fd);
    free(buffer);
    return same;
}

static Place look(Put *put)
{
    Place place = {.state = PLACE_UNKNOWN};
    int there = artifact_stat(put->path, &place.status, &put->error);
    if (there == 0)
        place.state = PLACE_EMPTY;
    if (there <= 0)
        return place;
    if ((uint64_t)place.status.st_size != put->line.size_bytes) {
        place.state = PLACE_BROKEN;
        return place;
    }
    int same = compare_file(put);
    /* What cannot be read is replaced like what is wrong: the bytes are at hand. */
    if (same < 0 && put->error.code == EIO) {
        memset(&put->error, 0, sizeof put->error);
        same = 0;
    }
    if (same >= 0)
        place.state = same == 1 ? PLACE_SAME : PLACE_BROKEN;
    return place;
}

/* Whether nobody changed what was looked at. */
static bool is_unchanged(Put *put, const Place *place)
{
    struct stat now;
    int there = artifact_stat(put->path, &now, &put->error);
    if (place->state == PLACE_EMPTY || there <= 0)
        return there == 0 && place->state == PLACE_EMPTY;
    return now.st_ino == place->status.st_ino && now.st_dev == place->status.st_dev &&
           now.st_size == place->status.st_size &&
           now.st_mtim.tv_sec == place->status.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == place->status.st_mtim.tv_nsec;
}

/* ---- Putting in place ---- */

/* 1 done, 0 somebody without the lock took the name, -1 with an error. */
static int take_place(Put *put, const Place *place)
{
    if (place->state == PLACE_BROKEN) {
        if (!artifact_rename_over(put->temporary.path, put->path, &put->error))
            return -1;
        log_item(ARTIFACT_BLOB_REPLACED, put->path, put->line.name);
        put->linked = true;
    } else if (place->state == PLACE_EMPTY) {
        int taken = artifact_rename_new(put->temporary.path, put->path, &put->error);
        if (taken <= 0)
            return taken;
        put->linked = true;
    }
    /* Also when the blob was there: who made it may not have come to this yet. */
    return artifact_sync_folder(put->folder, &put->error) ? 1 : -1;
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* With index.lock held: 1 done, 0 somebody changed what was looked at, -1 with an error. */
static int publish_locked(Put *put, const Place *place)
{
    if (!artifact_log_recover(put->store, &put->error))
        return -1;
    if (!is_unchanged(put, place))
        return put->error.text[0] != '\0' ? -1 : 0;
    put->line.created_us = now_us();
    int took = take_place(put, place);
    if (took == 0 || (took > 0 && artifact_log_append(put->store, &put->line, &put->error)))
        return took;
    /* A damaged blob that was replaced stays whole: there are rows that name it. */
    if (put->linked && place->state == PLACE_EMPTY)
        artifact_unlink(put->path);
    return -1;
}

static bool publish(Put *put)
{
    ArtifactStore *store = put->store;
    int done = 0;
    for (int i = 0; done == 0 && i < TRIES; i++) {
        Place place = look(put);
        if (place.state == PLACE_UNKNOWN || (place.state != PLACE_SAME && !write_and_flush(put)))
            return false;
        if (!artifact_mutex_enter(store, &store->put_mutex, &put->error))
            return false;
        int lock_fd = artifact_log_lock(store, &put->error);
        done = lock_fd >= 0 ? publish_locked(put, &place) : -1;
        artifact_log_unlock(&lock_fd);
        artifact_mutex_unlock(&store->put_mutex);
    }
    return done > 0 || artifact_error_set(&put->error, 0, "somebody keeps changing", put->path);
}

/* ---- The call ---- */

static bool refuse(const char *given, const char *wanted)
{
    log_item(ARTIFACT_REFUSED, "put", given, wanted);
    return false;
}

static bool check_arguments(const char *name, const void *bytes, uint64_t size_bytes,
                            const char *out_digest)
{
    if (name == NULL)
        return refuse("no name", "a name");
    if (strnlen(name, ARTIFACT_NAME_MAX_BYTES + 1) > ARTIFACT_NAME_MAX_BYTES)
        return refuse("a longer name", "a name of at most 4096 bytes");
    if (out_digest == NULL)
        return refuse("no place for the digest", "65 bytes");
    if (bytes == NULL && size_bytes > 0)
        return refuse("no bytes, but a length", "bytes, or the length 0");
    if (size_bytes > INT64_MAX)
        return refuse("a length above 2^63 - 1", "what a file can hold");
    return true;
}

bool artifact_store_put(ArtifactStore *store, const char *name, const void *bytes,
                        uint64_t size_bytes, uint64_t run,
                        char out_digest[ARTIFACT_STORE_DIGEST_BYTES])
{
    if (!check_arguments(name, bytes, size_bytes, out_digest))
        return false;
    Put *put = fault_here("artifacts.alloc") ? NULL : calloc(1, sizeof *put);
    if (put == NULL) {
        log_item(OUT_OF_MEMORY, "put", (unsigned long long)sizeof *put);
        return false;
    }
    put->store = store;
    put->bytes = bytes;
    put->temporary.fd = -1;
    put->line.run = run;
    put->line.size_bytes = size_bytes;
    memcpy(put->line.name, name, strlen(name) + 1);
    bool done = make_folders(put) &&
                (size_bytes <= WHOLE_BYTES_MAX ? copy_and_hash(put) : write_and_hash(put));
    if (done) {
        artifact_blob_folder(store, &put->line.digest, put->folder);
        artifact_blob_path(store, &put->line.digest, put->path);
        done = make_blob_folder(put) && publish(put);
    }
    artifact_temporary_end(&put->temporary, put->linked);
    if (done)
        artifact_digest_text(&put->line.digest, out_digest);
    else
        log_item(ARTIFACT_FAILED, "put", name, put->error.text);
    free(put->copy);
    free(put);
    return done;
}
