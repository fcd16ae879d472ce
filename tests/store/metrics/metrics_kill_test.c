/* kill -9 at random moments, and 32 processes that race for one data root. What a process is told
 * to be durable is there afterwards, in order and once, whoever was killed: the owner while it
 * writes, while it takes over, while it migrates, or a process that spools.
 *
 * The test starts itself as its children: metrics_kill_test child MODE ROOT NUMBER. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics_fixture.h"

extern char **environ;

static char root[256];
static char self_path[512];

/* What a child tells: the run it has begun and the steps that it knows to be durable. */
typedef struct Progress {
    _Atomic uint64_t run;
    _Atomic int64_t logged, durable;
} Progress;

static Progress *progress;

static Progress *map_progress(const char *folder)
{
    int fd = open(fixture_path(folder, ".progress"), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(Progress)) != 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* ---- Children ---- */

/* Logs for ever; every so often it waits until what it logged is durable. */
static void child_writes(void)
{
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "killed", "child");
    if (run == 0)
        _exit(3);
    atomic_store(&progress->run, run);
    for (int64_t step = 0;; step++) {
        metrics_store_scalar(store, run, "x", step, (double)step);
        atomic_store(&progress->logged, step + 1);
        if (step % 1000 == 999 && metrics_store_flush(store, 60000))
            atomic_store(&progress->durable, step + 1);
    }
}

/* Becomes the owner, takes over what lies there, and waits to be killed. */
static void child_opens(void)
{
    MetricsStore *store = fixture_store(root);
    struct ArrowArrayStream stream;
    if (metrics_store_query(store, "SELECT count(*) FROM scalars", &stream))
        stream.release(&stream);
    atomic_store(&progress->durable, 1);
    for (;;)
        pause();
}

/* One run from beginning to end, as a training script does it. */
static void child_logs(int number)
{
    char name[32];
    snprintf(name, sizeof name, "process %d", number);
    MetricsStore *store = fixture_store(root);
    uint64_t run = metrics_store_begin_run(store, "race", name);
    if (run == 0)
        _exit(3);
    for (int64_t step = 0; step < 500; step++) {
        metrics_store_scalar(store, run, "x", step, number);
        if (step % 100 == 0)
            usleep(1000);
    }
    metrics_store_end_run(store, run);
    metrics_store_destroy(&store);
    _exit(0);
}

static int child_main(char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(root, sizeof root, "%s", argv[3]);
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
    progress = map_progress(root);
    if (progress == NULL)
        return 4;
    if (strcmp(argv[2], "write") == 0)
        child_writes();
    if (strcmp(argv[2], "open") == 0)
        child_opens();
    child_logs(atoi(argv[4]));
    return 5;
}

static pid_t start_child(const char *mode, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    char *arguments[] = {self_path, "child", (char *)(uintptr_t)mode, root, text, NULL};
    pid_t child = 0;
    assert_int_equal(posix_spawn(&child, self_path, NULL, NULL, arguments, environ), 0);
    return child;
}

/* ---- The tests ---- */

static int set_up(void **state)
{
    (void)state;
    fixture_root(root);
    fixture_log_start();
    progress = map_progress(root);
    assert_non_null(progress);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(progress, sizeof *progress);
    fixture_log_stop();
    fixture_remove(root);
    return 0;
}

static uint64_t random_next(void)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u; /* xorshift64: the same moments each time */
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static void kill_after(pid_t child, uint64_t most_us)
{
    int status = 0;
    usleep((useconds_t)(random_next() % most_us));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static int times(void)
{
    return fixture_long() ? 100 : 10;
}

static void reset_progress(void)
{
    atomic_store(&progress->run, 0);
    atomic_store(&progress->logged, 0);
    atomic_store(&progress->durable, 0);
}

/* The killed run's rows: steps 0 to n - 1 in order, each once, at least the durable ones and none
 * that was never logged. */
static void check_killed_run(MetricsStore *store)
{
    char sql[256];
    long long run = (long long)atomic_load(&progress->run);
    if (run == 0)
        return;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM scalars WHERE run = %lld", run);
    int64_t count = fixture_query(store, sql);
    assert_true(count >= atomic_load(&progress->durable));
    assert_true(count <= atomic_load(&progress->logged) + 1);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT step, row_number() OVER (ORDER BY seq) - 1 AS i FROM "
             "scalars WHERE run = %lld) WHERE step <> i",
             run);
    assert_int_equal(fixture_query(store, sql), 0);
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM runs r JOIN interrupted_runs i ON i.run = r.id WHERE r.id = %lld "
        "AND NOT done",
        run);
    /* Marked after the last of its files was taken over. */
    int64_t interrupted = 0;
    for (int wait = 0; wait < 2000 && atomic_load(&progress->durable) > 0 && interrupted == 0;
         wait++) {
        interrupted = fixture_query(store, sql);
        usleep(interrupted == 0 ? 5000 : 0);
    }
    assert_int_equal(interrupted, atomic_load(&progress->durable) > 0 ? 1 : 0);
}

