/* tests/unit/log_capture.h: what was logged since log_capture_reset, for tests that count lines.
 *
 * Included by tests. log_capture_start replaces stderr by the capture. Lines may come from any
 * thread; the counts are read when those have ended. */
#ifndef CALIPER_TESTS_LOG_CAPTURE_H
#define CALIPER_TESTS_LOG_CAPTURE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"

typedef struct LogCapture {
    uint32_t lines;
    uint32_t of_item[LOG_ITEM_COUNT];
    LogItem last;
    char text[1024]; /* of the last line */
} LogCapture;

static LogCapture log_capture;

static inline void log_capture_sink(void *user, const LogEntry *entry)
{
    (void)user;
    log_capture.lines++;
    log_capture.of_item[entry->item]++;
    log_capture.last = entry->item;
    snprintf(log_capture.text, sizeof log_capture.text, "%s", entry->text);
}

static inline void log_capture_reset(void)
{
    memset(&log_capture, 0, sizeof log_capture);
}

static inline void log_capture_start(void)
{
    log_stderr_enable(false);
    log_sink_add(log_capture_sink, NULL);
    log_capture_reset();
}

#endif
