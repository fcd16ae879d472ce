/* Reading a stream whole, and its cells; see result.h. */
#include "shell/runs/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

__extension__ typedef __int128 Whole; /* of a decimal, and any key */

/* ---- Life ---- */

Result *result_hold(Result *result)
{
    atomic_fetch_add(&result->references, 1);
    return result;
}

void result_drop(Result **address)
{
    Result *result = *address;
    *address = NULL;
    if (result == NULL || atomic_fetch_sub(&result->references, 1) != 1)
        return;
    for (uint32_t i = 0; i < result->batch_count; i++)
        result->batches[i].release(&result->batches[i]);
    for (int32_t i = 0; result->columns != NULL && i < result->column_count; i++) {
        free(result->columns[i].rendered.bytes);
        free(result->columns[i].at);
    }
    if (result->schema.release != NULL)
        result->schema.release(&result->schema);
    free(result->columns);
    free(result->batches);
    free(result->starts);
    free(result);
}

/* ---- Columns ---- */

static double time_unit(char letter)
{
    return letter == 's' ? 1.0 : letter == 'm' ? 1e-3 : letter == 'u' ? 1e-6 : 1e-9;
}

static void set_kind(ResultColumn *column, const struct ArrowSchema *schema)
{
    static const char integers[] = "csil", unsigneds[] = "CSIL", texts[] = "uUzZ";
    const char *format = schema->format;
    bool one = format[0] != '\0' && format[1] == '\0';
    int scale = 0, bits = 128;
    column->name = schema->name != NULL ? schema->name : "";
    column->kind = RESULT_KIND_OTHER;
    if (schema->dictionary != NULL)
        return;
    const char *found = one ? strchr(integers, format[0]) : NULL;
    if (found == NULL && one)
        found = strchr(unsigneds, format[0]);
    if (found != NULL) {
        bool is_signed = format[0] >= 'a';
        column->width_bytes = 1u << (found - (is_signed ? integers : unsigneds));
        column->kind = is_signed ? RESULT_KIND_INTEGER : RESULT_KIND_UNSIGNED;
    } else if (one && (format[0] == 'f' || format[0] == 'g')) {
        column->kind = RESULT_KIND_REAL;
        column->width_bytes = format[0] == 'f' ? 4 : 8;
    } else if (strcmp(format, "b") == 0) {
        column->kind = RESULT_KIND_BOOL;
    } else if (one && strchr(texts, format[0]) != NULL) {
        column->kind = RESULT_KIND_TEXT;
        column->width_bytes = format[0] < 'a' ? 8 : 4;
    } else if (strcmp(format, "tdD") == 0) {
        column->kind = RESULT_KIND_TIME;
        column->width_bytes = 4;
        column->unit = 86400.0;
    } else if (strncmp(format, "ts", 2) == 0 && format[2] != '\0') {
        column->kind = RESULT_KIND_TIME;
        column->width_bytes = 8;
        column->unit = time_unit(format[2]);
    } else if (sscanf(format, "d:%*d,%d,%d", &scale, &bits) >= 1 && bits == 128) {
        column->kind = RESULT_KIND_DECIMAL;
        column->unit = pow(10.0, -scale);
    }
}

/* ---- Values ---- */

typedef struct Place {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    int64_t row; /* in the array, without its offset */
} Place;

