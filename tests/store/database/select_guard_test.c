/* What a SELECT that may only read is, and what is refused, with the store going on after each. The
 * lists of functions are compared with what the library itself says about them. */
#include "database_fixture.h"

#include "core/fault.h"
#include "store/database/select_guard.h"

static Database *database;

static int setup(void **state)
{
    (void)state;
    database = fixture_memory();
    fixture_run(database, "CREATE TABLE runs(id BIGINT, experiment VARCHAR);"
                          "INSERT INTO runs VALUES (1, 'a'), (2, 'b');"
                          "CREATE SEQUENCE counter;"
                          "CREATE VIEW pairs AS SELECT id, id + 1 AS next FROM runs");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    database_close(&database);
    return 0;
}

/* Reads the whole stream; answers the rows. */
static int64_t drain(struct ArrowArrayStream *stream)
{
    int64_t rows = 0;
    for (;;) {
        struct ArrowArray batch;
        int status = stream->get_next(stream, &batch);
        if (status != 0)
            fail_msg("get_next: %s", stream->get_last_error(stream));
        if (batch.release == NULL)
            return rows;
        rows += batch.length;
        batch.release(&batch);
    }
}

/* Nothing changed and the writer goes on. */
static void check_store(void)
{
    static int writes;
    fixture_run(database, "INSERT INTO runs VALUES (100, 'w')");
    writes++;
    assert_int_equal((int)fixture_number(database, "SELECT count(*) FROM runs WHERE id = 100"),
                     writes);
    assert_int_equal((int)fixture_number(database, "SELECT count(*) FROM runs WHERE id <> 100"), 2);
    assert_int_equal((int)fixture_number(database, "SELECT count(*) FROM duckdb_tables()"), 1);
    assert_int_equal((int)fixture_number(database, "SELECT count(*) FROM duckdb_databases() "
                                                   "WHERE NOT internal"),
                     1);
}

