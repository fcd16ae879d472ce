/* formats/array_values.c: conversions to f32 and text.
 *
 * Halves and bfloat16 are widened by their bits, so no rounding mode or flushing can touch them.
 * Thread rule: any thread. */
#include "formats/array_values.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float array_bf16_to_f32(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

float array_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 0x1fu;
    uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0x1f) /* infinity, or NaN with its payload */
        return float_of_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0)
        return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    if (fraction == 0)
        return float_of_bits(sign);
    uint32_t shift = (uint32_t)__builtin_clz(fraction) - 21; /* brings the first one to bit 10 */
    return float_of_bits(sign | (113 - shift) << 23 | (fraction << shift & 0x3ffu) << 13);
}

#define CONVERT(type, expression)                              \
    for (size_t i = 0; i < count; i++) {                       \
        type value;                                            \
        memcpy(&value, from + i * sizeof value, sizeof value); \
        out[i] = (expression);                                 \
    }                                                          \
    return true

bool array_convert_to_f32(ArrayDtype dtype, const void *elements, float *out, size_t count)
{
    const uint8_t *from = elements;
    switch (dtype) {
    case ARRAY_DTYPE_F32: /* by bytes: a copy through the x87 could quieten a NaN */
        if (count != 0)
            memcpy(out, from, count * sizeof *out);
        return true;
    case ARRAY_DTYPE_F64:
        CONVERT(double, (float)value);
    case ARRAY_DTYPE_F16:
        CONVERT(uint16_t, array_f16_to_f32(value));
    case ARRAY_DTYPE_BF16:
        CONVERT(uint16_t, array_bf16_to_f32(value));
    case ARRAY_DTYPE_I64:
        CONVERT(int64_t, (float)value);
    case ARRAY_DTYPE_I32:
        CONVERT(int32_t, (float)value);
    case ARRAY_DTYPE_I16:
        CONVERT(int16_t, (float)value);
    case ARRAY_DTYPE_I8:
        CONVERT(int8_t, (float)value);
    case ARRAY_DTYPE_U64:
        CONVERT(uint64_t, (float)value);
    case ARRAY_DTYPE_U32:
        CONVERT(uint32_t, (float)value);
    case ARRAY_DTYPE_U16:
        CONVERT(uint16_t, (float)value);
    case ARRAY_DTYPE_U8:
        CONVERT(uint8_t, (float)value);
    case ARRAY_DTYPE_BOOL:
        CONVERT(uint8_t, value != 0 ? 1.0f : 0.0f);
    case ARRAY_DTYPE_NONE:
    case ARRAY_DTYPE_COUNT:
        break;
    }
    return false;
}

/* The locale's decimal point, which may be several bytes, becomes '.'. */
static void use_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    size_t length = strlen(point);
    char *at = length != 0 && strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (at == NULL)
        return;
    *at = '.';
    memmove(at + 1, at + length, strlen(at + length) + 1);
}

/* Digits before the point of a number below 1e16, so that 100 is not written 1e+02; else 1. */
static int whole_digits(double value)
{
    int digits = 1;
    if (fabs(value) >= 1e16)
        return digits;
    for (uint64_t whole = (uint64_t)fabs(value); whole >= 10; whole /= 10)
        digits++;
    return digits;
}

/* Whether the text reads back as the same number of its type: of binary32 for f32. */
static bool reads_back(const char *text, double value, ArrayDtype dtype)
{
    return dtype == ARRAY_DTYPE_F32 ? strtof(text, NULL) == (float)value
                                    : strtod(text, NULL) == value;
}

