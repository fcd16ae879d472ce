/* caliper.data.v1 through its table, within one process: every rule of the contract, refusals with
 * one line each, many threads, and the end of the host. */
#include "database_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "core/caller_register.h"
#include "core/fault.h"
#include "core/guard.h"
#include "core/host.h"
#include "core/log.h"
#include "core/sanitized.h"
#include "services/data_service.h"

static char root[64];
static Host *host;
static const CaliperDataV1 *data;
static atomic_int refusals;
static atomic_int warnings;
static char refusal[4096];
static CallerId first_applet, second_applet;

static void capture(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level >= LOG_LEVEL_WARN)
        atomic_fetch_add(&warnings, 1);
    if (entry->item == LOG_DATA_REFUSED) {
        atomic_fetch_add(&refusals, 1);
        snprintf(refusal, sizeof refusal, "%s", entry->text);
    }
}

static void start_host(void)
{
    HostParams params = {.struct_size = sizeof params, .data_dir = root};
    host = host_create(&params);
    assert_non_null(host);
    assert_true(data_service_register(host));
    data = host_service(host, CALIPER_DATA_V1);
    assert_non_null(data);
}

static int begin(void **state)
{
    (void)state;
    fixture_folder(root);
    log_stderr_enable(false);
    start_host();
    atomic_store(&refusals, 0);
    atomic_store(&warnings, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    caller_leave(0);
    if (host != NULL)
        host_destroy(&host);
    fixture_remove(root);
    return 0;
}

/* A statement without rows of interest; drains, so that it runs whole. */
static void run(const char *sql)
{
    struct ArrowArrayStream stream;
    if (!data->query(sql, &stream))
        fail_msg("%s: %s", sql, data->last_error());
    assert_string_equal(data->last_error(), "");
    struct ArrowArray batch;
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s: %s", sql, stream.get_last_error(&stream));
        if (batch.release == NULL)
            break;
        batch.release(&batch);
    }
    stream.release(&stream);
}

/* The BIGINT in the first column of the only row. */
static int64_t number_of(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    assert_int_equal(stream->get_next(stream, &batch), 0);
    assert_non_null(batch.release);
    int64_t value = ((const int64_t *)batch.children[0]->buffers[1])[0];
    batch.release(&batch);
    stream->release(stream);
    return value;
}

static int64_t number(const char *sql)
{
    struct ArrowArrayStream stream;
    if (!data->query(sql, &stream))
        fail_msg("%s: %s", sql, data->last_error());
    return number_of(&stream);
}

static int64_t rows_of_dataset(const char *name)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t rows = 0;
    if (!data->open_dataset(name, &stream))
        fail_msg("%s: %s", name, data->last_error());
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s: %s", name, stream.get_last_error(&stream));
        if (batch.release == NULL)
            break;
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return rows;
}

/* Refused: false, *out untouched, a reason with `words` in it, exactly one line. */
static void check_refused(const char *sql, const char *words)
{
    struct ArrowArrayStream stream;
    memset(&stream, 0x5a, sizeof stream);
    struct ArrowArrayStream before = stream;
    int lines = atomic_load(&refusals);
    if (data->query(sql, &stream))
        fail_msg("not refused: %s", sql);
    assert_memory_equal(&stream, &before, sizeof stream);
    assert_int_equal(atomic_load(&refusals), lines + 1);
    if (strstr(data->last_error(), words) == NULL)
        fail_msg("%s: %s", sql, data->last_error());
    assert_true(number("SELECT 7::BIGINT") == 7);
    assert_string_equal(data->last_error(), "");
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

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

static bool register_file(const char *name, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, file);
    return data->register_dataset(name, path);
}