static Place place_of(const Result *result, int32_t column, int64_t row)
{
    uint32_t low = 0, high = result->batch_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (result->starts[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return (Place){.schema = result->schema.children[column],
                   .array = result->batches[low].children[column],
                   .row = row - result->starts[low]};
}

bool result_is_null(const Result *result, int32_t column, int64_t row)
{
    Place place = place_of(result, column, row);
    return arrow_text_is_null(place.schema, place.array, place.row);
}

bool result_is_number(const Result *result, int32_t column)
{
    return result->columns[column].kind < RESULT_KIND_TEXT;
}

static int64_t signed_at(const void *values, uint32_t width_bytes, int64_t at)
{
    switch (width_bytes) {
    case 1:
        return ((const int8_t *)values)[at];
    case 2:
        return ((const int16_t *)values)[at];
    case 4:
        return ((const int32_t *)values)[at];
    default:
        return ((const int64_t *)values)[at];
    }
}

static uint64_t unsigned_at(const void *values, uint32_t width_bytes, int64_t at)
{
    switch (width_bytes) {
    case 1:
        return ((const uint8_t *)values)[at];
    case 2:
        return ((const uint16_t *)values)[at];
    case 4:
        return ((const uint32_t *)values)[at];
    default:
        return ((const uint64_t *)values)[at];
    }
}

/* The bytes of a TEXT; *bytes is not ended by NUL. */
static size_t text_at(const ResultColumn *column, const Place *place, const char **bytes)
{
    int64_t at = place->array->offset + place->row;
    const void *offsets = place->array->buffers[1];
    int64_t begin = signed_at(offsets, column->width_bytes, at);
    int64_t end = signed_at(offsets, column->width_bytes, at + 1);
    *bytes = end > begin ? (const char *)place->array->buffers[2] + begin : "";
    return (size_t)(end - begin);
}

double result_number(const Result *result, int32_t at, int64_t row)
{
    const ResultColumn *column = &result->columns[at];
    Place place = place_of(result, at, row);
    if (arrow_text_is_null(place.schema, place.array, place.row))
        return (double)NAN;
    int64_t index = place.array->offset + place.row;
    const void *values = column->kind < RESULT_KIND_TEXT ? place.array->buffers[1] : NULL;
    switch (column->kind) {
    case RESULT_KIND_INTEGER:
        return (double)signed_at(values, column->width_bytes, index);
    case RESULT_KIND_UNSIGNED:
        return (double)unsigned_at(values, column->width_bytes, index);
    case RESULT_KIND_REAL:
        return column->width_bytes == 4 ? (double)((const float *)values)[index]
                                        : ((const double *)values)[index];
    case RESULT_KIND_BOOL:
        return ((const uint8_t *)values)[index / 8] >> (index % 8) & 1;
    case RESULT_KIND_TIME:
        return (double)signed_at(values, column->width_bytes, index) * column->unit;
    case RESULT_KIND_DECIMAL: {
        Whole whole;
        memcpy(&whole, (const char *)values + index * (int64_t)sizeof whole, sizeof whole);
        return (double)whole * column->unit;
    }
    case RESULT_KIND_TEXT:
    case RESULT_KIND_OTHER:
        break;
    }
    return (double)NAN;
}

/* ---- Cells ---- */

/* A length of at most `most` that cuts no character. */
static size_t cut(const char *bytes, size_t length, size_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)bytes[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* What would break the line becomes a blank. */
static void flatten(char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f)
            bytes[i] = ' ';
    }
}

/* A long text's first part, as if it were all. */
static void add_text(const ResultColumn *column, const Place *place, TextBuffer *out)
{
    const char *bytes = NULL;
    size_t length = text_at(column, place, &bytes);
    bool is_blob = place->schema->format[0] == 'z' || place->schema->format[0] == 'Z';
    size_t most = is_blob ? RESULT_CELL_BYTES / 4 : RESULT_CELL_BYTES;
    size_t shown = is_blob ? (length < most ? length : most) : cut(bytes, length, most);
    if (!is_blob) {
        text_buffer_add(out, bytes, shown);
    } else {
        int64_t offsets[2] = {0, (int64_t)shown};
        const void *buffers[3] = {NULL, offsets, bytes};
        const struct ArrowSchema schema = {.format = "Z", .name = ""};
        const struct ArrowArray array = {.length = 1, .n_buffers = 3, .buffers = buffers};
        arrow_text_value(&schema, &array, 0, ARROW_TEXT_FORM_PLAIN, out);
    }
    if (shown < length)
        text_buffer_text(out, "\u2026");
}

void result_cell(const Result *result, int32_t at, int64_t row, TextBuffer *out)
{
    const ResultColumn *column = &result->columns[at];
    Place place = place_of(result, at, row);
    size_t before = out->length;
    if (column->kind == RESULT_KIND_OTHER) {
        uint64_t begin = column->at[row];
        text_buffer_add(out, column->rendered.bytes + begin, column->at[row + 1] - begin);
    } else if (column->kind == RESULT_KIND_TEXT &&
               !arrow_text_is_null(place.schema, place.array, place.row)) {
        add_text(column, &place, out);
    } else {
        arrow_text_value(place.schema, place.array, place.row, ARROW_TEXT_FORM_PLAIN, out);
    }
    if (!out->failed && out->bytes != NULL)
        flatten(out->bytes + before, out->length - before);
}

/* ---- Reading ---- */

/* About what an array takes. */
static uint64_t bytes_of(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    char kind = schema->format[0];
    uint64_t bytes = 8 * (uint64_t)array->length;
    if ((kind == 'u' || kind == 'z') && array->n_buffers == 3)
        bytes += (uint64_t)((const int32_t *)array->buffers[1])[array->offset + array->length];
    if ((kind == 'U' || kind == 'Z') && array->n_buffers == 3)
        bytes += (uint64_t)((const int64_t *)array->buffers[1])[array->offset + array->length];
    for (int64_t i = 0; i < array->n_children && i < schema->n_children; i++)
        bytes += bytes_of(schema->children[i], array->children[i]);
    return bytes;
}

/* The texts of an OTHER column, made now: they may be long, and the frame thread has no time. */
static bool render(ResultColumn *column, const struct ArrowSchema *schema,
                   const struct ArrowArray *array, int64_t start)
{
    TextBuffer cell = {.bytes = NULL};
    uint64_t *at = realloc(column->at, (size_t)(start + array->length + 1) * sizeof *at);
    if (at == NULL)
        return false;
    column->at = at;
    text_buffer_text(&column->rendered, "");
    for (int64_t i = 0; i < array->length; i++) {
        cell.length = 0;
        arrow_text_value(schema, array, i, ARROW_TEXT_FORM_PLAIN, &cell);
        size_t shown = cell.bytes != NULL ? cut(cell.bytes, cell.length, RESULT_CELL_BYTES) : 0;
        at[start + i] = column->rendered.length;
        if (shown > 0)
            text_buffer_add(&column->rendered, cell.bytes, shown);
        if (shown < cell.length)
            text_buffer_text(&column->rendered, "\u2026");
    }
    at[start + array->length] = column->rendered.length;
    bool failed = cell.failed || column->rendered.failed;
    free(cell.bytes);
    return !failed;
}

/* Takes the batch over; false without memory, then it is the caller's still. */
static bool add_batch(Result *result, struct ArrowArray *batch)
{
    if (result->batch_count == result->batch_capacity) {
        uint32_t capacity = result->batch_capacity * 2 + 64;
        struct ArrowArray *batches = fault_here("runs.result.batch")
                                         ? NULL
                                         : realloc(result->batches, capacity * sizeof *batches);
        if (batches != NULL)
            result->batches = batches;
        int64_t *starts = realloc(result->starts, (capacity + 1) * sizeof *starts);
        if (starts != NULL)
            result->starts = starts;
        if (batches == NULL || starts == NULL)
            return false;
        result->batch_capacity = capacity;
    }
    for (int32_t i = 0; i < result->column_count; i++) {
        if (result->columns[i].kind == RESULT_KIND_OTHER &&
            !render(&result->columns[i], result->schema.children[i], batch->children[i],
                    result->row_count))
            return false;
    }
    result->bytes += bytes_of(&result->schema, batch);
    result->starts[result->batch_count] = result->row_count;
    result->batches[result->batch_count++] = *batch;
    result->row_count += batch->length;
    result->starts[result->batch_count] = result->row_count;
    return true;
}

static bool read_schema(Result *result, struct ArrowArrayStream *stream)
{
    if (stream->get_schema(stream, &result->schema) != 0) {
        result->schema.release = NULL;
        return false;
    }
    result->columns = calloc((size_t)result->schema.n_children + 1, sizeof *result->columns);
    if (result->columns == NULL)
        return false;
    result->column_count = (int32_t)result->schema.n_children;
    for (int32_t i = 0; i < result->column_count; i++)
        set_kind(&result->columns[i], result->schema.children[i]);
    return true;
}

static bool read_batches(Result *result, struct ArrowArrayStream *stream, const atomic_bool *stop,
                         char *why, size_t why_bytes)
{
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        if (atomic_load(stop) || stream->get_next(stream, &batch) != 0)
            return false;
        if (batch.release == NULL)
            return true;
        uint64_t bytes = bytes_of(&result->schema, &batch);
        if (result->row_count + batch.length > RESULT_ROWS_MAX ||
            result->bytes + bytes > RESULT_BYTES_MAX) {
            batch.release(&batch);
            result->more = result->batch_count > 0;
            if (!result->more)
                snprintf(why, why_bytes,
                         "the first rows take %llu MiB, more than the %llu MiB that are kept: "
                         "select fewer with LIMIT, or a part of long texts with left()",
                         (unsigned long long)(bytes >> 20),
                         (unsigned long long)(RESULT_BYTES_MAX >> 20));
            return result->more;
        }
        if (batch.length == 0) {
            batch.release(&batch);
        } else if (!add_batch(result, &batch)) {
            batch.release(&batch);
            return false;
        }
    }
}

