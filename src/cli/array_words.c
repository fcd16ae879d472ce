/* cli/array_words.c: see array_words.h. First thread. */
#include "cli/array_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ArrayFile *array_words_open(const CliOptions *options, const char *path)
{
    ArrayError error;
    ArrayFile *file = options->raw != NULL
                          ? array_file_open_raw(path, &options->raw_layout, NULL, &error)
                          : array_file_open_address(path, NULL, &error);
    if (file == NULL)
        cli_failed("%s", error.message);
    return file;
}

int64_t array_words_find(const CliOptions *options, const ArrayFile *file)
{
    int64_t array = array_file_find(file, options->tensor);
    if (array < 0)
        cli_failed("%s: no array is named \"%s\", it has %u", options->words[0], options->tensor,
                   array_file_count(file));
    return array;
}

const char *array_words_shape(uint32_t rank, const uint64_t *shape,
                              char text[ARRAY_WORDS_SHAPE_BYTES])
{
    size_t used = 0;
    snprintf(text, ARRAY_WORDS_SHAPE_BYTES, "scalar");
    for (uint32_t axis = 0; axis < rank; axis++)
        used += (size_t)snprintf(text + used, ARRAY_WORDS_SHAPE_BYTES - used, "%s%" PRIu64,
                                 axis > 0 ? " x " : "", shape[axis]);
    return text;
}

/* The length of the UTF-8 character at `text`, 0 if it is none. */
static size_t character(const unsigned char *text)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0u) != 0x80u)
            return 0;
    }
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return overlong || beyond ? 0 : length;
}

static char *as_utf8(const char *path)
{
    char *text = malloc(strlen(path) * 3 + 1);
    char *at = text;
    while (text != NULL && *path != '\0') {
        size_t length = character((const unsigned char *)path);
        memcpy(at, length != 0 ? path : "\xef\xbf\xbd", length != 0 ? length : 3);
        at += length != 0 ? length : 3;
        path += length != 0 ? length : 1;
    }
    if (text != NULL)
        *at = '\0';
    return text;
}

cJSON *array_words_json(const char *path, const char *format, cJSON **tensors)
{
    cJSON *json = cJSON_CreateObject();
    char *text = as_utf8(path);
    if (text == NULL || cJSON_AddStringToObject(json, "file", text) == NULL ||
        cJSON_AddStringToObject(json, "format", format) == NULL) {
        cJSON_Delete(json);
        json = NULL;
    }
    free(text);
    *tensors = cJSON_AddArrayToObject(json, "tensors");
    return json;
}

cJSON *array_words_add(cJSON *tensors, const char *name, uint32_t rank, const uint64_t *shape,
                       ArrayDtype dtype)
{
    char number[32];
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", name);
    cJSON *extents = cJSON_AddArrayToObject(one, "shape");
    for (uint32_t axis = 0; axis < rank; axis++) {
        snprintf(number, sizeof number, "%" PRIu64, shape[axis]); /* cJSON's numbers are doubles */
        cJSON_AddItemToArray(extents, cJSON_CreateRaw(number));
    }
    if (dtype == ARRAY_DTYPE_NONE)
        cJSON_AddNullToObject(one, "dtype");
    else
        cJSON_AddStringToObject(one, "dtype", array_dtype_name(dtype));
    cJSON_AddItemToArray(tensors, one);
    return one;
}

int array_words_print(cJSON *json)
{
    char *text = cJSON_Print(json);
    if (text != NULL)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
    return text != NULL ? 0 : cli_failed("no memory for the answer");
}
