/* formats/json_scan.h: reads JSON front to back, piece by piece, without building a tree.
 *
 * The caller says what it expects next, so nesting costs nothing. Only files of formats/ include
 * it. Thread rule: one scan by one thread. */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

#include "formats/byte_source.h"

typedef struct JsonScan {
    char *start, *at, *end; /* strings are decoded in place */
    const char *file;       /* for messages */
    ArrayError *error;
    const ByteSource *source; /* whose cancel is asked once in 64 KiB of a string; may be NULL */
} JsonScan;

/* Says what is there and what was wanted. Always false. */
bool json_refuse(const JsonScan *scan, const char *wanted);

/* Takes one punctuation mark after white space, if it is next. */
bool json_take(JsonScan *scan, char mark);
/* The same, refusing anything else. */
bool json_expect(JsonScan *scan, char mark);

/* A string: decoded in place, valid UTF-8, perhaps with NUL in it (written \u0000), so `length`
 * counts; lives as long as the scanned text. */
bool json_string(JsonScan *scan, const char **text, size_t *length);
/* A whole number from 0 to 2^63 - 1, without sign, fraction or exponent. */
bool json_whole_number(JsonScan *scan, uint64_t *value);
/* Nothing but white space is left. */
bool json_end(JsonScan *scan);

#endif
