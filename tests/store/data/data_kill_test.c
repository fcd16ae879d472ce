/* caliper.data.v1 and kill -9 at random moments, while it makes its file and while it writes: the
 * store opens, what a call returned for is there, no statement is half there, and nothing is moved
 * aside. 30 kills of both kinds together; CALIPER_TEST_LONG=1: 300 of each. */
#include "data_room.h"

#include "failing_io.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

enum { ROWS = 20 }; /* of one statement */

/* What a child tells: how many statements returned. */
typedef struct Progress {
    _Atomic int64_t tried, done;
} Progress;

static Progress *progress;

static Progress *map_progress(const char *folder)
{
    char path[96];
    snprintf(path, sizeof path, "%s/.progress", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(Progress)) != 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped != MAP_FAILED ? mapped : NULL;
}

static int child_writes(const char *folder, int number)
{
    DatabaseError error;
    DataStore *store = data_store_create(folder);
    progress = map_progress(folder);
    if (progress == NULL || store == NULL ||
        !data_room_run(store, "CREATE TABLE IF NOT EXISTS k(child INT, s BIGINT, i BIGINT)",
                       &error))
        return 1;
    for (int64_t s = 0;; s++) {
        char sql[160];
        char name[32];
        snprintf(sql, sizeof sql, "INSERT INTO k SELECT %d, %lld, i FROM range(%d) t(i)", number,
                 (long long)s, ROWS);
        snprintf(name, sizeof name, "set_%d_%lld", number, (long long)s);
        atomic_store(&progress->tried, s + 1);
        if (!data_room_run(store, sql, &error) ||
            !data_store_register(store, "", name, "k", &error))
            return 1;
        atomic_store(&progress->done, s + 1);
        if (s % 20 == 19 && !data_room_run(store, "CHECKPOINT", &error))
            return 1;
    }
}

static int begin(void **state)
{
    (void)state;
    data_room_make(root);
    progress = map_progress(root);
    assert_non_null(progress);
    return 0;
}

static int end(void **state)
{
    (void)state;
    munmap(progress, sizeof *progress);
    store_folder_remove(root);
    return 0;
}

static pid_t start(int number)
{
    atomic_store(&progress->tried, 0);
    atomic_store(&progress->done, 0);
    return data_room_start("write", root, number);
}

static void wait_for_first(pid_t child)
{
    while (atomic_load(&progress->done) == 0) {
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
        usleep(500);
    }
}

static void kill_now(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* The killed child's statements and datasets: those that returned, and at most the one under way;
 * each whole. */
static void check(int number)
{
    char sql[192];
    int64_t done = atomic_load(&progress->done);
    int64_t tried = atomic_load(&progress->tried);
    DatabaseError error;
    DataStore *store = data_store_create(root);
    assert_non_null(store);
    if (!data_room_run(store, "CREATE TABLE IF NOT EXISTS k(child INT, s BIGINT, i BIGINT)",
                       &error))
        fail_msg("%s", error.text);
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT s) FROM k WHERE child = %d", number);
    int64_t kept = data_room_number(store, sql);
    assert_in_range(kept, done, tried);
    assert_int_equal(data_room_number(store, "SELECT count(*) FROM (SELECT count(*) AS n, "
                                             "count(DISTINCT i) AS d FROM k GROUP BY child, s) "
                                             "WHERE n <> 20 OR d <> 20"),
                     0);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM caliper.datasets WHERE name LIKE 'set\\_%d\\_%%' ESCAPE '\\'",
             number);
    assert_in_range(data_room_number(store, sql), done, kept);
    data_store_destroy(&store);
    assert_false(data_room_lost_a_file(root));
}

static int times(void)
{
    return data_room_long() ? 300 : 15;
}

static void test_killed_while_it_writes(void **state)
{
    (void)state;
    int64_t statements = 0;
    for (int i = 0; i < times(); i++) {
        pid_t child = start(i);
        wait_for_first(child);
        usleep((useconds_t)data_room_random(60000));
        kill_now(child);
        statements += atomic_load(&progress->done);
        check(i);
    }
    print_message("%d kills, %lld statements had returned\n", times(), (long long)statements);
}

/* From an empty folder to the first row, whose time the first child tells. */
static void test_killed_while_it_begins(void **state)
{
    (void)state;
    int before = 0;
    int half = 0;
    int64_t began_us = data_room_now_us();
    pid_t first = start(0);
    wait_for_first(first);
    int64_t whole_us = data_room_now_us() - began_us;
    kill_now(first);
    check(0);
    for (int i = 1; i <= times(); i++) {
        end(NULL);
        begin(NULL);
        pid_t child = start(i);
        usleep((useconds_t)data_room_random((uint64_t)whole_us));
        kill_now(child);
        before += atomic_load(&progress->done) == 0;
        half += atomic_load(&progress->done) == 0 && store_folder_count(root, "data.duckdb") > 0;
        check(i);
    }
    print_message("%d kills, %d before the first row, %d of them with a file\n", times(), before,
                  half);
}

/* ---- In the middle of making the file ---- */

/* Dies in the call of that number to the C library that writes. */
static int child_makes(const char *data_root, int number)
{
    DatabaseError error;
    const FailingIo plan = {.folder = data_root, .first = (uint32_t)number, .kills = true};
    DataStore *store = data_store_create(data_root);
    failing_io_plan(&plan);
    bool done = data_room_run(store, "SELECT 1", &error);
    data_store_destroy(&store);
    return done ? 0 : 1;
}

/* However far it came, what was begun is begun anew, and nothing looks damaged. */
static void test_killed_at_each_call_that_makes_the_file(void **state)
{
    (void)state;
    bool lived = false;
    for (int number = 1; !lived; number++) {
        int status = 0;
        pid_t child = data_room_start("make", root, number);
        assert_int_equal(waitpid(child, &status, 0), child);
        lived = WIFEXITED(status);
        if (lived)
            assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(lived || number < 500);
        DataStore *store = data_store_create(root);
        assert_int_equal(data_room_number(store, "SELECT 1::BIGINT"), 1);
        data_store_destroy(&store);
        if (store_folder_count(root, "data.duckdb.") != 0)
            fail_msg("killed at call %d: a file is left or was moved aside", number);
        store_folder_remove(root);
        data_room_make(root);
    }
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_killed_while_it_writes),
                                       TEST(test_killed_while_it_begins),
                                       TEST(test_killed_at_each_call_that_makes_the_file)};
    if (argc == 5 && strcmp(argv[1], "child") == 0) {
        data_room_child();
        return strcmp(argv[2], "make") == 0 ? child_makes(argv[3], atoi(argv[4]))
                                            : child_writes(argv[3], atoi(argv[4]));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
