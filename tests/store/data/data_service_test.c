/* caliper.data.v1 through its table, within one process: statements and their classes, what is
 * refused with one line each, applets' schemas, the last error, many threads. */
#include "data_service_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

static CallerId first_applet, second_applet;

static void test_table(void **state)
{
    (void)state;
    assert_int_equal(data->struct_size, sizeof(CaliperDataV1));
    assert_non_null(data->query);
    assert_non_null(data->register_dataset);
    assert_non_null(data->open_dataset);
    assert_string_equal(data->last_error(), "");
    char path[128];
    snprintf(path, sizeof path, "%s/data.duckdb", root);
    assert_int_equal(access(path, F_OK), -1); /* nothing is opened before it is used */
    assert_true(number("SELECT 1::BIGINT") == 1);
    assert_int_equal(access(path, F_OK), 0);
}

static int64_t row_count(const char *sql)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t count = 0;
    if (!data->query(sql, &stream))
        fail_msg("%s: %s", sql, data->last_error());
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        count += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return count;
}

/* One statement of any class. */
static void test_classes(void **state)
{
    (void)state;
    run("CREATE TABLE t(a BIGINT, b VARCHAR)");
    run("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL)");
    run("UPDATE t SET b = 'drei' WHERE a = 3");
    run("DELETE FROM t WHERE a = 1");
    assert_true(number("SELECT sum(a)::BIGINT FROM t") == 5);
    assert_true(number("INSERT INTO t VALUES (4, 'x'), (5, 'y')") == 2); /* rows changed */
    assert_true(number("INSERT INTO t VALUES (9, 'x') RETURNING a") == 9);
    assert_true(number("WITH x AS (SELECT max(a) AS m FROM t) SELECT m FROM x") == 9);
    run("CREATE VIEW v AS SELECT a FROM t");
    run("CREATE MACRO twice(x) AS 2 * x");
    assert_true(number("SELECT twice(a)::BIGINT FROM v WHERE a = 4") == 8);
    run("ALTER TABLE t ADD COLUMN c INT");
    assert_int_equal(row_count("EXPLAIN SELECT * FROM t"), 1);
    assert_int_equal(row_count("EXPLAIN ANALYZE SELECT * FROM t"), 1);
    assert_int_equal(row_count("EXPLAIN ANALYZE UPDATE t SET a = a"), 1);
    assert_int_equal(row_count("CREATE TABLE made AS SELECT * FROM t"), 1);
    run("DROP TABLE made");
    run("PRAGMA table_info('t')");
    run("SHOW TABLES");
    run("DESCRIBE t");
    run("CALL pragma_version()");
    assert_true(number("PIVOT (FROM range(4) r(i)) ON i % 2 USING count(*)") == 2);
    assert_true(number("SELECT count(*) FROM (PIVOT t ON b USING count(*) GROUP BY a) -- ; ;") ==
                5);
    run("/* ; */ PIVOT t ON b ; ");
    run("CREATE INDEX i ON t(a)");
    run("CHECKPOINT");
    run("VACUUM");
    run("ANALYZE");
    run("ATTACH ':memory:' AS other");
    run("CREATE TABLE other.u AS SELECT 1 AS a");
    run("DETACH other");
    run("COMMENT ON TABLE t IS 'a table'");
    run("DROP VIEW v");
    run("CREATE TYPE mood AS ENUM ('up', 'down')");
    run("SELECT 'up'::mood");
    char sql[256];
    snprintf(sql, sizeof sql, "COPY t TO '%s/t.csv'", root);
    run(sql);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM read_csv('%s/t.csv')", root);
    assert_true(number(sql) == number("SELECT count(*) FROM t"));
    snprintf(sql, sizeof sql, "SELECT count(*) FROM '%s/t.csv'", root);
    assert_true(number(sql) == number("SELECT count(*) FROM t"));
    assert_int_equal(atomic_load(&warnings), 0);
}

