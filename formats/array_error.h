/* formats/array_error.h: how the readers and writers state a refusal.
 *
 * Only files of formats/ include it. Thread rule: any thread. */
#ifndef FORMATS_ARRAY_ERROR_H
#define FORMATS_ARRAY_ERROR_H

#include "formats/array_types.h"

/* Fills `error` (may be NULL) with "FILE: text" on one line, escaped by formats/printable.h; a long
 * file name keeps its end. Always false, for `return array_error_set(...)`; a macro so that
 * compilers and analysers see that too. */
#define array_error_set(...) (array_error_fill(__VA_ARGS__), false)
__attribute__((format(printf, 4, 5))) void
array_error_fill(ArrayError *error, ArrayFault fault, const char *file, const char *format, ...);

/* Shows the first bytes of a file in a message: printable ASCII stays, the rest becomes \xNN.
 * Returns `text`. */
enum { ARRAY_EXCERPT_BYTES = 64 };
const char *array_error_excerpt(const uint8_t *bytes, size_t size_bytes,
                                char text[ARRAY_EXCERPT_BYTES]);

#endif
