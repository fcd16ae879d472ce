/* The host without applets: services, hooks, the data root, the frame clock, callers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/caller_register.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/paths.h"
#include "services/log_service.h"

static char root[64];
static uint32_t logged[LOG_ITEM_COUNT];
static char newest_applet[128], newest_text[256];

static void capture(void *user, const LogEntry *entry)
{
    (void)user;
    logged[entry->item]++;
    snprintf(newest_applet, sizeof newest_applet, "%s", entry->applet);
    snprintf(newest_text, sizeof newest_text, "%s", entry->text);
}

static int begin(void **state)
{
    (void)state;
    memset(logged, 0, sizeof logged);
    snprintf(root, sizeof root, "/tmp/caliper-host-XXXXXX");
    unsetenv("CALIPER_FIXED_CLOCK");
    unsetenv("CALIPER_DATA_DIR");
    unsetenv("XDG_DATA_HOME");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static Host *make_host(void)
{
    HostParams params = {.struct_size = sizeof params, .data_dir = root};
    Host *host = host_create(&params);
    assert_non_null(host);
    return host;
}

static void test_services(void **state)
{
    (void)state;
    Host *host = make_host();
    int table = 0;
    int other = 0;
    char id[] = "caliper.test.v1"; /* copied */
    assert_null(host_service(host, "caliper.test.v1"));
    assert_true(host_service_register(host, id, &table));
    id[0] = 'X';
    assert_ptr_equal(host_service(host, "caliper.test.v1"), &table);
    assert_false(host_service_register(host, "caliper.test.v1", &other));
    assert_ptr_equal(host_service(host, "caliper.test.v1"), &table);
    assert_false(host_service_register(host, NULL, &table));
    assert_false(host_service_register(host, "", &table));
    assert_false(host_service_register(host, "caliper.null.v1", NULL));
    assert_null(host_service(host, NULL));
    assert_null(host_service(host, "caliper.test.v"));
    assert_null(host_service(host, "caliper.test.v11"));
    assert_null(host_service(NULL, "caliper.test.v1"));
    assert_int_equal(logged[LOG_SERVICE_REFUSED], 4);
    for (int i = 1; i < HOST_SERVICES_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "test.%d", i);
        assert_true(host_service_register(host, name, &table));
    }
    assert_false(host_service_register(host, "one.too.many", &table));
    assert_ptr_equal(host_service(host, "test.63"), &table);
    host_destroy(&host);
    assert_null(host);
    host_destroy(&host);
    host_destroy(NULL);
}

/* A service that the machine cannot offer is NULL, with a reason, and its id is taken. */
static void test_absent(void **state)
{
    (void)state;
    static const int table = 1;
    Host *host = make_host();
    assert_true(host_service_absent(host, "test.absent", "the library is missing"));
    assert_null(host_service(host, "test.absent"));
    assert_string_equal(host_service_why_absent(host, "test.absent"), "the library is missing");
    assert_string_equal(host_service_why_absent(host, "test.unknown"), "");
    assert_string_equal(host_service_why_absent(host, NULL), "");
    assert_false(host_service_register(host, "test.absent", &table));
    assert_false(host_service_absent(host, "test.absent", "twice"));
    assert_false(host_service_absent(host, "test.other", NULL));
    assert_true(host_service_register(host, "test.there", &table));
    assert_string_equal(host_service_why_absent(host, "test.there"), "");
    host_destroy(&host);
}

static void reclaim(void *user, CallerId owner, bool leaked)
{
    (void)user;
    (void)owner;
    (void)leaked;
}

static bool quiesce(void *user, CallerId owner)
{
    (void)user;
    return owner == 0;
}

static int end_places[8];
static int ends;

static void ended(void *user)
{
    *(int *)user = ++ends;
}