static const char *const refused[] = {
    /* several statements, in the open and hidden */
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE runs",
    "SELECT 1 /* ; */ ; DROP TABLE runs --",
    "SELECT 1 --\n; DROP TABLE runs",
    "SELECT '--'; DROP TABLE runs; --'",
    "SELECT $$ ; $$; DROP TABLE runs",
    "/* /* nested */ SELECT 1 */ DROP TABLE runs",
    ";SELECT 1;SELECT 2",
    "",
    ";",
    " ",
    "-- nothing",
    /* writing */
    "INSERT INTO runs VALUES (3, 'c')",
    "INSERT INTO runs VALUES (3, 'c') RETURNING id",
    "WITH x AS (SELECT 3 AS id) INSERT INTO runs SELECT id, 'c' FROM x",
    "WITH x AS (INSERT INTO runs VALUES (3, 'c') RETURNING id) SELECT * FROM x",
    "UPDATE runs SET experiment = 'z'",
    "DELETE FROM runs",
    "MERGE INTO runs USING (SELECT 1 AS id) s ON runs.id = s.id WHEN MATCHED THEN DELETE",
    "TRUNCATE runs",
    "CREATE TABLE t(a INT)",
    "CREATE TEMP TABLE t(a INT)",
    "CREATE OR REPLACE VIEW pairs AS SELECT 1",
    "CREATE MACRO f(a) AS a",
    "CREATE TABLE t AS SELECT 1",
    "ALTER TABLE runs ADD COLUMN c INT",
    "DROP TABLE runs",
    "COMMENT ON TABLE runs IS 'x'",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE INSERT INTO runs VALUES (3, 'c')",
    "EXPLAIN ANALYZE SELECT 1",
    "PREPARE p AS INSERT INTO runs VALUES (3, 'c')",
    "EXECUTE p",
    "DEALLOCATE p",
    "VACUUM",
    "ANALYZE",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    /* what would outlive the call */
    "BEGIN",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "USE memory",
    "SET threads = 1",
    "SET search_path = 'main'",
    "SET VARIABLE x = 1",
    "RESET threads",
    "ATTACH ':memory:' AS other",
    "DETACH memory",
    "LOAD json",
    "INSTALL httpfs",
    /* files */
    "COPY runs TO '/tmp/caliper-refused.csv'",
    "COPY runs FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '/tmp/caliper-refused.csv'",
    "EXPORT DATABASE '/tmp/caliper-refused'",
    "IMPORT DATABASE '/tmp/caliper-refused'",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM 'data.parquet'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_csv_auto('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_parquet('x.parquet')",
    "SELECT * FROM parquet_scan('x.parquet')",
    "SELECT * FROM parquet_metadata('x.parquet')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "FROM read_text('/etc/passwd')",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "WITH x AS (FROM read_text('/etc/passwd')) FROM x",
    "SELECT 1 UNION ALL SELECT size FROM read_text('/etc/passwd')",
    "SELECT 1 WHERE EXISTS (FROM read_text('/etc/passwd'))",
    "SELECT * FROM runs JOIN read_text('/etc/passwd') ON true",
    "SELECT * FROM runs, LATERAL (SELECT * FROM read_text('/etc/passwd'))",
    "SELECT * FROM runs ORDER BY (SELECT size FROM read_text('/etc/passwd'))",
    "SELECT * FROM runs LIMIT (SELECT size FROM read_text('/etc/passwd'))",
    "SELECT sum(id) OVER (ORDER BY (SELECT size FROM read_text('/etc/passwd'))) FROM runs",
    "SELECT * FROM range((SELECT size FROM read_text('/etc/passwd')))",
    "SELECT list_transform([1], lambda x : (SELECT size FROM read_text('/etc/passwd')))",
    "DESCRIBE SELECT * FROM read_text('/etc/passwd')",
    "SUMMARIZE SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM (DESCRIBE (SELECT * FROM read_text('/etc/passwd')))",
    /* functions with effects */
    "SELECT nextval('counter')",
    "SELECT NEXTVAL('counter')",
    "SELECT main.nextval('counter')",
    "SELECT \"nextval\"('counter')",
    "SELECT system.main.nextval('counter')",
    "SELECT 'counter'.nextval()",
    "SELECT 1 + (SELECT max(nextval('counter')) FROM runs)",
    "SELECT id FROM runs ORDER BY nextval('counter')",
    "SELECT id FROM runs QUALIFY row_number() OVER (ORDER BY nextval('counter')) = 1",
    "SELECT CASE WHEN true THEN nextval('counter') END",
    "SELECT [nextval('counter')]",
    "SELECT {'a': nextval('counter')}",
    "SELECT * FROM unnest([nextval('counter')])",
    "VALUES (nextval('counter'))",
    "SELECT currval('counter')",
    "SELECT setseed(0.5)",
    "SELECT write_log('x')",
    "SELECT * FROM checkpoint()",
    "SELECT * FROM force_checkpoint()",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file')",
    "SELECT * FROM disable_logging()",
    "SELECT * FROM truncate_duckdb_logs()",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('runs')",
    "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://x', 's3')",
    "SELECT * FROM seq_scan('runs')",
    "SELECT * FROM arrow_scan(1::UBIGINT::POINTER, 1, 1)",
    "SELECT * FROM sql_auto_complete('SEL')",
    "SELECT * FROM no_such_function(1)",
    "CALL checkpoint()",
    "CALL pragma_version()",
    "CALL enable_logging()",
    /* pragmas */
    "PRAGMA threads = 1",
    "PRAGMA memory_limit = '1GB'",
    "PRAGMA enable_external_access = true",
    "PRAGMA enable_profiling",
    "PRAGMA force_checkpoint",
    "PRAGMA checkpoint",
    "PRAGMA import_database('/tmp/x')",
    "PRAGMA copy_database('a', 'b')",
    "PRAGMA json_execute_serialized_sql('{}')",
    "PRAGMA enable_checkpoint_on_shutdown",
    "PRAGMA disable_verification",
    "PRAGMA show('runs')",
    "PRAGMA table_info = 3",
    "PRAGMA table_info('runs'); DROP TABLE runs",
    "PRAGMA table_info((SELECT 'runs'))",
    "PRAGMA table_info('runs') --",
    "PRAGMA table_info('no such table')",
    /* more */
    "PIVOT runs ON experiment",
    "SELECT * FROM runs PIVOT (sum(id) FOR experiment IN ('a', 'b'))",
    "UNPIVOT runs ON id",
    "SELECT $1",
    "SELECT ?",
    "SELECT $name",
    "SELEC 1",
    "SELECT * FROM no_such_table",
    "SELECT no_such_column FROM runs",
    "SELECT '\xff\xfe'",
    "SELECT 1 FROM",
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ArrowArrayStream stream;
        DatabaseError error = {.text = ""};
        memset(&stream, 0x5a, sizeof stream);
        struct ArrowArrayStream before = stream;
        if (select_guard_query(database, refused[i], &stream, &error)) {
            int64_t rows = drain(&stream);
            fail_msg("not refused: %s (%lld rows)", refused[i], (long long)rows);
        }
        assert_memory_equal(&stream, &before, sizeof stream);
        if (error.text[0] == '\0')
            fail_msg("no reason: %s", refused[i]);
        check_store();
    }
    struct ArrowArrayStream stream;
    DatabaseError error;
    assert_false(select_guard_query(database, NULL, &stream, &error));
    assert_int_equal(access("/tmp/caliper-refused.csv", F_OK), -1);
    assert_int_equal((int)fixture_number(database, "SELECT nextval('counter')"), 1);
}

