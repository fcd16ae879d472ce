/* shell/present.c: what is drawn of a frame. A frame that looks as the one on screen is neither
 * drawn nor presented, so that a still window leaves the GPU to the training; frames go on at the
 * same pace all the same. Frame thread. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "shell/shell_impl.h"

/* Once in so long a window's frame is drawn though nothing changed: for what a display forgets
 * without saying so, and so that a renderer notices that its device is gone. */
static const double redraw_sec = 1.0;

/* Headless, frames come as fast as they can; where one brought nothing new, what is waited for is
 * another thread's, which gets the time that drawing it would have taken. */
static const double unchanged_nap_sec = 2e-3;

double shell_now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- CALIPER_REDRAW ---- */

Redraw shell_redraw_wanted(void)
{
    const char *text = getenv("CALIPER_REDRAW");
    if (text == NULL || text[0] == '\0')
        return REDRAW_CHANGES;
    if (strcmp(text, "always") == 0)
        return REDRAW_ALWAYS;
    if (strcmp(text, "check") == 0)
        return REDRAW_CHECK;
    log_item(REDRAW_UNKNOWN, text);
    return REDRAW_CHANGES;
}

static uint8_t *read_frame(const Shell *shell)
{
    uint64_t bytes = (uint64_t)shell->width_px * (uint64_t)shell->height_px * 4;
    uint8_t *pixels = malloc(bytes);
    if (pixels != NULL && renderer_frame_read(shell->renderer, pixels, bytes))
        return pixels;
    free(pixels);
    return NULL;
}

/* Draws the frame that is shown already, and says where it differs. */
static RendererShown check(Shell *shell, RendererFrame *frame)
{
    uint8_t *before = read_frame(shell);
    frame->always = true;
    RendererShown shown = renderer_frame_show(shell->renderer, frame);
    uint8_t *after = shown == RENDERER_SHOWN_DRAWN ? read_frame(shell) : NULL;
    uint64_t pixels = (uint64_t)shell->width_px * (uint64_t)shell->height_px, differ = 0;
    for (uint64_t i = 0; before != NULL && after != NULL && i < pixels; i++)
        differ += memcmp(before + i * 4, after + i * 4, 4) != 0 ? 1 : 0;
    if (differ > 0)
        log_item(RENDERER_NOT_SAME, (unsigned long long)shell->frame, (unsigned long long)differ,
                 (int)shell->width_px, (int)shell->height_px);
    free(before);
    free(after);
    return shown;
}

/* ---- Drawing ---- */

static RendererShown submit(Shell *shell)
{
    RendererFrame frame = {.width_px = shell->width_px,
                           .height_px = shell->height_px,
                           .clear_rgba = ui_theme_color(CALIPER_THEME_BACKGROUND),
                           .always = shell->redraw == REDRAW_ALWAYS};
    if (!ui_frame_draws(shell->ui, shell->bridge, frame.width_px, frame.height_px, &frame.draws,
                        &frame.draw_count))
        return RENDERER_SHOWN_NOT;
    if (shell->window != NULL) {
        bool is_lost = window_take_refresh(shell->window);
        frame.always = frame.always || is_lost || shell_now_sec() - shell->drawn_sec >= redraw_sec;
    }
    RendererShown shown = renderer_frame_show(shell->renderer, &frame);
    if (shown == RENDERER_SHOWN_ALREADY && shell->redraw == REDRAW_CHECK)
        shown = check(shell, &frame);
    if (shown == RENDERER_SHOWN_DRAWN)
        shell->drawn_sec = shell_now_sec();
    return shown;
}

bool shell_present(Shell *shell, RendererShown *out_shown)
{
    for (;;) {
        if (!renderer_lost(shell->renderer)) {
            *out_shown = submit(shell);
            if (*out_shown == RENDERER_SHOWN_NOT)
                shell->is_whole = false;
            if (!renderer_lost(shell->renderer))
                return true; /* if it is not on screen the next frame mends it */
        }
        if (!shell_replace_renderer(shell))
            return false;
        if (shell->window != NULL) /* it made the window again, perhaps in another size */
            return true;
    }
}

void shell_pace(const Shell *shell, double started_sec, RendererShown shown)
{
    double left_sec = 0.0;
    if (shell->window != NULL) /* where nothing waits for the display, sixty a second are enough */
        left_sec = 1.0 / 60.0 - (shell_now_sec() - started_sec);
    else if (shown == RENDERER_SHOWN_ALREADY)
        left_sec = unchanged_nap_sec;
    if (left_sec <= 0.0)
        return;
    struct timespec nap = {.tv_sec = 0, .tv_nsec = (long)(left_sec * 1e9)};
    nanosleep(&nap, NULL);
}