static void test_datasets(void **state)
{
    (void)state;
    char sql[256];
    write_file("it's.csv", "a,b\n1,x\n2,y\n3,z\n");
    write_file("b.TSV", "a\tb\n1\tx,1\n2\ty\n");
    write_file("c.json", "[{\"a\": 1, \"b\": [1, 2]}, {\"a\": 2, \"b\": null}]");
    snprintf(sql, sizeof sql, "COPY (SELECT range AS a FROM range(5000)) TO '%s/d.parquet'", root);
    run(sql);
    run("CREATE TABLE e AS SELECT range AS a FROM range(7)");
    assert_true(register_file("csv", "it's.csv"));
    assert_true(register_file("tsv", "b.TSV"));
    assert_true(register_file("json", "c.json"));
    assert_true(register_file("parquet", "d.parquet"));
    assert_true(data->register_dataset("_table", "e"));
    assert_true(data->register_dataset("qualified", "main.e"));
    assert_true(register_file("later", "later.csv")); /* read when it is opened */
    assert_true(rows_of_dataset("csv") == 3);
    assert_true(rows_of_dataset("tsv") == 2);
    assert_true(rows_of_dataset("json") == 2);
    assert_true(rows_of_dataset("parquet") == 5000);
    assert_true(rows_of_dataset("_table") == 7);
    assert_true(rows_of_dataset("qualified") == 7);
    /* replaced */
    assert_true(register_file("csv", "d.parquet"));
    assert_true(rows_of_dataset("csv") == 5000);
    assert_true(data->register_dataset("csv", "e"));
    assert_true(rows_of_dataset("csv") == 7);
    assert_true(number("SELECT count(*) FROM caliper.datasets") == 7);
    /* kept, and a file that came meanwhile */
    host_destroy(&host);
    start_host();
    assert_true(rows_of_dataset("csv") == 7);
    assert_true(rows_of_dataset("parquet") == 5000);
    write_file("later.csv", "a\n1\n");
    assert_true(rows_of_dataset("later") == 1);
}

/* A relative path is of the folder at registration; a table is the registering applet's. */
static void test_dataset_places(void **state)
{
    (void)state;
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    write_file("rel.csv", "a\n1\n2\n");
    assert_int_equal(chdir(root), 0);
    assert_true(data->register_dataset("rel", "rel.csv"));
    assert_int_equal(chdir("/"), 0);
    assert_true(rows_of_dataset("rel") == 2);
    assert_int_equal(chdir(before), 0);
    CallerId owner = caller_register("org.caliper.owner");
    CallerId other = caller_register("org.caliper.other");
    CallerId nobody = caller_enter(owner);
    run("CREATE TABLE mine AS SELECT range AS a FROM range(11)");
    assert_true(data->register_dataset("shared_by_name", "mine"));
    caller_enter(other);
    run("CREATE TABLE mine AS SELECT 1 AS a");
    assert_true(rows_of_dataset("shared_by_name") == 11);
    caller_leave(nobody);
    assert_true(rows_of_dataset("shared_by_name") == 11);
}