/* A statement that the parser makes several of is still one. */
static void test_import(void **state)
{
    (void)state;
    char sql[256];
    snprintf(sql, sizeof sql, "%s/import", root);
    assert_int_equal(mkdir(sql, 0700), 0);
    write_file("import/schema.sql", "CREATE TABLE imported(a BIGINT); CREATE TABLE empty(a INT);");
    char load[256];
    write_file("import/rows.csv", "1\n2\n");
    snprintf(load, sizeof load, "COPY imported FROM '%s/import/rows.csv' (FORMAT csv);\n", root);
    write_file("import/load.sql", load);
    snprintf(sql, sizeof sql, "IMPORT DATABASE '%s/import' -- all; of it", root);
    run(sql);
    assert_true(number("SELECT sum(a)::BIGINT FROM imported") == 3);
    assert_true(number("SELECT count(*) FROM empty") == 0);
    snprintf(sql, sizeof sql, "IMPORT DATABASE '%s/import'; SELECT 1", root);
    check_refused(sql, "statements, wanted one");
    check_refused("PIVOT imported ON a; SELECT 1", "given 3 statements, wanted one");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const outlive[] = {
        "BEGIN",
        "BEGIN TRANSACTION",
        "START TRANSACTION",
        "COMMIT",
        "END",
        "ROLLBACK",
        "ABORT",
        "begin transaction read only",
        "/* x */ BEGIN;",
        "-- x\nROLLBACK",
        "USE main",
        "USE memory",
        "SET threads = 1",
        "SET search_path = 'main'",
        "SET schema = 'main'",
        "SET GLOBAL threads = 1",
        "SET SESSION threads = 1",
        "SET VARIABLE x = 1",
        "RESET threads",
        "RESET VARIABLE x",
        "set memory_limit = '1GB'",
        "SET TimeZone = 'UTC'",
        "SET lock_configuration = false",
        "SELECT * FROM enable_logging()",
        "SELECT * FROM ENABLE_LOGGING('QueryLog')",
        "CALL enable_logging(storage = 'file', storage_path = '/proc/x/y')",
        "/* call */ CALL enable_logging()",
        "-- call\n call /* x */ Disable_Logging()",
        "FROM (SELECT * FROM truncate_duckdb_logs())",
    };
    for (size_t i = 0; i < sizeof outlive / sizeof outlive[0]; i++)
        check_refused(outlive[i], "outlive the call");
    check_refused("SELECT 1; SELECT 2", "given 2 statements, wanted one");
    check_refused("CREATE TABLE a(i INT); BEGIN", "given 2 statements, wanted one");
    check_refused("", "no statement was given");
    check_refused(" ; -- nothing", "no statement was given");
    check_refused(NULL, "sql is NULL");
    check_refused("SELEC 1", "syntax error");
    check_refused("SELECT * FROM nowhere", "nowhere");
    check_refused("SELECT ?", "parameters");
    check_refused("SELECT '\xff\xfe'", "");
    check_refused("PRAGMA threads = 1", "");
    check_refused("PRAGMA enable_external_access = false", "");
    check_refused("INSERT INTO nowhere VALUES (1)", "nowhere");
    check_refused("SELECT 1/0 FROM nowhere", "");
    assert_false(data->query("SELECT 1", NULL));
    assert_non_null(strstr(data->last_error(), "out is NULL"));
}

/* Each with the data root in it. */
static void check_all(const char *const *statements, bool refused)
{
    for (size_t i = 0; statements[i] != NULL; i++) {
        char sql[512];
        char *to = sql;
        for (const char *at = statements[i]; *at != '\0'; at++) {
            if (*at == '@')
                to += snprintf(to, 128, "%s", root);
            else
                *to++ = *at;
        }
        *to = '\0';
        if (refused)
            check_refused(sql, "store's own file");
        else
            run(sql);
    }
}

/* The stores' own files, however they are spelled: not read where that would lose their lock, not
 * written. What is everybody's in the data root is. */
