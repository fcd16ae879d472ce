/* core/caller.h: which applet is calling.
 *
 * Any folder of src/ may include it; any thread may ask. On the frame thread it is the applet whose
 * call is running; on a job thread the job's owner; otherwise the applet whose library holds the
 * return address passed in; else nobody. Logs, textures, SQL schemas and clean-up use this. */
#ifndef CALIPER_CORE_CALLER_H
#define CALIPER_CORE_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* An applet's serial number in this process, from 1, never reused; 0 is the host itself. */
typedef uint32_t CallerId;

CallerId caller_current(void);
/* The id string of a caller; "" for 0 or an unknown one. Lives for the process. */
const char *caller_name(CallerId id);

/* Set by core around calls into an applet, nesting; returns what was set before. This thread. */
CallerId caller_enter(CallerId id);
void caller_leave(CallerId before);

#endif
