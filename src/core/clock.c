/* The frame clock: time and delta of each frame, real or fixed. Frame thread. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/host_impl.h"
#include "core/log.h"

/* The delta of a frame that has none before it, and the least delta, for two frames within one tick
 * of the clock: applets divide by it. */
static const double first_delta_sec = 1.0 / 60.0;
static const double least_delta_sec = 1e-6;

double clock_monotonic_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void clock_init(FrameClock *clock, double now_sec)
{
    *clock = (FrameClock){.start_sec = now_sec, .last_sec = now_sec};
    const char *text = getenv("CALIPER_FIXED_CLOCK");
    if (text == NULL || text[0] == '\0')
        return;
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (*end != '\0' || !isfinite(seconds) || seconds <= 0.0 || seconds > 10.0)
        log_item(FIXED_CLOCK_REFUSED, text);
    else
        clock->fixed_sec = seconds;
}

void host_clock_tick(Host *host, int32_t fb_width_px, int32_t fb_height_px, float dpi_scale,
                     CaliperFrameInfo *out)
{
    FrameClock *clock = &host->clock;
    *out = (CaliperFrameInfo){.struct_size = sizeof *out,
                              .fb_width = fb_width_px,
                              .fb_height = fb_height_px,
                              .dpi_scale = dpi_scale};
    if (clock->fixed_sec > 0.0) {
        /* A product, not a sum: the time of frame n does not depend on how it was reached. */
        out->time_sec = (double)clock->frames * clock->fixed_sec;
        out->delta_sec = clock->fixed_sec;
    } else {
        double now = host->now_sec();
        if (now < clock->last_sec)
            now = clock->last_sec;
        double delta = now - clock->last_sec;
        out->time_sec = now - clock->start_sec;
        out->delta_sec = clock->frames == 0        ? first_delta_sec
                         : delta < least_delta_sec ? least_delta_sec
                                                   : delta;
        clock->last_sec = now;
    }
    clock->frames++;
}