static void test_dataset_refusals(void **state)
{
    (void)state;
    static const char *const bad_names[] = {"", "9a", "a b", "a;DROP TABLE t", "\xc3\xa9", NULL};
    static const char *const bad_uris[] = {
        "",  "/etc/passwd", "x.txt/", "https://e.org/a.csv", "a'; DROP TABLE caliper.datasets; --",
        NULL};
    struct ArrowArrayStream stream;
    memset(&stream, 0x5a, sizeof stream);
    struct ArrowArrayStream untouched = stream;
    for (int i = 0; i == 0 || bad_names[i - 1] != NULL; i++) {
        int lines = atomic_load(&refusals);
        assert_false(data->register_dataset(bad_names[i], "t"));
        assert_non_null(strstr(data->last_error(), "name"));
        assert_false(data->open_dataset(bad_names[i], &stream));
        assert_int_equal(atomic_load(&refusals), lines + 2);
    }
    for (int i = 0; i == 0 || bad_uris[i - 1] != NULL; i++) {
        assert_false(data->register_dataset("good", bad_uris[i]));
        assert_non_null(strstr(data->last_error(), "uri"));
    }
    assert_false(data->register_dataset("good", "/tmp/\xff\xfe.csv"));
    assert_non_null(strstr(data->last_error(), "UTF-8"));
    assert_false(data->open_dataset("good", &stream));
    assert_non_null(strstr(data->last_error(), "no dataset is called good"));
    assert_false(data->open_dataset("good", NULL));
    assert_true(data->register_dataset("good", "/nowhere/at/all.csv"));
    assert_string_equal(data->last_error(), "");
    assert_false(data->open_dataset("good", &stream));
    assert_non_null(strstr(data->last_error(), "/nowhere/at/all.csv"));
    assert_true(data->register_dataset("good", "no_such_table"));
    assert_false(data->open_dataset("good", &stream));
    assert_non_null(strstr(data->last_error(), "no_such_table"));
    write_file("broken.parquet", "this is no parquet file at all");
    assert_true(register_file("broken", "broken.parquet"));
    assert_false(data->open_dataset("broken", &stream));
    assert_memory_equal(&stream, &untouched, sizeof stream);
    run("DROP TABLE caliper.datasets"); /* somebody's own doing */
    assert_false(data->open_dataset("broken", &stream));
    assert_true(data->register_dataset("again", "t"));
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

/* The host ends with streams open: EIO and the reason; calls through the table are refused. */
static void test_host_end(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct ArrowArray kept;
    assert_true(data->query("SELECT range FROM range(100000)", &stream));
    assert_int_equal(stream.get_next(&stream, &kept), 0);
    host_destroy(&host);
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_string_equal(stream.get_last_error(&stream), "the store is closed");
    assert_true(((const int64_t *)kept.children[0]->buffers[1])[2047] == 2047);
    struct ArrowArrayStream none;
    assert_false(data->query("SELECT 1", &none));
    assert_string_equal(data->last_error(), "the store is closed");
    assert_false(data->register_dataset("a", "t"));
    assert_false(data->open_dataset("a", &none));
    stream.release(&stream);
    kept.release(&kept);
    start_host();
    assert_true(number("SELECT 3::BIGINT") == 3);
}

static void *run_long(void *user)
{
    struct ArrowArrayStream stream;
    atomic_store((atomic_bool *)user, true);
    if (data->query("SELECT count(*) FROM range(100000000000)", &stream))
        return (void *)"it returned";
    return strcmp(data->last_error(), "the store is closed") == 0 ? NULL : (void *)"another error";
}

/* The host ends while a call runs that would take minutes. */
static void test_host_end_in_call(void **state)
{
    (void)state;
    pthread_t thread;
    atomic_bool started = false;
    void *wrong = NULL;
    assert_true(number("SELECT 1::BIGINT") == 1);
    assert_int_equal(pthread_create(&thread, NULL, run_long, &started), 0);
    while (!atomic_load(&started))
        usleep(1000);
    usleep(50000);
    host_destroy(&host);
    pthread_join(thread, &wrong);
    if (wrong != NULL)
        fail_msg("%s", (const char *)wrong);
}

/* What cannot be opened is said, and opening is tried again by the next call. */
static void test_faults(void **state)
{
    (void)state;
    static const char *const sites[] = {"owner.open",
                                        "owner.lock",
                                        "store.database.alloc",
                                        "store.database.configure",
                                        "store.database.open",
                                        "store.database.connect",
                                        "store.database.run",
                                        "store.session.alloc",
                                        "store.statement.prepare",
                                        "store.session.execute",
                                        "store.stream.alloc",
                                        "store.stream.schema",
                                        "store.schema.alloc",
                                        "store.data.alloc"};
    CallerId applet = caller_register("org.caliper.faults");
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        for (int call = 1; call < 4; call++) {
            char plan[64];
            struct ArrowArrayStream stream;
            host_destroy(&host);
            start_host();
            CallerId before = caller_enter(applet);
            snprintf(plan, sizeof plan, "%s:%d", sites[i], call);
            assert_true(fault_set_plan(plan));
            int lines = atomic_load(&refusals);
            bool done = data->query("SELECT 1::BIGINT", &stream);
            uint32_t injected = fault_injected();
            fault_set_plan(NULL);
            if (done)
                stream.release(&stream);
            if (call == 1 && injected != 1)
                fail_msg("%s is never asked", sites[i]);
            if (done != (injected == 0))
                fail_msg("%s: done %d", plan, done);
            assert_int_equal(atomic_load(&refusals), lines + !done);
            assert_true(number("SELECT 5::BIGINT") == 5);
            caller_leave(before);
        }
    }
}

