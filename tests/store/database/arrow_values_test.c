/* The values of Arrow streams, read from the Arrow structs by hand against literals, and against
 * DuckDB's own VARCHAR rendering. */
#include "arrow_fixture.h"

/* Bytes of a row of a "u" or "z" column. */
static void check_text(const struct ArrowArray *column, int64_t row, const char *wanted,
                       size_t length)
{
    const int32_t *offsets = column->buffers[1];
    const char *bytes = column->buffers[2];
    int64_t at = row + column->offset;
    assert_true(arrow_is_valid(column, row));
    assert_int_equal(offsets[at + 1] - offsets[at], length);
    assert_memory_equal(bytes + offsets[at], wanted, length);
}

static void test_scalars(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream = fixture_query(
        database,
        "SELECT * FROM (VALUES "
        "(true, 127::TINYINT, (-32768)::SMALLINT, 2147483647, (-9223372036854775808)::BIGINT, "
        "255::UTINYINT, 65535::USMALLINT, 4294967295::UINTEGER, 18446744073709551615::UBIGINT, "
        "1.5::FLOAT, 'nan'::DOUBLE, 'a', 'a longer text of more than twelve', "
        "'\\xC3\\xA9\\x00'::BLOB, "
        "DATE '1970-01-02', TIMESTAMP '1970-01-01 00:00:01.000002', "
        "TIMESTAMPTZ '1970-01-01 00:00:02+00', TIME '00:00:03', 12.34::DECIMAL(9, 2), "
        "'x'::ENUM('w', 'x')), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
        "NULL, NULL, NULL, NULL, NULL, NULL)) t");
    static const char *const formats[] = {"b",   "c",    "s",    "i",   "l",     "C", "S",
                                          "I",   "L",    "f",    "g",   "u",     "u", "z",
                                          "tdD", "tsu:", "tsu:", "ttu", "d:9,2", "C"};
    struct ArrowSchema schema;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(schema.n_children, 20);
    for (int i = 0; i < 20; i++) {
        if (strncmp(schema.children[i]->format, formats[i], strlen(formats[i])) != 0)
            fail_msg("column %d has format %s", i, schema.children[i]->format);
        assert_true((schema.children[i]->flags & ARROW_FLAG_NULLABLE) != 0);
    }
    assert_true(strlen(schema.children[16]->format) > 4); /* a zone is named */
    struct ArrowArray batch = next(&stream);
    assert_int_equal(batch.length, 2);
    for (int i = 0; i < 20; i++) {
        assert_true(arrow_is_valid(batch.children[i], 0));
        assert_false(arrow_is_valid(batch.children[i], 1));
        assert_true(batch.children[i]->null_count == 1 || batch.children[i]->null_count == -1);
    }
#define FIRST(column, type) (((const type *)batch.children[column]->buffers[1])[0])
    assert_int_equal(FIRST(0, uint8_t) & 1, 1);
    assert_int_equal(FIRST(1, int8_t), 127);
    assert_int_equal(FIRST(2, int16_t), -32768);
    assert_int_equal(FIRST(3, int32_t), 2147483647);
    assert_true(FIRST(4, int64_t) == INT64_MIN);
    assert_int_equal(FIRST(5, uint8_t), 255);
    assert_int_equal(FIRST(6, uint16_t), 65535);
    assert_true(FIRST(7, uint32_t) == UINT32_MAX);
    assert_true(FIRST(8, uint64_t) == UINT64_MAX);
    assert_true(FIRST(9, float) == 1.5f);
    assert_true(FIRST(10, double) != FIRST(10, double));
    check_text(batch.children[11], 0, "a", 1);
    check_text(batch.children[12], 0, "a longer text of more than twelve", 33);
    check_text(batch.children[13], 0, "\xc3\xa9\0", 3);
    assert_int_equal(FIRST(14, int32_t), 1);
    assert_true(FIRST(15, int64_t) == 1000002);
    assert_true(FIRST(16, int64_t) == 2000000);
    assert_true(FIRST(17, int64_t) == 3000000);
    assert_true(FIRST(18, int64_t) == 1234); /* 128 bits, little-endian */
    assert_int_equal(FIRST(19, uint8_t), 1);
    assert_non_null(batch.children[19]->dictionary);
    check_text(batch.children[19]->dictionary, 1, "x", 1);
    assert_string_equal(schema.children[19]->dictionary->format, "u");
    batch.release(&batch);
    schema.release(&schema);
    stream.release(&stream);
    database_close(&database);
}

