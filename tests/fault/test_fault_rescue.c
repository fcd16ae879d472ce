/* What the rescue thread does before a fault ends the process: registered functions run, late and
 * faulting ones are left, the report says so, and the process ends with the original signal. Each
 * case runs in a process of its own. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/rescue.h"
#include "core/sanitized.h"
#include "fault_fixture.h"

/* A sanitizer's handlers come next in the chain: they end the process with exit(). */
enum { SANITIZED = SANITIZED_ADDRESS || SANITIZED_THREAD, CRASHING_THREADS = 24 };

/* ---- In the child ---- */

static void file_make(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("CALIPER_DATA_DIR"), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd >= 0)
        close(fd);
}

static void flush_file(void *user, uint64_t deadline_ns)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left_ns = (int64_t)deadline_ns - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (left_ns > 0 && left_ns <= (int64_t)RESCUE_TOTAL_MS * 1000000)
        file_make(user);
}

static void flush_hang(void *user, uint64_t deadline_ns)
{
    (void)deadline_ns;
    file_make(user);
    for (;;)
        pause();
}

static void flush_spin(void *user, uint64_t deadline_ns)
{
    (void)deadline_ns;
    file_make(user);
    for (volatile uint64_t turns = 0;; turns = turns + 1)
        continue;
}

/* A lock that the faulting thread holds. */
static pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;

static void flush_locked(void *user, uint64_t deadline_ns)
{
    (void)deadline_ns;
    file_make(user);
    pthread_mutex_lock(&held_mutex);
}

/* Nothing can make it leave. */
static void flush_deaf(void *user, uint64_t deadline_ns)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    flush_hang(user, deadline_ns);
}

__attribute__((no_sanitize("undefined", "thread"))) static void *null_write(void *arg)
{
    (void)arg;
    int *volatile nowhere = (int *)(uintptr_t)16;
    *nowhere = 1;
    return NULL;
}

static void flush_fault(void *user, uint64_t deadline_ns)
{
    (void)deadline_ns;
    file_make(user);
    null_write(NULL);
}

static void flush_abort(void *user, uint64_t deadline_ns)
{
    (void)deadline_ns;
    file_make(user);
    abort();
}

static sem_t flushing;

static void flush_slowly(void *user, uint64_t deadline_ns)
{
    sem_post(&flushing);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    flush_file(user, deadline_ns);
}

static void on_thread(void *(*body)(void *), bool wait)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) == 0 && wait)
        pthread_join(thread, NULL);
}

static void *locked_null_write(void *arg)
{
    pthread_mutex_lock(&held_mutex);
    return null_write(arg);
}

static void *described_null_write(void *arg)
{
    guard_thread_enter();
    guard_thread_describe("job 7 \"train\"");
    return null_write(arg);
}

static volatile int depth_wanted = 1 << 30;

__attribute__((noinline)) static int overflow(int depth)
{
    volatile char block[512] = {0};
    return depth < depth_wanted ? overflow(depth + 1) + block[depth % 512] : 0;
}

static void *overflow_thread(void *arg)
{
    guard_thread_enter();
    overflow(0);
    return arg;
}

static pthread_barrier_t together;

static void *null_write_together(void *arg)
{
    pthread_barrier_wait(&together);
    return null_write(arg);
}

static void host_locked_null_write(void *arg)
{
    guard_lock_enter();
    null_write(arg);
}

static void call_exit(void *arg)
{
    (void)arg;
    exit(0);
}

static void guarded(void (*call)(void *))
{
    GuardFault fault;
    guard_call(&(GuardCall){.what = "the test's call", .call = call}, &fault);
}

static void many_threads(void)
{
    pthread_t threads[CRASHING_THREADS];
    pthread_barrier_init(&together, NULL, CRASHING_THREADS);
    for (int i = 0; i < CRASHING_THREADS; i++)
        pthread_create(&threads[i], NULL, null_write_together, NULL);
    pthread_join(threads[0], NULL);
}

static void fault_in_a_child(void)
{
    pid_t child = fork();
    if (child == 0)
        null_write(NULL);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 90);
}

