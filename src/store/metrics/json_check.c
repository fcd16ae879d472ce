/* A JSON checker without recursion: a bit a level says whether it is an object. Pure. */
#include "store/metrics/json_check.h"

#include <stdint.h>
#include <string.h>

typedef struct Check {
    const char *text;
    size_t length, at;
    const char *why;
    uint32_t depth;
    uint8_t is_object[JSON_DEPTH_MAX];
} Check;

size_t utf8_sequence_bytes(const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    if (length == 0)
        return 0;
    if (bytes[0] < 0x80)
        return 1;
    size_t wanted = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || length < wanted)
        return 0;
    for (size_t i = 1; i < wanted; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what is above U+10FFFF: The Unicode Standard, table 3-7. */
    if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
        (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
        return 0;
    return wanted;
}

static bool wrong(Check *check, const char *why)
{
    if (check->why == NULL)
        check->why = why;
    return false;
}

static int peek(const Check *check)
{
    return check->at < check->length ? (unsigned char)check->text[check->at] : -1;
}

static void skip_blanks(Check *check)
{
    while (check->at < check->length && strchr(" \t\n\r", check->text[check->at]) != NULL &&
           check->text[check->at] != '\0')
        check->at++;
}

static bool word(Check *check, const char *expected)
{
    size_t length = strlen(expected);
    if (check->length - check->at < length ||
        memcmp(check->text + check->at, expected, length) != 0)
        return wrong(check, "no value");
    check->at += length;
    return true;
}

static bool digits(Check *check)
{
    size_t first = check->at;
    while (peek(check) >= '0' && peek(check) <= '9')
        check->at++;
    return check->at > first || wrong(check, "a digit is missing");
}

static bool number(Check *check)
{
    if (peek(check) == '-')
        check->at++;
    if (peek(check) == '0')
        check->at++;
    else if (!digits(check))
        return false;
    if (peek(check) == '.') {
        check->at++;
        if (!digits(check))
            return false;
    }
    if (peek(check) == 'e' || peek(check) == 'E') {
        check->at++;
        if (peek(check) == '+' || peek(check) == '-')
            check->at++;
        return digits(check);
    }
    return true;
}

static bool escape(Check *check)
{
    int after = peek(check);
    if (after == 'u') {
        check->at++;
        for (int i = 0; i < 4; i++, check->at++)
            if (peek(check) < 0 || strchr("0123456789abcdefABCDEF", peek(check)) == NULL ||
                peek(check) == 0)
                return wrong(check, "\\u needs four hexadecimal digits");
        return true;
    }
    if (after <= 0 || strchr("\"\\/bfnrt", after) == NULL)
        return wrong(check, "an escape that JSON does not have");
    check->at++;
    return true;
}

static bool string(Check *check)
{
    check->at++;
    for (;;) {
        int next = peek(check);
        if (next < 0)
            return wrong(check, "a string without its end");
        if (next == '"') {
            check->at++;
            return true;
        }
        if (next == '\\') {
            check->at++;
            if (!escape(check))
                return false;
            continue;
        }
        size_t bytes = utf8_sequence_bytes(check->text + check->at, check->length - check->at);
        if (next < 0x20)
            return wrong(check, "a control character in a string");
        if (bytes == 0)
            return wrong(check, "not UTF-8");
        check->at += bytes;
    }
}

/* After an object's '{' or ',': the key and its colon. */
static bool key(Check *check)
{
    skip_blanks(check);
    if (peek(check) != '"')
        return wrong(check, "a key is missing");
    if (!string(check))
        return false;
    skip_blanks(check);
    if (peek(check) != ':')
        return wrong(check, "a colon is missing");
    check->at++;
    return true;
}

/* A value that is not a container, or the opening of one; *opened then. */
static bool value_begin(Check *check, bool *opened)
{
    *opened = false;
    skip_blanks(check);
    int next = peek(check);
    if (next == '{' || next == '[') {
        if (check->depth == JSON_DEPTH_MAX)
            return wrong(check, "nested too deeply");
        check->is_object[check->depth++] = next == '{';
        check->at++;
        skip_blanks(check);
        if (peek(check) == (next == '{' ? '}' : ']')) {
            check->at++;
            check->depth--;
            return true;
        }
        *opened = true;
        return next == '[' || key(check);
    }
    switch (next) {
    case '"':
        return string(check);
    case 't':
        return word(check, "true");
    case 'f':
        return word(check, "false");
    case 'n':
        return word(check, "null");
    default:
        return next == '-' || (next >= '0' && next <= '9') ? number(check)
                                                           : wrong(check, "no value");
    }
}

/* After a value: closes what ends here, or goes on to the next one; *more then. */
static bool value_end(Check *check, bool *more)
{
    *more = false;
    while (check->depth > 0) {
        bool object = check->is_object[check->depth - 1] != 0;
        skip_blanks(check);
        int next = peek(check);
        if (next == ',') {
            check->at++;
            *more = true;
            return !object || key(check);
        }
        if (next != (object ? '}' : ']'))
            return wrong(check, "a comma or the end of an object or array is missing");
        check->at++;
        check->depth--;
    }
    return true;
}

bool json_check(const char *text, size_t length, const char **why, size_t *at)
{
    Check check = {.text = text, .length = length};
    bool ok = true;
    bool more = true;
    while (ok && more) {
        bool opened = false;
        ok = value_begin(&check, &opened);
        if (ok && !opened)
            ok = value_end(&check, &more);
    }
    skip_blanks(&check);
    if (ok && check.at != length)
        ok = wrong(&check, "more text after the value");
    *why = check.why;
    *at = check.at;
    return ok;
}