static void test_kill_the_owner(void **state)
{
    (void)state;
    for (int i = 0; i < times(); i++) {
        reset_progress();
        kill_after(start_child("write", 0), 400000);
        MetricsStore *store = fixture_store(root);
        check_killed_run(store);
        assert_int_equal(fixture_query(store, "SELECT count(*) - count(DISTINCT seq) FROM scalars"),
                         0);
        metrics_store_destroy(&store);
    }
}

static void test_kill_one_that_spools(void **state)
{
    (void)state;
    MetricsStore *owner = fixture_store(root);
    uint64_t run = metrics_store_begin_run(owner, "e", "owner");
    metrics_store_flush(owner, 30000);
    for (int i = 0; i < times(); i++) {
        reset_progress();
        kill_after(start_child("write", 0), 300000);
        metrics_store_scalar(owner, run, "y", i, i);
        /* The owner notices that the session is dead and takes all of it over. */
        for (int wait = 0; wait < 6000 && fixture_count(fixture_path(root, "spool"), "") > 0;
             wait++)
            usleep(5000);
        assert_int_equal(fixture_count(fixture_path(root, "spool"), ""), 0);
        fixture_query(owner, "SELECT count(*) FROM scalars");
        check_killed_run(owner);
    }
    assert_int_equal(fixture_query(owner, "SELECT count(*) - count(DISTINCT seq) FROM scalars"), 0);
    metrics_store_destroy(&owner);
}

/* A dead session's files, and an owner that is killed while it takes them over. */
static void test_kill_the_owner_in_a_takeover(void **state)
{
    (void)state;
    for (int i = 0; i < times(); i++) {
        reset_progress();
        MetricsStore *owner = fixture_store(root);
        metrics_store_end_run(owner, metrics_store_begin_run(owner, "e", "owner"));
        pid_t spooler = start_child("write", 0);
        for (int wait = 0; wait < 4000 && atomic_load(&progress->durable) == 0; wait++)
            usleep(5000);
        assert_true(atomic_load(&progress->durable) > 0);
        kill(spooler, SIGKILL);
        waitpid(spooler, NULL, 0);
        uint64_t run = atomic_load(&progress->run);
        int64_t durable = atomic_load(&progress->durable);
        metrics_store_destroy(&owner);
        for (int again = 0; again < 2; again++)
            kill_after(start_child("open", 0), 150000);
        atomic_store(&progress->run, run);
        atomic_store(&progress->durable, durable);
        owner = fixture_store(root);
        check_killed_run(owner);
        metrics_store_destroy(&owner);
    }
}

static void make_old_file(void)
{
    fixture_run(root,
                "CREATE TABLE runs(id BIGINT, experiment VARCHAR, name VARCHAR, done BOOLEAN);"
                "CREATE TABLE scalars(run BIGINT, tag VARCHAR, step BIGINT, value DOUBLE);"
                "INSERT INTO runs VALUES (1, 'e', 'old', true);"
                "INSERT INTO scalars SELECT 1, 'x', i, i FROM range(200000) t(i);");
}

static void test_kill_in_a_migration(void **state)
{
    (void)state;
    for (int i = 0; i < times() / 2 + 1; i++) {
        unlink(fixture_path(root, "metrics.duckdb"));
        unlink(fixture_path(root, "metrics.duckdb.wal"));
        make_old_file();
        for (int again = 0; again < 2; again++)
            kill_after(start_child("open", 0), 250000);
        MetricsStore *store = fixture_store(root);
        assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars WHERE seq = step + 1"),
                         200000);
        assert_int_equal(fixture_query(store, "SELECT version::BIGINT FROM schema_version"), 1);
        metrics_store_destroy(&store);
        assert_int_equal(fixture_count(root, "metrics.duckdb.damaged"), 0);
    }
}

static void test_32_processes(void **state)
{
    (void)state;
    enum { PROCESSES = 32 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_child("log", i);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    /* Nobody opened it since: the last of them left everything in the database. */
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs WHERE done"), PROCESSES);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT name) FROM runs"), PROCESSES);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), PROCESSES * 500);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT (run, step)) FROM scalars"),
                     PROCESSES * 500);
    assert_int_equal(fixture_number(root, "SELECT count(DISTINCT seq) FROM scalars"),
                     PROCESSES * 500);
    assert_int_equal(
        fixture_number(root, "SELECT count(*) FROM (SELECT step, row_number() OVER (PARTITION BY "
                             "run ORDER BY seq) - 1 AS i FROM scalars) WHERE i <> step"),
        0);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM interrupted_runs"), 0);
    assert_int_equal(fixture_count(fixture_path(root, "spool"), ""), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill_the_owner, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill_one_that_spools, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill_the_owner_in_a_takeover, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill_in_a_migration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_32_processes, set_up, tear_down),
    };
    if (argc == 5 && strcmp(argv[1], "child") == 0)
        return child_main(argv);
    ssize_t length = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
    if (length <= 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
