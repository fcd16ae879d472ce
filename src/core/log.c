/* The process's log: formatting, thresholds, sinks. Any thread.
 *
 * One mutex serialises sinks, so that a sink sees whole entries in sequence order. No host lock may
 * be held across a call here by a thread that a sink could wait for. */
#include "core/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/guard.h"
#include "core/utf8.h"

enum { TEXT_STACK_BYTES = 1024, TEXT_MAX_BYTES = 1 << 20, MODULE_RULES_MAX = 16 };

typedef struct ItemFacts {
    const char *name;
    LogLevel level;
    const char *module;
} ItemFacts;

static const ItemFacts item_facts[LOG_ITEM_COUNT] = {
    [LOG_TEXT] = {"TEXT", LOG_LEVEL_INFO, "applet"},
#define LOG_ITEM(name, level, module, format) [LOG_##name] = {#name, LOG_LEVEL_##level, module},
#include "core/log_items.def"
#undef LOG_ITEM
};

typedef struct ModuleRule {
    char module[24];
    LogLevel level;
} ModuleRule;

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    LogSink sink;
    void *user;
} log_sinks[LOG_SINKS_MAX];
static bool log_to_stderr = true;
static uint64_t log_sequence;
static LogLevel log_default_level = LOG_LEVEL_INFO;
static ModuleRule log_rules[MODULE_RULES_MAX];
static int log_rule_count;
static const char *(*log_applet_of_caller)(void);

/* A fault while the log is locked is never contained. */
static void log_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&log_mutex);
}

static void log_unlock(void)
{
    pthread_mutex_unlock(&log_mutex);
    guard_lock_leave();
}

int log_sink_add(LogSink sink, void *user)
{
    int handle = 0;
    log_lock();
    for (int i = 0; i < LOG_SINKS_MAX && handle == 0; i++) {
        if (log_sinks[i].sink == NULL) {
            log_sinks[i].sink = sink;
            log_sinks[i].user = user;
            handle = i + 1;
        }
    }
    log_unlock();
    return handle;
}

void log_sink_remove(int handle)
{
    if (handle < 1 || handle > LOG_SINKS_MAX)
        return;
    log_lock();
    log_sinks[handle - 1].sink = NULL;
    log_unlock();
}

void log_stderr_enable(bool on)
{
    log_lock();
    log_to_stderr = on;
    log_unlock();
}

void log_set_applet_source(const char *(*applet_of_caller)(void))
{
    log_lock();
    log_applet_of_caller = applet_of_caller;
    log_unlock();
}

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static bool level_parse(const char *text, size_t length, LogLevel *out)
{
    for (int i = 0; i < 4; i++) {
        if (strlen(level_names[i]) == length && strncmp(level_names[i], text, length) == 0) {
            *out = (LogLevel)i;
            return true;
        }
    }
    return false;
}

bool log_set_threshold(const char *spec)
{
    ModuleRule rules[MODULE_RULES_MAX];
    int rule_count = 0;
    LogLevel level = LOG_LEVEL_INFO;
    if (spec == NULL)
        return false;
    while (*spec != '\0') {
        size_t length = strcspn(spec, ",");
        const char *colon = memchr(spec, ':', length);
        if (colon == NULL) {
            if (!level_parse(spec, length, &level))
                return false;
        } else {
            size_t name_length = (size_t)(colon - spec);
            if (rule_count == MODULE_RULES_MAX || name_length == 0 ||
                name_length >= sizeof rules[0].module ||
                !level_parse(colon + 1, length - name_length - 1, &rules[rule_count].level))
                return false;
            memcpy(rules[rule_count].module, spec, name_length);
            rules[rule_count].module[name_length] = '\0';
            rule_count++;
        }
        spec += length;
        if (*spec == ',')
            spec++;
    }
    log_lock();
    log_default_level = level;
    memcpy(log_rules, rules, sizeof(ModuleRule) * (size_t)rule_count);
    log_rule_count = rule_count;
    log_unlock();
    return true;
}

static bool passes_threshold(LogLevel level, const char *module)
{
    for (int i = 0; i < log_rule_count; i++) {
        if (strcmp(log_rules[i].module, module) == 0)
            return level >= log_rules[i].level;
    }
    return level >= log_default_level;
}

bool log_would_write(LogLevel level, const char *module)
{
    log_lock();
    bool passes = passes_threshold(level, module);
    log_unlock();
    return passes;
}

