/* An export on a disk that fails: each call of the C library that writes, ours and DuckDB's,
 * failing in turn. A file has its name whole, or not at all; what had it stays; nothing is left
 * beside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failing_io.h"
#include "metrics_fixture.h"
#include "store/metrics/export.h"

enum { ROWS = 3000, CALLS_MOST = 400 };

static char out[300];
static MetricsStore *store;
static char *sql;
static char *whole; /* the CSV as it is without failures */
static size_t whole_bytes;

static char *read_file(const char *path, size_t *bytes)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    assert_int_equal(fstat(fileno(file), &status), 0);
    char *text = malloc((size_t)status.st_size + 1);
    assert_non_null(text);
    *bytes = fread(text, 1, (size_t)status.st_size, file);
    text[*bytes] = '\0';
    fclose(file);
    return text;
}

static int set_up(void **state)
{
    DatabaseError error = {.text = ""};
    fixture_set_up(state);
    snprintf(out, sizeof out, "%s/out", fixture_folder);
    mkdir(out, 0755);
    store = fixture_store(fixture_folder);
    uint64_t run = metrics_store_begin_run(store, "e", "n");
    for (int i = 0; i < ROWS; i++)
        metrics_store_scalar_at(store, run, "x", i, i * 0.25, 1000000);
    metrics_store_end_run(store, run);
    sql = metrics_export_sql("scalars", &run, 1);
    assert_non_null(sql);
    assert_true(metrics_export(store, sql, fixture_path(out, "whole.csv"), false, &error));
    whole = read_file(fixture_path(out, "whole.csv"), &whole_bytes);
    assert_non_null(whole);
    int lines = 0;
    for (const char *at = whole; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, ROWS + 1);
    unlink(fixture_path(out, "whole.csv"));
    return 0;
}

static int tear_down(void **state)
{
    failing_io_plan(NULL);
    free(sql);
    free(whole);
    metrics_store_destroy(&store);
    return fixture_tear_down(state);
}

/* One export with these calls failing; false when there were fewer. */
static bool try_one(FailingIo io, const char *name, bool was_there)
{
    DatabaseError error = {.text = ""};
    char path[400];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s/%s", out, name);
    if (was_there)
        fixture_write(out, name, "before", 6);
    io.folder = out;
    failing_io_plan(&io);
    bool done = metrics_export(store, sql, path, was_there, &error);
    failing_io_plan(NULL);
    uint32_t failed = failing_io_failed();
    if (done == (error.text[0] != '\0') && !done)
        fail_msg("call %u: no words", io.first);
    char *text = read_file(path, &bytes);
    if (done) {
        assert_non_null(text);
        if (strstr(name, ".csv") != NULL) {
            assert_int_equal(bytes, whole_bytes);
            assert_memory_equal(text, whole, bytes);
        } else {
            assert_true(bytes > 8 && memcmp(text, "PAR1", 4) == 0 &&
                        memcmp(text + bytes - 4, "PAR1", 4) == 0);
        }
    } else if (was_there) {
        assert_string_equal(text, "before");
    } else if (text != NULL) {
        fail_msg("call %u (%s): half a file has the name", io.first, failing_io_last());
    }
    free(text);
    unlink(path);
    if (store_folder_count(out, "") != 0 && io.freeing_works)
        fail_msg("call %u (%s): something is left", io.first, failing_io_last());
    return failed > 0;
}

static void each_call_fails_in_turn(void **state)
{
    static const int errors[] = {ENOSPC, EIO};
    static const char *const names[] = {"rows.csv", "rows.parquet"};
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        uint32_t first = 1;
        for (; first <= CALLS_MOST; first++) {
            FailingIo io = {.first = first,
                            .last = kind & 2 ? first : 0,
                            .error = errors[kind & 1],
                            .short_writes = (kind & 1) != 0,
                            .freeing_works = true};
            if (!try_one(io, names[kind >> 2 & 1], first % 2 == 0))
                break;
        }
        assert_in_range(first, 3, CALLS_MOST);
    }
}

static void what_is_there_is_left_alone(void **state)
{
    DatabaseError error = {.text = ""};
    size_t bytes = 0;
    (void)state;
    fixture_write(out, "a.csv", "before", 6);
    assert_false(metrics_export(store, sql, fixture_path(out, "a.csv"), false, &error));
    assert_non_null(strstr(error.text, strerror(EEXIST)));
    char *text = read_file(fixture_path(out, "a.csv"), &bytes);
    assert_string_equal(text, "before");
    free(text);
    assert_true(metrics_export(store, sql, fixture_path(out, "a.csv"), true, &error));
    assert_int_equal(store_folder_count(out, ""), 1);
    /* A folder, a folder that is not there, a name that is too long. */
    mkdir(fixture_path(out, "d.csv"), 0755);
    assert_false(metrics_export(store, sql, fixture_path(out, "d.csv"), true, &error));
    assert_false(metrics_export(store, sql, fixture_path(out, "none/x.csv"), true, &error));
    char path[700], name[300];
    memset(name, 'n', sizeof name);
    snprintf(path, sizeof path, "%s/%.290s.csv", out, name);
    assert_false(metrics_export(store, sql, path, true, &error));
    assert_int_equal(store_folder_count(out, ""), 2);
    rmdir(fixture_path(out, "d.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_call_fails_in_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_there_is_left_alone, set_up, tear_down)};
    return cmocka_run_group_tests_name("metrics_export", tests, NULL, NULL);
}
