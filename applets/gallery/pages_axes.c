/* applets/gallery/pages_axes.c: axes, marks, and calls that are wrong. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>

static float half_width(const CaliperWidgetsV1 *ui)
{
    float width = 0;
    ui->remaining(&width, NULL);
    return (width - ui->metric(CALIPER_METRIC_GAP_X)) * 0.5f;
}

static void draw_log(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    double y[200];
    for (int i = 0; i < 200; i++)
        y[i] = i % 50 == 49 ? -1.0 : pow(10.0, -4.0 + 7.0 * i / 199.0) * (1.2 + sin(i * 0.3));
    if (plot->plot("Logarithms", w, 220, CALIPER_PLOT_NO_LEGEND)) {
        CaliperPlotData data = gallery_data(y, 200, 1, 5);
        plot->axis(CALIPER_AXIS_X1, "frequency [Hz]", CALIPER_SCALE_LOG10, 0);
        plot->axis(CALIPER_AXIS_Y1, "power", CALIPER_SCALE_LOG10, 0);
        plot->line("spectrum", &data, 0);
    }
    plot->end();
}

static void draw_time(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Time", w, 220, CALIPER_PLOT_NO_LEGEND)) {
        CaliperPlotData data = gallery_data(gallery->waves[0], GALLERY_SAMPLES, 1.79e9, 97.0);
        plot->axis(CALIPER_AXIS_X1, NULL, CALIPER_SCALE_TIME, 0);
        plot->axis(CALIPER_AXIS_Y1, "temperature of the card", CALIPER_SCALE_LINEAR, 0);
        plot->line("sensor", &data, 0);
    }
    plot->end();
}

static void draw_two(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("Two y axes", w, 220, CALIPER_PLOT_LEGEND_OUTSIDE)) {
        double rate[GALLERY_SAMPLES];
        for (int i = 0; i < GALLERY_SAMPLES; i++)
            rate[i] = 3e-4 * (1.0 - cos(6.283 * i / GALLERY_SAMPLES));
        CaliperPlotData loss = gallery_data(gallery->waves[0], GALLERY_SAMPLES, 0, 1);
        CaliperPlotData step = gallery_data(rate, GALLERY_SAMPLES, 0, 1);
        plot->axis(CALIPER_AXIS_Y1, "loss", CALIPER_SCALE_LINEAR, 0);
        plot->axis(CALIPER_AXIS_Y2, "learning rate", CALIPER_SCALE_LINEAR, CALIPER_AXIS_NO_GRID);
        plot->line("loss", &loss, 0);
        plot->line("rate", &step, CALIPER_SERIES_Y2);
    }
    plot->end();
}

static void draw_long_labels(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    double huge[50];
    for (int i = 0; i < 50; i++)
        huge[i] = -2.5e18 + 1e16 * i * i;
    if (plot->plot("Long labels are never cut", w, 220, CALIPER_PLOT_NO_LEGEND)) {
        CaliperPlotData data = gallery_data(huge, 50, 1e9, 0.001);
        plot->axis(CALIPER_AXIS_X1,
                   "a label that is longer than its axis is wide goes on in the next "
                   "line and stays whole",
                   CALIPER_SCALE_LINEAR, 0);
        plot->axis(CALIPER_AXIS_Y1, "charge, in elementary charges", CALIPER_SCALE_LINEAR, 0);
        plot->line("q", &data, 0);
    }
    plot->end();
}

void gallery_axes(Gallery *gallery)
{
    float w = half_width(gallery->ui);
    draw_log(gallery, w);
    gallery->ui->same_line(0, 0);
    draw_time(gallery, w);
    draw_two(gallery, w);
    gallery->ui->same_line(0, 0);
    draw_long_labels(gallery, w);
}

/* ---- Marks ---- */

static void draw_picture(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    if (plot->plot("A picture with axes", w, 240, CALIPER_PLOT_EQUAL | CALIPER_PLOT_NO_LEGEND)) {
        plot->axis(CALIPER_AXIS_X1, "column", CALIPER_SCALE_LINEAR, 0);
        plot->axis(CALIPER_AXIS_Y1, "row", CALIPER_SCALE_LINEAR, CALIPER_AXIS_INVERT);
        plot->image("tensor", gallery->picture, 0, 0, GALLERY_SIDE, GALLERY_SIDE, 0);
        gallery->ui->draw_rect(2, 3, 5, 6, gallery->ui->color(CALIPER_THEME_BAD), 2);
        gallery->ui->draw_rect(2, 3, 5, 4.3, GALLERY_NOTE_GROUND, -1);
        gallery->ui->draw_text(2.2, 3.05, "a note", -1, GALLERY_NOTE_INK, CALIPER_TEXT_SMALL);
    }
    plot->end();
}

