/* Applets whose work is in jobs: closing, quarantine, and what a fault in a job does to the
 * process. A job that faults runs in a process of its own. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/host_impl.h"
#include "core/rescue.h"
#include "core/sanitized.h"
#include "fault_fixture.h"
#include "jobs/jobs.h"
#include "services/services.h"

/* A sanitizer's handlers come next in the chain: they end the process with exit(). */
enum { SANITIZED = SANITIZED_ADDRESS || SANITIZED_THREAD, IDS_MAX = 64 };

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static uint32_t begin(FaultFixture *fixture, const char *what)
{
    while (jobs_counts().finished > 0)
        jobs_clear(0);
    setenv("TEST_JOBS", what, 1);
    fixture_begin(fixture);
    int32_t index = host_add(fixture->host, fixture_applet("jobber.so"));
    assert_true(index >= 0);
    return (uint32_t)index;
}

static void frames_until_noted(FaultFixture *fixture, const char *what, uint32_t count)
{
    while (fixture_noted(what) < count) {
        fixture_frames(fixture, 1);
        nap();
    }
}

static void frames_until(FaultFixture *fixture, uint32_t index, AppletState state)
{
    while (fixture_view(fixture, index).state != state) {
        fixture_assert_healthy(fixture, 1); /* others keep drawing */
        nap();
    }
}

static void let_leave(const FaultFixture *fixture)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/org.caliper.test.jobber/leave", fixture->data_dir);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_loaded(const char *name)
{
    void *library = dlopen(fixture_applet(name), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

/* ---- Closing ---- */

static void job_of_nobody(void *user, const CaliperJobControl *control)
{
    (void)user;
    while (!control->cancelled(control))
        nap();
}

static void test_close_ends_its_own_jobs(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = begin(&fixture, "obedient");
    uint64_t other = jobs_submit("of nobody", job_of_nobody, NULL, 0);
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 3);
    assert_int_equal(jobs_counts().running, 4);
    host_close(fixture.host, index);
    frames_until(&fixture, index, APPLET_STATE_READY);
    assert_int_equal(fixture_noted("job was cancelled"), 3);
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    assert_int_equal(fixture_noted("destroy"), 1);
    assert_int_equal(fixture_noted("a job began in cleanup"), 0);
    assert_int_equal(fixture_logged(LOG_JOB_REFUSED), 1);
    assert_false(is_loaded("jobber.so"));
    assert_true(jobs_is_running(other));
    fixture_end(&fixture);
    assert_int_equal(jobs_end(), 0);
}

/* The process ends as if closed: at the end of the host. */
static void test_end_of_the_host(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = begin(&fixture, "obedient");
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 3);
    fixture_end(&fixture);
    assert_int_equal(fixture_noted("job was cancelled"), 3);
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    assert_int_equal(fixture_noted("destroy"), 1);
    assert_int_equal(jobs_end(), 0);
}

static void test_jobs_that_breed(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = begin(&fixture, "breeding");
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 3);
    host_close(fixture.host, index);
    frames_until(&fixture, index, APPLET_STATE_READY);
    assert_int_equal(fixture_noted("the last of its kind"), 4);
    assert_int_equal(fixture_noted("destroy"), 1);
    assert_int_equal(fixture_logged(LOG_APPLET_JOBS_REMAIN), 0);
    fixture_end(&fixture);
}

