/* cli/printable.c: see printable.h. First thread. */
#include "cli/printable.h"

#include <stdlib.h>
#include <string.h>

/* Plain ASCII at the beginning of a text, which most of most texts is. */
static size_t plain(const char *bytes, size_t length)
{
    size_t count = 0;
    while (count < length && bytes[count] >= 0x20 && bytes[count] < 0x7f)
        count++;
    return count;
}

void printable_add(const char *bytes, size_t length, TextBuffer *out)
{
    char piece[PRINTABLE_PIECE_BYTES];
    while (length > 0) {
        size_t taken = plain(bytes, length);
        if (taken > 0)
            text_buffer_add(out, bytes, taken);
        else {
            taken = printable_piece(bytes, length, piece);
            text_buffer_text(out, piece);
        }
        bytes += taken;
        length -= taken;
    }
}

/* Characters, not bytes. */
static int put(const char *text, size_t length, FILE *file)
{
    char piece[PRINTABLE_PIECE_BYTES];
    int characters = 0;
    while (length > 0) {
        size_t taken = plain(text, length);
        if (taken > 0) {
            fwrite(text, 1, taken, file);
            characters += (int)taken;
        } else {
            taken = printable_piece(text, length, piece);
            fputs(piece, file);
            for (const char *c = piece; *c != '\0'; c++)
                characters += ((unsigned char)*c & 0xc0u) != 0x80u;
        }
        text += taken;
        length -= taken;
    }
    return characters;
}

int printable_put(const char *text, FILE *file)
{
    return put(text, strlen(text), file);
}

void printable_print_list(FILE *file, const char *format, va_list arguments)
{
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    if (size < 0) { /* no memory for the line: its words without what they were to name */
        fputs(format, file);
        return;
    }
    size_t length = (size_t)size;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    put(text, length, file);
    fputs(text + length, file);
    free(text);
}

void printable_print(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printable_print_list(file, format, arguments);
    va_end(arguments);
}
