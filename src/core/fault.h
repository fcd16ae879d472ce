/* core/fault.h: failures on demand, so that every error path can be walked by a test.
 *
 * Any folder of src/ may include it. A call that can fail outside our control asks first:
 *     if (fault_here("gl.context")) goto failed;
 * CALIPER_FAIL_AT chooses what fails: a comma list of SITE:N (the Nth call of that site, from 1),
 * SITE:N+ (the Nth and all later ones) or a bare N (the Nth call of any site). A site matches by
 * prefix up to a dot: "gl" matches "gl.context". Unset: one relaxed atomic load. Any thread. */
#ifndef CALIPER_CORE_FAULT_H
#define CALIPER_CORE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* True when this call is to fail; logs FAULT_INJECTED at debug level. */
bool fault_here(const char *site);

/* Replaces the plan and resets all counters; NULL or "" turns it off. Returns false (and turns it
 * off) when the plan cannot be read. Used by tests and, with CALIPER_FAIL_AT, at start-up. */
bool fault_set_plan(const char *plan);

/* Calls of sites that matched the plan since it was set, and how many of them failed. */
uint32_t fault_calls(void);
uint32_t fault_injected(void);

#endif