static void test_own_files(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "ATTACH '@/data.duckdb' AS again",
        "ATTACH IF NOT EXISTS '@/metrics.duckdb' AS m",
        "ATTACH DATABASE '@/metrics.duckdb' AS m (READ_ONLY)",
        "ATTACH 'duckdb:@/metrics.duckdb' AS m",
        "ATTACH '@/link.db' AS m",
        "ATTACH '@/other/hard.db' AS m",
        "ATTACH '@/metrics.snapshot.duckdb' AS m",
        "SELECT size FROM read_blob('@/metrics.duckdb')",
        "SELECT size FROM read_blob('@/other/../metrics.duckdb')",
        "SELECT size FROM read_blob('@/./link.db')",
        "SELECT size FROM read_blob(['@/t.csv', '@/metrics.duckdb'])",
        "SELECT size FROM read_blob('@/*.duckdb')",
        "SELECT size FROM read_blob('@/**')",
        "SELECT size FROM read_blob('/**/metrics.d?ckdb')",
        "SELECT size FROM read_blob('@/other/../m[a-z]*.duckdb')",
        "SELECT size FROM read_blob($$@/metrics.duckdb$$)",
        "SELECT size FROM read_blob($x$@/metrics.duckdb$x$)",
        "SELECT size FROM read_blob(E'@/metr\\ics.duckdb')",
        "SELECT size FROM read_blob('@/metr'\n  'ics.duckdb')",
        "SELECT size FROM read_blob('file://@/metrics.duckdb')",
        "SELECT size FROM read_text(/* here */ '@/data.duckdb.wal')",
        "SELECT * FROM read_csv('@/metrics.duckdb')",
        "SELECT * FROM \"@/metrics.duckdb\"",
        "CREATE VIEW v AS SELECT size FROM read_blob('@/metrics.duckdb')",
        "EXPLAIN ANALYZE SELECT size FROM read_blob('@/metrics.duckdb')",
        "COPY (SELECT 1) TO '@/metrics.duckdb' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/metrics.duckdb.wal' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/owner.lock' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/other/../owner.lock' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/metrics.ids' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/caliper.log' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/spool/x.csv' (FORMAT csv)",
        "COPY (SELECT 1) TO '@/artifacts/aa/b.csv' (FORMAT csv)",
        "COPY (SELECT 1 AS a) TO '@' (FORMAT csv, PARTITION_BY (a), OVERWRITE)",
        "COPY (SELECT 1 AS a) TO '@/other/..' (FORMAT csv, PARTITION_BY (a), OVERWRITE)",
        "EXPORT DATABASE '@/artifacts'",
        "EXPORT DATABASE '@'",
        NULL};
    static const char *const fine[] = {
        "COPY (SELECT 1 AS a) TO '@/t.csv'",
        "COPY (SELECT 1 AS a) TO '@/data/org.caliper.test/t.csv'",
        "COPY (SELECT 1 AS a) TO '@/other/metrics.duckdb' (FORMAT csv)",
        "COPY (SELECT 1 AS a, 2 AS b) TO '@/other' (FORMAT csv, PARTITION_BY (a), "
        "OVERWRITE_OR_IGNORE)",
        "COPY (SELECT 1 AS a, '.' AS b) TO '@/dots.csv' (DELIMITER '/', NULLSTR '.')",
        "CREATE TABLE paths AS SELECT '@/owner.lock' AS path, 'metrics.duckdb' AS name",
        "INSERT INTO paths VALUES ('*', '**'), ('[a-z]*', '?'), ('', '/'), ('~', 'file:')",
        "SELECT * FROM paths WHERE regexp_matches(name, '^.*[*]?$') OR name LIKE '/**/%'",
        "SELECT * FROM read_csv('@/*.csv', union_by_name = true)",
        "SELECT * FROM read_csv('@/data/**/*.csv')",
        "SELECT size FROM read_blob('@/owner.lock')",
        "ATTACH '@/other/mine.duckdb' AS mine",
        "CREATE TABLE mine.t AS SELECT 1 AS a",
        "DETACH mine",
        "EXPORT DATABASE '@/exported'",
        NULL};
    char path[128], other[128];
    run("CREATE TABLE in_the_log AS SELECT 1 AS a"); /* there is a log now */
    write_file("metrics.duckdb", "x");
    write_file("metrics.snapshot.duckdb", "x");
    static const char *const folders[] = {"other",        "spool", "artifacts",
                                          "artifacts/aa", "data",  "data/org.caliper.test"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    }
    snprintf(path, sizeof path, "%s/link.db", root);
    assert_int_equal(symlink("metrics.duckdb", path), 0);
    snprintf(path, sizeof path, "%s/metrics.duckdb", root);
    snprintf(other, sizeof other, "%s/other/hard.db", root);
    assert_int_equal(link(path, other), 0);
    write_file("t.csv", "a\n1\n");
    check_all(refused, true);
    assert_int_equal(unlink(other), 0);
    check_all(fine, false);
}

