/* Calls that do not return are ended by the watcher; nothing here depends on how long that takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host_impl.h"
#include "core/sanitized.h"
#include "fault_fixture.h"

static void check_hang(const char *kind, const char *call)
{
    FaultFixture fixture;
    char behaviour[64];
    char reason[64];
    snprintf(behaviour, sizeof behaviour, "%s@%s", kind, call);
    snprintf(reason, sizeof reason, "%s() did not return and was ended", call);
    print_message("    %s\n", behaviour);
    fixture_begin(&fixture);
    setenv("TEST_BEHAVIOUR", behaviour, 1);
    int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
    assert_true(index >= 0);
    host_open(fixture.host, (uint32_t)index);
    fixture_frames(&fixture, 1);
    host_close(fixture.host, (uint32_t)index);
    fixture_frames(&fixture, 1);
    AppletView view = fixture_view(&fixture, (uint32_t)index);
    assert_int_equal(view.state, APPLET_STATE_QUARANTINED);
    assert_int_equal(strncmp(view.reason, reason, strlen(reason)), 0);
    assert_int_equal(fixture_logged(LOG_APPLET_HANGS), 1);
    assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
    /* The short limit has done its work; on a busy machine it could hit the neighbour. */
    watch_destroy(&fixture.host->watch);
    fixture_assert_healthy(&fixture, 1000);
    unsetenv("TEST_BEHAVIOUR");
    assert_true(host_reload(fixture.host, (uint32_t)index));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_end(&fixture);
}

static void test_calls_that_do_not_return(void **state)
{
    (void)state;
    static const char *const calls[] = {"create", "initialize", "frame", "cleanup", "destroy"};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
        check_hang("spin", calls[c]);
    check_hang("sleep", "frame");
    check_hang("sleep", "initialize");
    check_hang("deadlock", "frame");
    check_hang("deadlock", "destroy");
}

static void test_descriptor_that_does_not_return(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    setenv("TEST_BEHAVIOUR", "spin@descriptor", 1);
    assert_int_equal(host_add(fixture.host, fixture_applet("misbehaving.so")), -1);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
    watch_destroy(&fixture.host->watch);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

/* A limit that cannot be read is one line, and the usual one holds. */
static void test_limits_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const limits[] = {"soon", "-1", "nan", "inf", "1s"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        FaultFixture fixture;
        setenv("CALIPER_HANG_LIMIT", limits[i], 1);
        fixture_begin(&fixture);
        assert_int_equal(fixture_logged(LOG_HANG_LIMIT_REFUSED), 1);
        fixture_end(&fixture);
    }
}

int main(void)
{
#if SANITIZED_THREAD
    /* It delivers signals only when the thread enters the C library, which a spinning one never
     * does, and then from inside its own code, where there is no stack to be walked. */
    printf("skipped: ThreadSanitizer holds signals back from code that spins\n");
    return 77;
#endif
    setenv("CALIPER_HANG_LIMIT", "0.2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_do_not_return),
        cmocka_unit_test(test_descriptor_that_does_not_return),
        cmocka_unit_test(test_limits_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
