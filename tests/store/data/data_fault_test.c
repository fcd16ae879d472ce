/* caliper.data.v1 and a disk that fails: every call of the C library that writes, failing in turn,
 * ours and DuckDB's; a full file system; a limit on a file's size. After each: an answer, no half
 * statement, nothing moved aside, and the same store goes on when the disk works again. */
#include "data_room.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/log.h"
#include "core/sanitized.h"
#include "failing_io.h"

static char root[64];

static int begin(void **state)
{
    (void)state;
    failing_io_plan(NULL);
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
    data_room_make(root);
    return 0;
}

static int end(void **state)
{
    (void)state;
    failing_io_plan(NULL);
    store_folder_remove(root);
    return 0;
}

/* ---- Every call in turn ---- */

enum { STATEMENTS = 4, ROWS = 300 };

/* One life of a store: makes its file, writes STATEMENTS statements of ROWS rows, the third after a
 * checkpoint. Which of them returned: bits of *accepted. */
static DataStore *live(unsigned *accepted)
{
    DatabaseError error;
    char sql[128];
    *accepted = 0;
    DataStore *store = data_store_create(root);
    assert_non_null(store);
    for (int s = 0; s < STATEMENTS; s++) {
        if (s == 2)
            data_room_run(store, "CHECKPOINT", &error);
        snprintf(sql, sizeof sql, "INSERT INTO t SELECT %d::BIGINT, i FROM range(%d) t(i)", s,
                 ROWS);
        bool done =
            data_room_run(store, "CREATE TABLE IF NOT EXISTS t(s BIGINT, i BIGINT)", &error) &&
            data_room_run(store, sql, &error);
        if (!done && error.text[0] == '\0')
            fail_msg("statement %d was refused without a word", s);
        *accepted |= done ? 1u << s : 0;
    }
    return store;
}

/* What returned is there; each statement is whole or absent. */
static void check(DataStore *store, const char *plan, unsigned accepted)
{
    DatabaseError error;
    char sql[128];
    if (!data_room_run(store, "CREATE TABLE IF NOT EXISTS t(s BIGINT, i BIGINT)", &error))
        fail_msg("%s: %s", plan, error.text);
    for (int s = 0; s < STATEMENTS; s++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE s = %d", s);
        int64_t rows = data_room_number(store, sql);
        if (rows != ROWS && (rows != 0 || (accepted & 1u << s) != 0))
            fail_msg("%s: %lld rows of statement %d, accepted %d", plan, (long long)rows, s,
                     (accepted & 1u << s) != 0);
    }
    assert_int_equal(data_room_number(store, "SELECT count(*) FROM (SELECT s, i FROM t GROUP BY s, "
                                             "i HAVING count(*) > 1)"),
                     0);
    if (data_room_lost_a_file(root))
        fail_msg("%s: the database was moved aside", plan);
}

/* Calls `first` to `last` fail (0: all from then on). False: there are fewer calls than that. */
static bool one_life(FailingIo io)
{
    char plan[96];
    unsigned accepted = 0;
    DatabaseError error;
    end(NULL);
    begin(NULL);
    io.folder = root;
    failing_io_plan(&io);
    DataStore *store = live(&accepted);
    bool any = failing_io_failed() > 0;
    failing_io_plan(NULL);
    snprintf(plan, sizeof plan, "calls %u to %u (%s), error %d%s%s", io.first, io.last,
             failing_io_last(), io.error, io.short_writes ? ", half written" : "",
             io.reads ? ", with reads" : "");
    check(store, plan, accepted);
    if (!data_room_run(store, "INSERT INTO t VALUES (-1, 0)", &error))
        fail_msg("%s: after it, %s", plan, error.text);
    data_store_destroy(&store);
    store = data_store_create(root);
    check(store, plan, accepted);
    assert_int_equal(data_room_number(store, "SELECT count(*) FROM t WHERE s = -1"), 1);
    data_store_destroy(&store);
    return any;
}

/* A life takes seconds under sanitizers. */
static uint32_t stride(void)
{
#if SANITIZED_ADDRESS || SANITIZED_THREAD
    return 5;
#else
    return 1;
#endif
}

static uint32_t walk(FailingIo io, bool once, uint32_t step)
{
    uint32_t lives = 0;
    io.first = 1;
    io.last = once ? 1 : 0;
    for (; one_life(io); io.first += step) {
        lives++;
        io.last = once ? io.first + step : 0;
    }
    return lives;
}

static void test_every_call_once(void **state)
{
    (void)state;
    uint32_t lives = walk((FailingIo){.error = EIO}, true, stride());
    print_message("%u calls failed in turn\n", lives);
    assert_true(lives >= 20 / stride());
    walk((FailingIo){.error = ENOSPC, .short_writes = true}, true, 3 * stride());
}