static void test_hooks(void **state)
{
    (void)state;
    Host *host = make_host();
    assert_false(host_on_reclaim(host, NULL, NULL));
    assert_false(host_on_quiesce(host, NULL, NULL));
    assert_false(host_on_end(host, NULL, NULL));
    for (int i = 0; i < 8; i++) {
        assert_true(host_on_reclaim(host, reclaim, NULL));
        assert_true(host_on_quiesce(host, quiesce, NULL));
        assert_true(host_on_end(host, ended, &end_places[i]));
    }
    assert_false(host_on_reclaim(host, reclaim, NULL));
    assert_false(host_on_quiesce(host, quiesce, NULL));
    assert_false(host_on_end(host, ended, NULL));
    assert_int_equal(logged[LOG_HOOK_REFUSED], 6);
    assert_int_equal(ends, 0);
    host_destroy(&host);
    for (int i = 0; i < 8; i++) /* the last one registered ends first */
        assert_int_equal(end_places[i], 8 - i);
}

/* Who says where the data root is, the strongest first. */
static void test_data_root(void **state)
{
    (void)state;
    char expected[128];
    char place[256];
    char *real = realpath(root, NULL);
    assert_non_null(real);
    setenv("HOME", real, 1);
    char *found = paths_data_root(NULL);
    snprintf(expected, sizeof expected, "%s/.local/share/caliper", real);
    assert_string_equal(found, expected);
    snprintf(place, sizeof place, "%s/applets", found);
    assert_true(paths_is_folder(place));
    snprintf(place, sizeof place, "%s/data", found);
    assert_true(paths_is_folder(place));
    free(found);
    setenv("XDG_DATA_HOME", "relative", 1); /* to be ignored, says its specification */
    found = paths_data_root("");
    assert_string_equal(found, expected);
    free(found);
    snprintf(place, sizeof place, "%s/xdg", real);
    setenv("XDG_DATA_HOME", place, 1);
    snprintf(expected, sizeof expected, "%s/xdg/caliper", real);
    found = paths_data_root(NULL);
    assert_string_equal(found, expected);
    free(found);
    snprintf(expected, sizeof expected, "%s/variable/deep", real);
    setenv("CALIPER_DATA_DIR", expected, 1);
    found = paths_data_root(NULL);
    assert_string_equal(found, expected);
    free(found);
    snprintf(expected, sizeof expected, "%s/given", real);
    snprintf(place, sizeof place, "%s/./given//", real);
    found = paths_data_root(place);
    assert_string_equal(found, expected);
    free(found);
    found = paths_applet_data(expected, "org.example.viewer");
    snprintf(place, sizeof place, "%s/data/org.example.viewer", expected);
    assert_string_equal(found, place);
    assert_true(paths_is_folder(place));
    free(found);
    free(real);
}

static void test_data_root_that_cannot_be(void **state)
{
    (void)state;
    char file[128];
    char below[160];
    snprintf(file, sizeof file, "%s/file", root);
    snprintf(below, sizeof below, "%s/file/below", root);
    FILE *made = fopen(file, "wb");
    assert_non_null(made);
    fclose(made);
    const char *const bad[] = {file, below, "/proc/self/nothing/here"};
    const char *const why[] = {strerror(ENOTDIR), strerror(ENOTDIR), strerror(ENOENT)};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        HostParams params = {.struct_size = sizeof params, .data_dir = bad[i]};
        assert_null(host_create(&params));
        assert_int_equal(logged[LOG_FOLDER_NOT_MADE], i + 1);
        assert_non_null(strstr(newest_text, why[i]));
    }
}

static double fake_sec;

static double fake_now(void)
{
    return fake_sec;
}

static void test_clock(void **state)
{
    (void)state;
    Host *host = make_host();
    CaliperFrameInfo info;
    fake_sec = host->clock.start_sec + 0.5;
    host->now_sec = fake_now;
    host_clock_tick(host, 1920, 1080, 2.0f, &info);
    assert_int_equal(info.struct_size, 32);
    assert_int_equal(info.fb_width, 1920);
    assert_int_equal(info.fb_height, 1080);
    assert_true(info.dpi_scale == 2.0f);
    assert_float_equal(info.time_sec, 0.5, 1e-6);
    assert_float_equal(info.delta_sec, 1.0 / 60.0, 1e-9);
    fake_sec += 0.25;
    host_clock_tick(host, 1, 1, 1.0f, &info);
    assert_float_equal(info.time_sec, 0.75, 1e-6);
    assert_float_equal(info.delta_sec, 0.25, 1e-6);
    host_clock_tick(host, 1, 1, 1.0f, &info); /* no time has passed: still not 0 */
    assert_true(info.delta_sec > 0.0 && info.delta_sec < 1e-3);
    fake_sec -= 100.0; /* never back */
    host_clock_tick(host, 1, 1, 1.0f, &info);
    assert_float_equal(info.time_sec, 0.75, 1e-6);
    assert_true(info.delta_sec > 0.0);
    host_destroy(&host);
}

