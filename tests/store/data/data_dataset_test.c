/* caliper.data.v1: datasets, their places and what is refused. */
#include "data_service_fixture.h"

#include <sys/stat.h>

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
    run("DELETE FROM caliper.datasets"); /* somebody's own doing */
    assert_false(data->open_dataset("broken", &stream));
    assert_true(data->register_dataset("again", "t"));
}

int main(void)
{
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        TEST(test_datasets),
        TEST(test_dataset_places),
        TEST(test_dataset_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
