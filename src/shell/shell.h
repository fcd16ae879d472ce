/* shell/shell.h: Caliper as a person sees it: one window, or one picture, with a home page and
 * applets side by side.
 *
 * Included by cli/. One run in a process at a time, on its first thread. */
#ifndef CALIPER_SHELL_SHELL_H
#define CALIPER_SHELL_SHELL_H

#include <stdbool.h>
#include <stdint.h>

enum { SHELL_NAMES_MAX = 32, SHELL_FILES_MAX = 64 };

typedef struct ShellParams {
    uint32_t struct_size;
    const char *renderer; /* NULL: CALIPER_RENDERER, else the first that starts */
    const char *device;   /* NULL: CALIPER_DEVICE, else the best */
    const char *data_dir;
    const char *const *applet_dirs; /* ended by NULL; may be NULL */
    bool headless;                  /* offscreen; no display is touched */
    int64_t frames;              /* ends after so many; 0: when the window closes (headless: 60) */
    const char *screenshot;      /* PNG of the last frame */
    int32_t width_px, height_px; /* physical; 0: 1280 x 800 logical units */
    float scale;                 /* 0: the display's, headless: 1 */
    bool light;                  /* the light theme */
    const char *input;           /* a script: script.h */
    const char *const *applets;  /* ids, last words of ids, or paths, ended by NULL; may be NULL */
    bool dev;  /* the first of `applets` is a path that is watched; the status is how it ends */
    bool runs; /* the Runs dashboard is opened */
    const char *runs_state;   /* its view as JSON, written at the end */
    const char *const *files; /* handed to the first of `applets` as dropped; may be NULL */
} ShellParams;

/* The exit status: 0 only if every named applet initialised, none was quarantined, and the picture
 * that was asked for is there. */
int shell_run(const ShellParams *params);

#endif
