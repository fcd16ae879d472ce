/* core/utf8.h: which bytes are UTF-8. Pure; any thread; any folder of src/. */
#ifndef CALIPER_CORE_UTF8_H
#define CALIPER_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length of the sequence at `bytes`, of which `left` can be read (RFC 3629); 0: there is none. A
 * NUL is a sequence of one. */
size_t utf8_sequence(const unsigned char *bytes, size_t left);
bool utf8_valid(const char *bytes, size_t size);
/* UTF-8 without control characters: what can stand on a card. */
bool utf8_one_line(const char *text);
/* Takes away a sequence that was cut at the end of `text`. */
void utf8_trim(char *text);

#ifdef __cplusplus
}
#endif

#endif
