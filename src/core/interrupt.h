/* core/interrupt.h: a person's or a supervisor's wish that the process end, as something to ask
 * for.
 *
 * For long work in cli/ and for the shell's loop. From interrupt_take on the first SIGINT, SIGTERM
 * or SIGHUP is noted, and whoever works asks interrupt_signal and ends in good order; a second one
 * of the same kind ends the process at once, as it would without this. A signal that was ignored
 * (nohup) stays so. First thread. */
#ifndef CALIPER_CORE_INTERRUPT_H
#define CALIPER_CORE_INTERRUPT_H

#include <stdbool.h>

void interrupt_take(void);
/* 0: none came. */
int interrupt_signal(void);
/* "SIGINT" */
const char *interrupt_name(int signal);
/* Ends the process by the signal that came, so that whoever started it knows; returns where none
 * did. */
void interrupt_end(void);

#endif
