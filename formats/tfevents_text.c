/* formats/tfevents_text.c: growing bytes, JSON strings and numbers. One thread. */
#include "formats/tfevents_impl.h"
#include "formats/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tfevents_text_clear(TfeventsText *text)
{
    text->used = 0;
    text->failed = false;
}

void tfevents_text_add(TfeventsText *text, const void *bytes, size_t size_bytes)
{
    if (text->failed)
        return;
    if (text->capacity - text->used <= size_bytes) { /* one more for the zero */
        size_t capacity = text->used + size_bytes + 1;
        capacity = capacity < 256 ? 256 : capacity + capacity / 2;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    if (size_bytes > 0)
        memcpy(text->bytes + text->used, bytes, size_bytes);
    text->used += size_bytes;
}

void tfevents_text_add_string(TfeventsText *text, const char *string)
{
    tfevents_text_add(text, string, strlen(string));
}

void tfevents_text_add_json(TfeventsText *text, const void *bytes, size_t size_bytes)
{
    const unsigned char *at = bytes;
    tfevents_text_add(text, "\"", 1);
    while (size_bytes > 0) {
        char escape[8];
        size_t length = utf8_length(at, size_bytes);
        if (length == 0)
            tfevents_text_add_string(text, "\xef\xbf\xbd");
        else if (*at == '"' || *at == '\\' || *at < 0x20 || *at == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *at);
            tfevents_text_add_string(text, escape);
        } else {
            tfevents_text_add(text, at, length);
        }
        length = length > 0 ? length : 1;
        at += length;
        size_bytes -= length;
    }
    tfevents_text_add(text, "\"", 1);
}

void tfevents_text_add_number(TfeventsText *text, double value)
{
    char number[40];
    if (!isfinite(value)) {
        /* JSON has no such number: its name, so that a person sees it and two differ. */
        tfevents_text_add_string(text, isnan(value)  ? "\"NaN\""
                                       : value > 0.0 ? "\"Infinity\""
                                                     : "\"-Infinity\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    tfevents_text_add_string(text, number);
}

const char *tfevents_text_finish(TfeventsText *text)
{
    tfevents_text_add(text, "", 0);
    if (text->failed)
        return NULL;
    text->bytes[text->used] = '\0';
    return text->bytes;
}
