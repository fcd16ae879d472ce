/* tests/store/artifacts/artifact_room.h: a data root of its own for each test of the blob store,
 * and looks at it that do not go through the store.
 *
 * Included by the tests of this folder. One thread, but for room_bytes. */
#ifndef CALIPER_TESTS_ARTIFACT_ROOM_H
#define CALIPER_TESTS_ARTIFACT_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArtifactRoom {
    char root[128]; /* the data root */
} ArtifactRoom;

/* In memory (/dev/shm) where that is to be had: kill -9 and errors are tested, not power cuts.
 * `on_disk`: in /tmp. */
bool room_make(ArtifactRoom *room, bool on_disk);
void room_remove(ArtifactRoom *room);

/* `root`/`inner` in a buffer of the thread's, good for four calls. */
const char *room_path(const ArtifactRoom *room, const char *inner);
/* The path where a digest's blob belongs. */
const char *room_blob(const ArtifactRoom *room, const char *digest);

/* The whole file, zero-terminated, malloc'ed; NULL when there is none. */
char *room_read(const char *path, size_t *size);
bool room_write(const char *path, const void *bytes, size_t size);
/* Files below artifacts/: blobs (named as one), temporaries. */
size_t room_count_blobs(const ArtifactRoom *room);
size_t room_count_temporaries(const ArtifactRoom *room);
/* Digest by the sha256sum program; false where there is none. */
bool room_sha256sum(const char *path, char out[65]);
/* True when every file that is called as a blob has that digest, by sha256sum. */
bool room_blobs_are_whole(const ArtifactRoom *room);

/* `size` bytes that depend on the seed alone; malloc'ed. */
uint8_t *room_bytes(uint64_t seed, size_t size);

#endif
