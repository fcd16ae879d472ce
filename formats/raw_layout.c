/* formats/raw_layout.c: reads and writes layouts and addresses of raw files.
 *
 * Thread rule: any thread. */
#include "formats/raw_layout.h"

#include "formats/array_error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A whole number that is all of `text`; more than 63 bits are refused. */
static bool read_number(const char *text, size_t length, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (text[i] < '0' || text[i] > '9' || value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return length > 0;
}

static bool read_shape(const char *text, size_t length, ArrayRawLayout *layout)
{
    const char *end = text + length;
    for (const char *at = text;; at++) {
        const char *mark = memchr(at, 'x', (size_t)(end - at));
        size_t size = (size_t)((mark != NULL ? mark : end) - at);
        if (layout->rank == ARRAY_RANK_MAX)
            return false;
        if (layout->rank == 0 && size == 1 && *at == '?')
            layout->rows_from_size = true;
        else if (!read_number(at, size, &layout->shape[layout->rank]))
            return false;
        layout->rank++;
        if (mark == NULL)
            return true;
        at = mark;
    }
}

static bool read_dtype(const char *text, size_t length, ArrayRawLayout *layout)
{
    char name[8];
    if (length >= sizeof name)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    layout->dtype = array_dtype_from_name(name);
    return layout->dtype != ARRAY_DTYPE_NONE;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

bool array_raw_layout_read(const char *text, size_t length, ArrayRawLayout *layout)
{
    ArrayRawLayout read = {0};
    const char *end = text + length;
    bool has_order = false, has_offset = false;
    int part = 0;
    for (const char *at = text;; at++, part++) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        size_t size = (size_t)((colon != NULL ? colon : end) - at);
        bool good = false;
        if (part == 0) {
            good = read_dtype(at, size, &read);
        } else if (part == 1) {
            good = read_shape(at, size, &read);
        } else if (is_word(at, size, "big") || is_word(at, size, "little")) {
            good = !has_order;
            has_order = true;
            read.big_endian = *at == 'b';
        } else {
            good = !has_offset && read_number(at, size, &read.offset_bytes);
            has_offset = true;
        }
        if (!good)
            return false;
        if (colon == NULL)
            break;
        at = colon;
    }
    if (part < 1)
        return false;
    *layout = read;
    return true;
}

const char *array_raw_layout_text(const ArrayRawLayout *layout, char text[ARRAY_RAW_TEXT_BYTES])
{
    size_t used =
        (size_t)snprintf(text, ARRAY_RAW_TEXT_BYTES, "%s:", array_dtype_name(layout->dtype));
    for (uint32_t axis = 0; axis < layout->rank && axis < ARRAY_RANK_MAX; axis++) {
        used +=
            (size_t)snprintf(text + used, ARRAY_RAW_TEXT_BYTES - used, "%s", axis > 0 ? "x" : "");
        if (axis == 0 && layout->rows_from_size)
            used += (size_t)snprintf(text + used, ARRAY_RAW_TEXT_BYTES - used, "?");
        else
            used += (size_t)snprintf(text + used, ARRAY_RAW_TEXT_BYTES - used, "%" PRIu64,
                                     layout->shape[axis]);
    }
    if (layout->offset_bytes != 0)
        used += (size_t)snprintf(text + used, ARRAY_RAW_TEXT_BYTES - used, ":%" PRIu64,
                                 layout->offset_bytes);
    if (layout->big_endian)
        snprintf(text + used, ARRAY_RAW_TEXT_BYTES - used, ":big");
    return text;
}

const char *array_raw_path(const char *address)
{
    size_t prefix = strlen(ARRAY_RAW_PREFIX);
    const char *equals =
        strncmp(address, ARRAY_RAW_PREFIX, prefix) == 0 ? strchr(address, '=') : NULL;
    return equals != NULL ? equals + 1 : address;
}

ArrayFile *array_file_open_address(const char *address, const ArrayOpenOptions *options,
                                   ArrayError *error)
{
    size_t prefix = strlen(ARRAY_RAW_PREFIX);
    if (address == NULL || strncmp(address, ARRAY_RAW_PREFIX, prefix) != 0)
        return array_file_open(address, options, error);
    const char *path = array_raw_path(address);
    ArrayRawLayout layout;
    if (path == address ||
        !array_raw_layout_read(address + prefix, (size_t)(path - address) - prefix - 1, &layout)) {
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, address,
                         "is no address of a raw file, wanted raw:TYPE:EXTENTxEXTENT=PATH");
        return NULL;
    }
    return array_file_open_raw(path, &layout, options, error);
}
