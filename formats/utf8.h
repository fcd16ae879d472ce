/* formats/utf8.h: one question about text.
 *
 * Files of formats/ and src/cli/ include it. Thread rule: any thread. */
#ifndef FORMATS_UTF8_H
#define FORMATS_UTF8_H

#include <stddef.h>

/* Length in bytes of the valid UTF-8 character at `bytes`, of which `left` (at least 1) may be
 * looked at; 0 if there is none. */
size_t utf8_length(const unsigned char *bytes, size_t left);

#endif