/* A job that does not listen: the panel is gone after 2 s, the library stays until the job ends. */
static void test_stubborn(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint64_t ids[IDS_MAX];
    JobView view;
    uint32_t index = begin(&fixture, "stubborn");
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 1);
    assert_int_equal(jobs_list(ids, IDS_MAX), 1);
    host_close(fixture.host, index);
    frames_until(&fixture, index, APPLET_STATE_READY);
    assert_int_equal(fixture_logged(LOG_APPLET_JOBS_REMAIN), 1);
    assert_true(jobs_view(ids[0], &view) && view.running && view.cancelled);
    assert_true(is_loaded("jobber.so"));
    assert_int_equal(fixture_noted("destroy"), 0);
    /* Meanwhile a second life, which is told apart from the first. */
    setenv("TEST_JOBS", "obedient", 1);
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 4);
    assert_int_not_equal(fixture_view(&fixture, index).serial, view.owner);
    host_close(fixture.host, index);
    frames_until(&fixture, index, APPLET_STATE_READY);
    assert_int_equal(fixture_noted("destroy"), 1);
    assert_string_equal(fixture_view(&fixture, index).reason, "a job of it still runs");
    let_leave(&fixture);
    frames_until_noted(&fixture, "destroy", 2);
    assert_string_equal(fixture_view(&fixture, index).reason, "");
    assert_false(is_loaded("jobber.so"));
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    fixture_end(&fixture);
    assert_int_equal(jobs_end(), 0);
}

static void test_stubborn_at_the_end(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint64_t ids[IDS_MAX];
    JobView view;
    uint32_t index = begin(&fixture, "stubborn");
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 1);
    assert_int_equal(jobs_list(ids, IDS_MAX), 1);
    host_destroy(&fixture.host);
    assert_int_equal(fixture_noted("destroy"), 0);
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    assert_true(jobs_view(ids[0], &view) && view.running && view.left_behind);
    assert_int_equal(jobs_end(), 1);
    let_leave(&fixture);
    while (jobs_is_running(ids[0]))
        nap();
    fixture_end(&fixture);
}

/* ---- Other ends ---- */

static void test_quarantine_cancels_jobs(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = begin(&fixture, "faulting frame");
    assert_true(host_open(fixture.host, index));
    fixture_frames(&fixture, 1);
    while (fixture_noted("job began") < 3)
        nap();
    fixture_frames(&fixture, 1);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_QUARANTINED);
    while (fixture_noted("job was cancelled") < 3)
        fixture_assert_healthy(&fixture, 1);
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    assert_int_equal(fixture_noted("destroy"), 0);
    assert_true(is_loaded("jobber.so"));
    fixture_assert_healthy(&fixture, 3);
    fixture_end(&fixture);
    assert_int_equal(jobs_end(), 0);
}

static void test_initialize_that_refuses(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = begin(&fixture, "refusing");
    assert_false(host_open(fixture.host, index));
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_FAILED);
    assert_int_equal(fixture_noted("destroy"), 1);
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    assert_int_equal(jobs_counts().running, 0);
    fixture_end(&fixture);
    index = begin(&fixture, "refusing stubborn");
    assert_false(host_open(fixture.host, index));
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_FAILED);
    assert_int_equal(fixture_noted("destroy"), 0);
    assert_int_equal(jobs_counts().running, 1);
    let_leave(&fixture);
    while (jobs_counts().running > 0)
        nap();
    assert_int_equal(fixture_noted("a job saw a dead applet"), 0);
    fixture_end(&fixture);
}

/* Whose job it is follows from the return address. */
static void test_a_thread_of_the_applet(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint64_t ids[IDS_MAX];
    JobView view;
    uint32_t index = begin(&fixture, "own thread");
    assert_true(host_open(fixture.host, index));
    frames_until_noted(&fixture, "job began", 1);
    assert_int_equal(jobs_list(ids, IDS_MAX), 1);
    assert_true(jobs_view(ids[0], &view));
    assert_int_equal(view.owner, fixture_view(&fixture, index).serial);
    assert_string_equal(view.label, "from a thread of the applet");
    assert_string_equal(caller_name(view.owner), "org.caliper.test.jobber");
    host_close(fixture.host, index);
    frames_until(&fixture, index, APPLET_STATE_READY);
    assert_int_equal(fixture_noted("job was cancelled"), 1);
    fixture_end(&fixture);
}

/* ---- Faults ---- */

static void flush(void *user, uint64_t deadline_ns)
{
    (void)user;
    (void)deadline_ns;
    char path[512];
    snprintf(path, sizeof path, "%s/flushed", getenv("CALIPER_DATA_DIR"));
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
}