static void draw_thresholds(Gallery *gallery, float w)
{
    const CaliperPlotV1 *plot = gallery->plot;
    CaliperPlotData data = {.struct_size = sizeof data};
    data.y = gallery->pixels;
    data.y_type = CALIPER_PLOT_TYPE_F32;
    data.count = GALLERY_SIDE * GALLERY_SIDE;
    if (plot->plot("Lines to drag", w, 240, CALIPER_PLOT_NO_LEGEND)) {
        plot->ref_span("range", CALIPER_AXIS_X1, gallery->lines[0], gallery->lines[1]);
        plot->histogram("values", &data, 30, 0, 1, 0);
        plot->ref_line("low", CALIPER_AXIS_X1, &gallery->lines[0], CALIPER_SERIES_DRAG);
        plot->ref_line("high", CALIPER_AXIS_X1, &gallery->lines[1], CALIPER_SERIES_DRAG);
    }
    plot->end();
}

void gallery_marks(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    const CaliperPlotV1 *plot = gallery->plot;
    float w = half_width(ui);
    double huge = 2.5e18, low = -2.5e18;
    draw_picture(gallery, w);
    ui->same_line(0, 0);
    draw_thresholds(gallery, w);
    ui->separator("Colour bars");
    plot->color_bar("lying", CALIPER_CMAP_VIRIDIS, &gallery->low, &gallery->high, 260, 0,
                    CALIPER_SERIES_DRAG);
    ui->same_line(0, 0);
    plot->color_bar("turned", CALIPER_CMAP_MAGMA, &gallery->high, &gallery->low, 220, 0, 0);
    plot->color_bar("upright", CALIPER_CMAP_RDBU, &low, &huge, 0, 100, CALIPER_SERIES_VERTICAL);
    ui->same_line(0, 24);
    ui->group();
    ui->text("Sparks, for lines of text and cells");
    for (int i = 0; i < 3; i++) {
        char label[16];
        snprintf(label, sizeof label, "##spark%d", i);
        if (plot->plot(label, 160, 20, CALIPER_PLOT_SPARK)) {
            CaliperPlotData data = gallery_data(gallery->waves[i], GALLERY_SAMPLES, 0, 1);
            plot->style(ui->color(CALIPER_THEME_SERIES + (uint32_t)i), 0, 0, 0);
            plot->line("s", &data, CALIPER_SERIES_FILL);
        }
        plot->end();
    }
    ui->end(CALIPER_SCOPE_GROUP);
}

/* ---- Misuse ---- */

static void draw_wrong_plots(Gallery *gallery, float w)
{
    static const double nothing[4] = {NAN, NAN, INFINITY, NAN};
    const CaliperPlotV1 *plot = gallery->plot;
    CaliperPlotData data = gallery_data(nothing, 4, 0, 1);
    if (plot->plot("Nothing finite", w, 180, 0)) {
        plot->line("nan", &data, 0);
        plot->line(NULL, NULL, 0);
        plot->line("no size", &(CaliperPlotData){0}, 0);
        data.y_type = 99;
        plot->scatter("unknown type", &data, 0);
    }
    plot->end();
    gallery->ui->same_line(0, 0);
    if (plot->plot("Empty", w, 180, 0)) {
        data = gallery_data(NULL, 0, 0, 1);
        plot->line("no points", &data, 0);
        plot->bars("no bars", &data, 0, 0);
        plot->histogram("no values", &data, 0, (double)NAN, (double)NAN, 0);
    }
    plot->end();
}

void gallery_misuse(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    float w = half_width(ui);
    char unterminated[4] = {'a', 'b', 'c', 'd'};
    draw_wrong_plots(gallery, w);
    ui->text("Two buttons of one name in one scope are two buttons:");
    ui->button("same", 0, 0, 0);
    ui->same_line(0, 0);
    ui->button("same", 0, 0, 0);
    ui->slider("upside down", &gallery->numbers[0], 1, 0, 0, NULL, 0);
    ui->input_text("without an end", NULL, unterminated, sizeof unterminated, 0, 0);
    ui->table_row(0, 0);
    ui->tab("a tab outside", NULL, 0);
    ui->end(CALIPER_SCOPE_TAB);
    ui->end(CALIPER_SCOPE_WINDOW);
    gallery->plot->line("outside", NULL, 0);
    ui->text_ex(
        "The lines above were refused; the console has one line for each. What is left open below "
        "is closed by the host.",
        -1, 0, CALIPER_TEXT_WRAP);
    ui->child("left open", 0, 60, CALIPER_CHILD_BORDER);
    ui->push_id("left open");
    ui->disabled(true);
    ui->button("inside", 0, 0, 0);
}
