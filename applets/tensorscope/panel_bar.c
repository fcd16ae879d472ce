/* tensorscope/panel_bar.c: the colour bar beside the picture: the strip of 256 entries with its
 * ticks, and the value under the pointer marked. Frame thread. */
#include <math.h>
#include <stdio.h>

#include "app.h"
#include "text.h"

static const float bar_strip = 16.0f;
static const float bar_least = 74.0f;  /* with its labels */
static const float bar_margin = 10.0f; /* above and below the strip, for half a label */

static void make_bar_texture(App *app, int32_t colormap)
{
    float entries[256];
    if (app->bar_texture != 0 && app->bar_colormap == colormap) {
        return;
    }
    if (app->bar_texture != 0) {
        app->bridge->release_texture(app->bar_texture);
    }
    for (int i = 0; i < 256; i++) {
        entries[i] = (float)(255 - i);
    }
    CaliperTensor tensor = caliper_tensor_f32_2d(entries, 256, 1);
    app->bar_texture = app->bridge->texture_from_tensor_mapped(&tensor, colormap, 0.0f, 255.0f, 0);
    app->bar_colormap = colormap;
}

/* The marks of a bar: at multiples of a round step, in as many digits as tell them apart. */
typedef struct Ticks {
    double first, step, most; /* first in steps */
    int digits;
} Ticks;

static Ticks ticks_of(double low, double high, double length)
{
    const double least = fmin(low, high), most = fmax(low, high);
    Ticks ticks = {.step = text_nice_step((most - least) / fmax(length / 44.0, 2.0)), .most = most};
    ticks.first = ceil(least / ticks.step - 1e-9);
    double digits = floor(log10(fmax(fabs(least), fabs(most)) / ticks.step)) + 2.0;
    ticks.digits = (int)fmin(fmax(digits, 6.0), 17.0);
    return ticks;
}

/* False behind the last one. */
static bool tick_at(const Ticks *ticks, int i, double *value, char text[32])
{
    *value = (ticks->first + i) * ticks->step;
    snprintf(text, 32, "%.*g", ticks->digits, *value == 0.0 ? 0.0 : *value);
    return i < 64 && *value <= ticks->most + ticks->step * 1e-9;
}

static void draw_ticks(const App *app, double low, double high, double top, double bottom)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const Ticks ticks = ticks_of(low, high, bottom - top);
    const uint32_t ink = ui->color(CALIPER_THEME_TEXT_DIM);
    char text[32];
    double value;
    for (int i = 0; tick_at(&ticks, i, &value, text); i++) {
        double y = bottom - (value - low) / (high - low) * (bottom - top);
        ui->draw_line((double)bar_strip, y, (double)bar_strip + 3.0, y, ink, 1.0f);
        ui->draw_text((double)bar_strip + 9.0, y - (double)ui->metric(CALIPER_METRIC_FONT) * 0.45,
                      text, -1, ink, CALIPER_TEXT_SMALL);
    }
}

/* Both ends alike: one value has one colour, the first. */
static const char *only_value(double value, char text[ARRAY_TEXT_BYTES])
{
    const float shown = (float)value;
    return array_value_text(ARRAY_DTYPE_F32, &shown, text);
}

static void draw_only(const App *app, double value, double bottom)
{
    char text[ARRAY_TEXT_BYTES];
    const uint32_t ink = app->ui->color(CALIPER_THEME_TEXT_DIM);
    app->ui->draw_line((double)bar_strip, bottom, (double)bar_strip + 3.0, bottom, ink, 1.0f);
    app->ui->draw_text((double)bar_strip + 9.0,
                       bottom - (double)app->ui->metric(CALIPER_METRIC_FONT) * 0.45,
                       only_value(value, text), -1, ink, CALIPER_TEXT_SMALL);
}

float panel_bar_width(const App *app, float height, double low, double high)
{
    const double length = (double)(height - 2.0f * bar_margin);
    float widest = bar_least - bar_strip - 20.0f, width, unused;
    char text[32], only[ARRAY_TEXT_BYTES];
    double value;
    if (high == low) {
        app->ui->text_size(only_value(low, only), -1, 0.0f, CALIPER_TEXT_SMALL, &width, &unused);
        widest = fmaxf(widest, width);
    } else if (length > 8.0) {
        const Ticks ticks = ticks_of(low, high, length);
        for (int i = 0; tick_at(&ticks, i, &value, text); i++) {
            app->ui->text_size(text, -1, 0.0f, CALIPER_TEXT_SMALL, &width, &unused);
            widest = fmaxf(widest, width);
        }
    }
    return bar_strip + 20.0f + widest;
}

void panel_bar(App *app, float width, float height, int32_t colormap, double low, double high,
               bool marked, double mark)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const double top = (double)bar_margin, bottom = (double)height - (double)bar_margin;
    make_bar_texture(app, colormap);
    ui->same_line(0.0f, 8.0f);
    if (ui->canvas("bar", width - 8.0f, height, 0) && bottom > top + 8.0) {
        ui->draw_image(app->bar_texture, 0.0, top, (double)bar_strip, bottom, 0);
        ui->draw_rect(0.0, top, (double)bar_strip, bottom, ui->color(CALIPER_THEME_BORDER), 1.0f);
        if (high != low) {
            draw_ticks(app, low, high, top, bottom);
        } else {
            draw_only(app, low, bottom);
        }
        if (marked && high != low && !isnan(mark)) {
            double share = fmin(fmax((mark - low) / (high - low), 0.0), 1.0);
            double y = bottom - share * (bottom - top);
            ui->draw_line(-2.0, y, (double)bar_strip + 3.0, y, ui->color(CALIPER_THEME_TEXT), 2.0f);
        }
    }
    ui->end(CALIPER_SCOPE_CANVAS);
}
