/* An applet's life as the contract says it: order of calls, closing and its wait for jobs, what is
 * taken back, the watchdog, new builds of a library, two applets of one id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/host_impl.h"
#include "fault_fixture.h"

/* Time under the test's control: every look at the clock takes `step_sec`. */
static double fake_sec, step_sec;

static double fake_now(void)
{
    fake_sec += step_sec;
    return fake_sec;
}

static uint32_t polls, polls_until_ended;
static uint32_t reclaims;
static bool reclaimed_leaked;
static CallerId reclaimed_owner;
static char reclaim_saw[64]; /* what had been noted when the reclaim came */

static bool on_quiesce(void *user, CallerId owner)
{
    (void)owner;
    assert_ptr_equal(user, &polls);
    return ++polls > polls_until_ended;
}

static void on_reclaim(void *user, CallerId owner, bool leaked)
{
    (void)user;
    reclaims++;
    reclaimed_owner = owner;
    reclaimed_leaked = leaked;
    snprintf(reclaim_saw, sizeof reclaim_saw, "%s",
             fixture_noted("create initialize frame cleanup destroy ") > 0 ? "destroyed" : "alive");
}

static void begin(FaultFixture *fixture, uint32_t jobs_poll_count)
{
    fixture_begin(fixture);
    polls = 0;
    polls_until_ended = jobs_poll_count;
    reclaims = 0;
    fake_sec = 1000.0;
    step_sec = 0.0;
    fixture->host->now_sec = fake_now;
    assert_true(host_on_quiesce(fixture->host, on_quiesce, &polls));
    assert_true(host_on_reclaim(fixture->host, on_reclaim, NULL));
}

static uint32_t add_recorder(FaultFixture *fixture, const char *path)
{
    int32_t index = host_add(fixture->host, path);
    assert_true(index >= 0);
    return (uint32_t)index;
}

static void test_order_of_calls(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 0);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    AppletView view = fixture_view(&fixture, index);
    assert_int_equal(view.state, APPLET_STATE_READY);
    assert_string_equal(view.id, "org.caliper.test.recorder");
    assert_string_equal(view.version, "1.0.0");
    assert_string_equal(view.name, "Recorder 1.0.0");
    assert_string_equal(view.summary, "Writes down its calls");
    assert_string_equal(view.tag, "test");
    assert_string_equal(caller_name(view.serial), view.id);
    CaliperFrameInfo info;
    host_clock_tick(fixture.host, 1280, 800, 1.0f, &info);
    assert_false(host_frame(fixture.host, index, &info)); /* not running yet */
    assert_true(host_open(fixture.host, index));
    assert_false(host_open(fixture.host, index)); /* once is enough */
    fixture_frames(&fixture, 1);
    host_close(fixture.host, index);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_CLOSING);
    assert_false(host_frame(fixture.host, index, &info));
    host_close(fixture.host, index); /* nothing more */
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 0);
    host_end_frame(fixture.host); /* the frame that may name its textures has been drawn */
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 1);
    assert_int_equal(reclaims, 1);
    assert_true(reclaimed_leaked);
    assert_string_equal(reclaim_saw, "destroyed");
    view = fixture_view(&fixture, index);
    assert_int_equal(view.state, APPLET_STATE_READY);
    assert_string_equal(view.reason, "");
    /* And again. */
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 1);
    assert_int_equal(fixture_view(&fixture, index).frames, 1);
    fixture_end(&fixture); /* closes it */
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 2);
}

static void test_close_waits_for_jobs(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 5);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 1);
    host_close(fixture.host, index);
    for (uint32_t frame = 0; frame < 5; frame++) {
        fixture_assert_healthy(&fixture, 1); /* others keep drawing */
        assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_CLOSING);
    }
    assert_int_equal(polls, 5);
    fixture_frames(&fixture, 1);
    assert_int_equal(polls, 6);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_READY);
    assert_int_equal(fixture_logged(LOG_APPLET_JOBS_REMAIN), 0);
    fixture_end(&fixture);
}

