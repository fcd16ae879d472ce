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
    run("EXPLAIN SELECT * FROM t");
    run("EXPLAIN ANALYZE SELECT * FROM t");
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
    char sql[256];
    snprintf(sql, sizeof sql, "ATTACH '%s/data.duckdb' AS again", root);
    check_refused(sql, "store's own file");
    snprintf(sql, sizeof sql, "ATTACH '%s/metrics.duckdb' AS m", root);
    check_refused(sql, "store's own file");
    snprintf(sql, sizeof sql, "COPY (SELECT 1) TO '%s/metrics.duckdb' (FORMAT csv)", root);
    check_refused(sql, "store's own file");
    assert_false(data->query("SELECT 1", NULL));
    assert_non_null(strstr(data->last_error(), "out is NULL"));
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
        TEST(test_table),      TEST(test_classes), TEST(test_import),     TEST(test_refused),
        TEST(test_late_error), TEST(test_schemas), TEST(test_last_error), TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
