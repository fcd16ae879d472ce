/* shell/runs/state_text.h: texts and numbers of the state's JSON (state.c), for the pages. */
#ifndef CALIPER_SHELL_RUNS_STATE_TEXT_H
#define CALIPER_SHELL_RUNS_STATE_TEXT_H

#include <stdio.h>

/* With its quotes. */
void state_put_text(FILE *file, const char *text);
/* JSON has no NaN: what is not finite is null. */
void state_put_number(FILE *file, double value);

#endif
