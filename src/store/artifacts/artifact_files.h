/* store/artifacts/artifact_files.h: the system calls of the store. Each is started again when a
 * signal interrupts it, fails on demand (core/fault.h, sites "artifacts.<call>", and
 * "artifact_folders" for each of the 256 when all are looked through), and says why it failed in
 * words.
 *
 * For src/store/artifacts/ only. Any thread. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_FILES_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { ARTIFACT_ERROR_BYTES = 512, ARTIFACT_PATH_BYTES = 4096 };

/* Why something failed; the first failure is the one that is kept. Starts zeroed. */
typedef struct ArtifactError {
    int code; /* an errno, 0: none or none that fits */
    char text[ARTIFACT_ERROR_BYTES];
} ArtifactError;

/* Fills `error` unless it holds one; always false. `code` 0 leaves out the system's words. */
bool artifact_error_set(ArtifactError *error, int code, const char *what, const char *path);

/* `a`/`b`[/`c`]; false when it does not fit. */
bool artifact_path_join(char out[ARTIFACT_PATH_BYTES], const char *a, const char *b, const char *c);

/* A descriptor that exec closes, or -1. */
int artifact_open(const char *path, int flags, mode_t mode, ArtifactError *error);
/* Descriptors < 0 are passed over. What close reports comes too late to matter after fsync. */
void artifact_close(int *fd);
/* The same for a file to be locked: a forked child does not keep it (file_lock.h). */
int artifact_open_to_lock(const char *path, int flags, mode_t mode, ArtifactError *error);
void artifact_close_locked(int *fd);
bool artifact_write_all(int fd, const char *path, const void *bytes, size_t size_bytes,
                        ArtifactError *error);
/* As many bytes as there are from `offset` on, at most `size_bytes`; -1 on failure. */
int64_t artifact_read_at(int fd, const char *path, void *out, size_t size_bytes, uint64_t offset,
                         ArtifactError *error);
bool artifact_sync(int fd, const char *path, ArtifactError *error);
/* Makes names in a folder durable. */
bool artifact_sync_folder(const char *path, ArtifactError *error);
bool artifact_make_folder(const char *path, ArtifactError *error);
/* Gives the file at `from` the name `to`, which must be free: -1 with `error`, 0 when it is taken,
 * 1 when it is done. Where the file system has no such call it takes the name all the same; both
 * files then hold the same bytes. */
int artifact_rename_new(const char *from, const char *to, ArtifactError *error);
/* Takes the name, whoever has it. */
bool artifact_rename_over(const char *from, const char *to, ArtifactError *error);
void artifact_unlink(const char *path);
bool artifact_truncate(int fd, const char *path, uint64_t size_bytes, ArtifactError *error);

/* 1: there is a file, `out` filled; 0: there is none, or something else than a file; -1 with
 * `error`. */
int artifact_stat(const char *path, struct stat *out, ArtifactError *error);

/* An exclusive lock on an open file, held until it is closed. With `wait` it is tried again for
 * ARTIFACT_LOCK_WAIT_SEC, so that a process that was stopped cannot hold up others for ever; on the
 * frame thread for FRAME_THREAD_WAIT_MS. */
enum { ARTIFACT_LOCK_WAIT_SEC = 120 };
bool artifact_lock(int fd, const char *path, bool wait, ArtifactError *error);

#endif
