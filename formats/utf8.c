/* formats/utf8.c: what is a UTF-8 character (RFC 3629: no overlong forms, no surrogates).
 *
 * Thread rule: any thread. */
#include "formats/utf8.h"

#include <stdbool.h>
#include <stdint.h>

size_t utf8_length(const unsigned char *bytes, size_t left)
{
    static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = bytes[0] < 0x80   ? 1
                    : bytes[0] < 0xc2 ? 0
                    : bytes[0] < 0xe0 ? 2
                    : bytes[0] < 0xf0 ? 3
                    : bytes[0] < 0xf5 ? 4
                                      : 0;
    if (length < 2 || length > left)
        return length == 1 ? 1 : 0;
    uint32_t code = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0u) != 0x80u)
            return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    bool valid = code >= LEAST[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return valid ? length : 0;
}
