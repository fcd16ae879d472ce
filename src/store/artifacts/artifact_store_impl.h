/* store/artifacts/artifact_store_impl.h: what the files of this folder share.
 *
 * For src/store/artifacts/ only. Order of locks: put_mutex, index.lock (the file), index_mutex.
 * index_mutex is held while appended lines are read, never while anything is written, flushed or
 * waited for. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_STORE_IMPL_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_STORE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/artifacts/artifact_files.h"
#include "store/artifacts/artifact_index.h"
#include "store/artifacts/artifact_store.h"

enum { ARTIFACT_TAIL_BYTES = 128 };

struct ArtifactStore {
    char *folder; /* <data root>/artifacts */
    char *data_root;
    atomic_uint next_temporary;

    pthread_mutex_t put_mutex; /* one thread of this process at index.lock */
    atomic_bool folders_made;  /* artifacts/ and tmp/, durably */
    atomic_bool blob_folders_made[256];

    pthread_mutex_t index_mutex; /* all below */
    ArtifactIndex index;
    int log_fd;       /* of the index.log that was read; -1: none yet */
    dev_t log_device; /* which file that is */
    ino_t log_file;
    uint64_t log_read;              /* bytes of it that are in the index */
    char tail[ARTIFACT_TAIL_BYTES]; /* the last ones, to notice that the file was cut */
    uint32_t tail_used;
    uint64_t generation; /* grows when the index is emptied: rows are others then */
    uint64_t damaged_told;
};

typedef struct ArtifactFound { /* a blob as it lies in its folder */
    ArtifactDigest digest;
    uint64_t size_bytes;
    int64_t changed_us;
} ArtifactFound;

typedef struct ArtifactFoundList {
    ArtifactFound *found;
    size_t count, capacity;
} ArtifactFoundList;

/* ---- artifact_store.c ---- */

void artifact_mutex_lock(pthread_mutex_t *mutex); /* the guard knows that a lock is held */
void artifact_mutex_unlock(pthread_mutex_t *mutex);
/* The same for what the frame thread may call, where it waits FRAME_THREAD_WAIT_MS at most; false:
 * it is not held. */
bool artifact_mutex_enter(ArtifactStore *store, pthread_mutex_t *mutex, ArtifactError *error);
/* <folder>/<2 hex>[/<64 hex>] */
void artifact_blob_folder(const ArtifactStore *store, const ArtifactDigest *digest,
                          char out[ARTIFACT_PATH_BYTES]);
void artifact_blob_path(const ArtifactStore *store, const ArtifactDigest *digest,
                        char out[ARTIFACT_PATH_BYTES]);
/* Paths below the folder always fit: artifact_store_open refuses data roots that are too long. */
void artifact_inner_path(const ArtifactStore *store, const char *name,
                         char out[ARTIFACT_PATH_BYTES]);

/* ---- artifact_log.c: index.log on the disk ---- */

/* Takes in what was appended since the last time, by whomever. With index_mutex held. */
bool artifact_log_refresh(ArtifactStore *store, ArtifactError *error);
/* Locks and unlocks index.lock; the descriptor, or -1. With put_mutex held. */
int artifact_log_lock(ArtifactStore *store, ArtifactError *error);
void artifact_log_unlock(int *lock_fd);
/* Appends a line durably, after mending a torn one. On failure the log is as it was. With
 * index.lock held. */
bool artifact_log_append(ArtifactStore *store, const ArtifactLine *line, ArtifactError *error);
/* Mends a torn last line: ends it when it is whole but for its newline, else cuts it off. With
 * index.lock held. */
bool artifact_log_mend(ArtifactStore *store, ArtifactError *error);
/* Whether there is no index.log, or an empty one. */
bool artifact_log_is_lost(ArtifactStore *store);
/* Puts a new log in place: the good lines of the old one, then one for each of the blobs, as
 * "recovered/<digest>". A log with damaged lines is kept beside it. With index.lock held. */
bool artifact_log_rewrite(ArtifactStore *store, const ArtifactFound *found, size_t count,
                          ArtifactError *error);

/* ---- artifact_rebuild.c ---- */

/* Where index.log is lost and there are blobs, writes it anew from their names and lengths. With
 * index.lock held. */
bool artifact_log_recover(ArtifactStore *store, ArtifactError *error);
/* The same without a lock held; takes none when there is nothing to do. */
bool artifact_log_recover_now(ArtifactStore *store, ArtifactError *error);

/* ---- artifact_temporary.c: blobs on their way ---- */

typedef struct ArtifactTemporary {
    int fd; /* locked while this process lives; -1: none */
    char path[ARTIFACT_PATH_BYTES];
} ArtifactTemporary;

bool artifact_temporary_begin(ArtifactStore *store, ArtifactTemporary *out, ArtifactError *error);
/* Closes it, and removes the file unless it was given another name (`keep`). */
void artifact_temporary_end(ArtifactTemporary *temporary, bool keep);

/* ---- artifact_scan.c: what lies in the folders ---- */

/* Every file that is called as a blob is; the caller's to free, also after a failure. */
bool artifact_scan_blobs(ArtifactStore *store, ArtifactFoundList *out, ArtifactError *error);
/* Leaves those that no row names. */
bool artifact_scan_unnamed(ArtifactStore *store, ArtifactFoundList *out, ArtifactError *error);
void artifact_found_free(ArtifactFoundList *list);
/* Called for each temporary; `live` when a running process holds it. With `remove` those that none
 * holds are removed. */
typedef void (*ArtifactTemporaryVisit)(void *user, const char *path, uint64_t size_bytes,
                                       bool live);
bool artifact_scan_temporaries(ArtifactStore *store, bool remove, ArtifactTemporaryVisit visit,
                               void *user, ArtifactError *error);

/* ---- artifact_check.c ---- */

typedef struct ArtifactReading { /* a file being hashed, beside the work it is a part of */
    const ArtifactWork *work;    /* may be NULL */
    ArtifactTake take;           /* may be NULL: gets the bytes */
    void *take_user;
    uint64_t done_bytes, total_bytes; /* of the work; done_bytes grows */
} ArtifactReading;

/* 1 done, 0 stopped by work or take, -1 with `error`. */
int artifact_hash_file(const char *path, ArtifactReading *reading, ArtifactDigest *out,
                       uint64_t *size_bytes, ArtifactError *error);
bool artifact_work_stops(const ArtifactWork *work);
void artifact_work_finding(const ArtifactWork *work, const ArtifactFinding *finding);

#endif