/* With as few digits as read back. */
static void print_float(char text[ARRAY_TEXT_BYTES], double value, ArrayDtype dtype)
{
    if (isnan(value) || isinf(value)) {
        snprintf(text, ARRAY_TEXT_BYTES, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    int tried = whole_digits(value);
    do {
        snprintf(text, ARRAY_TEXT_BYTES, "%.*g", tried, value);
    } while (!reads_back(text, value, dtype) && ++tried <= 17);
    use_point(text);
}

/* One element as a tagged number; floats widened exactly. */
static ArrayNumber load_number(ArrayDtype dtype, const void *element)
{
    ArrayNumber number = {.kind = ARRAY_NUMBER_KIND_NONE};
    size_t size = array_dtype_size_bytes(dtype);
    uint64_t bits = 0;
    uint16_t bits16;
    uint32_t bits32;
    if (size == 1) {
        bits = *(const uint8_t *)element;
    } else if (size == 2) {
        memcpy(&bits16, element, 2);
        bits = bits16;
    } else if (size == 4) {
        memcpy(&bits32, element, 4);
        bits = bits32;
    } else if (size == 8) {
        memcpy(&bits, element, 8);
    }
    switch (dtype) {
    case ARRAY_DTYPE_F64:
        number.kind = ARRAY_NUMBER_KIND_F64;
        memcpy(&number.value.f64, &bits, 8);
        break;
    case ARRAY_DTYPE_F32:
        number = (ArrayNumber){ARRAY_NUMBER_KIND_F64, {.f64 = float_of_bits((uint32_t)bits)}};
        break;
    case ARRAY_DTYPE_F16:
        number = (ArrayNumber){ARRAY_NUMBER_KIND_F64, {.f64 = array_f16_to_f32((uint16_t)bits)}};
        break;
    case ARRAY_DTYPE_BF16:
        number = (ArrayNumber){ARRAY_NUMBER_KIND_F64, {.f64 = array_bf16_to_f32((uint16_t)bits)}};
        break;
    case ARRAY_DTYPE_I64:
    case ARRAY_DTYPE_I32:
    case ARRAY_DTYPE_I16:
    case ARRAY_DTYPE_I8: {
        unsigned unused = 64 - 8 * (unsigned)size; /* an arithmetic shift extends the sign */
        number = (ArrayNumber){ARRAY_NUMBER_KIND_I64, {.i64 = (int64_t)(bits << unused) >> unused}};
        break;
    }
    case ARRAY_DTYPE_U64:
    case ARRAY_DTYPE_U32:
    case ARRAY_DTYPE_U16:
    case ARRAY_DTYPE_U8:
    case ARRAY_DTYPE_BOOL:
        number = (ArrayNumber){ARRAY_NUMBER_KIND_U64, {.u64 = bits}};
        break;
    case ARRAY_DTYPE_NONE:
    case ARRAY_DTYPE_COUNT:
        break;
    }
    return number;
}

const char *array_number_text(ArrayNumber number, ArrayDtype dtype, char text[ARRAY_TEXT_BYTES])
{
    switch (number.kind) {
    case ARRAY_NUMBER_KIND_I64:
        snprintf(text, ARRAY_TEXT_BYTES, "%" PRId64, number.value.i64);
        break;
    case ARRAY_NUMBER_KIND_U64:
        snprintf(text, ARRAY_TEXT_BYTES, "%" PRIu64, number.value.u64);
        break;
    case ARRAY_NUMBER_KIND_F64:
        print_float(text, number.value.f64, dtype);
        break;
    case ARRAY_NUMBER_KIND_NONE:
        snprintf(text, ARRAY_TEXT_BYTES, "none");
        break;
    }
    return text;
}

const char *array_value_text(ArrayDtype dtype, const void *element, char text[ARRAY_TEXT_BYTES])
{
    ArrayNumber number = load_number(dtype, element);
    if (dtype == ARRAY_DTYPE_BOOL)
        snprintf(text, ARRAY_TEXT_BYTES, "%s", number.value.u64 != 0 ? "true" : "false");
    else if (number.kind == ARRAY_NUMBER_KIND_NONE)
        text[0] = '\0';
    else
        array_number_text(number, dtype, text);
    return text;
}

double array_number_to_f64(ArrayNumber number)
{
    switch (number.kind) {
    case ARRAY_NUMBER_KIND_I64:
        return (double)number.value.i64;
    case ARRAY_NUMBER_KIND_U64:
        return (double)number.value.u64;
    case ARRAY_NUMBER_KIND_F64:
        return number.value.f64;
    case ARRAY_NUMBER_KIND_NONE:
        break;
    }
    return (double)NAN;
}
