/* tensorscope/name_filter.h: which arrays of a file have a text in their name. A file may hold very
 * many: so many names are looked at in a frame, and the answer is kept until text or file change.
 *
 * Frame thread only. */
#ifndef TENSORSCOPE_NAME_FILTER_H
#define TENSORSCOPE_NAME_FILTER_H

#include "source.h"

enum { NAME_FILTER_TEXT_BYTES = 128, NAME_FILTER_NAMES_A_FRAME = 4096 };

/* Zeroed memory is a filter that lets all through. */
typedef struct NameFilter {
    uint64_t file_number;                /* of the session's file that `wanted` was typed for */
    char wanted[NAME_FILTER_TEXT_BYTES]; /* as the person has it; "" lets all through */
    /* What was found of it, in the file's order. */
    uint32_t *matches;
    uint32_t match_count;
    uint32_t seen; /* names that were looked at; all once it is the file's count */
    char text[NAME_FILTER_TEXT_BYTES];
    uint64_t serial; /* of the source */
} NameFilter;

/* Once a frame: goes on where it was, or begins again when `wanted` or the source is another. */
void name_filter_update(NameFilter *filter, const Source *source);
/* How many arrays to list, and which one is at `row` of the list. */
uint32_t name_filter_count(const NameFilter *filter, const Source *source);
uint32_t name_filter_array(const NameFilter *filter, uint32_t row);
void name_filter_finish(NameFilter *filter);

#endif
