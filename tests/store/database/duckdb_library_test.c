/* Which library is taken and which is refused, with one line that says what to do. The library is
 * loaded once a process, so each case is a child. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/database/duckdb_api.h"

static int lines;
static LogItem last_item;
static char last_text[8192];

static void count_lines(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level == LOG_LEVEL_DEBUG)
        return;
    lines++;
    last_item = entry->item;
    snprintf(last_text, sizeof last_text, "%s", entry->text);
}

/* Runs `check` in a child with CALIPER_DUCKDB_LIBRARY set (NULL: unset); 0 is what is wanted. */
static int in_child(const char *library, int (*check)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (library != NULL)
            setenv("CALIPER_DUCKDB_LIBRARY", library, 1);
        else
            unsetenv("CALIPER_DUCKDB_LIBRARY");
        lines = 0;
        int wrong = check();
        if (wrong != 0)
            fprintf(stderr, "check %d with %s: %d lines, the last: %s\n", wrong,
                    library != NULL ? library : "(none)", lines, last_text);
        _exit(wrong);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* No library, one line however often it is asked for, and a reason that names the remedy. */
static int refused(const char *words)
{
    const char *reason = NULL;
    for (int i = 0; i < 3; i++) {
        if (duckdb_api(&reason) != NULL)
            return 1;
    }
    if (lines != 1 || last_item != LOG_DUCKDB_MISSING)
        return 2;
    if (reason == NULL || strstr(reason, words) == NULL)
        return 3;
    return strcmp(reason, last_text) == 0 ? 0 : 4;
}

static int refused_old(void)
{
    return refused("is DuckDB v1.3.2: v1.4.x is needed; run scripts/setup");
}

static int refused_short(void)
{
    return refused("has no duckdb_create_config: DuckDB v1.4.x is needed; run scripts/setup");
}

static int refused_file(void)
{
    return refused("run scripts/setup");
}

static int refused_injected(void)
{
    fault_set_plan("store.duckdb.load:1");
    return refused("cannot be opened");
}

static int absent(void)
{
    const char *reason = NULL;
    if (duckdb_api_present(&reason) || lines != 0)
        return 1;
    return strstr(reason, "is no file") != NULL ? 0 : 2;
}

/* The test's own folder has no lib/caliper and the system no DuckDB: what a bare machine sees. */
static int nowhere(void)
{
    const char *reason = NULL;
    if (duckdb_api_present(&reason))
        return dlopen("libduckdb.so", RTLD_LAZY) != NULL ? 0 : 1;
    if (strstr(reason, "run scripts/setup") == NULL)
        return 2;
    return refused("run scripts/setup");
}

static int loaded(void)
{
    const char *reason = NULL;
    if (!duckdb_api_present(NULL) || lines != 0)
        return 1;
    const DuckdbApi *duckdb = duckdb_api(&reason);
    if (duckdb == NULL || duckdb != duckdb_api(NULL))
        return 2;
    if (strncmp(duckdb->version, "v1.4.", 5) != 0 || duckdb->pending_prepared_streaming == NULL)
        return 3;
    if (lines != 1 || last_item != LOG_DUCKDB_LOADED ||
        strstr(last_text, duckdb->version) == NULL || strstr(last_text, duckdb->path) == NULL)
        return 4;
    DuckdbDatabase database = NULL;
    DuckdbConnection connection = NULL;
    DuckdbResult result;
    char *error = NULL;
    if (duckdb->open_ext(NULL, &database, NULL, &error) != 0 ||
        duckdb->connect(database, &connection) != 0)
        return 5;
    if (duckdb->query(connection, "SELECT 41 + 1, NULL, repeat('ab', 20), 'short'", &result) != 0)
        return 6;
    DuckdbDataChunk chunk = duckdb->fetch_chunk(result);
    if (duckdb->data_chunk_get_size(chunk) != 1 || duckdb->data_chunk_get_column_count(chunk) != 4)
        return 7;
    DuckdbVector number = duckdb->data_chunk_get_vector(chunk, 0);
    DuckdbVector nothing = duckdb->data_chunk_get_vector(chunk, 1);
    if (*(const int32_t *)duckdb->vector_get_data(number) != 42 ||
        !duckdb_row_is_valid(duckdb->vector_get_validity(number), 0) ||
        duckdb_row_is_valid(duckdb->vector_get_validity(nothing), 0))
        return 8;
    const char *wanted[] = {"abababababababababababababababababababab", "short"};
    for (uint64_t i = 0; i < 2; i++) {
        uint32_t length = 0;
        DuckdbVector text = duckdb->data_chunk_get_vector(chunk, 2 + i);
        const char *bytes = duckdb_string_bytes(duckdb->vector_get_data(text), &length);
        if (length != strlen(wanted[i]) || memcmp(bytes, wanted[i], length) != 0)
            return 9;
    }
    duckdb->destroy_data_chunk(&chunk);
    duckdb->destroy_result(&result);
    duckdb->disconnect(&connection);
    duckdb->close(&database);
    return 0;
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(in_child(FAKE_DUCKDB_OLD, refused_old), 0);
    assert_int_equal(in_child(FAKE_DUCKDB_SHORT, refused_short), 0);
    assert_int_equal(in_child("/nonexistent/libduckdb.so", refused_file), 0);
    assert_int_equal(in_child("/nonexistent/libduckdb.so", absent), 0);
    assert_int_equal(in_child("/etc/passwd", refused_file), 0);
    assert_int_equal(in_child("/", refused_file), 0);
    assert_int_equal(in_child(FAKE_DUCKDB_SHORT, refused_injected), 0);
    assert_int_equal(in_child(NULL, nowhere), 0);
}

/* A library that was cut while it was copied: refused, not a SIGBUS in the loader. */
static void test_cut_file(void **state)
{
    (void)state;
    char path[] = "/tmp/caliper-duckdb-cut-XXXXXX";
    int cut = mkstemp(path);
    FILE *whole = fopen(FAKE_DUCKDB_SHORT, "rb");
    char bytes[4096];
    assert_true(cut >= 0 && whole != NULL);
    size_t length = fread(bytes, 1, sizeof bytes, whole);
    assert_int_equal(write(cut, bytes, length), length);
    fclose(whole);
    close(cut);
    assert_int_equal(in_child(path, refused_file), 0);
    unlink(path);
}

static void test_loaded(void **state)
{
    (void)state;
    if (DUCKDB_LIBRARY[0] == '\0') {
        print_message("skipped: DuckDB is not here; scripts/setup fetches it\n");
        skip();
    }
    assert_int_equal(in_child(DUCKDB_LIBRARY, loaded), 0);
}

int main(void)
{
    log_sink_add(count_lines, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut_file),
        cmocka_unit_test(test_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
