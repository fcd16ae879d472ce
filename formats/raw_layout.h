/* formats/raw_layout.h: how bytes without a header are laid out, as a person writes it.
 *
 * A layout is TYPE:SHAPE, then in any order :OFFSET (bytes before the first element), :big or
 * :little (the default): f32:480x640, u16:?x128:64:big. The first extent may be ?: as many as the
 * file holds. An address is a path, or "raw:LAYOUT=PATH" for such a file; a file whose own name
 * begins with "raw:" is written "./raw:...". Who calls: applets and the command line. Thread rule:
 * any thread, no state. */
#ifndef FORMATS_RAW_LAYOUT_H
#define FORMATS_RAW_LAYOUT_H

#include "formats/array_file.h"

#define ARRAY_RAW_PREFIX "raw:"

/* The longest text that array_raw_layout_text writes, with the closing NUL. */
enum { ARRAY_RAW_TEXT_BYTES = 768 };

/* Reads a layout of `length` bytes; false (and nothing written) for anything else. */
bool array_raw_layout_read(const char *text, size_t length, ArrayRawLayout *layout);
/* Writes it the shortest way that reads back as the same layout. Returns `text`. */
const char *array_raw_layout_text(const ArrayRawLayout *layout, char text[ARRAY_RAW_TEXT_BYTES]);

/* The path of an address: behind the '=' of a raw one, else all of it. */
const char *array_raw_path(const char *address);

/* array_file_open or array_file_open_raw, as the address says. */
ArrayFile *array_file_open_address(const char *address, const ArrayOpenOptions *options,
                                   ArrayError *error);

#endif
