/* caliper.log: every line once and in order, through rotations, full disks, many threads, other
 * processes that rotate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "core/log_file.h"

static char folder[64];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/caliper-log-XXXXXX");
    log_stderr_enable(false);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    log_file_close();
    fault_set_plan(NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* The text of caliper.log (number 0) or caliper.log.<number>; "" if there is none. */
static char *read_log(int number)
{
    static char text[1 << 20];
    char path[128];
    snprintf(path, sizeof path, number == 0 ? "%s/caliper.log" : "%s/caliper.log.%d", folder,
             number);
    FILE *file = fopen(path, "rb");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static void write_line(const char *text)
{
    log_write_text(LOG_LEVEL_WARN, "test", text, -1);
}

static void test_a_line(void **state)
{
    (void)state;
    assert_true(log_file_open(folder, 0));
    assert_false(log_file_open(folder, 0)); /* one a process */
    write_line("first\nand its second line");
    log_file_flush();
    /* 2026-12-02T07:13:36.123Z warn  test first */
    const char *text = read_log(0);
    assert_true(strlen(text) > 24);
    assert_int_equal(text[4], '-');
    assert_int_equal(text[10], 'T');
    assert_int_equal(text[23], 'Z');
    assert_string_equal(text + 24, " warn  test first\n    and its second line\n");
    struct stat status;
    char path[128];
    snprintf(path, sizeof path, "%s/caliper.log", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* Lines are numbered; files from the oldest to the newest hold the last ones, none missing. */
static void test_rotation(void **state)
{
    (void)state;
    enum { LINES = 200, FILE_BYTES = 1000 };
    assert_true(log_file_open(folder, FILE_BYTES));
    for (int i = 0; i < LINES; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %d.", i);
        write_line(line);
        log_file_flush(); /* one batch each, so that sizes are known */
    }
    int expected = -1;
    for (int number = LOG_FILE_KEPT; number >= 0; number--) {
        char *text = read_log(number);
        assert_true(strlen(text) > 0 && strlen(text) <= FILE_BYTES);
        for (char *at = text; (at = strstr(at, "line ")) != NULL; at++) {
            int got = atoi(at + 5);
            assert_true(expected < 0 || got == expected);
            expected = got + 1;
        }
    }
    assert_int_equal(expected, LINES);
    assert_string_equal(read_log(LOG_FILE_KEPT + 1), "");
}

static void test_another_process_rotates(void **state)
{
    (void)state;
    char path[128];
    char moved[128];
    snprintf(path, sizeof path, "%s/caliper.log", folder);
    snprintf(moved, sizeof moved, "%s/caliper.log.1", folder);
    assert_true(log_file_open(folder, 0));
    write_line("before");
    log_file_flush();
    assert_int_equal(rename(path, moved), 0);
    write_line("after");
    log_file_flush();
    assert_non_null(strstr(read_log(0), "after"));
    assert_null(strstr(read_log(0), "before"));
    assert_non_null(strstr(read_log(1), "before"));
    assert_int_equal(unlink(path), 0); /* or somebody tidies up */
    write_line("again");
    log_file_flush();
    assert_non_null(strstr(read_log(0), "again"));
}

enum { THREADS = 4, LINES_EACH = 300 };

static void *write_many(void *arg)
{
    for (int i = 0; i < LINES_EACH; i++) {
        char line[64];
        snprintf(line, sizeof line, "thread %d line %d.", *(int *)arg, i);
        write_line(line);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    assert_true(log_file_open(folder, 0));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    log_file_close(); /* writes what is left */
    int next[THREADS] = {0};
    const char *text = read_log(0);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "thread ")) != NULL; at++, lines++) {
        int thread = atoi(at + 7);
        assert_in_range(thread, 0, THREADS - 1);
        assert_int_equal(atoi(strstr(at, "line ") + 5), next[thread]++);
    }
    assert_int_equal(lines, THREADS * LINES_EACH);
}

static uint32_t lost;

static void count_lost(void *user, const LogEntry *entry)
{
    (void)user;
    lost += entry->item == LOG_LOG_FILE_LOST ? 1u : 0u;
}

/* A full disk costs lines and one warning, and is over when it is over. */
static void test_full_disk(void **state)
{
    (void)state;
    lost = 0;
    int sink = log_sink_add(count_lost, NULL);
    assert_true(log_file_open(folder, 0));
    assert_true(fault_set_plan("log_file.write:1+"));
    for (int i = 0; i < 5; i++) {
        write_line("nowhere to go");
        log_file_flush();
    }
    log_file_flush();
    assert_int_equal(lost, 1);
    fault_set_plan(NULL);
    write_line("room again");
    log_file_flush();
    assert_non_null(strstr(read_log(0), "room again"));
    assert_null(strstr(read_log(0), "nowhere"));
    log_sink_remove(sink);
}

/* A line that does not fit is counted, not cut. */
static void test_too_much(void **state)
{
    (void)state;
    assert_true(log_file_open(folder, 0));
    char *huge = malloc(300000);
    assert_non_null(huge);
    memset(huge, 'x', 299999);
    huge[299999] = '\0';
    write_line(huge);
    write_line(huge);
    write_line("small");
    log_file_flush();
    free(huge);
    assert_non_null(strstr(read_log(0), "(2 lines dropped here)"));
    assert_non_null(strstr(read_log(0), "small"));
    assert_null(strstr(read_log(0), "xx"));
}

static void test_nowhere(void **state)
{
    (void)state;
    static const char *const sites[] = {"log_file.open:1", "log_file.alloc:1", "log_file.thread:1"};
    int sink = log_sink_add(count_lost, NULL);
    lost = 0;
    assert_false(log_file_open("/nonexistent/folder", 0));
    assert_int_equal(lost, 1);
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        fault_set_plan(sites[i]);
        assert_false(log_file_open(folder, 0));
        assert_int_equal(lost, i + 2);
    }
    fault_set_plan(NULL);
    log_file_close();
    log_file_flush();
    assert_true(log_file_open(folder, 0));
    log_sink_remove(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_line, begin, end),
        cmocka_unit_test_setup_teardown(test_rotation, begin, end),
        cmocka_unit_test_setup_teardown(test_another_process_rotates, begin, end),
        cmocka_unit_test_setup_teardown(test_many_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_full_disk, begin, end),
        cmocka_unit_test_setup_teardown(test_too_much, begin, end),
        cmocka_unit_test_setup_teardown(test_nowhere, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
