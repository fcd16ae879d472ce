/* The frozen tables over a whole host: what applets get, what stays when the host ends, when a call
 * faults in the applet's memory, and when a fault on a thread ends the process.
 *
 * The test starts itself as a child: metrics_service_test child ROOT. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/guard.h"
#include "core/host.h"
#include "core/sanitized.h"
#include "metrics_fixture.h"
#include "services/metrics_service.h"
#include "services/services.h"

extern char **environ;

static char root[256];
static char self_path[512];

static Host *make_host(void)
{
    Host *host = host_create(&(HostParams){.struct_size = sizeof(HostParams), .data_dir = root});
    assert_non_null(host);
    assert_true(services_register_all(host, NULL));
    return host;
}

/* This is the frame thread, which is told to try again rather than to wait for the disk. */
static uint64_t begin(const CaliperMetricsV1 *v1)
{
    uint64_t run = 0;
    for (int i = 0; run == 0 && i < 400; i++)
        run = v1->begin_run("e", "n");
    return run;
}

static bool query(const CaliperMetricsV1_1 *v1_1, const char *sql, struct ArrowArrayStream *out)
{
    for (int i = 0; i < 400; i++) {
        if (v1_1->query(sql, out))
            return true;
        if (strstr(v1_1->last_error(), "busy") == NULL)
            break;
    }
    return false;
}

static void test_tables(void **state)
{
    (void)state;
    static const float values[3] = {1, 2, 3};
    fixture_root(root);
    fixture_log_start();
    Host *host = make_host();
    const CaliperMetricsV1 *v1 = host_service(host, CALIPER_METRICS_V1);
    const CaliperMetricsV1_1 *v1_1 = host_service(host, CALIPER_METRICS_V1_1);
    assert_non_null(v1);
    assert_non_null(v1_1);
    assert_int_equal(v1->struct_size, 56);
    assert_int_equal(v1_1->struct_size, 72);
    uint64_t run = begin(v1);
    assert_true(run != 0);
    v1->scalar(run, "x", 1, 0.5);
    v1_1->scalar(run, "x", 2, 0.5); /* both tables know the run */
    v1->histogram(run, "h", 1, values, 3);
    v1->image(run, "i", 1, NULL);
    v1->hparams_json(run, "[1]");
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    assert_true(query(v1_1, "SELECT count(*) FROM scalars", &stream));
    assert_string_equal(v1_1->last_error(), "");
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(((const int64_t *)batch.children[0]->buffers[1])[0], 2);
    batch.release(&batch);
    stream.release(&stream);
    assert_true(query(v1_1, "SELECT * FROM scalars", &stream));
    assert_false(v1_1->query("INSERT INTO scalars SELECT * FROM scalars", &stream));
    assert_true(v1_1->last_error()[0] != '\0');
    v1->end_run(run);
    MetricsStatus status;
    assert_true(metrics_service_status(&status));
    assert_int_equal(status.mode, METRICS_MODE_OWNER);
    host_destroy(&host);
    /* A stream that is still held, and calls that come too late. */
    assert_true(stream.get_next(&stream, &batch) != 0);
    stream.release(&stream);
    assert_int_equal(v1->begin_run("e", "late"), 0);
    v1->scalar(run, "x", 3, 0.5);
    v1->end_run(run);
    assert_false(v1_1->query("SELECT 1", &stream));
    assert_false(metrics_service_status(&status));
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 2);
    assert_string_equal(fixture_text(root, "SELECT hparams FROM runs WHERE done"), "[1]");
    /* Another host in the same process goes on. */
    host = make_host();
    assert_true(begin(v1) > run);
    host_destroy(&host);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), 2);
    fixture_log_stop();
    store_folder_remove(root);
}

static const float *volatile nowhere = (const float *)(uintptr_t)16;

static void log_bad_values(void *user)
{
    const CaliperMetricsV1 *v1 = metrics_service_table();
    v1->histogram(*(const uint64_t *)user, "h", 1, nowhere, 1000);
}

static void test_a_fault_in_a_call_leaves_the_queue_whole(void **state)
{
    (void)state;
#if SANITIZED_ADDRESS || SANITIZED_THREAD
    skip(); /* the sanitizer takes the fault */
#endif
    fixture_root(root);
    fixture_log_start();
    Host *host = make_host();
    const CaliperMetricsV1 *v1 = host_service(host, CALIPER_METRICS_V1);
    uint64_t run = begin(v1);
    v1->scalar(run, "x", 1, 1.0);
    GuardFault fault;
    GuardCall call = {.what = "frame()", .call = log_bad_values, .arg = &run};
    assert_false(guard_call(&call, &fault));
    assert_int_equal(fault.signal, SIGSEGV);
    v1->scalar(run, "x", 2, 1.0);
    v1->end_run(run); /* this is the frame thread: it does not wait */
    assert_true(metrics_store_flush(metrics_service_store(), 20000));
    MetricsStatus status;
    assert_true(metrics_service_status(&status));
    assert_int_equal(status.rows_committed, 4);
    host_destroy(&host);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 2);
    fixture_log_stop();
    store_folder_remove(root);
}

/* ---- A fault on a thread of the applet's own ---- */

static void *fault_here_now(void *user)
{
    (void)user;
    raise(SIGSEGV);
    return NULL;
}

__attribute__((noreturn)) static void child_main(const char *folder)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    snprintf(root, sizeof root, "%s", folder);
    log_stderr_enable(false);
    Host *host = make_host();
    const CaliperMetricsV1 *v1 = host_service(host, CALIPER_METRICS_V1);
    uint64_t run = begin(v1);
    metrics_store_flush(metrics_service_store(), 60000); /* the database is open */
    for (int i = 0; i < 1000; i++)
        v1->scalar(run, "x", i, 1.0);
    /* These rows are younger than a batch's delay. */
    pthread_t thread;
    pthread_create(&thread, NULL, fault_here_now, NULL);
    for (;;)
        pause();
}

static void test_a_fault_that_ends_the_process_loses_no_row(void **state)
{
    (void)state;
#if SANITIZED_ADDRESS || SANITIZED_THREAD
    skip(); /* the sanitizer takes the fault */
#endif
    fixture_root(root);
    char *arguments[] = {self_path, "child", root, NULL};
    pid_t child = 0;
    int status = 0;
    assert_int_equal(posix_spawn(&child, self_path, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM scalars"), 1000);
    store_folder_remove(root);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_a_fault_in_a_call_leaves_the_queue_whole),
        cmocka_unit_test(test_a_fault_that_ends_the_process_loses_no_row),
    };
    if (argc == 3 && strcmp(argv[1], "child") == 0)
        child_main(argv[2]);
    if (readlink("/proc/self/exe", self_path, sizeof self_path - 1) <= 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
