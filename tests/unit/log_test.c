/* The log: what becomes of odd text, thresholds, sinks, many threads. Expected UTF-8 replacements
 * are worked out by hand from RFC 3629. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"

#define R "\xef\xbf\xbd" /* U+FFFD */

static char newest[8192];
static LogEntry entry; /* without its strings */
static char newest_module[64];
static uint32_t count;

static void capture(void *user, const LogEntry *got)
{
    (void)user;
    count++;
    entry = *got;
    strncpy(newest, got->text, sizeof newest - 1);
    strncpy(newest_module, got->module, sizeof newest_module - 1);
}

static int begin(void **state)
{
    (void)state;
    count = 0;
    newest[0] = '\0';
    return log_set_threshold("info") ? 0 : -1;
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *given, *wanted;
    } cases[] = {
        {"plain", "plain"},
        {"", ""},
        {"two\nlines", "two\n    lines"},
        {"ends\n", "ends"},
        {"ends\r\n\n", "ends"},
        {"\nbegins", "\n    begins"},
        {"tab\tstays", "tab\tstays"},
        {"bell\a", "bell" R},
        {"\x1b[31mred", R "[31mred"}, /* no escape sequence reaches a terminal */
        {"delete\x7f", "delete" R},
        {"\xc2\x9b"
         "31mred",
         R "31mred"}, /* CSI in one character, as C1 has it */
        {"\xc2\x80\xc2\x85\xc2\x9f", R R R},
        {"\xc2\xa0\xc2\xad", "\xc2\xa0\xc2\xad"}, /* what comes after C1 prints */
        {"carriage\rreturn", "carriage" R "return"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82"},
        {"\xc3", R},                   /* cut short */
        {"\xe2\x82", R R},             /* the same, longer */
        {"\xc0\xaf", R R},             /* overlong '/' */
        {"\xe0\x80\xaf", R R R},       /* again */
        {"\xed\xa0\x80", R R R},       /* a surrogate */
        {"\xf4\x90\x80\x80", R R R R}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", R R R R}, /* never valid */
        {"\x80lone", R "lone"},        /* a continuation alone */
        {"a\xff\x62", "a" R "b"},
        {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"}, /* around the surrogates */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},                 /* U+10FFFF */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        log_write_text(LOG_LEVEL_WARN, "test", cases[i].given, -1);
        assert_string_equal(newest, cases[i].wanted);
    }
    log_write_text(LOG_LEVEL_WARN, "test", NULL, -1);
    assert_string_equal(newest, "");
    log_write_text(LOG_LEVEL_WARN, "test", "cut here, please", 8);
    assert_string_equal(newest, "cut here");
    log_write_text(LOG_LEVEL_WARN, "test", "a\0b", 3);
    assert_string_equal(newest, "a" R "b");
}

static void test_entry(void **state)
{
    (void)state;
    time_t before = time(NULL);
    log_write_text(LOG_LEVEL_ERROR, "test", "x", -1);
    uint64_t first = entry.sequence;
    assert_true(entry.wall_time_sec >= (double)before);
    assert_true(entry.wall_time_sec <= (double)before + 10.0);
    assert_int_equal(entry.level, LOG_LEVEL_ERROR);
    assert_int_equal(entry.item, LOG_TEXT);
    log_item(OUT_OF_MEMORY, "somebody", 123ull);
    assert_int_equal(entry.sequence, first + 1);
    assert_int_equal(entry.item, LOG_OUT_OF_MEMORY);
    assert_string_equal(newest, "somebody: no memory for 123 bytes");
    assert_string_equal(newest_module, "core");
    assert_string_equal(log_item_name(LOG_OUT_OF_MEMORY), "OUT_OF_MEMORY");
    assert_string_equal(log_item_name((LogItem)-1), "unknown");
    assert_string_equal(log_item_name(LOG_ITEM_COUNT), "unknown");
    assert_string_equal(log_level_name(LOG_LEVEL_WARN), "warn");
    assert_string_equal(log_level_name((LogLevel)7), "info");
    log_write_text(-5, "test", "level unknown", -1);
    assert_int_equal(entry.level, LOG_LEVEL_INFO);
    log_write_text(4, "test", "level unknown", -1);
    assert_int_equal(entry.level, LOG_LEVEL_INFO);
}

static void test_thresholds(void **state)
{
    (void)state;
    assert_true(log_set_threshold("warn,bridge:debug,render:error"));
    static const struct {
        const char *module;
        LogLevel level;
        bool passes;
    } cases[] = {
        {"core", LOG_LEVEL_INFO, false},   {"core", LOG_LEVEL_WARN, true},
        {"bridge", LOG_LEVEL_DEBUG, true}, {"render", LOG_LEVEL_WARN, false},
        {"render", LOG_LEVEL_ERROR, true}, {"renderer", LOG_LEVEL_INFO, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t before = count;
        assert_int_equal(log_would_write(cases[i].level, cases[i].module), cases[i].passes);
        log_write_text((int)cases[i].level, cases[i].module, "x", -1);
        assert_int_equal(count - before, cases[i].passes);
    }
    static const char *const bad[] = {
        "loud",    "warn,bridge:loud", ":warn",
        "bridge:", "warn warn",        "a_module_name_much_too_long_for_this:warn",
        "WARN"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(log_set_threshold(bad[i]));
    assert_false(log_set_threshold(NULL));
    assert_true(log_would_write(LOG_LEVEL_DEBUG, "bridge")); /* nothing has changed */
}

static void ignore(void *user, const LogEntry *got)
{
    (void)got;
    ++*(uint32_t *)user;
}

static void test_sinks(void **state)
{
    (void)state;
    uint32_t heard = 0;
    int handles[LOG_SINKS_MAX];
    int added = 0;
    while (added < LOG_SINKS_MAX && (handles[added] = log_sink_add(ignore, &heard)) != 0)
        added++;
    assert_int_equal(added, LOG_SINKS_MAX - 1); /* this test has one already */
    log_write_text(LOG_LEVEL_WARN, "test", "x", -1);
    assert_int_equal(heard, added);
    log_sink_remove(handles[3]);
    log_write_text(LOG_LEVEL_WARN, "test", "x", -1);
    assert_int_equal(heard, 2 * added - 1);
    assert_int_equal(log_sink_add(ignore, &heard), handles[3]);
    for (int i = 0; i < added; i++)
        log_sink_remove(handles[i]);
    log_sink_remove(0);
    log_sink_remove(-1);
    log_sink_remove(1000);
}

static void test_long_text(void **state)
{
    (void)state;
    size_t length = 3u << 20;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, '\n', length);
    memset(text, 'x', 10);
    text[length - 1] = 'y';
    text[length] = '\0';
    log_write_text(LOG_LEVEL_WARN, "test", text, -1); /* cut, not refused; nothing overflows */
    assert_int_equal(strncmp(newest, "xxxxxxxxxx", 10), 0);
    free(text);
}

enum { THREADS = 4, LINES = 500 };
static uint64_t last_sequence;
static uint32_t in_order;

static void check_order(void *user, const LogEntry *got)
{
    (void)user;
    in_order += got->sequence > last_sequence ? 1u : 0u;
    last_sequence = got->sequence;
}

static void *write_lines(void *arg)
{
    (void)arg;
    for (int i = 0; i < LINES; i++)
        log_write_text(LOG_LEVEL_WARN, "test", "x", -1);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int sink = log_sink_add(check_order, NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    log_sink_remove(sink);
    assert_int_equal(in_order, THREADS * LINES);
    assert_int_equal(count, THREADS * LINES);
}

int main(void)
{
    log_stderr_enable(false);
    log_sink_add(capture, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_text, begin),       cmocka_unit_test_setup(test_entry, begin),
        cmocka_unit_test_setup(test_thresholds, begin), cmocka_unit_test_setup(test_sinks, begin),
        cmocka_unit_test_setup(test_long_text, begin),  cmocka_unit_test_setup(test_threads, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