/* Behind a macro or a view of the store's owner the parser sees no effect: the transaction is
 * read-only all the same. */
static void test_read_only(void **state)
{
    (void)state;
    Database *other = fixture_memory();
    fixture_run(other, "CREATE SEQUENCE counter; CREATE MACRO next_one() AS nextval('counter');"
                       "CREATE VIEW next_view AS SELECT nextval('counter') AS v");
    static const char *const hidden[] = {"SELECT next_one()", "SELECT v FROM next_view"};
    for (size_t i = 0; i < 2; i++) {
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        DatabaseError error;
        if (select_guard_query(other, hidden[i], &stream, &error)) {
            assert_int_not_equal(stream.get_next(&stream, &batch), 0);
            stream.release(&stream);
        }
    }
    assert_int_equal((int)fixture_number(other, "SELECT nextval('counter')"), 1);
    database_close(&other);
}

typedef struct Allowed {
    const char *sql;
    int64_t rows; /* -1: any */
} Allowed;

static const Allowed allowed[] = {
    {"SELECT 1", 1},
    {"  select 1 ; ", 1},
    {"/* a comment; with a semicolon */ SELECT 1 -- ; DROP TABLE runs", 1},
    {"SELECT '; DROP TABLE runs'", 1},
    {"FROM runs WHERE id < 3", 2},
    {"SELECT * FROM runs WHERE id < 3", 2},
    {"TABLE pairs LIMIT 1", 1},
    {"VALUES (1), (2), (NULL)", 3},
    {"SELECT count(*) FROM pairs", 1},
    {"WITH a AS (SELECT 1 AS x), b AS MATERIALIZED (SELECT x + 1 AS x FROM a) SELECT * FROM b", 1},
    {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) FROM n", 5},
    {"SELECT id, row_number() OVER (ORDER BY id), lag(id, 1, 0) OVER (ORDER BY id ROWS BETWEEN 1 "
     "PRECEDING AND CURRENT ROW), sum(id) OVER () FROM runs WHERE id < 3",
     2},
    {"SELECT id FROM runs WHERE id < 3 QUALIFY rank() OVER (ORDER BY id) = 1", 1},
    {"SELECT experiment, avg(id) FILTER (WHERE id > 0), median(id) FROM runs WHERE id < 3 "
     "GROUP BY ALL ORDER BY ALL",
     2},
    {"SELECT experiment, sum(id) FROM runs WHERE id < 3 GROUP BY ROLLUP (experiment)", 3},
    {"SELECT GROUPING(experiment) FROM runs WHERE id < 3 GROUP BY CUBE (experiment)", 3},
    {"SELECT * FROM range(10)", 10},
    {"SELECT * FROM generate_series(1, 3) AS g(i) WHERE i IN (1, 2) AND i NOT IN (5)", 2},
    {"SELECT unnest([1, 2, 3])", 3},
    {"SELECT * FROM unnest([1, 2]) AS t(i) ASOF JOIN range(3) AS r(i) ON t.i >= r.i", 2},
    {"SELECT a.id FROM runs a LEFT JOIN runs b USING (id) WHERE a.id < 3 AND b.id BETWEEN 1 AND 2",
     2},
    {"SELECT * FROM runs WHERE id < 3 AND id = ANY (SELECT 1) AND EXISTS (SELECT 1)", 1},
    {"SELECT id FROM runs WHERE id < 3 UNION ALL BY NAME SELECT 7 AS id", 3},
    {"SELECT id FROM runs WHERE id < 3 EXCEPT SELECT 1", 1},
    {"SELECT DISTINCT ON (experiment) * FROM runs WHERE id < 3", 2},
    {"SELECT COLUMNS('i.*') FROM runs WHERE id < 3", 2},
    {"SELECT * EXCLUDE (id) REPLACE (upper(experiment) AS experiment) FROM runs WHERE id < 3", 2},
    {"SELECT #1 FROM runs WHERE id < 3", 2},
    {"SELECT list_transform([1, 2], lambda x : x + 1), [x + 1 FOR x IN [1, 2] IF x > 1]", 1},
    {"SELECT {'a': 1, 'b': [1, 2]}, map {'k': 1}, struct_pack(a := 1).a, [1, 2, 3][1:2]", 1},
    {"SELECT CASE WHEN 1 = 1 THEN 'x' ELSE 'y' END, coalesce(NULL, 1), nullif(1, 1), "
     "TRY(1 / 0), TRY_CAST('x' AS INT), 1 IS DISTINCT FROM 2, NOT true, 1 IS NULL, 2 IS NOT NULL",
     1},
    {"SELECT 'abc' LIKE 'a%', 'abc' SIMILAR TO 'a.*', 'a' COLLATE NOCASE = 'A', 'x' || 'y'", 1},
    {"SELECT DATE '2026-01-01' + INTERVAL 1 DAY, now() IS NOT NULL, TIMESTAMP '2026-01-01 10:00'",
     1},
    {"SELECT '{\"a\": 1}'::JSON -> 'a', json_extract('{}', '$')", 1},
    {"SELECT CAST([1] AS DOUBLE[]), 1::DECIMAL(9, 2), '{a: 1}'::STRUCT(a INT, b VARCHAR[]), "
     "[1, 2]::INT[2], map {'a': 1}::MAP(VARCHAR, BIGINT), 'a'::ENUM ('a', 'b'), "
     "1::UNION(n INT, s VARCHAR), 'x'::VARCHAR COLLATE NOCASE, 1::UHUGEINT",
     1},
    {"SELECT random() < 2, uuid() IS NOT NULL, current_database()", 1},
    {"SELECT * FROM runs WHERE id < 3 LIMIT 50%", 1},
    {"SELECT * FROM runs WHERE id < 3 ORDER BY id DESC NULLS LAST LIMIT 1 OFFSET 1", 1},
    {"SELECT * FROM runs TABLESAMPLE 100% WHERE id < 3", 2},
    {"SELECT * FROM histogram('runs', 'id')", -1},
    {"SELECT * FROM information_schema.tables WHERE table_name = 'runs'", 1},
    {"SELECT table_name FROM duckdb_tables()", 1},
    {"SELECT * FROM duckdb_columns() WHERE table_name = 'runs'", 2},
    {"SELECT * FROM pragma_table_info('runs')", 2},
    {"SELECT 'refused is ' || 'nextval(''counter'')'", 1},
    {"SELECT 'nextval' AS nextval, id AS checkpoint FROM runs WHERE id = 1", 1},
    {"DESCRIBE runs", 2},
    {"DESCRIBE SELECT 1", 1},
    {"SHOW TABLES", 2},
    {"SUMMARIZE runs", 2},
    {"PRAGMA table_info('runs')", 2},
    {"pragma  table_info ( runs ) ;", 2},
    {"PRAGMA show_tables", 2},
    {"PRAGMA database_list", 1},
    {"PRAGMA database_size", 1},
    {"PRAGMA version", 1},
    {"PRAGMA collations", -1},
    {"PRAGMA storage_info('runs')", -1},
    {"PRAGMA user_agent", 1},
    {"PRAGMA platform", 1},
};

