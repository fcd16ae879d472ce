/* The index in memory: rows, the names behind one another, and three hash tables over the rows.
 * Each bucket links the newest row of every key in it; rows of one key link to older ones. One
 * thread. */
#include "store/artifacts/artifact_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

enum { ROWS_FIRST = 64, NAMES_FIRST_BYTES = 4096, BUCKETS_FIRST = 64 };

/* FNV-1a, then a finaliser (MurmurHash3's), since buckets take the low bits. */
static uint64_t hash_bytes(const void *bytes, size_t size_bytes)
{
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size_bytes; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 33;
}

const char *artifact_index_name(const ArtifactIndex *index, uint32_t row)
{
    return index->names + index->rows[row].name_offset;
}

static uint64_t row_hash(const ArtifactIndex *index, uint32_t row, ArtifactKey key)
{
    const ArtifactEntry *entry = &index->rows[row];
    if (key == ARTIFACT_KEY_DIGEST)
        return hash_bytes(entry->digest.bytes, sizeof entry->digest.bytes);
    if (key == ARTIFACT_KEY_RUN)
        return hash_bytes(&entry->run, sizeof entry->run);
    const char *name = artifact_index_name(index, row);
    return hash_bytes(name, strlen(name));
}

/* Whether the row has the key `wanted` points to: text, a digest or a run. */
static bool row_has(const ArtifactIndex *index, uint32_t row, ArtifactKey key, const void *wanted)
{
    const ArtifactEntry *entry = &index->rows[row];
    if (key == ARTIFACT_KEY_DIGEST)
        return artifact_digest_equal(&entry->digest, wanted);
    if (key == ARTIFACT_KEY_RUN)
        return entry->run == *(const uint64_t *)wanted;
    return strcmp(artifact_index_name(index, row), wanted) == 0;
}

static uint32_t find(const ArtifactIndex *index, ArtifactKey key, const void *wanted, size_t bytes)
{
    if (index->bucket_count == 0)
        return ARTIFACT_ROW_NONE;
    uint32_t row = index->buckets[key][hash_bytes(wanted, bytes) & (index->bucket_count - 1)];
    while (row != ARTIFACT_ROW_NONE && !row_has(index, row, key, wanted))
        row = index->rows[row].next[key];
    return row;
}

uint32_t artifact_index_find_name(const ArtifactIndex *index, const char *name)
{
    return find(index, ARTIFACT_KEY_NAME, name, strlen(name));
}

uint32_t artifact_index_find_digest(const ArtifactIndex *index, const ArtifactDigest *digest)
{
    return find(index, ARTIFACT_KEY_DIGEST, digest, sizeof digest->bytes);
}

uint32_t artifact_index_find_run(const ArtifactIndex *index, uint64_t run)
{
    return find(index, ARTIFACT_KEY_RUN, &run, sizeof run);
}

/* Puts a row in its bucket, in the place of the row of the same key that was the newest. */
static void row_link(ArtifactIndex *index, uint32_t row, ArtifactKey key)
{
    ArtifactEntry *entry = &index->rows[row];
    const void *wanted = key == ARTIFACT_KEY_DIGEST ? (const void *)&entry->digest
                         : key == ARTIFACT_KEY_RUN  ? (const void *)&entry->run
                                                    : artifact_index_name(index, row);
    uint32_t *place = &index->buckets[key][row_hash(index, row, key) & (index->bucket_count - 1)];
    while (*place != ARTIFACT_ROW_NONE && !row_has(index, *place, key, wanted))
        place = &index->rows[*place].next[key];
    entry->older[key] = *place;
    entry->next[key] =
        *place != ARTIFACT_ROW_NONE ? index->rows[*place].next[key] : ARTIFACT_ROW_NONE;
    *place = row;
}

/* Twice the buckets, or the first ones. */
static bool buckets_grow(ArtifactIndex *index)
{
    uint32_t count = index->bucket_count == 0 ? BUCKETS_FIRST : index->bucket_count * 2;
    uint32_t *grown[ARTIFACT_KEY_COUNT] = {NULL};
    for (int key = 0; key < ARTIFACT_KEY_COUNT; key++) {
        grown[key] = fault_here("artifacts.alloc") ? NULL : malloc(count * sizeof *grown[key]);
        if (grown[key] == NULL) {
            while (key-- > 0)
                free(grown[key]);
            return false;
        }
        memset(grown[key], 0xff, count * sizeof *grown[key]); /* ARTIFACT_ROW_NONE */
    }
    for (int key = 0; key < ARTIFACT_KEY_COUNT; key++) {
        for (uint32_t i = 0; i < index->bucket_count; i++) {
            uint32_t row = index->buckets[key][i];
            while (row != ARTIFACT_ROW_NONE) {
                uint32_t next = index->rows[row].next[key];
                uint64_t hash = row_hash(index, row, (ArtifactKey)key);
                index->rows[row].next[key] = grown[key][hash & (count - 1)];
                grown[key][hash & (count - 1)] = row;
                row = next;
            }
        }
        free(index->buckets[key]);
        index->buckets[key] = grown[key];
    }
    index->bucket_count = count;
    return true;
}