static void test_close_gives_up_after_two_seconds(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 1000000);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 1);
    CallerId serial = fixture_view(&fixture, index).serial;
    uintptr_t image = fixture.host->applets[index]->life->library.first;
    host_close(fixture.host, index);
    fake_sec += 1.99;
    host_end_frame(fixture.host);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_CLOSING);
    fake_sec += 0.02;
    host_end_frame(fixture.host);
    AppletView view = fixture_view(&fixture, index);
    assert_int_equal(view.state, APPLET_STATE_READY);
    assert_string_equal(view.reason, "a job of it still runs");
    assert_int_equal(fixture_logged(LOG_APPLET_JOBS_REMAIN), 1);
    /* Its job may use what cleanup and destroy would free. */
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 0);
    assert_int_equal(reclaims, 0);
    /* The old image is still there for its job; a new life has one of its own. */
    assert_true(host_open(fixture.host, index));
    assert_int_not_equal(fixture_view(&fixture, index).serial, serial);
    assert_true(fixture.host->applets[index]->life->library.first != image);
    fixture_assert_healthy(&fixture, 3);
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 0);
    polls_until_ended = 0; /* the job ends: now the old life does */
    host_end_frame(fixture.host);
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 1);
    assert_int_equal(reclaims, 1);
    assert_int_equal(reclaimed_owner, serial);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_RUNNING);
    fixture_end(&fixture);
}

/* Two lives linger, and the host ends before their jobs: neither is cleaned up nor unloaded. */
static void test_lives_that_outlast_the_host(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 1000000);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    for (int life = 0; life < 2; life++) {
        assert_true(host_open(fixture.host, index));
        fixture_frames(&fixture, 1);
        host_close(fixture.host, index);
        fake_sec += 2.1;
        host_end_frame(fixture.host);
        assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_READY);
        assert_string_equal(fixture_view(&fixture, index).reason, "a job of it still runs");
    }
    assert_int_equal(fixture_logged(LOG_APPLET_JOBS_REMAIN), 2);
    step_sec = 0.1; /* for the healthy applet, which is closed now */
    fixture_end(&fixture);
    assert_int_equal(fixture_noted("create initialize frame cleanup destroy "), 0);
    assert_int_equal(reclaims, 3); /* the healthy one's too */
}

/* Without memory for that the old life is abandoned. */
static void test_lingering_without_memory(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 1000000);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 1);
    host_close(fixture.host, index);
    fake_sec += 2.1;
    assert_true(fault_set_plan("applets.alloc:1"));
    host_end_frame(fixture.host);
    fault_set_plan(NULL);
    assert_int_equal(fixture_logged(LOG_OUT_OF_MEMORY), 1);
    assert_int_equal(reclaims, 1);
    assert_false(reclaimed_leaked);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_READY);
    assert_true(host_open(fixture.host, index));
    polls_until_ended = 0;
    fixture_end(&fixture);
}

static void test_failures_to_start(void **state)
{
    (void)state;
    static const struct {
        const char *behaviour, *reason;
        uint32_t destroys;
    } cases[] = {{"null@create", "create() answered NULL", 0},
                 {"false@initialize", "initialize() answered false", 1}};
    for (size_t i = 0; i < 2; i++) {
        FaultFixture fixture;
        begin(&fixture, 0);
        setenv("TEST_BEHAVIOUR", cases[i].behaviour, 1);
        uint32_t index = add_recorder(&fixture, fixture_applet("misbehaving.so"));
        assert_false(host_open(fixture.host, index));
        AppletView view = fixture_view(&fixture, index);
        assert_int_equal(view.state, APPLET_STATE_FAILED);
        assert_string_equal(view.reason, cases[i].reason);
        assert_int_equal(fixture_complaints(), 1);
        assert_int_equal(fixture_noted("misbehaving destroy"), cases[i].destroys);
        assert_int_equal(fixture_noted("misbehaving cleanup"), 0);
        assert_int_equal(reclaims, 1);
        assert_false(host_open(fixture.host, index));
        unsetenv("TEST_BEHAVIOUR");
        assert_true(host_reload(fixture.host, index));
        assert_true(host_open(fixture.host, index));
        assert_false(host_reload(fixture.host, index)); /* it runs */
        fixture_assert_healthy(&fixture, 10);
        fixture_end(&fixture);
    }
}

/* One frame in which the applet seems to take so long. */
static void frame_of(FaultFixture *fixture, uint32_t index, double seconds)
{
    CaliperFrameInfo info;
    host_clock_tick(fixture->host, 1280, 800, 1.0f, &info);
    step_sec = seconds;
    assert_true(host_frame(fixture->host, index, &info));
    step_sec = 0.0;
}

