/* kill -9 at random moments, and 32 processes that race for one data root. What a process is told
 * to be durable is there afterwards, in order and once, whoever was killed: the owner while it
 * writes, while it takes over, while it migrates, or a process that spools. 10 kills of each of the
 * four kinds; CALIPER_TEST_LONG=1: 300 of each.
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
#include <time.h>
#include <unistd.h>

#include "metrics_fixture.h"

extern char **environ;

static char root[256];
static char self_path[512];

/* What a child tells: that it begins, the run it has begun, and the steps that it has logged and
 * that the store says are durable. */
typedef struct Progress {
    atomic_bool begins;
    _Atomic uint64_t run;
    _Atomic int64_t logged, durable;
} Progress;

static Progress *progress;

/* For what another process or thread does by itself: no measure of speed. */
enum { WAIT_LIMIT_US = 120000000 };

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

/* Of the store's own count: the run's begin comes first. */
static void tell_durable(MetricsStore *store)
{
    MetricsStatus status;
    metrics_store_status(store, &status);
    if (status.rows_committed > 1)
        atomic_store(&progress->durable, (int64_t)status.rows_committed - 1);
}

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
        if (step % 5000 == 4999 && !metrics_store_flush(store, 120000))
            _exit(3);
        if (step % 100 == 99)
            tell_durable(store);
        if (step % 100 == 99)
            usleep(1000);
    }
}

/* Becomes the owner, takes over what lies there, and waits to be killed. */
static void child_opens(void)
{
    MetricsStore *store = fixture_store(root);
    struct ArrowArrayStream stream;
    atomic_store(&progress->begins, true);
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
    store_folder_remove(root);
    return 0;
}

static uint64_t random_next(void)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u; /* xorshift64: the same moments each time */
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void kill_now(pid_t child)
{
    int status = 0;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void kill_after(pid_t child, uint64_t most_us)
{
    usleep((useconds_t)(random_next() % most_us));
    kill_now(child);
}

/* Until the child has said something; it must live that long. */
static void wait_for_bool(pid_t child, atomic_bool *said)
{
    while (!atomic_load(said)) {
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
        usleep(200);
    }
}

static void wait_for_durable(pid_t child)
{
    while (atomic_load(&progress->durable) == 0) {
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
        usleep(200);
    }
}

/* A fresh data root now and then, or the rows of 300 kills are read 300 times. */
enum { KILLS_A_ROOT = 10 };

static void clear_after(int kills)
{
    if (kills % KILLS_A_ROOT != 0)
        return;
    tear_down(NULL);
    set_up(NULL);
}

static int times(void)
{
    return fixture_long() ? 300 : 10;
}

static void reset_progress(void)
{
    atomic_store(&progress->begins, false);
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
    int64_t limit_us = clock_us(CLOCK_MONOTONIC) + WAIT_LIMIT_US;
    while (atomic_load(&progress->durable) > 0 && interrupted == 0 &&
           clock_us(CLOCK_MONOTONIC) < limit_us) {
        interrupted = fixture_query(store, sql);
        usleep(interrupted == 0 ? 5000 : 0);
    }
    assert_int_equal(interrupted, atomic_load(&progress->durable) > 0 ? 1 : 0);
}

/* How old the killed run's oldest lost row was: the first after the newest that is there. Shown,
 * not judged: a commit takes as long as the disk does. */
static double lost_ms(MetricsStore *store, int64_t killed_us)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT max(epoch_us(wall_time)) FROM scalars WHERE run = %lld",
             (long long)atomic_load(&progress->run));
    int64_t newest_us = atomic_load(&progress->durable) > 0 ? fixture_query(store, sql) : killed_us;
    return (double)(killed_us - newest_us) / 1e3;
}

/* By turns from its start on, and when it is known to be writing. */
static void kill_writer(int turn)
{
    pid_t child = start_child("write", 0);
    if (turn % 2 == 0)
        wait_for_durable(child);
    kill_after(child, 300000);
}

static void test_kill_the_owner(void **state)
{
    (void)state;
    int written = 0;
    double most_ms = 0;
    double all_ms = 0;
    for (int i = 0; i < times(); i++) {
        reset_progress();
        kill_writer(i);
        int64_t killed_us = clock_us(CLOCK_REALTIME);
        MetricsStore *store = fixture_store(root);
        check_killed_run(store);
        assert_int_equal(fixture_query(store, "SELECT count(*) - count(DISTINCT seq) FROM scalars"),
                         0);
        if (atomic_load(&progress->durable) > 0) {
            double lost = lost_ms(store, killed_us);
            most_ms = lost > most_ms ? lost : most_ms;
            all_ms += lost;
            written++;
        }
        metrics_store_destroy(&store);
        clear_after(i + 1);
    }
    print_message("%d kills, %d with durable rows; the oldest lost row was %.0f ms old on average, "
                  "%.0f at most\n",
                  times(), written, written > 0 ? all_ms / written : 0, most_ms);
    assert_true(written >= times() / 2);
}

/* The owner notices that the session is dead and takes all of it over. */
static void wait_for_takeover(MetricsStore *owner)
{
    int64_t limit_us = clock_us(CLOCK_MONOTONIC) + WAIT_LIMIT_US;
    while (store_folder_count(fixture_path(root, "spool"), "") > 0 &&
           clock_us(CLOCK_MONOTONIC) < limit_us)
        usleep(5000);
    assert_int_equal(store_folder_count(fixture_path(root, "spool"), ""), 0);
    fixture_query(owner, "SELECT count(*) FROM scalars");
}

