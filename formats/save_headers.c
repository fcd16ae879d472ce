/* formats/save_headers.c: the headers of safetensors and IDX files to be written.
 *
 * Thread rule: one ArraySave by one thread. */
#include "formats/save_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAFETENSORS_HEADER_MAX = 100000000 }; /* the format's own limit */

static const char *const TYPE_NAMES[ARRAY_DTYPE_COUNT] = {
    [ARRAY_DTYPE_NONE] = "",   [ARRAY_DTYPE_F64] = "F64",   [ARRAY_DTYPE_F32] = "F32",
    [ARRAY_DTYPE_F16] = "F16", [ARRAY_DTYPE_BF16] = "BF16", [ARRAY_DTYPE_I64] = "I64",
    [ARRAY_DTYPE_I32] = "I32", [ARRAY_DTYPE_I16] = "I16",   [ARRAY_DTYPE_I8] = "I8",
    [ARRAY_DTYPE_U64] = "U64", [ARRAY_DTYPE_U32] = "U32",   [ARRAY_DTYPE_U16] = "U16",
    [ARRAY_DTYPE_U8] = "U8",   [ARRAY_DTYPE_BOOL] = "BOOL",
};

/* ---- safetensors ---- */

typedef struct Text {
    char *bytes;
    size_t used, capacity;
    bool full; /* no memory */
} Text;

__attribute__((format(printf, 2, 3))) static void add(Text *text, const char *format, ...)
{
    va_list arguments;
    char piece[256];
    va_start(arguments, format);
    int wanted = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    size_t length = wanted < 0                      ? 0
                    : (size_t)wanted < sizeof piece ? (size_t)wanted
                                                    : sizeof piece - 1;
    if (text->used + length + 1 > text->capacity) {
        size_t capacity = (text->used + length + 1) * 2;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            text->full = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->used, piece, length);
    text->used += length;
}

/* Names are valid UTF-8 already: quotes, backslashes and control bytes are escaped. */
static void add_name(Text *text, const char *name)
{
    add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            add(text, "\\%c", *c);
        else if (*c < 0x20)
            add(text, "\\u%04x", *c);
        else
            add(text, "%c", *c);
    }
    add(text, "\"");
}

static void add_item(Text *text, const SaveItem *item, uint64_t begin)
{
    add_name(text, save_name(ARRAY_FORMAT_SAFETENSORS, &item->item));
    add(text, ":{\"dtype\":\"%s\",\"shape\":[", TYPE_NAMES[item->item.dtype]);
    for (uint32_t axis = 0; axis < item->item.rank; axis++)
        add(text, "%s%" PRIu64, axis > 0 ? "," : "", item->item.shape[axis]);
    add(text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin, begin + item->size_bytes);
}

bool save_safetensors_header(ArraySave *save, ArrayError *error)
{
    Text text = {0};
    uint64_t begin = 0;
    add(&text, "{");
    for (uint32_t i = 0; i < save->count; i++) {
        add(&text, "%s", i > 0 ? "," : "");
        add_item(&text, &save->items[i], begin);
        begin += save->items[i].size_bytes;
    }
    add(&text, "}");
    while (text.used % 8 != 0 && !text.full) /* so that the data begins aligned */
        add(&text, " ");
    bool good = false;
    if (text.full) {
        array_error_fill(error, ARRAY_FAULT_MEMORY, save->path, "no memory for its header");
    } else if (text.used > SAFETENSORS_HEADER_MAX) {
        array_error_fill(error, ARRAY_FAULT_UNFIT, save->path,
                         "its header has %zu bytes, safetensors has at most %d", text.used,
                         (int)SAFETENSORS_HEADER_MAX);
    } else {
        uint64_t length = text.used;
        good = save_bytes(save, &length, sizeof length, error) &&
               save_bytes(save, text.bytes, text.used, error);
    }
    free(text.bytes);
    return good;
}

/* ---- IDX ---- */

static uint8_t idx_code(ArrayDtype dtype)
{
    return dtype == ARRAY_DTYPE_U8    ? 0x08
           : dtype == ARRAY_DTYPE_I8  ? 0x09
           : dtype == ARRAY_DTYPE_I16 ? 0x0b
           : dtype == ARRAY_DTYPE_I32 ? 0x0c
           : dtype == ARRAY_DTYPE_F32 ? 0x0d
                                      : 0x0e;
}

bool save_idx_header(ArraySave *save, ArrayError *error)
{
    uint8_t header[4 + 4 * ARRAY_RANK_MAX] = {0};
    const ArraySaveItem *item = &save->items[0].item;
    header[2] = idx_code(item->dtype);
    header[3] = (uint8_t)item->rank;
    for (uint32_t axis = 0; axis < item->rank; axis++) {
        for (int byte = 0; byte < 4; byte++)
            header[4 + 4 * axis + (uint32_t)byte] = (uint8_t)(item->shape[axis] >> (24 - 8 * byte));
    }
    return save_bytes(save, header, 4 + 4 * (size_t)item->rank, error);
}
