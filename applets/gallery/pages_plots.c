/* applets/gallery/pages_plots.c: the kinds of series. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>

static float half_width(const CaliperWidgetsV1 *ui)
{
    float width = 0;
    ui->remaining(&width, NULL);
    return (width - ui->metric(CALIPER_METRIC_GAP_X)) * 0.5f;
}

static void draw_course(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Training", w, 230, CALIPER_PLOT_CROSSHAIR)) {
        double low[GALLERY_SAMPLES], high[GALLERY_SAMPLES];
        for (int i = 0; i < GALLERY_SAMPLES; i++) {
            low[i] = gallery->waves[1][i] - gallery->spread[i];
            high[i] = gallery->waves[1][i] + gallery->spread[i];
        }
        CaliperPlotData band = gallery_data(low, GALLERY_SAMPLES, 0, 10);
        CaliperPlotData train = gallery_data(gallery->waves[0], GALLERY_SAMPLES, 0, 10);
        CaliperPlotData valid = gallery_data(gallery->waves[1], GALLERY_SAMPLES, 0, 10);
        band.y2 = high;
        plot->axis(CALIPER_AXIS_X1, "step", CALIPER_SCALE_LINEAR, 0);
        plot->axis(CALIPER_AXIS_Y1, "loss", CALIPER_SCALE_LINEAR, 0);
        plot->style(gallery->ui->color(CALIPER_THEME_SERIES + 1), 0, 0, 0);
        plot->band("spread", &band, CALIPER_SERIES_NO_LEGEND);
        plot->style(gallery->ui->color(CALIPER_THEME_SERIES), 0, 0, 0);
        plot->line("train", &train, 0);
        plot->style(gallery->ui->color(CALIPER_THEME_SERIES + 1), 2.5f, 0, 0);
        plot->line("validation", &valid, 0);
    }
    plot->end();
}

static void draw_kinds(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    double few[3][16];
    for (int i = 0; i < 16; i++) {
        few[0][i] = sin(i * 0.5) + 3.0;
        few[1][i] = i == 5 || i == 6 ? (double)NAN : i == 11 ? (double)INFINITY : cos(i * 0.5);
        few[2][i] = i % 4 == 0 ? -2.6 : -2.0 - 0.06 * i;
    }
    few[1][9] = (double)NAN; /* leaves a point between two gaps */
    few[1][7] = (double)NAN;
    if (plot->plot("Kinds", w, 230, 0)) {
        CaliperPlotData data = gallery_data(few[0], 16, 0, 1);
        plot->style(0, 0, CALIPER_MARKER_CIRCLE, 6);
        plot->line("marks", &data, 0);
        data.y = few[1];
        plot->style(0, 2, CALIPER_MARKER_SQUARE, 5);
        plot->line("gaps", &data, 0);
        data.y = few[2];
        plot->line("steps", &data, CALIPER_SERIES_STEP);
    }
    plot->end();
}

static void draw_areas(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Areas and stems", w, 210, 0)) {
        CaliperPlotData data = gallery_data(gallery->waves[2], GALLERY_SAMPLES, 0, 0.05);
        plot->line("area to 0", &data, CALIPER_SERIES_FILL);
        CaliperPlotData stems = gallery_data(gallery->waves[2] + 100, 25, 20.5, 0.6);
        stems.y_stride = 12 * (int64_t)sizeof(double);
        plot->style(0, 0, CALIPER_MARKER_DIAMOND, 6);
        plot->line("stems", &stems, CALIPER_SERIES_STEM);
    }
    plot->end();
}

static void draw_errors(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Whiskers", w, 210, 0)) {
        CaliperPlotData data = gallery_data(gallery->waves[1], 20, 0, 1);
        data.y_stride = 20 * (int64_t)sizeof(double);
        data.y2 = gallery->spread;
        plot->style(0, 0, CALIPER_MARKER_SQUARE, 5);
        plot->line("measured", &data, CALIPER_SERIES_ERRORS);
    }
    plot->end();
}

void gallery_lines(Gallery *gallery)
{
    float w = half_width(gallery->ui);
    draw_course(gallery, w);
    gallery->ui->same_line(0, 0);
    draw_kinds(gallery, w);
    draw_areas(gallery, w);
    gallery->ui->same_line(0, 0);
    draw_errors(gallery, w);
}

/* ---- Points and bars ---- */