static void test_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        struct ArrowArrayStream stream;
        DatabaseError error;
        if (!select_guard_query(database, allowed[i].sql, &stream, &error))
            fail_msg("%s: %s", allowed[i].sql, error.text);
        int64_t rows = drain(&stream);
        if (allowed[i].rows >= 0 && rows != allowed[i].rows)
            fail_msg("%s: %lld rows", allowed[i].sql, (long long)rows);
        stream.release(&stream);
    }
    check_store();
}

/* Every function that the library itself calls one with side effects is refused, but for those that
 * only answer otherwise each time. */
static void test_against_library(void **state)
{
    (void)state;
    static const char sql[] =
        "SELECT count(*) FROM duckdb_functions() WHERE has_side_effects AND function_name NOT IN "
        "('nextval', 'currval', 'setseed', 'write_log', "
        "'uuid', 'uuidv4', 'uuidv7', 'gen_random_uuid', 'random', 'stats', 'error', "
        "'current_transaction_id', 'current_query_id', 'current_connection_id', 'current_query')";
    assert_int_equal((int)fixture_number(database, sql), 0);
    /* Each of them exists, so that the list above is not only wishes. */
    assert_int_equal((int)fixture_number(database, "SELECT count(DISTINCT function_name) FROM "
                                                   "duckdb_functions() WHERE has_side_effects"),
                     15);
}

