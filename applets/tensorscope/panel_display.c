/* tensorscope/panel_display.c: colormap and range, and what the slice holds. Frame thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

static const char *const colormap_names[] = {"viridis", "magma", "RdBu"};

static void draw_range(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    const SliceTexture *whole = &session->view.whole;
    int32_t colormap = session->colormap, mode = (int32_t)session->mode;
    double low = (double)whole->range.low, high = (double)whole->range.high;
    ui->push_width(-70.0f);
    if (ui->combo("map", &colormap, colormap_names, 3, 0)) {
        session_set_colormap(session, colormap);
    }
    if (ui->combo("range", &mode, range_mode_names, RANGE_MODE_COUNT, 0)) {
        session_set_mode(session, (RangeMode)mode);
    }
    if (session->mode == RANGE_MODE_BY_HAND) {
        low = session->hand_low;
        high = session->hand_high;
    }
    if (ui->drag_range("ends", &low, &high, (high - low) * 0.004, 0.0, 0.0, 0, NULL, 0)) {
        session_set_hand(session, low, high);
    }
    ui->tooltip("Drag, or Ctrl-click to type; the lines in the histogram move too");
    ui->end(CALIPER_SCOPE_WIDTH);
    if (whole->range.note != NULL) {
        ui->text_ex(whole->range.note, -1, ui->color(CALIPER_THEME_WARN),
                    CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    }
}

void panel_display(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceView *view = &app->session.view;
    char text[TEXT_BYTES];
    if (view->whole.data == NULL) {
        return;
    }
    bool colour = view->whole.data->channels > 0;
    ui->separator("Display");
    if (!colour) {
        draw_range(app);
    }
    snprintf(text, sizeof(text), "%s, exact value under the pointer",
             text_conversion(view->whole.data->dtype, colour));
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    if (view->recreated_count > 0) {
        snprintf(text, sizeof(text), "texture re-created %" PRIu64 " time%s: its range is pinned",
                 view->recreated_count, view->recreated_count == 1 ? "" : "s");
        ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    }
}

/* What the numbers are of, where the picture has samples alone. */
static void draw_count(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    const SliceArea *area = &session->view.whole.data->request.area;
    char text[TEXT_BYTES];
    switch (exact_state(session->exact)) {
    case EXACT_STATE_KNOWN:
        ui->text_ex("every element is counted", -1, 0,
                    CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
        return;
    case EXACT_STATE_COUNTING:
        ui->text_ex("of the samples shown; every element is being counted", -1,
                    ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
        ui->progress(exact_progress(session->exact), NULL, -64.0f, 0.0f);
        ui->same_line(0.0f, 6.0f);
        if (ui->button("Stop", 56.0f, 0.0f, 0)) {
            exact_stop(session->exact);
        }
        return;
    case EXACT_STATE_FAILED:
        ui->text_ex(exact_error(session->exact)->message, -1, ui->color(CALIPER_THEME_WARN),
                    CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
        break;
    default:
        break;
    }
    snprintf(text, sizeof(text), "of the samples shown, 1 row in %" PRIu64 ", 1 column in %" PRIu64,
             area->row_step, area->col_step);
    ui->text_ex(text, -1, ui->color(CALIPER_THEME_WARN), CALIPER_TEXT_SMALL | CALIPER_TEXT_WRAP);
    if (ui->button("Count every element", 0.0f, 0.0f, 0)) {
        session_count(session);
    }
}

void panel_values(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    const SliceData *data = app->session.view.whole.data;
    char number[ARRAY_TEXT_BYTES], count[ARRAY_TEXT_BYTES], text[TEXT_BYTES];
    if (data == NULL) {
        return;
    }
    const ArrayStats *stats = session_stats(&app->session);
    const SliceArea *area = &data->request.area;
    ui->field("minimum", array_number_text(stats->min, data->dtype, number));
    ui->field("maximum", array_number_text(stats->max, data->dtype, number));
    text_count(stats->nan_count, count, sizeof(count));
    snprintf(text, sizeof(text), "%s NaN, ", count);
    text_count(stats->infinite_count, count, sizeof(count));
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s infinite", count);
    ui->field("not finite", text);
    const Summary *summary = session_summary(&app->session);
    uint64_t beyond =
        stats->element_count - summary->finite_count - stats->nan_count - stats->infinite_count;
    if (beyond > 0) {
        snprintf(text, sizeof(text),
                 "%" PRIu64 " finite values are beyond f32 and show as "
                 "infinite",
                 beyond);
        ui->text_ex(text, -1, ui->color(CALIPER_THEME_WARN),
                    CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    }
    if (stats->nan_count > 0 && data->channels == 0) {
        ui->text_ex("NaN gets the colour of entry 0, as the lowest end does; cells of 8 pixels and "
                    "more are crossed where they are NaN, up to 32 768 cells in sight",
                    -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP | CALIPER_TEXT_SMALL);
    }
    ui->field("elements", text_count(stats->element_count, text, sizeof(text)));
    if (area->row_step > 1 || area->col_step > 1) {
        draw_count(app);
    }
}