static void draw_scatter(Gallery *gallery, float w)
{
    static const uint32_t kinds[] = {CALIPER_MARKER_CIRCLE, CALIPER_MARKER_DIAMOND,
                                     CALIPER_MARKER_PLUS};
    const CaliperPlotV1 *plot = gallery->plot;
    CaliperPlotData data = {.struct_size = sizeof data};
    data.x_type = data.y_type = CALIPER_PLOT_TYPE_F32;
    data.x_stride = data.y_stride = 3 * (int64_t)sizeof(float);
    data.count = GALLERY_SCATTER / 3;
    if (plot->plot("Clusters", w, 230, 0)) {
        for (int i = 0; i < 3; i++) {
            char label[16];
            data.x = gallery->scatter_x + i;
            data.y = gallery->scatter_y + i;
            snprintf(label, sizeof label, "cluster %d", i);
            plot->style(0, 0, kinds[i], 6);
            plot->scatter(label, &data, 0);
        }
    }
    plot->end();
    gallery->ui->same_line(0, 0);
    if (plot->plot("A colour for each point", w, 230, CALIPER_PLOT_NO_LEGEND)) {
        data.x = gallery->scatter_x;
        data.y = gallery->scatter_y;
        data.x_stride = data.y_stride = 0;
        data.count = GALLERY_SCATTER;
        data.rgba = gallery->scatter_rgba;
        plot->style(0, 0, 0, 7);
        plot->scatter("points", &data, 0);
    }
    plot->end();
}

static void draw_bars(Gallery *gallery, float w)
{
    static const double heights[] = {3, 5.5, 4.2, -1.5, 2.8, 6.1},
                        errors[] = {0.4, 0.3, 0.9, 0.5, 0.2, 0.6};
    static const double at[] = {0, 1, 2, 3, 4, 5};
    static const char *const names[] = {"conv1", "conv2", "conv3", "norm", "fc1", "fc2"};
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Bars", w, 200, CALIPER_PLOT_NO_LEGEND)) {
        CaliperPlotData data = gallery_data(heights, 6, 0, 1);
        data.y2 = errors;
        plot->axis_ticks(CALIPER_AXIS_X1, at, names, 6);
        plot->bars("layers", &data, 0, CALIPER_SERIES_ERRORS);
    }
    plot->end();
    gallery->ui->same_line(0, 0);
    if (plot->plot("Lying bars", w, 200, CALIPER_PLOT_NO_LEGEND)) {
        CaliperPlotData data = gallery_data(heights, 6, 0, 1);
        plot->axis(CALIPER_AXIS_Y1, NULL, CALIPER_SCALE_LINEAR, CALIPER_AXIS_INVERT);
        plot->axis_ticks(CALIPER_AXIS_Y1, at, names, 6);
        plot->style(gallery->ui->color(CALIPER_THEME_SERIES + 2), 0, 0, 0);
        plot->bars("layers", &data, 0, CALIPER_SERIES_HORIZONTAL);
    }
    plot->end();
}

void gallery_points(Gallery *gallery)
{
    const CaliperPlotV1 *plot = gallery->plot;
    float w = half_width(gallery->ui);
    CaliperPlotData data = {.struct_size = sizeof data};
    draw_scatter(gallery, w);
    draw_bars(gallery, w);
    data.y = gallery->scatter_y;
    data.y_type = CALIPER_PLOT_TYPE_F32;
    data.count = GALLERY_SCATTER;
    if (plot->plot("Histogram", w, 0, CALIPER_PLOT_NO_LEGEND))
        plot->histogram("values", &data, 40, (double)NAN, (double)NAN, 0);
    plot->end();
    gallery->ui->same_line(0, 0);
    if (plot->plot("Distribution", w, 0, 0)) {
        plot->histogram("density", &data, 0, (double)NAN, (double)NAN, CALIPER_SERIES_DENSITY);
        plot->histogram("cumulative", &data, 0, (double)NAN, (double)NAN,
                        CALIPER_SERIES_DENSITY | CALIPER_SERIES_CUMULATIVE);
    }
    plot->end();
}

/* ---- A million ---- */

void gallery_long(Gallery *gallery)
{
    const CaliperPlotV1 *plot = gallery->plot;
    CaliperPlotData data = {.struct_size = sizeof data, .revision = 1};
    data.y = gallery->points;
    data.y_type = CALIPER_PLOT_TYPE_F32;
    data.count = GALLERY_POINTS;
    if (plot->plot("1 048 576 samples; two of them lie outside", 0, 300, CALIPER_PLOT_NO_LEGEND)) {
        plot->axis(CALIPER_AXIS_X1, "sample", CALIPER_SCALE_LINEAR, CALIPER_AXIS_INTEGER);
        plot->line("signal", &data, 0);
    }
    plot->end();
    data.x = gallery->points;
    data.x_type = CALIPER_PLOT_TYPE_F32;
    data.count = GALLERY_POINTS - 1000;
    data.y = gallery->points + 1000;
    if (plot->plot("The signal against itself, 1000 samples later", 0, 240,
                   CALIPER_PLOT_NO_LEGEND)) {
        plot->style(gallery->ui->color(CALIPER_THEME_SERIES + 2), 0, 0, 0);
        plot->scatter("phase", &data, 0);
    }
    plot->end();
}