/* The table of the datasets stays what it is; its rows may be changed, and everybody's tables. */
static void test_own_table(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "DROP TABLE caliper.datasets",
        "DROP TABLE IF EXISTS data.\"CALIPER\".\"Datasets\"",
        "DROP SCHEMA caliper CASCADE",
        "ALTER TABLE caliper.datasets RENAME TO mine",
        "ALTER TABLE caliper.datasets DROP COLUMN applet",
        "ALTER TABLE caliper.datasets ADD COLUMN more INT",
        "ALTER TABLE caliper.datasets RENAME COLUMN uri TO url",
        "CREATE OR REPLACE TABLE caliper.datasets(name VARCHAR)",
        "EXPLAIN ANALYZE DROP TABLE caliper.datasets",
    };
    run("CREATE TABLE t AS SELECT 5::BIGINT AS a");
    assert_true(data->register_dataset("kept", "t"));
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ArrowArrayStream stream;
        check_refused(refused[i], "");
        if (!data->open_dataset("kept", &stream))
            fail_msg("%s: %s", refused[i], data->last_error());
        assert_int_equal(number_of(&stream), 5);
    }
    run("DELETE FROM caliper.datasets WHERE name = 'kept'");
    run("CREATE TABLE caliper.other(a INT)");
    run("CREATE OR REPLACE TABLE t AS SELECT * FROM range(10) r(a)");
    run("CREATE SCHEMA mine");
    run("CREATE TABLE mine.datasets AS SELECT 1 AS a");
    run("ALTER TABLE mine.datasets ADD COLUMN b INT");
    run("CREATE TEMP TABLE datasets AS SELECT 1 AS a");
    run("CREATE INDEX by_a ON t(a)");
    run("CREATE VIEW v AS SELECT * FROM caliper.datasets");
    run("CREATE MACRO twice(a) AS 2 * a");
    run("DROP SCHEMA mine CASCADE");
    run("EXPLAIN ANALYZE SELECT count(*) FROM t");
    run("EXPLAIN SELECT 1");
    assert_int_equal(number("SELECT count(*) FROM t"), 10);
}

/* A path of many parts is longer than any that there is: it is not followed part by part. */
static void test_a_path_of_many_parts(void **state)
{
    (void)state;
    enum { PARTS = 100000 };
    static char sql[2 * PARTS + 64];
    size_t length = (size_t)snprintf(sql, sizeof sql, "COPY (SELECT 1) TO '");
    for (int i = 0; i < PARTS; i++, length += 2)
        memcpy(sql + length, "/a", 3);
    strcpy(sql + length, "' (FORMAT csv)");
    check_refused(sql, "");
    assert_null(strstr(refusal, "own file"));
}

/* Nothing is fetched from the network. */
static void test_no_downloads(void **state)
{
    (void)state;
    check_refused("INSTALL httpfs", "INSTALL");
    check_refused("/* LOAD */ FORCE INSTALL json FROM community", "INSTALL");
    check_refused("UPDATE EXTENSIONS", "network");
    run("LOAD json");
}

