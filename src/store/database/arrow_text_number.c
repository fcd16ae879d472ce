/* Numbers as DuckDB writes them; see arrow_text.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database/arrow_text_impl.h"

/* "d.ddde-05" of printf into digits without the point, and the exponent of the first one. */
static int split_digits(const char *text, char *digits)
{
    int count = 0;
    for (; *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9')
            digits[count++] = *text;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return atoi(text + 1);
}

void arrow_text_real(double value, bool is_float, ArrowTextForm form, TextBuffer *out)
{
    char text[64];
    char digits[32];
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
        if (form == ARROW_TEXT_FORM_JSON)
            text_buffer_print(out, "\"%s\"", word);
        else
            text_buffer_text(out, word);
        return;
    }
    int longest = is_float ? 9 : 17;
    for (int precision = 1; precision <= longest; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, fabs(value));
        if (is_float ? strtof(text, NULL) == (float)fabs(value) : strtod(text, NULL) == fabs(value))
            break;
    }
    int exponent = split_digits(text, digits);
    int count = (int)strlen(digits);
    if (signbit(value))
        text_buffer_text(out, "-");
    if (exponent < -4 || exponent >= 16) {
        text_buffer_print(out, "%c%s%se%c%02d", digits[0], count > 1 ? "." : "", digits + 1,
                          exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        text_buffer_print(out, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else if (count <= exponent + 1) {
        text_buffer_print(out, "%s%.*s.0", digits, exponent + 1 - count, "0000000000000000");
    } else {
        text_buffer_print(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

void arrow_text_decimal(const void *bytes, int scale, TextBuffer *out)
{
    uint64_t low, high;
    char digits[64];
    int at = (int)sizeof digits;
    memcpy(&low, bytes, sizeof low);
    memcpy(&high, (const char *)bytes + sizeof low, sizeof high);
    bool negative = high >> 63 != 0;
    if (negative) {
        high = ~high + (low == 0 ? 1 : 0);
        low = ~low + 1;
    }
    if (scale < 0 || scale > 60)
        scale = 0;
    digits[--at] = '\0';
    /* Long division by 10 over four halves of words. */
    for (int written = 0; high != 0 || low != 0 || written <= scale; written++) {
        uint32_t parts[4] = {(uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32),
                             (uint32_t)low};
        uint64_t rest = 0;
        for (int i = 0; i < 4; i++) {
            rest = rest << 32 | parts[i];
            parts[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        if (written == scale && scale > 0)
            digits[--at] = '.';
        digits[--at] = (char)('0' + rest);
        high = (uint64_t)parts[0] << 32 | parts[1];
        low = (uint64_t)parts[2] << 32 | parts[3];
    }
    text_buffer_print(out, "%s%s", negative ? "-" : "", digits + at);
}
