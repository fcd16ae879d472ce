/* formats/printable.h: names and texts from outside, shown on one line that steers no terminal.
 *
 * Names of files and arrays may hold any byte. Everything that is a visible character stays as it
 * is; the rest is spelled: \n \t \r, \x1b for other ASCII controls and for bytes that are not UTF-8
 * (then \xff), \u009b for characters beyond ASCII that control a terminal, break lines or change
 * the direction of writing. A backslash stays one backslash.
 *
 * Files of formats/, applets and src/cli/ include it. Thread rule: any thread; no state. */
#ifndef FORMATS_PRINTABLE_H
#define FORMATS_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTABLE_PIECE_BYTES = 8 }; /* with the closing NUL */

/* Spells the character at `bytes`, of which `left` (at least 1) may be looked at, into `piece`, and
 * returns how many bytes of it that was. */
size_t printable_piece(const char *bytes, size_t left, char piece[PRINTABLE_PIECE_BYTES]);

/* A whole text; what does not fit into `size` bytes (at least 1, with the closing NUL) is cut off,
 * never within a character or an escape. Returns `out`. */
const char *printable_text(const char *text, char *out, size_t size);

/* The same for a font that does not have every letter: a character that is shown as it is, and for
 * which `has` answers false, is spelled \u{6df1}. */
const char *printable_text_in(const char *text, bool (*has)(uint32_t code), char *out, size_t size);

#endif
