/* tensorscope/panel_histogram.c: how often which value, in the colours they get; the range's ends
 * as two lines that can be moved. Frame thread. */
#include <math.h>
#include <stdio.h>

#include "app.h"

static const float canvas_height = 92.0f;
static const float bars_height = 74.0f;
static const double inset = 4.0; /* left and right, for the handles of the ends */

static double bar_height(const App *app, uint64_t count, uint64_t most)
{
    if (count == 0 || most == 0) {
        return 0.0;
    }
    double share =
        app->log_counts ? log1p((double)count) / log1p((double)most) : (double)count / (double)most;
    return fmax(share * ((double)bars_height - 2.0), 1.0);
}

static uint32_t bar_color(const App *app, double value)
{
    const SliceTexture *whole = &app->session.view.whole;
    uint32_t color = 0;
    if (app->plot != NULL && whole->channels == 0) {
        color =
            app->plot->colormap(whole->colormap, (float)value, whole->range.low, whole->range.high);
    }
    return color != 0 ? color : app->ui->color(CALIPER_THEME_ACCENT);
}

static void draw_bars(const App *app, const Summary *summary, double width)
{
    double bar = width / summary->bin_count;
    double value = (summary->bins_high - summary->bins_low) / summary->bin_count;
    for (uint32_t i = 0; i < summary->bin_count; i++) {
        double height = bar_height(app, summary->bins[i], summary->most);
        if (height > 0.0) {
            double gap = bar >= 4.0 ? 1.0 : 0.0;
            app->ui->draw_rect(inset + i * bar, (double)bars_height - height,
                               inset + (i + 1) * bar - gap, (double)bars_height,
                               bar_color(app, summary->bins_low + (i + 0.5) * value), -1.0f);
        }
    }
}

static void draw_end(const App *app, double x, double width)
{
    if (x >= -1.0 && x <= width + 1.0) {
        x += inset;
        app->ui->draw_line(x, 0.0, x, (double)bars_height, app->ui->color(CALIPER_THEME_TEXT),
                           1.0f);
        app->ui->draw_circle(x, 4.0, 3.0f, app->ui->color(CALIPER_THEME_TEXT), -1.0f);
    }
}

/* Moves the nearer end of the range to the pointer. */
static void drag_ends(App *app, const Summary *summary, double width)
{
    const Range *range = &app->session.view.whole.range;
    double x = 0.0, y = 0.0;
    uint32_t pointer = app->ui->pointer(&x, &y, NULL);
    if ((pointer & (CALIPER_POINTER_PRESSED | CALIPER_POINTER_DRAG)) == 0) {
        return;
    }
    double span = summary->bins_high - summary->bins_low;
    double value = summary->bins_low + fmin(fmax((x - inset) / width, 0.0), 1.0) * span;
    double low = (double)range->low, high = (double)range->high;
    if (fabs(value - low) <= fabs(value - high)) {
        low = value;
    } else {
        high = value;
    }
    if (low < high && (low != (double)range->low || high != (double)range->high)) {
        session_set_hand(&app->session, low, high);
    }
}

static void draw_label(const App *app, double x, double value, uint32_t flags)
{
    char text[32];
    snprintf(text, sizeof(text), "%.5g", value);
    app->ui->draw_text(x, (double)bars_height + 3.0, text, -1,
                       app->ui->color(CALIPER_THEME_TEXT_DIM), CALIPER_TEXT_SMALL | flags);
}

void panel_histogram(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceTexture *whole = &app->session.view.whole;
    if (whole->data == NULL || session_summary(&app->session)->finite_count == 0) {
        return;
    }
    const Summary *summary = session_summary(&app->session);
    ui->separator("Values");
    bool seen = ui->canvas("histogram", 0.0f, canvas_height, 0);
    double x0, y0, width, y1;
    ui->visible(&x0, &y0, &width, &y1);
    width -= 2.0 * inset;
    if (seen && width > 1.0) {
        ui->draw_line(inset, (double)bars_height, inset + width, (double)bars_height,
                      ui->color(CALIPER_THEME_BORDER), 1.0f);
        draw_bars(app, summary, width);
        double span = summary->bins_high - summary->bins_low;
        if (whole->channels == 0 && span > 0.0) {
            draw_end(app, ((double)whole->range.low - summary->bins_low) / span * width, width);
            draw_end(app, ((double)whole->range.high - summary->bins_low) / span * width, width);
            drag_ends(app, summary, width);
        }
        draw_label(app, inset, (double)summary->min, 0);
        draw_label(app, inset + width, (double)summary->max, CALIPER_TEXT_RIGHT);
    }
    ui->end(CALIPER_SCOPE_CANVAS);
    ui->checkbox("counts on a log scale", &app->log_counts);
}