Result *result_read(struct ArrowArrayStream *stream, const atomic_bool *stop, char *why,
                    size_t why_bytes)
{
    Result *result = fault_here("runs.result") ? NULL : calloc(1, sizeof *result);
    bool read = false;
    snprintf(why, why_bytes, "no memory for the result");
    if (result != NULL) {
        atomic_init(&result->references, 1);
        read = read_schema(result, stream) && read_batches(result, stream, stop, why, why_bytes);
    }
    const char *words = read ? NULL : stream->get_last_error(stream);
    if (!read && atomic_load(stop))
        snprintf(why, why_bytes, "it was stopped");
    else if (words != NULL && words[0] != '\0')
        snprintf(why, why_bytes, "%s", words);
    stream->release(stream);
    if (!read)
        result_drop(&result);
    return result;
}

/* ---- Order ---- */

typedef struct Key {
    bool null;
    union {
        Whole number;
        struct {
            const char *bytes;
            size_t length;
        } text;
    } of;
} Key;

typedef struct Keys {
    Key *keys;
    bool texts, descending;
} Keys;

/* Reals in an order of whole numbers: -inf .. -0 = 0 .. inf, NaN. */
static Whole ordered(double value)
{
    uint64_t bits;
    if (isnan(value))
        return (Whole)INT64_MAX + 1;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? -(Whole)(bits & INT64_MAX) : (Whole)bits;
}

