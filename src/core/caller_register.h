/* core/caller_register.h: how core tells the caller table which applets there are.
 *
 * For src/core/ and for services that own threads of an applet (jobs). Any thread. */
#ifndef CALIPER_CORE_CALLER_REGISTER_H
#define CALIPER_CORE_CALLER_REGISTER_H

#include "core/caller.h"

/* A new serial number for a life of the applet `name` (copied, kept for the process). 0 with one
 * line when there is no memory or CALLER_SERIALS_MAX lives were given out. */
enum { CALLER_SERIALS_MAX = 65536 };
CallerId caller_register(const char *name);

/* The addresses [first, end) of an applet's library; replaced by the next call, forgotten by
 * caller_forget_range. */
void caller_set_range(CallerId id, uintptr_t first, uintptr_t end);
void caller_forget_range(CallerId id);

#endif
