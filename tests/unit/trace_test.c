/* The trace: valid JSON from many threads and odd labels, what is dropped is counted, failures are
 * one line and end nothing else. Parsed with cJSON, which is not ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/trace.h"
#include "log_capture.h"

enum { THREADS = 4, SPANS_EACH = 10000 };

static char path[64];

static int begin(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/caliper_trace_XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int end(void **state)
{
    (void)state;
    trace_stop();
    fault_set_plan(NULL);
    unlink(path);
    return 0;
}

/* The file as text; the caller's. */
static char *file_text(void)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)bytes + 1);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), bytes);
    fclose(file);
    return text;
}

static cJSON *file_events(void)
{
    char *text = file_text();
    cJSON *events = cJSON_ParseWithOpts(text, NULL, 1);
    free(text);
    assert_true(cJSON_IsArray(events));
    return events;
}

static double value(const cJSON *event, const char *name)
{
    const cJSON *found = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "args"), name);
    assert_true(cJSON_IsNumber(found));
    return found->valuedouble;
}

static void *write_spans(void *argument)
{
    for (int i = 0; i < SPANS_EACH; i++) {
        uint64_t started_ns = trace_begin();
        trace_span(started_ns, &(TraceEvent){.category = "test",
                                             .name = "work",
                                             .values = {{"i", (uint64_t)i},
                                                        {"thread", *(const uint64_t *)argument}},
                                             .value_count = 2});
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t numbers[THREADS];
    assert_true(trace_start(path));
    for (uint64_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_spans, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    trace_stop();
    cJSON *events = file_events(), *event = NULL;
    double spans = 0, dropped = 0, last[THREADS] = {-1, -1, -1, -1};
    cJSON_ArrayForEach(event, events)
    {
        const char *name = cJSON_GetObjectItem(event, "name")->valuestring;
        if (strcmp(name, "work") == 0) {
            int thread = (int)value(event, "thread");
            assert_true(thread >= 0 && thread < THREADS);
            assert_true(value(event, "i") > last[thread]); /* in order */
            last[thread] = value(event, "i");
            spans++;
        } else if (strcmp(name, "dropped") == 0) {
            dropped += value(event, "events");
        }
    }
    cJSON_Delete(events);
    assert_true(spans > 0);
    assert_int_equal((int)(spans + dropped), THREADS * SPANS_EACH);
}

static void test_what_is_written(void **state)
{
    (void)state;
    assert_true(trace_start(path));
    trace_span(trace_begin(), &(TraceEvent){.category = "test",
                                            .name = "odd",
                                            .kind = "host",
                                            .label = "a\"b\\c\n\xff\x01",
                                            .values = {{"most", UINT64_MAX}},
                                            .value_count = 1});
    trace_span(trace_begin(),
               &(TraceEvent){.category = "test",
                             .name = "long",
                             .label =
                                 "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""
                                 "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""});
    trace_counter(&(TraceEvent){
        .category = "test", .name = "bytes", .values = {{"staged", 42}}, .value_count = 1});
    trace_stop();
    char *text = file_text();
    assert_non_null(strstr(text, "\"most\":18446744073709551615"));
    free(text);
    cJSON *events = file_events();
    assert_int_equal(cJSON_GetArraySize(events), 4); /* the process's name comes first */
    const cJSON *odd = cJSON_GetObjectItem(cJSON_GetArrayItem(events, 1), "args");
    assert_string_equal(cJSON_GetObjectItem(odd, "label")->valuestring, "a\"b\\c???");
    assert_string_equal(cJSON_GetObjectItem(odd, "kind")->valuestring, "host");
    const cJSON *cut = cJSON_GetObjectItem(cJSON_GetArrayItem(events, 2), "args");
    assert_int_equal(strlen(cJSON_GetObjectItem(cut, "label")->valuestring), TRACE_LABEL_BYTES - 1);
    const cJSON *counter = cJSON_GetArrayItem(events, 3);
    assert_string_equal(cJSON_GetObjectItem(counter, "ph")->valuestring, "C");
    assert_int_equal((int)value(counter, "staged"), 42);
    cJSON_Delete(events);
}

/* Off, nothing is asked of the clock and nothing is written; on again, a new file begins. */
static void test_off_and_again(void **state)
{
    (void)state;
    assert_int_equal(trace_begin(), 0);
    trace_span(0, &(TraceEvent){.category = "test", .name = "off"});
    trace_counter(&(TraceEvent){.category = "test", .name = "off"});
    trace_stop();
    for (int i = 0; i < 3; i++) {
        assert_true(trace_start(path));
        trace_span(trace_begin(), &(TraceEvent){.category = "test", .name = "on"});
        trace_stop();
        cJSON *events = file_events();
        assert_int_equal(cJSON_GetArraySize(events), 2);
        cJSON_Delete(events);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    log_capture_start();
    assert_false(trace_start("/nowhere/at/all"));
    static const char *const plans[] = {"trace.memory:1", "trace.memory:2", "trace.thread:1"};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        fault_set_plan(plans[i]);
        assert_false(trace_start(path));
        assert_int_equal(trace_begin(), 0);
    }
    fault_set_plan(NULL);
    assert_int_equal(log_capture.of_item[LOG_TRACE_NOT_STARTED], 4);
    assert_true(trace_start(path));
    assert_false(trace_start(path));
    assert_int_equal(log_capture.of_item[LOG_TRACE_NOT_STARTED], 5);
    fault_set_plan("trace.write:1+");
    for (int i = 0; i < 100; i++)
        trace_span(trace_begin(), &(TraceEvent){.category = "test", .name = "lost"});
    trace_stop();
    assert_int_equal(log_capture.of_item[LOG_TRACE_LOST], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_written, begin, end),
        cmocka_unit_test_setup_teardown(test_off_and_again, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
