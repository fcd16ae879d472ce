/* formats/array_error.c: builds the one line that says why a file was refused.
 *
 * Thread rule: any thread; no state. */
#include "formats/array_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/printable.h"

enum { FILE_NAME_SHOWN_BYTES = 160 }; /* as it is spelled */

/* The end of a long path says more than its beginning. */
static const char *shown_file_name(const char *file, const char **prefix)
{
    *prefix = "";
    if (file == NULL || file[0] == '\0')
        return "(unnamed)";
    char piece[PRINTABLE_PIECE_BYTES];
    size_t shown = 0, left = strlen(file);
    for (size_t at = 0; at < left; shown += strlen(piece))
        at += printable_piece(file + at, left - at, piece);
    while (shown > FILE_NAME_SHOWN_BYTES) {
        size_t taken = printable_piece(file, left, piece);
        *prefix = "...";
        shown -= strlen(piece);
        file += taken;
        left -= taken;
    }
    return file;
}

/* Cuts a text that filled its buffer back to a whole UTF-8 character. */
static void trim_broken_tail(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0u) == 0x80u)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xc0u)
        text[start - 1] = '\0';
}

void array_error_fill(ArrayError *error, ArrayFault fault, const char *file, const char *format,
                      ...)
{
    if (error == NULL)
        return;
    error->fault = fault;
    const char *prefix;
    const char *name = shown_file_name(file, &prefix);
    char text[ARRAY_MESSAGE_BYTES];
    int used = snprintf(text, sizeof text, "%s%s: ", prefix, name);
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    if (wanted >= 0 && (size_t)wanted >= sizeof text - (size_t)used)
        trim_broken_tail(text, sizeof text - 1);
    printable_text(text, error->message, sizeof error->message);
}

const char *array_error_excerpt(const uint8_t *bytes, size_t size_bytes,
                                char text[ARRAY_EXCERPT_BYTES])
{
    enum { BYTES_SHOWN = 12 };
    size_t used = 0;
    for (size_t i = 0; i < size_bytes && i < BYTES_SHOWN; i++) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\'' && bytes[i] != '\\')
            text[used++] = (char)bytes[i];
        else
            used += (size_t)snprintf(text + used, ARRAY_EXCERPT_BYTES - used, "\\x%02x", bytes[i]);
    }
    text[used] = '\0';
    return text;
}
