/* Faults in each call of an applet are contained, whatever their kind: the applet is abandoned, its
 * neighbour loses no frame, the host stays usable, a reload starts the applet again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host_impl.h"
#include "core/sanitized.h"
#include "fault_fixture.h"

enum { FRAMES_AFTER = 1000 };

static const struct {
    const char *name;
    const char *signal;
} kinds[] = {
    {"null_write", "SIGSEGV at 0x10 in "},
    {"wild_read", "SIGSEGV at 0x70000 in "},
    {"null_call", "SIGSEGV at 0x0 in "},
    {"null_memcpy", "SIGSEGV at 0x0 in "},
    {"stack_overflow", "SIGSEGV at 0x"},
    {"abort", "SIGABRT in "},
    {"integer_divide", "SIGFPE at 0x"},
    {"illegal", "SIGILL at 0x"},
    {"bus", "SIGBUS at 0x"},
#if defined(__x86_64__) && !SANITIZED_THREAD /* see guard_walk.c */
    {"lost_stack", "SIGILL at 0x"},
#endif
    {"raise_segv", "SIGSEGV at 0x0 in "},
};

static const char *const calls[] = {"create", "initialize", "frame", "cleanup", "destroy"};

static uint32_t reclaims;
static CallerId reclaimed;
static bool reclaimed_leaked;

static void on_reclaim(void *user, CallerId owner, bool leaked)
{
    (void)user;
    reclaims++;
    reclaimed = owner;
    reclaimed_leaked = leaked;
}

/* Leads the applet through its life until the call has happened. */
static void live_until(FaultFixture *fixture, uint32_t index, const char *call)
{
    bool opened = host_open(fixture->host, index);
    bool in_open = strcmp(call, "create") == 0 || strcmp(call, "initialize") == 0;
    assert_int_equal(opened, !in_open);
    fixture_frames(fixture, 1);
    host_close(fixture->host, index);
    fixture_frames(fixture, 1);
}

static void check_one(const char *kind, const char *signal, const char *call)
{
    FaultFixture fixture;
    char behaviour[64];
    char reason[64];
    snprintf(behaviour, sizeof behaviour, "%s@%s", kind, call);
    snprintf(reason, sizeof reason, " in %s()", call);
    print_message("    %s\n", behaviour);
    fixture_begin(&fixture);
    assert_true(host_on_reclaim(fixture.host, on_reclaim, NULL));
    reclaims = 0;
    setenv("TEST_BEHAVIOUR", behaviour, 1);
    int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
    assert_true(index >= 0);
    CallerId serial = fixture_view(&fixture, (uint32_t)index).serial;
    uintptr_t image = fixture.host->applets[index]->life->library.first;
    live_until(&fixture, (uint32_t)index, call);

    AppletView view = fixture_view(&fixture, (uint32_t)index);
    assert_int_equal(view.state, APPLET_STATE_QUARANTINED);
    assert_non_null(strstr(view.reason, reason));
    assert_int_equal(strncmp(view.reason, signal, strlen(signal)), 0);
    assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
    assert_int_equal(fixture_logged(LOG_APPLET_STACK), 1);
    assert_int_equal(reclaims, 1);
    assert_int_equal(reclaimed, serial);
    assert_false(reclaimed_leaked);
    /* Abandoned: nothing is called any more. */
    assert_int_equal(fixture_noted("misbehaving destroy"), strcmp(call, "destroy") == 0);
    assert_false(host_open(fixture.host, (uint32_t)index));
    fixture_assert_healthy(&fixture, FRAMES_AFTER);

    unsetenv("TEST_BEHAVIOUR");
    assert_true(host_reload(fixture.host, (uint32_t)index));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_frames(&fixture, 5);
    view = fixture_view(&fixture, (uint32_t)index);
    assert_int_equal(view.state, APPLET_STATE_RUNNING);
    assert_int_equal(view.frames, 5);
    assert_int_not_equal(view.serial, serial);
    assert_true(fixture.host->applets[index]->life->library.first != image); /* not the old one */
    fixture_end(&fixture);
    assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
    assert_int_equal(fixture_noted("healthy cleanup"), 1);
}

static void test_every_fault_in_every_call(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++)
            check_one(kinds[k].name, kinds[k].signal, calls[c]);
    }
}