static void test_watchdog(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 0);
    uint32_t index = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    assert_true(host_open(fixture.host, index));
    frame_of(&fixture, index, 0.26);
    frame_of(&fixture, index, 0.26);
    assert_false(fixture_view(&fixture, index).slow);
    frame_of(&fixture, index, 0.25); /* not over: starts anew */
    frame_of(&fixture, index, 0.26);
    frame_of(&fixture, index, 0.26);
    assert_false(fixture_view(&fixture, index).slow);
    assert_int_equal(fixture_logged(LOG_APPLET_SLOW), 0);
    frame_of(&fixture, index, 0.5);
    assert_true(fixture_view(&fixture, index).slow);
    assert_true(fixture_view(&fixture, index).last_frame_sec > 0.49);
    frame_of(&fixture, index, 0.5);
    assert_int_equal(fixture_logged(LOG_APPLET_SLOW), 1);
    assert_non_null(strstr(fixture_text(LOG_APPLET_SLOW), "caliper.jobs.v1"));
    frame_of(&fixture, index, 0.01);
    assert_false(fixture_view(&fixture, index).slow);
    fixture_end(&fixture);
}

static void copy_file(const char *from, const char *to)
{
    char command[1200];
    /* A new file under the old name, as a linker makes it. */
    snprintf(command, sizeof command, "rm -f '%s' && cp '%s' '%s'", to, from, to);
    assert_int_equal(system(command), 0);
}

static void test_new_builds_of_a_library(void **state)
{
    (void)state;
    FaultFixture fixture;
    char path[512];
    begin(&fixture, 0);
    snprintf(path, sizeof path, "%s/built.so", fixture.data_dir);
    copy_file(fixture_applet("recorder_1.so"), path);
    uint32_t index = add_recorder(&fixture, path);
    assert_int_equal(add_recorder(&fixture, path), index); /* it is in the list already */
    assert_true(host_open(fixture.host, index));
    host_close(fixture.host, index);
    fixture_frames(&fixture, 1);
    /* Closed: the next start opens what is there now. */
    copy_file(fixture_applet("recorder_2.so"), path);
    assert_true(host_open(fixture.host, index));
    assert_string_equal(fixture_view(&fixture, index).version, "2.0.0");
    host_close(fixture.host, index);
    fixture_frames(&fixture, 1);
    /* Something else altogether under that name. */
    copy_file(fixture_applet("misbehaving.so"), path);
    assert_false(host_open(fixture.host, index));
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_FAILED);
    assert_string_equal(fixture_view(&fixture, index).id, "org.caliper.test.recorder");
    copy_file(fixture_applet("recorder_1.so"), path);
    assert_true(host_reload(fixture.host, index));
    assert_true(host_open(fixture.host, index));
    assert_string_equal(fixture_view(&fixture, index).version, "1.0.0");
    fixture_end(&fixture);
}

/* A new build is opened even where the old image stays, and one that came before the first start.
 */
static void test_new_builds_where_the_old_stays(void **state)
{
    (void)state;
    FaultFixture fixture;
    char path[512];
    begin(&fixture, 0);
    snprintf(path, sizeof path, "%s/built.so", fixture.data_dir);
    copy_file(fixture_applet("recorder_1.so"), path);
    uint32_t index = add_recorder(&fixture, path);
    copy_file(fixture_applet("recorder_stays.so"), path);
    assert_true(host_open(fixture.host, index));
    assert_string_equal(fixture_view(&fixture, index).version, "3.0.0");
    host_close(fixture.host, index);
    fixture_frames(&fixture, 1);
    assert_true(host_open(fixture.host, index)); /* the same build */
    host_close(fixture.host, index);
    fixture_frames(&fixture, 1);
    copy_file(fixture_applet("recorder_2.so"), path);
    assert_true(host_open(fixture.host, index));
    assert_string_equal(fixture_view(&fixture, index).version, "2.0.0");
    fixture_end(&fixture);
    assert_int_equal(fixture_complaints(), 0);
}

