/* formats/tfevents_tags.c: tags and their plugins, in a hash table of bounded size. One thread. */
#include "formats/tfevents_impl.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_FIRST = 64, TAGS_MAX = 65536, TAG_BYTES_MAX = 4096 };

void tfevents_tags_finish(TfeventsTags *tags)
{
    for (size_t i = 0; i < tags->capacity; i++)
        free(tags->places[i].name);
    free(tags->places);
    memset(tags, 0, sizeof *tags);
}

/* FNV-1a with its high bits folded in. */
static size_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 29);
}

/* The tag's place, or the free one where it belongs. */
static TfeventsTag *place_of(const TfeventsTags *tags, const char *name)
{
    size_t at = hash_of(name) & (tags->capacity - 1);
    while (tags->places[at].name != NULL && strcmp(tags->places[at].name, name) != 0)
        at = (at + 1) & (tags->capacity - 1);
    return &tags->places[at];
}

static bool grow(TfeventsTags *tags)
{
    TfeventsTags grown = {.count = tags->count,
                          .capacity = tags->capacity == 0 ? PLACES_FIRST : tags->capacity * 2};
    grown.places = calloc(grown.capacity, sizeof *grown.places);
    if (grown.places == NULL)
        return false;
    for (size_t i = 0; i < tags->capacity; i++) {
        if (tags->places[i].name != NULL)
            *place_of(&grown, tags->places[i].name) = tags->places[i];
    }
    free(tags->places);
    *tags = grown;
    return true;
}

TfeventsPlugin tfevents_tags_plugin(TfeventsTags *tags, const char *tag, TfeventsPlugin said)
{
    TfeventsTag *place = tags->capacity > 0 ? place_of(tags, tag) : NULL;
    if (place != NULL && place->name != NULL)
        return place->plugin;
    if (said == TFEVENTS_PLUGIN_NONE || tags->count == TAGS_MAX || strlen(tag) > TAG_BYTES_MAX)
        return said;
    if (tags->count * 2 >= tags->capacity && !grow(tags))
        return said;
    place = place_of(tags, tag);
    place->name = strdup(tag);
    if (place->name != NULL) {
        place->plugin = said;
        tags->count++;
    }
    return said;
}