static void test_kill_one_that_spools(void **state)
{
    (void)state;
    int written = 0;
    for (int i = 0; i < times();) {
        MetricsStore *owner = fixture_store(root);
        uint64_t run = metrics_store_begin_run(owner, "e", "owner");
        assert_true(metrics_store_flush(owner, 120000));
        do {
            reset_progress();
            kill_writer(i);
            written += atomic_load(&progress->durable) > 0;
            metrics_store_scalar(owner, run, "y", i, i);
            wait_for_takeover(owner);
            check_killed_run(owner);
            i++;
        } while (i % KILLS_A_ROOT != 0);
        assert_int_equal(fixture_query(owner, "SELECT count(*) - count(DISTINCT seq) FROM scalars"),
                         0);
        metrics_store_destroy(&owner);
        clear_after(i);
    }
    print_message("%d kills, %d with durable rows\n", times(), written);
    assert_true(written >= times() / 2);
}

/* ---- The work of an owner that opens: kills spread over all of it ---- */

typedef struct OpenKills {
    int64_t whole_us; /* from its beginning to its end; less after a kill that came too late */
    int kills, before_end;
} OpenKills;

/* Once without a kill in the middle, to know how long it takes here and now. */
static void measure_open(OpenKills *kills)
{
    reset_progress();
    pid_t child = start_child("open", 0);
    wait_for_bool(child, &progress->begins);
    int64_t began_us = clock_us(CLOCK_MONOTONIC);
    wait_for_durable(child);
    kills->whole_us = clock_us(CLOCK_MONOTONIC) - began_us + 1;
    kill_now(child);
}

static void kill_open(OpenKills *kills)
{
    reset_progress();
    pid_t child = start_child("open", 0);
    wait_for_bool(child, &progress->begins);
    kill_after(child, (uint64_t)kills->whole_us);
    bool before_end = atomic_load(&progress->durable) == 0;
    kills->kills++;
    kills->before_end += before_end;
    kills->whole_us = before_end ? kills->whole_us : kills->whole_us * 4 / 5 + 1;
}

static void print_open_kills(const OpenKills *kills, const char *what)
{
    print_message("%d kills in a %s of %.0f ms, %d before its end\n", kills->kills, what,
                  (double)kills->whole_us / 1e3, kills->before_end);
    assert_true(kills->before_end > 0);
}

/* Leaves the files of a dead session and no owner. */
static void leave_spool_files(void)
{
    MetricsStore *owner = fixture_store(root);
    metrics_store_end_run(owner, metrics_store_begin_run(owner, "e", "owner"));
    reset_progress();
    pid_t spooler = start_child("write", 0);
    wait_for_durable(spooler);
    kill_after(spooler, 100000);
    metrics_store_destroy(&owner);
}

/* A dead session's files, and an owner that is killed while it takes them over, and again. */
static void test_kill_the_owner_in_a_takeover(void **state)
{
    (void)state;
    OpenKills kills = {0};
    leave_spool_files();
    measure_open(&kills);
    while (kills.kills < times()) {
        leave_spool_files();
        uint64_t run = atomic_load(&progress->run);
        int64_t logged = atomic_load(&progress->logged);
        int64_t durable = atomic_load(&progress->durable);
        for (int again = 0; again < 2; again++)
            kill_open(&kills);
        atomic_store(&progress->run, run);
        atomic_store(&progress->logged, logged);
        atomic_store(&progress->durable, durable);
        MetricsStore *owner = fixture_store(root);
        check_killed_run(owner);
        metrics_store_destroy(&owner);
        clear_after(kills.kills);
    }
    print_open_kills(&kills, "takeover");
}

enum { OLD_ROWS = 200000 };

static void make_old_file(void)
{
    unlink(fixture_path(root, "metrics.duckdb"));
    unlink(fixture_path(root, "metrics.duckdb.wal"));
    fixture_run(root,
                "CREATE TABLE runs(id BIGINT, experiment VARCHAR, name VARCHAR, done BOOLEAN);"
                "CREATE TABLE scalars(run BIGINT, tag VARCHAR, step BIGINT, value DOUBLE);"
                "INSERT INTO runs VALUES (1, 'e', 'old', true);"
                "INSERT INTO scalars SELECT 1, 'x', i, i FROM range(200000) t(i);");
}

static void test_kill_in_a_migration(void **state)
{
    (void)state;
    OpenKills kills = {0};
    make_old_file();
    measure_open(&kills);
    while (kills.kills < times()) {
        make_old_file();
        for (int again = 0; again < 2; again++)
            kill_open(&kills);
        MetricsStore *store = fixture_store(root);
        assert_int_equal(fixture_query(store, "SELECT count(*) FROM scalars WHERE seq = step + 1"),
                         OLD_ROWS);
        assert_int_equal(fixture_query(store, "SELECT version::BIGINT FROM schema_version"), 2);
        metrics_store_destroy(&store);
        assert_int_equal(store_folder_count(root, "metrics.duckdb.damaged"), 0);
    }
    print_open_kills(&kills, "migration");
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
    assert_int_equal(store_folder_count(fixture_path(root, "spool"), ""), 0);
}

/* An argument: only the tests that it matches. */
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
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
