/* shell/script.h: scripted input from a file, for tests and for recordings that repeat.
 *
 * A text file, one command a line; `#` starts a comment. Frames count from 1; commands before the
 * first `at` belong to frame 1. Positions are logical units.
 *     at N             what follows happens before frame N
 *     move X Y         the pointer goes there
 *     press BUTTON, release BUTTON, click BUTTON     left, right or middle
 *     wheel DX DY      notches
 *     down KEY, up KEY, key KEY        KEY: [ctrl+][shift+][alt+][super+]NAME; NAME: a printing
 *                      character or escape enter tab backspace insert delete left right up down
 *                      pageup pagedown home end space f1 .. f12
 *     text WORDS       typed characters, up to the end of the line
 *     drop PATH        a file dropped where the pointer is
 *     list PATH        what can be reached in this frame is written there, a JSON object a line
 * A press and a release in the same frame reach the applet in two. Frame thread. */
#ifndef CALIPER_SHELL_SCRIPT_H
#define CALIPER_SHELL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "services/ui.h"

typedef struct Script Script;

/* NULL and one line that names file, line and what is wrong. */
Script *script_read(const char *path);
void script_destroy(Script **script);
/* Sends what belongs to `frame`. Dropped paths are appended to `drops` (which live as long as the
 * script) up to `drops_max`, where the pointer is at *out_x, *out_y. Returns how many. */
uint32_t script_play(Script *script, uint64_t frame, Ui *ui, const char **drops, uint32_t drops_max,
                     float *out_x, float *out_y);
/* After the frame was drawn: the lists that the script asked for. */
void script_write_lists(Script *script, const Ui *ui);

/* script_list.c. False after a line. */
bool script_write_items(const Ui *ui, const char *path);

#endif
