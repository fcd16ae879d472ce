/* store/artifacts/artifact_index.h: the lines of index.log in memory, found by name, digest or run.
 *
 * Knows no files: bytes of the log are fed in pieces of any size. For src/store/artifacts/ and
 * tests. One thread at a time. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_INDEX_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_INDEX_H

#include "store/artifacts/artifact_line.h"

typedef enum ArtifactKey {
    ARTIFACT_KEY_NAME = 0,
    ARTIFACT_KEY_DIGEST = 1,
    ARTIFACT_KEY_RUN = 2,
    ARTIFACT_KEY_COUNT = 3
} ArtifactKey;

#define ARTIFACT_ROW_NONE UINT32_MAX

typedef struct ArtifactEntry { /* one put */
    ArtifactDigest digest;
    uint64_t run;
    uint64_t size_bytes;
    int64_t created_us;
    size_t name_offset;                 /* into names */
    uint32_t older[ARTIFACT_KEY_COUNT]; /* the put before it with the same key, or NONE */
    uint32_t next[ARTIFACT_KEY_COUNT];  /* the next key of the same bucket */
    bool told;                          /* somebody was told that its blob is missing */
} ArtifactEntry;

typedef struct ArtifactIndex {
    ArtifactEntry *rows; /* in the order of the log */
    uint32_t count, capacity;
    char *names;
    size_t names_used, names_capacity;
    uint32_t *buckets[ARTIFACT_KEY_COUNT]; /* newest row of each key */
    uint32_t bucket_count;                 /* a power of two, the same for all keys; 0 at first */
    char *carry;                           /* what is fed of a line that is not whole yet */
    size_t carry_used;
    bool too_long;         /* the line is longer than any can be: passed over to its end */
    uint64_t lines;        /* ended by a newline, damaged ones included */
    uint64_t damaged;      /* lines that are none */
    uint64_t damaged_line; /* the first of them, from 1; 0: none */
} ArtifactIndex;

/* Zeroed memory is an empty index. */
void artifact_index_finish(ArtifactIndex *index);
/* False without memory: the index is then emptied, and is to be fed again from the start. */
bool artifact_index_feed(ArtifactIndex *index, const char *bytes, size_t size_bytes);
/* Whether something was fed after the last newline. */
bool artifact_index_has_torn_line(const ArtifactIndex *index);

const char *artifact_index_name(const ArtifactIndex *index, uint32_t row);
/* The newest row; older ones are at its `older[key]`. ARTIFACT_ROW_NONE: there is none. */
uint32_t artifact_index_find_name(const ArtifactIndex *index, const char *name);
uint32_t artifact_index_find_digest(const ArtifactIndex *index, const ArtifactDigest *digest);
uint32_t artifact_index_find_run(const ArtifactIndex *index, uint64_t run);

#endif