static void test_nested(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream =
        fixture_query(database, "SELECT * FROM (VALUES "
                                "([1, NULL, 3], {'n': 7, 's': 'seven'}, map {'k': 1.5::DOUBLE}, "
                                "[4, 5]::INT[2], [['a'], []]), "
                                "(NULL, {'n': NULL, 's': NULL}, map {}, NULL, NULL), "
                                "([], NULL, NULL, [6, NULL]::INT[2], [NULL])) t(l, s, m, a, ll)");
    struct ArrowSchema schema;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    static const char *const formats[] = {"+l", "+s", "+m", "+w:2", "+l"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(schema.children[i]->format, formats[i]);
    assert_string_equal(schema.children[1]->children[0]->name, "n");
    assert_string_equal(schema.children[1]->children[1]->name, "s");
    assert_string_equal(schema.children[2]->children[0]->format, "+s");
    assert_string_equal(schema.children[4]->children[0]->format, "+l");
    struct ArrowArray batch = next(&stream);
    assert_int_equal(batch.length, 3);
    const struct ArrowArray *list = batch.children[0];
    const int32_t *offsets = list->buffers[1];
    assert_true(arrow_is_valid(list, 0) && !arrow_is_valid(list, 1) && arrow_is_valid(list, 2));
    assert_int_equal(offsets[1] - offsets[0], 3);
    assert_int_equal(offsets[3] - offsets[2], 0);
    const struct ArrowArray *items = list->children[0];
    assert_int_equal(((const int32_t *)items->buffers[1])[offsets[0]], 1);
    assert_false(arrow_is_valid(items, offsets[0] + 1));
    assert_int_equal(((const int32_t *)items->buffers[1])[offsets[0] + 2], 3);
    const struct ArrowArray *record = batch.children[1];
    assert_true(arrow_is_valid(record, 0) && arrow_is_valid(record, 1) &&
                !arrow_is_valid(record, 2));
    assert_int_equal(((const int32_t *)record->children[0]->buffers[1])[0], 7);
    check_text(record->children[1], 0, "seven", 5);
    assert_false(arrow_is_valid(record->children[0], 1));
    const struct ArrowArray *map = batch.children[2];
    const int32_t *entries = map->buffers[1];
    assert_int_equal(entries[1] - entries[0], 1);
    assert_int_equal(entries[2] - entries[1], 0);
    assert_false(arrow_is_valid(map, 2));
    check_text(map->children[0]->children[0], 0, "k", 1);
    assert_true(((const double *)map->children[0]->children[1]->buffers[1])[0] == 1.5);
    const struct ArrowArray *fixed = batch.children[3];
    const struct ArrowArray *pair = fixed->children[0];
    assert_true(arrow_is_valid(fixed, 0) && !arrow_is_valid(fixed, 1) && arrow_is_valid(fixed, 2));
    assert_int_equal(((const int32_t *)pair->buffers[1])[1], 5);
    assert_int_equal(((const int32_t *)pair->buffers[1])[4], 6);
    assert_false(arrow_is_valid(pair, 5));
    const struct ArrowArray *lists = batch.children[4];
    const int32_t *outer = lists->buffers[1];
    const int32_t *inner = lists->children[0]->buffers[1];
    assert_int_equal(outer[1] - outer[0], 2);
    assert_int_equal(inner[1] - inner[0], 1);
    assert_int_equal(inner[2] - inner[1], 0);
    assert_false(arrow_is_valid(lists->children[0], 2));
    batch.release(&batch);
    schema.release(&schema);
    stream.release(&stream);
    database_close(&database);
}

/* Validity and values over many rows and batches, and texts of every length about the in-place
 * limit, against DuckDB's own rendering of each. */
static void test_long_columns(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream =
        fixture_query(database, "SELECT CASE WHEN range % 7 <> 3 THEN range * 3 END AS v, "
                                "v::VARCHAR AS rendered, repeat('é', (range % 40)::INT) AS t, "
                                "length(t) AS n FROM range(10000)");
    int64_t at = 0;
    for (struct ArrowArray batch = next(&stream); batch.release != NULL; batch = next(&stream)) {
        const int64_t *values = batch.children[0]->buffers[1];
        const int32_t *offsets = batch.children[2]->buffers[1];
        const int64_t *lengths = batch.children[3]->buffers[1];
        for (int64_t row = 0; row < batch.length; row++, at++) {
            bool valid = arrow_is_valid(batch.children[0], row);
            assert_int_equal(valid, at % 7 != 3);
            assert_int_equal(valid, arrow_is_valid(batch.children[1], row));
            if (valid) {
                char wanted[32];
                assert_true(values[row] == at * 3);
                int length = snprintf(wanted, sizeof wanted, "%lld", (long long)values[row]);
                check_text(batch.children[1], row, wanted, (size_t)length);
            }
            assert_int_equal(offsets[row + 1] - offsets[row], 2 * (at % 40));
            assert_int_equal(lengths[row], at % 40);
        }
        batch.release(&batch);
    }
    assert_int_equal(at, 10000);
    stream.release(&stream);
    database_close(&database);
}

/* No rows, no columns to speak of, a statement that only changes. */
static void test_empty(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    static const char *const statements[] = {"SELECT 1 AS i WHERE false", "CREATE TABLE t(a INT)",
                                             "CREATE VIEW v AS SELECT 1"};
    for (size_t i = 0; i < 3; i++) {
        struct ArrowArrayStream stream = fixture_query(database, statements[i]);
        struct ArrowSchema schema;
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_string_equal(schema.format, "+s");
        schema.release(&schema);
        assert_null(next(&stream).release);
        stream.release(&stream);
    }
    assert_true(fixture_number(database, "INSERT INTO t VALUES (1), (2)") == 2);
    assert_true(fixture_number(database, "SELECT sum(a)::BIGINT FROM t") == 3);
    database_close(&database);
}

/* A type that Arrow has no name for is refused in words, and the store goes on. */
static void test_no_such_type(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream;
    DatabaseError error;
    assert_false(fixture_stream(database, "SELECT 1::VARIANT", &stream, &error));
    assert_string_equal(error.text, "Unsupported Arrow type VARIANT");
    assert_true(fixture_number(database, "SELECT 42::BIGINT") == 42);
    database_close(&database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),      cmocka_unit_test(test_nested),
        cmocka_unit_test(test_long_columns), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_no_such_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
