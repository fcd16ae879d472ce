/* Names and uris of datasets, by the rules of the contract, and the SQL that they become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/data/data_store.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "_", "A9", "_9", "train_set_2", "Z_z"};
    static const char *const bad[] = {"",    "9",   "9a",    "a-b",  "a b",      " a",
                                      "a ",  "a.b", "a;b",   "a\"b", "\xc3\xa9", "a\n",
                                      "a'b", "*",   "a\x01", "tab\t"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(dataset_name_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(dataset_name_valid(bad[i]));
    assert_false(dataset_name_valid(NULL));
    char longest[DATASET_NAME_BYTES_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[DATASET_NAME_BYTES_MAX + 1] = '\0';
    assert_false(dataset_name_valid(longest));
    longest[DATASET_NAME_BYTES_MAX] = '\0';
    assert_true(dataset_name_valid(longest));
}

static void test_uris(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        DatasetKind kind;
    } cases[] = {
        {"a.parquet", DATASET_KIND_PARQUET},
        {"/x/y z.CSV", DATASET_KIND_CSV},
        {"../a.b.tsv", DATASET_KIND_TSV},
        {"/tmp/it's \"quoted\".json", DATASET_KIND_JSON},
        {"table_name", DATASET_KIND_TABLE},
        {"main.table_name", DATASET_KIND_TABLE},
        {"db.main._t1", DATASET_KIND_TABLE},
        {".parquet", DATASET_KIND_NONE}, /* a name is wanted */
        {"", DATASET_KIND_NONE},
        {"a.txt.", DATASET_KIND_NONE},
        {"a.b.c.d", DATASET_KIND_NONE},
        {"a..b", DATASET_KIND_NONE},
        {"a b", DATASET_KIND_NONE},
        {"t; DROP TABLE t", DATASET_KIND_NONE},
        {"(SELECT 1)", DATASET_KIND_NONE},
        {"/etc/passwd", DATASET_KIND_NONE},
        {"x.csv.gz", DATASET_KIND_TABLE}, /* three names: a table that is not there */
        {"/x.csv.gz", DATASET_KIND_NONE},
        {"https://example.org/a.csv", DATASET_KIND_NONE},
        {"s3://bucket/a.parquet", DATASET_KIND_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[256] = "";
        assert_int_equal(dataset_uri_kind(cases[i].uri, why, sizeof why), cases[i].kind);
        assert_int_equal(cases[i].kind == DATASET_KIND_NONE, why[0] != '\0');
    }
    char why[256];
    assert_int_equal(dataset_uri_kind(NULL, why, sizeof why), DATASET_KIND_NONE);
    char *longest = malloc(DATASET_URI_BYTES_MAX + 2);
    assert_non_null(longest);
    memset(longest, 'u', DATASET_URI_BYTES_MAX + 1);
    memcpy(longest + DATASET_URI_BYTES_MAX - 3, ".csv", 5);
    assert_int_equal(dataset_uri_kind(longest, why, sizeof why), DATASET_KIND_NONE);
    assert_int_equal(dataset_uri_kind(longest + 1, why, sizeof why), DATASET_KIND_CSV);
    free(longest);
}

static void check_select(DatasetKind kind, const char *uri, const char *wanted)
{
    char *sql = dataset_select(kind, uri);
    assert_string_equal(sql, wanted);
    free(sql);
}

static void test_selects(void **state)
{
    (void)state;
    check_select(DATASET_KIND_PARQUET, "/a/b.parquet",
                 "SELECT * FROM read_parquet('/a/b.parquet')");
    check_select(DATASET_KIND_CSV, "/it's.csv", "SELECT * FROM read_csv('/it''s.csv')");
    check_select(DATASET_KIND_TSV, "/%s.tsv", "SELECT * FROM read_csv('/%s.tsv', delim = '\t')");
    check_select(DATASET_KIND_JSON, "/x.json", "SELECT * FROM read_json('/x.json')");
    check_select(DATASET_KIND_TABLE, "t", "SELECT * FROM \"t\"");
    check_select(DATASET_KIND_TABLE, "a.b.c", "SELECT * FROM \"a\".\"b\".\"c\"");
    char *quoted = dataset_quote("a\"b\"\"", '"');
    assert_string_equal(quoted, "\"a\"\"b\"\"\"\"\"");
    free(quoted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_uris),
        cmocka_unit_test(test_selects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