static void run_child(const char *what)
{
    alarm(60);
    setenv("TEST_JOBS", what, 1);
    Host *host = host_create(
        &(HostParams){.struct_size = sizeof(HostParams), .builtin_applet_dir = "/nonexistent"});
    if (host == NULL || !services_register_all(host, NULL) || rescue_register(flush, NULL) == 0 ||
        host_add(host, fixture_applet("jobber.so")) != 0 || !host_open(host, 0))
        _exit(98);
    for (;;) {
        CaliperFrameInfo info;
        host_clock_tick(host, 1280, 800, 1.0f, &info);
        host_frame(host, 0, &info);
        host_end_frame(host);
        nap();
    }
}

static char data_dir[] = "/tmp/caliper-jobs-XXXXXX";

/* The report's text, "" if there is none; removes all files. */
static const char *take_report(bool *out_flushed)
{
    static char text[20000];
    text[0] = '\0';
    *out_flushed = false;
    DIR *entries = opendir(data_dir);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", data_dir, entry->d_name);
        *out_flushed |= strcmp(entry->d_name, "flushed") == 0;
        if (strncmp(entry->d_name, "crash-", 6) == 0) {
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            assert_string_equal(text, ""); /* only one */
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            fclose(file);
        }
        if (entry->d_type == DT_REG)
            remove(path);
    }
    closedir(entries);
    return text;
}

static int run(const char *what)
{
    char root[300];
    snprintf(root, sizeof root, "CALIPER_DATA_DIR=%s", data_dir);
    const char *const environment[] = {root, NULL};
    print_message("    %s\n", what);
    return fixture_run_self(what, environment);
}

/* Nothing can vouch for the state that it leaves: the stores are written out, the report says which
 * job of which applet it was, and the process ends with the signal. */
static void test_faults_end_the_process(void **state)
{
    static const struct {
        const char *what, *where;
        int signal;
    } cases[] = {
        {"null write", "SIGSEGV at 0x10, applet org.caliper.test.jobber, in job 1, \"null write\"",
         SIGSEGV},
        {"many faults", "applet org.caliper.test.jobber, in job ", SIGSEGV},
        {"overflow", "in job 1, \"overflow\"", SIGSEGV},
        {"abort", "SIGABRT at 0x0, applet org.caliper.test.jobber, in job 1, \"abort\"", SIGABRT}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool flushed = false;
        int status = run(cases[i].what);
        if (SANITIZED)
            assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0 &&
                                                WEXITSTATUS(status) < 90));
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal);
        const char *report = take_report(&flushed);
        assert_non_null(strstr(report, cases[i].where));
        assert_non_null(strstr(report, "#0 0x"));
        assert_true(flushed);
    }
}

static void test_exit_in_a_job(void **state)
{
    bool flushed = false;
    (void)state;
    int status = run("exit");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1); /* not the applet's to choose */
    assert_string_equal(take_report(&flushed), "");
    assert_true(flushed);
}

static void test_a_child_that_comes_back(void **state)
{
    bool flushed = false;
    (void)state;
    int status = run("fork");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 10 + 1);
    assert_string_equal(take_report(&flushed), "");
    assert_false(flushed);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        run_child(argv[1]);
        return 99;
    }
    if (mkdtemp(data_dir) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_ends_its_own_jobs),
        cmocka_unit_test(test_end_of_the_host),
        cmocka_unit_test(test_jobs_that_breed),
        cmocka_unit_test(test_stubborn),
        cmocka_unit_test(test_stubborn_at_the_end),
        cmocka_unit_test(test_quarantine_cancels_jobs),
        cmocka_unit_test(test_initialize_that_refuses),
        cmocka_unit_test(test_a_thread_of_the_applet),
        cmocka_unit_test(test_faults_end_the_process),
        cmocka_unit_test(test_exit_in_a_job),
        cmocka_unit_test(test_a_child_that_comes_back),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", data_dir);
    return system(command) != 0 ? 1 : failed;
}
