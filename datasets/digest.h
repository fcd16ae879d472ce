/* datasets/digest.h: the checksum of a file, as published ones are written. For datasets/ alone. */
#ifndef CALIPER_DATASETS_DIGEST_H
#define CALIPER_DATASETS_DIGEST_H

#include <stdbool.h>

enum { DIGEST_TEXT_BYTES = 33 };

/* MD5 of the whole file in lower-case digits, read from its start; the offset is left where it is.
 * False: it cannot be read (errno), or libcrypto has no MD5 (errno 0). Any thread. */
bool digest_md5(int fd, char out[DIGEST_TEXT_BYTES]);

#endif