/* Room for one more row with a name of `name_bytes`, its zero included. */
static bool make_room(ArtifactIndex *index, size_t name_bytes)
{
    if (index->count == index->capacity) {
        uint32_t capacity = index->capacity == 0 ? ROWS_FIRST : index->capacity * 2;
        ArtifactEntry *rows = fault_here("artifacts.alloc") || capacity <= index->capacity
                                  ? NULL
                                  : realloc(index->rows, (size_t)capacity * sizeof *rows);
        if (rows == NULL)
            return false;
        index->rows = rows;
        index->capacity = capacity;
    }
    if (index->names_capacity - index->names_used < name_bytes) {
        size_t capacity = index->names_capacity * 2 + NAMES_FIRST_BYTES + name_bytes;
        char *names = fault_here("artifacts.alloc") ? NULL : realloc(index->names, capacity);
        if (names == NULL)
            return false;
        index->names = names;
        index->names_capacity = capacity;
    }
    return index->count < index->bucket_count || buckets_grow(index);
}

static bool add_row(ArtifactIndex *index, const ArtifactLine *line)
{
    size_t name_bytes = strlen(line->name) + 1;
    if (!make_room(index, name_bytes))
        return false;
    uint32_t row = index->count++;
    index->rows[row] = (ArtifactEntry){.digest = line->digest,
                                       .run = line->run,
                                       .size_bytes = line->size_bytes,
                                       .created_us = line->created_us,
                                       .name_offset = index->names_used};
    memcpy(index->names + index->names_used, line->name, name_bytes);
    index->names_used += name_bytes;
    for (int key = 0; key < ARTIFACT_KEY_COUNT; key++)
        row_link(index, row, (ArtifactKey)key);
    return true;
}

static bool end_line(ArtifactIndex *index, const char *text, size_t length)
{
    ArtifactLine line;
    index->lines++;
    if (!index->too_long && artifact_line_read(text, length, &line))
        return add_row(index, &line);
    index->damaged++;
    if (index->damaged_line == 0)
        index->damaged_line = index->lines;
    index->too_long = false;
    return true;
}

/* Keeps a piece of a line for later; a line that grows too long is not kept. */
static bool keep(ArtifactIndex *index, const char *bytes, size_t size_bytes)
{
    if (index->too_long || size_bytes > ARTIFACT_LINE_MAX_BYTES - index->carry_used) {
        index->too_long = index->too_long || size_bytes > 0;
        index->carry_used = 0;
        return true;
    }
    if (index->carry == NULL && size_bytes > 0) {
        index->carry = fault_here("artifacts.alloc") ? NULL : malloc(ARTIFACT_LINE_MAX_BYTES);
        if (index->carry == NULL)
            return false;
    }
    if (size_bytes > 0)
        memcpy(index->carry + index->carry_used, bytes, size_bytes);
    index->carry_used += size_bytes;
    return true;
}

bool artifact_index_feed(ArtifactIndex *index, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        const char *newline = memchr(bytes, '\n', size_bytes);
        size_t length = newline != NULL ? (size_t)(newline - bytes) : size_bytes;
        bool is_whole = newline != NULL && index->carry_used == 0 && !index->too_long;
        bool fed = is_whole ? end_line(index, bytes, length) : keep(index, bytes, length);
        if (fed && newline != NULL && !is_whole) {
            fed = end_line(index, index->carry, index->carry_used);
            index->carry_used = 0;
        }
        if (!fed) {
            artifact_index_finish(index);
            return false;
        }
        length += newline != NULL ? 1 : 0;
        bytes += length;
        size_bytes -= length;
    }
    return true;
}

bool artifact_index_has_torn_line(const ArtifactIndex *index)
{
    return index->carry_used > 0 || index->too_long;
}

void artifact_index_finish(ArtifactIndex *index)
{
    free(index->rows);
    free(index->names);
    free(index->carry);
    for (int key = 0; key < ARTIFACT_KEY_COUNT; key++)
        free(index->buckets[key]);
    memset(index, 0, sizeof *index);
}
