/* services/plot_time_ticks.c: ticks of a time axis: on whole seconds, minutes, hours, days, months
 * and years of UTC or of the process's time zone. */
#include "services/plot_ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Beyond about the year 6300 an axis shows plain numbers. */
static const double time_max_sec = 1.36e11;

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static const double steps_sec[] = {1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5,  1e-4,  2e-4, 5e-4,
                                   1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2,  0.1,   0.2,  0.5,
                                   1,    2,    5,    10,   15,   30,    60,    120,  300,
                                   600,  900,  1800, 3600, 7200, 10800, 21600, 43200};

static struct tm broken_down(double at_sec, bool local)
{
    time_t seconds = (time_t)floor(at_sec);
    struct tm parts;
    if (local)
        localtime_r(&seconds, &parts);
    else
        gmtime_r(&seconds, &parts);
    return parts;
}

/* The start of a day; days and months past their ends roll over. */
static double day_start(int year, int month, int day, bool local)
{
    struct tm parts = {.tm_year = year, .tm_mon = month, .tm_mday = day, .tm_isdst = -1};
    return (double)(local ? mktime(&parts) : timegm(&parts));
}

static void print_clock(double at_sec, double step_sec, bool local, char *text, size_t text_bytes)
{
    /* A sum of steps may end a hair below its second. */
    double mended = step_sec >= 1.0 ? floor(at_sec + 0.5) : at_sec + step_sec * 1e-2;
    struct tm parts = broken_down(mended, local);
    if (step_sec >= 60.0) {
        if (parts.tm_hour == 0 && parts.tm_min == 0)
            snprintf(text, text_bytes, "%d %s", parts.tm_mday, months[parts.tm_mon]);
        else
            snprintf(text, text_bytes, "%02d:%02d", parts.tm_hour, parts.tm_min);
    } else if (step_sec >= 1.0) {
        snprintf(text, text_bytes, "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec);
    } else {
        int places = (int)ceil(-log10(step_sec) - 1e-9);
        double fraction = mended - floor(mended);
        double unit = pow(10.0, -places);
        snprintf(text, text_bytes, "%02d.%0*.0f", parts.tm_sec, places, floor(fraction / unit));
    }
}

static void clock_ticks(const PlotTickParams *params, double step_sec, PlotTicks *out)
{
    PlotRange range = params->range;
    struct tm start = broken_down(range.min, params->local_time);
    for (int day = 0; day < PLOT_TICKS_MAX; day++) {
        double from =
            day_start(start.tm_year, start.tm_mon, start.tm_mday + day, params->local_time);
        double next =
            day_start(start.tm_year, start.tm_mon, start.tm_mday + day + 1, params->local_time);
        if (from > range.max)
            return;
        double first = fmax(ceil((range.min - from) / step_sec - 1e-6), 0.0);
        for (double n = first; from + n * step_sec < next; n += 1.0) {
            double at = from + n * step_sec;
            if (at > range.max || out->count == PLOT_TICKS_MAX)
                return;
            PlotTick *tick = plot_ticks_add(out, at, false);
            print_clock(at, step_sec, params->local_time, tick->text, sizeof tick->text);
        }
    }
}

/* Every `step` days, on those whose number since 1970 is a multiple of it. */
static void day_ticks(const PlotTickParams *params, int step, PlotTicks *out)
{
    struct tm start = broken_down(params->range.min, params->local_time);
    for (int day = 0; day < 2 * PLOT_TICKS_MAX; day++) {
        double at = day_start(start.tm_year, start.tm_mon, start.tm_mday + day, params->local_time);
        if (at > params->range.max)
            return;
        struct tm parts = broken_down(at, params->local_time);
        long number = (long)floor(
            day_start(parts.tm_year, parts.tm_mon, parts.tm_mday, false) / 86400.0 + 0.5);
        if (at < params->range.min || number % step != 0)
            continue;
        PlotTick *tick = plot_ticks_add(out, at, false);
        snprintf(tick->text, sizeof tick->text, "%d %s", parts.tm_mday, months[parts.tm_mon]);
    }
}

static void month_ticks(const PlotTickParams *params, int step, PlotTicks *out)
{
    struct tm start = broken_down(params->range.min, params->local_time);
    int month = step < 12 ? start.tm_mon / step * step : 0;
    int years = step / 12;
    int year = start.tm_year;
    if (years > 0) /* on round years */
        year = (int)floor((double)(year + 1900) / years) * years - 1900;
    for (int i = 0; i < 2 * PLOT_TICKS_MAX; i++) {
        double at = day_start(year, month + i * step, 1, params->local_time);
        if (at > params->range.max)
            return;
        if (at < params->range.min)
            continue;
        struct tm parts = broken_down(at, params->local_time);
        PlotTick *tick = plot_ticks_add(out, at, false);
        if (years > 0 || parts.tm_mon == 0)
            snprintf(tick->text, sizeof tick->text, "%d", parts.tm_year + 1900);
        else
            snprintf(tick->text, sizeof tick->text, "%s", months[parts.tm_mon]);
    }
}

static void print_context(const PlotTickParams *params, double step_sec, PlotTicks *out)
{
    struct tm parts = broken_down(params->range.min, params->local_time);
    const char *zone = params->local_time && parts.tm_zone != NULL ? parts.tm_zone : "UTC";
    if (step_sec < 1.0)
        snprintf(out->context, sizeof out->context, "%d %s %d %02d:%02d %.8s", parts.tm_mday,
                 months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, zone);
    else if (step_sec < 86400.0)
        snprintf(out->context, sizeof out->context, "%d %s %d %.8s", parts.tm_mday,
                 months[parts.tm_mon], parts.tm_year + 1900, zone);
    else if (step_sec < 28 * 86400.0)
        snprintf(out->context, sizeof out->context, "%d", parts.tm_year + 1900);
}

void plot_ticks_time(const PlotTickParams *params, PlotTicks *out)
{
    static const int day_steps[] = {1, 2, 5, 10};
    static const int month_steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000};
    PlotRange range = params->range;
    double wanted = (range.max - range.min) / (double)(params->most < 2 ? 2 : params->most);
    if (fabs(range.min) > time_max_sec || fabs(range.max) > time_max_sec || wanted < 1e-6) {
        plot_ticks_linear(params, out);
        return;
    }
    for (size_t i = 0; i < sizeof steps_sec / sizeof steps_sec[0]; i++) {
        if (steps_sec[i] >= wanted) {
            clock_ticks(params, steps_sec[i], out);
            print_context(params, steps_sec[i], out);
            return;
        }
    }
    for (size_t i = 0; i < sizeof day_steps / sizeof day_steps[0]; i++) {
        if (day_steps[i] * 86400.0 >= wanted) {
            day_ticks(params, day_steps[i], out);
            print_context(params, day_steps[i] * 86400.0, out);
            return;
        }
    }
    size_t count = sizeof month_steps / sizeof month_steps[0], i = 0;
    while (i + 1 < count && month_steps[i] * 30.4 * 86400.0 < wanted)
        i++;
    month_ticks(params, month_steps[i], out);
}

void plot_time_print(double at_sec, bool local, char *text, size_t text_bytes)
{
    if (!(fabs(at_sec) <= time_max_sec)) {
        snprintf(text, text_bytes, "%.17g", at_sec);
        return;
    }
    double micros = floor((at_sec - floor(at_sec)) * 1e6 + 0.5);
    struct tm parts = broken_down(micros >= 1e6 ? at_sec + 1e-6 : at_sec, local);
    char fraction[16] = "";
    if (micros > 0.0 && micros < 1e6) {
        snprintf(fraction, sizeof fraction, ".%06.0f", micros);
        for (size_t end = strlen(fraction); end > 1 && fraction[end - 1] == '0'; end--)
            fraction[end - 1] = '\0';
    }
    snprintf(text, text_bytes, "%d-%02d-%02d %02d:%02d:%02d%s %.8s", parts.tm_year + 1900,
             parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, fraction,
             local && parts.tm_zone != NULL ? parts.tm_zone : "UTC");
}
