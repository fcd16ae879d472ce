/* formats/json_scan.c: JSON tokens.
 *
 * Thread rule: one scan by one thread. */
#include "formats/json_scan.h"

#include "formats/utf8.h"

#include <string.h>

bool json_refuse(const JsonScan *scan, const char *wanted)
{
    char excerpt[ARRAY_EXCERPT_BYTES];
    size_t left = (size_t)(scan->end - scan->at);
    if (left == 0) {
        return array_error_set(scan->error, ARRAY_FAULT_HEADER, scan->file,
                               "JSON header ends at byte %td, wanted %s", scan->at - scan->start,
                               wanted);
    }
    array_error_excerpt((const uint8_t *)scan->at, left, excerpt);
    return array_error_set(scan->error, ARRAY_FAULT_HEADER, scan->file,
                           "JSON header has '%s' at byte %td, wanted %s", excerpt,
                           scan->at - scan->start, wanted);
}

static void skip_space(JsonScan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
        scan->at++;
}

bool json_take(JsonScan *scan, char mark)
{
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != mark)
        return false;
    scan->at++;
    return true;
}

bool json_expect(JsonScan *scan, char mark)
{
    char wanted[4] = {'\'', mark, '\'', '\0'};
    return json_take(scan, mark) || json_refuse(scan, wanted);
}

/* Four hexadecimal digits; 0x110000 if they are not that. */
static uint32_t hex4(const char *at, const char *end)
{
    uint32_t code = 0;
    if (end - at < 4)
        return 0x110000;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return 0x110000;
        code = code << 4 | digit;
    }
    return code;
}

static char *put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* After a backslash. An escape is never shorter than what it stands for, so writing in place never
 * passes reading. NULL if it is not an escape. */
static char *take_escape(JsonScan *scan, char *out)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
    if (scan->at == scan->end)
        return NULL;
    const char *simple = *scan->at != '\0' ? strchr(FROM, *scan->at) : NULL;
    if (simple != NULL) {
        scan->at++;
        *out = TO[simple - FROM];
        return out + 1;
    }
    if (*scan->at != 'u')
        return NULL;
    uint32_t code = hex4(scan->at + 1, scan->end);
    scan->at += code > 0xffff ? 0 : 5;
    if (code >= 0xd800 && code < 0xdc00 && scan->end - scan->at >= 6 && scan->at[0] == '\\' &&
        scan->at[1] == 'u') {
        uint32_t low = hex4(scan->at + 2, scan->end);
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        scan->at += 6;
        return put_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    }
    if (code > 0xffff || (code >= 0xd800 && code < 0xe000))
        return NULL;
    return put_utf8(out, code);
}

bool json_string(JsonScan *scan, const char **text, size_t *length)
{
    skip_space(scan);
    if (scan->at == scan->end || *scan->at != '"')
        return json_refuse(scan, "a string");
    scan->at++;
    enum { ASK_BYTES = 64 * 1024 };
    char *first = scan->at, *out = first, *ask_at = first + ASK_BYTES;
    while (scan->at < scan->end && *scan->at != '"') {
        if (scan->at - ask_at >= 0) {
            ask_at = scan->at + ASK_BYTES;
            if (scan->source != NULL && byte_source_is_cancelled(scan->source, scan->error))
                return false;
        }
        if (*scan->at == '\\') {
            char *escape = scan->at++;
            out = take_escape(scan, out);
            if (out == NULL) {
                scan->at = escape;
                return json_refuse(scan, "an escape that stands for a character");
            }
            continue;
        }
        size_t size = (unsigned char)*scan->at < 0x20
                          ? 0
                          : utf8_length((unsigned char *)scan->at, (size_t)(scan->end - scan->at));
        if (size == 0)
            return json_refuse(scan, "UTF-8 text");
        memmove(out, scan->at, size);
        out += size;
        scan->at += size;
    }
    if (scan->at == scan->end)
        return json_refuse(scan, "the end of a string");
    scan->at++;
    *text = first;
    *length = (size_t)(out - first);
    return true;
}

bool json_whole_number(JsonScan *scan, uint64_t *value)
{
    skip_space(scan);
    char *first = scan->at;
    uint64_t number = 0;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        uint64_t digit = (uint64_t)(*scan->at - '0');
        if (number > (INT64_MAX - digit) / 10) {
            scan->at = first;
            return array_error_set(scan->error, ARRAY_FAULT_OVERFLOW, scan->file,
                                   "JSON header has a number of more than 63 bits at byte %td",
                                   first - scan->start);
        }
        number = number * 10 + digit;
        scan->at++;
    }
    bool ends = scan->at == scan->end || strchr(" \t\r\n,]}", *scan->at) != NULL;
    bool leading_zero = scan->at - first > 1 && *first == '0';
    if (scan->at == first || !ends || leading_zero || (scan->at < scan->end && *scan->at == '\0')) {
        scan->at = first;
        return json_refuse(scan, "a non-negative whole number");
    }
    *value = number;
    return true;
}

bool json_end(JsonScan *scan)
{
    skip_space(scan);
    return scan->at == scan->end || json_refuse(scan, "the end of the header");
}
