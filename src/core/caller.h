/* core/caller.h: which applet is calling.
 *
 * Any folder of src/ may include it; any thread may ask. On the frame thread it is the applet whose
 * call is running; on a job thread the job's owner; otherwise the applet whose library holds the
 * return address passed to caller_of_address; else nobody. Logs, textures, SQL schemas and clean-up
 * use this. */
#ifndef CALIPER_CORE_CALLER_H
#define CALIPER_CORE_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* Serial number of one life of an applet (one load of its library) in this process, from 1, never
 * reused; 0 is the host itself. */
typedef uint32_t CallerId;

CallerId caller_current(void);
/* For threads of an applet's own making, where caller_current() is 0: the applet whose library
 * holds this address, usually __builtin_return_address(0) of a service function; 0 if none does. */
CallerId caller_of_address(const void *address);
/* The id string of a caller; "" for 0 or an unknown one. Lives for the process. */
const char *caller_name(CallerId id);

/* Set by core around calls into an applet, nesting; returns what was set before. This thread. */
CallerId caller_enter(CallerId id);
void caller_leave(CallerId before);

#endif
