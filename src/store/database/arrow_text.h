/* store/database/arrow_text.h: values of Arrow columns as text.
 *
 * For cli/sql and panels that show tables. Two forms: as DuckDB casts a value to VARCHAR (lists as
 * [a, b], structs as {'k': v}, maps as {k=v}), and as JSON. Reads nothing but what schema and array
 * say; a format it does not know becomes its name in angle brackets. Timestamps with a zone are
 * written in UTC. Pure; any thread. */
#ifndef CALIPER_STORE_ARROW_TEXT_H
#define CALIPER_STORE_ARROW_TEXT_H

#include <caliper/arrow_c.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that grow. After a failed allocation nothing more is added and `failed` says so. */
typedef struct TextBuffer {
    char *bytes; /* NUL-terminated once something was added; free() it */
    size_t length, capacity;
    bool failed;
} TextBuffer;

void text_buffer_add(TextBuffer *buffer, const char *bytes, size_t length);
void text_buffer_text(TextBuffer *buffer, const char *text);
__attribute__((format(printf, 2, 3))) void text_buffer_print(TextBuffer *buffer, const char *format,
                                                             ...);

typedef enum ArrowTextForm { ARROW_TEXT_FORM_PLAIN = 0, ARROW_TEXT_FORM_JSON = 1 } ArrowTextForm;

/* Whether the value is NULL (a NULL union member counts). */
bool arrow_text_is_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                        int64_t row);
/* Adds one value; NULL is NULL in the plain form and null in JSON. */
void arrow_text_value(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row,
                      ArrowTextForm form, TextBuffer *out);
/* Adds a JSON string with its quotes; control characters are escaped. */
void arrow_text_json_string(const char *bytes, size_t length, TextBuffer *out);

#endif
