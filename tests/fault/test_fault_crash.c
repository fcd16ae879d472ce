/* Faults that may not be contained end the process, with a report that says why, and the signal
 * goes where it went before. Each case runs in a process of its own. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/guard.h"
#include "core/guard_modules.h"
#include "core/sanitized.h"
#include "fault_fixture.h"

/* A sanitizer's handlers come next in the chain: they end the process with exit(). */
enum { SANITIZED = SANITIZED_ADDRESS || SANITIZED_THREAD };

/* ---- In the child ---- */

__attribute__((no_sanitize("undefined"))) static void null_write(void *arg)
{
    (void)arg;
    int *volatile nowhere = (int *)(uintptr_t)16;
    *nowhere = 1;
}

static void locked_null_write(void *arg)
{
    guard_lock_enter();
    null_write(arg);
    guard_lock_leave();
}

static void double_free(void *arg)
{
    void *volatile block = malloc(5000);
    void *volatile twice = block;
    (void)arg;
    free(block);
    free(twice);
}

static void null_write_under_a_driver(void *arg)
{
    void *driver = dlopen(fixture_applet("libGL_test.so"), RTLD_NOW | RTLD_LOCAL);
    void *symbol = driver != NULL ? dlsym(driver, "driver_call") : NULL;
    void (*driver_call)(void (*)(void *), void *) = NULL;
    memcpy(&driver_call, &symbol, sizeof symbol);
    guard_modules_refresh();
    if (driver_call != NULL)
        driver_call(null_write, arg);
}

static void kill_from_outside(void *arg)
{
    (void)arg;
    if (fork() == 0) {
        kill(getppid(), SIGSEGV);
        _exit(0);
    }
    for (;;)
        pause();
}

static void *null_write_thread(void *arg)
{
    null_write(arg);
    return NULL;
}

static void exit_42(int signal)
{
    (void)signal;
    _exit(42);
}

static void call_exit(void *arg)
{
    (void)arg;
    exit(0);
}

static void call_quick_exit(void *arg)
{
    (void)arg;
    quick_exit(0);
}

static void call_pthread_exit(void *arg)
{
    (void)arg;
    pthread_exit(NULL);
}

static void call_cancel(void *arg)
{
    (void)arg;
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

/* Answers what its child ended with, in the way that the child's end is the test's. */
static void pass_on_child(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 50 + WTERMSIG(status));
}

static void return_in_a_child(void *arg)
{
    (void)arg;
    pid_t child = fork();
    if (child != 0)
        pass_on_child(child);
}

static void fault_in_a_child(void *arg)
{
    pid_t child = fork();
    if (child != 0)
        pass_on_child(child);
    null_write(arg);
}

/* What a child of the applet ends with is the child's own affair. */
static void exit_in_a_child(void *arg)
{
    int status = 0;
    (void)arg;
    pid_t child = fork();
    if (child == 0)
        exit(5);
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 8 : 99);
}

static void child_guarded(void (*call)(void *))
{
    GuardFault fault;
    guard_call(&(GuardCall){.what = "the test's call", .call = call}, &fault);
}

