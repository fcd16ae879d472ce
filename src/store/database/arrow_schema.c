/* Copies an Arrow schema so that it outlives whoever made it. Any thread. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "store/database/arrow_stream.h"

static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children != NULL && i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
    }
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    free((void *)(uintptr_t)schema->format);
    free((void *)(uintptr_t)schema->name);
    free((void *)(uintptr_t)schema->metadata);
    schema->release = NULL;
}

/* Bytes of Arrow's metadata: int32 pairs, then for each int32 length, key, int32 length, value. */
static size_t metadata_bytes(const char *metadata)
{
    int32_t pairs;
    size_t at = sizeof pairs;
    memcpy(&pairs, metadata, sizeof pairs);
    for (int64_t i = 0; i < 2 * (int64_t)pairs; i++) {
        int32_t length;
        memcpy(&length, metadata + at, sizeof length);
        at += sizeof length + (size_t)length;
    }
    return at;
}

static char *copy_bytes(const char *bytes, size_t size_bytes)
{
    char *copy = fault_here("store.schema.alloc") ? NULL : malloc(size_bytes);
    if (copy != NULL)
        memcpy(copy, bytes, size_bytes);
    return copy;
}

static bool copy_text(const char *text, const char **out)
{
    *out = text != NULL ? copy_bytes(text, strlen(text) + 1) : NULL;
    return text == NULL || *out != NULL;
}

static struct ArrowSchema *copy_child(const struct ArrowSchema *from)
{
    struct ArrowSchema *child = calloc(1, sizeof *child);
    if (child != NULL && !arrow_schema_copy(from, child)) {
        free(child);
        child = NULL;
    }
    return child;
}

bool arrow_schema_copy(const struct ArrowSchema *from, struct ArrowSchema *out)
{
    struct ArrowSchema copy = {.flags = from->flags, .release = schema_release};
    if (!copy_text(from->format, &copy.format) || !copy_text(from->name, &copy.name))
        goto failed;
    if (from->metadata != NULL) {
        copy.metadata = copy_bytes(from->metadata, metadata_bytes(from->metadata));
        if (copy.metadata == NULL)
            goto failed;
    }
    if (from->n_children > 0) {
        copy.children = calloc((size_t)from->n_children, sizeof(struct ArrowSchema *));
        if (copy.children == NULL)
            goto failed;
        copy.n_children = from->n_children;
        for (int64_t i = 0; i < from->n_children; i++) {
            copy.children[i] = copy_child(from->children[i]);
            if (copy.children[i] == NULL)
                goto failed;
        }
    }
    if (from->dictionary != NULL) {
        copy.dictionary = copy_child(from->dictionary);
        if (copy.dictionary == NULL)
            goto failed;
    }
    *out = copy;
    return true;

failed:
    schema_release(&copy);
    return false;
}
