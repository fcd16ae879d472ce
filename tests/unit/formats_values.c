/* tests/unit/formats_values.c: conversions, texts and statistics, against arithmetic done another
 * way and hand-worked values. One thread. */
#include "formats_common.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/printable.h"

/* The value by its definition: sign, significand, power of two, in double. */
static double by_definition(uint16_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

static void check_all(float (*widen)(uint16_t), int exponent_bits, int fraction_bits)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double expected = by_definition((uint16_t)bits, exponent_bits, fraction_bits);
        float value = widen((uint16_t)bits);
        if (isnan(expected)) {
            assert_true(isnan(value));
        } else if ((double)value != expected || !signbit(value) != !signbit(expected)) {
            fail_msg("0x%04x is %.17g, wanted %.17g", bits, (double)value, expected);
        }
    }
}

static void test_every_half(void **state)
{
    (void)state;
    check_all(array_f16_to_f32, 5, 10);
}

static void test_every_bfloat16(void **state)
{
    (void)state;
    check_all(array_bf16_to_f32, 8, 7);
}

static void test_halves_as_numpy_widens_them(void **state)
{
    (void)state;
    uint16_t *halves = malloc(65536 * sizeof *halves);
    float *wide = malloc(65536 * sizeof *wide);
    for (uint32_t i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    assert_true(array_convert_to_f32(ARRAY_DTYPE_F16, halves, wide, 65536));
    for (uint32_t i = 0; i < 65536; i++) {
        uint32_t quiet = 0x7fc00000;
        if (isnan(wide[i]))
            memcpy(&wide[i], &quiet, 4);
    }
    char text[65];
    sha256_text(wide, 65536 * sizeof *wide, text);
    cJSON *json = load_json(data_path("formats.json"));
    assert_string_equal(text, cJSON_GetStringValue(cJSON_GetObjectItem(json, "half_table_sha256")));
    cJSON_Delete(json);
    free(halves);
    free(wide);
}

static float one(ArrayDtype dtype, const void *element)
{
    float out = -1;
    assert_true(array_convert_to_f32(dtype, element, &out, 1));
    return out;
}

/* Bit patterns worked out by hand: 24 bits of significand, ties to even. */
static void test_rounding_to_f32(void **state)
{
    (void)state;
    const struct {
        uint64_t value;
        float expected;
    } whole[] = {{16777216, 0x1p24f},
                 {16777217, 0x1p24f},                            /* tie, down to even */
                 {16777219, 0x1.000004p24f},                     /* tie, up to even */
                 {(UINT64_C(1) << 53) + 1, 0x1p53f},             /* not through double */
                 {UINT64_C(0x8000008000000001), 0x1.000002p63f}, /* just over a tie */
                 {UINT64_C(0x8000008000000000), 0x1p63f},        /* the tie itself */
                 {UINT64_MAX, 0x1p64f}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        assert_true(one(ARRAY_DTYPE_U64, &whole[i].value) == whole[i].expected);
        if (whole[i].value <= INT64_MAX) {
            int64_t negative = -(int64_t)whole[i].value;
            assert_true(one(ARRAY_DTYPE_I64, &negative) == -whole[i].expected);
        }
    }
    int64_t least = INT64_MIN;
    uint32_t most32 = UINT32_MAX;
    int32_t odd32 = -16777217;
    assert_true(one(ARRAY_DTYPE_I64, &least) == -0x1p63f);
    assert_true(one(ARRAY_DTYPE_U32, &most32) == 0x1p32f);
    assert_true(one(ARRAY_DTYPE_I32, &odd32) == -0x1p24f);
    const struct {
        double value;
        float expected;
    } real[] = {{0x1.000001p0, 1.0f},
                {0x1.0000010000001p0, 0x1.000002p0f},
                {0x1.000003p0, 0x1.000004p0f},
                {1e39, INFINITY},
                {-1e39, -INFINITY},
                {0x1.fffffefffffffp127, FLT_MAX},
                {0x1.ffffffp127, INFINITY},
                {0x1p-149, 0x1p-149f},
                {0x1p-150, 0.0f},
                {0x1.8p-150, 0x1p-149f},
                {0.1, 0x1.99999ap-4f}};
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
        assert_true(one(ARRAY_DTYPE_F64, &real[i].value) == real[i].expected);
    double nan = NAN;
    assert_true(isnan(one(ARRAY_DTYPE_F64, &nan)));
}

static void test_small_types_and_f32_bits(void **state)
{
    (void)state;
    const int8_t i8 = -128;
    const uint8_t u8 = 255, truth = 1, lie = 0;
    const int16_t i16 = -32768;
    const uint16_t u16 = 65535;
    assert_true(one(ARRAY_DTYPE_I8, &i8) == -128.0f);
    assert_true(one(ARRAY_DTYPE_U8, &u8) == 255.0f);
    assert_true(one(ARRAY_DTYPE_I16, &i16) == -32768.0f);
    assert_true(one(ARRAY_DTYPE_U16, &u16) == 65535.0f);
    assert_true(one(ARRAY_DTYPE_BOOL, &truth) == 1.0f && one(ARRAY_DTYPE_BOOL, &lie) == 0.0f);
    const uint32_t patterns[] = {0x7fa12345, 0xffc00001, 0x80000000, 0x00000001};
    uint32_t copied[4]; /* signalling NaNs, their payloads and denormals keep their bits */
    assert_true(array_convert_to_f32(ARRAY_DTYPE_F32, patterns, (float *)(void *)copied, 4));
    assert_memory_equal(patterns, copied, sizeof patterns);
    float out = 7;
    assert_false(array_convert_to_f32(ARRAY_DTYPE_NONE, &u8, &out, 1));
    assert_true(out == 7.0f);
}

static void check_text(ArrayDtype dtype, const void *element, const char *expected)
{
    char text[ARRAY_TEXT_BYTES];
    assert_string_equal(array_value_text(dtype, element, text), expected);
}

static void test_texts(void **state)
{
    (void)state;
    const int64_t i64 = INT64_MIN;
    const uint64_t u64 = UINT64_MAX;
    const int8_t i8 = -1;
    const float third = 1.0f / 3.0f, f32[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0f};
    const double tenth = 0.1, most = DBL_MAX;
    const uint16_t f16[] = {0x3c00, 0x7bff, 0x0001, 0x5640, 0x2e66, 0xfc00, 0xfe00};
    const uint8_t two = 2, zero = 0;
    check_text(ARRAY_DTYPE_I64, &i64, "-9223372036854775808");
    check_text(ARRAY_DTYPE_U64, &u64, "18446744073709551615");
    check_text(ARRAY_DTYPE_I8, &i8, "-1");
    check_text(ARRAY_DTYPE_F32, &third, "0.33333334");
    check_text(ARRAY_DTYPE_F64, &tenth, "0.1");
    check_text(ARRAY_DTYPE_F64, &most, "1.7976931348623157e+308");
    const float f32_near[] = {0.1f, 1000000.5f, 16777216.0f, 0x1p-149f, FLT_MAX, 1e10f};
    const double f64_near[] = {0.1 + 0.2, 1000000.5, 1e15, 1e16, 0x1p-1074};
    check_text(ARRAY_DTYPE_F32, &f32_near[0], "0.1");
    check_text(ARRAY_DTYPE_F32, &f32_near[1], "1000000.5");
    check_text(ARRAY_DTYPE_F32, &f32_near[2], "16777216");
    check_text(ARRAY_DTYPE_F32, &f32_near[3], "1e-45");
    check_text(ARRAY_DTYPE_F32, &f32_near[4], "3.4028235e+38");
    check_text(ARRAY_DTYPE_F32, &f32_near[5], "10000000000");
    check_text(ARRAY_DTYPE_F64, &f64_near[0], "0.30000000000000004");
    check_text(ARRAY_DTYPE_F64, &f64_near[1], "1000000.5");
    check_text(ARRAY_DTYPE_F64, &f64_near[2], "1000000000000000");
    check_text(ARRAY_DTYPE_F64, &f64_near[3], "1e+16");
    check_text(ARRAY_DTYPE_F64, &f64_near[4], "5e-324");
    check_text(ARRAY_DTYPE_F32, &f32[0], "nan");
    check_text(ARRAY_DTYPE_F32, &f32[1], "nan");
    check_text(ARRAY_DTYPE_F32, &f32[2], "inf");
    check_text(ARRAY_DTYPE_F32, &f32[3], "-inf");
    check_text(ARRAY_DTYPE_F32, &f32[4], "-0");
    check_text(ARRAY_DTYPE_F16, &f16[0], "1");
    check_text(ARRAY_DTYPE_F16, &f16[1], "65504");
    check_text(ARRAY_DTYPE_F16, &f16[2], "5.9604644775390625e-08"); /* 2^-24, exactly */
    check_text(ARRAY_DTYPE_F16, &f16[3], "100");
    check_text(ARRAY_DTYPE_F16, &f16[4], "0.0999755859375");
    check_text(ARRAY_DTYPE_F16, &f16[5], "-inf");
    check_text(ARRAY_DTYPE_F16, &f16[6], "nan");
    const uint16_t bf16 = 0x3dcd;
    check_text(ARRAY_DTYPE_BF16, &bf16, "0.10009765625");
    check_text(ARRAY_DTYPE_BOOL, &two, "true");
    check_text(ARRAY_DTYPE_BOOL, &zero, "false");
    check_text(ARRAY_DTYPE_NONE, &zero, "");
}

static void test_texts_keep_their_point_in_other_locales(void **state)
{
    (void)state;
    const uint16_t tenth16 = 0x2e66;
    const double tenth = 0.1;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "de_DE") == NULL) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        skip();
    }
    check_text(ARRAY_DTYPE_F16, &tenth16, "0.0999755859375");
    check_text(ARRAY_DTYPE_F64, &tenth, "0.1");
    setlocale(LC_NUMERIC, "C");
}

