/* store/artifacts/artifact_pipe.h: hashes on a thread of its own what is being written meanwhile.
 *
 * The owner copies a piece into a slot, writes the slot, and passes it on to the hash: the digest
 * is of the bytes that were written, even if somebody changes the source under way, and the source
 * is read only by the owner's thread, where a bad pointer is its own fault. Small blobs are hashed
 * in place, without a thread. For artifact_put.c; one owner thread. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_PIPE_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_PIPE_H

#include "store/artifacts/artifact_digest.h"

enum { ARTIFACT_SLOT_BYTES = 256 << 10 };

typedef struct ArtifactPipe ArtifactPipe;

/* NULL without memory or without SHA-256. With no thread to be had it hashes in artifact_pipe_pass.
 */
ArtifactPipe *artifact_pipe_create(void);
/* A free slot of ARTIFACT_SLOT_BYTES; waits for one. */
uint8_t *artifact_pipe_slot(ArtifactPipe *pipe);
/* Hashes the first `size_bytes` of the slot that was answered last. */
void artifact_pipe_pass(ArtifactPipe *pipe, size_t size_bytes);
/* Waits for the hash of everything. False when libcrypto failed. Only destroy may follow. */
bool artifact_pipe_finish(ArtifactPipe *pipe, ArtifactDigest *out);
/* Also in the middle of things. */
void artifact_pipe_destroy(ArtifactPipe **pipe);

#endif
