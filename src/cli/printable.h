/* cli/printable.h: lines of the command that hold names and texts from outside: paths, ids, what a
 * file or a manifest says. They are escaped by formats/printable.h, so that a line stays one line.
 *
 * Only cli/ includes it. First thread. */
#ifndef CALIPER_CLI_PRINTABLE_H
#define CALIPER_CLI_PRINTABLE_H

#include <stdarg.h>
#include <stdio.h>

#include "formats/printable.h"
#include "store/database/arrow_text.h"

/* Adds `length` bytes, escaped. */
void printable_add(const char *bytes, size_t length, TextBuffer *out);

/* Writes a text without a line end, and returns how many characters that were. */
int printable_put(const char *text, FILE *file);

/* printf whose result is escaped whole, but for line ends at its very end. */
__attribute__((format(printf, 2, 3))) void printable_print(FILE *file, const char *format, ...);
__attribute__((format(printf, 2, 0))) void printable_print_list(FILE *file, const char *format,
                                                                va_list arguments);

#endif