static void test_statistics(void **state)
{
    (void)state;
    ArrayStats stats = {0};
    const int64_t big[] = {INT64_C(9007199254740993), INT64_C(9007199254740992), -5};
    array_stats_add(&stats, ARRAY_DTYPE_I64, big, 3);
    assert_int_equal(stats.min.kind, ARRAY_NUMBER_KIND_I64);
    assert_true(stats.min.value.i64 == -5);
    assert_true(stats.max.value.i64 == INT64_C(9007199254740993)); /* 2^53 + 1 stays whole */
    const int64_t lower = INT64_MIN;
    array_stats_add(&stats, ARRAY_DTYPE_I64, &lower, 1);
    assert_true(stats.min.value.i64 == INT64_MIN && stats.element_count == 4);

    ArrayStats real = {0};
    const float values[] = {NAN, INFINITY, -INFINITY, -NAN};
    array_stats_add(&real, ARRAY_DTYPE_F32, values, 4);
    assert_int_equal(real.min.kind, ARRAY_NUMBER_KIND_NONE);
    assert_int_equal(real.nan_count, 2);
    assert_int_equal(real.infinite_count, 2);
    char text[ARRAY_TEXT_BYTES];
    assert_string_equal(array_number_text(real.max, ARRAY_DTYPE_F32, text), "none");
    assert_true(isnan(array_number_to_f64(real.max)));
    const float more[] = {FLT_MAX, -FLT_MAX, 0x1p-149f};
    array_stats_add(&real, ARRAY_DTYPE_F32, more, 3);
    assert_true(real.min.value.f64 == -(double)FLT_MAX && real.max.value.f64 == (double)FLT_MAX);
    array_stats_add(&real, ARRAY_DTYPE_F32, NULL, 0);
    assert_int_equal(real.element_count, 7);

    ArrayStats whole = {0};
    const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 1};
    array_stats_add(&whole, ARRAY_DTYPE_U64, huge, 2);
    assert_string_equal(array_number_text(whole.max, ARRAY_DTYPE_U64, text),
                        "18446744073709551615");
    assert_string_equal(array_number_text(whole.min, ARRAY_DTYPE_U64, text),
                        "18446744073709551614");
}

