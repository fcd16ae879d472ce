/* One line of index.log to and from its text. Pure functions, any thread. */
#include "store/artifacts/artifact_line.h"

#include <stdio.h>
#include <string.h>

#include "store/artifacts/artifact_store.h"

enum { CREATED_CHARACTERS = ARTIFACT_CREATED_TEXT_BYTES - 1 };
static const int64_t second_us = 1000000;
static const int64_t day_sec = 86400;
static const int64_t last_sec = INT64_C(253402300799); /* 9999-12-31T23:59:59Z */

/* Days since 1970-01-01 of a date of the Gregorian calendar, and back: H. Hinnant's "chrono-
 * compatible low-level date algorithms", for years from 1970 on. */
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void date_of_days(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int64_t era = days / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    *month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    *year = (int)(year_of_era + era * 400 + (*month <= 2));
}

void artifact_created_text(int64_t created_us, char out[ARTIFACT_CREATED_TEXT_BYTES])
{
    int year, month, day;
    char text[80];
    if (created_us < 0)
        created_us = 0;
    if (created_us / second_us > last_sec)
        created_us = last_sec * second_us;
    int64_t seconds = created_us / second_us;
    date_of_days(seconds / day_sec, &year, &month, &day);
    int in_day = (int)(seconds % day_sec);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, day,
             in_day / 3600, in_day / 60 % 60, in_day % 60, (int)(created_us % second_us));
    memcpy(out, text, ARTIFACT_CREATED_TEXT_BYTES);
    out[CREATED_CHARACTERS] = '\0';
}

static bool created_read(const char *text, size_t length, int64_t *out)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddZ";
    int64_t fields[7] = {0}; /* year, month, day, hour, minute, second, microseconds */
    int field = 0;
    if (length != CREATED_CHARACTERS)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (form[i] != 'd') {
            if (text[i] != form[i])
                return false;
            field++;
        } else if (text[i] < '0' || text[i] > '9') {
            return false;
        } else {
            fields[field] = fields[field] * 10 + (text[i] - '0');
        }
    }
    if (fields[0] < 1970 || fields[1] < 1 || fields[1] > 12 || fields[2] < 1 || fields[2] > 31 ||
        fields[3] > 23 || fields[4] > 59 || fields[5] > 60)
        return false;
    int64_t seconds = days_of_date(fields[0], fields[1], fields[2]) * day_sec + fields[3] * 3600 +
                      fields[4] * 60 + fields[5];
    *out = (seconds < last_sec ? seconds : last_sec) * second_us + fields[6];
    return true;
}

/* Length of the valid UTF-8 sequence of more than one byte at `s` (RFC 3629), 0 if there is none.
 * `s` ends with a zero, which is no continuation. */
static size_t utf8_sequence(const unsigned char *s)
{
    size_t length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                    : (s[0] & 0xf0) == 0xe0        ? 3
                    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

size_t artifact_name_text(const char *name, char *out)
{
    static const char digits[] = "0123456789abcdef";
    static const char escaped[] = "\\\"\t\n\r";
    static const char letters[] = "\\\"tnr";
    const unsigned char *s = (const unsigned char *)name;
    char *at = out;
    while (*s != '\0') {
        const char *found = strchr(escaped, *s);
        size_t sequence = s[0] == 0xc2 && s[1] < 0xa0 ? 0 : utf8_sequence(s); /* C1: 80 to 9f */
        if (found != NULL) {
            *at++ = '\\';
            *at++ = letters[found - escaped];
            s++;
        } else if (sequence > 0) {
            memcpy(at, s, sequence);
            at += sequence;
            s += sequence;
        } else if (*s >= 0x20 && *s < 0x7f) {
            *at++ = (char)*s++;
        } else {
            *at++ = '\\';
            *at++ = 'x';
            *at++ = digits[*s >> 4];
            *at++ = digits[*s & 15];
            s++;
        }
    }
    *at = '\0';
    return (size_t)(at - out);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that an escape after its backslash stands for, and its length; -1: it is none. */
static int escape_read(const char *text, size_t length, size_t *used)
{
    *used = 1;
    if (length == 0)
        return -1;
    switch (text[0]) {
    case '\\':
    case '"':
        return text[0];
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'x':
        break;
    default:
        return -1;
    }
    int high = length >= 3 ? hex_value(text[1]) : -1;
    int low = length >= 3 ? hex_value(text[2]) : -1;
    *used = 3;
    return high >= 0 && low >= 0 ? high << 4 | low : -1;
}

static bool name_read(const char *text, size_t length, char out[ARTIFACT_NAME_MAX_BYTES + 1])
{
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '\\') {
            size_t used = 0;
            byte = escape_read(text + i + 1, length - i - 1, &used);
            i += used;
        }
        if (byte <= 0 || size == ARTIFACT_NAME_MAX_BYTES)
            return false;
        out[size++] = (char)byte;
    }
    out[size] = '\0';
    return true;
}

static bool number_read(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    if (length == 0 || length > 20)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

size_t artifact_line_write(const ArtifactLine *line, char out[ARTIFACT_LINE_MAX_BYTES])
{
    char rest[80];
    char created[ARTIFACT_CREATED_TEXT_BYTES];
    char digest[ARTIFACT_DIGEST_TEXT_BYTES];
    artifact_digest_text(&line->digest, digest);
    memcpy(out, digest, ARTIFACT_DIGEST_DIGITS);
    char *at = out + ARTIFACT_DIGEST_DIGITS;
    *at++ = '\t';
    at += artifact_name_text(line->name, at);
    artifact_created_text(line->created_us, created);
    int length = snprintf(rest, sizeof rest, "\t%llu\t%llu\t%s\n", (unsigned long long)line->run,
                          (unsigned long long)line->size_bytes, created);
    memcpy(at, rest, (size_t)length);
    return (size_t)(at - out) + (size_t)length;
}

bool artifact_line_read(const char *text, size_t length, ArtifactLine *out)
{
    enum { FIELDS = 5 };
    const char *fields[FIELDS];
    size_t lengths[FIELDS];
    size_t left = length;
    for (int i = 0; i < FIELDS; i++) {
        const char *tab = memchr(text, '\t', left);
        if ((tab == NULL) != (i == FIELDS - 1))
            return false;
        fields[i] = text;
        lengths[i] = tab != NULL ? (size_t)(tab - text) : left;
        if (tab != NULL) {
            left -= lengths[i] + 1;
            text = tab + 1;
        }
    }
    return artifact_digest_parse(fields[0], lengths[0], &out->digest) &&
           name_read(fields[1], lengths[1], out->name) &&
           number_read(fields[2], lengths[2], &out->run) &&
           number_read(fields[3], lengths[3], &out->size_bytes) &&
           created_read(fields[4], lengths[4], &out->created_us);
}
