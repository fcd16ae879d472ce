/* applets/gallery/pages_text.c: text, fields, icons; and strings that try everything. */
#include "gallery.h"

#include <stdio.h>

void gallery_text(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->text_ex("A heading", -1, 0, CALIPER_TEXT_HEADING);
    ui->text("Plain text, with its own\nnew lines.");
    ui->text_ex("Small", -1, 0, CALIPER_TEXT_SMALL);
    ui->same_line(0, 0);
    ui->text_ex("dim", -1, 0, CALIPER_TEXT_DIM);
    ui->same_line(0, 0);
    ui->text_ex("monospace 0123", -1, 0, CALIPER_TEXT_MONO);
    ui->same_line(0, 0);
    ui->text_ex("good", -1, ui->color(CALIPER_THEME_GOOD), 0);
    ui->same_line(0, 0);
    ui->text_ex("warning", -1, ui->color(CALIPER_THEME_WARN), 0);
    ui->same_line(0, 0);
    ui->text_ex("bad", -1, ui->color(CALIPER_THEME_BAD), 0);
    ui->text_ex("a bullet", -1, 0, CALIPER_TEXT_BULLET);
    ui->text_ex("another one", -1, 0, CALIPER_TEXT_BULLET);
    ui->text_ex("In the middle", -1, 0, CALIPER_TEXT_CENTER);
    ui->text_ex("At the right", -1, 0, CALIPER_TEXT_RIGHT);
    ui->text_ex(
        "Wrapped: a sentence that is longer than the panel is wide goes on in the next line, "
        "and the line breaks lie between its words.",
        -1, 0, CALIPER_TEXT_WRAP);
    ui->separator("Fields");
    ui->field("file", "weights.safetensors");
    ui->field("shape", "(64, 3, 7, 7)");
    ui->field("about", "A value that is longer than its column wraps and stays readable in full; a "
                       "right click copies it.");
    ui->separator("Icons");
    for (uint32_t icon = CALIPER_ICON_FILE; icon <= CALIPER_ICON_CHART; icon++) {
        if (icon != 0 && icon % 13 != 0)
            ui->same_line(0, 14);
        ui->text(ui->icon(icon));
    }
    ui->separator(NULL);
}

void gallery_text_extremes(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    ui->field("right to left",
              "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7");
    ui->field("emoji", "\xf0\x9f\x98\x80 \xf0\x9f\x9a\x80 \xe2\x9c\x93");
    ui->field("not UTF-8", "a\xff\xfe\xc3(\xed\xa0\x80)z");
    ui->field("Greek, Cyrillic", "\xce\xb1\xce\xb2\xce\xb3 \xd0\x96\xd0\xa3\xd0\x9a");
    ui->field("mathematics", "\xe2\x88\x80 x \xe2\x88\x88 X: x \xe2\x89\xa4 \xe2\x88\x9a"
                             "2 \xe2\x89\xa0 \xe2\x88\x9e");
    ui->field("formats", "100 % of %s and %n");
    ui->field(NULL, NULL);
    ui->text_ex("a zero\0inside", 13, 0, CALIPER_TEXT_MONO);
    ui->text(
        "One line that is much longer than the panel and is not wrapped: it is cut at the edge of "
        "the region, where a child with SCROLL_X would let you follow it to its end.");
    ui->separator("Labels");
    ui->button("an id##hidden", 0, 0, 0);
    ui->same_line(0, 0);
    ui->next_id(1);
    ui->button("shown##whole", 0, 0, 0);
    ui->same_line(0, 0);
    ui->button("", 60, 0, 0);
    ui->same_line(0, 0);
    ui->button(NULL, 60, 0, 0);
    ui->button("A label that is longer than the button is cut inside of it", 160, 0, 0);
    ui->button("\xf0\x9f\x98\x80 \xff \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", 0, 0, 0);
}
