/* caliper.artifacts.v1: bytes worth keeping (models, checkpoints, exports), by content.
 *
 * Frozen. A blob's digest is the SHA-256 of its bytes, as 64 lower-case hex digits; names are an
 * index onto digests. A blob is there whole or not at all, also after a crash, and is never
 * rewritten. Every slot is [any] and works on files: call from a job, not from frame(). Thread
 * tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_ARTIFACTS_V1_H
#define CALIPER_SERVICES_ARTIFACTS_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>

#define CALIPER_ARTIFACTS_V1 "caliper.artifacts.v1"

/* Room for a digest: 64 digits and the terminating zero. */
#define CALIPER_ARTIFACT_DIGEST_SIZE 65

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperArtifactsV1 {
    uint32_t struct_size;

    /* Keeps `len` bytes under `name` (UTF-8), for `run` of caliper.metrics, or 0 for none. The name
     * then means this blob; older ones stay reachable by digest. NULL bytes with len 0 are the
     * empty blob. On true the blob is durable and out_digest, the caller's, holds its digest. false
     * and one log line on a NULL name or digest, NULL bytes with a length, or when it could not be
     * written; nothing was kept then. [any] */
    bool (*put)(const char *name, const void *bytes, uint64_t len, uint64_t run,
                char out_digest[65]);

    /* Path of a blob's file, for reading only, by digest or by name (the newest of that name).
     * Host-owned, valid until this thread's next call of this service; NULL if there is none. [any]
     */
    const char *(*path_of)(const char *digest_or_name);

    /* Whether path_of would find it. [any] */
    bool (*exists)(const char *digest_or_name);
} CaliperArtifactsV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperArtifactsV1, 32);
CALIPER_LAYOUT_AT(CaliperArtifactsV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperArtifactsV1, put, 8);
CALIPER_LAYOUT_AT(CaliperArtifactsV1, path_of, 16);
CALIPER_LAYOUT_AT(CaliperArtifactsV1, exists, 24);

#endif
