/* SHA-256 through libcrypto's EVP, which takes the processor's SHA instructions where it has them.
 * Thread rule: see the header. */
#include "store/artifacts/artifact_digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include "core/fault.h"

static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256; /* for the process; NULL: libcrypto has none */

/* libcrypto's own clean-up at exit() would pull it from under a job that still hashes. */
static void sha256_fetch(void)
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

bool artifact_digest_equal(const ArtifactDigest *a, const ArtifactDigest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void artifact_digest_text(const ArtifactDigest *digest, char out[ARTIFACT_DIGEST_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < ARTIFACT_DIGEST_BYTES; i++) {
        out[2 * i] = digits[digest->bytes[i] >> 4];
        out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    out[ARTIFACT_DIGEST_DIGITS] = '\0';
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool artifact_digest_parse(const char *text, size_t length, ArtifactDigest *out)
{
    ArtifactDigest digest;
    if (length != ARTIFACT_DIGEST_DIGITS)
        return false;
    for (size_t i = 0; i < ARTIFACT_DIGEST_BYTES; i++) {
        int high = digit_value(text[2 * i]);
        int low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        digest.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *out = digest;
    return true;
}

/* An ArtifactHash is an EVP_MD_CTX under another name. */
ArtifactHash *artifact_hash_create(void)
{
    pthread_once(&sha256_once, sha256_fetch);
    if (sha256 == NULL || fault_here("artifacts.hash"))
        return NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context != NULL && EVP_DigestInit_ex2(context, sha256, NULL) != 1) {
        EVP_MD_CTX_free(context);
        context = NULL;
    }
    return (ArtifactHash *)context;
}

bool artifact_hash_add(ArtifactHash *hash, const void *bytes, size_t size_bytes)
{
    return size_bytes == 0 || EVP_DigestUpdate((EVP_MD_CTX *)hash, bytes, size_bytes) == 1;
}

bool artifact_hash_finish(ArtifactHash *hash, ArtifactDigest *out)
{
    unsigned int size = 0;
    return EVP_DigestFinal_ex((EVP_MD_CTX *)hash, out->bytes, &size) == 1 &&
           size == ARTIFACT_DIGEST_BYTES;
}

void artifact_hash_destroy(ArtifactHash **hash)
{
    if (hash == NULL)
        return;
    EVP_MD_CTX_free((EVP_MD_CTX *)*hash);
    *hash = NULL;
}