static void run_child(const char *name)
{
    if (strcmp(name, "chained") == 0)
        signal(SIGSEGV, exit_42);
    HostParams params = {.struct_size = sizeof params, .builtin_applet_dir = "/nonexistent"};
    Host *host = host_create(&params);
    if (strcmp(name, "unguarded") == 0 || strcmp(name, "chained") == 0) {
        null_write(NULL);
    } else if (strcmp(name, "locked") == 0) {
        child_guarded(locked_null_write);
    } else if (strcmp(name, "double free") == 0) {
        child_guarded(double_free);
    } else if (strcmp(name, "driver") == 0) {
        child_guarded(null_write_under_a_driver);
    } else if (strcmp(name, "from outside") == 0) {
        child_guarded(kill_from_outside);
    } else if (strcmp(name, "constructor") == 0) {
        host_add(host, FAULT_FATAL_DIR "/fatal_constructor.so");
    } else if (strcmp(name, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, null_write_thread, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(name, "exit") == 0) {
        child_guarded(call_exit);
    } else if (strcmp(name, "quick_exit") == 0) {
        child_guarded(call_quick_exit);
    } else if (strcmp(name, "pthread_exit") == 0) {
        child_guarded(call_pthread_exit);
    } else if (strcmp(name, "cancel") == 0) {
        child_guarded(call_cancel);
    } else if (strcmp(name, "exit in a child") == 0) {
        child_guarded(exit_in_a_child);
    } else if (strcmp(name, "return in a child") == 0) {
        child_guarded(return_in_a_child);
    } else if (strcmp(name, "fault in a child") == 0) {
        child_guarded(fault_in_a_child);
    } else if (strcmp(name, "exit outside") == 0) {
        exit(6);
    } else if (strcmp(name, "abort") == 0) {
        abort();
    } else if (strcmp(name, "contained") == 0) {
        child_guarded(null_write);
        host_destroy(&host);
        _exit(7);
    }
    _exit(99); /* it went on */
}

/* ---- In the test ---- */

static const struct {
    const char *name;
    const char *why;
    const char *also;
    int signal;
    bool not_sanitized; /* the sanitizer ends this one itself, before any signal */
} cases[] = {
    {"unguarded", "no guarded call was running", "SIGSEGV at 0x10", SIGSEGV, false},
    {"locked", "holds a lock of the host", "in the test's call", SIGSEGV, false},
    {"double free", "the allocator is on the stack", "SIGABRT", SIGABRT, true},
    {"driver", "a graphics driver is on the stack", "libGL_test.so", SIGSEGV, false},
    {"from outside", "sent from outside", "SIGSEGV", SIGSEGV, false},
    {"constructor", "inside the loader", "fatal_constructor.so", SIGSEGV, false},
    {"thread", "no guarded call was running", "SIGSEGV at 0x10", SIGSEGV, false},
    {"abort", "no guarded call was running", "SIGABRT", SIGABRT, false},
};

static char data_dir[] = "/tmp/caliper-crash-XXXXXX";

/* The text of the only crash-<pid>.txt there, which is removed; "" if there is none. */
static const char *take_report(void)
{
    static char text[20000];
    text[0] = '\0';
    DIR *entries = opendir(data_dir);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strncmp(entry->d_name, "crash-", 6) != 0)
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", data_dir, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_string_equal(text, ""); /* only one */
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        remove(path);
    }
    closedir(entries);
    return text;
}

static int run(const char *name)
{
    char variable[300];
    snprintf(variable, sizeof variable, "CALIPER_DATA_DIR=%s", data_dir);
    const char *const environment[] = {variable, NULL};
    print_message("    %s\n", name);
    return fixture_run_self(name, environment);
}

static void test_reports(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (SANITIZED && cases[i].not_sanitized)
            continue;
        int status = run(cases[i].name);
        if (SANITIZED)
            assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0 &&
                                                WEXITSTATUS(status) != 99));
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal);
        const char *report = take_report();
        assert_non_null(strstr(report, cases[i].why));
        assert_non_null(strstr(report, cases[i].also));
        assert_non_null(strstr(report, "#0 0x"));
    }
}

static void test_goes_to_the_handler_before(void **state)
{
    (void)state;
    int status = run("chained");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_non_null(strstr(take_report(), "no guarded call was running"));
}

/* An applet that ends the process does not choose its status, and the log file says who it was. */
static void test_ending_instead_of_returning(void **state)
{
    static const struct {
        const char *name;
        int status;
        bool told;
    } ends[] = {{"exit", 1, true},   {"quick_exit", 1, true},       {"pthread_exit", 1, true},
                {"cancel", 1, true}, {"exit in a child", 8, false}, {"exit outside", 6, false}};
    char path[300], text[20000];
    (void)state;
    snprintf(path, sizeof path, "%s/caliper.log", data_dir);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        remove(path);
        int status = run(ends[i].name);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), ends[i].status);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        assert_int_equal(strstr(text, "the test's call ended") != NULL, ends[i].told);
        assert_string_equal(take_report(), "");
    }
}

/* The host goes on once, not in every child that an applet forks. */
static void test_a_forked_child_is_no_second_host(void **state)
{
    (void)state;
    int status = run("return in a child");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 10 + 1);
    assert_string_equal(take_report(), "");
    status = run("fault in a child");
    assert_true(WIFEXITED(status));
    if (SANITIZED) /* whose handler ends the child in its own way, but not as if it went on */
        assert_true(WEXITSTATUS(status) != 10 + 99);
    else
        assert_int_equal(WEXITSTATUS(status), 50 + SIGSEGV);
    assert_non_null(strstr(take_report(), "in a child that the call forked"));
}

static void test_contained_leaves_no_report(void **state)
{
    (void)state;
    int status = run("contained");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_string_equal(take_report(), "");
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
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_goes_to_the_handler_before),
        cmocka_unit_test(test_ending_instead_of_returning),
        cmocka_unit_test(test_a_forked_child_is_no_second_host),
        cmocka_unit_test(test_contained_leaves_no_report),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", data_dir);
    return system(command) != 0 ? 1 : failed;
}
