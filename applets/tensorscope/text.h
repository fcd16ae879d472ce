/* tensorscope/text.h: the words and numbers the panel shows. Pure; any thread. Each writes at most
 * `size` bytes with the closing NUL and returns `text`. */
#ifndef TENSORSCOPE_TEXT_H
#define TENSORSCOPE_TEXT_H

#include "axes.h"

enum { TEXT_BYTES = 512 };

/* "60000 x 28 x 28" with a proper multiplication sign; "scalar" for rank 0. */
const char *text_shape(const SourceArray *array, char *text, size_t size);
/* "47.0 MB", in powers of 1000. */
const char *text_size(uint64_t size_bytes, char *text, size_t size);
/* "60 000": thousands apart by a thin gap. */
const char *text_count(uint64_t count, char *text, size_t size);
/* "[3, 14, 7]": the element's index in the file's own order of axes; "[]" for rank 0. */
const char *text_index(const SourceArray *array, const uint64_t index[ARRAY_RANK_MAX], char *text,
                       size_t size);
/* "[17, :, :]": where the slice is cut, ":" for the axes that run. */
const char *text_slice(const SourceArray *array, const AxisChoice *axes, char *text, size_t size);
/* What happens to a stored value on its way to the screen, in one line; static. */
const char *text_conversion(ArrayDtype dtype, bool colour);
/* "f16, 2.1 MB, npy, big-endian": type, size and how it is stored. */
const char *text_storage(const Source *source, const SourceArray *array, char *text, size_t size);
/* What a person can do about a failure, by its code; static. */
const char *text_advice(ArrayFault fault);

/* A name from a file or of one, as formats/printable.h spells it; letters that the host's fonts do
 * not have (docs/reference/widgets.md) are spelled too, \u{6df1}, since all of them would look
 * alike. */
const char *text_name(const char *name, char *text, size_t size);

/* The next of 1, 2, 5 times a power of ten at or above `value`; 1 for what is not above 0. */
double text_nice_step(double value);

#endif
