/* shell/window_impl.h: what the window's files share. Frame thread. */
#ifndef CALIPER_SHELL_WINDOW_IMPL_H
#define CALIPER_SHELL_WINDOW_IMPL_H

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "shell/window.h"

enum { WINDOW_DROPS_MAX = 64, WINDOW_CURSORS = UI_CURSOR_NONE };

typedef struct WindowPixels WindowPixels; /* window_x11.c */

/* A window of the display, and how one renderer calls it. */
typedef struct WindowNative {
    ShellWindow *owner;
    GLFWwindow *glfw; /* NULL: not opened */
    RendererWindow renderer;
    WindowPixels *pixels;
} WindowNative;

struct ShellWindow {
    /* Two, since a lost renderer keeps its own until its pixels were read. */
    WindowNative natives[2];
    WindowNative *native; /* the one in use */
    char title[128];
    int32_t width_px, height_px; /* wanted at first */
    float scale_override;
    Ui *ui; /* during window_poll */
    bool wants_refresh;
    GLFWcursor *cursors[WINDOW_CURSORS];
    UiCursor cursor;
    char *drops[WINDOW_DROPS_MAX];
    uint32_t drop_count;
    float drop_x, drop_y;
};

void window_input_connect(ShellWindow *window); /* window_input.c */
float window_scale(const ShellWindow *window);

/* Shows finished RGBA pixels in the window's upper left. */
bool window_pixels_present(WindowNative *native, const uint8_t *rgba, int32_t width_px,
                           int32_t height_px);
void window_pixels_destroy(WindowPixels **pixels);

#endif
