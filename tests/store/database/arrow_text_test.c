/* Text of Arrow values: each against DuckDB's own cast to VARCHAR of the same value, made by the
 * same statement, and JSON against literals. */
#include "database_fixture.h"

#include "core/fault.h"
#include "store/database/arrow_text.h"

static Database *database;

static int setup(void **state)
{
    (void)state;
    database = fixture_memory();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    database_close(&database);
    return 0;
}

static char *text_of(const char *sql, ArrowTextForm form)
{
    struct ArrowArrayStream stream = fixture_query(database, sql);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    TextBuffer text = {.bytes = NULL};
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_non_null(batch.release);
    arrow_text_value(schema.children[0], batch.children[0], 0, form, &text);
    assert_false(text.failed);
    batch.release(&batch);
    schema.release(&schema);
    stream.release(&stream);
    return text.bytes;
}

/* Expressions whose plain text is what DuckDB says. */
static const char *const same[] = {
    "true",
    "false",
    "NULL",
    "(-128)::TINYINT",
    "255::UTINYINT",
    "(-32768)::SMALLINT",
    "65535::USMALLINT",
    "(-2147483648)::INT",
    "4294967295::UINTEGER",
    "(-9223372036854775808)::BIGINT",
    "18446744073709551615::UBIGINT",
    "170141183460469231731687303715884105727::HUGEINT",
    "(-170141183460469231731687303715884105727)::HUGEINT",
    "(-1)::HUGEINT",
    "0::HUGEINT",
    "0.001::DECIMAL(9,3)",
    "(-12.5)::DECIMAL(38,10)",
    "(-0.5)::DECIMAL(3,2)",
    "0::DECIMAL(4,1)",
    "99999999999999999999999999999999999999::DECIMAL(38,0)",
    "12345.678::DECIMAL(18,3)",
    "0.0::DOUBLE",
    "(-0.0)::DOUBLE",
    "1.5::DOUBLE",
    "100::DOUBLE",
    "1e15::DOUBLE",
    "1e16::DOUBLE",
    "123456789012345680::DOUBLE",
    "0.0001::DOUBLE",
    "0.00001::DOUBLE",
    "1e-7::DOUBLE",
    "1e300::DOUBLE",
    "5e-324::DOUBLE",
    "1.7976931348623157e308::DOUBLE",
    "(1.0/3)::DOUBLE",
    "'nan'::DOUBLE",
    "'inf'::DOUBLE",
    "'-inf'::DOUBLE",
    "0.1::FLOAT",
    "16777216::FLOAT",
    "1e10::FLOAT",
    "3.4028235e38::FLOAT",
    "1e-45::FLOAT",
    "123456.789::FLOAT",
    "1e16::FLOAT",
    "''",
    "'plain'",
    "'it''s'",
    "'NULL'",
    "'a longer text than twelve bytes, with é'",
    "chr(9)",
    "'a'::BLOB",
    "'\\x00\\x7F\\x5C\\xFF'::BLOB",
    "'\"'::BLOB",
    "''''::BLOB",
    "''::BLOB",
    "DATE '1970-01-01'",
    "DATE '1969-12-31'",
    "DATE '2000-02-29'",
    "DATE '1900-03-01'",
    "DATE '12345-01-01'",
    "DATE '0001-01-01'",
    "DATE '0001-12-31 (BC)'",
    "'infinity'::DATE",
    "'-infinity'::DATE",
    "DATE '5877642-06-25 (BC)'",
    "DATE '5881580-07-10'",
    "TIMESTAMP '2026-01-02 03:04:05.100000'",
    "TIMESTAMP '2026-01-02'",
    "TIMESTAMP '1969-12-31 23:59:59.999999'",
    "TIMESTAMP '0044-01-01 (BC) 00:00:01'",
    "'infinity'::TIMESTAMP",
    "'-infinity'::TIMESTAMP",
    "TIMESTAMP_S '2026-01-01 00:00:01'",
    "TIMESTAMP_MS '2020-01-01 00:00:00.120'",
    "TIMESTAMP_NS '2026-01-01 00:00:01.123456789'",
    "TIMESTAMPTZ '2026-01-01 00:00:00.5+00'",
    "TIME '00:00:00'",
    "TIME '23:59:59.999999'",
    "TIME '01:02:03.004'",
    "INTERVAL '1 year 2 months 3 days 04:05:06.7'",
    "INTERVAL '-1 month'",
    "INTERVAL '0 s'",
    "INTERVAL '-25 hours'",
    "INTERVAL '100 hours'",
    "INTERVAL 14 MONTHS",
    "INTERVAL '-1 day 2 hours'",
    "INTERVAL '1 microsecond'",
    "INTERVAL '-14 months 1 day'",
    "'00000000-0000-0000-0000-0000000000ff'::UUID",
    "'{\"a\": [1]}'::JSON",
    "'y z'::ENUM('x', 'y z')",
    "NULL::ENUM('x')",
    "[1, NULL, 3]",
    "[]::INT[]",
    "[[1], [], NULL]",
    "[1.0::DOUBLE, 'nan'::DOUBLE]",
    "['', ' ', 'null', 'NULL', 'nULL', 'plain', 'two words', ' x', 'x ']",
    "['a''b', 'a\\b', 'a\"b', 'a''b c', 'a\\,b', 'x''\"y']",
    "[chr(10) || 'a', 'a' || chr(9)]",
    "['a(b', 'a)b', 'a,b', 'a:b', 'a=b', 'a[b', 'a]b', 'a{b', 'a}b', 'a;b', 'a.b', 'é']",
    "[DATE '2020-01-01']",
    "[TIME '01:02:03']",
    "[TIMESTAMP '2020-01-01 00:00:00']",
    "[INTERVAL 1 DAY]",
    "[true, false]",
    "['y z'::ENUM('x', 'y z')]",
    "[1.50::DECIMAL(5,2)]",
    "{'a': 1, 'b': NULL}",
    "{'a b': 'x', 'k''k': 'y,z'}",
    "{'a': [1], 'b': {'c': map {1: 'x'}}}",
    "map {1: 'x', 2: NULL}",
    "map {'a': 'b c', 'x=y': NULL}",
    "map {}",
    "map {'k': [1, 2]}",
    "['a', 'b']::VARCHAR[2]",
    "[1, NULL]::INT[2]",
    "[[1, 2]::INT[2], NULL]",
    "union_value(a := 1)",
    "[union_value(a := 'x y, z')]",
    "['y,z'::ENUM('x', 'y,z')]",

    "['00000000-0000-0000-0000-0000000000ff'::UUID]",
    "{'b': 'a,b'::BLOB}",
    "['a,b\\x00'::BLOB, '\\x00'::BLOB]",
    "'u'::UNION(n INT, s VARCHAR)",
    "[{'a': 1}, NULL, {'a': NULL}]",
};