/* Every table function of the library is either on this list or refused. */
static void test_table_functions(void **state)
{
    (void)state;
    struct ArrowArrayStream names =
        fixture_query(database, "SELECT DISTINCT function_name FROM duckdb_functions() WHERE "
                                "function_type IN ('table', 'table_macro') ORDER BY 1");
    int checked = 0;
    int passed = 0;
    for (;;) {
        struct ArrowArray batch;
        assert_int_equal(names.get_next(&names, &batch), 0);
        if (batch.release == NULL)
            break;
        const struct ArrowArray *column = batch.children[0];
        const int32_t *offsets = column->buffers[1];
        const char *bytes = column->buffers[2];
        for (int64_t row = 0; row < batch.length; row++) {
            char json[512];
            char why[256];
            snprintf(json, sizeof json,
                     "{\"error\":false,\"statements\":[{\"node\":{\"type\":\"TABLE_FUNCTION\","
                     "\"function\":{\"function_name\":\"%.*s\"}}}]}",
                     (int)(offsets[row + 1] - offsets[row]), bytes + offsets[row]);
            passed += select_tree_allowed(json, why, sizeof why);
            checked++;
        }
        batch.release(&batch);
    }
    names.release(&names);
    assert_true(checked > 80);
    assert_int_equal(passed, 36);
}

/* Trees that no parser of today writes. */
static void test_trees(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"error\":true}",
        "{\"error\":false}",
        "{\"error\":false,\"statements\":[]}",
        "{\"error\":false,\"statements\":{}}",
        "{\"error\":false,\"statements\":[{},{}]}",
        "{\"error\":0,\"statements\":[{}]}",
        "{\"statements\":[{}]}",
        "{\"error\":false,\"statements\":[{\"node\":{\"type\":\"UPDATE_NODE\"}}]}",
        "{\"error\":false,\"statements\":[{\"node\":{\"type\":\"TABLE_FUNCTION\"}}]}",
        "{\"error\":false,\"statements\":[{\"node\":{\"type\":\"TABLE_FUNCTION\",\"function\":3}}]"
        "}",
        "{\"error\":false,\"statements\":[{\"a\":[[{\"function_name\":\"NextVal\"}]]}]}",
    };
    char why[256];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (select_tree_allowed(bad[i], why, sizeof why))
            fail_msg("allowed: %s", bad[i]);
    }
    assert_true(select_tree_allowed("{\"error\":false,\"statements\":[{}]}", why, sizeof why));
}

