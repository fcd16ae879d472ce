/* caliper.data.v1 when something ends or fails: the host, the memory, the engine, an applet's
 * pointers, the file. */
#include "data_service_fixture.h"

#include <errno.h>
#include <pthread.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/sanitized.h"

/* The host ends with streams open: EIO and the reason; calls through the table are refused. */
static void test_host_end(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct ArrowArray kept;
    assert_true(data->query("SELECT range FROM range(100000)", &stream));
    assert_int_equal(stream.get_next(&stream, &kept), 0);
    host_destroy(&host);
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_string_equal(stream.get_last_error(&stream), "the store is closed");
    assert_true(((const int64_t *)kept.children[0]->buffers[1])[2047] == 2047);
    struct ArrowArrayStream none;
    assert_false(data->query("SELECT 1", &none));
    assert_string_equal(data->last_error(), "the store is closed");
    assert_false(data->register_dataset("a", "t"));
    assert_false(data->open_dataset("a", &none));
    stream.release(&stream);
    kept.release(&kept);
    start_host();
    assert_true(number("SELECT 3::BIGINT") == 3);
}

static void *run_long(void *user)
{
    struct ArrowArrayStream stream;
    atomic_store((atomic_bool *)user, true);
    if (data->query("SELECT count(*) FROM range(100000000000)", &stream))
        return (void *)"it returned";
    return strcmp(data->last_error(), "the store is closed") == 0 ? NULL : (void *)"another error";
}

/* The host ends while a call runs that would take minutes. */
static void test_host_end_in_call(void **state)
{
    (void)state;
    pthread_t thread;
    atomic_bool started = false;
    void *wrong = NULL;
    assert_true(number("SELECT 1::BIGINT") == 1);
    assert_int_equal(pthread_create(&thread, NULL, run_long, &started), 0);
    while (!atomic_load(&started))
        usleep(1000);
    usleep(50000);
    host_destroy(&host);
    pthread_join(thread, &wrong);
    if (wrong != NULL)
        fail_msg("%s", (const char *)wrong);
}

/* What cannot be opened is said, and opening is tried again by the next call. */
static void test_faults(void **state)
{
    (void)state;
    static const char *const sites[] = {"owner.open",
                                        "owner.lock",
                                        "store.database.alloc",
                                        "store.database.configure",
                                        "store.database.open",
                                        "store.database.connect",
                                        "store.database.run",
                                        "store.session.alloc",
                                        "store.statement.prepare",
                                        "store.session.execute",
                                        "store.stream.alloc",
                                        "store.stream.schema",
                                        "store.schema.alloc",
                                        "store.data.alloc"};
    CallerId applet = caller_register("org.caliper.faults");
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        for (int call = 1; call < 4; call++) {
            char plan[64];
            struct ArrowArrayStream stream;
            host_destroy(&host);
            start_host();
            CallerId before = caller_enter(applet);
            snprintf(plan, sizeof plan, "%s:%d", sites[i], call);
            assert_true(fault_set_plan(plan));
            int lines = atomic_load(&refusals);
            bool done = data->query("SELECT 1::BIGINT", &stream);
            uint32_t injected = fault_injected();
            fault_set_plan(NULL);
            if (done)
                stream.release(&stream);
            if (call == 1 && injected != 1)
                fail_msg("%s is never asked", sites[i]);
            if (done != (injected == 0))
                fail_msg("%s: done %d", plan, done);
            assert_int_equal(atomic_load(&refusals), lines + !done);
            assert_true(number("SELECT 5::BIGINT") == 5);
            caller_leave(before);
        }
    }
}

/* After a fatal error DuckDB refuses everything until the file is opened anew: the next call does
 * that, and what was committed is there. */
static void test_fatal(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArrayStream none;
    struct ArrowArray batch;
    run("CREATE TABLE kept AS SELECT 5::BIGINT AS a");
    assert_true(data->query("SELECT range FROM range(100000)", &stream));
    assert_true(fault_set_plan("store.session.fatal:1"));
    assert_false(data->query("SELECT 1", &none));
    fault_set_plan(NULL);
    assert_non_null(strstr(data->last_error(), "fatal"));
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_string_equal(stream.get_last_error(&stream), "the store is closed");
    assert_true(number("SELECT a FROM kept") == 5);
    stream.release(&stream);
}

static void query_nowhere(void *argument)
{
    data->query((const char *)(uintptr_t)4096, argument);
}

static void register_nowhere(void *argument)
{
    (void)argument;
    data->register_dataset("name", (const char *)(uintptr_t)4096);
}

static void answer_nowhere(void *argument)
{
    (void)argument;
    data->query("SELECT 1", (struct ArrowArrayStream *)(uintptr_t)4096);
}

/* On the frame thread a pointer to nowhere ends the applet's call, and the store goes on. */
static void test_bad_pointers(void **state)
{
    (void)state;
    static void (*const calls[])(void *) = {query_nowhere, register_nowhere, answer_nowhere};
    struct ArrowArrayStream stream;
    if (SANITIZED_ADDRESS || SANITIZED_THREAD) {
        print_message("skipped: a sanitizer ends the process before the guard sees it\n");
        skip();
    }
    assert_true(number("SELECT 1::BIGINT") == 1);
    guard_retake_handlers(); /* the host's, from the test runner */
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        GuardFault fault;
        assert_false(
            guard_call(&(GuardCall){.what = "a call", .call = calls[i], .arg = &stream}, &fault));
        assert_int_equal(fault.signal, 11);
        assert_true(number("SELECT 2::BIGINT") == 2);
    }
    host_destroy(&host); /* nothing is held that would keep it from ending */
    start_host();
    assert_true(number("SELECT 3::BIGINT") == 3);
}

/* A damaged file is moved aside, with a line that says where, and never deleted. */
static void test_damaged(void **state)
{
    (void)state;
    char path[128];
    run("CREATE TABLE t AS SELECT 1 AS a");
    host_destroy(&host);
    write_file("data.duckdb", "these are not the bytes of a database, whatever they once were");
    snprintf(path, sizeof path, "%s/data.duckdb", root);
    start_host();
    int lines = atomic_load(&warnings);
    assert_true(number("SELECT 2::BIGINT") == 2);
    assert_int_equal(atomic_load(&warnings), lines + 1);
    char wanted[192]; /* where it is now */
    snprintf(wanted, sizeof wanted, "%s.damaged-", path);
    assert_non_null(strstr(warning, wanted));
    check_refused("SELECT * FROM t", "t");
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM read_text('%s/data.duckdb.damaged-*') WHERE content LIKE "
             "'these are not the bytes%%'",
             root);
    assert_true(number(sql) == 1);
}

int main(void)
{
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        TEST(test_host_end), TEST(test_host_end_in_call), TEST(test_faults),
        TEST(test_fatal),    TEST(test_bad_pointers),     TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
