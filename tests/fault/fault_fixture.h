/* A host with the healthy applet open and one that misbehaves, for the tests of tests/fault/. */
#ifndef CALIPER_TEST_FAULT_FIXTURE_H
#define CALIPER_TEST_FAULT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "bridge/bridge.h"
#include "core/host.h"
#include "core/log.h"

typedef struct FaultFixture {
    char data_dir[256];
    Renderer *renderer; /* offscreen; cpu unless TEST_RENDERER names another */
    Bridge *bridge;
    Host *host;
    uint32_t healthy;
} FaultFixture;

/* Folder of the test applets, and the path of one in it (a ring of few buffers). */
const char *fixture_applet(const char *name);

/* Makes a data folder and a host with all services that need no UI and the probe, and opens the
 * healthy applet; all counters start at 0. */
void fixture_begin(FaultFixture *fixture);
/* Ends the host and removes the folder. */
void fixture_end(FaultFixture *fixture);

/* One frame of every applet, as the shell does it. */
void fixture_frames(FaultFixture *fixture, uint32_t count);
/* The healthy applet is running, and runs `count` frames more; after each of them its texture has
 * exactly that frame's pixels. */
void fixture_assert_healthy(FaultFixture *fixture, uint32_t count);

AppletView fixture_view(const FaultFixture *fixture, uint32_t index);

/* Counts log lines without a fixture. */
void fixture_watch_log(void);
/* Entries of an item since fixture_begin, and the newest one's text. */
uint32_t fixture_logged(LogItem item);
const char *fixture_text(LogItem item);
/* Lines at warning level or above since fixture_begin. */
uint32_t fixture_complaints(void);
/* How often applets called probe->note(what). */
uint32_t fixture_noted(const char *what);

/* Runs this program again with `argument`; answers its wait status. `environment`: NAME=value pairs
 * to add, NULL-terminated, or NULL. */
int fixture_run_self(const char *argument, const char *const *environment);

#endif