static Key key_of(const Result *result, int32_t at, int64_t row)
{
    const ResultColumn *column = &result->columns[at];
    Place place = place_of(result, at, row);
    Key key = {.null = arrow_text_is_null(place.schema, place.array, place.row)};
    int64_t index = place.array->offset + place.row;
    if (key.null)
        return key;
    switch (column->kind) {
    case RESULT_KIND_INTEGER:
    case RESULT_KIND_TIME:
        key.of.number = signed_at(place.array->buffers[1], column->width_bytes, index);
        break;
    case RESULT_KIND_UNSIGNED:
        key.of.number = unsigned_at(place.array->buffers[1], column->width_bytes, index);
        break;
    case RESULT_KIND_REAL:
    case RESULT_KIND_BOOL:
        key.of.number = ordered(result_number(result, at, row));
        break;
    case RESULT_KIND_DECIMAL:
        memcpy(&key.of.number, (const char *)place.array->buffers[1] + index * 16, 16);
        break;
    case RESULT_KIND_TEXT:
        key.of.text.length = text_at(column, &place, &key.of.text.bytes);
        break;
    case RESULT_KIND_OTHER:
        key.of.text.bytes = column->rendered.bytes + column->at[row];
        key.of.text.length = column->at[row + 1] - column->at[row];
        break;
    }
    return key;
}

static int by_key(const void *a, const void *b, void *user)
{
    const Keys *keys = user;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    const Key *x = &keys->keys[one], *y = &keys->keys[other];
    int order = 0;
    if (x->null != y->null)
        return x->null ? 1 : -1;
    if (!x->null && keys->texts) {
        size_t least =
            x->of.text.length < y->of.text.length ? x->of.text.length : y->of.text.length;
        order = memcmp(x->of.text.bytes, y->of.text.bytes, least);
        if (order == 0)
            order =
                (x->of.text.length > y->of.text.length) - (x->of.text.length < y->of.text.length);
    } else if (!x->null) {
        order = (x->of.number > y->of.number) - (x->of.number < y->of.number);
    }
    if (keys->descending)
        order = -order;
    return order != 0 ? order : (one > other) - (one < other);
}

uint32_t *result_order(const Result *result, int32_t column, bool descending)
{
    size_t count = (size_t)result->row_count;
    uint32_t *order = fault_here("runs.order") ? NULL : malloc((count + 1) * sizeof *order);
    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)(column < 0 && descending ? count - 1 - i : i);
    if (column < 0)
        return order;
    Keys keys = {.keys = fault_here("runs.order") ? NULL : malloc((count + 1) * sizeof *keys.keys),
                 .texts = result->columns[column].kind >= RESULT_KIND_TEXT,
                 .descending = descending};
    if (keys.keys == NULL) {
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        keys.keys[i] = key_of(result, column, (int64_t)i);
    qsort_r(order, count, sizeof *order, by_key, &keys);
    free(keys.keys);
    return order;
}
