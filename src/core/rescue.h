/* core/rescue.h: what must be written out before a fault ends the process.
 *
 * From guard_install on a thread sleeps until a fault that is not contained: on a job's thread, on
 * one that an applet made, or on the frame thread where the guard may not go on. The signal handler
 * wakes it and parks. It calls the functions registered here, RESCUE_TOTAL_MS in all, writes the
 * crash report and the rest of the log; then the signal goes where it went before the guard, by
 * default to the end of the process. The same functions run when an applet ends the process with
 * exit() and the like.
 *
 * For the stores and whoever else owns what a person must not lose. Registering is for any thread,
 * not for handlers. */
#ifndef CALIPER_CORE_RESCUE_H
#define CALIPER_CORE_RESCUE_H

#include <stdint.h>

enum { RESCUE_FUNCTIONS_MAX = 16, RESCUE_TOTAL_MS = 2000 };

/* Writes out what would be lost, until `deadline_ns` (CLOCK_MONOTONIC): its share of the time left,
 * which is split evenly among the functions still to come. Called once a crash, on the rescue
 * thread. All other threads go on meanwhile, but for the one that faulted: that one stands still
 * for ever, with whatever locks it held, the allocator's and this module's own among them, so take
 * locks with a time limit. A function that is not back at its deadline, or faults, is left where it
 * is by a long jump, and the next one is called. */
typedef void (*RescueFlush)(void *user, uint64_t deadline_ns);

/* A handle from 1 on; 0 and one line when all places are taken or `flush` is NULL. */
int rescue_register(RescueFlush flush, void *user);
/* Afterwards `flush` is not running and will not be called: waits for a call that runs, which has
 * an end. 0 is accepted. */
void rescue_unregister(int handle);

#endif
