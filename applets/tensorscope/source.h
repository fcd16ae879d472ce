/* tensorscope/source.h: what is known of an opened file, copied so that any thread may keep it.
 *
 * applets/tensorscope/ is the tensor viewer: a C applet on the SDK and formats/ alone. app.c is the
 * way in (descriptor and life), panel*.c draw, loader.c reads files on a thread of its own, demo.c
 * writes the live field on another; the rest is pure: axes, range, summary, field, text.
 *
 * A Source has one owner and no thread; it is handed over by pointer and read only. */
#ifndef TENSORSCOPE_SOURCE_H
#define TENSORSCOPE_SOURCE_H

#include "formats/array_file.h"

typedef struct SourceArray {
    char *name;    /* "" in formats without names */
    char *problem; /* NULL, or why it cannot be read */
    ArrayDtype dtype;
    char dtype_text[32]; /* as the file writes it */
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t element_count;
    uint64_t size_bytes;
    bool fortran_order;
    bool big_endian;
    bool compressed;
    bool last_axis_is_colour;
} SourceArray;

typedef struct Source {
    uint64_t serial; /* above 0, of this one alone */
    char *path;      /* its address: a path, or one of formats/raw_layout.h */
    ArrayFormat format;
    bool gzip;
    uint64_t size_bytes; /* of the file */
    bool folder_is_writable;
    uint32_t count;
    SourceArray *arrays;
} Source;

/* NULL when there is no memory. */
Source *source_create(const char *path, const ArrayFile *file);
/* Frees and NULLs; accepts NULL. */
void source_destroy(Source **source);

/* The first array that can be shown, else 0. */
uint32_t source_first_readable(const Source *source);
/* The part of an address's path after its last slash. */
const char *source_file_name(const char *address);

#endif
