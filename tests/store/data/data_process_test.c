/* caliper.data.v1 and other processes: one owns the data root, the others are told who does. */
#include "database_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/log.h"
#include "store/data/data_store.h"

static char root[64];

static int begin(void **state)
{
    (void)state;
    fixture_folder(root);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fixture_remove(root);
    return 0;
}

static bool run(DataStore *store, const char *sql, DatabaseError *error)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    if (!data_store_query(store, "", sql, &stream, error))
        return false;
    bool done = true;
    while (done && stream.get_next(&stream, &batch) == 0 && batch.release != NULL)
        batch.release(&batch);
    stream.release(&stream);
    return done;
}

/* A child that says through `ready` that it owns the root, and waits for the other end. */
static pid_t start_owner(int ready[2])
{
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        DatabaseError error;
        DataStore *store = data_store_create(root);
        close(ready[0]);
        if (store == NULL || !run(store, "CREATE TABLE IF NOT EXISTS t(a INT)", &error) ||
            write(ready[1], "y", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void test_owner(void **state)
{
    (void)state;
    int ready[2];
    DatabaseError error;
    char wanted[64];
    pid_t owner = start_owner(ready);
    DataStore *store = data_store_create(root);
    assert_non_null(store);
    for (int i = 0; i < 2; i++) {
        assert_false(run(store, "SELECT 1", &error));
        snprintf(wanted, sizeof wanted, "process %lld", (long long)owner);
        assert_non_null(strstr(error.text, wanted));
        assert_false(data_store_register(store, "", "a", "t", &error));
        assert_non_null(strstr(error.text, wanted));
    }
    /* Killed, it owns nothing any more, and what it committed is there. */
    assert_int_equal(kill(owner, SIGKILL), 0);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    assert_true(run(store, "INSERT INTO t VALUES (1)", &error));
    data_store_destroy(&store);
}

/* 8 processes begin one fresh data root at once: each row that was accepted is there once. */
static void test_race(void **state)
{
    (void)state;
    enum { CHILDREN = 8 };
    pid_t children[CHILDREN];
    fflush(NULL);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            DatabaseError error;
            char sql[128];
            bool done = false;
            log_stderr_enable(false);
            snprintf(sql, sizeof sql, "INSERT INTO r VALUES (%d)", i);
            for (int try = 0; try < 2000 && !done; try++) {
                DataStore *store = data_store_create(root);
                done = store != NULL && run(store, "CREATE TABLE IF NOT EXISTS r(a INT)", &error) &&
                       run(store, sql, &error);
                data_store_destroy(&store);
                if (!done && strstr(error.text, "belongs to another Caliper") == NULL) {
                    fprintf(stderr, "%s\n", error.text);
                    _exit(1);
                }
                if (!done)
                    usleep(5000);
            }
            _exit(done ? 0 : 2);
        }
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    DatabaseError error;
    DataStore *store = data_store_create(root);
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    assert_true(data_store_query(store, "", "SELECT count(*) * 100 + count(DISTINCT a) FROM r",
                                 &stream, &error));
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_true(((const int64_t *)batch.children[0]->buffers[1])[0] == 808);
    batch.release(&batch);
    stream.release(&stream);
    data_store_destroy(&store);
}

/* Killed at any moment while it writes: the store opens, nothing that returned is missing and
 * nothing is there twice. */
static void test_killed(void **state)
{
    (void)state;
    int64_t accepted = 0;
    unsigned seed = 20261202;
    for (int round = 0; round < 10; round++) {
        int progress[2];
        assert_int_equal(pipe(progress), 0);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            DatabaseError error;
            DataStore *store = data_store_create(root);
            close(progress[0]);
            if (!run(store, "CREATE TABLE IF NOT EXISTS k(a BIGINT)", &error))
                _exit(1);
            for (int64_t i = 0;; i++) {
                char sql[128];
                snprintf(sql, sizeof sql, "INSERT INTO k VALUES (%lld)",
                         (long long)(round * 1000000 + i));
                if (!run(store, sql, &error) || write(progress[1], &i, sizeof i) != sizeof i)
                    _exit(1);
                if (i % 50 == 49 && !run(store, "CHECKPOINT", &error))
                    _exit(1);
            }
        }
        close(progress[1]);
        int64_t last = -1;
        assert_int_equal(read(progress[0], &last, sizeof last), sizeof last);
        usleep((useconds_t)(rand_r(&seed) % 60000));
        assert_int_equal(kill(child, SIGKILL), 0);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        while (read(progress[0], &last, sizeof last) == sizeof last)
            ;
        close(progress[0]);
        accepted += last + 1;
        DatabaseError error;
        DataStore *store = data_store_create(root);
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        if (!data_store_query(store, "", "SELECT count(*), count(DISTINCT a) FROM k", &stream,
                              &error))
            fail_msg("%s", error.text);
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        int64_t rows = ((const int64_t *)batch.children[0]->buffers[1])[0];
        int64_t distinct = ((const int64_t *)batch.children[1]->buffers[1])[0];
        /* The one insert that was under way may be there or not. */
        assert_true(rows >= accepted && rows <= accepted + 1);
        assert_true(rows == distinct);
        accepted = rows;
        batch.release(&batch);
        stream.release(&stream);
        data_store_destroy(&store);
    }
    assert_true(accepted > 20);
}

static int64_t count_of(DataStore *store, const char *sql)
{
    DatabaseError error;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    if (!data_store_query(store, "", sql, &stream, &error)) {
        fprintf(stderr, "%s: %s\n", sql, error.text);
        return -1;
    }
    int64_t count = -1;
    if (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        count = ((const int64_t *)batch.children[0]->buffers[1])[0];
        batch.release(&batch);
    }
    stream.release(&stream);
    return count;
}

/* No room for more bytes: an answer, and no half statement; with room again the store goes on, in
 * the same process and without being opened anew by hand. */
static int fill_the_disk(void)
{
    struct rlimit limit;
    DatabaseError error = {.text = ""};
    signal(SIGXFSZ, SIG_IGN);
    log_stderr_enable(false);
    DataStore *store = data_store_create(root);
    if (!run(store, "CREATE TABLE f(i BIGINT, t VARCHAR)", &error))
        return 1;
    getrlimit(RLIMIT_FSIZE, &limit);
    struct rlimit small = {.rlim_cur = 3 << 20, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 60; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "INSERT INTO f SELECT %d, md5(random()::VARCHAR) || md5(random()::VARCHAR) FROM "
                 "range(2000)",
                 i);
        if (run(store, sql, &error))
            accepted++;
        else
            refused++;
    }
    if (accepted == 0 || refused == 0 || error.text[0] == '\0')
        return 2;
    setrlimit(RLIMIT_FSIZE, &limit);
    int64_t rows = count_of(store, "SELECT count(*) FROM f");
    if (rows != (int64_t)accepted * 2000) {
        fprintf(stderr, "%lld rows of %d statements\n", (long long)rows, accepted);
        return 3;
    }
    if (count_of(store, "SELECT count(*) FROM (SELECT i FROM f GROUP BY i HAVING count(*) <> "
                        "2000)") != 0)
        return 4;
    if (!run(store, "INSERT INTO f VALUES (-1, 'room again')", &error) ||
        !run(store, "CHECKPOINT", &error))
        return 5;
    data_store_destroy(&store);
    store = data_store_create(root);
    rows = count_of(store, "SELECT count(*) FROM f");
    data_store_destroy(&store);
    return rows == (int64_t)accepted * 2000 + 1 ? 0 : 6;
}

static void test_full(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(fill_the_disk());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_owner), TEST(test_race), TEST(test_killed),
                                       TEST(test_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
