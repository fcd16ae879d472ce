/* Walks a value by its Arrow format; see arrow_text.h. Offsets and lengths are believed: they come
 * from the library in this process. */
#include "store/database/arrow_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fault.h"
#include "store/database/arrow_text_impl.h"

/* ---- The buffer ---- */

static bool buffer_reserve(TextBuffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more < buffer->capacity - buffer->length)
        return true;
    size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
    while (capacity - buffer->length <= more)
        capacity *= 2;
    char *bytes = fault_here("store.text.alloc") ? NULL : realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void text_buffer_add(TextBuffer *buffer, const char *bytes, size_t length)
{
    if (!buffer_reserve(buffer, length))
        return;
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

void text_buffer_text(TextBuffer *buffer, const char *text)
{
    text_buffer_add(buffer, text, strlen(text));
}

void text_buffer_print(TextBuffer *buffer, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        text_buffer_add(buffer, text,
                        (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* ---- Texts ---- */

void arrow_text_json_string(const char *bytes, size_t length, TextBuffer *out)
{
    text_buffer_text(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            text_buffer_print(out, "\\%c", c);
        else if (c == '\n')
            text_buffer_text(out, "\\n");
        else if (c == '\t')
            text_buffer_text(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            text_buffer_print(out, "\\u%04x", c);
        else
            text_buffer_add(out, bytes + i, 1);
    }
    text_buffer_text(out, "\"");
}

/* DuckDB quotes a text inside a list, struct or map when it could be read otherwise. */
static bool needs_quotes(const char *bytes, size_t length)
{
    static const char special[] = "\"'(),:=[]{}";
    if (length == 0 || strchr(" \t\n\v\f\r", bytes[0]) != NULL ||
        strchr(" \t\n\v\f\r", bytes[length - 1]) != NULL)
        return true;
    if (length == 4 && strncasecmp(bytes, "null", 4) == 0)
        return true;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\0' && strchr(special, bytes[i]) != NULL)
            return true;
    }
    return false;
}

static void add_quoted(const char *bytes, size_t length, TextBuffer *out)
{
    text_buffer_text(out, "'");
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\'' || bytes[i] == '\\')
            text_buffer_text(out, "\\");
        text_buffer_add(out, bytes + i, 1);
    }
    text_buffer_text(out, "'");
}

typedef struct Value {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    int64_t row; /* without the array's offset */
    ArrowTextForm form;
    bool nested; /* inside a list, struct, map or union */
} Value;

static void add_text(const Value *value, const char *bytes, size_t length, TextBuffer *out)
{
    if (value->form == ARROW_TEXT_FORM_JSON)
        arrow_text_json_string(bytes, length, out);
    else if (value->nested && needs_quotes(bytes, length))
        add_quoted(bytes, length, out);
    else
        text_buffer_add(out, bytes, length);
}

/* Words made of ASCII that JSON has as a string. */
static void add_word(const Value *value, const TextBuffer *word, TextBuffer *out)
{
    if (word->bytes != NULL)
        add_text(value, word->bytes, word->length, out);
}

/* Printable ASCII as it is, but for quotes and backslash; the rest as \xHH. */
static void add_blob(const Value *value, const unsigned char *bytes, size_t length, TextBuffer *out)
{
    TextBuffer text = {.bytes = NULL};
    for (size_t i = 0; i < length; i++) {
        unsigned char c = bytes[i];
        if (c >= 0x20 && c < 0x7f && c != '\\' && c != '\'' && c != '"')
            text_buffer_add(&text, (const char *)&bytes[i], 1);
        else
            text_buffer_print(&text, "\\x%02X", c);
    }
    out->failed |= text.failed;
    add_text(value, text.bytes != NULL ? text.bytes : "", text.length, out);
    free(text.bytes);
}

/* ---- Values ---- */

static void add_value(const Value *value, TextBuffer *out);

static bool is_null(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row)
{
    if (strcmp(schema->format, "n") == 0)
        return true;
    if (array->null_count == 0 || array->n_buffers == 0 || strncmp(schema->format, "+u", 2) == 0)
        return false;
    const uint8_t *bits = array->buffers[0];
    int64_t at = row + array->offset;
    return bits != NULL && (bits[at / 8] >> (at % 8) & 1) == 0;
}

static Value child_of(const Value *value, int64_t child, int64_t row)
{
    return (Value){.schema = value->schema->children[child],
                   .array = value->array->children[child],
                   .row = row,
                   .form = value->form,
                   .nested = true};
}

/* The member that a union's value is of, and its row. */
static Value union_member(const Value *value)
{
    int64_t at = value->row + value->array->offset;
    bool dense = value->schema->format[2] == 'd';
    int type = ((const int8_t *)value->array->buffers[0])[at];
    int64_t member = 0;
    const char *ids = strchr(value->schema->format, ':');
    for (int64_t i = 0; ids != NULL && i < value->schema->n_children; i++) {
        if (atoi(ids + 1) == type)
            member = i;
        ids = strchr(ids + 1, ',');
    }
    return child_of(value, member, dense ? ((const int32_t *)value->array->buffers[1])[at] : at);
}

bool arrow_text_is_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                        int64_t row)
{
    if (strncmp(schema->format, "+u", 2) == 0) {
        const Value value = {.schema = schema, .array = array, .row = row};
        Value member = union_member(&value);
        return arrow_text_is_null(member.schema, member.array, member.row);
    }
    return is_null(schema, array, row);
}

/* Elements [first, end) of the only child between brackets. */
static void add_list(const Value *value, int64_t first, int64_t end, TextBuffer *out)
{
    text_buffer_text(out, "[");
    for (int64_t i = first; i < end; i++) {
        Value item = child_of(value, 0, i);
        if (i > first)
            text_buffer_text(out, ", ");
        add_value(&item, out);
    }
    text_buffer_text(out, "]");
}

static void add_struct(const Value *value, TextBuffer *out)
{
    text_buffer_text(out, "{");
    for (int64_t i = 0; i < value->schema->n_children; i++) {
        Value member = child_of(value, i, value->row + value->array->offset);
        const char *name = member.schema->name != NULL ? member.schema->name : "";
        if (i > 0)
            text_buffer_text(out, ", ");
        if (value->form == ARROW_TEXT_FORM_JSON)
            arrow_text_json_string(name, strlen(name), out);
        else
            add_quoted(name, strlen(name), out);
        text_buffer_text(out, ": ");
        add_value(&member, out);
    }
    text_buffer_text(out, "}");
}

/* {k=v, ...}; in JSON an object when the keys are texts, else an array of pairs. */
static void add_map(const Value *value, int64_t first, int64_t end, TextBuffer *out)
{
    Value entries = child_of(value, 0, 0);
    bool json = value->form == ARROW_TEXT_FORM_JSON;
    bool object = json && strcmp(entries.schema->children[0]->format, "u") == 0;
    text_buffer_text(out, json && !object ? "[" : "{");
    for (int64_t i = first; i < end; i++) {
        int64_t at = i + entries.array->offset;
        Value key = child_of(&entries, 0, at);
        Value item = child_of(&entries, 1, at);
        if (i > first)
            text_buffer_text(out, ", ");
        if (json && !object)
            text_buffer_text(out, "[");
        add_value(&key, out);
        text_buffer_text(out, object ? ": " : json ? ", " : "=");
        add_value(&item, out);
        if (json && !object)
            text_buffer_text(out, "]");
    }
    text_buffer_text(out, json && !object ? "]" : "}");
}

static void add_nested(const Value *value, TextBuffer *out)
{
    const char *format = value->schema->format;
    int64_t at = value->row + value->array->offset;
    if (format[1] == 's') {
        add_struct(value, out);
    } else if (format[1] == 'u') {
        Value member = union_member(value);
        member.nested = false; /* as DuckDB: what a union holds is not quoted */
        add_value(&member, out);
    } else if (format[1] == 'w') {
        int64_t size = strtoll(format + 3, NULL, 10);
        add_list(value, at * size, (at + 1) * size, out);
    } else if (format[1] == 'L') {
        const int64_t *offsets = value->array->buffers[1];
        add_list(value, offsets[at], offsets[at + 1], out);
    } else {
        const int32_t *offsets = value->array->buffers[1];
        if (format[1] == 'm')
            add_map(value, offsets[at], offsets[at + 1], out);
        else
            add_list(value, offsets[at], offsets[at + 1], out);
    }
}

/* "u", "U", "z", "Z" and "w:N". */
static void add_bytes(const Value *value, TextBuffer *out)
{
    const char *format = value->schema->format;
    const char *bytes = value->array->buffers[format[0] == 'w' ? 1 : 2];
    int64_t at = value->row + value->array->offset;
    int64_t first = 0, end = 0;
    if (format[0] == 'w') {
        int64_t size = strtoll(format + 2, NULL, 10);
        first = at * size;
        end = first + size;
    } else if (format[0] == 'U' || format[0] == 'Z') {
        first = ((const int64_t *)value->array->buffers[1])[at];
        end = ((const int64_t *)value->array->buffers[1])[at + 1];
    } else {
        first = ((const int32_t *)value->array->buffers[1])[at];
        end = ((const int32_t *)value->array->buffers[1])[at + 1];
    }
    bytes = bytes != NULL ? bytes + first : "";
    if (format[0] == 'u' || format[0] == 'U')
        add_text(value, bytes, (size_t)(end - first), out);
    else
        add_blob(value, (const unsigned char *)bytes, (size_t)(end - first), out);
}

static int digits_of_unit(char unit)
{
    return unit == 's' ? 0 : unit == 'm' ? 3 : unit == 'u' ? 6 : 9;
}

/* "td?", "tt?", "ts?:ZONE", "ti?". */
static void add_time(const Value *value, TextBuffer *out)
{
    const char *format = value->schema->format;
    const void *values = value->array->buffers[1];
    int64_t at = value->row + value->array->offset;
    TextBuffer word = {.bytes = NULL};
    if (format[1] == 'd' && format[2] == 'D') {
        arrow_text_date(((const int32_t *)values)[at], &word);
    } else if (format[1] == 'd') {
        arrow_text_date(((const int64_t *)values)[at] / 86400000, &word);
    } else if (format[1] == 't') {
        bool small = format[2] == 's' || format[2] == 'm';
        arrow_text_time(small ? ((const int32_t *)values)[at] : ((const int64_t *)values)[at],
                        digits_of_unit(format[2]), &word);
    } else if (format[1] == 's') {
        arrow_text_timestamp(((const int64_t *)values)[at], digits_of_unit(format[2]),
                             format[3] == ':' && format[4] != '\0', &word);
    } else if (format[1] == 'i' && format[2] == 'n') {
        int32_t parts[2];
        int64_t nanoseconds;
        const char *bytes = (const char *)values + 16 * at;
        memcpy(parts, bytes, sizeof parts);
        memcpy(&nanoseconds, bytes + 8, sizeof nanoseconds);
        arrow_text_interval(parts[0], parts[1], nanoseconds, &word);
    } else {
        text_buffer_print(&word, "<%.32s>", format);
    }
    out->failed |= word.failed;
    add_word(value, &word, out);
    free(word.bytes);
}

static void add_number(const Value *value, TextBuffer *out)
{
    const void *values = value->array->buffers[1];
    int64_t at = value->row + value->array->offset;
    switch (value->schema->format[0]) {
    case 'b':
        text_buffer_text(out, (((const uint8_t *)values)[at / 8] >> (at % 8) & 1) != 0 ? "true"
                                                                                       : "false");
        break;
    case 'c':
        text_buffer_print(out, "%d", ((const int8_t *)values)[at]);
        break;
    case 'C':
        text_buffer_print(out, "%u", ((const uint8_t *)values)[at]);
        break;
    case 's':
        text_buffer_print(out, "%d", ((const int16_t *)values)[at]);
        break;
    case 'S':
        text_buffer_print(out, "%u", ((const uint16_t *)values)[at]);
        break;
    case 'i':
        text_buffer_print(out, "%" PRId32, ((const int32_t *)values)[at]);
        break;
    case 'I':
        text_buffer_print(out, "%" PRIu32, ((const uint32_t *)values)[at]);
        break;
    case 'l':
        text_buffer_print(out, "%" PRId64, ((const int64_t *)values)[at]);
        break;
    case 'L':
        text_buffer_print(out, "%" PRIu64, ((const uint64_t *)values)[at]);
        break;
    case 'f':
        arrow_text_real(((const float *)values)[at], true, value->form, out);
        break;
    case 'g':
        arrow_text_real(((const double *)values)[at], false, value->form, out);
        break;
    default:
        break;
    }
}

/* The entry of a dictionary that an index of any integer type names. */
static Value dictionary_entry(const Value *value)
{
    const void *values = value->array->buffers[1];
    int64_t at = value->row + value->array->offset;
    int64_t index = 0;
    switch (value->schema->format[0]) {
    case 'c':
        index = ((const int8_t *)values)[at];
        break;
    case 'C':
        index = ((const uint8_t *)values)[at];
        break;
    case 's':
        index = ((const int16_t *)values)[at];
        break;
    case 'S':
        index = ((const uint16_t *)values)[at];
        break;
    case 'i':
        index = ((const int32_t *)values)[at];
        break;
    case 'I':
        index = ((const uint32_t *)values)[at];
        break;
    default:
        index = ((const int64_t *)values)[at];
        break;
    }
    return (Value){.schema = value->schema->dictionary,
                   .array = value->array->dictionary,
                   .row = index,
                   .form = value->form,
                   .nested = value->nested};
}

static void add_value(const Value *value, TextBuffer *out)
{
    const char *format = value->schema->format;
    if (is_null(value->schema, value->array, value->row)) {
        text_buffer_text(out, value->form == ARROW_TEXT_FORM_JSON ? "null" : "NULL");
    } else if (value->schema->dictionary != NULL) {
        Value entry = dictionary_entry(value);
        add_value(&entry, out);
    } else if (format[0] == '+' && format[1] != '\0' && strchr("slmLwu", format[1]) != NULL) {
        add_nested(value, out);
    } else if (strchr("uUzZ", format[0]) != NULL || strncmp(format, "w:", 2) == 0) {
        add_bytes(value, out);
    } else if (format[0] == 't') {
        add_time(value, out);
    } else if (format[0] == 'd') {
        const char *comma = strchr(format, ',');
        const char *bytes = value->array->buffers[1];
        arrow_text_decimal(bytes + 16 * (value->row + value->array->offset),
                           comma != NULL ? atoi(comma + 1) : 0, out);
    } else if (format[0] != '\0' && format[1] == '\0' && strchr("bcCsSiIlLfg", format[0]) != NULL) {
        add_number(value, out);
    } else {
        TextBuffer word = {.bytes = NULL};
        text_buffer_print(&word, "<%.32s>", format);
        add_word(value, &word, out);
        free(word.bytes);
    }
}

void arrow_text_value(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row,
                      ArrowTextForm form, TextBuffer *out)
{
    const Value value = {.schema = schema, .array = array, .row = row, .form = form};
    add_value(&value, out);
}