/* An error that only shows while the rows are read is the stream's. */
static void test_late_error(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    assert_true(data->query("SELECT CASE WHEN range = 300000 THEN error('late') ELSE 1 END FROM "
                            "range(400000)",
                            &stream));
    int status;
    while ((status = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL)
        batch.release(&batch);
    assert_int_equal(status, EIO);
    assert_non_null(strstr(stream.get_last_error(&stream), "late"));
    assert_string_equal(data->last_error(), "");
    stream.release(&stream);
}

/* Each applet's unqualified names are its own first, then main's. */
static void test_schemas(void **state)
{
    (void)state;
    first_applet = caller_register("org.caliper.test-one");
    second_applet = caller_register("org.caliper.test_two");
    CallerId before = caller_enter(first_applet);
    run("CREATE TABLE results AS SELECT 1::BIGINT AS v");
    run("CREATE TABLE main.shared AS SELECT 100::BIGINT AS v");
    caller_enter(second_applet);
    run("CREATE TABLE results AS SELECT 2::BIGINT AS v");
    assert_true(number("SELECT v FROM results") == 2);
    assert_true(number("SELECT v FROM shared") == 100);
    assert_true(number("SELECT v FROM \"applet_org.caliper.test-one\".results") == 1);
    run("DROP TABLE results");
    caller_enter(first_applet);
    assert_true(number("SELECT v FROM results") == 1);
    run("CREATE TABLE shared AS SELECT 5::BIGINT AS v"); /* its own, over main's */
    assert_true(number("SELECT v FROM shared") == 5);
    assert_true(number("SELECT v FROM main.shared") == 100);
    caller_enter(second_applet);
    assert_true(number("SELECT v FROM shared") == 100);
    caller_leave(before);
    check_refused("SELECT v FROM results", "results");
    assert_true(number("SELECT v FROM shared") == 100);
    assert_true(number("SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE "
                       "'applet_%'") == 2);
    /* A refusal names the applet, and its schema survives the host. */
    caller_enter(first_applet);
    check_refused("SELECT * FROM nothing_here", "nothing_here");
    host_destroy(&host);
    start_host();
    assert_true(number("SELECT v FROM results") == 1);
    caller_leave(before);
}

static void *other_thread(void *user)
{
    (void)user;
    if (data->last_error()[0] != '\0')
        return (void *)"a fresh thread has an error";
    struct ArrowArrayStream stream;
    if (data->query("SELECT * FROM other_threads_table", &stream))
        return (void *)"not refused";
    return strstr(data->last_error(), "other_threads_table") == NULL ? (void *)data->last_error()
                                                                     : NULL;
}

/* last_error is each thread's own, of its last call, and a success clears it. */
static void test_last_error(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    pthread_t thread;
    void *wrong = NULL;
    assert_false(data->query("SELECT * FROM first_threads_table", &stream));
    const char *error = data->last_error();
    assert_non_null(strstr(error, "first_threads_table"));
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, &wrong);
    if (wrong != NULL)
        fail_msg("%s", (const char *)wrong);
    assert_ptr_equal(data->last_error(), error);
    assert_non_null(strstr(error, "first_threads_table"));
    assert_true(data->register_dataset("fine", "t"));
    assert_string_equal(data->last_error(), "");
}

typedef struct Worker {
    int index;
    CallerId applet;
    char wrong[256];
} Worker;

static void *work(void *user)
{
    Worker *worker = user;
    caller_enter(worker->applet);
    for (int i = 0; i < 15 && worker->wrong[0] == '\0'; i++) {
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO main.rows VALUES (%d, %d)", worker->index, i);
        if (!data->query(sql, &stream)) {
            snprintf(worker->wrong, sizeof worker->wrong, "%.200s", data->last_error());
            break;
        }
        stream.release(&stream);
        if (i == 0 && data->query("CREATE TABLE IF NOT EXISTS own(a INT)", &stream))
            stream.release(&stream);
        else if (i == 0)
            snprintf(worker->wrong, sizeof worker->wrong, "%.200s", data->last_error());
        if (!data->register_dataset("same_name", "rows"))
            snprintf(worker->wrong, sizeof worker->wrong, "%.200s", data->last_error());
        if (!data->query("SELECT count(*) FROM main.rows", &stream) ||
            stream.get_next(&stream, &batch) != 0 || batch.release == NULL) {
            snprintf(worker->wrong, sizeof worker->wrong, "%.200s", data->last_error());
            break;
        }
        batch.release(&batch);
        stream.release(&stream);
    }
    caller_leave(0);
    return NULL;
}

/* 16 threads, as four applets that all begin at once: every row is there once. */
static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 16 };
    CallerId applets[4];
    Worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "org.caliper.worker%d", i);
        applets[i] = caller_register(name);
    }
    run("CREATE TABLE main.rows(thread INT, i INT)");
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.index = i, .applet = applets[i % 4]};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(workers[i].wrong, "");
    assert_true(number("SELECT count(*) FROM rows") == 16 * 15);
    assert_true(number("SELECT count(*) FROM (SELECT DISTINCT thread, i FROM rows)") == 16 * 15);
}

int main(void)
{
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        TEST(test_table),
        TEST(test_classes),
        TEST(test_import),
        TEST(test_refused),
        TEST(test_own_files),
        TEST(test_own_table),
        TEST(test_a_path_of_many_parts),
        TEST(test_no_downloads),
        TEST(test_late_error),
        TEST(test_schemas),
        TEST(test_last_error),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
