/* core/log.h: the one log of the process.
 *
 * Lives at the bottom of the house: every folder of src/ may include it. Entries go to all
 * registered sinks (stderr, the log file, the console panel, test captures). Any thread may write.
 * Known entries come from log_items.def (id, level, module, text in one line), so that tests assert
 * ids and not words; free text comes only from applets and drivers. */
#ifndef CALIPER_CORE_LOG_H
#define CALIPER_CORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum LogLevel {
    LOG_LEVEL_DEBUG = 0, /* the values of CaliperLogLevel */
    LOG_LEVEL_INFO = 1,
    LOG_LEVEL_WARN = 2,
    LOG_LEVEL_ERROR = 3
} LogLevel;

typedef enum LogItem {
    LOG_TEXT = 0, /* free text: an applet's or a driver's line */
#define LOG_ITEM(name, level, module, format) LOG_##name,
#include "core/log_items.def"
#undef LOG_ITEM
    LOG_ITEM_COUNT
} LogItem;

/* The printf format of each item, visible to the compiler's format check. */
#define LOG_ITEM(name, level, module, format) \
    __attribute__((unused)) static const char LOG_FORMAT_##name[] = format;
#include "core/log_items.def"
#undef LOG_ITEM

typedef struct LogEntry {
    double wall_time_sec; /* seconds since 1970, UTC */
    uint64_t sequence;    /* from 1, one per entry of the process */
    LogLevel level;
    LogItem item;
    const char *module; /* "bridge", "render", ...; "applet" for an applet's own line */
    const char *applet; /* id of the applet that caused it; "" when it was none */
    const char *text;   /* valid UTF-8, one entry; embedded newlines are followed by spaces */
} LogEntry;

/* Called with every entry at or above the sink's threshold, from the thread that wrote it, one call
 * at a time per sink. Must not log. The entry's strings live for the call only. */
typedef void (*LogSink)(void *user, const LogEntry *entry);

/* Adds a sink; returns a handle from 1 on, 0 when LOG_SINKS_MAX are registered. [any] */
enum { LOG_SINKS_MAX = 16 };
int log_sink_add(LogSink sink, void *user);
void log_sink_remove(int handle);

/* The stderr sink: one "HH:MM:SS.mmm level module [applet] text" line an entry. On by default. */
void log_stderr_enable(bool on);

/* Thresholds. `spec` is a level ("debug", "info", "warn", "error") or a comma list of
 * module:level; returns false and changes nothing if it cannot be read. Default info. */
bool log_set_threshold(const char *spec);
bool log_would_write(LogLevel level, const char *module);

/* Whose line it is: asked on the calling thread for each entry. Set once by core/caller. The
 * answer lives until the applet is unloaded; NULL or "" means the host itself. */
void log_set_applet_source(const char *(*applet_of_caller)(void));

/* Writes a known item: log_item(GATE_REFUSED, "texture_from_tensor", ...). [any] */
#define log_item(name, ...) log_write_item(LOG_##name, LOG_FORMAT_##name, __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void log_write_item(LogItem item, const char *format, ...);

/* Writes free text from an applet or a driver. NULL text is an empty line, a level outside 0..3 is
 * INFO, invalid UTF-8 becomes U+FFFD. `length` < 0: up to NUL. [any] */
void log_write_text(int level, const char *module, const char *text, int64_t length);

/* Name of an item ("GATE_REFUSED") and of a level ("warn"); never NULL. */
const char *log_item_name(LogItem item);
const char *log_level_name(LogLevel level);

#endif