static void test_as_duckdb(void **state)
{
    (void)state;
    fixture_run(database, "SELECT 1");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "SELECT %s", same[i]);
        char *ours = text_of(sql, ARROW_TEXT_FORM_PLAIN);
        snprintf(sql, sizeof sql, "SELECT coalesce((%s)::VARCHAR, 'NULL')", same[i]);
        char *theirs = text_of(sql, ARROW_TEXT_FORM_PLAIN);
        const char *wanted = theirs != NULL ? theirs : "";
        if (strcmp(ours != NULL ? ours : "", wanted) != 0)
            fail_msg("%s: %s instead of %s", same[i], ours, wanted);
        free(ours);
        free(theirs);
    }
}

static void test_json(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"NULL", "null"},
        {"true", "true"},
        {"18446744073709551615::UBIGINT", "18446744073709551615"},
        {"1.50::DECIMAL(5,2)", "1.50"},
        {"0.1::FLOAT", "0.1"},
        {"1e300::DOUBLE", "1e+300"},
        {"'nan'::DOUBLE", "\"nan\""},
        {"'-inf'::FLOAT", "\"-inf\""},
        {"'a\"b\\' || chr(10) || chr(27) || chr(127) || 'é'", "\"a\\\"b\\\\\\n\\u001b\\u007fé\""},
        {"''", "\"\""},
        {"'\\x00\"'::BLOB", "\"\\\\x00\\\\x22\""},
        {"DATE '2026-01-02'", "\"2026-01-02\""},
        {"INTERVAL 1 DAY", "\"1 day\""},
        {"[1, NULL]", "[1, null]"},
        {"['a', 'b c']", "[\"a\", \"b c\"]"},
        {"{'a': 1, 'b': {'c': NULL}}", "{\"a\": 1, \"b\": {\"c\": null}}"},
        {"map {'k': 1, 'l': NULL}", "{\"k\": 1, \"l\": null}"},
        {"map {1: 'x'}", "[[1, \"x\"]]"},
        {"union_value(a := 'x')", "\"x\""},
        {"'y'::ENUM('x', 'y')", "\"y\""},
        {"'{\"a\": 1}'::JSON", "\"{\\\"a\\\": 1}\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "SELECT %s", cases[i][0]);
        char *text = text_of(sql, ARROW_TEXT_FORM_JSON);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

/* Many rows of random values: every double and float reads back as itself, every date and timestamp
 * is DuckDB's. */
static void test_many(void **state)
{
    (void)state;
    struct ArrowArrayStream stream = fixture_query(
        database,
        "SELECT unnest([x::VARCHAR, f::VARCHAR, d::VARCHAR, t::VARCHAR, i::VARCHAR, m::VARCHAR]) "
        "AS wanted, x, f, d, t, i, m FROM (SELECT "
        "CASE range % 3 WHEN 0 THEN random() WHEN 1 THEN exp(600 * (random() - 0.5)) ELSE "
        "round(random() * 1e6) / 1000 END AS x, exp(80 * (random() - 0.5))::FLOAT AS f, "
        "DATE '1970-01-01' + ((random() - 0.5) * 4000000)::INT AS d, "
        "make_timestamp(((random() - 0.5) * 4e17)::BIGINT) AS t, "
        "to_months(((random() - 0.5) * 100)::INT) + to_microseconds(((random() - 0.5) * "
        "1e12)::BIGINT) AS i, ((random() - 0.5) * 1e12)::DECIMAL(30, 7) AS m FROM range(4000))");
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t rows = 0;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        if (batch.release == NULL)
            break;
        for (int64_t row = 0; row < batch.length; row++, rows++) {
            TextBuffer wanted = {.bytes = NULL};
            TextBuffer ours = {.bytes = NULL};
            int64_t column = 1 + rows % 6;
            arrow_text_value(schema.children[0], batch.children[0], row, ARROW_TEXT_FORM_PLAIN,
                             &wanted);
            arrow_text_value(schema.children[column], batch.children[column], row,
                             ARROW_TEXT_FORM_PLAIN, &ours);
            /* DuckDB does not always find the fewest digits of a real number; ours are no more. */
            if (column == 1 || column == 2) {
                assert_true(ours.length <= wanted.length);
                assert_true(strtof(ours.bytes, NULL) == strtof(wanted.bytes, NULL));
                assert_true(column == 2 || strtod(ours.bytes, NULL) == strtod(wanted.bytes, NULL));
            } else {
                assert_string_equal(ours.bytes, wanted.bytes);
            }
            free(wanted.bytes);
            free(ours.bytes);
        }
        batch.release(&batch);
    }
    assert_int_equal(rows, 24000);
    schema.release(&schema);
    stream.release(&stream);
}

