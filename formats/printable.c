/* formats/printable.c: see printable.h.
 *
 * Thread rule: any thread; no state. */
#include "formats/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "formats/utf8.h"

/* C1 controls; marks that change the direction of writing; line and paragraph separators; the
 * invisible byte order mark. */
static bool steers(uint32_t code)
{
    return (code >= 0x80 && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xfeff;
}

static uint32_t code_of(const unsigned char *bytes, size_t length)
{
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3fu);
    return code;
}

/* printable_piece, and the character where it is shown as it is; 0: it is spelled. */
static size_t take(const char *bytes, size_t left, char piece[PRINTABLE_PIECE_BYTES],
                   uint32_t *shown)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t length = utf8_length(at, left);
    uint32_t code = code_of(at, length != 0 ? length : 1);
    *shown = 0;
    if (code == '\n' || code == '\t' || code == '\r')
        snprintf(piece, PRINTABLE_PIECE_BYTES, "\\%c",
                 code == '\n'   ? 'n'
                 : code == '\t' ? 't'
                                : 'r');
    else if (length == 0 || code < 0x20 || code == 0x7f)
        snprintf(piece, PRINTABLE_PIECE_BYTES, "\\x%02x", at[0]);
    else if (steers(code))
        snprintf(piece, PRINTABLE_PIECE_BYTES, "\\u%04x", code & 0xffffu);
    else {
        memcpy(piece, bytes, length);
        piece[length] = '\0';
        *shown = code;
    }
    return length != 0 ? length : 1;
}

size_t printable_piece(const char *bytes, size_t left, char piece[PRINTABLE_PIECE_BYTES])
{
    uint32_t shown;
    return take(bytes, left, piece, &shown);
}

const char *printable_text(const char *text, char *out, size_t size)
{
    return printable_text_in(text, NULL, out, size);
}

const char *printable_text_in(const char *text, bool (*has)(uint32_t code), char *out, size_t size)
{
    char piece[PRINTABLE_PIECE_BYTES], absent[16];
    size_t used = 0, left = strlen(text);
    while (left > 0) {
        uint32_t shown;
        const char *spelled = piece;
        size_t taken = take(text, left, piece, &shown);
        if (has != NULL && shown != 0 && !has(shown)) {
            snprintf(absent, sizeof absent, "\\u{%x}", (unsigned)shown);
            spelled = absent;
        }
        size_t length = strlen(spelled);
        if (used + length >= size)
            break;
        memcpy(out + used, spelled, length);
        used += length;
        text += taken;
        left -= taken;
    }
    out[used] = '\0';
    return out;
}
