/* caliper.data.v1 and other processes: one owns the data root, the others are told who does. */
#include "database_fixture.h"

#include <signal.h>
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_owner), TEST(test_race), TEST(test_killed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
