/* caliper.data.v1 and other processes: one owns the data root, the others are told who does; and 32
 * that race to make and write one data root. The test starts itself as its children. */
#include "data_room.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

enum { RACE_LIMIT_US = 240000000, ROWS = 20 }; /* the limit: not a measure of speed */

static int begin(void **state)
{
    (void)state;
    data_room_make(root);
    return 0;
}

static int end(void **state)
{
    (void)state;
    store_folder_remove(root);
    return 0;
}

/* ---- Children ---- */

/* Owns the root, says so by a file, and waits to be killed. */
static int child_owns(const char *folder)
{
    DatabaseError error;
    DataStore *store = data_store_create(folder);
    char ready[96];
    snprintf(ready, sizeof ready, "%s/ready", folder);
    if (store == NULL || !data_room_run(store, "CREATE TABLE t(a INT)", &error))
        return 1;
    FILE *file = fopen(ready, "w");
    if (file == NULL || fclose(file) != 0)
        return 1;
    for (;;)
        pause();
}

/* Writes its rows and a dataset as soon as nobody else has the root. */
static int child_races(const char *folder, int number)
{
    char sql[128];
    char name[32];
    int64_t began_us = data_room_now_us();
    snprintf(name, sizeof name, "process_%d", number);
    while (data_room_now_us() - began_us < RACE_LIMIT_US) {
        DatabaseError error = {.text = "no memory"};
        DataStore *store = data_store_create(folder);
        bool made = store != NULL &&
                    data_room_run(store, "CREATE TABLE IF NOT EXISTS r(p INT, i BIGINT)", &error);
        bool done = made;
        snprintf(sql, sizeof sql, "INSERT INTO r SELECT %d, i FROM range(%d) t(i)", number, ROWS);
        done = done && data_room_run(store, sql, &error);
        done = done && data_store_register(store, "", name, "r", &error);
        data_store_destroy(&store);
        if (done)
            return 0;
        /* Once it has the root nothing is refused any more. */
        if (made || strstr(error.text, "belongs to another Caliper, process ") == NULL) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        usleep(5000);
    }
    return 2;
}

/* ---- The tests ---- */

static void test_owner(void **state)
{
    (void)state;
    DatabaseError error;
    char wanted[64];
    pid_t owner = data_room_start("own", root, 0);
    while (store_folder_count(root, "ready") == 0) {
        assert_int_equal(waitpid(owner, NULL, WNOHANG), 0);
        usleep(2000);
    }
    DataStore *store = data_store_create(root);
    assert_non_null(store);
    for (int i = 0; i < 2; i++) {
        assert_false(data_room_run(store, "SELECT 1", &error));
        snprintf(wanted, sizeof wanted, "process %lld", (long long)owner);
        assert_non_null(strstr(error.text, wanted));
        assert_false(data_store_register(store, "", "a", "t", &error));
        assert_non_null(strstr(error.text, wanted));
    }
    /* Killed, it owns nothing any more, and what it committed is there. */
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    assert_true(data_room_run(store, "INSERT INTO t VALUES (1)", &error));
    data_store_destroy(&store);
}

/* 32 processes begin one fresh data root at once: each row is there once. */
static void test_32_processes(void **state)
{
    (void)state;
    enum { PROCESSES = 32 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        children[i] = data_room_start("race", root, i);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    DataStore *store = data_store_create(root);
    assert_int_equal(data_room_number(store, "SELECT count(*) FROM r"), PROCESSES * ROWS);
    assert_int_equal(data_room_number(store, "SELECT count(*) FROM (SELECT DISTINCT p, i FROM r) "
                                             "WHERE p BETWEEN 0 AND 31 AND i BETWEEN 0 AND 19"),
                     PROCESSES * ROWS);
    assert_int_equal(data_room_number(store, "SELECT count(DISTINCT name) FROM caliper.datasets"),
                     PROCESSES);
    data_store_destroy(&store);
    assert_false(data_room_lost_a_file(root));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_owner), TEST(test_32_processes)};
    if (argc == 5 && strcmp(argv[1], "child") == 0) {
        data_room_child();
        return strcmp(argv[2], "own") == 0 ? child_owns(argv[3])
                                           : child_races(argv[3], atoi(argv[4]));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
