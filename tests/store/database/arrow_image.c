/* Writes the result of a statement as an image of the memory of a 32-bit machine: the Arrow structs
 * with pointers of 4 bytes, and their buffers, byte for byte. So another Arrow implementation,
 * which reads the C data interface out of WebAssembly's memory, can read what our streams give: see
 * arrow_peer.mjs. Usage: arrow_image SQL FILE. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "database_fixture.h"

enum { HEADER_BYTES = 4096, BATCHES_MAX = 1000, SCHEMA_BYTES = 48, ARRAY_BYTES = 64 };

static unsigned char *image;
static size_t image_used = HEADER_BYTES, image_capacity;

static uint32_t place(const void *bytes, size_t size)
{
    size_t at = (image_used + 63) / 64 * 64;
    if (at + size + 64 > image_capacity) {
        image_capacity = 2 * (at + size + 65536);
        image = realloc(image, image_capacity);
        assert_non_null(image);
        memset(image + image_used, 0, image_capacity - image_used);
    }
    if (size > 0 && bytes != NULL)
        memcpy(image + at, bytes, size);
    image_used = at + size;
    return (uint32_t)at;
}

static void put32(uint32_t at, uint32_t value)
{
    memcpy(image + at, &value, sizeof value);
}

static void put64(uint32_t at, int64_t value)
{
    memcpy(image + at, &value, sizeof value);
}

static uint32_t place_text(const char *text)
{
    return text != NULL ? place(text, strlen(text) + 1) : 0;
}

static uint32_t place_schema(const struct ArrowSchema *schema)
{
    uint32_t at = place(NULL, SCHEMA_BYTES);
    uint32_t children = schema->n_children > 0 ? place(NULL, 4 * (size_t)schema->n_children) : 0;
    put32(at, place_text(schema->format));
    put32(at + 4, place_text(schema->name != NULL ? schema->name : ""));
    put32(at + 8, place("\0\0\0\0", 4)); /* no pairs of metadata */
    put64(at + 16, schema->flags);
    put64(at + 24, schema->n_children);
    put32(at + 32, children);
    for (int64_t i = 0; i < schema->n_children; i++) {
        uint32_t child = place_schema(schema->children[i]);
        put32(children + 4 * (uint32_t)i, child);
    }
    uint32_t dictionary = schema->dictionary != NULL ? place_schema(schema->dictionary) : 0;
    put32(at + 36, dictionary);
    put32(at + 40, 1); /* not released */
    return at;
}

/* Bytes of one value of a format of fixed width; 0: it has none. */
static size_t width_of(const char *format)
{
    static const struct {
        const char *start;
        size_t bytes;
    } widths[] = {{"c", 1},   {"C", 1},   {"s", 2},   {"S", 2},   {"i", 4},   {"I", 4},
                  {"l", 8},   {"L", 8},   {"f", 4},   {"g", 8},   {"d:", 16}, {"tdD", 4},
                  {"tts", 4}, {"ttm", 4}, {"ttu", 8}, {"ttn", 8}, {"ts", 8},  {"tin", 16}};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        size_t length = strlen(widths[i].start);
        if (strncmp(format, widths[i].start, length) == 0 && (length > 1 || format[1] == '\0'))
            return widths[i].bytes;
    }
    return 0;
}

/* Bytes of buffer `index` by the Arrow specification. */
static size_t buffer_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array,
                           int64_t index)
{
    size_t rows = (size_t)(array->length + array->offset);
    const char *format = schema->format;
    if (index == 0)
        return (rows + 7) / 8;
    if (strcmp(format, "b") == 0)
        return (rows + 7) / 8;
    if (width_of(format) > 0)
        return rows * width_of(format);
    if (index == 1)
        return 4 * (rows + 1);
    return (size_t)((const int32_t *)array->buffers[1])[rows];
}

static uint32_t place_array(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    uint32_t at = place(NULL, ARRAY_BYTES);
    uint32_t buffers = place(NULL, 4 * (size_t)array->n_buffers);
    uint32_t children = array->n_children > 0 ? place(NULL, 4 * (size_t)array->n_children) : 0;
    put64(at, array->length);
    put64(at + 8, array->null_count);
    put64(at + 16, array->offset);
    put64(at + 24, array->n_buffers);
    put64(at + 32, array->n_children);
    put32(at + 40, buffers);
    put32(at + 44, children);
    for (int64_t i = 0; i < array->n_buffers; i++) {
        uint32_t buffer = array->buffers[i] != NULL
                              ? place(array->buffers[i], buffer_bytes(schema, array, i))
                              : 0;
        put32(buffers + 4 * (uint32_t)i, buffer);
    }
    for (int64_t i = 0; i < array->n_children; i++) {
        uint32_t child = place_array(schema->children[i], array->children[i]);
        put32(children + 4 * (uint32_t)i, child);
    }
    uint32_t dictionary =
        array->dictionary != NULL ? place_array(schema->dictionary, array->dictionary) : 0;
    put32(at + 48, dictionary);
    put32(at + 52, 1);
    return at;
}

int main(int argc, char **argv)
{
    log_set_threshold("error");
    if (argc != 3)
        return 2;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    DatabaseError error;
    uint32_t count = 0;
    place(NULL, 0);
    if (!fixture_stream(database, argv[1], &stream, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    if (stream.get_schema(&stream, &schema) != 0)
        return 1;
    uint32_t schema_at = place_schema(&schema);
    put32(0, schema_at);
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL && count < BATCHES_MAX) {
        uint32_t batch_at = place_array(&schema, &batch);
        put32(8 + 4 * count++, batch_at);
        batch.release(&batch);
    }
    put32(4, count);
    schema.release(&schema);
    stream.release(&stream);
    database_close(&database);
    FILE *file = fopen(argv[2], "wb");
    bool written = file != NULL && fwrite(image, 1, image_used, file) == image_used;
    if (file != NULL && fclose(file) != 0)
        written = false;
    free(image);
    return written ? 0 : 1;
}