static void test_every_call_from_then_on(void **state)
{
    (void)state;
    uint32_t lives = walk((FailingIo){.error = ENOSPC, .short_writes = true, .freeing_works = true},
                          false, stride());
    print_message("%u calls from which on all failed\n", lives);
    assert_true(lives >= 20 / stride());
}

/* A read that fails is no damage: the file stays where it is, with all that is in it. */
static void test_every_read(void **state)
{
    (void)state;
    unsigned accepted = 0;
    DatabaseError error;
    DataStore *store = live(&accepted);
    assert_int_equal(accepted, 15);
    data_store_destroy(&store);
    uint32_t number = 1;
    bool any = true;
    for (; any; number++) {
        failing_io_plan(&(FailingIo){
            .folder = root, .first = number, .last = number, .error = EIO, .reads = true});
        store = data_store_create(root);
        bool done = data_room_run(store, "SELECT sum(i) FROM t", &error);
        data_store_destroy(&store);
        any = failing_io_failed() > 0;
        failing_io_plan(NULL);
        assert_true(done || (any && error.text[0] != '\0'));
        store = data_store_create(root);
        check(store, "a read", accepted);
        data_store_destroy(&store);
        assert_int_equal(store_folder_count(root, "data.duckdb.damaged"), 0);
    }
    print_message("%u calls failed in turn\n", number - 2);
    assert_true(number > 5);
}

/* ---- No room ---- */

/* Inserts until some were refused; then `make_room` and on. Every statement is whole or absent, in
 * this process and after it. Answers what is wrong; NULL: nothing. */
static const char *fill_and_go_on(void (*make_room)(void))
{
    enum { INSERTS = 60, WIDE_ROWS = 2000 };
    DatabaseError error = {.text = ""};
    int accepted = 0;
    int refused = 0;
    static char wrong[256];
    DataStore *store = data_store_create(root);
    if (!data_room_run(store, "CREATE TABLE f(i BIGINT, t VARCHAR)", &error))
        return "the table is refused";
    for (int i = 0; i < INSERTS; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "INSERT INTO f SELECT %d, md5(random()::VARCHAR) || md5(random()::VARCHAR) FROM "
                 "range(%d)",
                 i, WIDE_ROWS);
        bool done = data_room_run(store, sql, &error);
        accepted += done;
        refused += !done;
        if (!done && error.text[0] == '\0')
            return "refused without a word";
    }
    if (accepted == 0 || refused == 0)
        return "nothing was accepted, or nothing refused";
    make_room();
    for (int life = 0; life < 2; life++) {
        int64_t rows = data_room_number(store, "SELECT count(*) FROM f WHERE i >= 0");
        int64_t halves = data_room_number(store, "SELECT count(*) FROM (SELECT i FROM f WHERE i >= "
                                                 "0 GROUP BY i HAVING count(*) <> 2000)");
        snprintf(wrong, sizeof wrong, "%lld rows, %lld half statements, %d accepted",
                 (long long)rows, (long long)halves, accepted);
        if (rows != (int64_t)accepted * WIDE_ROWS || halves != 0)
            return wrong;
        if (!data_room_run(store, "INSERT INTO f VALUES (-1, 'room again')", &error) ||
            !data_room_run(store, "CHECKPOINT", &error))
            return "there is room again, and it is refused";
        data_store_destroy(&store);
        store = data_store_create(root);
    }
    int64_t again = data_room_number(store, "SELECT count(*) FROM f WHERE i = -1");
    data_store_destroy(&store);
    print_message("%d accepted, %d refused\n", accepted, refused);
    return again != 2                    ? "what was written with room again is not there"
           : data_room_lost_a_file(root) ? "the database was moved aside"
                                         : NULL;
}

static void enlarge_disk(void)
{
    assert_int_equal(mount("tmpfs", root, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

static void test_full_disk(void **state)
{
    (void)state;
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", root, "tmpfs", 0, "size=3m") != 0) {
        print_message("skipped: a small file system needs root and mount (%s)\n", strerror(errno));
        skip();
    }
    const char *wrong = fill_and_go_on(enlarge_disk);
    if (wrong != NULL)
        fail_msg("%s", wrong);
    umount2(root, MNT_DETACH);
}

static struct rlimit no_limit;

static void lift_limit(void)
{
    setrlimit(RLIMIT_FSIZE, &no_limit);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    getrlimit(RLIMIT_FSIZE, &no_limit);
    struct rlimit small = {.rlim_cur = 3 << 20, .rlim_max = no_limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const char *wrong = fill_and_go_on(lift_limit);
    lift_limit();
    signal(SIGXFSZ, SIG_DFL);
    if (wrong != NULL)
        fail_msg("%s", wrong);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {TEST(test_every_call_once), TEST(test_every_read),
                                       TEST(test_every_call_from_then_on),
                                       TEST(test_file_size_limit), TEST(test_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
