/* store/artifacts/artifact_digest.h: SHA-256 of a blob, and its 64 lower-case hex digits.
 *
 * The only file of the store that knows libcrypto is artifact_digest.c. One ArtifactHash by one
 * thread; the rest is for any thread. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_DIGEST_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARTIFACT_DIGEST_BYTES = 32, ARTIFACT_DIGEST_DIGITS = 64, ARTIFACT_DIGEST_TEXT_BYTES = 65 };

typedef struct ArtifactDigest {
    uint8_t bytes[ARTIFACT_DIGEST_BYTES];
} ArtifactDigest;

bool artifact_digest_equal(const ArtifactDigest *a, const ArtifactDigest *b);
void artifact_digest_text(const ArtifactDigest *digest, char out[ARTIFACT_DIGEST_TEXT_BYTES]);
/* True for exactly 64 digits 0-9a-f; `out` is untouched otherwise. */
bool artifact_digest_parse(const char *text, size_t length, ArtifactDigest *out);

typedef struct ArtifactHash ArtifactHash;

/* NULL when libcrypto has no SHA-256 to give or there is no memory; nothing is logged. */
ArtifactHash *artifact_hash_create(void);
bool artifact_hash_add(ArtifactHash *hash, const void *bytes, size_t size_bytes);
/* Ends the hash: only destroy may follow. */
bool artifact_hash_finish(ArtifactHash *hash, ArtifactDigest *out);
void artifact_hash_destroy(ArtifactHash **hash);

#endif