/* In the descriptor function there is no applet yet: host_add refuses. */
static void test_faults_in_the_descriptor(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        FaultFixture fixture;
        char behaviour[64];
        snprintf(behaviour, sizeof behaviour, "%s@descriptor", kinds[k].name);
        fixture_begin(&fixture);
        setenv("TEST_BEHAVIOUR", behaviour, 1);
        assert_int_equal(host_add(fixture.host, fixture_applet("misbehaving.so")), -1);
        unsetenv("TEST_BEHAVIOUR");
        assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
        assert_int_equal(host_applet_count(fixture.host), 1);
        fixture_assert_healthy(&fixture, FRAMES_AFTER);
        fixture_end(&fixture);
    }
}

/* The log's stack names the function that faulted, and the applet's library. */
static void test_stack_names_the_library(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    setenv("TEST_BEHAVIOUR", "null_write@frame", 1);
    int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_frames(&fixture, 1);
    unsetenv("TEST_BEHAVIOUR");
    assert_non_null(strstr(fixture_text(LOG_APPLET_STACK), "#0 misbehaving.so"));
    assert_non_null(strstr(fixture_text(LOG_APPLET_STACK), "#2 misbehaving.so"));
    fixture_end(&fixture);
}

static void test_exception_leaves_frame(void **state)
{
    (void)state;
#if SANITIZED_ADDRESS && defined(__clang__)
    print_message("skipped: clang's AddressSanitizer in a C program stops at any C++ exception\n");
    skip();
#endif
#if SANITIZED_THREAD
    /* Once this thread left abort() by a long jump out of a throw, TSan sees none of its locks any
     * more, and calls what they guard a race. */
    print_message("skipped: ThreadSanitizer loses sight of a thread's locks after this\n");
    skip();
#endif
    FaultFixture fixture;
    fixture_begin(&fixture);
    int32_t index = host_add(fixture.host, fixture_applet("throwing.so"));
    assert_true(index >= 0);
    assert_true(host_open(fixture.host, (uint32_t)index));
    for (int times = 0; times < 3; times++) {
        fixture_frames(&fixture, 1);
        AppletView view = fixture_view(&fixture, (uint32_t)index);
        assert_int_equal(view.state, APPLET_STATE_QUARANTINED);
        assert_string_equal(view.reason, "SIGABRT in frame()");
        fixture_assert_healthy(&fixture, FRAMES_AFTER);
        assert_true(host_reload(fixture.host, (uint32_t)index));
        assert_true(host_open(fixture.host, (uint32_t)index));
    }
    fixture_end(&fixture);
}

/* Bad text for the log is the applet's fault too, found inside the host. */
static void test_bad_pointer_given_to_the_log(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    setenv("TEST_BEHAVIOUR", "log_bad_pointer@frame", 1);
    int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_frames(&fixture, 1);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_view(&fixture, (uint32_t)index).state, APPLET_STATE_QUARANTINED);
    fixture_assert_healthy(&fixture, FRAMES_AFTER);
    fixture_end(&fixture);
}

/* Signal masks and handlers that an applet changes are put back. */
static void test_signals_are_put_back(void **state)
{
    (void)state;
    static const char *const first[] = {"block_signals@create", "steal_handlers@create",
                                        "steal_handlers@frame"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        FaultFixture fixture;
        fixture_begin(&fixture);
        setenv("TEST_BEHAVIOUR", first[i], 1);
        int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
        assert_true(host_open(fixture.host, (uint32_t)index));
        fixture_frames(&fixture, 1);
        assert_int_equal(fixture_logged(LOG_SIGNALS_TAKEN_BACK), i > 0);
        setenv("TEST_BEHAVIOUR", "null_write@frame", 1);
        fixture_frames(&fixture, 1);
        unsetenv("TEST_BEHAVIOUR");
        assert_int_equal(fixture_view(&fixture, (uint32_t)index).state, APPLET_STATE_QUARANTINED);
        fixture_assert_healthy(&fixture, FRAMES_AFTER);
        fixture_end(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fault_in_every_call),
        cmocka_unit_test(test_faults_in_the_descriptor),
        cmocka_unit_test(test_stack_names_the_library),
        cmocka_unit_test(test_exception_leaves_frame),
        cmocka_unit_test(test_bad_pointer_given_to_the_log),
        cmocka_unit_test(test_signals_are_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
