/* MD5 through libcrypto; see the header. */
#include "datasets/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 18 };

bool digest_md5(int fd, char out[DIGEST_TEXT_BYTES])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int sum_bytes = 0;
    bool good = false;
    unsigned char *block = malloc(BLOCK_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (block == NULL || context == NULL) {
        errno = ENOMEM;
        goto done;
    }
    if (EVP_DigestInit_ex(context, EVP_md5(), NULL) != 1) {
        errno = 0;
        goto done;
    }
    off_t at = 0;
    ssize_t got;
    while ((got = pread(fd, block, BLOCK_BYTES, at)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || EVP_DigestUpdate(context, block, (size_t)got) != 1)
            goto done;
        at += got;
    }
    good = EVP_DigestFinal_ex(context, sum, &sum_bytes) == 1 && sum_bytes == 16;
    for (unsigned int i = 0; good && i < sum_bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", sum[i]);
done:
    EVP_MD_CTX_free(context);
    free(block);
    return good;
}
