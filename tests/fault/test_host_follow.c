/* An applet that is loaded again when its files change, however they change; the neighbour runs on
 * with every frame exact. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "fault_fixture.h"

static char folder[64], library[96], manifest[96];
static FaultFixture fixture;
static uint32_t followed;

static void shell_command(const char *command)
{
    assert_int_equal(system(command), 0);
}

static void copy(const char *applet, const char *to)
{
    char command[1200];
    snprintf(command, sizeof command, "cp %s %s", fixture_applet(applet), to);
    shell_command(command);
}

/* As a linker or an installer does it that thinks of readers. */
static void replace(const char *applet)
{
    char next[160];
    snprintf(next, sizeof next, "%s.next", library);
    copy(applet, next);
    assert_int_equal(rename(next, library), 0);
}

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/caliper-follow-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(library, sizeof library, "%s/mine.so", folder);
    snprintf(manifest, sizeof manifest, "%s/mine.caliper.toml", folder);
    unsetenv("TEST_BEHAVIOUR");
    return 0;
}

/* Tests begin their fixture themselves: cmocka has set its signal handlers by then. */
static int end(void **state)
{
    (void)state;
    char command[128];
    fixture_end(&fixture);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void follow(const char *path)
{
    int32_t index = host_add_followed(fixture.host, path);
    assert_true(index >= 0);
    followed = (uint32_t)index;
    assert_true(fixture_view(&fixture, followed).followed);
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Frames until the applet is in the state with this version, or this reason for not running. */
static void wait_for(AppletState state, const char *words)
{
    for (int turn = 0; turn < 4000; turn++) {
        fixture_frames(&fixture, 1);
        AppletView view = fixture_view(&fixture, followed);
        if (view.state == state &&
            strstr(state == APPLET_STATE_RUNNING ? view.version : view.reason, words) != NULL) {
            fixture_assert_healthy(&fixture, 3);
            return;
        }
        nap(5);
    }
    AppletView view = fixture_view(&fixture, followed);
    fail_msg("state %d, version %s, reason %s; wanted %d, %s", (int)view.state, view.version,
             view.reason, (int)state, words);
}

/* For a while nothing happens to it. */
static void stays(AppletState state, const char *version)
{
    for (int turn = 0; turn < 80; turn++) {
        fixture_frames(&fixture, 1);
        AppletView view = fixture_view(&fixture, followed);
        assert_int_equal(view.state, state);
        assert_string_equal(view.version, version);
        nap(5);
    }
}

static void start_with(const char *applet)
{
    copy(applet, library);
    follow(library);
    assert_true(host_open(fixture.host, followed));
    fixture_frames(&fixture, 2);
}

static void test_replaced_by_a_rename(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    start_with("recorder_1.so");
    assert_string_equal(fixture_view(&fixture, followed).version, "1.0.0");
    replace("recorder_2.so");
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    assert_int_equal(fixture_logged(LOG_APPLET_CHANGED), 1);
    assert_int_equal(fixture_logged(LOG_APPLET_RELOADED), 1);
    /* The old one had its cleanup and destroy, once. */
    assert_int_equal(fixture_logged(LOG_APPLET_CLOSED), 1);
    for (int i = 0; i < 5; i++) {
        replace(i % 2 == 0 ? "recorder_1.so" : "recorder_2.so");
        wait_for(APPLET_STATE_RUNNING, i % 2 == 0 ? "1.0.0" : "2.0.0");
    }
    assert_int_equal(fixture_logged(LOG_APPLET_CLOSED), 6);
    assert_int_equal(fixture_complaints(), 0);
    stays(APPLET_STATE_RUNNING, "1.0.0");
}

/* In place, with the old image still mapped, and with pauses. */
static void test_written_slowly(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    static char bytes[1 << 20];
    start_with("recorder_1.so");
    FILE *from = fopen(fixture_applet("recorder_2.so"), "rb");
    assert_non_null(from);
    size_t size = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    int fd = open(library, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    stays(APPLET_STATE_RUNNING, "1.0.0");
    assert_int_equal(write(fd, bytes, size / 2), (ssize_t)(size / 2));
    stays(APPLET_STATE_RUNNING, "1.0.0");
    assert_int_equal(write(fd, bytes + size / 2, size - size / 2), (ssize_t)(size - size / 2));
    stays(APPLET_STATE_RUNNING, "1.0.0");
    close(fd);
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    assert_int_equal(fixture_complaints(), 0);
}

/* What cannot be loaded leaves the old one closed and says what is wrong; the next build mends it.
 */
static void test_builds_that_fail(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    char command[512];
    start_with("recorder_1.so");
    unlink(library);
    wait_for(APPLET_STATE_FAILED, "No such file");
    assert_int_equal(fixture_logged(LOG_APPLET_CLOSED), 1);
    copy("recorder_2.so", library);
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    snprintf(command, sizeof command, "head -c 4000 %s > %s", fixture_applet("recorder_1.so"),
             library);
    shell_command(command);
    wait_for(APPLET_STATE_FAILED, "it is cut short");
    replace("silent.so");
    wait_for(APPLET_STATE_FAILED, "does not export caliper_applet_descriptor");
    replace("unlinkable.so");
    wait_for(APPLET_STATE_FAILED, "nobody_has_this");
    /* Its size, and nothing in it yet. */
    snprintf(command, sizeof command,
             "head -c 1000 %s > %s.next && truncate -r %s %s.next && mv %s.next %s",
             fixture_applet("recorder_1.so"), library, fixture_applet("recorder_1.so"), library,
             library, library);
    shell_command(command);
    wait_for(APPLET_STATE_FAILED, "it is not all written");
    setenv("TEST_BEHAVIOUR", "null_write@frame", 1);
    replace("misbehaving.so");
    wait_for(APPLET_STATE_QUARANTINED, "SIGSEGV");
    setenv("TEST_BEHAVIOUR", "false@initialize", 1);
    replace("misbehaving.so");
    wait_for(APPLET_STATE_FAILED, "initialize() answered false");
    replace("recorder_1.so");
    wait_for(APPLET_STATE_RUNNING, "1.0.0");
}

static void test_not_there_at_first(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    follow(library);
    assert_int_equal(fixture_view(&fixture, followed).state, APPLET_STATE_FAILED);
    assert_string_equal(fixture_view(&fixture, followed).name, "mine.so");
    copy("recorder_1.so", library);
    wait_for(APPLET_STATE_RUNNING, "1.0.0");
    assert_string_equal(fixture_view(&fixture, followed).id, "org.caliper.test.recorder");
    /* A folder that is not there is a mistake. */
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/none/mine.so", folder);
    assert_int_equal(host_add_followed(fixture.host, nowhere), -1);
}

/* A build folder that is wiped and made again. */
static void test_folder_made_again(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    char command[256];
    start_with("recorder_1.so");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    shell_command(command);
    wait_for(APPLET_STATE_FAILED, "No such file");
    assert_int_equal(mkdir(folder, 0700), 0);
    nap(20);
    copy("recorder_2.so", library);
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    snprintf(command, sizeof command, "mv %s %s.away && mkdir %s", folder, folder, folder);
    shell_command(command);
    wait_for(APPLET_STATE_FAILED, "No such file");
    snprintf(command, sizeof command, "cp %s.away/mine.so %s && rm -r %s.away", folder, folder,
             folder);
    shell_command(command);
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
}

static void test_link_to_another_folder(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    char first[128], second[128];
    snprintf(first, sizeof first, "%s/1.so", folder);
    snprintf(second, sizeof second, "%s/2.so", folder);
    copy("recorder_1.so", first);
    copy("recorder_2.so", second);
    assert_int_equal(symlink(first, library), 0);
    follow(library);
    assert_true(host_open(fixture.host, followed));
    assert_int_equal(unlink(library), 0);
    assert_int_equal(symlink(second, library), 0);
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    /* Behind the link. */
    copy("recorder_1.so", second);
    wait_for(APPLET_STATE_RUNNING, "1.0.0");
}

static void write_manifest(const char *version)
{
    FILE *file = fopen(manifest, "wb");
    assert_non_null(file);
    fprintf(file,
            "[applet]\nid = 'org.caliper.test.recorder'\nname = 'R'\nversion = '%s'\n"
            "[compat]\nabi_epoch = 2\n",
            version);
    fclose(file);
}

static void test_manifest_changes(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    write_manifest("1.0.0");
    follow(manifest);
    assert_int_equal(fixture_view(&fixture, followed).state, APPLET_STATE_UNAVAILABLE);
    copy("recorder_1.so", library);
    wait_for(APPLET_STATE_RUNNING, "1.0.0");
    replace("recorder_2.so");
    wait_for(APPLET_STATE_FAILED, "descriptor.version is 2.0.0, its manifest says 1.0.0");
    write_manifest("2.0.0");
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    FILE *file = fopen(manifest, "wb");
    assert_non_null(file);
    fputs("[applet\n", file);
    fclose(file);
    wait_for(APPLET_STATE_UNAVAILABLE, "line 1");
    write_manifest("2.0.0");
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
}

/* A person closed it: it is loaded anew, and not opened. */
static void test_closed_by_a_person(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    start_with("recorder_1.so");
    host_close(fixture.host, followed);
    fixture_frames(&fixture, 1);
    replace("recorder_2.so");
    wait_for(APPLET_STATE_READY, "");
    for (int turn = 0; turn < 400 && fixture_logged(LOG_APPLET_RELOADED) == 0; turn++) {
        fixture_frames(&fixture, 1);
        nap(5);
    }
    stays(APPLET_STATE_READY, "2.0.0");
    assert_true(host_open(fixture.host, followed));
    replace("recorder_1.so");
    wait_for(APPLET_STATE_RUNNING, "1.0.0");
}

/* Without inotify, looking at the files does it; without a thread it is an applet like others. */
static void test_means_that_fail(void **state)
{
    (void)state;
    fixture_begin(&fixture);
    assert_true(fault_set_plan("follow.inotify:1+"));
    start_with("recorder_1.so");
    replace("recorder_2.so");
    wait_for(APPLET_STATE_RUNNING, "2.0.0");
    host_close(fixture.host, followed);
    static const char *const plans[] = {"follow.thread:1+", "follow.alloc:1+"};
    for (size_t i = 0; i < 2; i++) {
        char other[128];
        snprintf(other, sizeof other, "%s/other%zu.so", folder, i);
        copy("recorder_1.so", other);
        assert_true(fault_set_plan(plans[i]));
        int32_t index = host_add_followed(fixture.host, other);
        assert_true(index >= 0);
        assert_false(fixture_view(&fixture, (uint32_t)index).followed);
        assert_int_equal(fixture_logged(LOG_FOLLOW_NOT_STARTED), i + 1);
    }
    fault_set_plan(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replaced_by_a_rename, begin, end),
        cmocka_unit_test_setup_teardown(test_written_slowly, begin, end),
        cmocka_unit_test_setup_teardown(test_builds_that_fail, begin, end),
        cmocka_unit_test_setup_teardown(test_not_there_at_first, begin, end),
        cmocka_unit_test_setup_teardown(test_folder_made_again, begin, end),
        cmocka_unit_test_setup_teardown(test_link_to_another_folder, begin, end),
        cmocka_unit_test_setup_teardown(test_manifest_changes, begin, end),
        cmocka_unit_test_setup_teardown(test_closed_by_a_person, begin, end),
        cmocka_unit_test_setup_teardown(test_means_that_fail, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