/* The controls of ISO 6429 as UTF-8 has them, U+0080 to U+009F: terminals obey some of these too.
 */
static bool is_c1(const unsigned char *s, size_t n)
{
    return n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

/* Copies `text` as one printable entry: newlines get an indent, other control characters (C0, DEL
 * and C1) and broken UTF-8 become U+FFFD. `out` has room for 5 bytes per input byte and the NUL. */
static void text_clean(const char *text, size_t length, char *out)
{
    const unsigned char *s = (const unsigned char *)text;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    for (size_t i = 0; i < length;) {
        size_t n = utf8_sequence(s + i, length - i);
        if (s[i] == '\n') {
            memcpy(out, "\n    ", 5);
            out += 5;
            i++;
        } else if (s[i] == '\t' || (n > 0 && s[i] >= 0x20 && s[i] != 0x7f && !is_c1(s + i, n))) {
            n = n == 0 ? 1 : n;
            memcpy(out, s + i, n);
            out += n;
            i += n;
        } else {
            memcpy(out, "\xef\xbf\xbd", 3);
            out += 3;
            i += is_c1(s + i, n) ? n : 1;
        }
    }
    *out = '\0';
}

static void stderr_write(const LogEntry *entry)
{
    time_t seconds = (time_t)entry->wall_time_sec;
    int millis = (int)((entry->wall_time_sec - (double)seconds) * 1000.0);
    struct tm tm;
    localtime_r(&seconds, &tm);
    bool applet = entry->applet[0] != '\0';
    fprintf(stderr, "%02d:%02d:%02d.%03d %-5s %s%s%s%s %s\n", tm.tm_hour, tm.tm_min, tm.tm_sec,
            millis, level_names[entry->level], entry->module, applet ? " [" : "", entry->applet,
            applet ? "]" : "", entry->text);
}

static void entry_dispatch(LogItem item, LogLevel level, const char *module, const char *text,
                           size_t length)
{
    char stack[TEXT_STACK_BYTES];
    char *clean = stack;
    if (length > TEXT_MAX_BYTES)
        length = TEXT_MAX_BYTES;
    if (length * 5 + 1 > sizeof stack) {
        clean = malloc(length * 5 + 1);
        if (clean == NULL) {
            clean = stack;
            length = (sizeof stack - 1) / 5;
        }
    }
    text_clean(text, length, clean);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    LogEntry entry = {.wall_time_sec = (double)now.tv_sec + (double)now.tv_nsec * 1e-9,
                      .level = level,
                      .item = item,
                      .module = module,
                      .applet = "",
                      .text = clean};
    log_lock();
    const char *(*applet_of_caller)(void) = log_applet_of_caller;
    log_unlock();
    const char *applet = applet_of_caller != NULL ? applet_of_caller() : NULL;
    if (applet != NULL)
        entry.applet = applet;
    log_lock();
    if (passes_threshold(level, module)) {
        entry.sequence = ++log_sequence;
        if (log_to_stderr)
            stderr_write(&entry);
        for (int i = 0; i < LOG_SINKS_MAX; i++) {
            if (log_sinks[i].sink != NULL)
                log_sinks[i].sink(log_sinks[i].user, &entry);
        }
    }
    log_unlock();
    if (clean != stack)
        free(clean);
}

void log_write_item(LogItem item, const char *format, ...)
{
    if (item <= LOG_TEXT || item >= LOG_ITEM_COUNT)
        return;
    const ItemFacts *facts = &item_facts[item];
    if (!log_would_write(facts->level, facts->module))
        return;
    char text[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        return;
    size_t used = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    entry_dispatch(item, facts->level, facts->module, text, used);
}

void log_write_text(int level, const char *module, const char *text, int64_t length)
{
    LogLevel checked = level < 0 || level > 3 ? LOG_LEVEL_INFO : (LogLevel)level;
    if (!log_would_write(checked, module))
        return;
    if (text == NULL) {
        text = "";
        length = 0;
    }
    entry_dispatch(LOG_TEXT, checked, module, text, length < 0 ? strlen(text) : (size_t)length);
}

const char *log_item_name(LogItem item)
{
    return item >= 0 && item < LOG_ITEM_COUNT ? item_facts[item].name : "unknown";
}

const char *log_level_name(LogLevel level)
{
    return level >= 0 && level <= LOG_LEVEL_ERROR ? level_names[level] : "info";
}
