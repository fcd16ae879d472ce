/* services/plot_ticks.c: see plot_ticks.h. Steps are 1, 2 or 5 times a power of ten; values are
 * whole multiples of them, so that no sum of rounding errors shows in a label. */
#include "services/plot_ticks.h"

#include <caliper/services/plot_v1.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

PlotTick *plot_ticks_add(PlotTicks *ticks, double at, bool minor)
{
    static _Thread_local PlotTick spare;
    if (ticks->count == PLOT_TICKS_MAX) {
        spare = (PlotTick){0};
        return &spare;
    }
    PlotTick *tick = &ticks->items[ticks->count++];
    *tick = (PlotTick){.at = at, .minor = minor};
    return tick;
}

/* ---- Numbers ---- */

typedef struct Step {
    int mantissa, exponent; /* mantissa * 10^exponent */
} Step;

/* The least step that is not below `wanted`. */
static Step nice_step(double wanted)
{
    static const int mantissas[] = {1, 2, 5, 10};
    int exponent = (int)floor(log10(wanted));
    for (int i = 0; i < 4; i++) {
        /* A hair below counts: log10 and the division are rounded. */
        if ((double)mantissas[i] >= wanted / pow(10.0, exponent) * (1.0 - 1e-9)) {
            if (mantissas[i] == 10)
                return (Step){1, exponent + 1};
            return (Step){mantissas[i], exponent};
        }
    }
    return (Step){1, exponent + 1};
}

/* n steps, by the one operation that is exact as long as the power is. */
static double multiple(Step step, double n)
{
    double whole = n * (double)step.mantissa;
    if (step.exponent < -300) /* the power itself would be infinite */
        return whole * pow(10.0, step.exponent);
    return step.exponent < 0 ? whole / pow(10.0, -step.exponent) : whole * pow(10.0, step.exponent);
}

/* "1.50e-08" becomes "1.50e-8". */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (e == NULL)
        return;
    char *from = e + 1, *to = e + 1;
    if (*from == '-')
        to++;
    from++; /* the sign */
    while (*from == '0' && from[1] != '\0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

/* With the digits that tell one step from the next. */
static void print_value(double value, int step_exponent, bool fixed, char *text, size_t text_bytes)
{
    if (value == 0.0) {
        snprintf(text, text_bytes, "0");
    } else if (fixed) {
        snprintf(text, text_bytes, "%.*f", step_exponent < 0 ? -step_exponent : 0, value);
    } else {
        char probe[32];
        snprintf(probe, sizeof probe, "%.16e", value);
        int exponent = 0;
        sscanf(strchr(probe, 'e') + 1, "%d", &exponent);
        int digits = exponent - step_exponent;
        snprintf(text, text_bytes, "%.*e", digits < 0 ? 0 : digits > 16 ? 16 : digits, value);
        shorten_exponent(text);
    }
}

static bool reads_better_fixed(double greatest, int step_exponent, bool integer)
{
    if (integer)
        return greatest < 1e15;
    return greatest < 1e7 && step_exponent >= -6;
}

/* Where numbers share more than their first five digits: the greatest round number below them. */
static double offset_of(const PlotTickParams *params)
{
    PlotRange range = params->range;
    double width = range.max - range.min;
    if (!params->may_offset || (range.min < 0.0) != (range.max < 0.0) ||
        fmin(fabs(range.min), fabs(range.max)) < width * 1e5)
        return 0.0;
    double unit = pow(10.0, ceil(log10(width)));
    return floor(range.min / unit) * unit;
}

static void linear(const PlotTickParams *params, double offset, PlotTicks *out);

void plot_ticks_linear(const PlotTickParams *params, PlotTicks *out)
{
    double offset = offset_of(params);
    PlotTickParams near_zero = *params;
    near_zero.range.min -= offset;
    near_zero.range.max -= offset;
    linear(&near_zero, offset, out);
    if (offset != 0.0) {
        char text[48];
        snprintf(text, sizeof text, "%.15g", offset);
        shorten_exponent(text);
        snprintf(out->context, sizeof out->context, "%s%s", offset > 0.0 ? "+" : "", text);
    }
}

static void linear(const PlotTickParams *params, double offset, PlotTicks *out)
{
    PlotRange range = params->range;
    double width = range.max - range.min;
    double wanted = fmax(width / (double)(params->most < 2 ? 2 : params->most), 1e-307);
    Step step = nice_step(params->integer ? fmax(wanted, 1.0) : wanted);
    double size = multiple(step, 1.0);
    double greatest = fmax(fabs(range.min), fabs(range.max));
    bool fixed = reads_better_fixed(greatest, step.exponent, params->integer);
    /* Of a step: a tick on the very edge is shown. */
    double slack = fmin(1e-9, width / size * 1e-6);
    double first = ceil(range.min / size - slack), last = floor(range.max / size + slack);
    if (!(last - first < (double)PLOT_TICKS_MAX))
        return;
    for (double n = first; n <= last; n += 1.0) {
        double value = multiple(step, n);
        PlotTick *tick = plot_ticks_add(out, offset + value, false);
        print_value(value, step.exponent, fixed, tick->text, sizeof tick->text);
        if (n + 1.0 == n)
            return; /* steps of a value that a double cannot tell apart */
    }
}

/* ---- Powers of ten ---- */

static void print_power(int exponent, int mantissa, char *text, size_t text_bytes)
{
    if (exponent >= -4 && exponent <= 5)
        snprintf(text, text_bytes, "%.*f", exponent < 0 ? -exponent : 0,
                 multiple((Step){mantissa, exponent}, 1.0));
    else
        snprintf(text, text_bytes, "%de%d", mantissa, exponent);
}

static void ticks_log(const PlotTickParams *params, PlotTicks *out)
{
    double low = log10(params->range.min), high = log10(params->range.max);
    double slack = 1e-9;
    int first = (int)floor(low - slack), last = (int)ceil(high + slack);
    int powers = (int)floor(high + slack) - (int)ceil(low - slack) + 1;
    if (powers < 1 || high - low < 0.7) { /* less than about one decade in sight */
        plot_ticks_linear(params, out);
        return;
    }
    int most = params->most < 2 ? 2 : params->most;
    int stride = (powers + most - 1) / most;
    bool with_2_and_5 = powers <= 2 && most >= 5;
    for (int exponent = first; exponent <= last; exponent++) {
        bool labelled = ((exponent % stride) + stride) % stride == 0;
        for (int mantissa = 1; mantissa <= 9; mantissa++) {
            bool text =
                (mantissa == 1 && labelled) || (with_2_and_5 && (mantissa == 2 || mantissa == 5));
            double at = multiple((Step){mantissa, exponent}, 1.0);
            double place = log10(at);
            if (place < low - slack || place > high + slack ||
                (!text && (stride > 1 || powers > 12)))
                continue;
            PlotTick *tick = plot_ticks_add(out, at, !text);
            if (text)
                print_power(exponent, mantissa, tick->text, sizeof tick->text);
        }
    }
}

void plot_ticks(const PlotTickParams *params, PlotTicks *out)
{
    out->count = 0;
    out->context[0] = '\0';
    if (params->scale == CALIPER_SCALE_LOG10)
        ticks_log(params, out);
    else if (params->scale == CALIPER_SCALE_TIME)
        plot_ticks_time(params, out);
    else
        plot_ticks_linear(params, out);
}