static void test_two_of_one_id(void **state)
{
    (void)state;
    FaultFixture fixture;
    begin(&fixture, 0);
    uint32_t first = add_recorder(&fixture, fixture_applet("recorder_1.so"));
    uint32_t second = add_recorder(&fixture, fixture_applet("recorder_2.so"));
    assert_int_equal(fixture_view(&fixture, first).state, APPLET_STATE_READY);
    AppletView view = fixture_view(&fixture, second);
    assert_int_equal(view.state, APPLET_STATE_UNAVAILABLE);
    assert_non_null(strstr(view.reason, "was found first"));
    assert_non_null(strstr(view.reason, "recorder_1.so"));
    assert_int_equal(host_find(fixture.host, "org.caliper.test.recorder"), first);
    assert_int_equal(host_find(fixture.host, "org.caliper.test.nobody"), -1);
    assert_int_equal(host_find(fixture.host, NULL), -1);
    assert_false(host_open(fixture.host, second));
    assert_false(host_reload(fixture.host, second));
    assert_true(host_open(fixture.host, first));
    assert_false(host_open(fixture.host, 77));
    host_close(fixture.host, 77);
    assert_false(host_reload(fixture.host, 77));
    AppletView none;
    assert_false(host_applet(fixture.host, 77, &none));
    fixture_end(&fixture);
}

/* Copies of processes that are gone are deleted when a host starts, those of this one are not. */
static void test_old_copies_are_deleted(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    char root[] = "/tmp/caliper-cache-XXXXXX";
    char path[400];
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/cache", root);
    assert_int_equal(mkdir(path, 0700), 0);
    char gone[500];
    char ours[500];
    snprintf(gone, sizeof gone, "%s/a.so-%ld-1.so", path, (long)child);
    snprintf(ours, sizeof ours, "%s/a.so-%ld-1.so", path, (long)getpid());
    copy_file("/dev/null", gone);
    copy_file("/dev/null", ours);
    HostParams params = {.struct_size = sizeof params, .data_dir = root};
    Host *host = host_create(&params);
    assert_non_null(host);
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_int_equal(access(ours, F_OK), 0);
    host_destroy(&host);
    snprintf(path, sizeof path, "rm -rf %s", root);
    assert_int_equal(system(path), 0);
}

/* ---- Every failure on the way, once ---- */

/* The whole of a life, with whatever works of it. */
static void live(const char *root)
{
    HostParams params = {.struct_size = sizeof params,
                         .data_dir = root,
                         .applet_dirs = (const char *const[]){"/nonexistent", NULL},
                         .builtin_applet_dir = "/nonexistent"};
    Host *host = host_create(&params);
    if (host == NULL)
        return;
    host_service_register(host, "org.caliper.test.something", &params);
    int32_t index = host_add(host, fixture_applet("misbehaving.so"));
    if (index >= 0 && host_open(host, (uint32_t)index)) {
        CaliperFrameInfo info;
        host_clock_tick(host, 640, 480, 1.0f, &info);
        host_frame(host, (uint32_t)index, &info);
        host_end_frame(host);
    }
    if (index >= 0 && host_reload(host, (uint32_t)index))
        host_open(host, (uint32_t)index);
    host_destroy(&host);
    assert_null(host);
}

static void test_every_failure(void **state)
{
    (void)state;
    char root[] = "/tmp/caliper-fail-XXXXXX";
    char command[300];
    assert_non_null(mkdtemp(root));
    log_stderr_enable(false);
    setenv("TEST_BEHAVIOUR", "null_write@frame", 1);
    uint32_t n = 0;
    uint32_t injected = 0;
    do {
        char plan[32];
        snprintf(plan, sizeof plan, "%u", ++n);
        snprintf(command, sizeof command, "rm -rf %s/*", root);
        assert_int_equal(system(command), 0);
        assert_true(fault_set_plan(plan));
        live(root);
        injected = fault_injected();
    } while (injected > 0);
    fault_set_plan(NULL);
    unsetenv("TEST_BEHAVIOUR");
    assert_true(n > 20); /* there were that many ways to fail */
    print_message("    %u ways to fail\n", n - 1);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_close_waits_for_jobs),
        cmocka_unit_test(test_close_gives_up_after_two_seconds),
        cmocka_unit_test(test_lives_that_outlast_the_host),
        cmocka_unit_test(test_lingering_without_memory),
        cmocka_unit_test(test_failures_to_start),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_new_builds_of_a_library),
        cmocka_unit_test(test_new_builds_where_the_old_stays),
        cmocka_unit_test(test_two_of_one_id),
        cmocka_unit_test(test_old_copies_are_deleted),
        cmocka_unit_test(test_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
