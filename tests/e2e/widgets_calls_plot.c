/* tests/e2e/widgets_calls_plot.c: calls of the plot table, see widgets_calls.h. */
#include "widgets_calls_impl.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { POINTS = 5000, MANY = 1 << 20 };
static double points[POINTS], others[POINTS];
static float many[MANY]; /* zeros, with some others among them */
static bool many_used;
static uint32_t point_rgba[POINTS];

static CaliperPlotData some_data(void)
{
    static const int64_t counts[] = {0, 1, 2, 7, 100, POINTS / 8, -3, INT64_MAX};
    CaliperPlotData data = {.struct_size = sizeof data};
    uint32_t type = rnd(12) == 0 ? 5 + rnd(9) : rnd(5);
    for (int i = 0; i < 20; i++) {
        points[rnd(POINTS)] = calls_double();
        others[rnd(POINTS)] = (double)rnd(1000);
    }
    data.revision = rnd(2) ? 0 : rnd(3);
    data.x_type = rnd(4) ? 0 : type;
    data.y_type = type;
    data.x = rnd(2) ? NULL : rnd(2) ? points : others;
    data.y = rnd(20) ? (rnd(2) ? points : others) : NULL;
    data.y2 = rnd(2) ? NULL : others;
    data.rgba = rnd(4) ? NULL : point_rgba;
    data.count = counts[rnd(sizeof counts / sizeof counts[0])];
    data.first = rnd(3) ? 0 : calls_int();
    data.x_stride = rnd(4) ? 0 : 8 * (int64_t)rnd(9);
    data.y_stride = rnd(4) ? 0 : 8 * (int64_t)rnd(9);
    data.x0 = calls_double();
    data.dx = calls_double();
    if (rnd(30) == 0)
        data.struct_size = rnd(96);
    if (rnd(60) == 0) {
        many[rnd(MANY)] = calls_float();
        many_used = true;
        data.y = data.x = many;
        data.y_type = data.x_type = CALIPER_PLOT_TYPE_F32;
        data.x_stride = data.y_stride = 0;
        data.x = rnd(2) ? NULL : many;
        data.y2 = NULL;
        data.rgba = NULL;
        data.count = MANY;
    }
    return data;
}

static void call_axis(const CaliperPlotV1 *plot)
{
    static const double at[] = {0, 1, (double)NAN, 2, 1e300};
    static const char *const names[] = {"a", NULL, "\xff", "two\nlines", ""};
    static double links[2];
    double low = 0, high = 0;
    switch (rnd(7)) {
    case 0:
        plot->axis(rnd(4), calls_text(), rnd(4), calls_flags());
        break;
    case 1:
        plot->axis_range(rnd(4), calls_double(), calls_double(), rnd(3));
        break;
    case 2:
        links[rnd(2)] = calls_double();
        plot->axis_link(rnd(4), rnd(5) ? &links[0] : NULL, &links[1]);
        break;
    case 3:
        plot->axis_ticks(rnd(4), rnd(5) ? at : NULL, rnd(2) ? names : NULL, (int32_t)rnd(7) - 1);
        break;
    case 4:
        plot->axis_fit(rnd(10));
        break;
    case 5:
        plot->view(rnd(4), &low, rnd(2) ? &high : NULL);
        break;
    default:
        plot->style(rnd(2) ? 0 : 0xff00ff00u, calls_float(), rnd(8), calls_float());
        break;
    }
}

static void call_series(const CaliperPlotV1 *plot)
{
    CaliperPlotData data = some_data();
    const CaliperPlotData *given = rnd(30) ? &data : NULL;
    double x0 = calls_double(), y0 = calls_double(), x1 = 0, y1 = 0;
    int32_t series = 0;
    int64_t index = 0;
    switch (rnd(12)) {
    case 0:
    case 1:
        plot->line(calls_text(), given, calls_flags());
        break;
    case 2:
        plot->scatter(calls_text(), given, calls_flags());
        break;
    case 3:
        plot->bars(calls_text(), given, calls_double(), calls_flags());
        break;
    case 4:
        plot->band(calls_text(), given, calls_flags());
        break;
    case 5:
        plot->histogram(calls_text(), given, (int32_t)rnd(70) - 3, calls_double(), calls_double(),
                        calls_flags());
        break;
    case 6:
        plot->image(calls_text(), calls_textures[rnd(4)], x0, y0, calls_double(), calls_double(),
                    calls_flags());
        break;
    case 7:
        plot->ref_line(calls_text(), rnd(4), rnd(6) ? &calls_numbers[4] : NULL, calls_flags());
        break;
    case 8:
        plot->ref_span(calls_text(), rnd(4), x0, y0);
        break;
    case 9:
        plot->shown(calls_text(), (int32_t)rnd(4) - 1);
        break;
    case 10:
        if (plot->nearest(&series, &index))
            assert(series >= 0 && index >= 0);
        break;
    default:
        plot->selection(&x0, &y0, &x1, rnd(2) ? &y1 : NULL);
        break;
    }
}

/* Whole plots too, so that what only comes in them is met often. */
void calls_plot(UiBench *bench)
{
    const CaliperPlotV1 *plot = bench->plot;
    switch (rnd(6)) {
    case 0:
        plot->plot(calls_text(), calls_float(), calls_float(), calls_flags());
        break;
    case 1:
        plot->end();
        break;
    case 2:
        plot->color_bar(calls_text(), (int32_t)rnd(5) - 1, &calls_numbers[0], &calls_numbers[1],
                        calls_float(), calls_float(), calls_flags());
        plot->colormap((int32_t)rnd(5) - 1, calls_float(), calls_float(), calls_float());
        break;
    case 3:
        call_axis(plot);
        call_series(plot);
        break;
    default:
        if (plot->plot(calls_text(), calls_float(), calls_float(), calls_flags())) {
            for (uint32_t i = rnd(4); i > 0; i--)
                call_axis(plot);
            for (uint32_t i = rnd(5); i > 0; i--)
                call_series(plot);
            if (rnd(3) == 0)
                calls_drawing(bench);
        }
        plot->end();
        break;
    }
}

void calls_plot_stop(void)
{
    memset(points, 0, sizeof points);
    memset(others, 0, sizeof others);
    if (many_used)
        memset(many, 0, sizeof many);
    many_used = false;
}
