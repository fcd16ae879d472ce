/* tensorscope/panel_histogram.c: how often which value, in the colours they get; the range's ends
 * as two lines that can be moved. Frame thread. */
#include <math.h>

#include "app.h"

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
    const uint32_t cap = app->ui->color(CALIPER_THEME_TEXT_DIM);
    double bar = width / summary->bin_count;
    double value = (summary->bins_high - summary->bins_low) / summary->bin_count;
    for (uint32_t i = 0; i < summary->bin_count; i++) {
        double height = bar_height(app, summary->bins[i], summary->most);
        if (height > 0.0) {
            double gap = bar >= 4.0 ? 1.0 : 0.0, top = (double)bars_height - height;
            double left = inset + i * bar, right = inset + (i + 1) * bar - gap;
            app->ui->draw_rect(left, top, right, (double)bars_height,
                               bar_color(app, summary->bins_low + (i + 0.5) * value), -1.0f);
            /* The darkest entries are as dark as the ground, the lightest as light: a line says
             * where each bar ends. */
            app->ui->draw_rect(left, top - 1.0, right, top, cap, -1.0f);
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

/* What is below the bars: the least and greatest value they are of, exactly, the second one on a
 * line of its own where both do not fit beside each other. */
typedef struct Ends {
    char low[ARRAY_TEXT_BYTES], high[ARRAY_TEXT_BYTES];
    float line_height, height; /* of one line, of all */
    float low_width, high_width;
} Ends;

/* The stored value, unless that is beyond binary32, which has no bar. */
static void name_end(ArrayNumber stored, float shown, ArrayDtype dtype, char text[ARRAY_TEXT_BYTES])
{
    if ((float)array_number_to_f64(stored) == shown) {
        array_number_text(stored, dtype, text);
    } else {
        array_value_text(ARRAY_DTYPE_F32, &shown, text);
    }
}

static Ends name_ends(const App *app, float width)
{
    const ArrayStats *stats = session_stats(&app->session);
    const Summary *summary = session_summary(&app->session);
    const ArrayDtype dtype = app->session.view.whole.data->dtype;
    Ends ends;
    name_end(stats->min, summary->min, dtype, ends.low);
    name_end(stats->max, summary->max, dtype, ends.high);
    app->ui->text_size(ends.low, -1, 0.0f, CALIPER_TEXT_SMALL, &ends.low_width, &ends.line_height);
    app->ui->text_size(ends.high, -1, 0.0f, CALIPER_TEXT_SMALL, &ends.high_width,
                       &ends.line_height);
    bool beside = ends.low_width + ends.high_width + 12.0f <= width;
    ends.height = beside ? ends.line_height : 2.0f * ends.line_height;
    return ends;
}

static void draw_ends_text(const App *app, const Ends *ends, double width)
{
    const uint32_t ink = app->ui->color(CALIPER_THEME_TEXT_DIM);
    const double top = (double)bars_height + 3.0;
    app->ui->draw_text(inset, top, ends->low, -1, ink, CALIPER_TEXT_SMALL);
    app->ui->draw_text(inset + width, top + (double)(ends->height - ends->line_height), ends->high,
                       -1, ink, CALIPER_TEXT_SMALL | CALIPER_TEXT_RIGHT);
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
    float room = 0.0f, unused;
    ui->remaining(&room, &unused);
    const Ends ends = name_ends(app, room - 2.0f * (float)inset);
    bool seen = ui->canvas("histogram", 0.0f, bars_height + 6.0f + ends.height, 0);
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
        draw_ends_text(app, &ends, width);
    }
    ui->end(CALIPER_SCOPE_CANVAS);
    ui->checkbox("counts on a log scale", &app->log_counts);
}