static void test_fixed_clock(void **state)
{
    (void)state;
    static const char *const bad[] = {"0", "-1", "11", "nan", "inf", "fast", "0.1x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("CALIPER_FIXED_CLOCK", bad[i], 1);
        Host *host = make_host();
        assert_int_equal(logged[LOG_FIXED_CLOCK_REFUSED], i + 1);
        host_destroy(&host);
    }
    setenv("CALIPER_FIXED_CLOCK", "0.1", 1);
    Host *host = make_host();
    for (int frame = 0; frame < 1000; frame++) {
        CaliperFrameInfo info;
        host_clock_tick(host, 1, 1, 1.0f, &info);
        assert_true(info.delta_sec == 0.1);
        assert_true(info.time_sec == (double)frame * 0.1);
    }
    host_destroy(&host);
}

static void *call_log(void *arg)
{
    (void)arg;
    log_service_table()->log(CALIPER_LOG_WARN, "from a thread of its own");
    return NULL;
}

static void test_callers(void **state)
{
    (void)state;
    Host *host = make_host();
    CallerId a = caller_register("org.test.a");
    CallerId b = caller_register("org.test.b");
    assert_true(a != 0 && b == a + 1);
    assert_string_equal(caller_name(a), "org.test.a");
    assert_string_equal(caller_name(0), "");
    assert_string_equal(caller_name(b + 1), "");
    assert_string_equal(caller_name(UINT32_MAX), "");
    assert_int_equal(caller_current(), 0);
    CallerId before = caller_enter(a);
    CallerId between = caller_enter(b);
    log_service_table()->log(CALIPER_LOG_WARN, "b's line");
    assert_string_equal(newest_applet, "org.test.b");
    caller_leave(between);
    assert_int_equal(caller_current(), a);
    caller_leave(before);
    assert_int_equal(caller_current(), before);
    /* On other threads by the address that calls: this program plays the library. */
    pthread_t thread;
    uintptr_t here = (uintptr_t)call_log;
    caller_set_range(b, here - 4096, here + 4096);
    assert_int_equal(caller_of_address((const void *)here), b);
    assert_int_equal(caller_of_address(NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, call_log, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(newest_applet, "org.test.b");
    caller_forget_range(b);
    assert_int_equal(pthread_create(&thread, NULL, call_log, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(newest_applet, "");
    host_destroy(&host);
}

static void test_log_service(void **state)
{
    (void)state;
    const CaliperLogV1 *log = log_service_table();
    uint32_t before = logged[LOG_TEXT];
    assert_int_equal(log->struct_size, 16);
    log->log(CALIPER_LOG_ERROR, NULL);
    log->log((CaliperLogLevel)99, "level unknown: info");
    log->log(CALIPER_LOG_DEBUG, "below the threshold");
    assert_int_equal(logged[LOG_TEXT], before + 2);
}

int main(void)
{
    log_stderr_enable(false);
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_services, begin, end),
        cmocka_unit_test_setup_teardown(test_absent, begin, end),
        cmocka_unit_test_setup_teardown(test_hooks, begin, end),
        cmocka_unit_test_setup_teardown(test_data_root, begin, end),
        cmocka_unit_test_setup_teardown(test_data_root_that_cannot_be, begin, end),
        cmocka_unit_test_setup_teardown(test_clock, begin, end),
        cmocka_unit_test_setup_teardown(test_fixed_clock, begin, end),
        cmocka_unit_test_setup_teardown(test_callers, begin, end),
        cmocka_unit_test_setup_teardown(test_log_service, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