/* Text that is deep or long: an answer, not a crash. */
static void test_deep(void **state)
{
    (void)state;
    const size_t sizes[] = {100, 1000, 20000, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t depth = sizes[i];
        char *sql = malloc(2 * depth + 16);
        assert_non_null(sql);
        strcpy(sql, "SELECT ");
        memset(sql + 7, '(', depth);
        sql[7 + depth] = '1';
        memset(sql + 8 + depth, ')', depth);
        sql[8 + 2 * depth] = '\0';
        struct ArrowArrayStream stream;
        DatabaseError error;
        if (select_guard_query(database, sql, &stream, &error))
            stream.release(&stream);
        char *sum = malloc(2 * depth + 16);
        assert_non_null(sum);
        strcpy(sum, "SELECT 1");
        for (size_t k = 0; k < depth; k++)
            memcpy(sum + 8 + 2 * k, "+1", 2);
        sum[8 + 2 * depth] = '\0';
        if (select_guard_query(database, sum, &stream, &error))
            stream.release(&stream);
        free(sum);
        free(sql);
    }
    char *longest = malloc(STATEMENT_BYTES_MAX + 2);
    assert_non_null(longest);
    memset(longest, ' ', STATEMENT_BYTES_MAX + 1);
    memcpy(longest, "SELECT 1", 8);
    longest[STATEMENT_BYTES_MAX + 1] = '\0';
    struct ArrowArrayStream stream;
    DatabaseError error;
    assert_false(select_guard_query(database, longest, &stream, &error));
    longest[STATEMENT_BYTES_MAX] = '\0';
    assert_true(select_guard_query(database, longest, &stream, &error));
    assert_int_equal(drain(&stream), 1);
    stream.release(&stream);
    free(longest);
    check_store();
}

/* A stream sees the moment it was asked for, whatever is written later. */
static void test_later_writes(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    DatabaseError error;
    fixture_run(database, "CREATE TABLE big AS SELECT range AS i FROM range(300000)");
    assert_true(select_guard_query(database, "SELECT i FROM big", &stream, &error));
    fixture_run(database, "DELETE FROM big WHERE i % 2 = 0");
    fixture_run(database, "DROP TABLE big");
    assert_int_equal(drain(&stream), 300000);
    stream.release(&stream);
    check_store();
}

/* Each call that can fail fails once: false, a reason, no stream, and the next query works. */
static void test_faults(void **state)
{
    (void)state;
    static const char *const sites[] = {
        "store.session.alloc",   "store.database.connect", "store.guard.serialize",
        "store.guard.alloc",     "store.database.run",     "store.statement.prepare",
        "store.session.execute", "store.stream.alloc",     "store.stream.schema",
        "store.schema.alloc",
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        for (int call = 1; call < 4; call++) {
            char plan[64];
            struct ArrowArrayStream stream;
            DatabaseError error = {.text = ""};
            snprintf(plan, sizeof plan, "%s:%d", sites[i], call);
            assert_true(fault_set_plan(plan));
            bool done = select_guard_query(database, "SELECT id FROM runs", &stream, &error);
            uint32_t injected = fault_injected();
            fault_set_plan(NULL);
            if (done)
                stream.release(&stream);
            assert_true(call > 1 || injected == 1);
            assert_int_equal(done, injected == 0);
            assert_true(done || error.text[0] != '\0');
        }
    }
    check_store();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_against_library),
        cmocka_unit_test(test_table_functions),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_later_writes),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
