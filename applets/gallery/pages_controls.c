/* applets/gallery/pages_controls.c: buttons, numbers, entries. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>

static void draw_buttons(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    char text[32];
    gallery->clicks += ui->button("Normal", 0, 0, 0);
    ui->same_line(0, 0);
    gallery->clicks += ui->button("Primary", 0, 0, CALIPER_BUTTON_PRIMARY);
    ui->same_line(0, 0);
    gallery->clicks += ui->button("Danger", 0, 0, CALIPER_BUTTON_DANGER);
    ui->same_line(0, 0);
    gallery->clicks += ui->button("Flat", 0, 0, CALIPER_BUTTON_FLAT);
    ui->same_line(0, 0);
    gallery->clicks += ui->button("Small", 0, 0, CALIPER_BUTTON_SMALL);
    ui->same_line(0, 0);
    gallery->clicks += ui->button("Repeats", 0, 0, CALIPER_BUTTON_REPEAT);
    ui->same_line(0, 0);
    snprintf(text, sizeof text, "%d clicks", (int)gallery->clicks);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    snprintf(text, sizeof text, "%s Save", ui->icon(CALIPER_ICON_SAVE));
    ui->button(text, 120, 34, 0);
    ui->same_line(0, 0);
    ui->button("wide", -1, 34, 0);
}

static void draw_choices(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->checkbox("on", &gallery->ticks[0]);
    ui->same_line(0, 0);
    ui->checkbox("off", &gallery->ticks[1]);
    ui->same_line(0, 0);
    ui->radio("first", &gallery->choice, 0);
    ui->same_line(0, 0);
    ui->radio("second", &gallery->choice, 1);
    ui->same_line(0, 0);
    ui->radio("third", &gallery->choice, 2);
    ui->tooltip("A tooltip: one or more words about the last item.");
    if (ui->selectable("a row that is chosen", gallery->ticks[2], 0, 0, 0))
        gallery->ticks[2] = !gallery->ticks[2];
    if (ui->selectable("a row that is not", gallery->ticks[3], 0, 0, 0))
        gallery->ticks[3] = !gallery->ticks[3];
}

void gallery_buttons(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    draw_buttons(gallery);
    ui->separator("Choices");
    draw_choices(gallery);
    ui->separator("Disabled");
    ui->disabled(true);
    ui->push_id("disabled");
    draw_buttons(gallery);
    draw_choices(gallery);
    ui->end(CALIPER_SCOPE_ID);
    ui->end(CALIPER_SCOPE_DISABLED);
}

static void draw_sliders(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    double *n = gallery->numbers;
    ui->group();
    ui->slider("plain", &n[0], 0, 1, 2, NULL, 0);
    ui->slider("logarithmic", &n[1], 1e-6, 1, 0, NULL, CALIPER_NUMBER_LOG);
    ui->slider("with a unit", &n[2], 0, 100, 1, "%", 0);
    ui->slider("value outside", &n[3], 0, 100, 0, NULL, 0);
    ui->slider("not a number", &n[4], 0, 1, 2, NULL, 0);
    ui->slider_int("whole", &gallery->whole[0], 0, 10, "steps", 0);
    ui->end(CALIPER_SCOPE_GROUP);
    ui->same_line(0, 40);
    ui->slider("upright", &n[0], 0, 1, 2, NULL, CALIPER_NUMBER_VERTICAL);
}

static void draw_drags(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    double *n = gallery->numbers;
    ui->drag("one", &n[5], 1, 0, 0, 0, 3, NULL, 0);
    ui->drag("three", &n[6], 3, 0, 0, 2, 2, "m", 0);
    ui->next_width(480); /* for 16 digits each */
    ui->drag_int("whole numbers", &gallery->whole[0], 3, 0, 0, 0, NULL, 0);
    ui->drag_range("range", &n[9], &n[10], 0, 0, 1, 2, NULL, 0);
    ui->input_number("typed", &n[11], 0, 0, NULL, 0);
    ui->input_number("with steps", &n[2], 1, 1, "px", 0);
    ui->input_int("64 bits", &gallery->whole[1], 1, 0);
}

void gallery_numbers(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->push_width(240);
    draw_sliders(gallery);
    ui->separator("Drags and typed numbers");
    draw_drags(gallery);
    ui->separator("Disabled");
    ui->disabled(true);
    ui->push_id("disabled");
    ui->slider("plain", &gallery->numbers[0], 0, 1, 2, NULL, 0);
    ui->input_int("64 bits", &gallery->whole[1], 1, 0);
    ui->end(CALIPER_SCOPE_ID);
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->end(CALIPER_SCOPE_WIDTH);
}

static void draw_fields(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    static char fixed[] = "cannot be changed";
    ui->input_text("name", "what is typed here", gallery->name, sizeof gallery->name, 0, 0);
    ui->input_text("filter", "empty: this is a hint", gallery->filter, sizeof gallery->filter, 0,
                   0);
    ui->input_text("password", NULL, gallery->secret, sizeof gallery->secret, 0,
                   CALIPER_INPUT_PASSWORD);
    ui->input_text("read only", NULL, fixed, sizeof fixed, 0, CALIPER_INPUT_READ_ONLY);
    ui->input_text("was not UTF-8", NULL, gallery->bad, sizeof gallery->bad, 0, 0);
    ui->input_text("many lines", NULL, gallery->note, sizeof gallery->note, 54, 0);
}

void gallery_entries(Gallery *gallery)
{
    static const char *const maps[] = {"viridis", "magma", "RdBu"};
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->push_width(260);
    draw_fields(gallery);
    ui->separator("Lists");
    ui->combo("colormap", &gallery->chosen, maps, 3, 0);
    ui->combo("100 000 entries", &gallery->chosen_long, gallery->items, GALLERY_ITEMS, 0);
    if (ui->combo_list("filled by hand", "open me", 0)) {
        ui->selectable("first", false, 0, 0, 0);
        ui->selectable("second", false, 0, 0, 0);
    }
    ui->end(CALIPER_SCOPE_COMBO);
    ui->separator("Colours");
    ui->color_edit("colour", &gallery->colors[0], CALIPER_COLOR_NO_ALPHA);
    ui->color_edit("with alpha", &gallery->colors[1], 0);
    ui->color_edit("a swatch", &gallery->colors[2], CALIPER_COLOR_SWATCH);
    ui->separator("Progress");
    ui->progress(0.62, NULL, 260, 0);
    ui->progress(1.0, "done", 260, 0);
    ui->progress((double)NAN, "busy", 260, 0);
    ui->end(CALIPER_SCOPE_WIDTH);
}
