/* cli/check_stage.h: a whole host without a display for one applet: the cpu renderer, the toolkit,
 * all services of this build, and an ear on the log.
 *
 * For cli/check_rows.c. One in a process, on its first thread. */
#ifndef CALIPER_CLI_CHECK_STAGE_H
#define CALIPER_CLI_CHECK_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/check.h"

/* Makes the host and adds the applet. False after check_say. */
bool stage_begin(CheckRun *run);
/* Ends the host, and says what was left behind. */
void stage_end(void);

typedef enum StageOpened {
    STAGE_OPENED_RUNNING = 0,
    STAGE_OPENED_REFUSED = 1, /* initialize answered false */
    STAGE_OPENED_BROKEN = 2   /* said already */
} StageOpened;
StageOpened stage_open(void);
/* create and destroy alone. */
bool stage_try_create(void);
/* False after check_say: it faulted. */
bool stage_frames(int32_t count);
/* cleanup and destroy; then what it left behind is counted. */
bool stage_close(void);

/* Longest frame() so far, in seconds, and the lines that the host wrote about the applet at warning
 * level or above. */
double stage_slowest_sec(void);
uint32_t stage_warnings(void);
const char *stage_first_warning(void);

#endif
