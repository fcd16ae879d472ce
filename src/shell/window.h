/* shell/window.h: the one native window: GLFW, X11 for finished pixels, input, clipboard, cursors.
 *
 * src/shell/ is everything a person sees: the window, the pages, the loop (shell.h). Only cli/ and
 * main.c include it. GLFW is started by window_create and not before, so a headless run never
 * touches a display. Frame thread, which must be the process's first thread. */
#ifndef CALIPER_SHELL_WINDOW_H
#define CALIPER_SHELL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "render/renderer.h"
#include "services/ui.h"

typedef struct ShellWindow ShellWindow;

typedef struct WindowParams {
    const char *title;
    int32_t width_px, height_px; /* 0: 1280 x 800 logical */
    float scale;                 /* 0: the display's */
} WindowParams;

/* Starts GLFW; the native windows are made by RendererWindow.open. NULL and one line when there is
 * no display. */
ShellWindow *window_create(const WindowParams *params);
void window_destroy(ShellWindow **window);

/* For the renderer that is chosen next; lives as long as the window. The renderer before keeps its
 * native window, so that it can still be read from, until window_renderer_settled: call that when
 * it is destroyed. The new native window takes the place and the size of the old one. */
const RendererWindow *window_renderer_next(ShellWindow *window);
void window_renderer_settled(ShellWindow *window);

/* Handles what came in; events go to `ui`, dropped paths are kept until window_drops_clear. */
void window_poll(ShellWindow *window, Ui *ui);
bool window_should_close(const ShellWindow *window);
/* Physical size, and physical pixels per logical unit. 0 x 0 while minimised. */
void window_size(const ShellWindow *window, int32_t *out_width_px, int32_t *out_height_px,
                 float *out_scale);
/* Whether the display has lost what was shown, since the last call. */
bool window_take_refresh(ShellWindow *window);
void window_set_cursor(ShellWindow *window, UiCursor cursor);
/* Waits for an event, at most that long: for a minimised window. */
void window_wait(ShellWindow *window, double seconds);
/* The clipboard of the desktop, as ui_set_clipboard wants it. */
UiClipboard window_clipboard(ShellWindow *window);

/* Paths dropped since the last clear, and where (logical units). */
uint32_t window_drops(const ShellWindow *window, const char *const **out_paths, float *out_x,
                      float *out_y);
void window_drops_clear(ShellWindow *window);

#endif
