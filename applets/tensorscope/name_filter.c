/* tensorscope/name_filter.c: see name_filter.h. Frame thread. */
#include "name_filter.h"

#include <stdlib.h>
#include <string.h>

void name_filter_update(NameFilter *filter, const Source *source)
{
    if (filter->serial != source->serial || strcmp(filter->text, filter->wanted) != 0) {
        name_filter_finish(filter);
        memcpy(filter->text, filter->wanted, sizeof(filter->text));
        filter->serial = source->serial;
    }
    if (filter->text[0] == '\0' || filter->seen == source->count) {
        return;
    }
    if (filter->matches == NULL) {
        filter->matches = malloc(source->count * sizeof(*filter->matches));
        if (filter->matches == NULL) {
            return; /* tried again in the next frame */
        }
    }
    for (uint32_t i = 0; i < NAME_FILTER_NAMES_A_FRAME && filter->seen < source->count; i++) {
        if (strcasestr(source->arrays[filter->seen].name, filter->text) != NULL) {
            filter->matches[filter->match_count++] = filter->seen;
        }
        filter->seen++;
    }
}

uint32_t name_filter_count(const NameFilter *filter, const Source *source)
{
    return filter->text[0] == '\0' ? source->count : filter->match_count;
}

uint32_t name_filter_array(const NameFilter *filter, uint32_t row)
{
    return filter->text[0] == '\0' ? row : filter->matches[row];
}

void name_filter_finish(NameFilter *filter)
{
    free(filter->matches);
    filter->matches = NULL;
    filter->match_count = 0;
    filter->seen = 0;
    filter->text[0] = '\0';
    filter->serial = 0;
}
