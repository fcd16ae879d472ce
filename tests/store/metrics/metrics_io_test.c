/* A disk that fails under the metrics store: every call of the C library that writes, ours and
 * DuckDB's, failing in turn, once and from then on; and every read. The caller goes on, nothing is
 * lost or comes twice, and nothing sound is moved aside. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sanitized.h"
#include "failing_io.h"
#include "metrics_life.h"

static char *const root = fixture_folder;

static int set_up(void **state)
{
    failing_io_plan(NULL);
    return fixture_set_up(state);
}

static int tear_down(void **state)
{
    failing_io_plan(NULL);
    return fixture_tear_down(state);
}

/* A life takes seconds under sanitizers. */
static uint32_t stride(void)
{
#if SANITIZED_ADDRESS || SANITIZED_THREAD
    return 7;
#else
    return 2;
#endif
}

/* Until it is durable, or writing is known to fail. */
static void wait_for_writer(MetricsStore *store)
{
    MetricsStatus status;
    do {
        usleep(1000);
        metrics_store_status(store, &status);
    } while (status.state == METRICS_STATE_FINE && status.rows_committed < status.rows_accepted);
}

static void log_under(const FailingIo *io, const char *plan)
{
    failing_io_plan(io);
    MetricsStore *store = fixture_store(root);
    /* While the disk fails a run may have no number, and one try says so. */
    uint64_t run = io->last == 0 ? metrics_store_begin_run(store, "e", "n") : life_begin(store);
    if (run == 0) {
        failing_io_plan(NULL);
        run = life_begin(store);
    }
    if (run == 0)
        fail_msg("%s: no run begins", plan);
    life_values(store, run);
    wait_for_writer(store);
    failing_io_plan(NULL);
    if (!metrics_store_flush(store, 120000))
        fail_msg("%s: not durable after it", plan);
    MetricsStatus status;
    metrics_store_status(store, &status);
    assert_int_equal(status.state, METRICS_STATE_FINE);
    assert_int_equal(status.rows_dropped, 0);
    metrics_store_destroy(&store);
}

/* False: there are fewer calls than that. `beside`: another process owns the data root until the
 * life is over, so that it writes a spool file, which the next owner takes over. */
static bool one_life(FailingIo io, bool beside)
{
    char plan[96];
    tear_down(NULL);
    set_up(NULL);
    io.folder = root;
    snprintf(plan, sizeof plan, "calls %u to %u, error %d", io.first, io.last, io.error);
    pid_t owner = beside ? fixture_owner_start(root) : 0;
    log_under(&io, plan);
    bool any = failing_io_failed() > 0;
    snprintf(plan, sizeof plan, "calls %u to %u (%s), error %d%s%s", io.first, io.last,
             failing_io_last(), io.error, io.short_writes ? ", half written" : "",
             beside ? ", beside an owner" : "");
    if (beside) {
        fixture_owner_end(owner);
        MetricsStore *store = fixture_store(root);
        fixture_query(store, "SELECT count(*) FROM runs");
        metrics_store_destroy(&store);
    }
    life_check(root, 1, plan);
    return any;
}

static uint32_t walk(FailingIo io, bool once, bool beside)
{
    uint32_t lives = 0;
    io.first = 1;
    io.last = once ? 1 : 0;
    for (; one_life(io, beside); io.first += stride()) {
        lives++;
        io.last = once ? io.first + stride() : 0;
    }
    print_message("up to call %u\n", io.first);
    return lives;
}

static void test_every_call_once(void **state)
{
    (void)state;
    assert_true(walk((FailingIo){.error = EIO}, true, false) >= 14 / stride());
}

static void test_every_call_from_then_on(void **state)
{
    (void)state;
    FailingIo full = {.error = ENOSPC, .short_writes = true, .freeing_works = true};
    assert_true(walk(full, false, false) >= 14 / stride());
}

static void test_every_call_beside_an_owner(void **state)
{
    (void)state;
    assert_true(walk((FailingIo){.error = EIO, .short_writes = true}, true, true) >= 14 / stride());
}

static void test_every_read(void **state)
{
    (void)state;
    uint32_t number = 1;
    bool any = true;
    int lives = 0;
    for (; any; number += stride()) {
        FailingIo io = {
            .folder = root, .first = number, .last = number, .error = EIO, .reads = true};
        log_under(&io, "a read");
        any = failing_io_failed() > 0;
        lives++;
        if (store_folder_count(root, "metrics.duckdb.damaged") > 0)
            fail_msg("call %u (%s): moved aside", number, failing_io_last());
    }
    life_check(root, lives, "reads");
}

/* An argument: only the tests that it matches. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_call_once),
        TEST(test_every_call_from_then_on),
        TEST(test_every_call_beside_an_owner),
        TEST(test_every_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
