/* core/watch.h: a thread that notices calls into applets which do not return.
 *
 * After 2 s (or half the limit) it says so once; after the limit (CALIPER_HANG_LIMIT seconds, 10
 * unless set, 0 for never; six times that for all calls but frame()) it asks the guard to end the
 * call, which succeeds as soon as the applet is in its own code. Time counts only while the process
 * runs, not while it is stopped or traced by a debugger. For src/core/. */
#ifndef CALIPER_CORE_WATCH_H
#define CALIPER_CORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/caller.h"

typedef struct Watch Watch;

/* The calling thread is the one watched. Starts the thread. NULL with one line: then nothing is
 * watched, and the functions below accept it. */
Watch *watch_create(void);
void watch_destroy(Watch **watch);

/* All calls but frame() may take longer: loading a model in initialize() is bad style and common.
 */
#define WATCH_OTHER_FACTOR 6

/* Around a call, on the watched thread; `what` ("frame()") lives for the process, `limit_factor`
 * times the limit is this call's. Answers the serial number for guard_call, 0 when nothing is
 * watched. */
uint64_t watch_begin(Watch *watch, CallerId caller, const char *what, uint32_t limit_factor);
void watch_end(Watch *watch);

/* Seconds after which frame() is ended; 0: never. */
double watch_limit_sec(const Watch *watch);

#endif
