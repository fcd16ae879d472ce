/* Checks of UTF-8. Pure. */
#include "core/utf8.h"

#include <string.h>

static size_t sequence_length(unsigned char first)
{
    return first < 0x80                     ? 1
           : first >= 0xc2 && first <= 0xdf ? 2
           : (first & 0xf0) == 0xe0         ? 3
           : first >= 0xf0 && first <= 0xf4 ? 4
                                            : 0;
}

size_t utf8_sequence(const unsigned char *bytes, size_t left)
{
    size_t length = left > 0 ? sequence_length(bytes[0]) : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, beyond U+10FFFF. */
    if (length > 2 &&
        ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
         (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f)))
        return 0;
    return length;
}

bool utf8_valid(const char *bytes, size_t size)
{
    size_t length = 1;
    for (size_t at = 0; at < size && length > 0; at += length)
        length = utf8_sequence((const unsigned char *)bytes + at, size - at);
    return length > 0;
}

bool utf8_one_line(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    }
    return utf8_valid(text, strlen(text));
}

void utf8_trim(char *text)
{
    size_t length = strlen(text);
    size_t start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && sequence_length((unsigned char)text[start - 1]) > 1)
        start--;
    if (start < length && utf8_sequence((const unsigned char *)text + start, length - start) == 0)
        text[start] = '\0';
}