static void test_names(void **state)
{
    (void)state;
    for (int i = ARRAY_DTYPE_NONE + 1; i < ARRAY_DTYPE_COUNT; i++)
        assert_int_equal(array_dtype_from_name(array_dtype_name((ArrayDtype)i)), i);
    assert_int_equal(array_dtype_from_name("float32"), ARRAY_DTYPE_NONE);
    assert_int_equal(array_dtype_from_name("none"), ARRAY_DTYPE_NONE);
    assert_int_equal(array_dtype_from_name(NULL), ARRAY_DTYPE_NONE);
    assert_string_equal(array_dtype_name((ArrayDtype)999), "none");
    assert_string_equal(array_format_name((ArrayFormat)-1), "none");
    for (int i = 0; i < ARRAY_FAULT_COUNT; i++)
        assert_true(strlen(array_fault_name((ArrayFault)i)) > 0);
}

/* ---- Zeros ---- */

static void add_all(ArrayStats *stats, ArrayDtype dtype, const double *values, size_t count)
{
    uint8_t elements[8 * 8];
    size_t size = array_dtype_size_bytes(dtype);
    for (size_t i = 0; i < count; i++) {
        float narrow = (float)values[i];
        uint16_t one = dtype == ARRAY_DTYPE_F16 ? 0x3c00 : 0x3f80;
        uint16_t half =
            (uint16_t)((signbit(values[i]) ? 0x8000 : 0) | (values[i] != 0.0 ? one : 0));
        memcpy(elements + i * size,
               size == 8   ? (const void *)&values[i]
               : size == 4 ? (const void *)&narrow
                           : (const void *)&half,
               size);
    }
    array_stats_add(stats, dtype, elements, count);
}