/* Formats that DuckDB does not write today, made by hand. */
static void test_by_hand(void **state)
{
    (void)state;
    const uint8_t validity[] = {0x05};
    const int64_t offsets[] = {0, 1, 1, 4};
    const void *large[] = {validity, offsets, "abcd"};
    const struct ArrowSchema text = {.format = "U"};
    const struct ArrowArray texts = {
        .length = 2, .offset = 1, .null_count = 1, .n_buffers = 3, .buffers = large};
    TextBuffer out = {.bytes = NULL};
    assert_true(arrow_text_is_null(&text, &texts, 0));
    arrow_text_value(&text, &texts, 1, ARROW_TEXT_FORM_PLAIN, &out);
    assert_string_equal(out.bytes, "bcd");
    const struct ArrowSchema odd = {.format = "xyz"};
    const void *none[] = {NULL, offsets};
    const struct ArrowArray any = {.length = 1, .n_buffers = 2, .buffers = none};
    out.length = 0;
    arrow_text_value(&odd, &any, 0, ARROW_TEXT_FORM_PLAIN, &out);
    assert_string_equal(out.bytes, "<xyz>");
    const struct ArrowSchema nothing = {.format = "n"};
    const struct ArrowArray nulls = {.length = 1, .null_count = 1};
    out.length = 0;
    arrow_text_value(&nothing, &nulls, 0, ARROW_TEXT_FORM_JSON, &out);
    assert_string_equal(out.bytes, "null");
    free(out.bytes);
}

static void test_no_memory(void **state)
{
    (void)state;
    TextBuffer out = {.bytes = NULL};
    assert_true(fault_set_plan("store.text.alloc:1"));
    text_buffer_text(&out, "text");
    fault_set_plan(NULL);
    assert_true(out.failed);
    text_buffer_text(&out, "more");
    assert_int_equal(out.length, 0);
    free(out.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_duckdb), cmocka_unit_test(test_json),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