/* After a fatal error DuckDB refuses everything until the file is opened anew: the next call does
 * that, and what was committed is there. */
static void test_fatal(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArrayStream none;
    struct ArrowArray batch;
    run("CREATE TABLE kept AS SELECT 5::BIGINT AS a");
    assert_true(data->query("SELECT range FROM range(100000)", &stream));
    assert_true(fault_set_plan("store.session.fatal:1"));
    assert_false(data->query("SELECT 1", &none));
    fault_set_plan(NULL);
    assert_non_null(strstr(data->last_error(), "fatal"));
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_string_equal(stream.get_last_error(&stream), "the store is closed");
    assert_true(number("SELECT a FROM kept") == 5);
    stream.release(&stream);
}

static void query_nowhere(void *argument)
{
    data->query((const char *)(uintptr_t)4096, argument);
}

static void register_nowhere(void *argument)
{
    (void)argument;
    data->register_dataset("name", (const char *)(uintptr_t)4096);
}

static void answer_nowhere(void *argument)
{
    (void)argument;
    data->query("SELECT 1", (struct ArrowArrayStream *)(uintptr_t)4096);
}

/* On the frame thread a pointer to nowhere ends the applet's call, and the store goes on. */
static void test_bad_pointers(void **state)
{
    (void)state;
    static void (*const calls[])(void *) = {query_nowhere, register_nowhere, answer_nowhere};
    struct ArrowArrayStream stream;
    if (SANITIZED_ADDRESS || SANITIZED_THREAD) {
        print_message("skipped: a sanitizer ends the process before the guard sees it\n");
        skip();
    }
    assert_true(number("SELECT 1::BIGINT") == 1);
    guard_retake_handlers(); /* the host's, from the test runner */
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        GuardFault fault;
        assert_false(
            guard_call(&(GuardCall){.what = "a call", .call = calls[i], .arg = &stream}, &fault));
        assert_int_equal(fault.signal, 11);
        assert_true(number("SELECT 2::BIGINT") == 2);
    }
    host_destroy(&host); /* nothing is held that would keep it from ending */
    start_host();
    assert_true(number("SELECT 3::BIGINT") == 3);
}

/* A damaged file is moved aside, with a line that says where, and never deleted. */
static void test_damaged(void **state)
{
    (void)state;
    char path[128];
    run("CREATE TABLE t AS SELECT 1 AS a");
    host_destroy(&host);
    write_file("data.duckdb", "these are not the bytes of a database, whatever they once were");
    snprintf(path, sizeof path, "%s/data.duckdb", root);
    start_host();
    int lines = atomic_load(&warnings);
    assert_true(number("SELECT 2::BIGINT") == 2);
    assert_int_equal(atomic_load(&warnings), lines + 1);
    check_refused("SELECT * FROM t", "t");
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM read_text('%s/data.duckdb.damaged-*') WHERE content LIKE "
             "'these are not the bytes%%'",
             root);
    assert_true(number(sql) == 1);
}

int main(void)
{
    log_sink_add(capture, NULL);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_table),
        TEST(test_classes),
        TEST(test_import),
        TEST(test_refused),
        TEST(test_late_error),
        TEST(test_schemas),
        TEST(test_datasets),
        TEST(test_dataset_places),
        TEST(test_dataset_refusals),
        TEST(test_last_error),
        TEST(test_threads),
        TEST(test_host_end),
        TEST(test_host_end_in_call),
        TEST(test_faults),
        TEST(test_fatal),
        TEST(test_bad_pointers),
        TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