static void register_for(const char *name)
{
    static const struct {
        const char *name;
        RescueFlush flush;
    } kinds[] = {{"hang", flush_hang},    {"spin", flush_spin},   {"lock", flush_locked},
                 {"deaf", flush_deaf},    {"fault", flush_fault}, {"aborting", flush_abort},
                 {"exit 0", flush_slowly}};
    int gone = rescue_register(flush_file, (void *)(uintptr_t) "unregistered");
    int before = rescue_register(flush_file, (void *)(uintptr_t) "before");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) == 0)
            rescue_register(kinds[i].flush, (void *)(uintptr_t) "odd");
    }
    rescue_register(flush_file, (void *)(uintptr_t) "after");
    rescue_unregister(gone);
    if (before == 0 || gone == before)
        _exit(97);
}

static void run_child(const char *name)
{
    alarm(60);
    fault_set_plan(getenv("CALIPER_FAIL_AT"));
    sem_init(&flushing, 0, 0);
    HostParams params = {.struct_size = sizeof params, .builtin_applet_dir = "/nonexistent"};
    Host *host = host_create(&params);
    if (host == NULL)
        _exit(98);
    register_for(name);
    if (strcmp(name, "many") == 0)
        many_threads();
    else if (strcmp(name, "lock") == 0)
        on_thread(locked_null_write, true);
    else if (strcmp(name, "described") == 0)
        on_thread(described_null_write, true);
    else if (strcmp(name, "overflow") == 0)
        on_thread(overflow_thread, true);
    else if (strcmp(name, "frame thread") == 0)
        guarded(host_locked_null_write);
    else if (strcmp(name, "exit in a call") == 0)
        guarded(call_exit);
    else if (strcmp(name, "child") == 0)
        fault_in_a_child();
    else if (strcmp(name, "exit 0") == 0) {
        on_thread(null_write, false);
        sem_wait(&flushing);
        exit(0);
    } else if (strcmp(name, "end of the host") == 0) {
        host_destroy(&host); /* no thread any more, and nothing waits for one */
        _exit(7);
    } else
        on_thread(null_write, true);
    _exit(99); /* it went on */
}

/* ---- In the test ---- */

static char data_dir[] = "/tmp/caliper-rescue-XXXXXX";
static uint32_t reports;

/* The text of the last report found; all files go. */
static const char *take_report(bool *before, bool *odd, bool *after, bool *unregistered)
{
    static char text[20000];
    text[0] = '\0';
    reports = 0;
    *before = *odd = *after = *unregistered = false;
    DIR *entries = opendir(data_dir);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", data_dir, entry->d_name);
        *before |= strcmp(entry->d_name, "before") == 0;
        *odd |= strcmp(entry->d_name, "odd") == 0;
        *after |= strcmp(entry->d_name, "after") == 0;
        *unregistered |= strcmp(entry->d_name, "unregistered") == 0;
        if (strncmp(entry->d_name, "crash-", 6) == 0) {
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            fclose(file);
            reports++;
        }
        if (entry->d_type == DT_REG)
            remove(path);
    }
    closedir(entries);
    return text;
}

static int run(const char *name, const char *fail_at)
{
    char root[300];
    char plan[300];
    snprintf(root, sizeof root, "CALIPER_DATA_DIR=%s", data_dir);
    snprintf(plan, sizeof plan, "CALIPER_FAIL_AT=%s", fail_at);
    const char *const environment[] = {root, plan, NULL};
    print_message("    %s\n", name);
    return fixture_run_self(name, environment);
}

static void assert_ended(int status, int signal)
{
    if (SANITIZED)
        assert_true(WIFSIGNALED(status) ||
                    (WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) < 90));
    else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