/* Every row of four of -1, -0, +0 and 1, whole and element by element: an end of zero is -0 where
 * no +0 is there. */
static void test_zeros_are_one_value(void **state)
{
    static const double choices[4] = {-1.0, -0.0, 0.0, 1.0};
    static const ArrayDtype dtypes[] = {ARRAY_DTYPE_F64, ARRAY_DTYPE_F32, ARRAY_DTYPE_F16,
                                        ARRAY_DTYPE_BF16};
    (void)state;
    for (int code = 0; code < 4 * 256; code++) {
        ArrayDtype dtype = dtypes[code / 256];
        ArrayStats whole = {0}, single = {0};
        double values[4];
        bool plus = false;
        for (int i = 0; i < 4; i++) {
            values[i] = choices[code >> 2 * i & 3];
            plus |= values[i] == 0.0 && !signbit(values[i]);
            add_all(&single, dtype, &values[i], 1);
        }
        add_all(&whole, dtype, values, 4);
        const ArrayNumber ends[] = {whole.min, whole.max, single.min, single.max};
        for (int i = 0; i < 4; i++) {
            double end = ends[i].value.f64;
            assert_true(end != 0.0 || !signbit(end) == plus);
        }
        assert_true(whole.min.value.f64 == single.min.value.f64);
        assert_true(whole.max.value.f64 == single.max.value.f64);
    }
}

/* ---- Texts from outside ---- */

static size_t encode(uint32_t code, char out[5])
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(first[length] | code);
    out[length] = '\0';
    return length;
}

/* Every character: itself, or spelled in ASCII. Which ones steer is Unicode's: general categories
 * Cc, Zl and Zp, the bidirectional controls, and the byte order mark. */
static void test_every_character_is_printable(void **state)
{
    char text[5], shown[16];
    uint32_t spelled = 0;
    (void)state;
    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        encode(code, text);
        printable_text(text, shown, sizeof shown);
        if (strcmp(text, shown) == 0)
            continue;
        spelled++;
        assert_int_equal(shown[0], '\\');
        for (const char *c = shown; *c != '\0'; c++)
            assert_true(*c > 0x20 && *c < 0x7f);
    }
    /* 31 + DEL + 32; ALM, LRM, RLM; U+2028 to U+202E; U+2066 to U+2069; BOM */
    assert_int_equal(spelled, 31 + 1 + 32 + 3 + 7 + 4 + 1);
}

static void test_bytes_that_are_no_text(void **state)
{
    static const char *const cases[][2] = {
        {"plain \\n text", "plain \\n text"},
        {"a\nb\r\tc", "a\\nb\\r\\tc"},
        {"\x1b[0m\x7f", "\\x1b[0m\\x7f"},
        {"\xc2\x9b", "\\u009b"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"\xc3", "\\xc3"},                   /* cut */
        {"\xe2\x80", "\\xe2\\x80"},          /* cut */
        {"\xc0\x8a", "\\xc0\\x8a"},          /* an overlong line feed */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
        {"\xf0\x9f\xa7\xa0", "\xf0\x9f\xa7\xa0"},
        {"", ""},
    };
    char shown[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(printable_text(cases[i][0], shown, sizeof shown), cases[i][1]);
        /* Cut to every size: a beginning, without half an escape or character. */
        for (size_t size = 1; size <= sizeof shown; size++) {
            char cut[64];
            size_t length = strlen(printable_text(cases[i][0], cut, size));
            assert_true(length < size && strncmp(cut, cases[i][1], length) == 0);
            const char *escape = strrchr(cut, '\\');
            if (escape != NULL && i > 0)
                assert_true(strlen(escape) >= (escape[1] == 'x' ? 4u : escape[1] == 'u' ? 6u : 2u));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_half),
        cmocka_unit_test(test_every_bfloat16),
        cmocka_unit_test(test_halves_as_numpy_widens_them),
        cmocka_unit_test(test_rounding_to_f32),
        cmocka_unit_test(test_small_types_and_f32_bits),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_texts_keep_their_point_in_other_locales),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_zeros_are_one_value),
        cmocka_unit_test(test_every_character_is_printable),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