static void test_functions_run(void **state)
{
    static const struct {
        const char *name;
        const char *said;
        bool odd;
        bool no_call;
    } cases[] = {
        {"plain", "stores: 2 of 2 written out in", false, false},
        {"many", "stores: 2 of 2 written out in", false, false},
        {"described", "in job 7 \"train\"", false, false},
        {"overflow", "stores: 2 of 2 written out in", false, false},
        {"frame thread", "in the test's call", false, false},
        {"hang", "2 of 3 written out in", true, false},
        {"spin", ", 1 cut off at the deadline", true, true},
        {"lock", ", 1 cut off at the deadline", true, true},
        {"fault", ", 1 faulted", true, false},
        {"aborting", "2 of 3 written out in", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool before, odd, after, unregistered;
        if (SANITIZED_THREAD && cases[i].no_call)
            continue; /* there signals wait for the next call into the C library that may block */
        int status = run(cases[i].name, "");
        const char *report = take_report(&before, &odd, &after, &unregistered);
        assert_ended(status, SIGSEGV);
        assert_non_null(strstr(report, cases[i].said));
        assert_non_null(strstr(report, "#0 0x"));
        assert_int_equal(reports, 1);
        assert_true(before && after);
        assert_int_equal(odd, cases[i].odd);
        assert_false(unregistered);
    }
}

/* A function that hears nothing takes the thread with it, but neither report nor signal. */
static void test_a_lost_thread(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("deaf", "");
    const char *report = take_report(&before, &odd, &after, &unregistered);
    assert_ended(status, SIGSEGV);
    assert_non_null(strstr(report, "stores: the rescue thread did not come back"));
    assert_true(before && odd && !after);
    assert_int_equal(reports, 1);
}

static void test_no_thread(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("plain", "rescue.thread:1");
    const char *report = take_report(&before, &odd, &after, &unregistered);
    assert_ended(status, SIGSEGV);
    assert_non_null(strstr(report, "SIGSEGV at 0x10"));
    assert_non_null(strstr(report, "stores: no rescue thread"));
    assert_int_equal(reports, 1);
    assert_false(before || after);
}

/* Main returning while the rescue is at work does not turn a crash into a success. */
static void test_exit_meanwhile(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("exit 0", "");
    take_report(&before, &odd, &after, &unregistered);
    assert_ended(status, SIGSEGV);
    assert_true(before && odd && after);
    assert_int_equal(reports, 1);
}

static void test_exit_in_a_call(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("exit in a call", "");
    take_report(&before, &odd, &after, &unregistered);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_true(before && after);
    assert_int_equal(reports, 0);
}

/* The child's fault is not the parent's affair. */
static void test_a_forked_child(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("child", "");
    take_report(&before, &odd, &after, &unregistered);
    assert_true(WIFEXITED(status));
    if (!SANITIZED)
        assert_int_equal(WEXITSTATUS(status), SIGSEGV);
    assert_false(before || after);
    assert_int_equal(reports, 1);
}

static void test_end_of_the_host(void **state)
{
    bool before, odd, after, unregistered;
    (void)state;
    int status = run("end of the host", "");
    take_report(&before, &odd, &after, &unregistered);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_false(before || after);
}

static void flush_nothing(void *user, uint64_t deadline_ns)
{
    (void)user;
    (void)deadline_ns;
}

static void test_places(void **state)
{
    int handles[RESCUE_FUNCTIONS_MAX];
    (void)state;
    log_stderr_enable(false);
    assert_int_equal(rescue_register(NULL, NULL), 0);
    for (int i = 0; i < RESCUE_FUNCTIONS_MAX; i++) {
        handles[i] = rescue_register(flush_nothing, NULL);
        assert_true(handles[i] > 0);
    }
    assert_int_equal(rescue_register(flush_nothing, NULL), 0);
    rescue_unregister(handles[3]);
    assert_true(rescue_register(flush_nothing, NULL) == handles[3]);
    for (int i = 0; i < RESCUE_FUNCTIONS_MAX; i++)
        rescue_unregister(handles[i]);
    rescue_unregister(0);
    rescue_unregister(-5);
    rescue_unregister(RESCUE_FUNCTIONS_MAX + 1);
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
        cmocka_unit_test(test_functions_run),   cmocka_unit_test(test_a_lost_thread),
        cmocka_unit_test(test_no_thread),       cmocka_unit_test(test_exit_meanwhile),
        cmocka_unit_test(test_exit_in_a_call),  cmocka_unit_test(test_a_forked_child),
        cmocka_unit_test(test_end_of_the_host), cmocka_unit_test(test_places),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", data_dir);
    return system(command) != 0 ? 1 : failed;
}
